//! `recover` without `-o`: appends to trace files what their recordings have, as the program's own recovery does.
//!
//! Invariants
//! - Nobody else has the recording or the trace, from the first look until the recording is gone: both are open, and locked as
//!   sessions lock theirs. So a program that starts meanwhile waits, or is refused, and loses nothing.
//! - What is written is the file that was looked at, whatever its name leads to by now. It keeps owner and mode.
//! - Trace and recording are regular files of one user. The path in a recording is followed only if that user is this one, and to no
//!   link.
//! - The recording is removed when the trace is complete on the disk.

use super::TRACE;
use crate::exit::Failure;
use crate::output::{cant_read, cant_write, reason};
use crate::system::{System, has_record_lock};
use protolog_reader::{Recording, Recovered, TraceFile, complete, session_id};
use rustix::fs::{FlockOperation, OFlags, fcntl_lock};
use rustix::io::Errno;
use std::fs::{self, File, OpenOptions, Permissions, TryLockError};
use std::io::{self, Read};
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

/// The part of a trace that has the id of its session, in bytes.
const HEAD: u64 = 1 << 20;

/// The time to wait for others that look at the recording of a dead process for a moment, or complete its trace; and between two looks.
const TIMEOUT: Duration = Duration::from_secs(5);
const POLL_INTERVAL: Duration = Duration::from_millis(5);

/// A trace file with what completes it, both locked.
pub(super) struct Incomplete {
    path: PathBuf,
    trace: File,
    /// The number of bytes that stay.
    valid: u64,
    /// The bytes that follow them.
    rest: Vec<u8>,
    recording_path: PathBuf,
    recording: File,
}

/// Finds what the file that was named, a trace or a recording, lacks or has.
pub(super) fn find(named: &Path, system: &dyn System) -> Result<(Incomplete, Recovered), Failure> {
    let mut file = open(named, true, false).map_err(|error| cant_read(named, &error))?;
    let mut head = Vec::new();
    let read = file.by_ref().take(HEAD).read_to_end(&mut head);
    read.map_err(|error| cant_read(named, &error))?;
    // To close it later would release the lock on the trace.
    drop(file);
    if !Recording::matches(&head) && head.first() == Some(&TRACE) {
        let nothing = || nothing_left(named);
        let recording = system.find_recording(named, session_id(&head)).ok_or_else(nothing)?;
        let (recording_file, bytes) = lock_recording(&recording, named)?.ok_or_else(nothing)?;
        let parsed = Recording::parse(&bytes).map_err(|_| nothing())?;
        // Of another segment, perhaps.
        let file = parsed.trace().filter(|file| file.is_at(named)).ok_or_else(nothing)?;
        let found = (recording.as_path(), recording_file, &parsed, &file);
        return look(named, true, found)?.ok_or_else(nothing);
    }
    Recording::parse(&head).map_err(|error| {
        Failure::new(format!("can't recover `{}`: {error}", named.display())).help(error.help())
    })?;
    find_of_recording(named)
}

/// Finds the trace that the recording at `path` completes.
fn find_of_recording(path: &Path) -> Result<(Incomplete, Recovered), Failure> {
    let shown = path.display();
    let help = "say where to write its trace, for example `-o crash.pftrace`";
    let completes_nothing =
        || Failure::new(format!("`{shown}` completes no trace file that is there")).help(help);
    let user = fs::metadata("/proc/self").map_err(|error| cant_read(Path::new("/proc"), &error))?;
    let found = fs::symlink_metadata(path).map_err(|error| cant_read(path, &error))?;
    if !found.is_file() || found.uid() != user.uid() {
        let what = if found.is_file() { "belongs to another user" } else { "is a link" };
        let text = format!("`{shown}` {what}, so the trace file that it names is left alone");
        return Err(Failure::new(text).help(help));
    }
    let (file, bytes) = lock_recording(path, path)?.ok_or_else(completes_nothing)?;
    let parsed = Recording::parse(&bytes).map_err(|_| completes_nothing())?;
    if !parsed.streams() {
        let text = format!("`{shown}` is of a session without a trace file");
        return Err(Failure::new(text).help(help));
    }
    let trace = parsed.trace().ok_or_else(completes_nothing)?;
    // A segment has its other name once it was complete.
    for at in [trace.path.clone(), trace.path.with_extension("")] {
        if trace.is_at(&at) && fs::symlink_metadata(&at).is_ok_and(|it| it.is_file()) {
            let file = file.try_clone().map_err(|error| cant_read(path, &error))?;
            if let Some(found) = look(&at, false, (path, file, &parsed, &trace))? {
                return Ok(found);
            }
        }
    }
    Err(completes_nothing())
}

/// Locks the trace at `path` and finds what it lacks; none if it is not the one of the recording.
fn look(
    path: &Path,
    follow: bool,
    (recording_path, recording, parsed, file): (&Path, File, &Recording<'_>, &TraceFile),
) -> Result<Option<(Incomplete, Recovered)>, Failure> {
    let failed = |error| cant_read(path, &error);
    let trace = open(path, follow, true).map_err(|error| cant_write(path, &error))?;
    let owner = |file: &File| file.metadata().map(|metadata| metadata.uid());
    if owner(&trace).map_err(failed)? != owner(&recording).map_err(failed)? {
        return Ok(None);
    }
    if !lock_trace(&trace) {
        return Err(still_written(path));
    }
    let mut bytes = Vec::new();
    (&trace).read_to_end(&mut bytes).map_err(failed)?;
    let head = bytes.get(..HEAD as usize).unwrap_or(&bytes);
    if session_id(head) != parsed.header().session_id {
        return Ok(None);
    }
    let valid = file.bytes.min(bytes.len() as u64);
    let Some(report) = complete(&mut bytes, parsed) else { return Ok(None) };
    let report = report.map_err(failed)?;
    let rest = bytes.split_off(valid as usize);
    let (path, recording_path) = (path.into(), recording_path.into());
    Ok(Some((Incomplete { path, trace, valid, rest, recording_path, recording }, report)))
}

impl Incomplete {
    /// Completes the trace, gives it `mode` if there is one, and removes the recording.
    pub(super) fn complete(&self, mode: Option<u32>) -> Result<(), Failure> {
        let write = || {
            self.trace.set_len(self.valid)?;
            self.trace.write_all_at(&self.rest, self.valid)?;
            if let Some(mode) = mode {
                self.trace.set_permissions(Permissions::from_mode(mode))?;
            }
            self.trace.sync_data()
        };
        write().map_err(|error| cant_write(&self.path, &error))?;
        // The name may be that of another one by now.
        if !is_at(&self.recording, &self.recording_path) {
            return Ok(());
        }
        fs::remove_file(&self.recording_path).map_err(|error| {
            let shown = self.recording_path.display();
            Failure::new(format!("can't remove `{shown}`: {}", reason(&error)))
        })
    }
}

/// Opens a recording, locks it and reads it; none if somebody removed it meanwhile. A failure if a process records to it; `shown` is
/// the file that was named.
fn lock_recording(path: &Path, shown: &Path) -> Result<Option<(File, Vec<u8>)>, Failure> {
    let failed = |error| cant_read(path, &error);
    let file = match open(path, false, false) {
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
    if !is_at(&file, path) {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    (&file).take(Recording::MAX_BYTES).read_to_end(&mut bytes).map_err(failed)?;
    Ok(Some((file, bytes)))
}

/// Locks a trace in both ways that sessions look for; false if somebody else has it. Where a file system has no locks, nobody has it.
fn lock_trace(trace: &File) -> bool {
    let is_free = !matches!(trace.try_lock(), Err(TryLockError::WouldBlock));
    let locked = fcntl_lock(trace, FlockOperation::NonBlockingLockExclusive);
    is_free && !matches!(locked, Err(Errno::AGAIN | Errno::ACCESS))
}

/// Opens a regular file, never waiting; by way of a link if `follow` is set.
fn open(path: &Path, follow: bool, write: bool) -> io::Result<File> {
    let found = if follow { fs::metadata(path) } else { fs::symlink_metadata(path) };
    // Before it is opened: to open a device may have effects.
    let not_regular = || io::Error::other("it is no regular file");
    if !found?.is_file() {
        return Err(not_regular());
    }
    let no_link = if follow { OFlags::empty() } else { OFlags::NOFOLLOW };
    let flags = (no_link | OFlags::NONBLOCK | OFlags::NOCTTY).bits() as i32;
    let file = OpenOptions::new().read(true).write(write).custom_flags(flags).open(path)?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(not_regular()) }
}

/// True if `path` is still a name of the file, and not by way of a link.
fn is_at(file: &File, path: &Path) -> bool {
    let id = |found: fs::Metadata| (found.dev(), found.ino());
    let there = fs::symlink_metadata(path).map(id);
    matches!((file.metadata().map(id), there), (Ok(id), Ok(there)) if id == there)
}

pub(super) fn still_written(path: &Path) -> Failure {
    let shown = path.display();
    let help = format!(
        "wait until its process has ended; `protologtool read-log {shown}` shows what is there"
    );
    Failure::new(format!("`{shown}` is still being written")).help(help)
}

pub(super) fn nothing_left(path: &Path) -> Failure {
    Failure::new(format!("nothing is left that completes `{}`", path.display()))
        .help("read it as it is, with `protologtool read-log`")
}
