//! Traces that recordings make, or complete, and the lines about them.
//!
//! Invariant: nothing is written.

use crate::exit::Failure;
use crate::logs::completion::{Completed, Completion, complete_by, complete_trace};
use crate::output::cant_read;
use crate::system::System;
use protolog_reader::{Flaw, Recording, RecordingError, Recovered, printable, session_id};
use std::io;
use std::path::Path;

/// The type of ELF files that are core files.
const CORE: u8 = 4;

/// A trace that was recovered.
pub(crate) struct RescuedTrace {
    pub(crate) trace: Vec<u8>,
    pub(crate) report: Recovered,
    /// True if it completes a trace file.
    pub(crate) completes: bool,
}

/// The failure for a file that begins with `head` and is no recording.
pub(crate) fn no_recording(path: &Path, head: &[u8], error: RecordingError) -> Failure {
    let shown = path.display();
    // Its type follows its name.
    if head.starts_with(b"\x7fELF") && head.get(16) == Some(&CORE) {
        return Failure::new(format!("can't recover `{shown}`: a core file, and no recording"))
            .help(format!("run `protologtool recover --core {shown} -o TRACE`"));
    }
    Failure::new(format!("can't recover `{shown}`: {error}")).help(error.help())
}

/// The trace that a recording makes, or a trace file with its recording. `bytes` are those of the
/// file at `path`.
pub(crate) fn rescue_bytes(
    path: &Path,
    mut bytes: Vec<u8>,
    system: &dyn System,
) -> Result<RescuedTrace, Failure> {
    if !Recording::matches(&bytes) && looks_like_trace(&bytes) {
        let done = complete_trace(path, &mut bytes, system);
        return rescued(path, bytes, done);
    }
    let recording = Recording::parse(&bytes).map_err(|error| no_recording(path, &bytes, error))?;
    if let Some(file) = recording.trace() {
        let id = recording.header().session_id;
        // A segment has its other name once it was complete.
        for at in [file.path.clone(), file.path.with_extension("")] {
            let trace = system.read_named(&at, path, u64::MAX).ok();
            let trace = trace.filter(|trace| session_id(trace) == id && file.is_at(&at));
            if let Some(mut trace) = trace {
                let done = complete_by(&at, path.to_path_buf(), &mut trace, system);
                return rescued(&at, trace, done);
            }
        }
    }
    let mut trace = Vec::with_capacity(bytes.len());
    let report = recording.write(&mut trace).map_err(|error| cant_read(path, &error))?;
    Ok(RescuedTrace { trace, report, completes: false })
}

/// Returns whether a file that begins with these bytes may be a trace.
pub(crate) fn looks_like_trace(bytes: &[u8]) -> bool {
    bytes.first() == Some(&TRACE)
}

/// The first byte of every trace.
pub(crate) const TRACE: u8 = 0x0a;

/// A number of things.
pub(crate) fn counted(count: u64, one: &str, many: &str) -> String {
    if count == 1 { format!("1 {one}") } else { format!("{count} {many}") }
}

/// Reports the recovered messages, and warns of flaws in them. False where there are any.
pub(crate) fn report_recovered(
    path: &Path,
    report: &Recovered,
    may_be_used: bool,
    system: &dyn System,
    print: impl Fn(&str),
    warn: impl Fn(&str),
) -> bool {
    let shown = printable(&path.to_string_lossy());
    let (pid, mut more) = (report.pid, String::new());
    if report.overwritten > 0 {
        // They may have been in the part that is cut off.
        let is_cut =
            report.flaws.iter().any(|flaw| matches!(flaw, Flaw::Truncated(_) | Flaw::NotInCore(_)));
        let others = if is_cut {
            counted(report.overwritten, "other one is missing", "other ones are missing")
        } else {
            counted(report.overwritten, "older one was overwritten", "older ones were overwritten")
        };
        more = format!("; {others}");
    }
    if report.lost > 0 {
        more = format!("{more}; {} lost when logged", counted(report.lost, "was", "were"));
    }
    if let Some(signal) = report.signal {
        more = format!("{more}; ended by {signal}");
    }
    let messages = counted(report.messages, "message", "messages");
    let threads = counted(report.threads, "thread", "threads");
    let line = format!("{shown}: process {pid}: {messages} of {threads}{more}");
    print(&format!("{line}\n"));
    if may_be_used && system.is_in_use(path) {
        warn(&format!(
            "warning: `{shown}` is in use: what its process writes meanwhile may be damaged\n"
        ));
    }
    for flaw in &report.flaws {
        warn(&format!("warning: `{shown}`: {flaw}\n"));
    }
    report.flaws.is_empty()
}

/// The failure for a trace whose process runs.
pub(crate) fn still_written(path: &Path) -> Failure {
    let shown = path.display();
    let help = format!(
        "wait until its process has ended; `protologtool read-log {shown}` shows what is there"
    );
    Failure::new(format!("`{shown}` is still being written")).help(help)
}

/// The failure for a trace that no recording completes.
pub(crate) fn nothing_left(path: &Path) -> Failure {
    Failure::new(format!("nothing is left that completes `{}`", path.display()))
        .help("read it as it is, with `protologtool read-log`")
}

/// The outcome for the trace in the file `at`, of these bytes.
fn rescued(
    at: &Path,
    trace: Vec<u8>,
    done: io::Result<Completion>,
) -> Result<RescuedTrace, Failure> {
    match done.map_err(|error| cant_read(at, &error))? {
        Completion::Done(Completed { report, .. }) => {
            Ok(RescuedTrace { trace, report, completes: true })
        }
        Completion::Running => Err(still_written(at)),
        Completion::None => Err(nothing_left(at)),
    }
}
