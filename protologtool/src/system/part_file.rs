//! Files that have a name while they grow, so that what is in them outlives the program.
//!
//! ```text
//! app.pftrace.part      from the start; of an earlier run that was killed, perhaps
//! app-2.pftrace.part    where that is taken, and so on
//! app.pftrace           when it is complete, over what was there
//! ```
//!
//! A long name is cut before its extension, so that `.part` has room behind it.
//!
//! Invariants
//! - No content of an earlier run is lost: a name that is taken stays as it is.
//! - Only the file that was made here is renamed or removed, whatever has its name by then.
//! - Until it is complete, only this user can read it.

use super::staged::PRIVATE;
use protolog_files::{Found, Location, Output, set_mode};
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The most bytes of a name.
const LONGEST: usize = 255;

/// The most names that are tried.
const MOST_NAMES: u32 = 1000;

/// See the module.
#[derive(Debug)]
pub struct PartFile {
    file: File,
    /// Where it is.
    part: Location,
    /// Where it goes.
    place: Location,
    /// The path of `part`, for people.
    path: PathBuf,
    mode: u32,
    /// The first name that was taken.
    earlier: Option<PathBuf>,
}

impl PartFile {
    /// For a file at `path` with these permissions, whose directory is made.
    pub(super) fn create(path: &Path, mode: u32) -> io::Result<Self> {
        let (Found::Missing(place) | Found::File(place)) = Output::find_making_directories(path)?
        else {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no regular file"));
        };
        let mut earlier = None;
        for number in 1..=MOST_NAMES {
            let name = name(Path::new(place.name()), number);
            let (part, path) = (place.sibling(&name)?, path.with_file_name(&name));
            match part.create_new(PRIVATE) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    earlier = earlier.or(Some(path));
                }
                file => {
                    let file = file?;
                    // For readers, which tell by it that it still grows.
                    let _ = file.try_lock();
                    return Ok(Self { file, part, place, path, mode, earlier });
                }
            }
        }
        Err(io::Error::new(io::ErrorKind::AlreadyExists, "too many unfinished ones are there"))
    }

    /// The path that it has while it grows.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The path that it would have had, had it not been taken.
    pub fn earlier(&self) -> Option<&Path> {
        self.earlier.as_deref()
    }

    /// Cuts it to so many bytes.
    pub fn cut(&self, length: u64) -> io::Result<()> {
        self.file.set_len(length)
    }

    /// Moves it to its place, over what is there. After an error it keeps the name that it has.
    pub fn commit(self) -> io::Result<()> {
        set_mode(&self.file, self.mode)?;
        self.place.check_file_or_missing()?;
        if !self.part.is_of(&self.file) {
            return Err(io::Error::new(io::ErrorKind::NotFound, "it was removed or renamed"));
        }
        self.part.rename(self.place.name())
    }

    /// Removes it.
    pub fn discard(self) {
        // Nothing can be done about an error, and its name says what it is.
        let _ = self.part.remove_if(&self.file);
    }
}

impl Write for PartFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The name of the unfinished file for `name` that is tried as the `number`th one. It ends as those
/// of traces do, so that it is found in a directory, and it is no segment's.
fn name(name: &Path, number: u32) -> OsString {
    let number = if number > 1 { format!("-{number}") } else { String::new() };
    let mut stem = name.file_stem().unwrap_or(name.as_os_str()).to_owned();
    let mut end = OsString::from(number);
    if let Some(extension) = name.extension() {
        end.push(".");
        end.push(extension);
    }
    end.push(".part");
    let room = LONGEST.saturating_sub(end.len());
    if stem.len() > room {
        let text = stem.to_string_lossy();
        let cut = (0..=room.min(text.len())).rfind(|at| text.is_char_boundary(*at));
        stem = text[..cut.unwrap_or(0)].into();
    }
    stem.push(end);
    stem
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::MetadataExt;

    #[test]
    fn a_file_has_a_name_of_its_own_until_it_is_complete() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        fs::write(at("a.pftrace"), "old").unwrap();
        fs::write(at("a.pftrace.part"), "of a run that was killed").unwrap();

        let mut file = PartFile::create(&at("a.pftrace"), 0o640).unwrap();
        assert_eq!(file.path(), at("a-2.pftrace.part"));
        assert_eq!(file.earlier(), Some(&*at("a.pftrace.part")));
        file.write_all(b"new").unwrap();
        assert_eq!(fs::metadata(file.path()).unwrap().mode() & 0o777, 0o600);
        file.commit().unwrap();
        assert_eq!(fs::read(at("a.pftrace")).unwrap(), b"new");
        assert_eq!(fs::metadata(at("a.pftrace")).unwrap().mode() & 0o777, 0o640);
        assert_eq!(fs::read(at("a.pftrace.part")).unwrap(), b"of a run that was killed");

        let file = PartFile::create(&at("b"), 0o600).unwrap();
        assert_eq!((file.path(), file.earlier()), (&*at("b.part"), None));
        let other = PartFile::create(&at("b"), 0o600).unwrap();
        assert_eq!(other.path(), at("b-2.part"));
        file.discard();
        assert!(!at("b.part").exists());
        // The name of one that grows.
        fs::remove_file(at("b-2.part")).unwrap();
        fs::write(at("b-2.part"), "somebody else's").unwrap();
        let error = other.commit().unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
        assert!(!at("b").exists() && at("b-2.part").exists());
    }

    #[test]
    fn a_long_name_has_room_for_its_end() {
        let dir = tempfile::tempdir().unwrap();
        for name in [
            format!("{}.pftrace", "a".repeat(247)),
            format!("{}.pftrace", "é".repeat(123)),
            "b".repeat(255),
        ] {
            let path = dir.path().join(&name);
            let [mut file, other] = [(); 2].map(|()| PartFile::create(&path, 0o600).unwrap());
            assert_eq!(file.path().extension().unwrap(), "part");
            assert_eq!(file.path().extension(), other.path().extension());
            file.write_all(b"whole").unwrap();
            file.commit().unwrap();
            other.discard();
            assert_eq!(fs::read(&path).unwrap(), b"whole");
        }
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 3);
        let longer = dir.path().join("c".repeat(256));
        assert!(PartFile::create(&longer, 0o600).is_err(), "before anything is recorded");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 3);
    }

    #[test]
    fn what_has_its_name_by_then_is_not_removed() {
        let dir = tempfile::tempdir().unwrap();
        let part = dir.path().join("a.pftrace.part");
        let file = PartFile::create(&dir.path().join("a.pftrace"), 0o600).unwrap();
        fs::remove_file(&part).unwrap();
        fs::write(&part, "somebody else's").unwrap();
        file.discard();
        assert_eq!(fs::read(&part).unwrap(), b"somebody else's");
        std::os::unix::fs::symlink("/etc/passwd", dir.path().join("b.pftrace.part")).unwrap();
        let file = PartFile::create(&dir.path().join("b.pftrace"), 0o600).unwrap();
        assert_eq!(file.path(), dir.path().join("b-2.pftrace.part"));
    }
}
