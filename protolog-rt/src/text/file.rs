//! Text in a file that is rotated when it is full.
//!
//! Invariants: a line is whole in one file, unless the disk was full in the middle of it. A file
//! that can't be written costs lines, and never stops the program. A rotation that fails, however
//! often, takes no older file away but the oldest.

use super::lines::{Output, print};
use super::sink::{TextLine, TextSink};
use crate::error::Error;
use crate::paths::absolute;
use crate::session::file::claim::Claim;
use crate::session::file::file_place::FilePlace;
use crate::sys::create::{PRIVATE, temporary_name};
use crate::sys::fork::{ForkLock, Order};
use crate::sys::own_file::OwnFile;
use crate::sys::process::user;
use crate::sys::thread::without_write_signals;
use crate::text_queue;
use protolog_files::{Identity, Location, OutputAccess, OutputKind, Status};
use std::fs::File;
use std::io::{self, Write as _};
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

/// A sink that writes lines in logcat's threadtime form to a file, and rotates it when it is full.
///
/// `app.log` is the newest file; older ones are `app.log.1`, `app.log.2` and so on. If it is
/// deleted, the next line begins a new one. Lines that can't be written, for example to a full
/// disk, are dropped; [`RotatingFile::problem`] returns the last error.
///
/// ```
/// use protolog_rt::text::{RotatingFile, set_sink};
/// use std::sync::Arc;
///
/// # let folder = std::env::temp_dir().join(format!("protolog-text-{}", std::process::id()));
/// # std::fs::create_dir_all(&folder)?;
/// let file = Arc::new(RotatingFile::open(folder.join("app.log"), 1 << 20, 3)?);
/// set_sink(Arc::clone(&file))?;
/// // Later:
/// if let Some(problem) = file.problem() {
///     eprintln!("the log is incomplete: {problem}");
/// }
/// # std::fs::remove_dir_all(folder)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct RotatingFile {
    max_bytes: u64,
    keep: usize,
    mode: u32,
    state: Mutex<State>,
}

/// Attempts to open a file that others replace at the same time.
const ATTEMPTS: usize = 100;

/// Held whenever a file's own lock is, so that no forked child finds that one locked. All files
/// share it, as a program has one sink.
static WRITING: ForkLock<()> = ForkLock::new(Order::TextFiles, ());

#[derive(Debug)]
struct State {
    /// Where it is, found once: see [`FilePlace`].
    place: FilePlace,
    /// Before `claim`, so that it is closed first.
    file: OwnFile,
    /// None for a file that somebody else claimed when it was begun by rotation.
    claim: Option<Claim>,
    /// False for a pipe, a device or a descriptor, which have no name to give away.
    rotates: bool,
    size: u64,
    /// True where the file ends within a line whose rest had no room.
    is_torn: bool,
    problem: Option<io::Error>,
}

impl RotatingFile {
    /// Appends to the file at `path`, which is rotated before it grows beyond `max_bytes`. `keep`
    /// older files are kept.
    ///
    /// New files are their owner's only, since messages may hold secrets. A file that is there
    /// keeps its permissions, unless others may have put it there: in a directory of another user,
    /// or one that others may write to, it is rotated if it has more of them. A link is refused,
    /// and so is a file, pipe or device of another user. Only a regular file is rotated.
    ///
    /// The directory is found once: if it is renamed, the file goes on in it. If it is removed, and
    /// there is one at its path again, the next line begins a new file there.
    ///
    /// # Errors
    /// The file can't be opened for appending; or a session or another `RotatingFile` writes it, in
    /// this process or another one: an error that holds [`Error::FileInUse`].
    pub fn open(path: impl Into<PathBuf>, max_bytes: u64, keep: usize) -> io::Result<Self> {
        Self::open_with_mode(path, max_bytes, keep, PRIVATE)
    }

    /// As [`Self::open`], with other permissions for new files: `0o640` lets the file's group read
    /// them, too. The process's umask takes bits away.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub fn open_with_mode(
        path: impl Into<PathBuf>,
        max_bytes: u64,
        keep: usize,
        mode: u32,
    ) -> io::Result<Self> {
        let (place, mode) = (FilePlace::of(&absolute(path.into()))?, mode & 0o777);
        let in_use = || io::Error::other(Error::FileInUse { path: place.path().to_owned() });
        if Claim::is_taken(&place, None) {
            return Err(in_use());
        }
        let (output, claim) = open_to_append(&place, mode, keep)?;
        let (file, rotates) = (output.file, output.kind == OutputKind::File);
        let claim = Some(claim.ok_or_else(in_use)?);
        let size = file.metadata()?.len();
        let file = OwnFile::new(file);
        let state = State { place, file, claim, rotates, size, is_torn: false, problem: None };
        Ok(Self { max_bytes, keep, mode, state: Mutex::new(state) })
    }

    /// Returns the last error, once.
    pub fn problem(&self) -> Option<io::Error> {
        let _no_fork = WRITING.lock_unless_forking();
        self.state.lock().unwrap_or_else(PoisonError::into_inner).problem.take()
    }

    /// Renames the file, and begins a new one, which is open before anything is renamed.
    fn rotate(&self, state: &mut State) -> io::Result<()> {
        let place = state.place.location()?;
        // A file that has its name by now is not this one.
        if !place.is_of(state.file.get()?) {
            return self.reopen(state);
        }
        let next = place.sibling(temporary_name(place.name()))?;
        let output = next.open_or_create(OutputAccess::Append, self.mode)?;
        let freed = free_name(place, state.file.get()?, self.keep);
        let renamed = freed.and_then(|()| next.rename_to_free(place.name()));
        if renamed.is_err() {
            // Its name is known to nobody else, and to compare it would take a descriptor.
            let _ = next.remove();
        }
        renamed.map(|()| state.begin(output, |file| Claim::new(file).ok().flatten()))
    }

    /// Goes on in the file that has the name by now, or in a new one: this one was deleted, or
    /// renamed by another program.
    fn reopen(&self, state: &mut State) -> io::Result<()> {
        state.place.follow();
        if Claim::is_taken(&state.place, None) {
            let path = state.place.path().to_owned();
            return Err(io::Error::other(Error::FileInUse { path }));
        }
        let (output, claim) = open_to_append(&state.place, self.mode, self.keep)?;
        state.begin(output, |_| claim);
        Ok(())
    }
}

/// Opens the file at `place`, or creates it, and claims it; without a claim if somebody writes it.
/// A file that lets others read more than `mode` is set aside, unless only this user and root can
/// have put it there: another user may have it open. So is a file on which a reader has a lock.
fn open_to_append(
    place: &FilePlace,
    mode: u32,
    keep: usize,
) -> io::Result<(protolog_files::Output, Option<Claim>)> {
    for _ in 0..ATTEMPTS {
        let output = place.open(OutputAccess::Append, mode)?;
        let claim = Claim::new(&output.file)?;
        let is_obstructed = claim.is_none() && Claim::is_obstructed(&output.file);
        let found = Status::of(&output.file)?;
        let is_right = found.mode() & 0o7777 & !mode == 0;
        let is_kept = || place.location().and_then(Location::is_in_trusted_directory);
        let is_file = output.kind == OutputKind::File;
        if !is_file || !is_obstructed && (output.is_new || is_right || is_kept()?) {
            return Ok((output, claim));
        }
        if claim.is_none() && !is_obstructed {
            return Err(io::Error::other(Error::FileInUse { path: place.path().to_owned() }));
        }
        let location = place.location()?;
        let keep = if found.len() == 0 { 0 } else { keep };
        let is_there = location.is_of(&output.file);
        let is_freed = if is_there { free_name(location, &output.file, keep) } else { Ok(()) };
        // *closed first*
        drop(output);
        drop(claim);
        is_freed?;
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

/// Gives the file and older ones other names. Files that an earlier attempt has renamed stay: of
/// the files that were kept, at most the oldest goes, however many attempts there are.
fn free_name(place: &Location, file: &File, keep: usize) -> io::Result<()> {
    if keep == 0 {
        return place.remove_if(file).map(drop);
    }
    let (numbers, oldest) = numbers(place, keep)?;
    let Some(first) = numbers.first() else {
        return Err(io::Error::other("the names of older files belong to other users"));
    };
    if let (Some(oldest), Some(last)) = (oldest, numbers.last()) {
        older(place, *last)?.remove_entry(oldest)?;
    }
    for pair in numbers.windows(2).rev() {
        older(place, pair[0])?.rename_to_free(older(place, pair[1])?.name())?;
    }
    place.rename_to_free(older(place, *first)?.name())
}

/// The numbers of older files, up to the first that is free; with the oldest file where none is.
/// Numbers of entries that are no file of this user or of root are left out.
fn numbers(place: &Location, keep: usize) -> io::Result<(Vec<usize>, Option<Identity>)> {
    let (mut numbers, mut oldest) = (Vec::new(), None);
    for number in 1..=keep {
        match older(place, number)?.look() {
            Ok(found) if found.is_regular() && [0, user()].contains(&found.owner()) => {
                numbers.push(number);
                oldest = Some(found.identity());
            }
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                numbers.push(number);
                return Ok((numbers, None));
            }
            Err(error) => return Err(error),
        }
    }
    Ok((numbers, oldest))
}

/// Returns the place of an older file.
fn older(place: &Location, number: usize) -> io::Result<Location> {
    let mut name = place.name().to_owned();
    name.push(format!(".{number}"));
    place.sibling(name)
}

impl State {
    /// Goes on in another file, which is claimed when the one before is closed and given up.
    fn begin(
        &mut self,
        output: protolog_files::Output,
        claim: impl FnOnce(&File) -> Option<Claim>,
    ) {
        (self.file, self.rotates) = (OwnFile::new(output.file), output.kind == OutputKind::File);
        drop(self.claim.take());
        self.claim = self.file.get().ok().and_then(claim);
        self.size = self.file.get().and_then(File::metadata).map_or(0, |found| found.len());
        self.is_torn = false;
    }

    /// Returns whether the file was deleted, and learns its size, which other programs may have
    /// changed.
    fn is_deleted(&mut self) -> bool {
        let found = self.file.get().and_then(Status::of);
        self.size = found.as_ref().map_or(self.size, Status::len);
        self.rotates && found.is_ok_and(|found| found.nlink() == 0)
    }

    /// Writes a line, on a line of its own.
    fn line(&mut self, line: &[u8]) -> io::Result<()> {
        let file = self.file.get_mut()?;
        if self.is_torn {
            without_write_signals(|| file.write_all(b"\n"))?;
            (self.size, self.is_torn) = (self.size + 1, false);
        }
        let written = without_write_signals(|| file.write_all(line));
        if written.is_err() {
            let size = file.metadata().map_or(self.size, |metadata| metadata.len());
            (self.is_torn, self.size) = (size > self.size, size);
        } else {
            self.size += line.len() as u64;
        }
        written
    }
}

impl TextSink for RotatingFile {
    fn show(&self, line: &TextLine<'_>) {
        let _no_fork = WRITING.lock_unless_forking();
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let mut out = Out { file: self, state: &mut state };
        print(&mut out, line);
    }
}

struct Out<'a> {
    file: &'a RotatingFile,
    state: &'a mut State,
}

impl Output for Out<'_> {
    fn line(&mut self, line: &[u8]) {
        let length = line.len() as u64;
        let state = &mut *self.state;
        let reopened = if state.is_deleted() { self.file.reopen(state) } else { Ok(()) };
        if let Err(error) = reopened {
            // Nobody would see it.
            state.problem = Some(error);
            return text_queue::count_dropped(1);
        }
        if state.rotates && state.size > 0 && state.size + length > self.file.max_bytes {
            // A file that can't be renamed grows: a long log is better than none.
            state.problem = self.file.rotate(state).err().or(state.problem.take());
        }
        if let Err(error) = state.line(line) {
            state.problem = Some(error);
            text_queue::count_dropped(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::fork::testing::check_child;
    use crate::text::{dispatch, set_sink};
    use protolog_core::Level;
    use std::fs;
    use std::sync::mpsc;
    use std::thread;
    use std::time::Duration;

    fn show_line(text: &str) {
        dispatch::show(Level::Info, "Test", |out| out.write_str(text));
    }

    /// Longer than a fork waits for a lock, as a disk may take.
    const LONG: Duration = Duration::from_secs(2);

    #[test]
    fn a_child_prints_though_a_line_was_being_written_for_long() {
        let prepare = || {
            let dir = protolog_testkit::temp_dir();
            let path = dir.path().join("app.log");
            set_sink(RotatingFile::open(&path, 1 << 20, 1).unwrap()).unwrap();
            let (send, locked) = mpsc::channel();
            let writer = thread::spawn(move || {
                let writing = WRITING.lock();
                send.send(()).expect("somebody waits");
                thread::sleep(LONG);
                drop(writing);
                show_line("of the parent");
            });
            locked.recv().expect("the lock is held");
            Box::new(move || {
                writer.join().expect("it goes on");
                let lines = fs::read_to_string(&path).unwrap();
                assert!(lines.ends_with(" I Test    : of the parent\n"), "{lines}");
                assert_eq!(lines.lines().count(), 1, "the child's went to standard error");
                drop(dir);
            }) as Box<dyn FnOnce()>
        };
        let child = || {
            show_line("of the child");
            true
        };
        let name = "text::file::tests::a_child_prints_though_a_line_was_being_written_for_long";
        check_child(name, prepare, child);
    }
}
