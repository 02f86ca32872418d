//! A service that means no good, played by the test.

use super::*;
use std::thread;

/// The time limit of a call.
const LIMIT: Duration = Duration::from_millis(300);

/// The longest that a flood lasts.
const FLOOD: Duration = Duration::from_secs(5);

/// A consumer whose service knows all methods, and has its other end.
fn consumer() -> (Consumer, UnixStream) {
    let (socket, service) = UnixStream::pair().expect("two sockets");
    socket.set_write_timeout(Some(LIMIT)).expect("a limit");
    let methods = ["EnableTracing", "ReadBuffers", "Flush", "FreeBuffers"];
    let consumer = Consumer {
        socket,
        input: FrameBuffer::with_limit(MAX_REPLY),
        last_request: 0,
        service_id: 1,
        methods: methods.iter().zip(1..).map(|(name, id)| ((*name).to_owned(), id)).collect(),
        timeout: LIMIT,
        enabled: None,
        ended: None,
    };
    (consumer, service)
}

/// Sends a frame again and again, and closes the connection in the end.
fn flood(mut service: UnixStream, frame: &Frame<'_>) {
    let frame = frame.encode().expect("a frame");
    let begun = Instant::now();
    thread::spawn(move || while begun.elapsed() < FLOOD && service.write_all(&frame).is_ok() {});
}

fn reply(request_id: u64, reply: &[u8]) -> Frame<'_> {
    Frame { request_id, body: Body::InvokeReply { success: true, has_more: true, reply } }
}

#[test]
fn a_service_without_consumers_is_known_at_once() {
    let (mut consumer, mut service) = consumer();
    let frame = Frame { request_id: 1, body: Body::RequestError("no such service") };
    service.write_all(&frame.encode().expect("a frame")).expect("send it");
    assert!(matches!(consumer.bind(), Err(Error::Missing(_))));
}

/// Without packets, and with slices of one that does not end.
#[test]
fn a_trace_in_which_nothing_comes_is_not_read_for_ever() {
    let empty = message(|to| _ = to.nested(2).bytes(1, b"a"));
    for slices in [&b""[..], &empty] {
        let (mut consumer, service) = consumer();
        flood(service, &reply(1, slices));
        let begun = Instant::now();
        let read = consumer.read_to_vec();
        assert!(matches!(read, Err(Error::Timeout)), "{read:?} after {:?}", begun.elapsed());
    }
}
