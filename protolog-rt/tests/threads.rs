//! Many threads: no message is lost, written twice or torn, also of threads that end or log while
//! they end.

mod common;

use common::thread_end::at_end_of_thread;
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
    /// For messages while no session runs, or that of another test.
    Late,
    Load,
}

/// Logs `messages` numbered messages in each of `threads` threads.
fn work(threads: usize, messages: usize) {
    let start = Barrier::new(threads);
    thread::scope(|scope| {
        for thread in 0..threads {
            let start = &start;
            scope.spawn(move || {
                start.wait();
                for number in 0..messages {
                    // Varying lengths, so that messages end at every offset of a chunk.
                    let filler = &"................................"[..number * 7 % 32];
                    i!(Log::Work, "%d:%d %s", thread, number, filler);
                }
            });
        }
    });
}

/// Checks that the messages are complete and each thread's in order, and that they and the losses
/// add up.
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

fn start_info() -> TestSession {
    record(|session| session.group("Work", Level::Info))
}

#[test]
fn messages_of_ended_threads_are_in_the_trace() {
    let recording = start_info();
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
fn three_hundred_threads_that_log_once_share_a_small_buffer() {
    let recording = record(|session| session.group("Work", Level::Info).buffer_size(128 << 10));
    work(300, 1);
    let trace = recording.stop();
    assert_eq!(trace.summary.lost(), 0, "{:?}", trace.summary);
    check_numbers(&trace, 300, 1);
}

#[test]
fn a_thread_without_a_chunk_is_named_and_its_losses_reported() {
    // The buffer has sixteen chunks for forty threads.
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
fn every_message_to_a_small_buffer_is_written_or_counted() {
    let recording = record(|session| session.group("Work", Level::Info).buffer_size(64 << 10));
    work(4, 20_000);
    let trace = recording.stop();
    check_numbers(&trace, 4, 20_000);
    trace.losses();
}

#[test]
fn threads_outlive_sessions() {
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
fn sessions_start_and_stop_under_load() {
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
        // Ends the threads also when an assertion fails, since the scope waits for them.
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

struct LogOnDrop;

impl Drop for LogOnDrop {
    fn drop(&mut self) {
        i!(Log::Work, "in a destructor");
    }
}

thread_local! {
    static EARLY: RefCell<Option<LogOnDrop>> = const { RefCell::new(None) };
    static LATE: RefCell<Option<LogOnDrop>> = const { RefCell::new(None) };
}

#[test]
fn thread_local_destructors_log() {
    let recording = start_info();
    thread::spawn(|| {
        // Some systems run destructors in the order of first use, others in the reverse order.
        EARLY.set(Some(LogOnDrop));
        i!(Log::Work, "in the thread");
        LATE.set(Some(LogOnDrop));
    })
    .join()
    .unwrap();
    // A destructor that logs the thread's first message.
    thread::spawn(|| LATE.set(Some(LogOnDrop))).join().unwrap();
    let trace = recording.stop();
    assert_eq!((trace.summary.messages, trace.summary.lost()), (4, 0), "{:?}", trace.summary);
    assert_eq!(trace.messages().len(), 4);
}

#[test]
fn messages_after_a_thread_s_end_are_counted() {
    let recording = start_info();
    thread::spawn(|| {
        i!(Log::Work, "in the thread");
        at_end_of_thread(|round| {
            i!(Log::Work, "round %d", round);
        });
    })
    .join()
    .unwrap();
    let trace = recording.stop();
    // The runtime's own part ends in the third of four rounds, before or after the other's.
    let is_counted = |lost| lost == 1 || lost == 2;
    assert_eq!(trace.summary.messages + trace.summary.lost(), 5, "{:?}", trace.summary);
    assert!(is_counted(trace.summary.lost()), "{:?}", trace.summary);
    let causes: Vec<_> = trace.losses().into_keys().map(|(_, cause)| cause).collect();
    assert_eq!(causes, [wire(LossCause::ThreadExit)]);
}

/// `few`, or `soaked` if `PROTOLOG_SOAK` is set.
fn scale_by_soak(few: usize, soaked: usize) -> usize {
    if std::env::var_os("PROTOLOG_SOAK").is_some() { soaked } else { few }
}

/// Starts a session that stalls instead of dropping.
fn start_stalling() -> TestSession {
    let minute = Duration::from_secs(60);
    record(|session| session.group("Work", Level::Info).wait_at_most(minute))
}

/// Waits until the token is at `turn`. It spins, so that the hand-over is as fast as the hardware
/// allows.
fn wait_for_token(token: &AtomicUsize, turn: usize) {
    let mut spins = 0;
    while token.load(Ordering::Acquire) != turn {
        spins += 1;
        if spins % 1_000 == 0 { thread::yield_now() } else { std::hint::spin_loop() }
    }
}

/// Checks that our reader and Perfetto read all messages in the order of their numbers.
#[track_caller]
fn check_order(trace: &Trace, turns: usize) {
    assert_eq!((trace.summary.messages, trace.summary.lost()), (turns as u64, 0));
    let lines = trace.lines();
    for (turn, line) in lines.iter().enumerate() {
        let number = line.strip_prefix("INFO Work ").and_then(|text| text.split(' ').next());
        assert_eq!(number, Some(turn.to_string().as_str()), "of {turns}");
    }
    // Too many rows to compare as text.
    let sql = "select count(*) as rows, sum(number < before) as reversed from (select number, \
               lag(number) over (order by id) as before from (select id, \
               cast(message as int) as number from protolog))";
    if let Some(table) = trace.query(sql) {
        assert_eq!(table.to_string(), format!("{turns} | 0\n"), "Perfetto");
    }
    trace.check_stats();
}

#[test]
fn messages_are_ordered_by_the_token_between_threads() {
    let turns = scale_by_soak(30_000, 1_000_000);
    let recording = start_stalling();
    let token = &AtomicUsize::new(0);
    thread::scope(|scope| {
        for thread in 0..2 {
            scope.spawn(move || {
                for turn in (thread..turns).step_by(2) {
                    wait_for_token(token, turn);
                    i!(Log::Work, "%d", turn);
                    token.store(turn + 1, Ordering::Release);
                }
            });
        }
    });
    check_order(&recording.stop(), turns);
}

/// Number of messages that a thread logs before it hands over the token: one or two, or several
/// chunks of them, during which it becomes the only active writer. With two threads as with three,
/// each thread gets each of these lengths.
const RUNS: [usize; 7] = [1, 1, 100, 1, 1, 300, 2];

/// Checks the order of messages of threads that log in runs and then hand over a token.
#[track_caller]
fn take_turns_in_runs(threads: usize) {
    let rounds = scale_by_soak(20, 750);
    let recording = start_stalling();
    let (token, dots) = (&AtomicUsize::new(0), &".".repeat(200));
    thread::scope(|scope| {
        for thread in 0..threads {
            scope.spawn(move || {
                let (mut first, runs) = (0, RUNS.into_iter().cycle().take(rounds * RUNS.len()));
                for (run, length) in runs.enumerate() {
                    if run % threads == thread {
                        wait_for_token(token, first);
                        i!(Log::Work, "%d", first);
                        for turn in first + 1..first + length {
                            // Long and different each time, so that chunks fill quickly.
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
fn two_threads_that_take_turns_in_runs_are_in_order() {
    take_turns_in_runs(2);
}

#[test]
fn three_threads_that_take_turns_in_runs_are_in_order() {
    take_turns_in_runs(3);
}

#[test]
fn timestamps_of_threads_are_in_order() {
    let recording = start_info();
    // Two threads take turns, so that the order of messages is known.
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
