//! A program that logs.

use crate::now;
use protolog_rt::{Level, ProtoLogGroup};
use std::io::{Read, Write, stdin, stdout};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// The groups of these programs.
#[derive(ProtoLogGroup)]
pub(crate) enum BenchLog {
    Net,
    Disk,
}

/// Makes this program one that listens.
pub(crate) fn init() {
    protolog_rt::Init::new()
        .persistent_settings(false)
        .groups::<BenchLog>()
        .start()
        .expect("listen");
    assert!(!BenchLog::Disk.is_enabled(Level::Wtf));
}

/// Listens until its input ends.
pub(crate) fn sit() {
    init();
    say("ready");
    let _ = stdin().read(&mut [0]);
}

/// Threads test a group all the time until the input ends; then the times at which each found it
/// changed are printed, one line a thread.
pub(crate) fn run(threads: usize) {
    init();
    let over = AtomicBool::new(false);
    let started = AtomicU64::new(0);
    let lines = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                let mut seen = Vec::with_capacity(1 << 16);
                let mut before = BenchLog::Net.is_enabled(Level::Info);
                started.fetch_add(1, Ordering::Relaxed);
                // As often as a busy thread would log; `over` is looked at seldom.
                while !over.load(Ordering::Relaxed) {
                    for _ in 0..1000 {
                        let on = BenchLog::Net.is_enabled(Level::Info);
                        if on != before {
                            seen.push(now());
                            before = on;
                        }
                    }
                }
                lines.lock().expect("no thread panics").push(seen);
            });
        }
        while started.load(Ordering::Relaxed) < threads as u64 {
            std::thread::yield_now();
        }
        say("ready");
        let _ = stdin().read(&mut [0]);
        over.store(true, Ordering::Relaxed);
    });
    for seen in lines.into_inner().expect("no thread panics") {
        let times: Vec<String> = seen.iter().map(u64::to_string).collect();
        say(&times.join(" "));
    }
}

/// Prints a line at once.
pub(crate) fn say(line: &str) {
    println!("{line}");
    let _ = stdout().flush();
}
