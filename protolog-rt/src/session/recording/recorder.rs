//! A recording: a session's buffer in a file, with all that is needed to read it when the process
//! is dead.
//!
//! The buffer is a ring with the newest messages, or that of a session that streams to a trace
//! file: then the recording completes that file ([`crate::session::recording::progress`]).
//!
//! Nothing has to happen at a crash: chunks are mapped from the file, so a message is in it the
//! moment it is committed, and texts are there before the first message that needs them
//! ([`crate::session::recording::state`]).
//!
//! Invariant: a forked child touches the file only through chunks that a thread had when it was
//! forked, and closes it: the mark of a living process is the parent's.

use crate::error::Error;
use crate::session::file::claim;
use crate::session::file::claim::Claim;
use crate::session::file::file_place::FilePlace;
use crate::session::file::temporary;
use crate::session::recording::form::{BufferForm, Buffers, Layout, POSITIONS_SIZE};
use crate::session::recording::state::{MetadataStore, RecordingState};
use crate::sync::{AtomicBool, AtomicU32, Ordering};
use crate::sys::close_on_fork::CloseOnFork;
use crate::sys::create::{PRIVATE, random};
use crate::sys::fatal::SignalMarks;
use crate::sys::growing;
use crate::sys::mapping::{DirtyPages, Mapping};
use crate::sys::process::asked_id;
use crate::sys::thread::without_write_signals;
use crate::sys::{RENAMES_MAPPED, file, process};
use protolog_core::FillPolicy;
use protolog_core::recorder::{
    EVENT_FILES_AT, Header, MAX_EVENT_PATH, NEEDLESS, PINNED_RING_AT, PinnedRing, RING_AT,
    SESSION_ID_AT,
};
use protolog_files::{FileExt, Identity, Location, Status};
use protolog_recording::memory;
use protolog_shmem::{Buffer, Memory, PAGE};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::{io, iter};

/// The number of names to try if earlier recordings exist.
const NAMES: u32 = 10_000;

/// The place of a recording.
#[derive(Clone, Debug)]
pub(in crate::session) enum RecordingPath {
    /// A new file in memory.
    Memory,
    /// This file.
    At(PathBuf),
    /// A new file beside this trace.
    Beside(FilePlace),
}

/// A recording without its ring buffer. See the module.
#[derive(Debug)]
pub(crate) struct Recorder {
    path: PathBuf,
    /// Where it is.
    place: Location,
    /// As it was when the file was made.
    id: Identity,
    file: Arc<ClaimedFile>,
    /// It was said that the file is gone.
    is_deletion_reported: AtomicBool,
    state: Arc<RecordingState>,
    /// Those of all that is mapped, but for a stream's.
    dirty_pages: Vec<DirtyPages>,
    /// The marks of fatal signals, if the session waits for such, and whether the recording is
    /// there for nothing else.
    marks: OnceLock<(SignalMarks, bool)>,
}

/// The recording of a session, where it has one: in a file, or in memory that ends with the
/// process.
#[derive(Debug, Default)]
pub(in crate::session) struct Recorded {
    pub(in crate::session) recorder: Option<Arc<Recorder>>,
    /// Also that of the recorder.
    pub(in crate::session) state: Option<Arc<RecordingState>>,
}

impl From<Arc<Recorder>> for Recorded {
    fn from(recorder: Arc<Recorder>) -> Self {
        let state = Some(Arc::clone(&recorder.state));
        Self { recorder: Some(recorder), state }
    }
}

/// The file of a recording, with the mark of the living process.
#[derive(Debug)]
struct ClaimedFile {
    /// Before `claim`, so that it is closed first.
    file: CloseOnFork<File>,
    /// None once the file is left for recovery.
    claim: Mutex<Option<Claim>>,
}

/// The metadata at the end of the file.
#[derive(Debug)]
struct MetadataFile {
    file: Arc<ClaimedFile>,
    /// The offset in the file.
    start: u64,
}

impl Recorder {
    /// Creates a recording.
    pub(in crate::session) fn create(
        place: &RecordingPath,
        form: BufferForm<'_>,
    ) -> Result<(Arc<Self>, Buffers), Error> {
        let (file, place, path) = match place {
            RecordingPath::Memory => {
                let any = memory().join("any");
                create_in(&Location::of(&any).map_err(failed(&any))?, &any)?
            }
            RecordingPath::Beside(trace) => {
                create_in(trace.location().map_err(failed(trace.path()))?, trace.path())?
            }
            RecordingPath::At(path) => return Self::create_at(path, form),
        };
        let id = Identity::of_file(&file).map_err(failed(&path))?;
        let made = Self::fill(file, (place.clone(), path.clone(), id), form, || Ok(()));
        made.inspect_err(|_| _ = place.remove_entry(id))
    }

    /// Creates the file at `path`, for this user only. An existing one, of an earlier run, is
    /// renamed once there is room for the new one: where there is none, all stay as they were.
    fn create_at(path: &Path, form: BufferForm<'_>) -> Result<(Arc<Self>, Buffers), Error> {
        let place = Location::of(path).map_err(failed(path))?;
        place.check_file_or_missing().map_err(failed(path))?;
        if Claim::is_taken_at(&place, None) {
            return Err(Error::FileInUse { path: path.to_path_buf() });
        }
        let mut new = None;
        let create = || {
            let (file, at) = temporary::create(&place, PRIVATE)?;
            new = Some(at);
            Ok(file)
        };
        let file = CloseOnFork::new(create).map_err(failed(path))?;
        let new = new.ok_or_else(|| failed(path)(io::ErrorKind::NotFound.into()))?;
        let id = Identity::of_file(&file).map_err(failed(path))?;
        let name = || {
            make_way(&place, path)?;
            new.rename_to_free(place.name()).map_err(failed(path))
        };
        let made = Self::fill(file, (place.clone(), path.to_path_buf(), id), form, name);
        if made.is_err() {
            let _ = new.remove_entry(id);
            let _ = place.remove_entry(id);
        }
        made
    }

    /// Makes the recording in a new file, which gets its name by `name`: once it is complete, if
    /// the system can rename it then.
    fn fill(
        file: CloseOnFork<File>,
        at: (Location, PathBuf, Identity),
        form: BufferForm<'_>,
        name: impl FnOnce() -> Result<(), Error>,
    ) -> Result<(Arc<Self>, Buffers), Error> {
        let path = at.1.clone();
        let failed = failed(&path);
        let layout = Layout::of(form);
        let (claim, first) = allocate(&file, &layout, form.fill_policy).map_err(&failed)?;
        if RENAMES_MAPPED {
            let made = Self::map(file, claim, at, form, (layout, first)).map_err(failed)?;
            name().map(|()| made)
        } else {
            name()?;
            Self::map(file, claim, at, form, (layout, first)).map_err(failed)
        }
    }

    /// Makes the recording in a file that has room for it.
    fn map(
        file: CloseOnFork<File>,
        claim: Claim,
        (place, path, id): (Location, PathBuf, Identity),
        form: BufferForm<'_>,
        (Layout { header: head, ring, pinned }, first): (Layout, usize),
    ) -> io::Result<(Arc<Self>, Buffers)> {
        let mut dirty_pages = Vec::new();
        let mut map = |file: &File, at, len| -> io::Result<Memory> {
            let mapping = Mapping::shared(file, at, len)?;
            dirty_pages.push(mapping.dirty_pages());
            Ok(Memory::new(mapping))
        };
        let header = map(&file, 0, RING_AT)?;
        let positions_at = Some(head.positions_at as usize).filter(|at| *at != 0);
        let positions = positions_at
            .map(|at| Mapping::shared_untouched(&file, at, POSITIONS_SIZE as usize))
            .transpose()?
            .map(Memory::new);
        let file = Arc::new(ClaimedFile { file, claim: Mutex::new(Some(claim)) });
        let main = if form.fill_policy == FillPolicy::Stream {
            growing::in_file((&file.file, RING_AT), (ring, first), file.allocator())?
        } else {
            Buffer::new(map(&file.file, RING_AT, ring)?, form.fill_policy)
        };
        let ring_of_pinned = |it: PinnedRing| -> io::Result<Buffer> {
            let memory = map(&file.file, it.at as usize, it.pages as usize * PAGE)?;
            Ok(Buffer::new(memory, form.fill_policy))
        };
        let pinned = pinned.map(ring_of_pinned).transpose()?;
        let store = MetadataFile { file: Arc::clone(&file), start: head.metadata_at };
        let state = RecordingState::new(header, pinned.is_some(), positions, Box::new(store));
        state.begin(&form.session_id, form.filter);
        let (is_deletion_reported, marks) = (AtomicBool::new(false), OnceLock::new());
        let state = Arc::new(state);
        let recorder =
            Self { path, place, id, file, is_deletion_reported, state, dirty_pages, marks };
        Ok((Arc::new(recorder), Buffers { main, pinned }))
    }

    /// Has fatal signals leave marks from now on, for files beside `files`. `is_all`: the recording
    /// is there for nothing else.
    pub(in crate::session) fn mark_signals(&self, files: &Path, is_all: bool) -> Result<(), Error> {
        let path = files.as_os_str().as_encoded_bytes();
        if path.len() > MAX_EVENT_PATH {
            return Err(failed(files)(io::Error::other("its path is too long for a recording")));
        }
        self.state
            .store_bytes(EVENT_FILES_AT, &[&(path.len() as u16).to_ne_bytes(), path].concat());
        let marks = SignalMarks::new(&self.file.file).map_err(Error::Resources)?;
        let _ = self.marks.set((marks, is_all));
        Ok(())
    }

    /// Returns the path of the file.
    pub(in crate::session) fn path(&self) -> &Path {
        &self.path
    }

    /// Removes the file, of which nobody needs anything. Where this user may not, since the program
    /// gave up its privileges, it is marked as needless, and the program's next session that may
    /// removes it.
    pub(in crate::session) fn remove(&self) -> Result<(), Error> {
        match self.place.remove_in_use(self.id) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                self.state.store_bytes(SESSION_ID_AT, &NEEDLESS);
                Ok(())
            }
            removed => {
                removed.map_err(failed(&self.path))?;
                // It may stay open and mapped for a while, and its id be another one's by then.
                drop(self.file.claim.lock().unwrap_or_else(PoisonError::into_inner).take());
                Ok(())
            }
        }
    }

    /// Returns whether somebody has deleted the file since it was made, once.
    pub(in crate::session) fn take_deletion(&self) -> bool {
        let found = self.file.file.if_open().and_then(|file| Status::of(file).ok());
        found.is_some_and(|found| found.nlink() == 0)
            && !self.is_deletion_reported.swap(true, Ordering::Relaxed)
    }

    /// Returns whether it is there only for what a fatal signal leaves of the session.
    pub(in crate::session) fn is_for_signals(&self) -> bool {
        self.marks.get().is_some_and(|(_, is_all)| *is_all)
    }

    /// Leaves the file for recovery.
    pub(in crate::session) fn leave(&self) {
        let _ = self.file.file.if_open().map(file::release);
        drop(self.file.claim.lock().unwrap_or_else(PoisonError::into_inner).take());
    }

    /// Returns whether it was [left](Self::leave).
    pub(in crate::session) fn is_left(&self) -> bool {
        self.file.claim.lock().unwrap_or_else(PoisonError::into_inner).is_none()
    }

    /// Waits until all that was logged so far is on the disk, if the file is on one.
    pub(in crate::session) fn sync(&self) -> Result<(), Error> {
        self.state.write_module_texts();
        self.dirty_pages.iter().try_for_each(DirtyPages::write).map_err(failed(&self.path))?;
        self.file.file.sync_data().map_err(failed(&self.path))
    }
}

impl ClaimedFile {
    /// Allocates more of the buffer, as long as the recording is there: where, and how many bytes.
    fn allocator(self: &Arc<Self>) -> impl Fn(usize, usize) -> bool + Send + Sync + 'static {
        let file = Arc::downgrade(self);
        move |at, len| {
            let Some(file) = file.upgrade() else { return false };
            file.file.if_open().is_some_and(|file| file::reserve(file, RING_AT + at, len))
        }
    }
}

/// Claims a new file and gives it room for all, with its header. Returns the bytes of the buffer
/// that are there from the start, too.
fn allocate(
    file: &File,
    Layout { header: head, ring, pinned }: &Layout,
    fill_policy: FillPolicy,
) -> io::Result<(Claim, usize)> {
    let in_use = || io::Error::from(io::ErrorKind::WouldBlock);
    let claim = Claim::new(file)?.ok_or_else(in_use)?;
    file::claim(file)?;
    // Also the part that is not mapped, so that the progress of a stream can always be written.
    let first = first_part(file, head, *ring, fill_policy);
    file::allocate(file, RING_AT + ring, head.metadata_at as usize - RING_AT - ring)?;
    file::allocate(file, 0, RING_AT + first)?;
    file.write_all_at(&head.to_bytes(), 0)?;
    if let Some(pinned) = pinned {
        file.write_all_at(&pinned.to_bytes(), PINNED_RING_AT as u64)?;
    }
    Ok((claim, first))
}

/// The bytes of a buffer of `ring` bytes that are allocated at once: all, unless it is that of a
/// stream, and the file system has room for all and can allocate more later.
fn first_part(file: &File, head: &Header, ring: usize, fill_policy: FillPolicy) -> usize {
    let first = growing::first_of(ring);
    let grows = fill_policy == FillPolicy::Stream
        && first < ring
        && file::has_free(file, head.metadata_at as usize)
        && file::reserve(file, RING_AT, first);
    if grows { first } else { ring }
}

impl MetadataStore for MetadataFile {
    fn write(&self, _: &Memory, used: u64, record: &[u8]) -> bool {
        let at = self.start + used;
        let write = |file: &File| without_write_signals(|| file.write_all_at(record, at)).ok();
        self.file.file.if_open().and_then(write).is_some()
    }

    fn is_file(&self) -> bool {
        true
    }
}

/// Creates a file beside `beside`, which has this path, for this user only.
fn create_in(
    beside: &Location,
    path: &Path,
) -> Result<(CloseOnFork<File>, Location, PathBuf), Error> {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let (program, pid) = (program(), asked_id());
    let numbers = (0..NAMES).map(|_| NUMBER.fetch_add(1, Ordering::Relaxed).into());
    // A user who may make files there can have taken all of these names, but not one that nobody
    // knows in advance.
    for number in numbers.chain(iter::once_with(random)) {
        let name = format!("protolog-{program}-{pid}-{number}.rec");
        let path = path.with_file_name(&name);
        let place = beside.sibling(&name).map_err(failed(&path))?;
        match CloseOnFork::new(|| place.create_new(PRIVATE)) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            result => return Ok((result.map_err(failed(&path))?, place, path)),
        }
    }
    Err(failed(path)(io::ErrorKind::AlreadyExists.into()))
}

/// Renames the file at `place`, of an earlier run, if there is one.
fn make_way(place: &Location, path: &Path) -> Result<(), Error> {
    if !place.is_taken().map_err(failed(path))? {
        return Ok(());
    }
    let held = claim::hold(place, path)?;
    let mut old = place.name().to_owned();
    old.push(".old");
    let old = path.with_file_name(old);
    match &held {
        Some(held) => claim::rename(held.file(), place, &old, true),
        // It can't be read.
        None => {
            let name = old.file_name().unwrap_or_default();
            place.rename_to_free(name).map_err(failed(&old))
        }
    }
}

fn failed(path: &Path) -> impl Fn(io::Error) -> Error {
    let path = path.to_path_buf();
    move |error| Error::File { path: path.clone(), error }
}

/// Returns the program's name, with characters that a file's name can have.
pub(in crate::session) fn program() -> String {
    let good = |c: char| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '_' };
    process::program().chars().take(64).map(good).collect()
}
