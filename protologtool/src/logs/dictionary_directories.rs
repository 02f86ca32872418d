//! Directories of dictionaries, and how the one is found there that a program was stripped into.
//!
//! Its name is `<hash>.pb` if `--strip-to` was given the directory; otherwise each dictionary is
//! read until one has the hash.

use crate::args::values::dictionary;
use crate::exit::Failure;
use crate::output::cant_read;
use crate::system::System;
use std::path::{Path, PathBuf};
use viewer_config::Dictionary;

/// The size of a dictionary that is found, in bytes.
const MAX_BYTES: u64 = 256 << 20;

/// The directories.
pub(crate) struct DictionaryDirectories<'a> {
    directories: Vec<&'a PathBuf>,
    failure: Option<Failure>,
}

impl<'a> DictionaryDirectories<'a> {
    pub(crate) fn new(directories: Vec<&'a PathBuf>) -> Self {
        Self { directories, failure: None }
    }

    /// The dictionary with this hash.
    pub(crate) fn find(&mut self, hash: u64, system: &dyn System) -> Option<Dictionary> {
        self.directories.iter().find_map(|directory| {
            let named = directory.join(format!("{hash:016x}.pb"));
            read(&named, hash, system).or_else(|| match files(directory, system) {
                Ok(files) => files.iter().find_map(|path| read(path, hash, system)),
                Err(failure) => {
                    self.failure = Some(failure);
                    None
                }
            })
        })
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

/// The dictionary in a file, if it has this hash. Files that can't be read are others.
fn read(path: &Path, hash: u64, system: &dyn System) -> Option<Dictionary> {
    let bytes = system.read_found(path, MAX_BYTES).ok()?;
    let dictionary = Dictionary::read(&bytes).ok()?.dictionary;
    (dictionary.hash() == hash).then_some(dictionary)
}
