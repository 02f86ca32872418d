//! Names for Perfetto's UI of slices that have none: one text may be the name of any number.

use crate::common::trace;
use protolog_reader::{AddedForUi, Limits, for_perfetto_ui};

const MIB: usize = 1 << 20;

/// The size of a trace of such slices once they have names, and what was added.
fn named(message: &str, slices: &str) -> (usize, AddedForUi) {
    let trace = trace(&format!(
        "@1 group(1, \"app::Log::Net\", \"Net\")\n@1 {message}\n\
         @2 cleared snapshot(64=1000000000, boot=1000000000, incremental=64) default_clock=64 info(4711, 4711, \"main\")\n\
         @2 thread_track(21, 4711, 4711, \"main\")\n{slices}"
    ));
    let (named, added) = for_perfetto_ui(trace, &[], Limits::EXPANSION).unwrap();
    (named.len(), added)
}

#[test]
fn they_take_no_more_than_texts_of_messages_may() {
    let most = Limits::LEAST_EXPANDED as usize;
    let long = "x".repeat(MIB);
    let message = format!("message(0x11, INFO, 1, \"{long}\", \"a.rs:1\")");
    let slice = "@2 needs ts=1000 begin(track=21, of=0x11)\n@2 needs ts=1000 end(track=21)\n";
    let (size, added) = named(&message, &slice.repeat(100));
    assert!(size < most + 3 * MIB, "{size}");
    assert_eq!(added.cut_texts, 36);
    let (size, added) = named(&message, &slice.repeat(60));
    assert!(size > 60 * MIB && added.cut_texts == 0, "{size} {added:?}");
}
