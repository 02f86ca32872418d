//! What is wrong with an archive: files that fail every query of an engine that needs them, which
//! engines do not always name; and files that no export has, whose messages may be there twice.
//!
//! Invariants: each file is read whole; memory is that of one row group, and of all paths. What
//! can't be read is named, and stops nothing; what is removed meanwhile is none. Values that were
//! changed in a page that can still be read are found by checksums: those of records, of names,
//! and of the lists that a compaction leaves.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::{self, FileType};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use parquet::file::reader::FileReader;
use protolog_files::open_regular_file;

use super::super::partition::misplaced;
use super::super::schema::TableName;
use super::super::sum::{sum_in, sum_of};
use super::compacted::CompactedFiles;
use super::open::{Unreadable, open};
use super::records::{RecordedFile, Records};
use super::rows::Rows;
use crate::failure::{Failure, Result};

/// The result of a check.
#[derive(Default)]
pub(crate) struct Checked {
    /// What fails queries, or has messages that may be there twice, with the reason.
    pub(crate) damaged: BTreeMap<PathBuf, Failure>,
    /// What else is wrong: files of exports that are missing, and files that can't be checked.
    pub(crate) others: Vec<Failure>,
}

/// Reads all tables of the archive at `root`, or of a directory that has tables alone.
pub(crate) fn check(root: &Path) -> Result<Checked> {
    let help = "name the directory of an archive";
    if fs::metadata(root).is_ok_and(|it| !it.is_dir()) {
        return Err(Failure::cant_read(root, &"it is no directory").help(help));
    }
    let (mut checked, mut found) = (Checked::default(), BTreeMap::new());
    let mut has_tables = false;
    for table in TableName::ALL {
        has_tables |= checked.collect(root, table, &mut found);
    }
    if !has_tables {
        let error = io::Error::new(ErrorKind::NotFound, "no tables are there");
        return Err(Failure::cant_read(root, &error).help(help));
    }
    // After the files: what an export puts in place meanwhile is in its record then.
    let mut records = Records::read(root);
    let mut compacted = CompactedFiles::read(root);
    let damaged = records.damaged.drain(..).chain(compacted.damaged.drain(..));
    checked.damaged.extend(damaged);
    for (path, table) in &found {
        let origin = Origin::of(path, &records, &compacted);
        checked.check_file(path, (root, *table), &origin);
    }
    checked.compare(root, &found, &records);
    for path in compacted.missing(root) {
        checked.add_missing(path, &Origin::Compacted(""));
    }
    Ok(checked)
}

impl Checked {
    /// Adds the Parquet files of a table, if it is there. Links are not followed, as engines do
    /// not.
    fn collect(
        &mut self,
        root: &Path,
        table: TableName,
        found: &mut BTreeMap<PathBuf, TableName>,
    ) -> bool {
        let first = root.join(table.directory());
        let mut is_there = false;
        let mut left = vec![first.clone()];
        while let Some(directory) = left.pop() {
            let listed = fs::read_dir(&directory).and_then(|entries| {
                for entry in entries {
                    let entry = entry?;
                    let path = entry.path();
                    if entry.file_type().is_ok_and(|it: FileType| it.is_dir()) {
                        left.push(path);
                    } else if path.extension() == Some(OsStr::new("parquet")) {
                        found.insert(path, table);
                    }
                }
                Ok(())
            });
            match listed {
                Err(error) if error.kind() == ErrorKind::NotFound => continue,
                Err(error) => {
                    self.damaged.insert(directory.clone(), Failure::cant_read(&directory, &error));
                }
                Ok(()) => {}
            }
            is_there |= directory == first;
        }
        is_there
    }

    /// Checks the place of a file, and reads it whole.
    fn check_file(&mut self, path: &Path, place: (&Path, TableName), origin: &Origin<'_>) {
        let (root, table) = place;
        let below = path.strip_prefix(root.join(table.directory())).unwrap_or(path);
        if let Some(reason) = misplaced(table, below) {
            let message = format!("`{}` is no place of a table: {reason}", path.display());
            self.damaged.insert(
                path.to_owned(),
                Failure::new(message).help(Origin::Unknown(None).remedy()),
            );
            return;
        }
        let failure = match read(path, origin.sum()) {
            // The export of a trace that has grown removes files of the one before.
            Err(Unreadable::Io(error)) if error.kind() == ErrorKind::NotFound => return,
            Err(reason @ Unreadable::Codec { .. }) => {
                let message = format!("can't check `{}`: {reason}", path.display());
                let help = "write it with zstd for a check; engines may read it as it is";
                self.others.push(Failure::new(message).help(help));
                return;
            }
            Err(reason) => Failure::new(format!("`{}` is damaged: {reason}", path.display())),
            Ok(()) => return,
        };
        self.damaged.insert(path.to_owned(), failure.help(origin.remedy()));
    }

    /// Compares the files with those of the records.
    fn compare(&mut self, root: &Path, found: &BTreeMap<PathBuf, TableName>, records: &Records) {
        let mut unrecorded: Vec<&PathBuf> =
            found.keys().filter(|path| records.lack(path)).collect();
        let mut missing: Vec<(&PathBuf, &RecordedFile)> =
            records.files.iter().filter(|(path, _)| !found.contains_key(*path)).collect();
        if unrecorded.is_empty() && missing.is_empty() {
            return;
        }
        // An export may have replaced them meanwhile.
        let records = Records::read(root);
        unrecorded.retain(|path| records.lack(path) && !is_gone(path));
        missing.retain(|(path, _)| records.files.contains_key(*path) && is_gone(path));
        for path in unrecorded {
            let message = format!("`{}` is in no record of an export", path.display());
            let help = "move it out of the archive, and export its trace again if that is there";
            let failure = Failure::new(message).help(help);
            self.damaged.entry(path.clone()).or_insert(failure);
        }
        for (path, recorded) in missing {
            self.add_missing(path, &Origin::Exported(recorded, None));
        }
    }

    fn add_missing(&mut self, path: &Path, origin: &Origin<'_>) {
        let failure = Failure::new(format!("`{}` is missing", path.display()));
        self.others.push(failure.help(origin.remedy()));
    }
}

/// The origin of a file, each with the checksum that it should have, or the beginning of it.
enum Origin<'a> {
    /// An export, whose record may lack the checksum.
    Exported(&'a RecordedFile, Option<&'a str>),
    /// A compaction.
    Compacted(&'a str),
    Unknown(Option<&'a str>),
}

impl<'a> Origin<'a> {
    fn of(path: &'a Path, records: &'a Records, compacted: &'a CompactedFiles) -> Self {
        let in_name = path.file_name().and_then(OsStr::to_str).and_then(sum_in);
        match (records.files.get(path), compacted.sums.get(path)) {
            (Some(file), _) => Self::Exported(file, file.sum.as_deref().or(in_name)),
            (None, Some(sum)) => Self::Compacted(sum),
            (None, None) => Self::Unknown(in_name),
        }
    }

    fn sum(&self) -> Option<&str> {
        match self {
            Self::Exported(_, sum) | Self::Unknown(sum) => *sum,
            Self::Compacted(sum) => Some(sum),
        }
    }

    /// Something to do about the file.
    fn remedy(&self) -> String {
        match self {
            Self::Exported(RecordedFile { trace, .. }, _) => {
                format!("export `{trace}` again, or move the file out of the archive")
            }
            Self::Compacted(_) => "compact its day again if that is there, \
                 or move the file out of the archive"
                .to_owned(),
            Self::Unknown(_) => "move it out of the archive".to_owned(),
        }
    }
}

fn is_gone(path: &Path) -> bool {
    let gone = [ErrorKind::NotFound, ErrorKind::NotADirectory];
    fs::symlink_metadata(path).is_err_and(|error| gone.contains(&error.kind()))
}

/// Reads a file whole, and compares its checksum.
fn read(path: &Path, sum: Option<&str>) -> std::result::Result<(), Unreadable> {
    let reader = open(path)?;
    for group in 0..reader.num_row_groups() {
        Rows::read(&*reader.get_row_group(group)?)?;
    }
    match sum {
        Some(sum) if !sum_of(&open_regular_file(path)?)?.starts_with(sum) => {
            Err(Unreadable::Changed)
        }
        _ => Ok(()),
    }
}
