//! Merges of sources that overlap: the same message is in the result once, and everything else is
//! what it was.

use crate::common::{Input, text, trace};
use proptest::prelude::*;
use protolog_reader::{MergeInput, Merged, Trace, merge};
use protolog_testkit::{assert_eq_text, read_trace, temp_dir};
use std::fmt::Write as _;

fn merged(inputs: &[&[u8]]) -> (Merged, Vec<u8>) {
    let inputs: Vec<Input<'_>> = inputs.iter().map(|bytes| Input(bytes)).collect();
    let inputs: Vec<&dyn MergeInput> =
        inputs.iter().map(|input| input as &dyn MergeInput).collect();
    let mut out = Vec::new();
    (merge(&inputs, &mut out).unwrap(), out)
}

fn shown(bytes: &[u8]) -> String {
    let log = Trace::from_bytes(bytes).read().unwrap();
    assert_eq!(log.stats().missing_strings, 0);
    text(&log)
}

/// Merges, checks the text and the number of messages that were left out, and that Perfetto counts
/// as many messages.
#[track_caller]
fn check(inputs: &[&[u8]], expected: &str, duplicates: u64) -> Vec<u8> {
    let (report, bytes) = merged(inputs);
    assert_eq_text(expected, &shown(&bytes));
    assert_eq!(report.duplicates, duplicates);
    let log = Trace::from_bytes(bytes.clone()).read().unwrap();
    let dir = temp_dir();
    let path = dir.path().join("merged.pftrace");
    std::fs::write(&path, &bytes).unwrap();
    if let Some(reading) = read_trace(&path, &["select ts from protolog order by ts"]) {
        assert_eq!(reading.tables[0].rows.len(), log.entries().len());
        assert_eq!(reading.stats.to_string(), "");
    }
    bytes
}

/// A session: two threads, chunks with strings, losses, the same message twice in one nanosecond, a
/// slice.
const APP: &str = r#"
@1 snapshot(real=1795199222000000000, mono=2000000000, boot=2000000000) boot(7) info(100, 0, "")
@1 group(1, "app::Log::Net", "Net") message(0x11, DEBUG, 1, "sent %d", "src/net.rs:12") message(0x12, WARN, 1, "slow: %s", "src/net.rs:40")
@2 cleared snapshot(64=2000000000, boot=2000000000, incremental=64) default_clock=64 info(100, 100, "main")
@2 ts=1000000 log(0x11, 1)
@2 ts=0 log(0x11, 1)
@2 needs ts=1000 string(1, "disk") log(0x12, $1)
@3 cleared snapshot(64=2500000000, boot=2500000000, incremental=64) default_clock=64 info(100, 101, "other") loss(1, 1, 9)
@3 needs ts=1 string(1, "net") log(0x12, $1)
@3 needs ts=5 log(0x12, $1)
@2 needs ts=2000000 log(0x12, $1)
@2 cleared dropped snapshot(64=3000000000, boot=3000000000, incremental=64) default_clock=64 info(100, 100, "main") loss(1, 1, 3)
@2 needs ts=1 string(1, "cpu") log(0x12, $1)
@2 ts=1 log(0x11, 2)
"#;

const TEXT: &str = "\
11-20 18:27:02.001   100   100 D Net     : sent 1
11-20 18:27:02.001   100   100 D Net     : sent 1
11-20 18:27:02.001   100   100 W Net     : slow: disk
11-20 18:27:02.003   100   100 W Net     : slow: disk
11-20 18:27:02.500   100   101 ! LOST    : 9 messages of app::Log::Net: the buffer was full
11-20 18:27:02.500   100   101 W Net     : slow: net
11-20 18:27:02.500   100   101 W Net     : slow: net
11-20 18:27:03.000   100   100 ! LOST    : 3 messages of app::Log::Net: the buffer was full
11-20 18:27:03.000   100   100 W Net     : slow: cpu
11-20 18:27:03.000   100   100 D Net     : sent 2
";

#[test]
fn a_copy_adds_nothing() {
    let app = trace(APP);
    let bytes = check(&[&app, &app], TEXT, 8);
    check(&[&app, &app, &app], TEXT, 16);
    assert!(bytes.len() < app.len() + 200, "{} of {}", bytes.len(), app.len());
    // The result merged with what it was made of.
    let again = check(&[&bytes, &app], TEXT, 8);
    check(&[&app, &again, &bytes], TEXT, 16);
    let zipped = trace(&format!("bundle(zlib) {{\n{APP}\n}}\n"));
    check(&[&app, &zipped], TEXT, 8);
}

#[test]
fn a_truncated_copy_adds_nothing_and_is_completed() {
    let app = trace(APP);
    let lines: Vec<&str> = APP.lines().collect();
    for end in 3..lines.len() {
        let cut = trace(&lines[..end].join("\n"));
        for inputs in [[&cut[..], &app], [&app, &cut]] {
            let (report, bytes) = merged(&inputs);
            assert_eq_text(TEXT, &shown(&bytes));
            let log = Trace::from_bytes(cut.clone()).read().unwrap();
            assert_eq!(report.duplicates, log.entries().len() as u64, "{end}");
        }
    }
}

#[test]
fn overlapping_rings_have_strings_and_clocks_of_their_own() {
    // A later snapshot of the ring: the first chunk of thread 100 is overwritten, a message is new,
    // iids are others.
    let later = trace(
        r#"
@1 snapshot(real=1795199222000000000, mono=2000000000, boot=2000000000) boot(7) info(100, 0, "")
@1 group(1, "app::Log::Net", "Net") message(0x11, DEBUG, 1, "sent %d", "src/net.rs:12") message(0x12, WARN, 1, "slow: %s", "src/net.rs:40")
@7 cleared snapshot(64=2500000000, boot=2500000000, incremental=64) default_clock=64 info(100, 101, "other") loss(1, 1, 9)
@7 needs ts=1 string(9, "net") log(0x12, $9)
@7 needs ts=5 log(0x12, $9)
@7 needs ts=1000000 log(0x12, $9)
@6 cleared dropped snapshot(64=3000000000, boot=3000000000, incremental=64) default_clock=64 info(100, 100, "main") loss(1, 1, 3)
@6 needs ts=1 string(3, "cpu") log(0x12, $3)
@6 ts=1 log(0x11, 2)
@6 needs ts=7000000 log(0x12, $3)
"#,
    );
    let app = trace(APP);
    let new = "11-20 18:27:02.501   100   101 W Net     : slow: net\n";
    let newest = "11-20 18:27:03.007   100   100 W Net     : slow: cpu\n";
    let at = TEXT.find("11-20 18:27:03.000").unwrap();
    let expected = format!("{}{new}{}{newest}", &TEXT[..at], &TEXT[at..]);
    check(&[&app, &later], &expected, 4);
    check(&[&later, &app], &expected, 4);
}

#[test]
fn one_that_is_there_more_often_stays_as_often() {
    let head = "@2 cleared snapshot(64=0, boot=0, incremental=64) default_clock=64 info(100, 100, \"main\")\n";
    let with = |count: usize| trace(&format!("{head}{}", "@2 ts=0 log(0x11, 1)\n".repeat(count)));
    for (first, second, third) in [(1, 3, 2), (3, 1, 1), (2, 2, 0), (0, 1, 4)] {
        let inputs = [with(first), with(second), with(third)];
        let (report, bytes) = merged(&[&inputs[0], &inputs[1], &inputs[2]]);
        let most = first.max(second).max(third);
        assert_eq!(Trace::from_bytes(bytes).read().unwrap().entries().len(), most);
        assert_eq!(report.duplicates as usize, first + second + third - most);
    }
}

#[test]
fn others_that_look_alike_stay() {
    let app = trace(APP);
    for (from, to) in [
        ("info(100, ", "info(200, "),
        ("100, \"main\"", "109, \"main\""),
        ("log(0x11, 1)", "log(0x11, 3)"),
        ("log(0x11, 1)", "log(0x11, 1, unsigned=1)"),
        ("ts=1000000 log(0x11", "ts=1000001 log(0x11"),
        ("\"disk\"", "\"tape\""),
    ] {
        let other = APP.replace(from, to);
        assert_ne!(other, APP);
        let messages = |bytes: &[u8]| {
            let log = Trace::from_bytes(bytes).read().unwrap();
            let lines = log.entries().map(|it| {
                let Thread { pid, tid } = Thread::of(&it);
                (it.time(), pid, tid, format!("{:?}", it.values()))
            });
            let mut lines: Vec<_> = lines.collect();
            lines.sort();
            lines
        };
        let other = trace(&other);
        let (report, bytes) = merged(&[&app, &other]);
        // Each message as often as in the trace that has it most often.
        let (first, mut expected) = (messages(&app), messages(&other));
        let mut left = expected.clone();
        for message in &first {
            match left.iter().position(|other| other == message) {
                Some(at) => _ = left.remove(at),
                None => expected.push(message.clone()),
            }
        }
        expected.sort();
        assert_eq!(messages(&bytes), expected, "{from} {to}");
        assert_eq!(report.duplicates as usize, 16 - expected.len());
        assert!(expected.len() > 8, "{from} {to}");
    }
}

/// The ids of an entry's thread.
struct Thread {
    pid: Option<u32>,
    tid: Option<u32>,
}

impl Thread {
    fn of(entry: &protolog_reader::Entry<'_>) -> Self {
        Self { pid: entry.thread().pid, tid: entry.thread().tid }
    }
}

#[test]
fn processes_of_two_containers_may_have_one_pid() {
    let with = |process: &str| trace(&APP.replace("info(100, 0, \"\")", process));
    let (one, other) = (with("started(100, 5)"), with("started(100, 6)"));
    let unknown = with("info(100, 0, \"\")");
    let (report, bytes) = merged(&[&one, &other]);
    assert_eq!(report.duplicates, 0);
    assert_eq!(Trace::from_bytes(bytes).read().unwrap().entries().len(), 16);
    check(&[&one, &one], TEXT, 8);
    check(&[&one, &unknown], TEXT, 8);
    // Which of the two the third one is can't be known.
    assert_eq!(merged(&[&one, &unknown, &other]).0.duplicates, 0);
}

#[test]
fn what_is_not_known_to_be_the_same_stays() {
    // Neither process nor thread; no time; a string that is not there.
    for text in [
        "@2 cleared ts=5 log(0x11, 1)",
        "@2 cleared info(100, 100, \"main\") log(0x11, 1)",
        "@2 cleared info(100, 100, \"main\") ts=5 log(0x12, $1)",
    ] {
        let app = trace(text);
        let (report, bytes) = merged(&[&app, &app]);
        assert_eq!(report.duplicates, 0, "{text}");
        assert_eq!(Trace::from_bytes(bytes).read().unwrap().entries().len(), 2);
    }
}

#[test]
fn slices_are_there_once() {
    // A `TrackEvent` that begins a slice on a track, its name in line.
    let event = "field(11, \"\\x48\\x01\\x58\\x05\\xba\\x01\\x04work\")";
    let app = trace(&format!(
        "@2 cleared snapshot(64=0, boot=9000, incremental=64) default_clock=64 info(100, 100, \"main\")\n\
         @2 {event} ts=5\n@2 ts=7 log(0x11, 1)\n"
    ));
    let (_, bytes) = merged(&[&app, &app]);
    assert_eq!(bytes.windows(4).filter(|it| it == b"work").count(), 1);
}

/// A trace of any messages of a few threads, whose times, strings and texts collide often.
fn any_trace(steps: &[(u8, u8, u8)]) -> Vec<u8> {
    let (mut text, mut open, mut now) = (String::new(), [None::<u64>; 3], 0u64);
    for &(thread, delta, what) in steps {
        let (thread, delta) = (usize::from(thread % 3), u64::from(delta % 2));
        now += delta;
        let sequence = thread + 2;
        if open[thread].is_none() || what % 7 == 0 {
            let _ = write!(
                text,
                "@{sequence} cleared snapshot(64={now}, boot={now}, incremental=64) default_clock=64 info(9, {sequence}, \"\")\n\
                 @{sequence} ts=0 string(1, \"a\") string(2, \"b\") log(0x9)\n"
            );
            open[thread] = Some(now);
        }
        let ticks = now - open[thread].unwrap_or(now);
        open[thread] = Some(now);
        let message = match what % 4 {
            0 => "log(0x12, $1)",
            1 => "log(0x12, $2)",
            _ => "log(0x11, 1)",
        };
        let _ = writeln!(text, "@{sequence} needs ts={ticks} {message}");
    }
    trace(&text)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn each_message_is_there_as_often_as_in_its_richest_source(
        first in proptest::collection::vec(any::<(u8, u8, u8)>(), 1..40),
        second in proptest::collection::vec(any::<(u8, u8, u8)>(), 1..40),
        third in proptest::collection::vec(any::<(u8, u8, u8)>(), 1..40),
    ) {
        let sources = [&first, &second, &third].map(|steps| any_trace(steps));
        let count = |bytes: &[u8]| {
            let mut counts = std::collections::BTreeMap::new();
            let log = Trace::from_bytes(bytes).read().unwrap();
            assert_eq!((log.stats().missing_strings, log.losses().len()), (0, 0));
            for entry in log.entries() {
                let key = (entry.time(), entry.thread().tid, format!("{:?}", entry.values()));
                *counts.entry(key).or_insert(0u64) += 1;
            }
            counts
        };
        let mut expected = std::collections::BTreeMap::new();
        let mut all = 0;
        for source in &sources {
            for (key, count) in count(source) {
                all += count;
                let most = expected.entry(key).or_insert(0);
                *most = count.max(*most);
            }
        }
        let (report, bytes) = merged(&[&sources[0], &sources[1], &sources[2]]);
        prop_assert_eq!(&count(&bytes), &expected);
        prop_assert_eq!(report.duplicates, all - expected.values().sum::<u64>());
    }
}

/// Rates are a part of what makes two messages the same.
#[test]
fn sampled_messages_are_told_apart_by_their_rates() {
    let app = APP.replace("log(0x11, 1)", "log(0x11, 1) rate(2, 3, 1)");
    let one = trace(&app);
    check(&[&one, &one], TEXT, 8);
    let other = trace(&app.replace("rate(2, 3, 1)", "rate(2, 3, 2)"));
    let (report, _) = merged(&[&one, &other]);
    assert_eq!(report.duplicates, 6, "those without a rate");
}

/// What a session has of a message, in a form and with a stack trace or without.
fn of_session(text: &str, has_stack: bool, times: usize) -> Vec<u8> {
    let (stack, of_message) =
        if has_stack { (r#"stack(1, "at a")"#, ", stack=1") } else { ("", "") };
    let message = format!("log(0x12, 7, $1{of_message})");
    trace(&format!(
        r#"
@1 boot(7) info(100, 0, "")
@1 group(1, "app::Log::Net", "Net") message(0x12, WARN, 1, "%d: %s", "src/net.rs:40")
@2 cleared snapshot(64=5, boot=5, incremental=64) default_clock=64 info(100, 100, "main")
@2 needs ts=0 string(1, "{text}") {stack} {message}
{}"#,
        format!("@2 needs ts=0 {message}\n").repeat(times - 1)
    ))
}

/// Text and stack trace of each message.
fn kept(inputs: &[&[u8]]) -> (Vec<(String, bool)>, u64) {
    let (report, bytes) = merged(inputs);
    let log = Trace::from_bytes(bytes).read().unwrap();
    let entry = |it: protolog_reader::Entry<'_>| {
        (it.values().text(protolog_reader::Rendering::Full), it.stack_trace().is_some())
    };
    let mut kept: Vec<_> = log.entries().map(entry).collect();
    kept.sort();
    (kept, report.duplicates)
}

#[test]
fn the_fullest_copy_of_a_message_stays() {
    let full = of_session("a long text", true, 1);
    let [plain, traced] = [false, true].map(|has_stack| of_session("a long text", has_stack, 1));
    let [shorter, short] = ["a l…", "a lo…"].map(|text| of_session(text, false, 1));
    let short_traced = of_session("a lo…", true, 1);
    let only = |text: &str, has_stack| vec![(format!("7: {text}"), has_stack)];
    for (inputs, expected) in [
        (vec![&full, &plain], only("a long text", true)),
        (vec![&shorter, &full], only("a long text", true)),
        (vec![&shorter, &plain, &short], only("a long text", false)),
        (vec![&shorter, &short], only("a lo…", false)),
        (vec![&plain, &short_traced, &traced, &shorter], only("a long text", true)),
        // Neither of them has all.
        (
            vec![&plain, &short_traced, &shorter],
            [only("a long text", false), only("a lo…", true)].concat(),
        ),
    ] {
        for turn in 0..inputs.len() {
            let mut inputs: Vec<&[u8]> = inputs.iter().map(|bytes| bytes.as_slice()).collect();
            inputs.rotate_left(turn);
            let (kept, duplicates) = kept(&inputs);
            assert_eq!(kept, expected, "{turn}");
            assert_eq!(duplicates as usize, inputs.len() - expected.len(), "{turn}");
        }
    }
}

#[test]
fn what_may_be_another_message_stays_beside_a_fuller_one() {
    let other = of_session("another text", true, 1);
    for beside in [
        of_session("a long text", false, 1),
        of_session("a…", true, 2),
        // Nothing says that it is cut, nor what it would be the beginning of.
        of_session("waiting…", false, 1),
        of_session("…", false, 1),
    ] {
        let (kept, duplicates) = kept(&[&beside, &other]);
        let (of_beside, _) = self::kept(&[&beside]);
        assert_eq!((kept.len(), duplicates), (of_beside.len() + 1, 0), "{kept:?}");
    }
}
