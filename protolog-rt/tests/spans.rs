//! Spans of the program's own calls, in all the ways in which guards come and go: as our reader and
//! Perfetto's trace_processor show them, against what the test itself wrote down.

#![allow(unsafe_code)] // fork, waitpid, _exit.

mod common;
#[path = "common/fork.rs"]
mod fork;
#[path = "common/spans.rs"]
mod spans;

use common::{record, record_concurrently};
use fork::{fork, has_process_of_its_own, spawn, wait};
use protolog_rt::{Builder, Init, Level, ProtoLogGroup, Session, Span, i, span};
use spans::{read, slices};
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};

#[derive(ProtoLogGroup)]
enum Log {
    Net,
    Disk,
    #[protolog(enabled = false)]
    Never,
}

/// Limits hold for the process, whatever session sets them.
#[derive(ProtoLogGroup)]
enum Limited {
    Group,
}

#[derive(ProtoLogGroup)]
enum Ruled {
    Group,
}

/// An integer that trace_processor shows, which has no unsigned ones.
const MOST: u64 = u64::MAX / 2;

#[test]
fn spans_have_names_types_and_nesting() {
    let recording = record(Builder::enable_all);
    {
        let _request = span!(Log::Net, "request %s of %d", path = "/a=b", 7_u8);
        i!(Log::Net, "in the request");
        {
            let _lookup =
                span!(Level::Debug, Log::Disk, "lookup: %d %d %f %b %s", -5, MOST, 0.5, true, 'x');
            i!(Log::Net, "in the lookup");
        }
        let _plain = span!(Log::Disk, "plain");
    }
    let trace = recording.stop();
    trace.check(&["INFO Net in the request", "INFO Net in the lookup"]);
    let net = "spans::Log::Net";
    let disk = "spans::Log::Disk";
    assert_eq!(
        slices(&trace),
        [
            format!("0 request {net} path=/a=b 2=7"),
            format!("1 lookup {disk} 1=-5 2={} 3=0.5 4=true 5=x", MOST),
            format!("1 plain {disk}"),
        ]
    );
    let log = read(&trace);
    let around: Vec<String> =
        log.entries().map(|entry| protolog_reader::spans_text(&entry.spans())).collect();
    assert_eq!(
        around,
        [
            "request{path=/a=b 2=7}".to_owned(),
            format!("request{{path=/a=b 2=7}}:lookup{{1=-5 2={} 3=0.5 4=true 5=x}}", MOST),
        ]
    );
}

#[test]
fn a_span_that_is_off_evaluates_nothing() {
    let count = Cell::new(0);
    let next = || {
        count.set(count.get() + 1);
        count.get()
    };
    drop(span!(Log::Net, "off %d", next()));
    let recording = record(|session| session.log_from(Level::Warn).group("Net", Level::Info));
    drop(span!(Log::Disk, "off %d", next()));
    drop(span!(Level::Debug, Log::Net, "off %d", next()));
    drop(span!(Level::Wtf, Log::Never, "never %d", next()));
    assert_eq!(count.get(), 0);
    drop(span!(Log::Net, "on %d %s", next(), next()));
    assert_eq!(count.get(), 2);
    assert_eq!(slices(&recording.stop()), ["0 on spans::Log::Net 1=1 2=2"]);
}

#[test]
fn a_guard_that_outlives_the_span_around_it_ends_with_that() {
    let recording = record(Builder::enable_all);
    let outer = span!(Log::Net, "outer");
    let inner = span!(Log::Net, "inner");
    let innermost = span!(Log::Net, "innermost");
    drop(inner);
    i!(Log::Net, "in outer");
    drop(outer);
    let next = span!(Log::Net, "next");
    // At the place of `inner`, which it does not end.
    let deeper = span!(Log::Net, "deeper");
    drop(innermost);
    i!(Log::Net, "in deeper");
    drop((deeper, next));
    let trace = recording.stop();
    let net = "spans::Log::Net";
    let lines = ["0 outer", "1 inner", "2 innermost", "0 next", "1 deeper"];
    assert_eq!(slices(&trace), lines.map(|line| format!("{line} {net}")));
    let log = read(&trace);
    let around = log.entries().map(|entry| protolog_reader::spans_text(&entry.spans()));
    assert_eq!(around.collect::<Vec<_>>(), ["outer", "next:deeper"]);
    assert!(log.slices().iter().all(|slice| slice.end.is_some()), "each has ended");
}

#[test]
fn a_forgotten_guard_ends_with_the_span_around_it() {
    let recording = record(Builder::enable_all);
    {
        let _outer = span!(Log::Net, "outer");
        std::mem::forget(span!(Log::Net, "forgotten"));
        i!(Log::Net, "in both");
    }
    i!(Log::Net, "in none");
    let trace = recording.stop();
    assert_eq!(slices(&trace), ["0 outer spans::Log::Net", "1 forgotten spans::Log::Net"]);
    let log = read(&trace);
    let around = log.entries().map(|entry| protolog_reader::spans_text(&entry.spans()));
    assert_eq!(around.collect::<Vec<_>>(), ["outer:forgotten", ""]);
}

#[test]
fn a_panic_ends_the_spans_that_it_leaves() {
    let recording = record(Builder::enable_all);
    let outer = span!(Log::Net, "outer");
    let _ = catch_unwind(|| {
        let _inner = span!(Log::Net, "inner");
        let _innermost = span!(Log::Net, "innermost");
        std::panic::resume_unwind(Box::new(()));
    });
    // An argument's `Display` does not hurt the span.
    struct Panics;
    impl std::fmt::Display for Panics {
        fn fmt(&self, _: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            std::panic::resume_unwind(Box::new(()));
        }
    }
    let made = catch_unwind(AssertUnwindSafe(|| drop(span!(Log::Net, "made %s", Panics))));
    assert!(made.is_ok());
    drop(outer);
    let lines = slices(&recording.stop());
    let net = "spans::Log::Net";
    assert_eq!(lines[..3], ["0 outer", "1 inner", "2 innermost"].map(|it| format!("{it} {net}")));
    assert!(lines[3].starts_with(&format!("1 made {net} 1=<panicked")), "{lines:?}");
    assert_eq!(lines.len(), 4);
}

#[test]
fn a_session_that_starts_within_a_span_nests_nothing_in_it() {
    let before = span!(Log::Net, "before any session");
    let first = record(|session| session.log_from(Level::Info));
    let outer = span!(Log::Net, "outer");
    let second =
        record_concurrently(|session| session.log_from(Level::Info).group("Disk", Level::Wtf));
    {
        let _disk = span!(Log::Disk, "of the first alone");
        let _inner = span!(Log::Net, "inner");
        i!(Log::Net, "message");
    }
    drop(outer);
    drop(before);
    drop(span!(Log::Net, "after"));
    let second = second.stop();
    let first = first.stop();
    let net = |line: &str| format!("{line} spans::Log::Net");
    assert_eq!(
        slices(&first),
        [
            net("0 outer"),
            "1 of the first alone spans::Log::Disk".into(),
            net("2 inner"),
            net("0 after")
        ]
    );
    // The reader knows how deep each was; trace_processor counts what is there.
    assert_eq!(slices(&second), [net("0 inner"), net("0 after")]);
    let log = read(&second);
    let around = log.entries().map(|entry| protolog_reader::spans_text(&entry.spans()));
    assert_eq!(around.collect::<Vec<_>>(), ["…:inner"], "others are around it");
}

#[test]
fn long_texts_are_cut_and_many_arguments_kept() {
    let long = "ä".repeat(5_000);
    let recording = record(Builder::enable_all);
    drop(span!(Log::Net, "long %s %s %d", long, short = "s", 3));
    drop(span!(Log::Net, "two %s %s", long, long));
    drop(span!(Log::Net, "middle %s", "m".repeat(300)));
    drop(span!(Log::Net, "six %d %d %d %d %d %s", 1, 2, 3, 4, 5, six = "6"));
    let lines = slices(&recording.stop());
    let net = "spans::Log::Net";
    let [first, second, third, last] = &lines[..] else { panic!("{lines:?}") };
    assert!(first.starts_with(&format!("0 long {net} 1=ää")), "{first}");
    assert!(first.ends_with("ä… short=s 3=3"), "{first}");
    assert!(first.len() > 1_000 && first.len() < 2_048, "{}", first.len());
    let cut: Vec<&str> = second.split(" 2=").collect();
    assert!(cut.len() == 2 && cut.iter().all(|it| it.ends_with("ä…") && it.len() > 500), "{cut:?}");
    assert_eq!(*third, format!("0 middle {net} 1={}", "m".repeat(300)));
    assert_eq!(*last, format!("0 six {net} 1=1 2=2 3=3 4=4 5=5 six=6"));
}

#[test]
fn deeper_spans_than_slices_nest_are_none() {
    let recording = record(Builder::enable_all);
    let guards: Vec<Span> = (0..70).map(|number| span!(Log::Net, "deep %d", number)).collect();
    guards.into_iter().rev().for_each(drop);
    drop(span!(Log::Net, "last"));
    let lines = slices(&recording.stop());
    assert_eq!(lines.len(), 65);
    assert_eq!(lines[63], "63 deep spans::Log::Net 1=63");
    assert_eq!(lines[64], "0 last spans::Log::Net");
}

/// What a test knows of a thread's spans, by the rule: an end ends all that began later.
#[derive(Default)]
struct Model {
    open: Vec<u64>,
    lines: Vec<String>,
}

#[test]
fn guards_that_are_dropped_at_random_end_what_they_began() {
    let recording = record(Builder::enable_all);
    let random = Cell::new(0x1234_5678_9abc_def1_u64);
    let next = |below: u64| {
        let mut state = random.get();
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        random.set(state);
        state % below
    };
    let model = RefCell::new(Model::default());
    let mut guards: Vec<(u64, Span)> = Vec::new();
    let begin = |number: u64| {
        let mut model = model.borrow_mut();
        let depth = model.open.len();
        model.open.push(number);
        model
            .lines
            .push(format!("{depth} random spans::Log::Net number={number} text=t{}", number % 9));
        span!(Log::Net, "random %d %s", number = number, text = format!("t{}", number % 9))
    };
    for number in 0..2_000 {
        if next(3) > 0 && model.borrow().open.len() < 60 {
            guards.push((number, begin(number)));
        } else if !guards.is_empty() {
            let index = next(guards.len() as u64) as usize;
            let (number, guard) = guards.swap_remove(index);
            drop(guard);
            let mut model = model.borrow_mut();
            if let Some(at) = model.open.iter().position(|open| *open == number) {
                model.open.truncate(at);
            }
        }
    }
    for (_, guard) in guards {
        drop(guard);
    }
    let lines = model.into_inner().lines;
    assert!(lines.len() > 500, "{}", lines.len());
    assert_eq!(slices(&recording.stop()), lines);
}

#[test]
fn threads_have_spans_of_their_own() {
    let recording = record(Builder::enable_all);
    let main = span!(Log::Net, "main");
    let each = |thread: u64| {
        for number in 0..50 {
            let _outer = span!(Log::Net, "outer %d %d", thread, number);
            let _inner = span!(Log::Disk, "inner %d", number);
        }
    };
    std::thread::scope(|scope| {
        (0..4).for_each(|thread| _ = scope.spawn(move || each(thread)));
    });
    drop(main);
    let mut lines = slices(&recording.stop());
    lines.sort();
    let mut expected = vec!["0 main spans::Log::Net".to_owned()];
    for number in 0..50 {
        for thread in 0..4 {
            expected.push(format!("0 outer spans::Log::Net 1={thread} 2={number}"));
            expected.push(format!("1 inner spans::Log::Disk 1={number}"));
        }
    }
    expected.sort();
    assert_eq!(lines, expected);
}

#[test]
fn a_span_that_a_limit_holds_back_is_counted() {
    let recording = record(|session| session.enable_all().limit("Limited::Group", "1/h burst 2"));
    for number in 0..5 {
        let _span = span!(Limited::Group, "limited %d", number);
        i!(Log::Disk, "in it");
    }
    let trace = recording.stop();
    let group = "spans::Limited::Group";
    assert_eq!(slices(&trace), [0, 1].map(|it| format!("0 limited {group} 1={it}")));
    assert_eq!(trace.losses().values().sum::<u64>(), 3);
}

#[test]
fn a_span_that_a_rule_switches_on_ends_everywhere() {
    let dir = protolog_testkit::temp_dir();
    let rules = dir.path().join("rules");
    std::fs::write(&rules, "site \"by a rule\"=on\n").expect("a file");
    let init = Init::new().control(false).persistent_settings(false).config_file(&rules);
    init.groups::<Ruled>().start().expect("settings");
    let first = record(|session| session.log_from(Level::Wtf));
    let second = record_concurrently(|session| session.log_from(Level::Wtf));
    {
        let _outer = span!(Ruled::Group, "by a rule");
        let _off = span!(Ruled::Group, "by none");
        let _inner = span!(Ruled::Group, "by a rule");
    }
    let (second, first) = (second.stop(), first.stop());
    for trace in [first, second] {
        let group = "spans::Ruled::Group";
        assert_eq!(slices(&trace), [0, 1].map(|depth| format!("{depth} by a rule {group}")));
        assert!(read(&trace).slices().iter().all(|slice| slice.end.is_some()));
    }
}

#[test]
fn a_child_ends_no_span_of_its_parent() {
    if !has_process_of_its_own("a_child_ends_no_span_of_its_parent") {
        return;
    }
    let recording = record(Builder::enable_all);
    let dir = protolog_testkit::temp_dir();
    let path = dir.path().join("child.pftrace");
    let mut outer = Some(span!(Log::Net, "outer"));
    let child = spawn(fork, || {
        let session = Session::builder().file(&path).enable_all().start().expect("a session");
        let own = span!(Log::Net, "own");
        // That around it, which the parent began: `own` ends.
        drop(outer.take());
        drop(own);
        drop(span!(Log::Net, "after"));
        session.stop().is_ok()
    });
    wait(child);
    drop(outer.take());
    let trace = recording.stop();
    assert_eq!(slices(&trace), ["0 outer spans::Log::Net"]);
    assert!(read(&trace).slices()[0].end.is_some());
    let bytes = std::fs::read(path).expect("the child's trace");
    let log = protolog_reader::Trace::from_bytes(bytes).with_slices().read().expect("a log");
    let found = log.slices().iter().map(|slice| (&*slice.name, slice.end.is_some()));
    assert_eq!(found.collect::<Vec<_>>(), [("own", true), ("after", true)]);
    assert_eq!(log.slices_without_begin(), 0);
}

#[test]
fn spans_whose_begins_a_ring_overwrote_are_gaps() {
    let recording = record(|session| session.enable_all().keep_newest().buffer_size(64 << 10));
    {
        let _outer = span!(Log::Net, "outer");
        let _inner = span!(Log::Net, "inner");
        for number in 0..20_000 {
            i!(Log::Net, "number %d", number);
        }
        let _last = span!(Log::Net, "last");
        i!(Log::Net, "in the last");
    }
    drop(span!(Log::Net, "next"));
    let trace = recording.stop();
    let log = read(&trace);
    let names = log.slices().iter().map(|slice| (&*slice.name, slice.end.is_some()));
    assert_eq!(names.collect::<Vec<_>>(), [("last", true), ("next", true)]);
    assert_eq!(log.slices_without_begin(), 2);
    let last = log.entries().last().expect("an entry");
    assert_eq!(protolog_reader::spans_text(&last.spans()), "…:last");
}

#[test]
fn without_a_thread_to_speak_of_spans_are_there() {
    thread_local!(static LATE: Late = const { Late });
    struct Late;
    impl Drop for Late {
        fn drop(&mut self) {
            // While the thread's other locals are gone.
            drop(span!(Log::Net, "late"));
        }
    }
    let recording = record(Builder::enable_all);
    let body = || LATE.with(|_| drop(span!(Log::Net, "early")));
    std::thread::spawn(body).join().expect("no panic");
    let lines = slices(&recording.stop());
    assert_eq!(lines[0], "0 early spans::Log::Net");
    assert!(lines.len() <= 2, "{lines:?}");
}
