//! Several sessions at once: each gets exactly the messages that it enabled, whatever the others
//! do.

mod common;

use common::thread_end::{LAST_ROUND, at_end_of_thread};
use common::{SetOnDrop, Trace, lock_sessions, record, record_concurrently, wire};
use protolog_rt::{Builder, Level, LossCause, ProtoLogGroup, d, e, i, v, w, wtf};
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

#[derive(ProtoLogGroup)]
enum Log {
    Net,
    Disk,
    Load,
    Rare,
}

/// Logs one message of each level and group.
fn log_all(text: &str) {
    v!(Log::Net, "%s", text);
    d!(Log::Net, "%s", text);
    i!(Log::Net, "%s", text);
    w!(Log::Net, "%s", text);
    e!(Log::Net, "%s", text);
    wtf!(Log::Net, "%s", text);
    v!(Log::Disk, "%s", text);
    d!(Log::Disk, "%s", text);
    i!(Log::Disk, "%s", text);
    w!(Log::Disk, "%s", text);
    e!(Log::Disk, "%s", text);
    wtf!(Log::Disk, "%s", text);
}

/// The lines that `log_all` leaves in a session with these minimum levels.
fn lines(text: &str, net: Option<Level>, disk: Option<Level>) -> Vec<String> {
    let of = |tag: &'static str, from: Option<Level>| {
        let levels = Level::ALL.into_iter().filter(move |level| from.is_some_and(|f| *level >= f));
        levels.map(move |level| format!("{level} {tag} {text}"))
    };
    of("Net", net).chain(of("Disk", disk)).collect()
}

#[track_caller]
fn check(trace: &Trace, expected: &[Vec<String>]) {
    let expected = expected.concat();
    trace.check(&expected.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(trace.summary.losses, []);
}

#[test]
fn each_session_gets_the_levels_it_enabled() {
    use Level::{Error, Info, Verbose, Warn, Wtf};
    let all = Some(Verbose);
    let _lock = lock_sessions();
    log_all("none");
    let first = record_concurrently(|session| session.log_from(Info).group("Net", Warn));
    log_all("one");
    let second = record_concurrently(|session| session.enable_all().group("Disk", None));
    log_all("two");
    let third = record_concurrently(|session| session.log_from(Error));
    log_all("three");
    thread::scope(|scope| {
        scope.spawn(|| log_all("a thread's"));
    });
    let first = first.stop();
    log_all("two again");
    let second = second.stop();
    log_all("one again");
    let fourth = record_concurrently(|session| session);
    log_all("another");
    let (third, fourth) = (third.stop(), fourth.stop());
    log_all("none");

    let of = |texts: &[&str], net, disk| -> Vec<Vec<String>> {
        texts.iter().map(|text| lines(text, net, disk)).collect()
    };
    check(&first, &of(&["one", "two", "three", "a thread's"], Some(Warn), Some(Info)));
    check(&second, &of(&["two", "three", "a thread's", "two again"], all, None));
    let texts = ["three", "a thread's", "two again", "one again", "another"];
    check(&third, &of(&texts, Some(Error), Some(Error)));
    check(&fourth, &of(&["another"], Some(Wtf), Some(Wtf)));
}

#[test]
fn twenty_sessions_run_at_once() {
    let first = record(Builder::enable_all);
    let mut sessions = Vec::new();
    for number in 0..20u64 {
        sessions.push(record_concurrently(|session| session.log_from(Level::Info).buffer_size(1)));
        i!(Log::Net, "%d", number);
    }
    for number in 20..40u64 {
        let trace = sessions.remove(0).stop();
        assert_eq!(trace.summary.messages, 20, "twenty each: {:?}", trace.summary);
        let texts: Vec<String> = (number - 20..number).map(|n| format!("INFO Net {n}")).collect();
        // trace_processor is slow.
        let lines = if number % 5 == 0 { trace.messages() } else { trace.lines() };
        assert_eq!(lines, texts);
        i!(Log::Net, "%d", number);
    }
    assert_eq!(first.stop().summary.messages, 40);
}

#[test]
fn sessions_that_start_and_stop_lose_no_messages_of_others() {
    const THREADS: usize = 3;
    const COUNT: usize = 40_000;
    let steady = record(|session| {
        session.group("Load", Level::Info).group("Rare", Level::Error).buffer_size(32 << 20)
    });
    let left = &std::sync::atomic::AtomicUsize::new(THREADS);
    let start = &Barrier::new(THREADS + 1);
    thread::scope(|scope| {
        for thread in 0..THREADS {
            scope.spawn(move || {
                start.wait();
                for number in 0..COUNT {
                    i!(Log::Load, "%d:%d", thread, number);
                    d!(Log::Rare, "%d", number);
                    d!(Log::Load, "%d", number);
                    if number % 500 == 0 {
                        thread::sleep(Duration::from_micros(100));
                    }
                }
                left.fetch_sub(1, Ordering::Relaxed);
            });
        }
        let mut round = 0u64;
        while left.load(Ordering::Relaxed) > 0 {
            let other = record_concurrently(|session| {
                session.group("Rare", Level::Debug).group("Load", None).buffer_size(1 << 20)
            });
            if round == 0 {
                start.wait();
            }
            thread::sleep(Duration::from_millis(round % 3));
            let trace = other.stop();
            round += 1;
            if round % 10 == 0 {
                let lines = trace.messages();
                assert!(lines.iter().all(|line| line.starts_with("DEBUG Rare ")), "{}", lines[0]);
            }
        }
    });
    let trace = steady.stop();
    assert_eq!(trace.summary.losses, []);
    assert_eq!(trace.summary.messages, (THREADS * COUNT) as u64);
    let lines = trace.messages();
    for thread in 0..THREADS {
        let of = lines.iter().filter_map(|line| {
            line.strip_prefix(&format!("INFO Load {thread}:"))?.parse::<usize>().ok()
        });
        assert!(of.eq(0..COUNT), "thread {thread}");
    }
}

#[test]
fn a_full_session_does_not_affect_another() {
    let roomy = record(|session| session.log_from(Level::Info).buffer_size(32 << 20));
    // A discard buffer, since the thread of a stream may be fast enough to lose nothing.
    let tight = record_concurrently(|session| {
        session.log_from(Level::Info).keep_first().buffer_size(64 << 10)
    });
    for number in 0..100_000u64 {
        i!(Log::Net, "%d", number);
    }
    let tight = tight.stop();
    let roomy = roomy.stop();
    assert_eq!((roomy.summary.messages, roomy.summary.lost()), (100_000, 0));
    assert_eq!(tight.summary.messages + tight.summary.lost(), 100_000);
    assert!(tight.summary.lost() > 0);
    tight.losses();
    tight.check_stats();
    roomy.check_stats();
}

#[test]
fn losses_without_a_sequence_are_reported_to_every_session_that_enabled_the_message() {
    let enabled = record(|session| session.log_from(Level::Info));
    let count_thread_exit = |trace: &Trace| -> Vec<(u32, u64)> {
        trace.losses().into_iter().map(|((_, cause), count)| (cause, count)).collect()
    };
    let verbose = record_concurrently(|session| session.group("Rare", Level::Debug));
    let disabled = record_concurrently(|session| session.group("Rare", Level::Warn));
    thread::spawn(|| {
        i!(Log::Rare, "in the thread");
        at_end_of_thread(|round| {
            if round == LAST_ROUND {
                i!(Log::Rare, "after the thread's end");
            }
        });
    })
    .join()
    .unwrap();
    let later = record_concurrently(|session| session.log_from(Level::Info));
    for session in [disabled, later] {
        let trace = session.stop();
        assert_eq!((count_thread_exit(&trace), trace.summary.messages), (vec![], 0));
    }
    // The session that holds the lock stops last.
    for session in [verbose, enabled] {
        let trace = session.stop();
        assert_eq!(count_thread_exit(&trace), [(wire(LossCause::ThreadExit), 1)]);
        assert_eq!(trace.summary.messages, 1);
    }
}

#[test]
fn messages_in_progress_while_sessions_change_go_to_the_right_session() {
    // One thread logs messages that only the first session enables, as fast as it can. They must
    // all be in that session and in no other, although each start and stop makes the thread leave
    // the fast path.
    let first = record(|session| session.group("Load", Level::Info).buffer_size(32 << 20));
    let done = &AtomicBool::new(false);
    let (mut sent, mut others) = (0, Vec::new());
    thread::scope(|scope| {
        let end = SetOnDrop(done);
        let logger = scope.spawn(move || {
            let mut sent = 0u64;
            while !done.load(Ordering::Relaxed) && sent < 400_000 {
                i!(Log::Load, "%d", sent);
                sent += 1;
            }
            sent
        });
        for _ in 0..60 {
            let other =
                record_concurrently(|session| session.group("Load", Level::Warn).buffer_size(1));
            others.push(other.stop().summary);
        }
        drop(end);
        sent = logger.join().unwrap();
    });
    let trace = first.stop();
    assert_eq!(trace.summary.messages + trace.summary.lost(), sent);
    assert!(others.iter().all(|summary| summary.messages == 0 && summary.losses.is_empty()));
    trace.check_stats();
}
