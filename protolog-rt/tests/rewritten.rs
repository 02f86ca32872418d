//! Rewritten calls and derives, as `protologtool` writes them. The dictionary comes from the same
//! calls in their original form; the tool's own tests build programs without these.

mod common;

use common::record;
use protolog_core::{message_id, named_message_id};
use protolog_rt::{Builder, Level, ProtoLogGroup, d, e, i, protolog, span, v, w, wtf};
use std::cell::Cell;

#[derive(Clone, Copy, Debug)]
enum Log {
    Net,
    Disk,
    Off,
}
protolog_rt::__rewritten_groups!(ProtoLogGroup; Log; Net, 0, "Log::Net", "Net", true, false,; Disk, 1, "Log::Disk", "DISK", true, false,; Off, 2, "Log::Off", "Off", false, false,;);

/// The same groups, for calls in their original form.
use Log as Same;

#[test]
fn a_rewritten_call_logs_the_same_as_the_original() {
    let (n, host, ms, yes) = (1500_u16, String::from("example.org"), 0.25, true);
    let recording = record(Builder::enable_all);
    d!(Log::Net, @0x86f9f86caf40ebaa [d s f b], n, host, ms, yes);
    d!(Same::Net, "sent %d bytes to %s in %f ms: %b", n, host, ms, yes);
    w!(Log::Disk, @0xfc22cc8187391ccf []);
    w!(Same::Disk, "full");
    let trace = recording.stop();
    let line = "DEBUG Net sent 1500 bytes to example.org in 0.250000 ms: true";
    assert_eq!(trace.messages(), [line, line, "WARN DISK full", "WARN DISK full"]);
}

#[test]
fn ids_equal_those_of_the_macro() {
    let id = |text, level, group| message_id("rewritten", text, level, group);
    let net = id("sent %d bytes to %s in %f ms: %b", Level::Debug, "rewritten::Log::Net");
    let disk = id("full", Level::Warn, "rewritten::Log::Disk");
    assert_eq!((net, disk), (0x86f9f86caf40ebaa, 0xfc22cc8187391ccf), "{net:#x} {disk:#x}");
}

#[test]
fn arguments_are_evaluated_once_when_enabled_and_never_when_not() {
    let count = Cell::new(0);
    let next = || {
        count.set(count.get() + 1);
        count.get()
    };
    v!(Log::Net, @1 [d s], next(), next());
    i!(Log::Off, @2 [d s], next(), next());
    assert_eq!(count.get(), 0, "disabled");
    let recording = record(Builder::enable_all);
    e!(Log::Net, @3 [d s], next(), next(),);
    wtf!(Log::Off, @4 [d], next());
    protolog!(Level::Info, Log::Net, @5 [d], next());
    let summary = recording.stop().summary;
    assert_eq!((count.get(), summary.messages), (3, 2));
}

#[test]
fn groups_equal_those_of_the_derive() {
    let groups: Vec<_> =
        Log::groups().iter().map(|group| (group.name, group.tag, group.compiled)).collect();
    assert_eq!(
        groups,
        [
            ("rewritten::Log::Net", "Net", true),
            ("rewritten::Log::Disk", "DISK", true),
            ("rewritten::Log::Off", "Off", false)
        ]
    );
}

#[test]
fn a_rewritten_span_has_the_names_of_the_dictionary() {
    let id = named_message_id(
        "rewritten",
        "request %d of %s",
        ",host",
        Level::Info,
        "rewritten::Log::Net",
    );
    assert_eq!(id, 0x7e8f_a2f6_c852_c69f, "{id:#x}");
    let (n, host) = (7_u16, String::from("example.org"));
    let recording = record(Builder::enable_all);
    drop(span!(Log::Net, @0x7e8fa2f6c852c69f [d s], n, host));
    drop(span!(Same::Net, "request %d of %s", n, host = host));
    drop(span!(Level::Warn, Log::Disk, @0x2 []));
    let bytes = std::fs::read(&recording.stop().path).expect("read the trace");
    let log = protolog_reader::Trace::from_bytes(bytes).with_slices().read().expect("a log");
    let line = |slice: &protolog_reader::SpanSlice| {
        let args = slice.args.iter().map(|arg| format!(" {}={}", arg.name, arg.value));
        format!("{} {}{}", slice.target, slice.name, args.collect::<String>())
    };
    let request = "rewritten::Log::Net request 1=7 host=example.org";
    // The last one is in no dictionary.
    let expected = [request, request, "rewritten::Log::Disk "];
    assert_eq!(log.slices().iter().map(line).collect::<Vec<_>>(), expected);
}
