//! A trace for counting what its readers take: eight sequences that take turns in time, floats of
//! many sizes, strings that repeat and strings that do not. Apart from its times, it is the same
//! each time.

use protolog_rt::{ProtoLogGroup, Session, d, e, i, v};
use std::path::Path;
use std::sync::mpsc;
use std::thread;

const SEQUENCES: u64 = 8;

/// Messages of a thread until the next one has its turn.
const TURN: u64 = 50;

const NAMES: [&str; 8] = ["eth0", "wlan0", "lo", "docker0", "tun0", "veth1", "br-lan", "usb0"];

#[derive(ProtoLogGroup)]
enum Server {
    Net,
    Store,
}

/// Writes a trace of so many messages to `path`.
pub(crate) fn run(path: &Path, messages: u64) {
    let session = Session::builder().file(path).enable_all().wait_at_most(std::time::Duration::MAX);
    let session = session.start().expect("start a session");
    let (senders, receivers): (Vec<_>, Vec<_>) =
        (0..SEQUENCES).map(|_| mpsc::channel::<u64>()).unzip();
    senders[0].send(0).expect("the first thread waits");
    let mut nexts = senders;
    nexts.rotate_left(1);
    let threads = nexts.into_iter().zip(receivers).zip(0..).map(|((next, own), number)| {
        let take_turns = move || {
            while let Ok(first) = own.recv() {
                let after = messages.min(first + TURN);
                (first..after).for_each(log);
                if after == messages || next.send(after).is_err() {
                    break;
                }
            }
        };
        let builder = thread::Builder::new().name(format!("worker-{number}"));
        builder.spawn(take_turns).expect("start a thread")
    });
    for thread in threads.collect::<Vec<_>>() {
        thread.join().expect("logging does not panic");
    }
    let summary = session.stop().expect("stop the session");
    assert_eq!(summary.messages, messages, "all are in the trace");
}

/// One message in a hundred is an error, a third of the others has a float, and a sixth a string
/// that comes once.
fn log(index: u64) {
    let mixed = index.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    if index % 100 == 99 {
        return e!(Server::Store, "can't write block %d: %s", index, "no space left on device");
    }
    match index % 6 {
        0 | 3 => {
            // From microseconds to days, with all the bits that a quotient has.
            let time = (mixed >> (16 + index % 40)) as f64 / 977.0;
            i!(Server::Net, "request %d took %8.3f ms", index, time);
        }
        1 => d!(Server::Net, "sent %d bytes on %s", mixed % 1500, NAMES[(index % 8) as usize]),
        2 => v!(
            Server::Store,
            "lookup %s: hit=%b",
            format!("user/{mixed:016x}"),
            !index.is_multiple_of(5)
        ),
        4 => d!(Server::Store, "flushed page %d of segment %d", index, index % 50),
        _ => v!(Server::Net, "received %d bytes in %d us", mixed % 9000, mixed % 100),
    }
}
