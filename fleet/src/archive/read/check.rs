//! Files of an archive that can't be read: one that is damaged fails every query of an engine that
//! needs it, and engines do not always name it.
//!
//! Invariant: each file is read whole; memory is that of one row group. Values that were changed in
//! a page that can still be read are not found, since the files have no checksums.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs::{self, FileType};
use std::io;
use std::path::{Path, PathBuf};

use parquet::file::reader::FileReader;

use super::super::files::EXPORTS;
use super::super::schema::TableName;
use super::exports;
use super::open::{Unreadable, open};
use super::rows::Rows;
use crate::failure::{Failure, Result};

/// The result of a check.
#[derive(Default)]
pub(crate) struct Checked {
    /// The number of files that were read.
    pub(crate) files: usize,
    /// The files that can't be read, with the reason.
    pub(crate) damaged: Vec<(PathBuf, Failure)>,
    /// The same for files of exports that are not there.
    pub(crate) missing: Vec<Failure>,
}

/// Reads all tables of the archive at `root`, or of a directory that has tables alone.
pub(crate) fn check(root: &Path) -> Result<Checked> {
    let directories: Vec<PathBuf> = TableName::ALL.map(|table| root.join(table.directory())).into();
    if !directories.iter().any(|directory| directory.is_dir()) {
        let error = io::Error::new(io::ErrorKind::NotFound, "no tables are there");
        return Err(Failure::cant_read(root, &error).help("name the directory of an archive"));
    }
    let traces = traces(root)?;
    let mut checked = Checked::default();
    let mut found = BTreeSet::new();
    for directory in directories.iter().filter(|directory| directory.is_dir()) {
        collect(directory, &mut found)?;
    }
    for path in &found {
        checked.files += 1;
        if let Err(error) = read(path) {
            let failure = Failure::new(format!("`{}` is damaged: {error}", path.display()));
            checked.damaged.push((path.clone(), failure.help(remedy(traces.get(path)))));
        }
    }
    for (path, trace) in traces.iter().filter(|(path, _)| !found.contains(*path)) {
        let failure = Failure::new(format!("`{}` is missing", path.display()));
        checked.missing.push(failure.help(remedy(Some(trace))));
    }
    Ok(checked)
}

/// The file of each export, with the name of its trace.
fn traces(root: &Path) -> Result<BTreeMap<PathBuf, String>> {
    let mut traces = BTreeMap::new();
    if root.join(EXPORTS).is_dir() {
        for (_, export) in exports(root)? {
            let files = export.files.into_iter().map(|file| root.join(file));
            traces.extend(files.map(|file| (file, export.trace.clone())));
        }
    }
    Ok(traces)
}

/// Something to do about a file of a trace.
fn remedy(trace: Option<&String>) -> String {
    trace.map_or_else(
        || "move it out of the archive".to_owned(),
        |trace| format!("export `{trace}` again, or move the file out of the archive"),
    )
}

/// Adds the Parquet files below a directory. Links are not followed, as engines do not.
fn collect(directory: &Path, found: &mut BTreeSet<PathBuf>) -> Result<()> {
    let failed = |error: io::Error| Failure::cant_read(directory, &error);
    for entry in fs::read_dir(directory).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let path = entry.path();
        // A directory that was removed meanwhile has no files.
        if entry.file_type().is_ok_and(|it: FileType| it.is_dir()) {
            collect(&path, found)?;
        } else if path.extension() == Some(OsStr::new("parquet")) {
            found.insert(path);
        }
    }
    Ok(())
}

/// Reads a file whole.
fn read(path: &Path) -> std::result::Result<(), Unreadable> {
    let reader = match open(path) {
        // The export of a trace that has grown removes files of the one before.
        Err(Unreadable::Io(error)) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        opened => opened?,
    };
    for group in 0..reader.num_row_groups() {
        Rows::read(&*reader.get_row_group(group)?)?;
    }
    Ok(())
}
