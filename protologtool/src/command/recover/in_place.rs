//! `recover` without `-o`: appends the packets of recordings to their trace files, as the program's
//! own recovery does.
//!
//! Invariants
//! - Nobody else has the recording or the trace, from the first look until the recording is gone:
//!   both are open, and locked as sessions lock theirs. So a program that starts meanwhile waits,
//!   or is refused, and loses nothing.
//! - Directories are found as those of outputs are, by way of no link of another user's that leads
//!   elsewhere (docs/design/outputs.md), and opened once. The files written and removed are those
//!   looked at, in the directory that they were found in, wherever the paths lead by then. The
//!   trace keeps owner and mode.
//! - Trace and recording are regular files of one user, and the trace has one name: another user
//!   may have given it more, in directories of theirs. The path in a recording is followed only if
//!   that user is this one, and to no link.
//! - The recording is removed when the trace is complete on the disk.

use crate::exit::Failure;
use crate::logs::rescue::{TRACE, no_recording, nothing_left, still_written};
use crate::logs::segment_names::{Segment, is_part};
use crate::output::{cant_read, cant_write, reason};
use crate::system::{System, has_record_lock, lock_record, os};
use protolog_files::{Access, Directory, Entry, FileExt, Status, read_with_holes, set_mode};
use protolog_reader::{FatalSignal, Recording, Recovered, TraceFile, complete, session_id};
use std::ffi::OsString;
use std::fs::{File, TryLockError};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

/// The part of a trace that has the id of its session, in bytes.
pub(super) const HEAD: u64 = 1 << 20;

/// The time to wait for others that look at the recording of a dead process for a moment, or
/// complete its trace; and between two looks.
const TIMEOUT: Duration = Duration::from_secs(5);
const POLL_INTERVAL: Duration = Duration::from_millis(5);

/// A trace file with the recording that completes it, both locked.
pub(super) struct Incomplete {
    place: FoundFile,
    trace: File,
    /// The number of bytes that stay.
    valid: u64,
    /// The bytes that follow them.
    rest: Vec<u8>,
    recording: LockedRecording,
}

/// A regular file that was looked at.
struct FoundFile {
    path: PathBuf,
    directory: Directory,
    name: OsString,
    entry: Entry,
}

/// A recording that no process records to, until this is dropped.
pub(super) struct LockedRecording {
    place: FoundFile,
    /// Holds the lock.
    _file: File,
}

impl LockedRecording {
    /// Removes it. The name may be that of another one by now, which stays.
    pub(super) fn remove(&self) -> Result<(), Failure> {
        let FoundFile { path, directory, name, entry } = &self.place;
        directory.remove(name, entry.identity()).map(drop).map_err(|error| {
            Failure::new(format!("can't remove `{}`: {}", path.display(), reason(&error)))
        })
    }
}

impl FoundFile {
    /// Looks at the file at `path`, which may be a link if `follow` is set.
    fn find(path: &Path, follow: bool) -> io::Result<Self> {
        let (directory, name) = if follow {
            Directory::trusted_holding_target(path)?
        } else {
            Directory::trusted_holding(path)?
        };
        let entry = directory.look(&name)?;
        if !entry.is_regular() {
            return Err(io::Error::other("it is no regular file"));
        }
        Ok(Self { path: path.to_owned(), directory, name, entry })
    }

    fn open(&self, access: Access) -> io::Result<File> {
        self.directory.open_entry(&self.name, &self.entry, access)
    }

    /// Opens the file for writing, also if it is a read-only one of this user: the trace of a run
    /// that crashed is marked so when the program starts again. Its mode is the same afterwards.
    fn open_to_write(&self) -> io::Result<File> {
        let marked = match self.open(Access::ReadWrite) {
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                self.open(Access::Read).map_err(|_| error)?
            }
            opened => return opened,
        };
        let mode = Status::of(&marked)?.mode() & 0o7777;
        set_mode(&marked, mode | 0o200)?;
        let opened = self.open(Access::ReadWrite);
        set_mode(&marked, mode)?;
        opened
    }

    /// True if the name is still that of the file.
    fn is_there(&self) -> bool {
        let there = self.directory.look(&self.name);
        there.is_ok_and(|there| there.identity() == self.entry.identity())
    }
}

/// A file that is made, or completed, beside its recording.
#[expect(clippy::large_enum_variant, reason = "there is one for each file that was named")]
pub(super) enum Left {
    Trace(Box<Incomplete>),
    Event(SignalledRecording),
}

/// The recording of a session that a fatal signal ended, and the trace that it makes.
pub(super) struct SignalledRecording {
    pub(super) recording: LockedRecording,
    pub(super) trace: Vec<u8>,
    pub(super) signal: FatalSignal,
}

/// Finds the packets that a named trace lacks, or a named recording has.
pub(super) fn find(named: &Path, system: &dyn System) -> Result<(Left, Recovered), Failure> {
    let failed = |error| cant_read(named, &error);
    let place = FoundFile::find(named, true).map_err(failed)?;
    let mut file = place.open(Access::Read).map_err(failed)?;
    let mut head = Vec::new();
    file.by_ref().take(HEAD).read_to_end(&mut head).map_err(failed)?;
    // To close it later would release the lock on the trace.
    drop(file);
    if !Recording::matches(&head) && head.first() == Some(&TRACE) {
        let nothing = || nothing_left(named);
        let recording = system.find_recording(named, session_id(&head)).ok_or_else(nothing)?;
        let recording = FoundFile::find(&recording, false).map_err(|_| nothing())?;
        let (recording, bytes) = lock_recording(recording, named)?.ok_or_else(nothing)?;
        let parsed = Recording::parse(&bytes).map_err(|_| nothing())?;
        // Of another segment, perhaps.
        let file = parsed.trace().filter(|file| file.is_at(named)).ok_or_else(nothing)?;
        let found = look(place, &recording, &parsed, &file)?.ok_or_else(nothing)?;
        let (trace, report) = found.of(recording);
        return Ok((Left::Trace(Box::new(trace)), report));
    }
    Recording::parse(&head).map_err(|error| no_recording(named, &head, error))?;
    find_of_recording(named)
}

/// Finds the trace that the recording at `path` completes, or the file that a fatal signal is to
/// have.
fn find_of_recording(path: &Path) -> Result<(Left, Recovered), Failure> {
    let shown = path.display();
    let help = "say where to write its trace, for example `-o crash.pftrace`";
    let completes_nothing =
        || Failure::new(format!("`{shown}` completes no trace file that is there")).help(help);
    let left_alone = |what: &str| {
        let text = format!("`{shown}` {what}, so the trace file that it names is left alone");
        Failure::new(text).help(help)
    };
    // It was a regular file a moment ago, by way of a link if there is one.
    let place = FoundFile::find(path, false).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => cant_read(path, &error),
        _ if protolog_files::Refused::of(&error).is_some() => cant_read(path, &error),
        _ => left_alone("is a link"),
    })?;
    if place.entry.owner() != os::user() {
        return Err(left_alone("belongs to another user"));
    }
    let (recording, bytes) = lock_recording(place, path)?.ok_or_else(completes_nothing)?;
    let parsed = Recording::parse(&bytes).map_err(|_| completes_nothing())?;
    if !parsed.streams() {
        if let Some(signal) = parsed.fatal_signal() {
            let mut trace = Vec::new();
            let report = parsed.write(&mut trace).map_err(|error| cant_read(path, &error))?;
            return Ok((Left::Event(SignalledRecording { recording, trace, signal }), report));
        }
        let text = format!("`{shown}` is of a session without a trace file");
        return Err(Failure::new(text).help(help));
    }
    let trace = parsed.trace().ok_or_else(completes_nothing)?;
    // A segment has its other name once it was complete.
    for at in [trace.path.clone(), trace.path.with_extension("")] {
        let place = FoundFile::find(&at, false).ok().filter(|_| trace.is_at(&at));
        let Some(place) = place else { continue };
        if let Some(found) = look(place, &recording, &parsed, &trace)? {
            let (trace, report) = found.of(recording);
            return Ok((Left::Trace(Box::new(trace)), report));
        }
    }
    Err(completes_nothing())
}

/// A trace that is locked, with the packets it lacks.
struct Lacking {
    place: FoundFile,
    trace: File,
    valid: u64,
    rest: Vec<u8>,
    report: Recovered,
}

impl Lacking {
    fn of(self, recording: LockedRecording) -> (Incomplete, Recovered) {
        let Self { place, trace, valid, rest, report } = self;
        (Incomplete { place, trace, valid, rest, recording }, report)
    }
}

/// Locks the trace and finds the packets it lacks; none if it is not the one of the recording.
fn look(
    place: FoundFile,
    recording: &LockedRecording,
    parsed: &Recording<'_>,
    file: &TraceFile,
) -> Result<Option<Lacking>, Failure> {
    let path = &*place.path.clone();
    if place.entry.owner() != recording.place.entry.owner() {
        return Ok(None);
    }
    if place.entry.links() > 1 {
        let (shown, links) = (path.display(), place.entry.links());
        let text = format!("`{shown}` has {links} names (hard links), so it is left alone");
        return Err(Failure::new(text).help("write a complete copy with `-o`"));
    }
    let failed = |error| cant_read(path, &error);
    let trace = place.open_to_write().map_err(|error| cant_write(path, &error))?;
    if !lock_trace(&trace) {
        return Err(still_written(path));
    }
    // The bytes after the valid ones are written again.
    let mut bytes = read_with_holes(&trace, 0, file.bytes).map_err(failed)?;
    let head = bytes.get(..HEAD as usize).unwrap_or(&bytes);
    if session_id(head) != parsed.header().session_id {
        return Ok(None);
    }
    let valid = file.bytes.min(bytes.len() as u64);
    let Some(report) = complete(&mut bytes, parsed) else { return Ok(None) };
    let report = report.map_err(failed)?;
    let rest = bytes.split_off(valid as usize);
    Ok(Some(Lacking { place, trace, valid, rest, report }))
}

impl Incomplete {
    pub(super) fn path(&self) -> &Path {
        &self.place.path
    }

    /// Completes the trace, gives it `mode` if there is one, and removes the recording. Returns the
    /// other name that a segment has then, if no file has it.
    pub(super) fn complete(&self, mode: Option<u32>) -> Result<Option<PathBuf>, Failure> {
        let write = || {
            self.trace.set_len(self.valid)?;
            self.trace.write_all_at(&self.rest, self.valid)?;
            if let Some(mode) = mode {
                set_mode(&self.trace, mode)?;
            }
            self.trace.sync_data()
        };
        write().map_err(|error| cant_write(self.path(), &error))?;
        self.recording.remove()?;
        Ok(self.rename_segment())
    }

    /// A name without `.part` is that of a complete file.
    fn rename_segment(&self) -> Option<PathBuf> {
        let FoundFile { path, directory, name, .. } = &self.place;
        let complete = Path::new(name).with_extension("").into_os_string();
        if !is_part(path) || Segment::of(path).is_none() || !self.place.is_there() {
            return None;
        }
        directory.rename_to_free(name, &complete).ok()?;
        Some(path.with_extension(""))
    }
}

/// Locks a recording and reads it; none if somebody removed it meanwhile. A failure if a process
/// records to it; `shown` is the file that was named.
fn lock_recording(
    place: FoundFile,
    shown: &Path,
) -> Result<Option<(LockedRecording, Vec<u8>)>, Failure> {
    let failed = |error| cant_read(&place.path, &error);
    let file = match place.open(Access::Read) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        file => file.map_err(failed)?,
    };
    let mut pid = [0; 4];
    file.read_exact_at(&mut pid, 16).map_err(failed)?;
    let begun = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) if !has_record_lock(&file) => break,
            Ok(()) => {}
            Err(TryLockError::Error(error)) => return Err(failed(error)),
            Err(TryLockError::WouldBlock) => {}
        }
        let process = format!("/proc/{}", u32::from_ne_bytes(pid));
        if Path::new(&process).exists() || begun.elapsed() > TIMEOUT {
            return Err(still_written(shown));
        }
        thread::sleep(POLL_INTERVAL);
    }
    if !place.is_there() {
        return Ok(None);
    }
    let bytes = read_with_holes(&file, 0, Recording::MAX_BYTES).map_err(failed)?;
    Ok(Some((LockedRecording { place, _file: file }, bytes)))
}

/// Locks a trace in both ways that sessions look for; false if somebody else has it. Where a file
/// system has no locks, nobody has it.
///
/// Any reader of the trace can have a lock on it, and keep it: where that may be another user, it
/// is enough that nobody has the lock of those who write it. The recording, which is private, keeps
/// away other programs that complete it.
fn lock_trace(trace: &File) -> bool {
    let is_shared = Status::of(trace).map_or(true, |found| found.mode() & 0o077 != 0);
    let is_marked = matches!(trace.try_lock(), Err(TryLockError::WouldBlock));
    let is_locked = lock_record(trace, true) || is_shared && lock_record(trace, false);
    is_locked && (is_shared || !is_marked)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{self, Permissions};
    use std::os::unix::fs::{PermissionsExt, symlink};

    #[test]
    fn a_reader_keeps_nobody_from_completing_a_trace() {
        let temporary = protolog_testkit::temp_dir();
        let path = temporary.path().join("app.pftrace");
        for (mode, is_completed) in [(0o644, true), (0o600, false)] {
            fs::write(&path, "").unwrap();
            fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
            let reader = File::open(&path).unwrap();
            reader.try_lock().unwrap();
            assert_eq!(lock_trace(&File::options().write(true).open(&path).unwrap()), is_completed);
        }
    }

    #[test]
    fn what_is_completed_and_removed_is_what_was_found() {
        let temporary = protolog_testkit::temp_dir();
        let [run, moved, other] = ["run", "moved", "other"].map(|it| temporary.path().join(it));
        for directory in [&run, &other] {
            fs::create_dir(directory).unwrap();
        }
        for name in ["app.pftrace", "app.rec"] {
            fs::write(run.join(name), name).unwrap();
            // The same file, in a directory that another user leads the path to.
            fs::hard_link(run.join(name), other.join(name)).unwrap();
        }
        let place = FoundFile::find(&run.join("app.rec"), false).unwrap();
        let file = place.open(Access::Read).unwrap();
        let trace = FoundFile::find(&run.join("app.pftrace"), false).unwrap();
        let incomplete = Incomplete {
            trace: trace.open(Access::ReadWrite).unwrap(),
            place: trace,
            valid: 3,
            rest: b"lete".to_vec(),
            recording: LockedRecording { place, _file: file },
        };
        fs::rename(&run, &moved).unwrap();
        symlink(&other, &run).unwrap();
        incomplete.complete(None).unwrap();
        assert_eq!(fs::read(moved.join("app.pftrace")).unwrap(), b"applete");
        assert!(!moved.join("app.rec").exists() && other.join("app.rec").exists());
    }
}
