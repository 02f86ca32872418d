//! Completes the trace that an earlier run of the program could not end, with the messages that its
//! recording has.
//!
//! Invariants
//! - A trace that another session writes stays as it is, and so does one that has no recording. The
//!   recording is removed when the trace is complete on the disk; until then the same can be done
//!   again, with the same outcome.
//! - Only files of this user are read or written, and only the trace that has the id of the
//!   recording's session: no matter what another user put beside them, and what a recording says.
//! - That nothing is found means that nothing can be completed, not that somebody looked at the
//!   recording at the same time.

use crate::error::Error;
use crate::paths::absolute;
use crate::session::file::claim::{Claim, Held, hold};
use crate::session::file::heads::{HEAD, session_id_of, survey_of, survey_of_part};
use crate::session::file::segments;
use crate::sys::create::is_own;
use crate::sys::file::{claim, id_of};
use crate::sys::process::{is_other_process, user};
use protolog_core::recorder::{Header, LOSSES_AT, RING_AT};
use protolog_files::{FileExt, Location, OutputAccess, Refused, Status, read_with_holes, set_mode};
use protolog_recording::{Recording, TraceFile, TraceSurvey, is_recording_name, memory};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

/// The time to wait for others that have the recording of a dead process, and of a living one; and
/// between two looks.
const TIMEOUT: Duration = Duration::from_secs(5);
const TIMEOUT_IF_ALIVE: Duration = Duration::from_millis(200);
const POLL_INTERVAL: Duration = Duration::from_millis(5);

/// A trace that was completed: see [`recover_previous`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RecoveredTrace {
    /// The trace, under its final name.
    pub path: PathBuf,
    /// Messages that it lacked, and has now.
    pub messages: u64,
    /// Messages that were lost before the process died, and that the trace reports now.
    pub lost: u64,
    /// Bytes that the trace had and lacks now, since something else cut it, with the messages in
    /// them.
    pub missing_bytes: u64,
}

/// Completes the trace file of an earlier run of the program that did not end it, since it was
/// killed or crashed: every message whose call had returned is in the file afterwards, once.
/// Returns the completed trace; nothing if the run ended its trace, is still going on, or has left
/// no recording (the machine was shut down meanwhile). Files of other users are no trace and no
/// recording of it.
///
/// It waits up to five seconds while another process has the recording of a dead one, such as a
/// `protologtool` that completes the same trace. An [`Error::File`] if it waits in vain, or if the
/// trace can't be written: then the recording stays.
///
/// `path` is the file that the session was given. Of a session that divides its trace, the segment
/// that was left incomplete (`.part`) is completed, and gets its final name. A session that starts
/// does this by itself, and renames a trace in one file
/// ([`Builder::keep_previous`](crate::Builder::keep_previous)); to do something else with it, call
/// this before:
///
/// ```
/// use protolog_rt::{Session, recover_previous};
///
/// # fn main() -> Result<(), protolog_rt::Error> {
/// # let dir = std::env::temp_dir().join(format!("protolog-previous-{}", std::process::id()));
/// # std::fs::create_dir_all(&dir).expect("a folder");
/// # let path = dir.join("app.pftrace");
/// for trace in recover_previous(&path)? {
///     println!("the last run crashed: {} has its last {} messages", trace.path.display(), trace.messages);
///     std::fs::rename(&trace.path, trace.path.with_extension("crash.pftrace")).expect("a new name");
/// }
/// let session = Session::builder().file(&path).start()?;
/// # session.stop()?;
/// # std::fs::remove_dir_all(&dir).ok();
/// # Ok(())
/// # }
/// ```
///
/// `protolog-tool`'s `protologtool recover app.pftrace` does the same from outside.
pub fn recover_previous(path: impl AsRef<Path>) -> Result<Vec<RecoveredTrace>, Error> {
    let path = absolute(path.as_ref().to_path_buf());
    let (mut recovered, mut sessions) = (Vec::new(), Vec::new());
    let Ok(place) = Location::of(&path) else { return Ok(recovered) };
    // A session would be refused as well.
    match place.check_output() {
        Err(error) if matches!(Refused::of(&error), Some(Refused::Link { .. })) => {
            return Err(Error::File { path, error });
        }
        _ => {}
    }
    let parts = segments::incomplete(&place);
    for trace in parts.iter().map(OsString::as_os_str).chain([place.name()]) {
        let trace_path = path.with_file_name(trace);
        let failed = |error| Error::File { path: trace_path.clone(), error };
        let trace = place.sibling(trace).map_err(failed)?;
        if let Some((done, session)) = complete(&trace, &trace_path).map_err(failed)? {
            recovered.push(done);
            sessions.push(session);
        }
    }
    for part in parts {
        let part_path = path.with_file_name(&part);
        let removed = place.sibling(part);
        let removed = removed.and_then(|part| remove_if_begun(&part, &part_path, &sessions));
        removed.map_err(|error| Error::File { path: part_path, error })?;
    }
    Ok(recovered)
}

/// Completes the segments of `place` that earlier runs left incomplete, and marks them as those of
/// runs that crashed: they are read-only. A segment that can't be completed stays as it is, with
/// its recording.
pub(in crate::session) fn complete_segments(place: &Location, path: &Path) -> Vec<RecoveredTrace> {
    let (mut recovered, mut sessions) = (Vec::new(), Vec::new());
    let parts = segments::incomplete(place);
    for part in &parts {
        let completed =
            place.sibling(part).and_then(|it| complete(&it, &path.with_file_name(part)));
        if let Ok(Some((trace, session))) = completed {
            let mark = |name: &OsStr| {
                let file = place.sibling(name)?.open_regular()?;
                let mode = Status::of(&file)?.mode();
                set_mode(&file, mode & 0o444)
            };
            // A trace that can't be marked is kept as long as others.
            let _ = trace.path.file_name().map(mark);
            recovered.push(trace);
            sessions.push(session);
        }
    }
    for part in parts {
        let path = path.with_file_name(&part);
        // That it can't be removed is no reason not to start.
        let _ = place.sibling(part).and_then(|part| remove_if_begun(&part, &path, &sessions));
    }
    recovered
}

/// Removes a segment that had just been begun when its process died: one without a message, of a
/// session with a completed trace.
fn remove_if_begun(part: &Location, path: &Path, sessions: &[[u8; 16]]) -> io::Result<()> {
    if sessions.is_empty() {
        return Ok(());
    }
    // Another process may have begun it a moment ago.
    let Ok(Some(held)) = hold(part, path) else { return Ok(()) };
    if !is_own(held.file())? {
        return Ok(());
    }
    let (survey, length) = survey_of_part(held.file())?;
    let is_whole = length < HEAD;
    let is_of_one = length == 0 || sessions.contains(&survey.session_id);
    let is_needless = is_whole && is_of_one && survey.messages == 0;
    if is_needless { part.remove_if(held.file()).map(drop) } else { Ok(()) }
}

/// Completes one file, or the segment before it if its process died between the two; none if there
/// is nothing to do. Returns the id of the session, too.
pub(in crate::session) fn complete(
    place: &Location,
    path: &Path,
) -> io::Result<Option<(RecoveredTrace, [u8; 16])>> {
    let Some((held, session_id)) = hold_own(place, path)? else { return Ok(None) };
    let Some((recorded, shown)) = find(place, path, session_id) else { return Ok(None) };
    let Some(recording) = claim_dead(&recorded, &shown)? else { return Ok(None) };
    let bytes = read_with_holes(&recording, 0, Recording::MAX_BYTES)?;
    let Ok(parsed) = Recording::parse(&bytes) else { return Ok(None) };
    let Some(trace) = parsed.trace().filter(|_| parsed.header().session_id == session_id) else {
        return Ok(None);
    };
    let completed = if trace.is_at(path) {
        append((place, path), held, &parsed, &trace)?
    } else {
        let names = [trace.path.clone(), segments::complete_name(&trace.path)];
        let mut same = names.iter().filter_map(|name| {
            let other = place.sibling(name.file_name()?).ok()?;
            let path = path.with_file_name(other.name());
            let (held, id) = hold_own(&other, &path).transpose()?.ok()?;
            (id == session_id).then_some((other, path, held))
        });
        let Some((other, path, held)) = same.next() else { return Ok(None) };
        append((&other, &path), held, &parsed, &trace)?
    };
    // By now the name may be that of another one.
    recorded.remove_if(&recording)?;
    Ok(Some((completed, session_id)))
}

/// Finds the recording of the session with this id, in memory and beside its trace, and its path
/// for messages.
fn find(place: &Location, path: &Path, session_id: [u8; 16]) -> Option<(Location, PathBuf)> {
    if session_id == [0; 16] {
        return None;
    }
    let any = OsStr::new("any");
    let in_memory = memory().join(any);
    let in_memory = Location::of(&in_memory).ok().map(|place| (place, in_memory));
    let beside = Some((place.clone(), path.to_path_buf()));
    [in_memory, beside].into_iter().flatten().find_map(|(place, path)| {
        let names = place.siblings().ok()?.into_iter().filter(|name| is_recording_name(name));
        let mut places = names.filter_map(|name| place.sibling(name).ok());
        let found = places.find(|place| {
            let id = recorded_session(place);
            id.is_some_and(|id| id == session_id)
        })?;
        let shown = path.with_file_name(found.name());
        Some((found, shown))
    })
}

/// The id of the session that a recording of this user is of; none if it is to be left alone.
fn recorded_session(place: &Location) -> Option<[u8; 16]> {
    // Before it is opened: only this user's.
    let is_own_file = place.look().ok()?.owner() == user();
    // One of a session of this process is not even opened, since closing it releases the lock.
    if !is_own_file || Claim::is_taken_at(place, None) {
        return None;
    }
    let file = place.open_regular().ok().filter(|file| is_own(file).unwrap_or(false))?;
    let mut header = [0; LOSSES_AT];
    file.read_exact_at(&mut header, 0).ok()?;
    Some(Header::parse(&header).ok()?.session_id)
}

/// Holds the trace at `place`, and returns the id of its session, too; none if there is no such
/// file of this user, or somebody writes it.
fn hold_own(place: &Location, path: &Path) -> io::Result<Option<(Held, [u8; 16])>> {
    let Ok(Some(held)) = hold(place, path) else { return Ok(None) };
    if !is_own(held.file())? {
        return Ok(None);
    }
    let session_id = session_id_of(held.file())?;
    Ok(Some((held, session_id)))
}

/// Returns whether a recording has what a trace lacks that is there, by the names that it has had.
pub(in crate::session) fn completes_trace(recording: &File) -> bool {
    let mut bytes = Vec::new();
    let read = recording.take(RING_AT as u64).read_to_end(&mut bytes);
    let Some((id, trace)) = read.ok().and_then(|_| {
        let parsed = Recording::parse(&bytes).ok()?;
        Some((parsed.header().session_id, parsed.trace()?))
    }) else {
        return false;
    };
    let is_its = |path: &Path| {
        // One of a session of this process is not even opened, since closing it may release a lock.
        let place = Location::of(path).ok().filter(|place| !Claim::is_taken_at(place, None))?;
        let file = place.open_regular().ok()?;
        Some(is_own(&file).ok()? && session_id_of(&file).ok()? == id)
    };
    let names = [&trace.path, &segments::complete_name(&trace.path)];
    id != [0; 16] && names.into_iter().any(|name| is_its(name) == Some(true))
}

/// Opens the recording of a dead process, so that nobody else touches it until it is closed; none
/// if its process lives, or another one has used it meanwhile.
pub(in crate::session) fn claim_dead(place: &Location, path: &Path) -> io::Result<Option<File>> {
    let file = match place.open_regular() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        file => file?,
    };
    if !is_own(&file)? {
        return Ok(None);
    }
    let mut header = [0; LOSSES_AT];
    file.read_exact_at(&mut header, 0)?;
    let Ok(Header { pid, .. }) = Header::parse(&header) else { return Ok(None) };
    let begun = Instant::now();
    loop {
        match claim(&file) {
            Ok(()) => return Ok(place.is_of(&file).then_some(file)),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) => return Err(error),
        }
        // That of a process is its mark of life; others look at the file for a moment, or complete
        // the trace.
        match (is_other_process(pid), begun.elapsed()) {
            (true, waited) if waited >= TIMEOUT_IF_ALIVE => return Ok(None),
            (false, waited) if waited >= TIMEOUT => {
                let what = format!("another process has its recording `{}`", path.display());
                return Err(io::Error::new(io::ErrorKind::WouldBlock, what));
            }
            _ => thread::sleep(POLL_INTERVAL),
        }
    }
}

/// Appends the packets that the trace at `path` lacks, which are `held`.
fn append(
    (place, path): (&Location, &Path),
    mut held: Held,
    recording: &Recording<'_>,
    trace: &TraceFile,
) -> io::Result<RecoveredTrace> {
    let mut file = place.open_existing(OutputAccess::ReadWrite)?.file;
    if id_of(&file)? != id_of(held.file())? || !held.hold_alone(&file) {
        return Err(io::Error::other("another process is writing it"));
    }
    let length = file.metadata()?.len();
    let (valid, missing_bytes) = (trace.bytes.min(length), trace.bytes.saturating_sub(length));
    let mut survey = TraceSurvey::default();
    if recording.has_losses() {
        survey = survey_of(&file, valid)?;
    }
    survey.is_cut = missing_bytes > 0;
    let mut rest = Vec::new();
    let report = recording.write_rest(&survey, &mut rest)?;
    file.set_len(valid)?;
    file.seek(SeekFrom::Start(valid))?;
    file.write_all(&rest)?;
    file.sync_data()?;
    let mut name = segments::complete_name(path);
    let complete = name.file_name().unwrap_or_default();
    if complete != place.name() {
        // Its own name may be another one's by now, and the other one taken.
        let is_named = place.is_of(&file)
            && match place.rename_to_free(complete) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => false,
                renamed => renamed.map(|()| true)?,
            };
        if !is_named {
            name = path.into();
        }
    }
    let (messages, lost) = (report.messages, report.lost);
    Ok(RecoveredTrace { path: name, messages, lost, missing_bytes })
}
