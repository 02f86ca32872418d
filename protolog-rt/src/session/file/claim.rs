//! Claims on files: a file is written by one session, recording or text sink at a time, and
//! replaced by none meanwhile.
//!
//! Within the process a table says which session has which file. Other processes, and other copies
//! of this library in this one, see a lock on it ([`FileLock`]), and on a recording the mark of a
//! living process (`flock`), too. A session that keeps its messages claims the name of its file,
//! since the file itself appears only at the end; other processes can't see that claim.
//!
//! Any user who may read a file can have a lock on it, and keep it for ever: locks
//! like those of readers ([`FileLock::shared`]), and marks. So marks count on private files only,
//! which recordings are; and where a reader's lock is all that is in the way of a claim
//! ([`Claim::is_obstructed`]), a session takes another file: nobody writes that one.
//!
//! A claim on a file that this process has not open counts for nothing. A file is closed a moment
//! before its claim is given up, and if it was removed or replaced, the next new file may have its
//! inode. In a forked child the files of its parent stay claimed, which may still write them, but
//! for recordings, which are closed there.
//!
//! Invariant: *closed first*: a holder of a claim that closes the file does so before the claim
//! goes, or a lock of the process on the file, which programs in Java have, would go with it.

use crate::error::Error;
use crate::session::file::file_place::FilePlace;
use crate::sys::file::{is_claimed, is_open, not_found};
use crate::sys::file_lock::FileLock;
use crate::sys::fork::{ForkLock, Order};
use crate::writer;
use protolog_files::{Location, Status, look};
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::path::Path;

/// The object of a claim.
#[derive(Clone, Debug, PartialEq, Eq)]
enum FileId {
    /// Device and inode of a file.
    File(u64, u64),
    /// Device and inode of a directory, and the name of a file that will be in it.
    Name(u64, u64, OsString),
    /// The same for the name that segments are derived from.
    Segments(u64, u64, OsString),
}

/// The attempts to give a file a name while others create and remove files there.
const ATTEMPTS: usize = 3;

static CLAIMED: ForkLock<Table> =
    ForkLock::new(Order::TraceFiles, Table { next: 0, entries: Vec::new() });

/// The claims of this process.
#[derive(Debug)]
struct Table {
    /// The number of the next entry.
    next: u64,
    entries: Vec<(u64, FileId)>,
}

impl Table {
    fn has(&self, id: &FileId) -> bool {
        self.number(id).is_some()
    }

    /// Returns the number of the claim on `id`.
    fn number(&self, id: &FileId) -> Option<u64> {
        let entry = self.entries.iter().find(|(_, claimed)| claimed == id);
        entry.map(|(number, _)| *number)
    }

    fn add(&mut self, id: FileId) -> Claim {
        let claim = Claim { number: self.next, id: id.clone(), lock: None };
        self.entries.push((claim.number, id));
        self.next += 1;
        claim
    }

    fn remove(&mut self, number: u64) {
        if let Some(at) = self.entries.iter().position(|entry| entry.0 == number) {
            self.entries.swap_remove(at);
        }
    }
}

/// The right of one session to write a file.
#[derive(Debug)]
pub(crate) struct Claim {
    /// That of its entry, which is not told by the file: somebody else may have a claim on its
    /// inode by the time it is given up.
    number: u64,
    id: FileId,
    /// On a file.
    lock: Option<FileLock>,
}

impl Claim {
    /// Claims a file that is open for writing, and locks it against other processes; none if
    /// somebody else has it. Devices, such as terminals, may be shared.
    pub(crate) fn new(file: &File) -> io::Result<Option<Self>> {
        let found = Status::of(file)?;
        if !found.is_file() {
            return Ok(Some(Self::shared(file_id(&found))));
        }
        let claim = Self::of_file(file, file_id(&found));
        Ok(claim.and_then(|claim| claim.with_lock(FileLock::exclusive(file), file)))
    }

    /// Claims a file that is open, before it is locked.
    fn of_file(file: &File, id: FileId) -> Option<Self> {
        forget_closed(&id, Some(file));
        Self::of(id)
    }

    /// The claim on a file that was to be locked; none if somebody else has it.
    fn with_lock(mut self, lock: Option<FileLock>, file: &File) -> Option<Self> {
        self.lock = lock;
        let is_marked = || !is_readable_by_others(file) && is_claimed(file);
        (self.lock.is_some() && !is_marked()).then_some(self)
    }

    /// Returns whether a file that can't be claimed is one that nobody writes: a user who may read
    /// it has a lock on it.
    pub(crate) fn is_obstructed(file: &File) -> bool {
        let Some(id) = Status::of(file).ok().filter(Status::is_file).map(|it| file_id(&it)) else {
            return false;
        };
        forget_closed(&id, Some(file));
        is_readable_by_others(file)
            && !writer::guarded(|| CLAIMED.lock().has(&id))
            && FileLock::shared(file).is_some()
    }

    /// Returns whether somebody else in this process has the file at `place`, or its name without
    /// the claim `own`. Such a file is not even opened: closing it again would release a lock of
    /// the process on it.
    pub(crate) fn is_taken(place: &FilePlace, own: Option<&Self>) -> bool {
        match place.location() {
            Ok(location) => Self::is_taken_at(location, own),
            Err(_) => look(place.path()).is_ok_and(|found| is_file_taken(&found)),
        }
    }

    /// As [`Self::is_taken`].
    pub(in crate::session) fn is_taken_at(location: &Location, own: Option<&Self>) -> bool {
        // The descriptor that looked at it is closed by then, or it would count as open.
        let found = location.look().map(|entry| entry.status().clone());
        let is_named = |id| is_in_table(&id) && own.is_none_or(|own| own.id != id);
        found.is_ok_and(|found| is_file_taken(&found)) || name_id(location).is_ok_and(is_named)
    }

    /// Claims the name that a file will have; none if somebody else has it.
    pub(in crate::session) fn name(place: &Location) -> io::Result<Option<Self>> {
        Ok(Self::of(name_id(place)?))
    }

    /// Claims the names of segments of `place`; none if another session has them.
    pub(in crate::session) fn segments(place: &Location) -> io::Result<Option<Self>> {
        Ok(match name_id(place)? {
            FileId::Name(device, inode, name) => Self::of(FileId::Segments(device, inode, name)),
            FileId::File(..) | FileId::Segments(..) => None,
        })
    }

    fn of(id: FileId) -> Option<Self> {
        writer::guarded(|| {
            let mut claimed = CLAIMED.lock();
            (!claimed.has(&id)).then(|| claimed.add(id))
        })
    }

    fn shared(id: FileId) -> Self {
        writer::guarded(|| CLAIMED.lock().add(id))
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        // First, or the next claim of the file would find it locked.
        drop(self.lock.take());
        writer::guarded(|| CLAIMED.lock().remove(self.number));
    }
}

/// An existing file that nobody writes, held so that nobody begins to. *Closed first*: the fields
/// are dropped in this order.
#[derive(Debug)]
pub(in crate::session) struct Held {
    file: File,
    claim: Claim,
}

impl Held {
    /// Returns the file, open for reading.
    pub(in crate::session) fn file(&self) -> &File {
        &self.file
    }

    /// Holds the file against other holders, to write it by `file`, which is the same file; false
    /// if somebody else has it. Where other users may read it, one of them may hold it for ever:
    /// there it is enough that nobody writes it.
    pub(in crate::session) fn hold_alone(&mut self, file: &File) -> bool {
        // The lock of this one would be in the way.
        drop(self.claim.lock.take());
        let shared = || FileLock::shared(file).filter(|_| is_readable_by_others(file));
        self.claim.lock = FileLock::exclusive(file).or_else(shared);
        self.claim.lock.is_some()
    }
}

/// Holds the file at `place`; none if there is none, or one that can't be held because it is no
/// regular file or can't be read. [`Error::FileInUse`] if somebody writes it. `path` is for errors.
pub(in crate::session) fn hold(place: &Location, path: &Path) -> Result<Option<Held>, Error> {
    let in_use = || Error::FileInUse { path: path.to_path_buf() };
    // Not even opened, as for `is_taken`. The descriptor that looked at it is closed by then, or it
    // would count as open.
    match place.look().map(|entry| entry.status().clone()) {
        Ok(found) if !found.is_file() => return Ok(None),
        Ok(found) if is_in_table(&file_id(&found)) => return Err(in_use()),
        Ok(_) => {}
        Err(_) => return Ok(None),
    }
    let Ok(file) = place.open_regular() else { return Ok(None) };
    let id = Status::of(&file).map(|found| file_id(&found));
    let id = id.map_err(|error| Error::File { path: path.to_path_buf(), error })?;
    let claim = Claim::of_file(&file, id).ok_or_else(in_use)?;
    let claim = claim.with_lock(FileLock::shared(&file), &file).ok_or_else(in_use)?;
    Ok(Some(Held { file, claim }))
}

/// Gives `file` the name of `to`, in its directory. With `replaces` that may be the name of a file
/// of this user or of root that nobody writes. [`Error::FileInUse`] if somebody does.
pub(in crate::session) fn rename(
    file: &File,
    from: &Location,
    to: &Path,
    replaces: bool,
) -> Result<(), Error> {
    let failed = |error| Error::File { path: to.to_path_buf(), error };
    let name = to.file_name().unwrap_or_default();
    let place = from.sibling(name).map_err(failed)?;
    let mut held = None;
    for _ in 0..ATTEMPTS {
        held = if replaces { hold(&place, to)? } else { None };
        // Another one may have the name by now.
        if !from.is_of(file) {
            return Err(failed(not_found()));
        }
        if held.is_some() {
            place.check_file_or_missing().map_err(failed)?;
            break;
        }
        match from.rename_to_free(name) {
            Err(error) if replaces && error.kind() == io::ErrorKind::AlreadyExists => {}
            renamed => return renamed.map_err(failed),
        }
        // It is there since a moment ago, or can't be read.
        place.check_file_or_missing().map_err(failed)?;
    }
    let renamed = from.rename(name).map_err(failed);
    drop(held);
    renamed
}

/// Returns whether other users may open a file, and so have locks on it. True if that can't be
/// told.
fn is_readable_by_others(file: &File) -> bool {
    Status::of(file).map_or(true, |found| found.mode() & 0o077 != 0)
}

fn is_file_taken(found: &Status) -> bool {
    found.is_file() && is_in_table(&file_id(found))
}

fn is_in_table(id: &FileId) -> bool {
    forget_closed(id, None);
    writer::guarded(|| CLAIMED.lock().has(id))
}

/// Forgets a claim on a file that this process has not open, but for `own`, which asks.
fn forget_closed(id: &FileId, own: Option<&File>) {
    let FileId::File(device, inode) = *id else { return };
    // Its number is looked up before it is asked what is open: a claim that opens the file
    // meanwhile has another number.
    let claimed = writer::guarded(|| CLAIMED.lock().number(id));
    if let Some(number) = claimed.filter(|_| !is_open(device, inode, own)) {
        writer::guarded(|| CLAIMED.lock().remove(number));
    }
}

fn file_id(found: &Status) -> FileId {
    FileId::File(found.dev(), found.ino())
}

/// Returns the id of a name.
fn name_id(place: &Location) -> io::Result<FileId> {
    let directory = place.directory_status()?;
    Ok(FileId::Name(directory.dev(), directory.ino(), place.name().to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::fork::testing::check_child;
    use protolog_testkit::temp_dir;
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_child_may_write_what_its_parent_has_closed() {
        let dir = temp_dir();
        let path = |name: &str| dir.path().join(name);
        let open = File::create_new(path("open")).expect("a new file");
        let closed = File::create_new(path("closed")).expect("a new file");
        let own = |file: &File| Claim::new(file).expect("an id").expect("nobody has it");
        let mut claims = (own(&open), own(&closed));
        let at = |name: &str| Location::of(&path(name)).expect("a directory");
        let _name = Claim::name(&at("name")).expect("an id");
        // As a fork may find it: closed and without a lock, and the claim not yet given up.
        drop((closed, claims.1.lock.take()));
        let child = || {
            let claim = |name| {
                let file = File::options().write(true).open(path(name)).expect("the file");
                let claim = Claim::new(&file).expect("an id");
                (file, claim)
            };
            let is_refused = claim("open").1.is_none() && Claim::is_taken_at(&at("name"), None);
            let (_file, mine) = claim("closed");
            drop(claims);
            is_refused && mine.is_some_and(|mine| is_in_table(&mine.id))
        };
        let name = "session::claim::tests::a_child_may_write_what_its_parent_has_closed";
        check_child(name, || Box::new(|| ()), child);
    }

    #[test]
    fn a_claim_lasts_until_it_is_given_up() {
        let dir = temp_dir();
        let path = dir.path().join("file");
        let place = Location::of(&path).expect("a directory");
        let open = || {
            File::options().write(true).create(true).truncate(false).open(&path).expect("the file")
        };
        let claim = |file: &File| Claim::new(file).expect("an id");
        let first = open();
        let of_first = claim(&first).expect("nobody has it");
        let second = open();
        assert!(claim(&second).is_none() && Claim::is_taken_at(&place, None), "the first is open");
        drop(first);
        assert!(claim(&second).is_none(), "its claim is there");
        drop(of_first);
        let of_second = claim(&second).expect("nobody has it");
        assert!(claim(&open()).is_none(), "the second one's claim is its own");
        drop(second);
        assert!(hold(&place, &path).is_err(), "its claim is there");
        drop(of_second);
        assert!(matches!(hold(&place, &path), Ok(Some(_))), "nobody has it");
    }

    #[test]
    fn what_only_a_reader_has_can_be_completed_and_is_no_obstacle() {
        let dir = temp_dir();
        let path = dir.path().join("file");
        let place = Location::of(&path).expect("a directory");
        let file = File::create_new(&path).expect("the file");
        let set_mode = |mode| file.set_permissions(Permissions::from_mode(mode)).expect("chmod");
        set_mode(0o644);
        let mut held = hold(&place, &path).expect("nobody has it").expect("a file");
        // As another user would.
        let reader = File::open(&path).expect("the file");
        let read = FileLock::shared(&reader).expect("nobody writes it");
        crate::sys::file::claim(&reader).expect("nobody has marked it");
        assert!(held.hold_alone(&file));
        drop(held);
        assert!(Claim::new(&file).expect("an id").is_none() && Claim::is_obstructed(&file));
        drop(read);
        drop(Claim::new(&file).expect("an id").expect("nobody has a lock, and marks say nothing"));
        let written = FileLock::exclusive(&file);
        assert!(written.is_some() && !Claim::is_obstructed(&reader));
        drop(written);
        // Nobody else can read it, so it is another process of this user.
        set_mode(0o600);
        let _read = FileLock::shared(&reader).expect("nobody writes it");
        assert!(Claim::new(&file).expect("an id").is_none() && !Claim::is_obstructed(&file));
        let mut held = hold(&place, &path).err();
        assert!(matches!(held.take(), Some(Error::FileInUse { .. })), "it is marked");
    }

    #[test]
    fn the_inode_of_a_closed_file_can_be_claimed_before_its_claim_is_given_up() {
        let dir = temp_dir();
        let path = dir.path().join("file");
        let file = File::create(&path).expect("the file");
        let claim = |file: &File| Claim::new(file).expect("an id");
        let mut of_first = claim(&file).expect("nobody has it");
        // As while it is given up, or where the lock could not have an open file of its own.
        drop((file, of_first.lock.take()));
        let file = File::options().write(true).open(&path).expect("the file");
        let of_second = claim(&file).expect("nobody has it open");
        drop(of_first);
        assert!(claim(&file).is_none(), "the second one's claim is its own");
        drop(of_second);
    }
}
