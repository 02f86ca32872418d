//! The size of messages in a compressed file.

use crate::loggers::Protolog;
use harness::{Calls, Shape, with_calls};
use protolog_rt::Session;
use std::path::Path;
use std::time::Duration;

/// Messages that are logged.
const MESSAGES: u64 = 200_000;

/// zlib's own default.
const LEVEL: u32 = 6;

/// The time that a call waits for the thread that compresses, so that nothing is lost.
const STALL_TIMEOUT: Duration = Duration::from_secs(1);

/// A loop.
struct LoopOfCalls;

impl Calls for LoopOfCalls {
    type Output = ();

    fn run(self, call: impl FnMut(u64)) {
        (0..MESSAGES).for_each(call);
    }
}

/// Logs messages to a compressed file and prints how many bytes one takes.
pub(crate) fn run(shape: &str, path: &Path) -> Option<()> {
    let shape = Shape::of(shape)?;
    let session =
        Session::builder().file(path).enable_all().compress(LEVEL).wait_at_most(STALL_TIMEOUT);
    let logger = Protolog(session.start().expect("start a session"));
    with_calls(&logger, shape, LoopOfCalls);
    let summary = logger.0.stop().expect("complete the trace");
    println!("{}", summary.bytes as f64 / summary.messages as f64);
    Some(())
}
