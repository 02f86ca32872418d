//! The records of an archive: which files each export has.
//!
//! Invariant: a record that is removed while they are listed is none, and no failure.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{self, BufReader, ErrorKind};
use std::path::{Path, PathBuf};

use protolog_files::open_regular_file;

use super::super::files::{EXPORTS, Export, INTENT, RECORD, bad_record, is_below, source_of};
use crate::failure::{Failure, Result};

/// All records as far as they can be read, for a check.
#[derive(Default)]
pub(super) struct Records {
    /// Files of exports.
    pub(super) files: BTreeMap<PathBuf, RecordedFile>,
    /// What can't be read.
    pub(super) damaged: Vec<(PathBuf, Failure)>,
    /// Files that exports put in place or remove now, or did so when they were killed. The next
    /// export removes what is left of them.
    intended: BTreeSet<PathBuf>,
    /// Whether the archive has records. Tables of other programs have none.
    are_there: bool,
}

/// A file that a record names.
pub(super) struct RecordedFile {
    /// The name of the trace.
    pub(super) trace: String,
    /// The checksum; none if other exports have the file, too, or in records of earlier versions.
    pub(super) sum: Option<String>,
}

/// All exports, by the names of their traces, each with the text that tells its trace from others.
pub(super) fn exports(root: &Path) -> Result<Vec<(String, Export)>> {
    let directory = root.join(EXPORTS);
    let names = names(&directory).map_err(|error| {
        Failure::cant_read(&directory, &error).help("name the directory that `export` wrote")
    })?;
    let mut all = Vec::new();
    for name in names {
        let Some(source) = name.strip_suffix(RECORD) else { continue };
        if let Some(export) = read(&directory.join(&name))? {
            all.push((source.to_owned(), export));
        }
    }
    all.sort_by(|(one_source, one), (other_source, other)| {
        (&one.trace, one_source).cmp(&(&other.trace, other_source))
    });
    Ok(all)
}

impl Records {
    /// Reads those of the archive at `root`.
    pub(super) fn read(root: &Path) -> Self {
        let mut records = Self::default();
        let directory = root.join(EXPORTS);
        let mut names = match names(&directory) {
            Ok(names) => names,
            Err(error) if error.kind() == ErrorKind::NotFound => return records,
            Err(error) => {
                records.damaged.push((directory.clone(), Failure::cant_read(&directory, &error)));
                return records;
            }
        };
        records.are_there = true;
        // An export that ends meanwhile has written its record before it removes its intent.
        names.sort_by_key(|name| !name.ends_with(INTENT));
        for name in names {
            let path = directory.join(&name);
            let is_intent = name.ends_with(INTENT);
            if !is_intent && !name.ends_with(RECORD) {
                continue;
            }
            match read(&path) {
                Err(failure) => records.damaged.push((path, failure)),
                Ok(None) => {}
                Ok(Some(export)) => {
                    if is_intent {
                        records.intended.extend(export.files.iter().map(|file| root.join(file)));
                        continue;
                    }
                    records.files.extend(export.files.iter().map(|file| {
                        let (trace, sum) = (export.trace.clone(), export.sha256.get(file).cloned());
                        (root.join(file), RecordedFile { trace, sum })
                    }));
                }
            }
        }
        records
    }

    /// Returns whether a file is that of one export, and no record or intent has it.
    pub(super) fn lack(&self, path: &Path) -> bool {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let is_known = self.files.contains_key(path) || self.intended.contains(path);
        self.are_there && !is_known && source_of(&name).is_some()
    }
}

/// The names in the directory of records.
fn names(directory: &Path) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(directory)? {
        names.push(entry?.file_name().to_string_lossy().into_owned());
    }
    Ok(names)
}

/// A record or an intent; none if it is not there any more.
fn read(path: &Path) -> Result<Option<Export>> {
    let file = match open_regular_file(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        opened => opened.map_err(|error| bad_record(path, &error))?,
    };
    let export: Export =
        serde_json::from_reader(BufReader::new(file)).map_err(|error| bad_record(path, &error))?;
    match export.files.iter().find(|name| !is_below(name)) {
        Some(name) => Err(bad_record(path, &format!("`{name}` is not below the archive"))),
        None => Ok(Some(export)),
    }
}
