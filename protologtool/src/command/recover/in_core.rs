//! `recover --core`: what sessions without a recording had in memory when their process died, of
//! its core file.
//!
//! Invariant: nothing is written, and no file but the core file and the traces of such sessions is
//! read.

use super::Rescued;
use super::core_file::CoreFile;
use crate::exit::Failure;
use crate::logs::completion::HEAD;
use crate::output::cant_read;
use crate::system::System;
use protolog_reader::{
    CoreRecording, Flaw, FoundHeader, Recording, Recovered, complete, is_recording_name, printable,
    session_id,
};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// Traces from a core file, and whether nothing of them is missing.
pub(super) struct InCore {
    pub(super) rescued: Vec<Rescued>,
    pub(super) is_whole: bool,
}

/// Recovers the sessions in the core file at `path`.
pub(super) fn rescue(path: &Path, system: &dyn System) -> Result<InCore, Failure> {
    let core = CoreFile::open(path, system)?;
    let failed = |error| cant_read(path, &error);
    let (mut rescued, mut is_whole) = (Vec::new(), true);
    // Sessions share no memory. What is missing takes some only until it is written.
    let (mut room, mut room_for_all) = (core.size(), core.size() + 4 * Recording::MAX_BYTES);
    for address in core.find_pages(CoreRecording::matches).map_err(failed)? {
        let FoundHeader::Here(found) = CoreRecording::read(&core, address).map_err(failed)? else {
            continue;
        };
        let all = found.bytes().len() as u64;
        let there = all.saturating_sub(found.missing());
        let Some((rest, rest_of_all)) = room.checked_sub(there).zip(room_for_all.checked_sub(all))
        else {
            let shown = printable(&path.to_string_lossy());
            system.print_error(&format!(
                "warning: `{shown}`: it has more sessions than memory: the others are left out\n"
            ));
            is_whole = false;
            break;
        };
        (room, room_for_all) = (rest, rest_of_all);
        let Ok(recording) = Recording::parse(found.bytes()) else { continue };
        let mut trace = Vec::new();
        let report = match completed(&recording, path, &mut trace, system) {
            Some(report) => report,
            None => {
                is_whole &= !warn_of_missing_trace(&recording, path, system);
                recording.write(&mut trace).map_err(failed)?
            }
        };
        let mut report = report;
        // The file may end within the metadata, too.
        report.flaws.retain(|flaw| !matches!(flaw, Flaw::Truncated(_)));
        report.flaws.extend((found.missing() > 0).then(|| Flaw::NotInCore(found.missing())));
        rescued.push(Rescued { name: path.to_owned(), trace, report, left: None, is_core: true });
    }
    if rescued.is_empty() {
        return Err(nothing_found(path, &core));
    }
    for recording in recordings(&core) {
        let shown = printable(&recording.to_string_lossy());
        system.print_error(&format!(
            "note: a session of `{}` recorded to `{shown}`, which `recover` takes, too\n",
            printable(&path.to_string_lossy())
        ));
    }
    Ok(InCore { rescued, is_whole })
}

/// The trace file of a session that streams, completed; none if it is not there.
fn completed(
    recording: &Recording<'_>,
    core: &Path,
    trace: &mut Vec<u8>,
    system: &dyn System,
) -> Option<Recovered> {
    let file = recording.trace()?;
    let id = recording.header().session_id;
    // A segment has its other name once it was complete.
    for at in [file.path.clone(), file.path.with_extension("")] {
        // Whatever else the path names may be large.
        let head = system.read_named(&at, core, HEAD as u64).ok();
        let is_its = |head: Vec<u8>| session_id(&head) == id && file.is_at(&at);
        if !head.is_some_and(is_its) {
            continue;
        }
        let found = system.read_named(&at, core, u64::MAX).ok();
        if let Some(mut found) = found.filter(|it| session_id(it) == id) {
            let report = complete(&mut found, recording)?.ok()?;
            *trace = found;
            return Some(report);
        }
    }
    None
}

/// Says that the trace has only what was not in its file yet, if the session had one.
fn warn_of_missing_trace(recording: &Recording<'_>, core: &Path, system: &dyn System) -> bool {
    let Some(file) = recording.trace() else { return false };
    let [core, trace] = [core, &file.path].map(|path| printable(&path.to_string_lossy()));
    system.print_error(&format!(
        "warning: `{core}`: the trace `{trace}` of its session is not there: only what that lacked is recovered\n"
    ));
    true
}

/// The failure for a core file without buffers.
fn nothing_found(path: &Path, core: &CoreFile) -> Failure {
    let none = format!("`{}` has no buffers of sessions", path.display());
    if let Some(recording) = recordings(core).next() {
        let shown = printable(&recording.to_string_lossy());
        return Failure::new(format!("{none}: they were in the recording `{shown}`"))
            .help(format!("run `protologtool recover {shown} -o TRACE`"));
    }
    let is_java = |path: &PathBuf| path.file_name() == Some(OsStr::new("libjvm.so"));
    if core.mapped.iter().any(is_java) {
        return Failure::new(format!("{none}: those of Java are in the memory of the JVM"))
            .help("have sessions record to a file, which `recover` takes");
    }
    if core.size() < core.whole_size {
        let (size, whole) = (core.size(), core.whole_size);
        return Failure::new(format!("{none}: it is cut off, after {size} of {whole} bytes"))
            .help("raise the limit of core files, as by `ulimit -c unlimited`");
    }
    Failure::new(none).help(
        "give the core file of a process whose session was running, with anonymous memory \
         (bit 0 of `/proc/PID/coredump_filter`)",
    )
}

/// The recordings that the process had mapped.
fn recordings(core: &CoreFile) -> impl Iterator<Item = &PathBuf> {
    core.mapped.iter().filter(|path| path.file_name().is_some_and(is_recording_name))
}
