//! Many threads: nothing lost, doubled or torn; threads that end, and that log while they end.

mod common;

use common::{SetOnDrop, TestSession, Trace, record, wire};
use protolog_rt::{Builder, Level, LossCause, ProtoLogGroup, i};
use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

#[derive(ProtoLogGroup)]
enum Log {
    Work,
    /// Logged to while no session, or another test's, runs.
    Late,
    Load,
}

/// Each of `threads` threads logs `messages` messages, numbered.
fn work(threads: usize, messages: usize) {
    let start = Barrier::new(threads);
    thread::scope(|scope| {
        for thread in 0..threads {
            let start = &start;
            scope.spawn(move || {
                start.wait();
                for number in 0..messages {
                    // Lengths vary, so that chunks end everywhere.
                    let filler = &"................................"[..number * 7 % 32];
                    i!(Log::Work, "%d:%d %s", thread, number, filler);
                }
            });
        }
    });
}

/// Every message is there once and whole, each thread's in order, but for as many as the summary says were lost.
#[track_caller]
fn check_numbers(trace: &Trace, threads: usize, messages: usize) {
    assert_eq!(trace.summary.messages + trace.summary.lost(), (threads * messages) as u64);
    let lines = trace.messages();
    assert_eq!(lines.len() as u64, trace.summary.messages);
    let mut last: HashMap<usize, usize> = HashMap::new();
    for line in lines {
        let text = line.strip_prefix("INFO Work ").expect("the group");
        let (thread, rest) = text.split_once(':').expect("a thread");
        let (number, filler) = rest.split_once(' ').expect("a filler");
        let number: usize = number.parse().expect("a number");
        assert_eq!(filler, ".".repeat(number * 7 % 32), "{text}");
        let before = last.insert(thread.parse().expect("a thread"), number);
        assert!(before.is_none_or(|before| before < number), "{before:?} before {text}");
    }
}

fn info() -> TestSession {
    record(|session| session.group("Work", Level::Info))
}

#[test]
fn threads_that_end_before_the_session_leave_everything() {
    let recording = info();
    work(8, 500);
    let trace = recording.stop();
    assert_eq!(trace.summary.lost(), 0);
    check_numbers(&trace, 8, 500);
    let sequences: HashMap<u32, usize> = trace
        .packets()
        .iter()
        .filter(|packet| packet.is_message)
        .fold(HashMap::new(), |mut all, packet| {
            *all.entry(packet.sequence).or_default() += 1;
            all
        });
    assert_eq!(sequences.len(), 8, "a sequence for each thread");
    assert!(sequences.values().all(|count| *count == 500), "{sequences:?}");
}

#[test]
fn many_threads_that_log_once_share_little_memory() {
    let recording = record(|session| session.group("Work", Level::Info).buffer_size(128 << 10));
    work(300, 1);
    let trace = recording.stop();
    assert_eq!(trace.summary.lost(), 0, "{:?}", trace.summary);
    check_numbers(&trace, 300, 1);
}

#[test]
fn a_thread_that_found_no_chunk_at_all_is_named_and_its_losses_told() {
    // Sixteen chunks for forty threads.
    let recording = record(|session| session.group("Work", Level::Info).buffer_size(64 << 10));
    let (logged, more) = (Barrier::new(40), "x".repeat(900));
    thread::scope(|scope| {
        for thread in 0..40usize {
            let (logged, more) = (&logged, &more);
            scope.spawn(move || {
                for number in 0..100usize {
                    i!(Log::Work, "%d:%d %s %s %s %s", thread, number, more, more, more, more);
                }
                logged.wait();
            });
        }
    });
    let trace = recording.stop();
    assert_eq!(trace.summary.messages + trace.summary.lost(), 4_000);
    assert!(trace.summary.lost() > 0);
    trace.losses();
    trace.check_stats();
    let named: std::collections::HashSet<u32> =
        trace.packets().into_iter().filter_map(|packet| Some(packet.info?.1)).collect();
    assert_eq!(named.len(), 40 + 1, "every thread, and the process itself");
}

#[test]
fn in_a_small_buffer_what_is_not_there_is_counted() {
    let recording = record(|session| session.group("Work", Level::Info).buffer_size(64 << 10));
    work(4, 20_000);
    let trace = recording.stop();
    check_numbers(&trace, 4, 20_000);
    trace.losses();
}

#[test]
fn threads_that_outlive_the_session_go_on() {
    let late = |session: Builder| session.group("Late", Level::Info);
    let recording = record(late);
    let (logged, stopped) = (Barrier::new(2), Barrier::new(2));
    thread::scope(|scope| {
        let thread = scope.spawn(|| {
            i!(Log::Late, "first session");
            logged.wait();
            stopped.wait();
            i!(Log::Late, "no session");
            stopped.wait();
            stopped.wait();
            i!(Log::Late, "second session");
        });
        logged.wait();
        recording.stop().check(&["INFO Late first session"]);
        stopped.wait();
        stopped.wait();
        let recording = record(late);
        stopped.wait();
        thread.join().unwrap();
        recording.stop().check(&["INFO Late second session"]);
    });
}

#[test]
fn sessions_that_come_and_go_under_load_stay_right() {
    let done = &AtomicBool::new(false);
    thread::scope(|scope| {
        for thread in 0..3usize {
            scope.spawn(move || {
                let mut number = 0usize;
                while !done.load(Ordering::Relaxed) {
                    let filler = &"................................"[..number * 7 % 32];
                    i!(Log::Load, "%d:%d %s", thread, number, filler);
                    number += 1;
                    if number % 500 == 0 {
                        thread::sleep(Duration::from_micros(50));
                    }
                }
            });
        }
        // Also when an assertion fails: the scope waits for the threads.
        let _done = SetOnDrop(done);
        for round in 0..30 {
            let recording =
                record(|session| session.group("Load", Level::Info).buffer_size(256 << 10));
            thread::sleep(Duration::from_millis(round % 4));
            let trace = recording.stop();
            trace.losses();
            let numbered = trace.packets().iter().filter(|packet| packet.is_message).count();
            assert_eq!(numbered as u64, trace.summary.messages);
            if round % 10 == 0 {
                trace.check_stats();
            }
        }
    });
}

struct LogsWhenDropped;

impl Drop for LogsWhenDropped {
    fn drop(&mut self) {
        i!(Log::Work, "in a destructor");
    }
}

thread_local! {
    static EARLY: RefCell<Option<LogsWhenDropped>> = const { RefCell::new(None) };
    static LATE: RefCell<Option<LogsWhenDropped>> = const { RefCell::new(None) };
}

#[test]
fn thread_local_destructors_log_or_are_counted() {
    let recording = info();
    thread::spawn(|| {
        // Destructors run in the reverse order of first use on some systems, in that order on others: the thread's
        // writer is between the two.
        EARLY.set(Some(LogsWhenDropped));
        i!(Log::Work, "in the thread");
        LATE.set(Some(LogsWhenDropped));
    })
    .join()
    .unwrap();
    let trace = recording.stop();
    assert_eq!(trace.summary.messages, 2, "{:?}", trace.summary);
    assert_eq!(
        trace.losses().into_iter().map(|(key, count)| (key.1, count)).collect::<Vec<_>>(),
        [(wire(LossCause::ThreadExit), 1)]
    );
    assert_eq!(trace.messages().len(), 2);
}

/// How many messages threads log that hand over a token: so many, with `PROTOLOG_SOAK` more.
fn turns(few: usize, soaked: usize) -> usize {
    if std::env::var_os("PROTOLOG_SOAK").is_some() { soaked } else { few }
}

/// A session that loses none of them.
fn patient() -> TestSession {
    let minute = Duration::from_secs(60);
    record(|session| session.group("Work", Level::Info).wait_at_most(minute))
}

/// Waits until the token is at `turn`: as fast as a processor sees it, where the other thread has one of its own.
fn wait_for(token: &AtomicUsize, turn: usize) {
    let mut spins = 0;
    while token.load(Ordering::Acquire) != turn {
        spins += 1;
        if spins % 1_000 == 0 { thread::yield_now() } else { std::hint::spin_loop() }
    }
}

/// All messages are there, in the order of the numbers that they begin with, for us and for Perfetto.
#[track_caller]
fn check_order(trace: &Trace, turns: usize) {
    assert_eq!((trace.summary.messages, trace.summary.lost()), (turns as u64, 0));
    let lines = trace.lines();
    for (turn, line) in lines.iter().enumerate() {
        let number = line.strip_prefix("INFO Work ").and_then(|text| text.split(' ').next());
        assert_eq!(number, Some(turn.to_string().as_str()), "of {turns}");
    }
    // As many rows are too much for a comparison of texts.
    let sql = "select count(*) as rows, sum(number < before) as reversed from (select number, \
               lag(number) over (order by id) as before from (select id, \
               cast(message as int) as number from protolog))";
    if let Some(table) = trace.query(sql) {
        assert_eq!(table.to_string(), format!("{turns} | 0\n"), "Perfetto");
    }
    trace.check_stats();
}

#[test]
fn who_hands_over_a_token_comes_first() {
    let turns = turns(30_000, 1_000_000);
    let recording = patient();
    let token = &AtomicUsize::new(0);
    thread::scope(|scope| {
        for thread in 0..2 {
            scope.spawn(move || {
                for turn in (thread..turns).step_by(2) {
                    wait_for(token, turn);
                    i!(Log::Work, "%d", turn);
                    token.store(turn + 1, Ordering::Release);
                }
            });
        }
    });
    check_order(&recording.stop(), turns);
}

/// How many messages a thread logs before it hands over the token: one or two, or some chunks full, during which it comes to
/// be the only one that logs. Of two threads, as of three, each has each of these lengths.
const RUNS: [usize; 7] = [1, 1, 100, 1, 1, 300, 2];

/// Threads that hand over a token log in runs.
#[track_caller]
fn take_turns_in_runs(threads: usize) {
    let rounds = turns(20, 750);
    let recording = patient();
    let (token, dots) = (&AtomicUsize::new(0), &".".repeat(200));
    thread::scope(|scope| {
        for thread in 0..threads {
            scope.spawn(move || {
                let (mut first, runs) = (0, RUNS.into_iter().cycle().take(rounds * RUNS.len()));
                for (run, length) in runs.enumerate() {
                    if run % threads == thread {
                        wait_for(token, first);
                        i!(Log::Work, "%d", first);
                        for turn in first + 1..first + length {
                            // Long, and another one each time, so that chunks are soon full.
                            i!(Log::Work, "%d %s", turn, &dots[turn % 100..]);
                        }
                        token.store(first + length, Ordering::Release);
                    }
                    first += length;
                }
            });
        }
    });
    check_order(&recording.stop(), rounds * RUNS.iter().sum::<usize>());
}

#[test]
fn of_two_threads_one_that_was_alone_hands_over_a_token() {
    take_turns_in_runs(2);
}

#[test]
fn of_three_threads_one_that_was_alone_hands_over_a_token() {
    take_turns_in_runs(3);
}

#[test]
fn clocks_of_threads_agree() {
    let recording = info();
    // Two threads in turn, so that the order of messages is known.
    let turn = Barrier::new(2);
    thread::scope(|scope| {
        for thread in 0..2usize {
            let turn = &turn;
            scope.spawn(move || {
                for number in 0..2_000usize {
                    if number % 2 == thread {
                        i!(Log::Work, "%d", number);
                    }
                    turn.wait();
                }
            });
        }
    });
    let trace = recording.stop();
    let expected: Vec<String> = (0..2_000).map(|number| format!("INFO Work {number}")).collect();
    assert_eq!(trace.messages(), expected);
}
