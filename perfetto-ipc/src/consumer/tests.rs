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
    let methods = [
        "EnableTracing",
        "ReadBuffers",
        "Flush",
        "FreeBuffers",
        "DisableTracing",
        "QueryServiceState",
    ];
    let consumer = Consumer {
        socket,
        input: FrameBuffer::with_limit(MAX_REPLY),
        last_request: 0,
        service_id: 1,
        methods: methods.iter().zip(1..).map(|(name, id)| ((*name).to_owned(), id)).collect(),
        timeout: LIMIT,
        enabled: None,
        stop_timeout: Duration::ZERO,
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

/// Small things in a large reply take more memory than they have bytes.
#[test]
fn a_reply_of_names_without_end_takes_no_memory_without_end() {
    let (mut consumer, mut service) = consumer();
    // A data source, its descriptor, its name of no characters.
    let state = [0x12, 4, 0x0a, 2, 0x0a, 0].repeat(4 << 20);
    let answer = message(|to| _ = to.bytes(1, &state));
    let bytes = message(|to| {
        let mut frame = to.uint64(2, 1).nested(6);
        frame.bool(1, true).bytes(3, &answer);
    });
    thread::spawn(move || {
        let _ = service.write_all(&(bytes.len() as u32).to_le_bytes());
        let _ = service.write_all(&bytes);
        thread::sleep(FLOOD);
    });
    consumer.timeout = 10 * FLOOD;
    let names = consumer.data_sources();
    let Err(Error::Frame(FrameError::TooLong { bytes, .. })) = names else {
        panic!("{:?} names", names.map(|names| names.len()));
    };
    assert!(bytes < MAX_REPLY + 2 * NAME_BYTES, "{bytes} bytes of names");
}

/// A service has few methods, and its first reply says which.
#[test]
fn a_first_reply_is_no_large_frame() {
    let (socket, mut service) = UnixStream::pair().expect("two sockets");
    thread::spawn(move || {
        // Methods without number and name.
        let methods = [0x1a, 0].repeat(MAX_FRAME);
        let reply = [&[8, 1, 16, 1][..], &methods].concat();
        let frame = message(|to| _ = to.uint64(2, 1).bytes(4, &reply));
        let _ = service.write_all(&(frame.len() as u32).to_le_bytes());
        let _ = service.write_all(&frame);
        thread::sleep(FLOOD);
    });
    let connected = Consumer::over(socket).map(|consumer| consumer.methods.len());
    let is_refused = matches!(connected, Err(Error::Frame(FrameError::TooLong { .. })));
    assert!(is_refused, "{connected:?}");
}

/// The end of a session takes as long as its programs have for it.
#[test]
fn the_end_of_a_session_is_waited_for_as_its_configuration_says() {
    for stop_ms in [0, 3000] {
        let (mut consumer, mut service) = consumer();
        consumer.enable(&message(|to| _ = to.uint32(23, stop_ms))).expect("start it");
        if stop_ms == 0 {
            assert_eq!(consumer.stop_timeout, Duration::from_secs(5), "as the service has it");
            consumer.stop_timeout = Duration::ZERO;
        }
        let ends = thread::spawn(move || {
            let end = |request_id| {
                let body = Body::InvokeReply { success: true, has_more: false, reply: &[] };
                Frame { request_id, body }.encode().expect("a frame")
            };
            service.write_all(&end(2)).expect("answer");
            thread::sleep(3 * LIMIT);
            let _ = service.write_all(&end(1));
            service
        });
        assert_eq!(consumer.disable().expect("end it"), stop_ms > 0, "within {stop_ms} ms");
        drop(ends.join().expect("the service"));
    }
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
