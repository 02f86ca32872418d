//! The latency of messages while a trigger's file of 64 MiB is written, beside that of messages
//! while none is, and what a message costs where its group is watched, messages are pinned, or the
//! thread is in a request.
//!
//! ```text
//! cargo bench -p protolog-rt --bench trigger
//! ```

use protolog_rt::{Builder, Level, Pinned, ProtoLogGroup, Request, Session, Triggers, e, i};
use std::path::Path;
use std::time::{Duration, Instant};

#[derive(ProtoLogGroup)]
enum Log {
    Bench,
}

const RING: usize = 64 << 20;

/// Calls, each of which is timed.
const CALLS: usize = 2_000_000;

fn start(dir: &Path, set: impl FnOnce(Triggers) -> Triggers) -> Session {
    let triggers = Triggers::to(dir.join("app.pftrace")).after(Duration::from_millis(100));
    let builder = Session::builder().enable_all().buffer_size(RING).triggers(set(triggers));
    builder.start().expect("start a session")
}

/// Fills the ring.
fn fill() {
    for number in 0..4_000_000u64 {
        i!(Log::Bench, "block %d of %d", number, 7);
    }
}

/// Prints the latency of calls, each timed, while `event` happens at the first.
fn latency(name: &str, event: impl FnOnce()) {
    let mut taken = vec![0; CALLS];
    event();
    for (number, taken) in taken.iter_mut().enumerate() {
        let begun = Instant::now();
        i!(Log::Bench, "block %d of %d", number, 7);
        *taken = begun.elapsed().as_nanos() as u64;
    }
    taken.sort_unstable();
    let [half, p99, p999, most] =
        [0.5, 0.99, 0.999, 1.0].map(|part| taken[((CALLS - 1) as f64 * part) as usize]);
    println!("{name:<32} {half:>6} ns p50 {p99:>6} ns p99 {p999:>6} ns p99.9 {most:>9} ns max");
}

/// Prints the time of a call.
fn cost(name: &str) {
    let begun = Instant::now();
    fill();
    println!("{name:<32} {:>6.1} ns", begun.elapsed().as_nanos() as f64 / 4_000_000.0);
}

/// Prints the time of calls that are pinned, and of others beside them: the least of many parts, so
/// that other work on the machine is in none of them.
fn costs_of_pinned(dir: &Path) {
    const PART: u64 = 10_000;
    let builder = || Session::builder().file(dir.join("app.pftrace")).enable_all().keep_newest();
    let run = |name: &str, builder: Builder, call: fn(u64)| {
        let session = builder.buffer_size(1 << 20).start().expect("start a session");
        let part = || {
            let begun = Instant::now();
            (0..PART).for_each(call);
            begun.elapsed().as_nanos() as f64 / PART as f64
        };
        let least = (0..1000).map(|_| part()).fold(f64::INFINITY, f64::min);
        println!("{name:<32} {least:>6.1} ns");
        session.stop().expect("stop");
    };
    let pin = |level| builder().pin(Pinned::new().level(level));
    let info = |number| i!(Log::Bench, "block %d of %d", number, 7);
    let error = |number| e!(Log::Bench, "block %d of %d", number, 7);
    run("nothing pinned", builder(), info);
    run("ERROR pinned, others", pin(Level::Error), info);
    run("WARN pinned, others", pin(Level::Warn), info);
    run("pinned", pin(Level::Error), error);
    run("ERROR pinned, one in 100", pin(Level::Error), |number| {
        if number % 100 == 0 {
            e!(Log::Bench, "block %d of %d", number, 7);
        } else {
            i!(Log::Bench, "block %d of %d", number, 7);
        }
    });
}

/// Prints the time of a request with so many messages, on one thread: the least of many parts.
fn costs_of_requests(dir: &Path) {
    const PART: u64 = 1000;
    let builder = Session::builder().file(dir.join("app.pftrace")).enable_all().keep_newest();
    let session = builder.buffer_size(1 << 20).start().expect("start a session");
    let request = Request::new("GET /cart/17");
    let run = |name: &str, turn: &dyn Fn(u64)| {
        let part = || {
            let begun = Instant::now();
            (0..PART).for_each(turn);
            begun.elapsed().as_nanos() as f64 / PART as f64
        };
        let least = (0..1000).map(|_| part()).fold(f64::INFINITY, f64::min);
        println!("{name:<32} {least:>6.1} ns");
    };
    let messages = |count: u64| {
        (0..count).for_each(|number| i!(Log::Bench, "block %d of %d", number, 7));
    };
    run("ten messages", &|_| messages(10));
    run("a new request", &|number| _ = std::hint::black_box(Request::new(number)));
    run("a scope without messages", &|_| drop(request.enter()));
    run("a scope with ten messages", &|_| {
        let _scope = request.enter();
        messages(10);
    });
    run("the same, one message after it", &|_| {
        let scope = request.enter();
        messages(9);
        drop(scope);
        messages(1);
    });
    session.stop().expect("stop");
}

fn main() {
    let dir = std::env::temp_dir().join(format!("protolog-bench-{}", std::process::id()));
    std::fs::create_dir_all(&dir).expect("make a directory");
    let session = start(&dir, |triggers| triggers.on_level(Level::Error));
    fill();
    for _ in 0..3 {
        latency("no file is written", || ());
    }
    for round in 0..3 {
        let cause = format!("round {round}");
        latency("a file of 64 MiB is written", || _ = session.trigger(&cause));
        while session.trigger_counts().iter().any(|it| it.fired > it.written + it.failed) {
            std::thread::sleep(Duration::from_millis(10));
        }
    }
    cost("a trigger at ERROR");
    session.stop().expect("stop");
    let session = start(&dir, |triggers| triggers.on_level(Level::Warn));
    cost("a trigger at WARN");
    session.stop().expect("stop");
    costs_of_pinned(&dir);
    costs_of_requests(&dir);
    std::fs::remove_dir_all(&dir).expect("remove the directory");
}
