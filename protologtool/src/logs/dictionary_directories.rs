//! Directories of dictionaries, and how the one is found there that a program was stripped into.
//!
//! Its name is `<hash>.pb` if `--strip-to` was given the directory; otherwise each dictionary is
//! read until one has the hash. A trace may ask for thousands, so the hash of a file is kept for as
//! long as the file is the same.

use crate::args::values::dictionary;
use crate::exit::Failure;
use crate::output::cant_read;
use crate::system::{Reader, Stamp, System};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use viewer_config::Dictionary;

/// The size of a dictionary that is found, in bytes.
const MAX_BYTES: u64 = 256 << 20;

/// The directories.
pub(crate) struct DictionaryDirectories<'a> {
    directories: Vec<&'a PathBuf>,
    /// The hashes of files that were read; none of what is no dictionary.
    hashes: HashMap<PathBuf, (Stamp, Option<u64>)>,
    reader: Reader,
    failure: Option<Failure>,
}

impl<'a> DictionaryDirectories<'a> {
    pub(crate) fn new(directories: Vec<&'a PathBuf>) -> Self {
        let (hashes, reader) = (HashMap::new(), Reader::default());
        Self { directories, hashes, reader, failure: None }
    }

    /// The dictionary with this hash.
    pub(crate) fn find(&mut self, hash: u64, system: &dyn System) -> Option<Dictionary> {
        for directory in self.directories.clone() {
            let named = directory.join(format!("{hash:016x}.pb"));
            if let Some(found) = self.read(&named, hash, system) {
                return Some(found);
            }
            match files(directory, system) {
                Ok(files) => {
                    let found = files.iter().find_map(|path| self.read(path, hash, system));
                    if found.is_some() {
                        return found;
                    }
                }
                Err(failure) => self.failure = Some(failure),
            }
        }
        None
    }

    /// The dictionary in a file, if it has this hash. Files that can't be read are others.
    fn read(&mut self, path: &Path, hash: u64, system: &dyn System) -> Option<Dictionary> {
        let stamp = system.stamp(path, &mut self.reader);
        if let (Some(stamp), Some((known, of_file))) = (&stamp, self.hashes.get(path))
            && known == stamp
            && *of_file != Some(hash)
        {
            return None;
        }
        let read = system.read_found(path, MAX_BYTES).ok();
        let found = read.and_then(|bytes| Some(Dictionary::read(&bytes).ok()?.dictionary));
        let of_file = found.as_ref().map(Dictionary::hash);
        if let Some(stamp) = stamp.filter(|stamp| stamp.is_settled(system.now())) {
            self.hashes.insert(path.to_owned(), (stamp, of_file));
        }
        found.filter(|_| of_file == Some(hash))
    }

    /// The first error.
    pub(crate) fn finish(&mut self) -> Result<(), Failure> {
        self.failure.take().map_or(Ok(()), Err)
    }
}

/// All dictionaries in a directory, in the order of their names.
fn files(directory: &Path, system: &dyn System) -> Result<Vec<PathBuf>, Failure> {
    let entries = system.entries(directory).map_err(|error| cant_read(directory, &error))?;
    let mut files: Vec<_> = entries
        .into_iter()
        .filter(|entry| !entry.is_directory)
        .map(|entry| entry.path)
        .filter(|path| path.to_str().is_some_and(|path| dictionary(path).is_ok()))
        .collect();
    files.sort();
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::system::Real;
    use std::fs;
    use viewer_config::{Collector, Format, Group};

    fn dictionary(name: &str) -> Dictionary {
        let mut collector = Collector::new();
        collector.add_group(Group { id: 1, name: name.into(), tag: name.into() });
        collector.finish().unwrap().dictionary
    }

    #[test]
    fn a_file_that_changed_is_read_again() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().to_owned();
        let [one, two] = ["one", "two"].map(dictionary);
        fs::write(path.join("app.pb"), one.to_bytes(Format::Pb)).unwrap();
        fs::write(path.join("cut.pb"), "\x0a\x7f").unwrap();
        // Older than a tick of the file system's clock, so that hashes are kept.
        std::thread::sleep(std::time::Duration::from_millis(60));
        let mut directories = DictionaryDirectories::new(vec![&path]);
        assert!(directories.find(two.hash(), &Real).is_none());
        let known =
            |it: &DictionaryDirectories<'_>| it.hashes.values().filter(|it| it.1.is_some()).count();
        assert_eq!((directories.hashes.len(), known(&directories)), (2, 1));
        assert!(directories.find(one.hash(), &Real).is_some());
        fs::write(path.join("app.pb"), two.to_bytes(Format::Pb)).unwrap();
        assert!(directories.find(one.hash(), &Real).is_none());
        assert!(directories.find(two.hash(), &Real).is_some());
    }
}
