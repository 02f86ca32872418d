//! Any bytes as a trace: reading and rendering never panic, and what is read is counted.
//!
//! Covers what the reader's own property tests can't reach by chance: deep nesting, streams that
//! inflate to packets, clocks and interned texts that refer to each other. Start it from the traces
//! of the reader's cases:
//!
//!     cargo run -p protolog-reader --example describe -- fuzz/corpus/reader \
//!         protolog-reader/tests/cases/*.txt
#![no_main]

use libfuzzer_sys::fuzz_target;
use protolog_reader::{Item, JsonWriter, Limits, Rendering, TextWriter, Times, Trace};

fuzz_target!(|bytes: &[u8]| {
    let mut limits = Limits::default();
    limits.inflated_bytes = 1 << 20;
    let Ok(log) = Trace::from_bytes(bytes).with_limits(limits).read() else {
        return;
    };
    let mut writer = TextWriter::new(&log, Times::utc()).with_rendering(Rendering::Bare);
    let mut json_writer = JsonWriter::new(&log);
    let (mut text, mut json, mut entries) = (Vec::new(), Vec::new(), 0);
    for item in log.items() {
        text.clear();
        json.clear();
        writer.write(&item, &mut text);
        json_writer.write(&item, &mut json);
        if let Item::Entry(entry) = item {
            entries += 1;
            entry.values().text(Rendering::Full);
        }
    }
    assert_eq!(entries, log.stats().entries);
    log.summary().to_string();
});
