//! Any commands of Perfetto's service, in any order: the producer does them until the connection
//! ends, and then says why, whatever it is sent.
//!
//! Covers the whole of it behind the introduction: both threads, sessions that start and stop,
//! flushes and dictionaries, while the program logs. Bytes are taken for commands of random parts,
//! so that many of them mean something. A command takes a system call or two on either side, so
//! this target is slow by design.
#![no_main]

use libfuzzer_sys::fuzz_target;
use perfetto_ipc::frame::{Body, Frame, FrameBuffer, message};
use protolog_rt::producer::fuzzing::{COMMANDS, serve};
use protolog_rt::{ProtoLogGroup, i};
use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::thread;

#[derive(ProtoLogGroup)]
enum Log {
    Fuzzed,
}

/// So many commands of an input are sent, so that the memory has room for what they ask for: nobody
/// frees it.
const MOST: usize = 40;

fuzz_target!(|bytes: &[u8]| {
    let (service, producer) = UnixStream::pair().expect("a pair of sockets");
    let producer = thread::spawn(move || serve(producer));
    // The requests, which have to be frames.
    let mut reading = service.try_clone().expect("clone a socket");
    let requests = thread::spawn(move || {
        let (mut input, mut bytes, mut count) = (FrameBuffer::default(), [0; 4096], 0);
        while let Ok(read @ 1..) = reading.read(&mut bytes) {
            input.push(&bytes[..read]);
            while let Some(frame) = input.next_frame().expect("frames of a producer") {
                Frame::decode(frame).expect("a frame of a producer");
                count += 1;
            }
        }
        count
    });
    send(bytes, service);
    let reason = producer.join().expect("no panic").expect("a connection");
    assert!(!reason.is_empty(), "a connection ends with a reason");
    requests.join().expect("requests");
});

/// Sends what the bytes stand for, and closes the connection.
fn send(bytes: &[u8], mut service: UnixStream) {
    let mut rest = bytes;
    for number in 0..MOST as u64 {
        let Some((&[kind, id, len], after)) = rest.split_first_chunk() else { break };
        let (part, after) = after.split_at(after.len().min(len as usize));
        rest = after;
        if kind & 0x40 != 0 {
            i!(Log::Fuzzed, "message %d of %d", number, id);
        }
        let frame = match kind & 0xf {
            0xf => part.to_vec(),
            kind => command(kind, id, number, part),
        };
        // The producer may have had enough.
        if service.write_all(&frame).is_err() {
            break;
        }
    }
    let _ = service.shutdown(Shutdown::Write);
}

/// A command, as a frame: `part` is the configuration of a start, or stands beside what is known.
fn command(kind: u8, id: u8, number: u64, part: &[u8]) -> Vec<u8> {
    let id = u64::from(id % 8);
    let reply = message(|to| match kind {
        0 | 1 => _ = to.nested(1).uint64(1, id).bytes(2, part),
        // One that records all.
        2 | 3 => {
            let config = message(|to| _ = to.uint32(2, 3).nested(126).uint32(2, 1));
            to.nested(1).uint64(1, id).bytes(2, &config);
        }
        4 | 5 => _ = to.nested(2).uint64(1, id),
        6 | 7 => _ = to.nested(5).uint64(1, id).bytes(1, part).uint64(2, number + 1),
        8 => _ = to.nested(5).uint64(1, id).uint64(2, number + 1).uint64(3, 1),
        9 => _ = to.nested(7).uint64(1, id),
        10 => _ = to.nested(3).uint32(1, 4),
        _ => _ = to.bytes(u32::from(kind), part),
    });
    let body = match kind {
        11 => Body::RequestError("fuzzed"),
        _ => Body::InvokeReply { success: kind != 12, has_more: true, reply: &reply },
    };
    let request_id = if kind == 13 { id } else { COMMANDS };
    Frame { request_id, body }.encode().expect("a frame")
}
