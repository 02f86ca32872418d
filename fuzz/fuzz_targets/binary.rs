//! Any bytes as a program: its notes are read, and taken out of it, without a panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use viewer_config::Collector;

fuzz_target!(|bytes: &[u8]| {
    let mut collector = Collector::new();
    let read = protologtool::binary::read(bytes, &mut collector);
    let mut stripped = bytes.to_vec();
    let taken = protologtool::binary::strip(&mut stripped, 1);
    assert_eq!(stripped.len(), bytes.len());
    if read.is_ok() && taken.is_ok() {
        assert!(protologtool::binary::read(&stripped, &mut Collector::new()).is_err());
    }
});
