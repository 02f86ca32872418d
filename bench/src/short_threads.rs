//! Threads that log one message each, or none, and end, as `bench.ShortThreads` of `bench/java` has
//! them in Java.

use crate::loggers::Protolog;
use harness::{Logger, cpu};
use std::path::Path;
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread;

const ROUNDS: usize = 3;

/// Places of threads that live at once.
struct Places {
    free: Mutex<usize>,
    freed: Condvar,
}

impl Places {
    fn take(&self) {
        let free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        let none = |free: &mut usize| *free == 0;
        *self.freed.wait_while(free, none).unwrap_or_else(PoisonError::into_inner) -= 1;
    }

    fn give_back(&self) {
        *self.free.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        self.freed.notify_one();
    }
}

/// Prints the CPU time of the process for a thread, in microseconds, and how many messages are
/// lost.
pub(crate) fn run(logs: &str, count: u64, alive: usize, path: &Path) -> Option<()> {
    let logs = match logs {
        "on" => true,
        "off" => false,
        _ => return None,
    };
    let own = Protolog::open(path);
    let logger = &own;
    let round = || {
        let places = &Places { free: Mutex::new(alive), freed: Condvar::new() };
        let before = cpu();
        thread::scope(|scope| {
            for number in 0..count {
                places.take();
                scope.spawn(move || {
                    if logs {
                        logger.two_ints(number, 1);
                    }
                    places.give_back();
                });
            }
        });
        (cpu() - before) as f64 / 1e3 / count as f64
    };
    let best = (0..ROUNDS).map(|_| round()).fold(f64::MAX, f64::min);
    let lost = own.0.stop().expect("complete the trace").lost();
    println!(r#"{{"cpu": {best}, "lost": {lost}}}"#);
    Some(())
}
