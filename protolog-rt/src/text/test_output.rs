//! A sink for tests: lines that the test harness captures.

use super::lines::{Output, print};
use super::sink::{TextLine, TextSink};

/// Prints lines with `eprint!` on the thread that logs, so that libtest captures them: those of
/// each test are kept apart, and shown if it fails. For tests, where several may set the sink:
///
/// ```
/// use protolog_rt::text::{TestOutput, set_sink};
///
/// let _ = set_sink(TestOutput); // Another test may have set it.
/// ```
///
/// Other sinks take no lock of the standard library; this one does. Lines of threads that libtest
/// did not start, nor a thread of its tests through `std::thread`, are not captured.
#[derive(Clone, Copy, Debug, Default)]
pub struct TestOutput;

impl TextSink for TestOutput {
    fn show(&self, line: &TextLine<'_>) {
        print(&mut Captured, line);
    }

    /// The harness captures lines of the thread that logs only. It has them in memory; where it
    /// captures nothing, this waits for standard error.
    fn show_now(&self, line: &TextLine<'_>) -> bool {
        self.show(line);
        true
    }
}

/// Standard error as the harness captures it.
struct Captured;

impl Output for Captured {
    #[expect(clippy::print_stderr, reason = "the harness captures nothing else")]
    fn line(&mut self, line: &[u8]) {
        eprint!("{}", String::from_utf8_lossy(line));
    }
}
