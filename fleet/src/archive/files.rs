//! The files of one export, none of which has its name before all are written.
//!
//! Invariants: what fails before [`StagedFiles::commit`] leaves nothing behind; a file replaces the
//! one that an earlier export of the same trace wrote; what that wrote and this one does not is
//! removed.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, BufWriter, ErrorKind};
use std::path::{Path, PathBuf};

use parquet::file::writer::SerializedFileWriter;
use protolog_files::{StagedFile, Tree};
use serde::{Deserialize, Serialize};

use super::schema::{self, TableName};
use super::table::{Cell, Table};
use crate::failure::{Failure, Result};

/// The beginning of names of files that are not complete, where the file system gives them one.
const PREFIX: &str = ".protolog-";

/// The mode of files: logs are for their user alone.
const MODE: u32 = 0o600;

/// The directory with one file for each trace that was exported.
pub(super) const EXPORTS: &str = "exports";

/// Files that are written, and not in their places yet.
pub(super) struct StagedFiles {
    tree: Tree,
    root: PathBuf,
    done: Vec<(String, StagedFile)>,
}

/// What an export wrote, which the next one of the same trace replaces.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Export {
    /// The name of the trace.
    pub(super) trace: String,
    pub(super) messages: u64,
    /// Paths below the directory of the archive.
    pub(super) files: Vec<String>,
}

/// A Parquet file that is being written.
pub(super) struct TableFile {
    name: String,
    staged: StagedFile,
    file: SerializedFileWriter<BufWriter<File>>,
    table: Table,
}

impl StagedFiles {
    /// In the directory at `root`, which is made if it is not there.
    pub(super) fn new(root: &Path) -> Result<Self> {
        let tree = Tree::create(root).map_err(|error| Failure::cant_write(root, &error))?;
        Ok(Self { tree, root: root.to_owned(), done: Vec::new() })
    }

    /// Begins a file with rows of a table, which gets this name, a path below the root.
    pub(super) fn begin(
        &self,
        name: String,
        table: TableName,
        arguments: [usize; 4],
    ) -> Result<TableFile> {
        let (staged, file) = self.create(&name)?;
        let schema = table.schema(arguments);
        let rows = Table::new(&schema, table.order());
        let properties = schema::properties(&schema);
        let file = SerializedFileWriter::new(BufWriter::new(file), schema, properties);
        let file = file.map_err(|error| self.failed(&name, &error.into()))?;
        Ok(TableFile { name, staged, file, table: rows })
    }

    /// Adds a row to a file.
    pub(super) fn push(&self, file: &mut TableFile, cells: &[Cell<'_>]) -> Result<()> {
        file.table.push(cells);
        if !file.table.is_full() {
            return Ok(());
        }
        let written = file.table.write(&mut file.file);
        written.map_err(|error| self.failed(&file.name, &error.into()))
    }

    /// Completes a file.
    pub(super) fn finish(&mut self, file: TableFile) -> Result<()> {
        let TableFile { name, staged, mut file, mut table } = file;
        let written = (|| {
            if !table.is_empty() {
                table.write(&mut file)?;
            }
            let file = file.into_inner()?.into_inner().map_err(io::IntoInnerError::into_error)?;
            file.sync_all()
        })();
        written.map_err(|error: io::Error| self.failed(&name, &error))?;
        self.done.push((name, staged));
        Ok(())
    }

    /// Puts all files in their places, and then removes those of an earlier export of the same
    /// trace that are left.
    pub(super) fn commit(mut self, source: &str, mut export: Export) -> Result<()> {
        let record = format!("{EXPORTS}/{source}.json");
        let before = self.tree.read(Path::new(&record)).ok();
        let before: Option<Export> = before.and_then(|bytes| serde_json::from_slice(&bytes).ok());
        export.files = self.done.iter().map(|(name, _)| name.clone()).collect();
        export.files.sort();
        let (staged, mut file) = self.create(&record)?;
        let written = serde_json::to_writer(&mut file, &export).map_err(io::Error::from);
        written.map_err(|error| self.failed(&record, &error))?;
        let files = std::mem::take(&mut self.done);
        for (name, staged) in files.into_iter().chain([(record, staged)]) {
            let place = self.tree.locate_new(Path::new(&name));
            let placed = place.and_then(|place| staged.commit(&place));
            placed.map_err(|error| self.failed(&name, &error))?;
        }
        let now: BTreeSet<&String> = export.files.iter().collect();
        for name in before.unwrap_or_default().files.iter().filter(|name| !now.contains(name)) {
            // Templates are the same file for all traces of a build.
            if !name.starts_with(TableName::Templates.directory()) {
                self.remove(name)?;
            }
        }
        Ok(())
    }

    fn remove(&self, name: &str) -> Result<()> {
        let removed = self.tree.locate(Path::new(name)).and_then(|place| place.remove());
        match removed {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(self.failed(name, &error)),
            _ => Ok(()),
        }
    }

    fn create(&self, name: &str) -> Result<(StagedFile, File)> {
        let place = self.tree.locate_new(Path::new(name));
        let created = place.and_then(|place| StagedFile::new(&place, PREFIX, MODE));
        created.map_err(|error| self.failed(name, &error))
    }

    fn failed(&self, name: &str, error: &io::Error) -> Failure {
        Failure::cant_write(&self.root.join(name), error)
    }
}
