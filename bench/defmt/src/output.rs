//! Where the messages of this thread go: to defmt's encoder, and from there to memory.
//!
//! Invariant: between [`acquire`](defmt::Logger::acquire) and [`release`](defmt::Logger::release),
//! only the thread that acquired writes, since each has an output of its own.

#![expect(unsafe_code, reason = "a logger of defmt is an unsafe trait")]

use std::cell::RefCell;
use std::time::Instant;

use defmt::Encoder;

/// The encoded messages of one thread.
struct Output {
    encoder: Encoder,
    bytes: Vec<u8>,
    start: Option<Instant>,
}

thread_local! {
    static OUTPUT: RefCell<Output> =
        const { RefCell::new(Output { encoder: Encoder::new(), bytes: Vec::new(), start: None }) };
}

/// Sets the time from which timestamps count.
pub(crate) fn begin(start: Instant) {
    OUTPUT.with_borrow_mut(|output| output.start = Some(start));
}

/// Takes the encoded messages of this thread.
pub(crate) fn take() -> Vec<u8> {
    OUTPUT.with_borrow_mut(|output| std::mem::take(&mut output.bytes))
}

/// Calls `encode` with the encoder and where its bytes go.
fn encode(encode: impl FnOnce(&mut Encoder, &mut dyn FnMut(&[u8]))) {
    OUTPUT.with_borrow_mut(|Output { encoder, bytes, .. }| {
        encode(encoder, &mut |part| bytes.extend_from_slice(part));
    });
}

#[defmt::global_logger]
struct Logger;

// SAFETY: a frame is only ever written by the thread that acquired, to its own output. A message
// within a message (in a signal handler, or in a `Format` that logs) would break that, and this
// program has neither.
unsafe impl defmt::Logger for Logger {
    fn acquire() {
        encode(|encoder, write| encoder.start_frame(write));
    }

    unsafe fn flush() {}

    unsafe fn release() {
        encode(|encoder, write| encoder.end_frame(write));
    }

    unsafe fn write(bytes: &[u8]) {
        encode(|encoder, write| encoder.write(bytes, write));
    }
}

defmt::timestamp!("{=u64:us}", {
    let start = OUTPUT.with_borrow(|output| output.start);
    start.map_or(0, |start| start.elapsed().as_micros() as u64)
});
