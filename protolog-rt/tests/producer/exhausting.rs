//! A service, played by the test, that would take a producer's time, memory or files.

use crate::child::RunningChild;
use crate::hostile::{accept, accept_without, config, memory};
use perfetto_ipc::frame::{Body, Frame, message};
use protolog_core::chunk::{CHUNK_HEADER, PACKETS_AT, Packets, PageWord, WRITER_ID_AT};
use protolog_testkit::temp_dir_for_sockets;
use protozero::Reader;
use std::collections::{BTreeMap, HashSet};
use std::io::Write;
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt;
use std::os::unix::net::UnixListener;
use std::thread;
use std::time::{Duration, Instant};

const PAGE: usize = 4096;

/// A child that connects to the test.
fn start(job: &str) -> (impl Sized, UnixListener, RunningChild) {
    let dir = temp_dir_for_sockets();
    let socket = dir.path().join("producer");
    let listener = UnixListener::bind(&socket).expect("listen");
    let child = RunningChild::start(job, &socket, &dir.path().join("logged"));
    (dir, listener, child)
}

/// Whether it says nothing, or a byte from time to time.
#[test]
fn a_service_that_does_not_answer_is_given_up() {
    let (_dir, listener, mut child) = start("");
    for drips in [false, true] {
        let (mut socket, _) = listener.accept().expect("a producer");
        let begun = Instant::now();
        thread::spawn(move || {
            let _ = socket.write_all(&60_000_u32.to_le_bytes());
            while begun.elapsed() < Duration::from_secs(25) {
                if drips && socket.write_all(&[0]).is_err() {
                    return;
                }
                thread::sleep(Duration::from_millis(500));
            }
        });
        // Not before the attempt is over.
        while !child.tell("status").contains("does not answer") {
            assert!(begun.elapsed() < Duration::from_secs(20), "{}", child.tell("status"));
            thread::sleep(Duration::from_millis(200));
        }
        // The next attempt begins with another reason.
        drop(listener.accept().expect("a producer"));
        child.tell("sleep 300");
        let status = child.tell("status");
        assert!(!status.contains("does not answer"), "{status}");
    }
    child.end();
}

/// Each flush waits for room that never comes, but not once the connection is over.
#[test]
fn flushes_that_wait_end_with_the_connection() {
    let (_dir, listener, mut child) = start("count=3000 size=60");
    let mut it = accept_without("", &listener, false);
    child.tell("connected");
    it.start_in_memory(64 << 10);
    it.wait_for("NotifyDataSourceStarted").expect("an answer");
    child.tell("log");
    for request in 1..=300 {
        it.flush(1, request);
    }
    child.tell("sleep 300");
    let begun = Instant::now();
    drop(it);
    child.tell("disconnected");
    assert!(begun.elapsed() < Duration::from_secs(2), "{:?}", begun.elapsed());
    child.end();
}

/// Numbers of sessions take more memory than their bytes.
#[test]
fn commands_that_wait_take_little_memory() {
    let (_dir, listener, mut child) = start("");
    let mut it = accept_without("", &listener, false);
    child.tell("connected");
    // Each start waits for room that never comes.
    it.start_without_room();
    let before = resident(&child);
    let ids = vec![1; 120_000];
    let flush = message(|to| {
        to.nested(5).bytes(1, &ids).uint64(2, 1);
    });
    let body = Body::InvokeReply { success: true, has_more: true, reply: &flush };
    let frame = Frame { request_id: it.commands, body }.encode().expect("a frame");
    for _ in 0..200 {
        if it.socket.write_all(&frame).is_err() {
            break;
        }
    }
    let grown = resident(&child).saturating_sub(before);
    let said = child.tell("disconnected");
    assert!(said.contains("more commands than can be done"), "{said}");
    assert!(grown < 32 << 10, "{grown} KiB more");
    child.end();
}

/// The memory of a child, in KiB.
fn resident(child: &RunningChild) -> u64 {
    let path = format!("/proc/{}/status", child.process.id());
    let status = std::fs::read_to_string(path).expect("the child's status");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("its memory");
    line.trim().trim_end_matches(" kB").parse().expect("a number")
}

/// A frame has room for thousands of groups, also for names that none can have.
#[test]
fn a_configuration_of_thousands_of_groups_is_taken_at_once() {
    let (_dir, listener, mut child) = start("count=200");
    let mut it = accept(&listener);
    child.tell("connected");
    let config = message(|to| {
        let mut config = to.nested(126);
        for number in 0..11_000 {
            let star = if number % 2 == 0 { "*" } else { "" };
            config.nested(1).string(1, &format!("{number}{star}"));
        }
    });
    let begun = Instant::now();
    for id in 1..=4 {
        it.start(id, &config);
        it.wait_for("NotifyDataSourceStarted").expect("an answer");
    }
    child.tell("log");
    assert!(begun.elapsed() < Duration::from_secs(4), "{:?}", begun.elapsed());
    child.end();
}

/// Other frames without end are no answer.
#[test]
fn a_service_that_sends_other_frames_without_end_is_given_up() {
    let (_dir, listener, mut child) = start("");
    let (mut socket, _) = listener.accept().expect("a producer");
    let begun = Instant::now();
    thread::spawn(move || {
        let body = Body::InvokeReply { success: true, has_more: true, reply: b"" };
        let frame = Frame { request_id: 1000, body }.encode().expect("a frame");
        while socket.write_all(&frame).is_ok() {}
    });
    while !child.tell("status").contains("does not answer") {
        assert!(begun.elapsed() < Duration::from_secs(20), "{}", child.tell("status"));
        thread::sleep(Duration::from_millis(200));
    }
    child.end();
}

#[test]
fn files_that_nobody_asked_for_are_closed() {
    let (_dir, listener, mut child) = start("");
    let mut it = accept(&listener);
    child.tell("connected");
    let (before, file) = (child.files(), memory(1 << 20, true));
    for _ in 0..100 {
        it.give(4, Some(&file));
    }
    it.start(1, &config());
    it.wait_for("NotifyDataSourceStarted").expect("an answer");
    assert_eq!(child.files(), before, "{:?}", child.open_files());
    drop(it);
    child.tell("disconnected");
    for _ in 0..4 {
        drop(accept(&listener));
    }
    let mut it = accept(&listener);
    child.tell("connected");
    it.start(1, &config());
    it.wait_for("NotifyDataSourceStarted").expect("an answer");
    assert_eq!(child.files(), before, "{:?}", child.open_files());
    child.end();
}

/// Of a startup buffer, each message that the service has got has its text: it was written first,
/// so that a process that is killed leaves none without.
#[test]
fn messages_of_a_startup_buffer_come_after_their_texts() {
    let (_dir, listener, mut child) = start("startup=4194304");
    let mut it = accept_without("", &listener, false);
    child.tell("connected");
    child.tell("templates 0..4000");
    // There is room for the messages, and not for all of the texts as well.
    let memory = memory(96 * PAGE as u64, true);
    it.give(4, Some(&memory));
    it.start(1, &config());
    it.wait_for("NotifyDataSourceStarted").expect("an answer");
    child.kill();
    let (messages, texts) = ids(&memory);
    assert!(messages.len() > 500, "{} messages", messages.len());
    let without: Vec<_> = messages.difference(&texts).collect();
    assert!(without.is_empty(), "{} of {} lack their texts", without.len(), messages.len());
}

/// The ids of the messages in the service's memory, and of the texts.
fn ids(memory: &OwnedFd) -> (HashSet<u64>, HashSet<u64>) {
    let (mut messages, mut texts) = (HashSet::new(), HashSet::new());
    for packet in packets(memory) {
        collect(&packet, &mut messages, &mut texts);
    }
    (messages, texts)
}

/// The number of messages in the service's memory.
pub(crate) fn messages(memory: &OwnedFd) -> usize {
    let is_message = |packet: &Vec<u8>| {
        Reader::new(packet).map_while(Result::ok).any(|field| field.number == 104)
    };
    packets(memory).iter().filter(|packet| is_message(packet)).count()
}

/// The packets in the service's memory.
fn packets(memory: &OwnedFd) -> Vec<Vec<u8>> {
    let file = std::fs::File::from(memory.try_clone().expect("the file"));
    let mut bytes = vec![0; file.metadata().expect("its size").len() as usize];
    file.read_exact_at(&mut bytes, 0).expect("read it");
    let mut chunks = BTreeMap::new();
    for page in bytes.chunks_exact(PAGE) {
        let word = PageWord(u32::from_le_bytes(page[..4].try_into().expect("four bytes")));
        let Some(layout) = word.layout() else { continue };
        for index in 0..layout.chunks() {
            let at = layout.chunk_at(PAGE, index);
            let chunk = &page[at..at + layout.chunk_size(PAGE)];
            let number = |at: usize| u16::from_le_bytes([chunk[at], chunk[at + 1]]);
            let (low, high) = (number(0), number(2));
            let key = (number(WRITER_ID_AT), u32::from(high) << 16 | u32::from(low));
            chunks.insert(key, (Packets(number(PACKETS_AT)), chunk[CHUNK_HEADER..].to_vec()));
        }
    }
    let (mut found, mut partial) = (Vec::new(), Vec::new());
    for (packets, mut rest) in chunks.into_values() {
        let count = packets.count();
        for at in 0..count {
            let Some((size, part)) = sized(&rest) else { break };
            let is_continued = at + 1 == count && packets.flags() & Packets::CONTINUED != 0;
            if !(at == 0 && packets.flags() & Packets::CONTINUES != 0) {
                partial.clear();
            }
            partial.extend_from_slice(part);
            if !is_continued {
                found.push(std::mem::take(&mut partial));
            }
            rest.drain(..size);
        }
    }
    found
}

/// The first of some packets with their sizes, and the bytes of both; none for one that was given
/// up.
fn sized(bytes: &[u8]) -> Option<(usize, &[u8])> {
    let (mut size, mut len) = (0, 0);
    loop {
        let byte = *bytes.get(len)?;
        size |= usize::from(byte & 0x7f) << (7 * len);
        len += 1;
        if byte & 0x80 == 0 {
            break;
        }
    }
    Some((len + size, bytes.get(len..len + size)?))
}

fn collect(packet: &[u8], messages: &mut HashSet<u64>, texts: &mut HashSet<u64>) {
    for field in Reader::new(packet).map_while(Result::ok) {
        let of = |field: &protozero::Field<'_>| {
            let mut fields = field.as_message().ok()?.map_while(Result::ok);
            fields.find(|field| field.number == 1)?.as_fixed64().ok()
        };
        match field.number {
            104 => messages.extend(of(&field)),
            105 => {
                let config = field.as_message().expect("a dictionary").map_while(Result::ok);
                texts.extend(config.filter(|field| field.number == 1).filter_map(|it| of(&it)));
            }
            _ => {}
        }
    }
}
