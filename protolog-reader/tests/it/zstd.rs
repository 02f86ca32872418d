//! Traces that the real `zstd` compressed: several frames, checksums, a skippable frame.
//!
//! `data/frames.zst` is `one.pftrace` by `zstd -19 --check`, a skippable frame of five bytes, and
//! `two.pftrace` by `zstd -1 --no-check`, which are `ONE` and `TWO` by
//! `cargo run --example describe`.

use crate::common::{Input, text, trace};
use protolog_reader::{Trace, merge};

const ONE: &str = "group(1, \"demo::Log::A\", \"A\") message(0x11, INFO, 1, \"%d\")\nts=1 log(0x11, 1)\nts=2 log(0x11, 2)\n";
const TWO: &str = "ts=3 log(0x11, 3)\nts=4 log(0x11, 4)\n";
const FRAMES: &[u8] = include_bytes!("../data/frames.zst");

#[test]
fn frames_of_the_real_tool_are_read() {
    let plain = [trace(ONE), trace(TWO)].concat();
    let expected = text(&Trace::from_bytes(plain).read().unwrap());
    let log = Trace::from_bytes(FRAMES).read().unwrap();
    assert_eq!(text(&log), expected);
    assert!(log.is_complete());
    let mut out = Vec::new();
    assert!(merge(&[&Input(FRAMES)], &mut out).unwrap().is_whole());
    assert_eq!(text(&Trace::from_bytes(out).read().unwrap()), expected);
}

#[test]
fn a_wrong_checksum_is_reported() {
    // The checksum of the first frame stands before the skippable one.
    let skippable = FRAMES.windows(4).position(|bytes| bytes == [0x50, 0x2a, 0x4d, 0x18]).unwrap();
    let mut bytes = FRAMES.to_vec();
    bytes[skippable - 1] ^= 1;
    let log = Trace::from_bytes(bytes).read().unwrap();
    assert!(!log.is_complete());
    assert_eq!(log.entries().len(), 2, "what is before it is read");
}
