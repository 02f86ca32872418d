//! The sessions of this process that run.
//!
//! Threads look here only when the epoch says that something changed since they last looked.
//!
//! Invariants
//! - *epoch*: it changes with each start and stop, before any group's word tells of the start and after all words tell of
//!   the stop; then the limits of the other sessions' writers are cleared, so that every thread looks again before it
//!   writes with what it knew.
//! - Messages that a signal handler logs on the thread that holds the lock do not wait for it: they count as nested.

use super::core::Core;
use crate::fork;
use crate::level::{self, GroupInfo, set_session_levels};
use crate::sync::{AtomicU32, Ordering, fence};
use crate::sys::barrier;
use crate::writer::{self, Writer};
use std::ffi::{OsStr, OsString};
use std::os::unix::fs::MetadataExt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use std::{fs, io};

pub(crate) struct Running {
    cores: Vec<Arc<Core>>,
    files: Vec<FileId>,
}

/// Device and inode of a file; or of a directory, and what of it.
type FileId = (u64, u64, OsString);

static RUNNING: Mutex<Running> = Mutex::new(Running { cores: Vec::new(), files: Vec::new() });
static EPOCH: AtomicU32 = AtomicU32::new(1);

/// Changes whenever a session starts or stops.
pub(crate) fn epoch() -> u32 {
    EPOCH.load(Ordering::Acquire)
}

/// The sessions that run, and the epoch since which they do.
pub(crate) fn all() -> (u32, Vec<Arc<Core>>) {
    let running = lock();
    (epoch(), running.cores.clone())
}

/// Starts a session for the threads of the process.
pub(super) fn add(core: &Arc<Core>) {
    writer::aside(|| {
        let mut running = lock();
        running.cores.push(Arc::clone(core));
        running.announce();
        running.set_levels();
    });
    level::changed();
}

/// Stops a session for the threads of the process; those that are within a message may finish it.
pub(super) fn remove(core: &Arc<Core>) {
    writer::aside(|| {
        let mut running = lock();
        running.cores.retain(|other| !Arc::ptr_eq(other, core));
        running.set_levels();
        running.announce();
    });
    level::changed();
}

/// The levels (bit = severity) that a session may want of a group that is not known yet.
#[cfg(feature = "log")]
pub(crate) fn levels() -> u8 {
    writer::aside(|| lock().cores.iter().fold(0, |levels, core| levels | core.wanted.all_levels()))
}

/// Whether no writer but `writer` is within a message, after a barrier on all threads. Not where that can't be told at once;
/// allocates nothing, waits for nobody. Writers of a session that has ended are not asked: what they still finish is in
/// another trace than what `writer` writes.
pub(crate) fn is_alone(writer: &Writer) -> bool {
    writer::aside(|| {
        let Ok(running) = RUNNING.try_lock() else { return false };
        barrier::is_ready()
            && running.cores.iter().all(|core| core.has_few_writers())
            && barrier::heavy()
            && running.cores.iter().all(|core| core.is_quiet_but_for(writer))
    })
}

/// Runs `f` while `core` is one of the sessions that run, of which no thread is told.
#[cfg(test)]
pub(crate) fn beside<R>(core: &Arc<Core>, f: impl FnOnce() -> R) -> R {
    struct Remove<'a>(&'a Arc<Core>);
    impl Drop for Remove<'_> {
        fn drop(&mut self) {
            writer::aside(|| lock().cores.retain(|other| !Arc::ptr_eq(other, self.0)));
        }
    }
    writer::aside(|| lock().cores.push(Arc::clone(core)));
    let _remove = Remove(core);
    f()
}

/// Sees to it that the files of all sessions have what was logged until now, as far as that takes at most `limit` each.
pub(crate) fn flush(limit: Duration) {
    // Not while another thread has the lock: it may wait for this one.
    let cores =
        writer::aside(|| RUNNING.try_lock().map_or(Vec::new(), |running| running.cores.clone()));
    for core in cores {
        core.flush_within(limit);
    }
}

impl Running {
    /// Makes every thread look again.
    fn announce(&self) {
        EPOCH.fetch_add(1, Ordering::AcqRel);
        fence(Ordering::SeqCst);
        for core in &self.cores {
            core.close_writers();
        }
    }

    /// Makes the groups' words say what any of the sessions wants.
    fn set_levels(&self) {
        let cores = self.cores.clone();
        set_session_levels(move |group: &'static GroupInfo| {
            // A group may come with a library, whose texts no recording has yet.
            cores.iter().filter_map(|core| core.recorder.as_ref()).for_each(|to| to.images());
            cores.iter().fold(0, |levels, core| levels | core.levels(group))
        });
    }
}

/// Held around a fork, so that the child does not find the list in the middle of a change.
pub(crate) struct AroundFork(MutexGuard<'static, Running>);

impl AroundFork {
    /// Before the fork; none where this thread may be the one that has the lock.
    pub(crate) fn begin() -> Option<Self> {
        fork::lock_soon(&RUNNING).map(Self)
    }

    /// After it, in the child: the sessions are its parent's, and over here. The files stay in use, since the parent may
    /// still write them. Allocates nothing, waits for nobody.
    pub(crate) fn in_child(mut self) {
        let cores = std::mem::take(&mut self.0.cores);
        for core in &cores {
            core.abandon();
        }
        std::mem::forget(cores);
        EPOCH.fetch_add(1, Ordering::AcqRel);
    }
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
        metadata.is_file() && writer::aside(|| lock().files.contains(&id))
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
            let mut running = lock();
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
            let mut running = lock();
            if let Some(at) = running.files.iter().position(|id| *id == self.0) {
                running.files.swap_remove(at);
            }
        });
    }
}

fn file_id(metadata: &fs::Metadata) -> FileId {
    (metadata.dev(), metadata.ino(), OsString::new())
}

fn lock() -> MutexGuard<'static, Running> {
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}
