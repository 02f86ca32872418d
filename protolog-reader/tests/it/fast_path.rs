//! The fast path of messages writes what the slow one does: all cases, and traces of any templates,
//! values and strings.

use std::fmt::Write as _;

use crate::common::{cases, trace};
use proptest::prelude::*;
use protolog_reader::{JsonWriter, Log, TextWriter, TimeFormat, Times, Trace};
use protolog_testkit::assert_eq_text;

/// Compares the lines of a log, and returns their number.
#[track_caller]
fn check(log: &Log) -> usize {
    let writers = || {
        let text = TextWriter::new(log, Times::utc());
        let nanos = TextWriter::new(log, Times::utc()).with_time_format(TimeFormat::Iso);
        ([text, nanos, TextWriter::new(log, Times::Boot)], JsonWriter::new(log))
    };
    let (fast, fast_json) = writers();
    let (slow, slow_json) = writers();
    let lines = fast.into_iter().zip(slow.map(TextWriter::with_slow_path)).map(|(fast, slow)| {
        let [fast, slow] = [fast, slow].map(|mut writer| {
            let mut lines = Vec::new();
            log.items().for_each(|item| writer.write(&item, &mut lines));
            String::from_utf8(lines).unwrap()
        });
        assert_eq_text(&slow, &fast);
        fast.lines().count()
    });
    let lines = lines.sum();
    let [fast, slow] = [fast_json, slow_json.with_slow_path()].map(|mut writer| {
        let mut lines = Vec::new();
        log.items().for_each(|item| writer.write(&item, &mut lines));
        String::from_utf8(lines).unwrap()
    });
    assert_eq_text(&slow, &fast);
    lines
}

#[test]
fn all_cases() {
    let logs = cases().into_iter().filter_map(|case| Trace::from_bytes(case.trace()).read().ok());
    assert!(logs.map(|log| check(&log)).sum::<usize>() > 300);
}

/// Lines are put together in an array, longer ones elsewhere. Those of JSON have the text twice.
#[test]
fn lines_around_the_size_of_the_array() {
    let lengths: Vec<usize> = (7_900..8_200).chain(16_200..16_400).step_by(2).collect();
    let mut description = "@1 snapshot(real=1795199222000000000, boot=0)\n\
         @1 group(1, \"app::Net\", \"Net\") hint(1, DEBUG, 1, \"\", \"got %s at %5d\", 0, \"\")\n\
         @2 cleared info(7, 70, \"main\")\n"
        .to_owned();
    for (iid, len) in (1..).zip(&lengths) {
        let text = "text ".repeat(len / 5) + &"!".repeat(len % 5);
        writeln!(description, "@2 needs ts={iid} string({iid}, \"{text}\") log(1, ${iid}, {len})")
            .unwrap();
    }
    let log = Trace::from_bytes(trace(&description)).read().unwrap();
    assert_eq!(check(&log), 3 * lengths.len());
}

/// Names that no line of the fast path has room for, and those that it just has, of groups, tags,
/// templates, places and threads: they are in several lines each.
#[test]
fn long_names_are_in_each_line() {
    for length in [16_000, 16_370, 16_384, 16_385, 40_000] {
        for part in ["<group>", "<tag>", "<template>", "<place>", "<thread>"] {
            let description = "@1 snapshot(real=1795199222000000000, boot=0)\n\
                 @1 group(1, \"<group>\", \"<tag>\") message(1, DEBUG, 1, \"<template> %d\", \"<place>\")\n\
                 @2 cleared info(7, 70, \"<thread>\")\n\
                 @2 ts=1 log(1, 5)\n@2 ts=2 log(1, 6)\n";
            let name = "n".repeat(length);
            let log = Trace::from_bytes(trace(&description.replace(part, &name))).read().unwrap();
            check(&log);
            let (mut writer, mut lines) = (JsonWriter::new(&log), Vec::new());
            log.items().for_each(|item| writer.write(&item, &mut lines));
            let lines = String::from_utf8(lines).unwrap();
            let named = lines.lines().filter(|line| line.contains(&name)).count();
            assert_eq!(named, 2, "{part} of {length} bytes");
        }
    }
}

const FLOATS: &[&str] = &["%f", "%.2f", "%.0f", "%9.3f", "%.12f", "%e", "%g"];

/// A conversion, and a value that is mostly of its kind.
fn conversion() -> impl Strategy<Value = (&'static str, String)> {
    let int = prop_oneof![any::<i64>(), -100..100_i64].prop_map(|value| value.to_string());
    let float = prop_oneof![any::<f64>(), (-1e6..1e6_f64), Just(0.125), Just(-0.0), Just(2.5)];
    let float = float.prop_filter("written", |value| value.is_finite());
    let float = float.prop_map(|value| format!("{value:e}"));
    let bool = any::<bool>().prop_map(|value| value.to_string());
    let string = (1..7_u32).prop_map(|iid| format!("${iid}"));
    let other = prop_oneof![Just("7".to_owned()), Just("$1".to_owned()), Just("true".to_owned())];
    prop_oneof![
        8 => (prop::sample::select(&["%d", "%x", "%o", "%5d", "%08x"][..]), int),
        8 => (prop::sample::select(FLOATS), float),
        4 => (prop::sample::select(&["%b", "%6b"][..]), bool),
        8 => (prop::sample::select(&["%s", "%.2s", "%9s"][..]), string),
        1 => (Just("%d"), other),
    ]
}

/// A text between conversions.
fn between() -> impl Strategy<Value = &'static str> {
    prop::sample::select(
        &["", " ", " of ", "\\\"", "\\\\", "%%", "größe ", "\\t", "\\n", "\u{202e}"][..],
    )
}

/// The description of a trace.
fn description() -> impl Strategy<Value = String> {
    let part = (between(), conversion());
    let message = (prop::collection::vec(part, 0..5), 0..4_u8, 0..32_u32, any::<bool>());
    prop::collection::vec(message, 1..12).prop_map(|messages| {
        let mut out = "@1 snapshot(real=1795199222000000000, boot=0)\n@1 group(1, \"app::Net\", \"Net\")"
            .to_owned();
        for (index, (parts, _, unsigned, _)) in messages.iter().enumerate() {
            let template: String =
                parts.iter().flat_map(|(text, (conversion, _))| [*text, *conversion]).collect();
            let names = ["", "a,,größe", ",b"][index % 3];
            let unsigned_and_names = format!("{unsigned}, \"{names}\"");
            let message = format!("DEBUG, 1, \"bare\", \"{template}\", {unsigned_and_names}");
            write!(out, " hint({}, {message})", index + 1).unwrap();
        }
        out.push_str(
            "\n@2 cleared info(7, 70, \"main\") string(1, \"plain\") string(2, \"größe\") string(3, \"\") \
             string(4, \"a\\\"b\\\\c\") string(5, \"two\\nlines\")\n",
        );
        for (index, (parts, kind, _, is_guess)) in messages.iter().enumerate() {
            let mut values: Vec<&str> = parts.iter().map(|(_, (_, value))| &**value).collect();
            match kind {
                0 => values.reverse(),
                1 => drop(values.pop()),
                2 => values.push("5"),
                _ => {}
            }
            let time = if *is_guess { "clock=99" } else { "" };
            let id = (index + 1).to_string();
            values.insert(0, &id);
            writeln!(out, "@2 needs ts={} {time} log({})", 5 * index, values.join(", ")).unwrap();
        }
        out
    })
}

proptest! {
    #[test]
    fn any_messages(description in description()) {
        let log = Trace::from_bytes(trace(&description)).read().unwrap();
        prop_assert!(check(&log) > 0);
    }
}
