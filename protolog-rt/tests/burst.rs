//! A burst: threads that do nothing but log. With the defaults nothing of it is lost.

use protolog_rt::{ProtoLogGroup, Session, i};
use protolog_testkit::temp_dir;
use std::thread;

#[derive(ProtoLogGroup)]
enum Log {
    Burst,
}

/// Threads, twice as many as the processors of a small machine.
const THREADS: u64 = 4;

/// Messages of each thread.
const MESSAGES: u64 = 200_000;

#[test]
fn a_burst_loses_nothing_with_the_defaults() {
    let dir = temp_dir();
    let session = Session::builder().file(dir.path().join("burst.pftrace")).enable_all().start();
    let session = session.expect("a session");
    thread::scope(|scope| {
        for number in 0..THREADS {
            scope.spawn(move || {
                for message in 0..MESSAGES {
                    i!(Log::Burst, "sent %d bytes to %s, %d", message, "example.org", number);
                }
            });
        }
    });
    let summary = session.stop().expect("stop");
    assert_eq!((summary.messages, summary.lost()), (THREADS * MESSAGES, 0), "{:?}", summary.buffer);
    assert!(summary.buffer.size <= 16 << 20, "the memory that the manual states");
}
