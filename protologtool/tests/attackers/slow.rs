//! Attacks on an operator's time: programs of others that are slow, or send what is slow.

use super::operator::{COMMANDS, operate, place_of};
use super::{TOOL, directory, run_at_once, shared};
use protolog_testkit::{role, with_users};
use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sockopt};
use std::fs;
use std::io::{BufRead, BufReader, IoSlice, Write};
use std::mem::MaybeUninit;
use std::net::{TcpListener, TcpStream};
use std::os::fd::AsFd;
use std::os::unix::fs::{MetadataExt, chown};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// Makes an own directory with listening sockets of these names.
fn sockets(names: impl Iterator<Item = String>) -> Vec<UnixListener> {
    let user = fs::metadata("/proc/self").unwrap().uid();
    let place = directory(&place_of(user), 0o700);
    names.map(|name| UnixListener::bind(place.join(name)).unwrap()).collect()
}

/// A connection with data that nobody reads, so that its last end waits for them.
fn lingering() -> (TcpListener, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    stream.set_nonblocking(true).unwrap();
    while stream.write(&[0; 1 << 12]).is_ok() {}
    sockopt::set_socket_linger(&stream, Some(Duration::from_secs(30_000))).unwrap();
    (listener, stream)
}

/// Sends a byte, with a lingering connection that nobody else has then. It is none where the kernel
/// refuses it.
fn send_lingering(to: &UnixStream) -> Option<TcpListener> {
    let (listener, stream) = lingering();
    let files = [stream.as_fd()];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    assert!(control.push(SendAncillaryMessage::ScmRights(&files)));
    let sent = rustix::net::sendmsg(to, &[IoSlice::new(b"\n")], &mut control, SendFlags::NOSIGNAL);
    if sent.is_err() {
        // Its end is not to keep the attacker.
        std::mem::forget(stream);
        return None;
    }
    Some(listener)
}

/// A program that sends lingering connections: as soon as anybody connects, with an answer, or
/// after one.
#[test]
fn role_that_sends_what_lingers() {
    let Some(when) = role() else { return };
    let [listener] = sockets(["1-a.sock".to_owned()].into_iter()).try_into().unwrap();
    println!("\nready");
    let mut kept = Vec::new();
    for connection in listener.incoming().map(Result::unwrap) {
        let mut out = connection.try_clone().unwrap();
        if when == "first" {
            kept.extend(send_lingering(&out));
        }
        for line in BufReader::new(connection).lines().map_while(Result::ok) {
            let answer = match line.as_str() {
                "protolog 1" => format!("protolog 1 {} attackers\n", std::process::id()),
                "groups" => "group 0 0 003f0000 y a::G G\n".to_owned(),
                "pages" => "pages 1 4096\n".to_owned(),
                _ => String::new(),
            };
            let is_with = when == "with" && !line.starts_with("protolog");
            let _ = out.write_all(answer.as_bytes());
            if is_with {
                kept.extend(send_lingering(&out));
            }
            let _ = out.write_all(b"ok\n");
            if when == "after" {
                kept.extend(send_lingering(&out));
            }
        }
    }
}

#[test]
fn open_files_of_others_keep_nobody_waiting() {
    let test = "slow::open_files_of_others_keep_nobody_waiting";
    with_users(test, &[Path::new(TOOL)], |users| {
        for when in ["first", "with", "after"] {
            let attack = "slow::role_that_sends_what_lingers";
            let attacker = users.role(users.intruder, attack, when);
            for words in COMMANDS {
                operate(users, words);
            }
            drop(attacker);
            fs::remove_dir_all(place_of(users.intruder)).unwrap();
        }
    });
}

#[test]
fn directories_of_a_user_hide_no_programs_of_others() {
    let test = "slow::directories_of_a_user_hide_no_programs_of_others";
    with_users(test, &[Path::new(TOOL)], |users| {
        let name = |user: u32, number| format!("protolog-{user}-{number:016}");
        // An operator removes those of programs that have ended.
        let attack = || {
            for number in 0..1200 {
                // Some in the victim's name.
                let named = if number % 4 == 0 { users.victim } else { users.intruder };
                let place = shared().join(name(named, number));
                let _ = fs::remove_dir_all(&place);
                let socket = directory(&place, 0o700).join("1-a.sock");
                drop(UnixListener::bind(&socket).unwrap());
                chown(socket, Some(users.intruder), None).unwrap();
                chown(place, Some(users.intruder), None).unwrap();
            }
        };
        let has_group = "operator::role_that_has_a_group";
        let _victim = users.role(users.victim, has_group, "theirs::Disk");
        let _own = users.role(0, has_group, "own::Net");
        let limited = |limits: &str, words: &str| {
            let tool = users.program(Path::new(TOOL));
            let mut command = Command::new("prlimit");
            run_at_once(command.arg(limits).arg(tool).args(words.split(' ')))
        };
        for (limits, left_out) in
            [("--nofile=1024:8192", 900 - 256), ("--nofile=1024:1024", 900 - 64)]
        {
            for words in ["configuration groups list", "top --once"] {
                attack();
                let output = limited(limits, words);
                let both = ["theirs::Disk", "own::Net"];
                assert!(both.iter().all(|it| output.stdout.contains(it)), "{words}: {output:?}");
                let user = users.intruder;
                let said = format!("{left_out} sockets and directories of user {user} are left");
                assert!(output.stderr.contains(&said), "{words}: {output:?}");
                assert_eq!(output.code, Some(3), "{words}: {output:?}");
            }
        }
    });
}

/// A program with many sockets, none of which answers.
#[test]
fn role_that_says_nothing() {
    let Some(count) = role() else { return };
    let _kept = sockets((0..count.parse().unwrap()).map(|number: u32| format!("{number}-a.sock")));
    println!("\nready");
    loop {
        std::thread::park();
    }
}

#[test]
fn silent_programs_of_a_user_hide_no_other_ones_and_take_a_round() {
    let test = "slow::silent_programs_of_a_user_hide_no_other_ones_and_take_a_round";
    with_users(test, &[Path::new(TOOL)], |users| {
        let _silent = users.role(users.intruder, "slow::role_that_says_nothing", "320");
        let has_group = "operator::role_that_has_a_group";
        let _victim = users.role(users.victim, has_group, "theirs::Disk");
        let _own = users.role(0, has_group, "own::Net");
        for words in ["configuration groups list", "configuration level Disk debug", "top --once"] {
            let output = operate(users, words);
            assert!(output.stdout.contains("theirs::Disk"), "{words}: {output:?}");
            assert_eq!(output.code, Some(2), "{words}: {output:?}");
            if words.starts_with("configuration") {
                let warnings = output.stderr.matches("warning: ").count();
                let said = "warning: 320 programs do not answer: `";
                let is_said = output.stderr.contains(said) && warnings == 1;
                assert!(is_said && output.stderr.contains(" and 315 more\n"), "{output:?}");
            }
        }
        let output = operate(users, "configuration groups list");
        assert!(output.stdout.contains("own::Net"), "{output:?}");
    });
}
