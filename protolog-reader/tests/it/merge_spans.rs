//! Merges of traces of several sessions of one program: each event of a span is there once,
//! whatever ids its names have in which trace, and a span is whole if each of its events is in some
//! trace.

use crate::common::{Input, trace};
use proptest::prelude::*;
use protolog_reader::{MergeInput, SpanSlice, Trace, merge};
use std::fmt::Write as _;

fn merged(inputs: &[&[u8]]) -> Vec<u8> {
    let inputs: Vec<Input<'_>> = inputs.iter().map(|bytes| Input(bytes)).collect();
    let inputs: Vec<&dyn MergeInput> =
        inputs.iter().map(|input| input as &dyn MergeInput).collect();
    let mut out = Vec::new();
    assert!(merge(&inputs, &mut out).unwrap().is_whole());
    out
}

/// Depth, name, target, arguments, and first and last nanosecond of each slice.
fn slices(bytes: &[u8]) -> Vec<String> {
    let line = |slice: &SpanSlice| {
        let SpanSlice { name, target, depth, begin, .. } = slice;
        let args: Vec<_> =
            slice.args.iter().map(|arg| format!("{}={}", arg.name, arg.value)).collect();
        format!("{depth} {name} {target} {} {begin} {:?}", args.join(" "), slice.duration())
    };
    let log = Trace::from_bytes(bytes).with_slices().read().unwrap();
    log.slices().iter().map(line).collect()
}

const CHUNK: &str = "cleared snapshot(64=9000, boot=9000, incremental=64) default_clock=64 info(100, 100, \"main\")";

/// A packet for each of these interned names.
fn named(names: &[(u8, u8, &str)]) -> String {
    let packet =
        |(kind, iid, name): &(u8, u8, &str)| format!("@2 needs named({kind}, {iid}, \"{name}\")\n");
    names.iter().map(packet).collect()
}

/// Two spans, one within the other, whose names are interned with these ids.
fn interned(name: u8, other: u8) -> String {
    let outer = named(&[(1, name, "app::Net"), (2, name, "request"), (3, 1, "id")]);
    let inner = named(&[(1, other, "app::Disk"), (2, other, "read")]);
    format!(
        "@2 {CHUNK}\n{outer}\
         @2 needs ts=5 begin(${name}, track=7, interned=3, depth=0, of=17)\n{inner}\
         @2 needs ts=5 begin(${other}, track=7, depth=1, of=18)\n\
         @2 ts=5 end(track=7, depth=1)\n\
         @2 ts=5 end(track=7, depth=0)\n"
    )
}

/// The same without interned names.
fn in_line() -> String {
    format!(
        "@2 {CHUNK}\n\
         @2 ts=5 begin(\"request\", \"app::Net\", track=7, id=3, depth=0, of=17)\n\
         @2 ts=5 begin(\"read\", \"app::Disk\", track=7, depth=1, of=18)\n\
         @2 ts=5 end(track=7, depth=1)\n\
         @2 ts=5 end(track=7, depth=0)\n"
    )
}

const SPANS: [&str; 2] =
    ["0 request app::Net id=3 9005 Some(15)", "1 read app::Disk  9010 Some(5)"];

/// The trace without the event of this number, from 0.
fn without(text: &str, event: usize) -> Vec<u8> {
    let (mut kept, mut events, mut ticks) = (String::new(), 0, 5);
    for line in text.lines() {
        let is_event = line.contains("ts=5");
        events += usize::from(is_event);
        if is_event && events == event + 1 {
            ticks += 5;
            continue;
        }
        let _ = writeln!(kept, "{}", line.replace("ts=5", &format!("ts={ticks}")));
        ticks = if is_event { 5 } else { ticks };
    }
    trace(&kept)
}

#[test]
fn a_slice_is_one_whatever_ids_its_names_have() {
    let all = [interned(1, 2), interned(2, 1), interned(9, 5), in_line()];
    for first in &all {
        for second in &all {
            let bytes = merged(&[&trace(first), &trace(second)]);
            assert_eq!(slices(&bytes), SPANS, "{first}\n{second}");
            // Nothing of the second one's events is left, beside them or of their names.
            let copy = merged(&[&bytes, &trace(second), &trace(first)]);
            assert!(copy.len() <= bytes.len() + 50, "{} of {}", copy.len(), bytes.len());
        }
    }
}

#[test]
fn a_span_is_whole_if_each_of_its_events_is_in_some_trace() {
    let (first, second) = (interned(1, 2), in_line());
    for lost in 0..4 {
        for also in (0..4).filter(|also| *also != lost) {
            let [first, second] = [without(&first, lost), without(&second, also)];
            assert_eq!(slices(&merged(&[&first, &second])), SPANS, "{lost} {also}");
            assert_eq!(slices(&merged(&[&second, &first])), SPANS, "{also} {lost}");
        }
    }
}

#[test]
fn other_slices_of_one_nanosecond_stay() {
    let first = trace(&interned(1, 2));
    let others = [
        // Other names with the same ids; other arguments, templates, numbers, depths.
        interned(1, 2).replace("request", "another"),
        interned(1, 2).replace("app::Net", "app::Other"),
        interned(1, 2).replace("\"id\"", "\"number\""),
        interned(1, 2).replace("interned=3", "interned=4"),
        interned(1, 2).replace("of=17", "of=19"),
        interned(1, 2).replace("depth=0, of=17", "depth=0, number=4, of=17"),
    ];
    for other in &others {
        let bytes = merged(&[&first, &trace(other)]);
        let count = slices(&bytes).iter().filter(|line| line.contains(" 9005 ")).count();
        assert_eq!(count, 2, "{other}");
    }
}

#[test]
fn nested_arguments_of_other_libraries_are_compared_by_their_texts() {
    // An argument that has others in it, with an interned name (1) and an interned text (17).
    let event = |iid: u8| {
        let names = named(&[(3, iid, "key"), (29, iid, "a text")]);
        let event = "\\x48\\x01\\x58\\x05\\x22\\x0c\\x52\\x01a\\x5a\\x07";
        let nested = format!("\\x08\\x0{iid}\\x88\\x01\\x0{iid}\\x10\\x01");
        format!("@2 {CHUNK}\n{names}@2 needs field(11, \"{event}{nested}\") ts=5\n")
    };
    let (one, other) = (trace(&event(1)), trace(&event(2)));
    let count = |bytes: &[u8]| bytes.windows(3).filter(|it| it == b"\x52\x01a").count();
    assert_eq!(count(&one), 1);
    assert_eq!(count(&merged(&[&one, &other])), 1);
    let text = trace(&event(2).replace("a text", "another"));
    assert_eq!(count(&merged(&[&one, &text])), 2);
    let key = trace(&event(2).replace("\"key\"", "\"kez\""));
    assert_eq!(count(&merged(&[&one, &key])), 2);
    // What is not defined is no known text.
    let unknown = trace(&event(1).replace("@2 needs named(29, 1, \"a text\")\n", ""));
    assert_eq!(count(&merged(&[&unknown, &unknown])), 2);
}

/// The trace of a session of what a thread does: a step begins a span, ends one or logs, and the
/// session has it or not. Each chunk numbers names in its own order.
fn session(steps: &[u8], has: &[bool], chunk: usize) -> Vec<u8> {
    let (mut text, mut depth, mut now) = (String::new(), 0_u8, 1000_u64);
    let (mut last, mut is_open, mut count) = (0, false, 0);
    let mut names: Vec<u8> = Vec::new();
    for (step, has) in steps.iter().zip(has.iter().chain(std::iter::repeat(&true))) {
        // Now and then two events have one time, as on a coarse clock.
        now += u64::from(step % 5 > 0);
        let (what, name) = (step % 3, step % 4);
        let event = match what {
            0 => {
                depth += 1;
                Some((depth - 1, true))
            }
            1 if depth > 0 => {
                depth -= 1;
                Some((depth, false))
            }
            _ => None,
        };
        if !has {
            is_open &= step % 2 == 0;
            continue;
        }
        count += 1;
        if !is_open || count % chunk == 0 {
            let _ = writeln!(
                text,
                "@2 cleared snapshot(64={now}, boot={now}, incremental=64) default_clock=64 info(100, 100, \"main\")"
            );
            (last, is_open) = (now, true);
            names.clear();
        }
        let ticks = now - last;
        last = now;
        let known = names.iter().position(|known| *known == name);
        let iid = known.unwrap_or(names.len()) + 1;
        if known.is_none() {
            names.push(name);
            let new = iid as u8;
            text += &named(&[(1, new, "app"), (2, new, &format!("span {name}")), (3, 1, "id")]);
            let _ = writeln!(text, "@2 needs string({iid}, \"text {name}\")");
        }
        let what = match event {
            Some((depth, true)) => {
                format!("begin(${iid}, track=7, interned={step}, depth={depth}, of={name})")
            }
            Some((depth, false)) => format!("end(track=7, depth={depth})"),
            None => format!("log(0x12, ${iid}, {step})"),
        };
        let _ = writeln!(text, "@2 needs ts={ticks} {what}");
    }
    trace(&text)
}

fn messages(bytes: &[u8]) -> Vec<String> {
    let log = Trace::from_bytes(bytes).read().unwrap();
    assert_eq!(log.stats().missing_strings, 0);
    let mut all: Vec<_> =
        log.entries().map(|entry| format!("{} {:?}", entry.time(), entry.values())).collect();
    all.sort();
    all
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn sessions_that_lose_each_their_own_are_whole_together(
        steps in proptest::collection::vec(any::<u8>(), 1..60),
        kept in proptest::collection::vec(any::<bool>(), 60),
        order in 0..3_usize,
        chunks in (1..9_usize, 1..9_usize, 1..9_usize),
    ) {
        // Of what is logged twice in one nanosecond, either session has both: by nothing else is it
        // known to be two.
        let twin = |at: usize| {
            let before = at.checked_sub(1).and_then(|before| steps.get(before));
            steps[at] % 5 == 0 && before.is_some()
        };
        let mut first = Vec::new();
        for at in 0..steps.len() {
            let keep = if twin(at) { first[at - 1] } else { kept[at] };
            first.push(keep);
        }
        let second: Vec<bool> = first.iter().map(|it| !it).collect();
        let whole = session(&steps, &[], 7);
        let mut all = [
            session(&steps, &first, chunks.0),
            session(&steps, &second, chunks.1),
            session(&steps, &first, chunks.2),
        ];
        all.rotate_left(order);
        let bytes = merged(&[&all[0], &all[1], &all[2]]);
        prop_assert_eq!(messages(&bytes), messages(&whole));
        let (mut found, mut expected) = (slices(&bytes), slices(&whole));
        found.sort();
        expected.sort();
        prop_assert_eq!(found, expected);
    }
}
