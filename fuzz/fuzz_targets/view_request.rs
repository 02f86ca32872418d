//! Any bytes to the page that `view` serves: no panic, and nothing of the log to whoever does not
//! prove a key.
//!
//! Covers connections in memory, with bytes that come in pieces of a size that the first byte
//! gives. `@PROOF@` in the bytes stands for the one right proof, of `GET /data`; what else reaches
//! the log fails (`exercise.rs`). Limits of time and of connections are tested on sockets.
#![no_main]

use libfuzzer_sys::fuzz_target;
use protologtool::exchange;

fuzz_target!(|bytes: &[u8]| {
    let Some((&piece, bytes)) = bytes.split_first() else { return };
    let received = exchange(bytes, usize::from(piece) + 1);
    // The page and the log are short, and so is all that comes back to each line that is sent.
    assert!(received.len() <= 4096 + 64 * bytes.len(), "{} bytes", received.len());
});
