//! What single calls take, and what a session takes beside them: for the lab's page, by hand.
//!
//! The clock is `Instant`, whose own time is subtracted. A process measures one thing once.

use crate::Group;
use harness::cpu;
use protolog_rt::{Builder, Level, Session, i};
use std::hint::black_box;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

/// Threads whose first calls are measured, one after the other.
const THREADS: usize = 300;

/// Calls that are timed one by one, in bursts of 20 after pauses.
const CALLS: usize = 200_000;
const BURST: usize = 20;
const PAUSE: Duration = Duration::from_micros(10);

/// Of so many calls one takes a chunk.
const CALLS_OF_A_CHUNK: usize = 177;

/// Runs what the words say, and prints one line of JSON.
pub(crate) fn run(words: &[&str]) -> Option<()> {
    match *words {
        ["first", path] => first(path.as_ref()),
        ["chunks", kind, path] => chunks(kind, path.as_ref())?,
        ["sustained", path, threads, messages] => {
            sustained(path.as_ref(), threads.parse().ok()?, messages.parse().ok()?);
        }
        ["resident", path] => resident(path.as_ref()),
        _ => return None,
    }
    Some(())
}

fn stream(path: &Path) -> Builder {
    Session::builder().file(path).log_from(Level::Info)
}

/// The first and the second call of a thread, and the first and the second of a call site on a
/// thread that has logged: medians, in nanoseconds.
fn first(path: &Path) {
    let session = stream(path).start().expect("start a session");
    let empty = empty();
    let calls: Vec<[f64; 2]> = (0..THREADS).map(|_| of_a_thread()).collect();
    let sites = of_sites();
    session.stop().expect("complete the trace");
    let median = |times: &[[f64; 2]], at: usize| {
        let mut times: Vec<f64> = times.iter().map(|pair| pair[at] - empty).collect();
        middle(&mut times)
    };
    println!(
        r#"{{"thread": [{:.0}, {:.0}], "site": [{:.0}, {:.0}]}}"#,
        median(&calls, 0),
        median(&calls, 1),
        median(&sites, 0),
        median(&sites, 1)
    );
}

fn of_a_thread() -> [f64; 2] {
    let call = || timed(|| i!(Group::On, "%d of %d", black_box(5), black_box(7)));
    thread::spawn(move || [call(), call()]).join().expect("a thread that logs")
}

fn of_sites() -> Vec<[f64; 2]> {
    macro_rules! sites {
        ($($text:literal)*) => { [$(|| i!(Group::On, $text, black_box(5))),*] };
    }
    let sites: [fn(); 32] = sites!(
        "0 %d" "1 %d" "2 %d" "3 %d" "4 %d" "5 %d" "6 %d" "7 %d" "8 %d" "9 %d" "a %d" "b %d" "c %d"
        "d %d" "e %d" "f %d" "g %d" "h %d" "i %d" "j %d" "k %d" "l %d" "m %d" "n %d" "o %d" "p %d"
        "q %d" "r %d" "s %d" "t %d" "u %d" "v %d"
    );
    sites.iter().map(|site| [timed(site), timed(site)]).collect()
}

/// Calls of two integers, each timed alone: the median of all, and of those that take a chunk.
fn chunks(kind: &str, path: &Path) -> Option<()> {
    let builder = match kind {
        "stream" => stream(path),
        "recorder" => Session::builder().record_at(path).enable_all(),
        _ => return None,
    };
    let session = builder.start().expect("start a session");
    let empty = empty();
    let mut times = Vec::with_capacity(CALLS);
    for _ in 0..CALLS / BURST {
        let pause = Instant::now();
        while pause.elapsed() < PAUSE {
            std::hint::spin_loop();
        }
        let burst = (0..BURST).map(|n| timed(|| i!(Group::On, "%d of %d", n as u64, 7_u64)));
        times.extend(burst);
    }
    drop(session);
    let all = middle(&mut times) - empty;
    // The median of the slowest is that of calls with a chunk: fewer are slow for other reasons.
    let slowest = &mut times[CALLS - CALLS / CALLS_OF_A_CHUNK..];
    println!(r#"{{"call": {all:.0}, "with a chunk": {:.0}}}"#, middle(slowest) - empty);
    Some(())
}

/// Messages of two integers as fast as threads can: millions a second, CPU of all threads for each.
fn sustained(path: &Path, threads: u64, messages: u64) {
    let builder = stream(path).wait_at_most(Duration::from_millis(500));
    let session = builder.start().expect("start a session");
    let (begin, before) = (Instant::now(), cpu());
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                for number in 0..messages / threads {
                    i!(Group::On, "%d of %d", number & 0xffff, number & 0xff);
                }
            });
        }
    });
    let called = begin.elapsed();
    let lost = session.stop().expect("complete the trace").lost();
    println!(
        r#"{{"M/s of calls": {:.1}, "M/s until all is written": {:.1}, "CPU ns": {:.1}, "lost": {lost}}}"#,
        messages as f64 / called.as_secs_f64() / 1e6,
        messages as f64 / begin.elapsed().as_secs_f64() / 1e6,
        (cpu() - before) as f64 / messages as f64
    );
}

/// Memory that a session with defaults and one message make resident, in KiB.
fn resident(path: &Path) {
    let before = resident_pages();
    let session = stream(path).start().expect("start a session");
    let started = resident_pages();
    i!(Group::On, "%d of %d", 5, 7);
    session.flush().expect("write the trace");
    let logged = resident_pages();
    session.stop().expect("complete the trace");
    println!(r#"{{"start": {}, "message": {}}}"#, 4 * (started - before), 4 * (logged - started));
}

fn resident_pages() -> u64 {
    let pages = std::fs::read_to_string("/proc/self/statm").expect("read statm");
    let resident = pages.split(' ').nth(1).expect("a second number");
    resident.parse().expect("a number of pages")
}

fn timed(call: impl FnOnce()) -> f64 {
    let begin = Instant::now();
    call();
    begin.elapsed().as_nanos() as f64
}

/// What the clock itself takes.
fn empty() -> f64 {
    middle(&mut (0..10_000).map(|_| timed(|| ())).collect::<Vec<_>>())
}

/// Sorts them, and returns their median.
fn middle(times: &mut [f64]) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}
