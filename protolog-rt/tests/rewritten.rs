//! Rewritten calls and derives, as `protologtool` writes them. The dictionary comes from the same
//! calls in their original form; the tool's own tests build programs without these.

mod common;

use common::record;
use protolog_core::message_id;
use protolog_rt::{Builder, Level, ProtoLogGroup, d, e, i, protolog, v, w, wtf};
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
