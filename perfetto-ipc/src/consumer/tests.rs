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
    let methods = ["EnableTracing", "ReadBuffers", "Flush", "FreeBuffers", "DisableTracing"];
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

/// Packets without end, after the session's end: what came is kept, and no more is taken than the
/// session's buffers can have.
#[test]
fn a_service_that_goes_on_after_the_end_is_not_read_for_ever() {
    const MOST: u64 = 1 << 20;
    let packet = message(|to| _ = to.nested(2).bytes(1, &[7; 1000]).bool(2, true));
    for asks_first in [false, true] {
        let (mut consumer, service) = consumer();
        flood(service, &reply(1, &packet));
        let mut bytes = 0;
        let mut give = |packet: &[u8]| {
            bytes += packet.len() as u64;
            Ok(bytes < MOST)
        };
        let read = if asks_first {
            consumer.read_while(MOST, &mut give)
        } else {
            consumer.read_rest(MOST, |packet| give(packet).map(|_| true))
        };
        assert!(matches!(read, Ok(false)), "{read:?}");
        let most = if asks_first { 2 * MOST } else { MOST };
        assert!((most * 98 / 100..most + 128 * 1024).contains(&bytes), "{bytes} of {most}");
    }
    // Whoever wants no more of it gets none.
    let (mut consumer, service) = consumer();
    flood(service, &reply(1, &packet));
    let mut packets = 0;
    let read = consumer.read_rest(u64::MAX, |_| {
        packets += 1;
        Ok(packets < 3)
    });
    assert!(matches!(read, Ok(false)), "{read:?}");
    assert_eq!(packets, 3);
}

/// A packet from time to time, for ever: it is no trace either.
#[test]
fn a_service_that_drips_after_the_end_is_given_up() {
    let (mut consumer, mut service) = consumer();
    let packet = message(|to| _ = to.nested(2).bytes(1, b"a").bool(2, true));
    thread::spawn(move || {
        let frame = reply(1, &packet).encode().expect("a frame");
        while service.write_all(&frame).is_ok() {
            thread::sleep(LIMIT / 5);
        }
    });
    let begun = Instant::now();
    let read = consumer.read_rest(u64::MAX, |_| Ok(true));
    assert!(matches!(read, Ok(false)), "{read:?}");
    assert!(begun.elapsed() < FLOOD, "{:?}", begun.elapsed());
}
