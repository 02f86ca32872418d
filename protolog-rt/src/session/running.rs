//! The sessions of this process that run, and the files that they write.
//!
//! Their writers are found in [`crate::writer::running`]; this list is for who asks sessions for something: operators, and
//! panics, which want what was logged to be in files.
//!
//! Invariant: a file is written by one session of the process at a time.

use super::core::Core;
use crate::seen;
use crate::sys::fork::{ForkLock, Order};
use crate::writer;
use std::ffi::{OsStr, OsString};
use std::os::unix::fs::MetadataExt;
use std::sync::Arc;
use std::time::Duration;
use std::{fs, io};

pub(crate) struct Running {
    sessions: Vec<Arc<Core>>,
    files: Vec<FileId>,
}

/// Device and inode of a file; or of a directory, and a name in it.
type FileId = (u64, u64, OsString);

static RUNNING: ForkLock<Running> = ForkLock::with_child(
    Order::Sessions,
    Running { sessions: Vec::new(), files: Vec::new() },
    forget_sessions,
);

/// Returns the sessions that run.
pub(crate) fn all() -> Vec<Arc<Core>> {
    writer::aside(|| RUNNING.lock().sessions.clone())
}

/// Starts a session for the threads of the process.
pub(super) fn add(core: &Arc<Core>) {
    writer::aside(|| RUNNING.lock().sessions.push(Arc::clone(core)));
    writer::running::add(Arc::clone(&core.arbiter));
}

/// Gives the session's recording the messages interned at run time, those known and those to come.
pub(super) fn attach_recorder(core: &Core) {
    if let Some(recorder) = &core.owner.recorder {
        seen::attach(Arc::clone(recorder) as Arc<dyn seen::Listener>);
    }
}

/// Ends what [`attach_recorder`] and [`add`] began for the session's recording.
pub(super) fn detach_recorder(core: &Core) {
    if let Some(recorder) = &core.owner.recorder {
        seen::detach(&(Arc::clone(recorder) as Arc<dyn seen::Listener>));
        writer::running::end_mirror(&core.arbiter);
    }
}

/// Stops a session for the threads of the process; those that are within a message may finish it.
pub(super) fn remove(core: &Arc<Core>) {
    writer::running::remove(&core.arbiter);
    writer::aside(|| RUNNING.lock().sessions.retain(|other| !Arc::ptr_eq(other, core)));
}

/// Writes what was logged until now to the files of all sessions, as far as that takes at most `limit` each.
pub(crate) fn flush(limit: Duration) {
    // Not while another thread has the lock: it may wait for this one.
    let sessions =
        writer::aside(|| RUNNING.try_lock().map_or(Vec::new(), |running| running.sessions.clone()));
    for session in sessions {
        session.flush_within(limit);
    }
}

/// In a forked child the sessions are its parent's. The files stay in use, since the parent may still write them.
fn forget_sessions(running: &mut Running) {
    // Dropping them might wait for somebody.
    std::mem::forget(std::mem::take(&mut running.sessions));
}

/// A file that one session writes, and no other one may.
#[derive(Debug)]
pub(super) struct Claim(FileId);

impl Claim {
    /// Claims a file; none where another session has it. Devices, such as terminals, are anybody's.
    pub(super) fn new(file: &fs::File) -> io::Result<Option<Self>> {
        let metadata = file.metadata()?;
        Ok(Self::of(file_id(&metadata), metadata.is_file()))
    }

    /// Whether another session has this file.
    pub(super) fn is_taken(metadata: &fs::Metadata) -> bool {
        let id = file_id(metadata);
        metadata.is_file() && writer::aside(|| RUNNING.lock().files.contains(&id))
    }

    /// Claims what is called `name` in a directory; none where another session has it.
    pub(super) fn named(directory: &fs::Metadata, name: &OsStr) -> io::Result<Option<Self>> {
        if !directory.is_dir() {
            return Err(io::ErrorKind::NotADirectory.into());
        }
        Ok(Self::of((directory.dev(), directory.ino(), name.to_owned()), true))
    }

    fn of(id: FileId, alone: bool) -> Option<Self> {
        writer::aside(|| {
            let mut running = RUNNING.lock();
            if alone && running.files.contains(&id) {
                return None;
            }
            running.files.push(id.clone());
            Some(Self(id))
        })
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        writer::aside(|| {
            let mut running = RUNNING.lock();
            if let Some(at) = running.files.iter().position(|id| *id == self.0) {
                running.files.swap_remove(at);
            }
        });
    }
}

fn file_id(metadata: &fs::Metadata) -> FileId {
    (metadata.dev(), metadata.ino(), OsString::new())
}
