//! `recover`: recordings or core files of dead processes in, a trace out; or a trace file, which
//! its recording completes in place.

mod core_file;
mod event;
mod in_core;
mod in_place;
mod list;

use super::merge::{self, Merging};
use crate::args::{Expansion, LogOutput};
use crate::exit::{Exit, Failure};
use crate::logs::completion::HEAD;
use crate::logs::merged_traces::MadeTrace;
use crate::logs::rescue::{RescuedTrace, looks_like_trace, report_recovered, rescue_bytes};
use crate::logs::segment_names::{is_part, segments_of};
use crate::logs::text_sources::TextSources;
use crate::logs::{pipe_input, trace_paths};
use crate::output::{cant_read, is_standard, once, write_one};
use crate::system::System;
use in_place::Left;
use list::Inventory;
use protolog_reader::{MergeInput, Recording, Recovered, printable, session_id};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

const HELP: &str = "\
Examples:
  protologtool recover app.pftrace
  protologtool recover --list
  protologtool recover /dev/shm/protolog-server-4711-0.rec -o crash.pftrace
  protologtool read-log crash.pftrace
  protologtool recover /dev/shm/protolog-server-4711-0.rec -o - \\
    | protologtool read-log -
  protologtool recover /dev/shm/protolog-server-*.rec -o all.pftrace
  protologtool recover --core core -o crash.pftrace

A session that writes a trace file keeps its buffer in a recording, until it is stopped. If the process dies before that, \
`recover app.pftrace` finds the recording and completes the file: each message is in it, once. The recording is removed then. \
The file keeps its owner and, without `--mode`, its permissions. With `-o` both stay as they are. The path in a recording is followed \
only to a regular file of the user who owns the recording; without `-o`, only if that is this user, \
and a file with several names (hard links) is left alone.

The segment that a session with segments did not complete is found by the name that the session was given, and loses `.part` when \
it is complete; of a directory, all traces that processes left incomplete are.

A program also records with `Session::builder().record()`. When it dies, of whatever it dies, the recording stays: a ring \
with the newest messages of all threads, and their texts. Everything that the program had logged is in the trace, as far \
as no newer messages took its place: those are counted, where they are missing. Several recordings become one trace.

A session without a recording keeps its messages in memory that ends with the process. `--core` finds it in the core file of a process \
that dumped core, or of one that `gcore` looked at, by its header, and makes one trace of all sessions in it: what each thread had \
committed, the texts, the numbers of other messages. The file must be a 64-bit little-endian one of Linux, not compressed; sessions that \
record are recovered by their recordings, and those of Java keep their messages in the memory of the JVM.

A recording or a core file that is damaged, cut off or of a newer version is recovered as far as it goes, and standard error says what \
is missing. Of a session whose triggers wait for fatal signals, and that one ended, the file of the trigger is made without `-o`: it has the signal \
in its name, and the recording is removed. Other recordings of this kind stay as they are; `--prune` removes those of dead processes after a day, or as \
`--older-than` says. Neither it nor `--list` touches files of other users or links, or removes what a process records to.

Exit codes: 0 done; 2 wrong command line, or nothing can be recovered, read, removed or written: nothing was written; 3 done, but a part of a \
recording is missing, as standard error says.";

/// Arguments of `recover`.
#[derive(Debug, clap::Args)]
#[command(after_long_help = HELP, after_help = "See --help for examples.")]
pub(crate) struct RecoverArgs {
    /// Recordings, and trace files of processes that died; the name that a session with segments
    /// was given; directories
    #[arg(required_unless_present_any = ["list", "prune", "core"], value_name = "FILES")]
    recordings: Vec<PathBuf>,

    /// Write the trace to this file; `-` for standard output. Without it, trace files are completed
    /// in place
    #[arg(short, long, value_name = "TRACE")]
    output: Option<PathBuf>,

    /// Recover what sessions without a recording had in memory, from the core file of their process
    #[arg(long, value_name = "CORE", requires = "output", conflicts_with_all = ["list", "prune"])]
    core: Vec<PathBuf>,

    #[command(flatten)]
    output_file: LogOutput,

    #[command(flatten)]
    inventory: Inventory,
}

/// A trace that was recovered from a file that was named.
struct Rescued {
    /// The file that was named.
    name: PathBuf,
    /// Empty if it is completed in place.
    trace: Vec<u8>,
    report: Recovered,
    /// The file that is to be completed in place, or made beside others of its session.
    left: Option<Left>,
    /// It is a core file.
    is_core: bool,
}

pub(crate) fn run(args: &RecoverArgs, system: &dyn System) -> Result<Exit, Failure> {
    if args.inventory.is_asked_for() {
        return args.inventory.run(&args.recordings, system);
    }
    let inputs = [&args.recordings[..], &args.core].concat();
    once(&inputs, "recording", system)?;
    let (mut rescued, mut failures) = (Vec::new(), Vec::new());
    for path in &args.recordings {
        match candidates(path, args.output.is_some(), system) {
            Ok(paths) => {
                for path in paths {
                    match recover_one(&path, args, system) {
                        Ok(one) => rescued.push(one),
                        // Of several, the others may be good.
                        Err(failure) => failures.push(failure),
                    }
                }
            }
            Err(failure) => failures.push(failure),
        }
    }
    let mut has_traces = true;
    for path in &args.core {
        match in_core::rescue(path, system) {
            Ok(found) => {
                rescued.extend(found.rescued);
                has_traces &= found.is_whole;
            }
            Err(failure) => failures.push(failure),
        }
    }
    let mut is_whole = report_failures(failures, !rescued.is_empty(), system)? && has_traces;
    for Rescued { name, report, left, is_core, .. } in &rescued {
        // Not among the bytes of the trace.
        let is_piped = args.output.as_deref().is_some_and(is_standard);
        let print = if is_piped { System::print_error } else { System::print };
        // The files that this command has locked are in use by nobody else.
        let may_be_used = left.is_none() && !is_core;
        let warn = |line: &str| system.print_error(line);
        is_whole &=
            report_recovered(name, report, may_be_used, system, |line| print(system, line), warn);
    }
    if let Some(output) = &args.output {
        write_all(&rescued, output, args, &inputs, system)?;
    }
    is_whole &= complete_in_place(&rescued, args.output_file, system)?;
    Ok(if is_whole { Exit::Done } else { Exit::Incomplete })
}

/// Completes the trace files that are to be in place, and makes those of fatal signals; false if
/// one of them could not be.
fn complete_in_place(
    rescued: &[Rescued],
    output: LogOutput,
    system: &dyn System,
) -> Result<bool, Failure> {
    let (mut is_any_done, mut failures) = (false, Vec::new());
    for (named, left) in rescued.iter().filter_map(|one| Some((&one.name, one.left.as_ref()?))) {
        let done = match left {
            Left::Trace(trace) => trace.complete(output.mode).map(|name| (trace.path(), name)),
            Left::Event(event) => {
                event::write(event, output.mode_of_new(), system).map(|path| (&**named, Some(path)))
            }
        };
        match done {
            Ok((before, name)) => {
                is_any_done = true;
                let Some(name) = name else { continue };
                let [part, name] = [before, &*name].map(|path| printable(&path.to_string_lossy()));
                system.print(&format!("{part}: it is complete, and `{name}` now\n"));
            }
            // The others may be on another file system.
            Err(failure) => failures.push(failure),
        }
    }
    report_failures(failures, is_any_done, system)
}

/// Prints failures of some of several files; returns false if there were any. If no file is done,
/// the last one is the command's failure.
fn report_failures(
    mut failures: Vec<Failure>,
    is_any_done: bool,
    system: &dyn System,
) -> Result<bool, Failure> {
    let is_whole = failures.is_empty();
    let last = failures.pop_if(|_| !is_any_done);
    for failure in failures {
        system.print_error(&format!("{failure}\n"));
    }
    last.map_or(Ok(is_whole), Err)
}

/// The files to recover for one that was named. Of a directory: those that have a recording, or are
/// one that is to be written elsewhere. Of the name of a session with segments: the segments that
/// are not complete.
fn candidates(path: &Path, has_output: bool, system: &dyn System) -> Result<Vec<PathBuf>, Failure> {
    if system.is_directory(path) {
        let is_left = |path: &PathBuf| {
            let head = system.read_from(path, 0, in_place::HEAD as usize).unwrap_or_default();
            if Recording::matches(&head) {
                return has_output && !system.is_in_use(path);
            }
            let recording = system.find_recording(path, session_id(&head));
            recording.is_some_and(|it| completes(&it, path, system) && !system.is_in_use(&it))
        };
        let mut paths = trace_paths::traces_in(path, system)?;
        paths.retain(is_left);
        if paths.is_empty() {
            let text = format!("nothing in `{}` is of a process that died", path.display());
            return Err(Failure::new(text).help("read the traces with `protologtool read-log`"));
        }
        return Ok(paths);
    }
    let segments = segments_of(path, system);
    if segments.is_empty() || system.file_id(path).is_ok() {
        return Ok(vec![path.to_owned()]);
    }
    let parts: Vec<PathBuf> = segments.into_values().filter(|it| is_part(it)).collect();
    if parts.is_empty() {
        let text = format!("all segments of `{}` are complete", path.display());
        return Err(Failure::new(text).help("read them with `protologtool read-log`"));
    }
    Ok(parts)
}

/// True if the recording of a session completes this file of it, and not another segment.
fn completes(recording: &Path, trace: &Path, system: &dyn System) -> bool {
    let head = system.read_recording(recording, trace, in_place::HEAD).unwrap_or_default();
    let file = Recording::parse(&head).ok().and_then(|parsed| parsed.trace());
    file.is_some_and(|file| file.is_at(trace))
}

fn recover_one(path: &Path, args: &RecoverArgs, system: &dyn System) -> Result<Rescued, Failure> {
    if args.output.is_some() {
        return rescue(path, system);
    }
    let (left, report) = in_place::find(path, system)?;
    let (name, trace) = (path.to_owned(), Vec::new());
    Ok(Rescued { name, trace, report, left: Some(left), is_core: false })
}

/// Writes the traces, as one, to `output`.
fn write_all(
    rescued: &[Rescued],
    output: &Path,
    args: &RecoverArgs,
    read: &[PathBuf],
    system: &dyn System,
) -> Result<(), Failure> {
    let mode = args.output_file.mode_of_new();
    if let [Rescued { trace, .. }] = rescued {
        return write_trace(output, mode, trace, read, system);
    }
    let made: Vec<MadeTrace<'_>> = rescued
        .iter()
        .map(|one| MadeTrace {
            name: one.name.to_string_lossy(),
            source: Box::new(one.trace.clone()),
            is_found: false,
        })
        .collect();
    let inputs: Vec<&dyn MergeInput> = made.iter().map(|made| made as &dyn MergeInput).collect();
    let texts = &mut TextSources::load(&[], system)?;
    let merging = Merging { inputs: &inputs, expansion: Expansion::default(), texts };
    merge::write(merging, (output, mode), read, system).map(drop)
}

fn write_trace(
    output: &Path,
    mode: u32,
    trace: &[u8],
    read: &[PathBuf],
    system: &dyn System,
) -> Result<(), Failure> {
    let failed = |error: io::Error| {
        let shown = output.display();
        Failure::new(format!("can't write `{shown}`: {}", crate::output::reason(&error)))
    };
    let fill = |out: &mut dyn io::Write| out.write_all(trace);
    write_one(output, mode, read, system, fill, failed)
}

/// The trace that a recording makes, or a trace file with its recording.
fn rescue(path: &Path, system: &dyn System) -> Result<Rescued, Failure> {
    let bytes = if system.is_pipe(path) {
        read(path, system.open(path))?
    } else {
        // Holes take no memory, however long they are.
        let is_trace = looks_like_trace(&system.read_from(path, 0, HEAD).unwrap_or_default());
        let most = if is_trace { usize::MAX } else { Recording::MAX_BYTES as usize };
        system.read_from(path, 0, most).map_err(|error| cant_read(path, &error))?
    };
    let RescuedTrace { trace, report, .. } = rescue_bytes(path, bytes, system)?;
    Ok(Rescued { name: path.to_path_buf(), trace, report, left: None, is_core: false })
}

/// The content of a file, as far as a recording may be long; of a trace, all of it.
fn read(path: &Path, file: io::Result<Box<dyn Read>>) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    let mut file = file.map_err(|error| cant_read(path, &error))?;
    let mut read = || -> io::Result<()> {
        file.by_ref().take(Recording::MAX_BYTES).read_to_end(&mut bytes)?;
        if !Recording::matches(&bytes) && looks_like_trace(&bytes) {
            pipe_input::read_up_to(pipe_input::MOST_IN_MEMORY, &mut file, &mut bytes)?;
        }
        Ok(())
    };
    read().map_err(|error| cant_read(path, &error))?;
    Ok(bytes)
}
