//! Any bytes as two traces: merging never panics, and what comes of it is read whole and merged
//! again without complaint.
//!
//! The first two bytes say where the first trace ends.
#![no_main]

use libfuzzer_sys::fuzz_target;
use protolog_reader::{MergeInput, Trace, merge};
use std::io::{self, Read};

struct Input<'a>(&'a [u8]);

impl MergeInput for Input<'_> {
    fn name(&self) -> &str {
        "input"
    }

    fn open(&self) -> io::Result<Box<dyn Read + '_>> {
        Ok(Box::new(self.0))
    }
}

fuzz_target!(|bytes: &[u8]| {
    let Some((at, traces)) = bytes.split_first_chunk() else { return };
    let (first, second) = traces.split_at((u16::from_le_bytes(*at) as usize).min(traces.len()));
    let mut merged = Vec::new();
    if merge(&[&Input(first), &Input(second)], &mut merged).is_err() {
        return;
    }
    if let Ok(log) = Trace::from_bytes(merged.clone()).read() {
        assert_eq!(log.stats().ended_early, None);
    }
    let again = merge(&[&Input(&merged)], &mut io::sink());
    assert!(again.is_ok_and(|again| again.malformed == 0 && again.truncated.is_empty()));
});
