//! A trace as programs write them, for benches of its readers: four threads, several groups and
//! levels, numbers, floats, and strings that repeat and that do not.

use protolog_rt::{ProtoLogGroup, Session, d, e, i, v, w};
use std::path::Path;
use std::thread;

const THREADS: u64 = 4;

#[derive(ProtoLogGroup)]
enum MixedLog {
    Net,
    Disk,
    Cache,
}

/// Writes a trace of so many messages to `path`, in segments of this size if there is one.
pub(crate) fn run(path: &Path, messages: u64, segment_bytes: Option<u64>) {
    let session = Session::builder().file(path).enable_all().wait_at_most(std::time::Duration::MAX);
    let session = match segment_bytes {
        Some(bytes) => session.segment_bytes(bytes),
        None => session,
    };
    let session = session.start().expect("start a session");
    thread::scope(|scope| {
        for thread in 0..THREADS {
            let builder = thread::Builder::new().name(format!("worker-{thread}"));
            let log = move || (0..messages / THREADS).for_each(|index| log(index, thread));
            builder.spawn_scoped(scope, log).expect("start a thread");
        }
    });
    let summary = session.stop().expect("stop the session");
    assert_eq!(summary.messages, messages / THREADS * THREADS, "all are in the trace");
}

/// Writes so many traces of so many messages each, as programs do that run often and not for long.
pub(crate) fn run_many(dir: &Path, traces: u64, messages: u64) {
    for number in 0..traces {
        run(&dir.join(format!("{number:05}.pftrace")), messages, None);
    }
}

fn log(index: u64, thread: u64) {
    let number = index * 7919 + thread;
    let host = ["alpha", "beta", "gamma"][(number % 3) as usize];
    match number % 20 {
        0..=8 => {
            d!(
                MixedLog::Net,
                "sent %d bytes to %s in %.2f ms",
                index % 900,
                host,
                index as f64 / 7.0
            );
        }
        9..=14 => v!(
            MixedLog::Cache,
            "lookup %s: hit=%b",
            format!("user/{}", number % 500),
            !index.is_multiple_of(5)
        ),
        15..=17 => {
            i!(MixedLog::Disk, "flushed page %d (%x) of segment %d", index, number, index % 50);
        }
        18 => w!(MixedLog::Net, "%s does not answer, attempt %d", host, number % 4 + 1),
        _ => {
            e!(MixedLog::Disk, "can't write %s: %s", "/var/lib/app/wal", "no space left on device");
        }
    }
}
