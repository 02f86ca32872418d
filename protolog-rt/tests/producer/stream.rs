//! The stream of commands, as a property: however it is cut, commands are answered in order, each
//! once; whatever is put in or taken out, the producer goes on or disconnects with a reason.

use crate::child::RunningChild;
use crate::hostile::{Accepted, accept, config};
use perfetto_ipc::frame::{Body, Frame, message};
use protolog_testkit::{Random, temp_dir_for_sockets};
use protozero::Reader;
use std::io::Write;
use std::os::unix::net::UnixListener;
use std::thread;
use std::time::Duration;

/// The part of a request's arguments that says what it answers.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Answer {
    Started(u64),
    Stopped(u64),
    Flushed(u64),
}

/// A frame with a command, and its answer.
fn command(random: &mut Random, request: u64, next: &mut u64) -> (Vec<u8>, Option<Answer>) {
    let id = random.below(*next + 2);
    let (reply, answer) = match random.below(6) {
        0 | 1 => {
            let id = *next;
            *next += 1;
            let start = message(|to| _ = to.nested(1).uint64(1, id).bytes(2, &config()));
            (start, Some(Answer::Started(id)))
        }
        2 => (message(|to| _ = to.nested(2).uint64(1, id)), Some(Answer::Stopped(id))),
        3 => {
            *next += 1;
            let flags = random.below(5);
            let flush = message(|to| {
                to.nested(5).uint64(1, id).uint64(2, *next).uint64(3, flags);
            });
            (flush, Some(Answer::Flushed(*next)))
        }
        4 => (message(|to| _ = to.nested(7).uint64(1, id)), None),
        // Something newer.
        _ => (message(|to| _ = to.nested(70).uint64(1, id)), None),
    };
    let body = Body::InvokeReply { success: true, has_more: true, reply: &reply };
    (Frame { request_id: request, body }.encode().expect("a frame"), answer)
}

/// Sends bytes in pieces of any size.
fn send(it: &mut Accepted, random: &mut Random, mut bytes: &[u8]) {
    while !bytes.is_empty() {
        let count = bytes.len().min(1 + random.below(90) as usize);
        let (now, later) = bytes.split_at(count);
        // The producer may have had enough.
        if it.socket.write_all(now).is_err() {
            return;
        }
        bytes = later;
        if random.below(8) == 0 {
            thread::sleep(Duration::from_micros(300));
        }
    }
}

fn answer(method: &str, args: &[u8]) -> Option<Answer> {
    let number = |field: u32| {
        let fields = Reader::new(args).map(|it| it.expect("a field"));
        let mut fields = fields.filter(|it| it.number == field);
        fields.next().map(|it| it.as_u64().expect("a number"))
    };
    match method {
        "NotifyDataSourceStarted" => Some(Answer::Started(number(1).unwrap_or_default())),
        "NotifyDataSourceStopped" => Some(Answer::Stopped(number(1).unwrap_or_default())),
        "CommitData" => number(3).map(Answer::Flushed),
        _ => None,
    }
}

#[test]
fn commands_are_answered_in_order_however_they_are_cut() {
    let dir = temp_dir_for_sockets();
    let socket = dir.path().join("producer");
    let listener = UnixListener::bind(&socket).expect("listen");
    let mut random = Random::from_seed(b"cut");
    for round in 0..4 {
        let logged = dir.path().join(format!("cut-{round}"));
        let mut child = RunningChild::start("", &socket, &logged);
        let mut it = accept(&listener);
        child.tell("connected");
        let (mut bytes, mut expected, mut next) = (Vec::new(), Vec::new(), 1);
        for _ in 0..40 {
            let (frame, answer) = command(&mut random, it.commands, &mut next);
            bytes.extend(frame);
            expected.extend(answer);
        }
        send(&mut it, &mut random, &bytes);
        let mut found = Vec::new();
        while found.len() < expected.len() {
            let (method, _) = it.next().expect("an answer");
            found.extend(answer(&method, &it.args));
        }
        assert_eq!(found, expected, "round {round}");
        child.end();
    }
}

#[test]
fn a_stream_that_is_spliced_ends_the_connection_at_worst() {
    let dir = temp_dir_for_sockets();
    let socket = dir.path().join("producer");
    let listener = UnixListener::bind(&socket).expect("listen");
    let mut random = Random::from_seed(b"spliced");
    for round in 0..6 {
        let logged = dir.path().join(format!("spliced-{round}"));
        let mut child = RunningChild::start("count=300 threads=2", &socket, &logged);
        // The pause between attempts doubles.
        for _ in 0..4 {
            let mut it = accept(&listener);
            child.tell("connected");
            let (mut bytes, mut next) = (Vec::new(), 1);
            for _ in 0..20 {
                bytes.extend(command(&mut random, it.commands, &mut next).0);
            }
            for _ in 0..=random.below(3) {
                splice(&mut bytes, &mut random);
            }
            child.ask("log");
            send(&mut it, &mut random, &bytes);
            child.expect("done");
            drop(it);
            let reason = child.tell("disconnected");
            assert!(reason.starts_with("the service ") || reason.contains("frame"), "{reason}");
            child.tell("disabled");
        }
        child.end();
    }
}

/// Takes a part out, doubles one, or puts noise in.
fn splice(bytes: &mut Vec<u8>, random: &mut Random) {
    let from = random.below(bytes.len() as u64) as usize;
    let to = (from + random.below(60) as usize).min(bytes.len());
    match random.below(3) {
        0 => drop(bytes.drain(from..to)),
        1 => {
            let part = bytes[from..to].to_vec();
            bytes.splice(from..from, part);
        }
        _ => {
            let noise: Vec<u8> = (from..to).map(|_| random.below(256) as u8).collect();
            bytes.splice(from..to, noise);
        }
    }
}
