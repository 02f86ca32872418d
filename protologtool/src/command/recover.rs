//! `recover`: recordings of dead processes in, a trace out.

use super::merge::{self, Made};
use crate::exit::{Exit, Failure};
use crate::output::{cant_read, is_standard, once, write_one};
use crate::system::System;
use protolog_reader::{Flaw, MergeInput, Recording, Recovered};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

const HELP: &str = "\
Examples:
  ls /dev/shm/protolog-*
  protologtool recover /dev/shm/protolog-server-4711-0.rec -o crash.pftrace
  protologtool read-log crash.pftrace
  protologtool recover /dev/shm/protolog-server-4711-0.rec -o - | protologtool read-log -
  protologtool recover /dev/shm/protolog-server-*.rec -o all.pftrace

A program records with `Session::builder().record()`. When it dies, of whatever it dies, the recording stays: a ring \
with the newest messages of all threads, and their texts. Everything that the program had logged is in the trace, as far \
as no newer messages took its place: those are counted, where they are missing. Several recordings become one trace.

A recording that is damaged, cut off or of a newer version is recovered as far as it goes, and standard error says what \
is missing. The recordings themselves stay as they are; remove them when they are not needed any more.

Exit codes: 0 done; 1 done, but standard error says what is wrong with a recording; 2 wrong command line, or nothing can \
be recovered, read or written: nothing was written.";

/// Arguments of `recover`.
#[derive(Debug, clap::Args)]
#[command(after_long_help = HELP, after_help = "See --help for examples.")]
pub(crate) struct RecoverArgs {
    /// Recordings
    #[arg(required = true, value_name = "RECORDINGS")]
    recordings: Vec<PathBuf>,

    /// Write the trace to this file; `-` for standard output
    #[arg(short, long, value_name = "TRACE")]
    output: PathBuf,
}

pub(crate) fn run(args: &RecoverArgs, system: &dyn System) -> Result<Exit, Failure> {
    once(&args.recordings, "recording", system)?;
    let (mut made, mut whole, mut failure) = (Vec::new(), true, None);
    for path in &args.recordings {
        match recover(path, system) {
            Ok((trace, report)) => {
                // Not among the bytes of the trace.
                let print =
                    if is_standard(&args.output) { System::print_error } else { System::print };
                whole &= tell(path, &report, system, |line| print(system, line));
                made.push(Made { name: path.to_string_lossy(), trace });
            }
            Err(error) => {
                // Of several, the others may be good.
                if let Some(earlier) = failure.replace(error) {
                    system.print_error(&format!("{earlier}\n"));
                }
                whole = false;
            }
        }
    }
    if made.is_empty() {
        return Err(failure.unwrap_or_else(|| Failure::new("nothing to recover")));
    }
    if let Some(failure) = failure {
        system.print_error(&format!("{failure}\n"));
    }
    if let [Made { trace, .. }] = made.as_slice() {
        let failed = |error: io::Error| {
            let shown = args.output.display();
            Failure::new(format!("can't write `{shown}`: {}", crate::output::reason(&error)))
        };
        let fill = |out: &mut dyn io::Write| out.write_all(trace);
        write_one(&args.output, &args.recordings, system, fill, failed)?;
    } else {
        let inputs: Vec<&dyn MergeInput> =
            made.iter().map(|made| made as &dyn MergeInput).collect();
        merge::write(&inputs, &args.output, &args.recordings, system)?;
    }
    Ok(if whole { Exit::Done } else { Exit::Problems })
}

/// The trace that a recording makes.
fn recover(path: &Path, system: &dyn System) -> Result<(Vec<u8>, Recovered), Failure> {
    let mut bytes = Vec::new();
    let open = system.open(path);
    let read = open.and_then(|file| file.take(Recording::MAX_BYTES).read_to_end(&mut bytes));
    read.map_err(|error| cant_read(path, &error))?;
    let recording = Recording::parse(&bytes).map_err(|error| {
        Failure::new(format!("can't recover `{}`: {error}", path.display())).help(error.help())
    })?;
    let mut trace = Vec::with_capacity(bytes.len());
    let report = recording.write(&mut trace).map_err(|error| cant_read(path, &error))?;
    Ok((trace, report))
}

/// Says what was recovered. False where something is wrong with it.
fn tell(path: &Path, report: &Recovered, system: &dyn System, print: impl Fn(&str)) -> bool {
    let shown = path.display();
    let counted = |count: u64, one: &str, many: &str| {
        if count == 1 { format!("1 {one}") } else { format!("{count} {many}") }
    };
    let (pid, mut more) = (report.pid, String::new());
    if report.overwritten > 0 {
        // What is cut off may be where they were.
        let is_cut = report.flaws.iter().any(|flaw| matches!(flaw, Flaw::Truncated(_)));
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
    let messages = counted(report.messages, "message", "messages");
    let threads = counted(report.threads, "thread", "threads");
    let line = format!("{shown}: process {pid}: {messages} of {threads}{more}");
    print(&format!("{line}\n"));
    if system.is_in_use(path) {
        system.print_error(&format!(
            "warning: `{shown}` is in use: what its process writes meanwhile may be damaged\n"
        ));
    }
    for flaw in &report.flaws {
        system.print_error(&format!("warning: `{shown}`: {flaw}\n"));
    }
    report.flaws.is_empty()
}
