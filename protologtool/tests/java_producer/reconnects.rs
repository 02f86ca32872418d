//! Services that die and return, again and again: nothing of a connection is left behind, and what
//! no service had is counted to the message.

use crate::child::RunningChild;
use crate::hostile::{accept, config};
use protolog_core::chunk::Packets;
use protolog_testkit::temp_dir_for_sockets;
use protozero::Reader;
use std::collections::BTreeMap;
use std::fs;
use std::net::Shutdown;
use std::os::unix::net::UnixListener;

/// The times that the service returns: more where somebody asks for a soak.
fn rounds() -> usize {
    if std::env::var("PROTOLOG_SOAK_SECONDS").is_ok() { 1000 } else { 50 }
}

/// A chunk: its packets, their bytes, and whether the last one may be incomplete, so that the
/// service does not take it.
struct Chunk {
    packets: Packets,
    bytes: Vec<u8>,
    is_incomplete: bool,
}

/// The chunks of a connection, by writer and number, as they came last.
type Chunks = BTreeMap<(u16, u32), Chunk>;

/// Takes the chunks of a `CommitData` request.
fn take_chunks(chunks: &mut Chunks, request: &[u8]) {
    for chunk in Reader::new(request).map(|field| field.expect("a field")) {
        if chunk.number != 1 {
            continue;
        }
        let fields = chunk.as_message().expect("a chunk").map(|field| field.expect("a field"));
        let (mut data, mut is_incomplete) = (&[][..], false);
        for field in fields {
            match field.number {
                4 => data = field.as_bytes().expect("bytes"),
                5 => is_incomplete = field.as_u64().expect("a truth value") != 0,
                _ => {}
            }
        }
        let number = |at: usize| u16::from_le_bytes([data[at], data[at + 1]]);
        let id = u32::from(number(2)) << 16 | u32::from(number(0));
        let (packets, bytes) = (Packets(number(6)), data[8..].to_vec());
        chunks.insert((number(4), id), Chunk { packets, bytes, is_incomplete });
    }
}

/// The number of messages in chunks.
fn messages(chunks: &Chunks) -> usize {
    let (mut found, mut packet) = (0, Vec::new());
    for Chunk { packets, bytes, is_incomplete } in chunks.values() {
        let (count, mut rest) = (packets.count() - u16::from(*is_incomplete), &bytes[..]);
        for at in 0..count {
            let Some((size, len)) = size_of_packet(rest) else { break };
            let Some(part) = rest.get(len..len + size) else { break };
            if !(at == 0 && packets.flags() & Packets::CONTINUES != 0) {
                packet.clear();
            }
            packet.extend_from_slice(part);
            rest = &rest[len + size..];
            let is_continued = at + 1 == count && packets.flags() & Packets::CONTINUED != 0;
            let mut fields = Reader::new(&packet).map_while(Result::ok);
            found += usize::from(!is_continued && fields.any(|field| field.number == 104));
        }
    }
    found
}

/// The size before a packet, and its own length.
fn size_of_packet(bytes: &[u8]) -> Option<(usize, usize)> {
    let (mut size, mut len) = (0, 0);
    loop {
        let byte = *bytes.get(len)?;
        size |= usize::from(byte & 0x7f) << (7 * len);
        len += 1;
        if byte & 0x80 == 0 {
            return Some((size, len));
        }
    }
}

fn files(child: &RunningChild) -> usize {
    fs::read_dir(format!("/proc/{}/fd", child.process.id())).expect("its files").count()
}

#[test]
fn losses_of_each_connection_are_counted_and_nothing_else_stays() {
    let dir = temp_dir_for_sockets();
    let socket = dir.path().join("producer");
    let listener = UnixListener::bind(&socket).expect("listen");
    let path = socket.to_str().expect("UTF-8");
    let job = "count=2000 size=100 startup=65536";
    let Some(mut child) = RunningChild::start(path, job, &dir.path().join("logged")) else {
        return;
    };
    let (mut found, mut before) = (0, (0, 0));
    let memory = |child: &mut RunningChild| child.tell("memory").parse::<u64>().expect("a number");
    for round in 0..rounds() {
        let mut it = accept(&listener);
        child.tell("connected");
        it.start(1, &config());
        it.wait_for("NotifyDataSourceStarted").expect("an answer");
        // Nothing is read any more, so that the rest stays in the program.
        child.tell("log");
        it.socket.shutdown(Shutdown::Write).expect("end it");
        child.tell("disconnected");
        let mut chunks = Chunks::new();
        while let Some((method, _)) = it.next() {
            if method == "CommitData" {
                take_chunks(&mut chunks, &it.args);
            }
        }
        found += messages(&chunks);
        if round == 9 {
            before = (files(&child), memory(&mut child));
        }
    }
    assert_eq!(child.tell("threads"), "protolog-conn");
    assert!(files(&child) <= before.0 + 2, "{} files, {} before", files(&child), before.0);
    // Memory of a connection is given back with its last reference.
    child.tell(&format!("memory-below {}", before.1 + (8 << 20)));
    let lost: usize = child.tell("lost").parse().expect("a number");
    let logged = child.end().len();
    assert_eq!(logged, rounds() * 2000);
    assert!(found > rounds() * 100 && lost > rounds() * 100, "{found} found, {lost} lost");
    assert_eq!(found + lost, logged, "found {found} and lost {lost}, logged");
}
