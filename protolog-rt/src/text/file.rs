//! Text in a file that is rotated when it is full.
//!
//! Invariants: a line is whole in one file, unless the disk was full in the middle of it; a file that can't be written costs
//! lines, and never stops the program; a rotation that fails, however often, takes no older file away but the oldest.

use super::lines::{Output, print};
use super::sink::{TextLine, TextSink};
use crate::error::Error;
use crate::paths::absolute;
use crate::session::claim::Claim;
use crate::sys::create::{PRIVATE, temporary_name};
use crate::sys::fork::{ForkLock, Order};
use crate::sys::process::user;
use crate::sys::thread::without_write_signals;
use crate::text_queue;
use protolog_files::{Location, OutputAccess, OutputKind};
use std::ffi::OsString;
use std::fs::{File, Metadata};
use std::io::{self, Write as _};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// A sink that writes lines in logcat's threadtime form to a file, and rotates it when it is full.
///
/// `app.log` is the newest file; older ones are `app.log.1`, `app.log.2` and so on. If it is deleted, the next line begins a new
/// one. Lines that can't be written, for example to a full disk, are dropped; [`RotatingFile::problem`] returns the last error.
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
    path: PathBuf,
    max_bytes: u64,
    keep: usize,
    mode: u32,
    state: Mutex<State>,
}

/// Held whenever a file's own lock is, so that no forked child finds that one locked. All files share it, as a program has one
/// sink.
static WRITING: ForkLock<()> = ForkLock::new(Order::TextFiles, ());

#[derive(Debug)]
struct State {
    /// Before `claim`, so that it is closed first.
    file: File,
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
    /// Appends to the file at `path`, which is rotated before it grows beyond `max_bytes`. `keep` older files are kept.
    ///
    /// New files are their owner's only, since messages may hold secrets; a file that is there keeps its permissions. A
    /// link is refused, and so is a file, pipe or device of another user. Only a regular file is rotated.
    ///
    /// # Errors
    /// The file can't be opened for appending; or a session or another `RotatingFile` writes it, in this process or another
    /// one: an error that holds [`Error::FileInUse`].
    pub fn open(path: impl Into<PathBuf>, max_bytes: u64, keep: usize) -> io::Result<Self> {
        Self::open_with_mode(path, max_bytes, keep, PRIVATE)
    }

    /// As [`Self::open`], with other permissions for new files: `0o640` lets the file's group read them, too. The process's
    /// umask takes bits away.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub fn open_with_mode(
        path: impl Into<PathBuf>,
        max_bytes: u64,
        keep: usize,
        mode: u32,
    ) -> io::Result<Self> {
        let (path, mode) = (absolute(path.into()), mode & 0o777);
        let in_use = || io::Error::other(Error::FileInUse { path: path.clone() });
        if Claim::is_taken(&path, None) {
            return Err(in_use());
        }
        let output = append_to(&path, mode)?;
        let (file, rotates) = (output.file, output.kind == OutputKind::File);
        let claim = Some(Claim::new(&file)?.ok_or_else(in_use)?);
        let size = file.metadata()?.len();
        let state = State { file, claim, rotates, size, is_torn: false, problem: None };
        Ok(Self { path, max_bytes, keep, mode, state: Mutex::new(state) })
    }

    /// Returns the last error, once.
    pub fn problem(&self) -> Option<io::Error> {
        let _no_fork = WRITING.lock_unless_forking();
        self.state.lock().unwrap_or_else(PoisonError::into_inner).problem.take()
    }

    /// Renames the file, and begins a new one, which is open before anything is renamed.
    fn rotate(&self, state: &mut State) -> io::Result<()> {
        let place = Location::of(&self.path)?;
        // Whatever has its name by now is not this file.
        if !place.is_of(&state.file) {
            return self.reopen(state);
        }
        let next = place.sibling(temporary_name(place.name()))?;
        let output = next.open_or_create(OutputAccess::Append, self.mode)?;
        let renamed = self.free_name(&place).and_then(|()| next.rename(place.name()));
        if renamed.is_err() {
            // Its name is known to nobody else, and to compare it would take a descriptor.
            let _ = next.remove();
        }
        renamed.map(|()| state.begin(output))
    }

    /// Gives the file and older ones other names. What an earlier attempt has renamed stays: of those that were kept, at most the
    /// oldest goes, however many attempts there are.
    fn free_name(&self, place: &Location) -> io::Result<()> {
        if self.keep == 0 {
            return Ok(());
        }
        let numbers = self.numbers(place)?;
        let Some(first) = numbers.first() else {
            return Err(io::Error::other("the names of older files belong to other users"));
        };
        for pair in numbers.windows(2).rev() {
            place.sibling(self.older(pair[0]))?.rename(&self.older(pair[1]))?;
        }
        place.rename(&self.older(*first))
    }

    /// The numbers of older files, up to the first that is free. Those of whatever is no file of this user or of root are left out.
    fn numbers(&self, place: &Location) -> io::Result<Vec<usize>> {
        let mut numbers = Vec::new();
        for number in 1..=self.keep {
            match place.sibling(self.older(number))?.look() {
                Ok(found) if found.is_regular() && [0, user()].contains(&found.owner()) => {}
                Ok(_) => continue,
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    numbers.push(number);
                    break;
                }
                Err(error) => return Err(error),
            }
            numbers.push(number);
        }
        Ok(numbers)
    }

    /// Goes on in the file that has the name by now, or in a new one: this one was deleted, or renamed by another program.
    fn reopen(&self, state: &mut State) -> io::Result<()> {
        if Claim::is_taken(&self.path, None) {
            return Err(io::Error::other(Error::FileInUse { path: self.path.clone() }));
        }
        state.begin(append_to(&self.path, self.mode)?);
        Ok(())
    }

    /// Returns the name of an older file.
    fn older(&self, number: usize) -> OsString {
        let mut name = self.path.file_name().unwrap_or_default().to_owned();
        name.push(format!(".{number}"));
        name
    }
}

impl State {
    /// Goes on in another file.
    fn begin(&mut self, output: protolog_files::Output) {
        (self.file, self.rotates) = (output.file, output.kind == OutputKind::File);
        drop(self.claim.take());
        self.claim = Claim::new(&self.file).ok().flatten();
        self.size = self.file.metadata().map_or(0, |metadata| metadata.len());
        self.is_torn = false;
    }

    /// Returns whether the file was deleted, and learns its size, which other programs may have changed.
    fn is_deleted(&mut self) -> bool {
        let found = self.file.metadata();
        self.size = found.as_ref().map_or(self.size, Metadata::len);
        self.rotates && found.is_ok_and(|found| found.nlink() == 0)
    }

    /// Writes a line, on a line of its own.
    fn line(&mut self, line: &[u8]) -> io::Result<()> {
        if self.is_torn {
            without_write_signals(|| self.file.write_all(b"\n"))?;
            (self.size, self.is_torn) = (self.size + 1, false);
        }
        let written = without_write_signals(|| self.file.write_all(line));
        if written.is_err() {
            let size = self.file.metadata().map_or(self.size, |metadata| metadata.len());
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

fn append_to(path: &Path, mode: u32) -> io::Result<protolog_files::Output> {
    protolog_files::Output::open(path, OutputAccess::Append, mode)
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
