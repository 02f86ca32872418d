//! The file of each directory of an archive, as one export goes on.
//!
//! Invariant: at most [`MOST_OPEN`] files are being written. Where rows of more directories take
//! turns, some have several files.

use std::collections::BTreeMap;

use super::files::{Export, StagedFiles, TableFile};
use super::partition::Partition;
use super::schema::TableName;
use super::table::Cell;
use crate::failure::Result;

/// The most files that are being written at a time.
pub(super) const MOST_OPEN: usize = 16;

/// See the module.
pub(super) struct Places {
    files: StagedFiles,
    source: String,
    /// The beginning of names of files.
    name: String,
    build: String,
    arguments: [usize; 4],
    /// With the number of rows that there were anywhere when each got its last one.
    open: BTreeMap<(TableName, Partition), (u64, TableFile)>,
    /// The number of files that each place has had.
    parts: BTreeMap<(TableName, Partition), u64>,
    pushed: u64,
}

impl Places {
    /// For the rows of a trace, whose messages have so many arguments of each kind. `version` is
    /// that of what is exported of it.
    pub(super) fn new(
        files: StagedFiles,
        (source, version): (&str, u32),
        build: String,
        arguments: [usize; 4],
    ) -> Self {
        let (open, parts) = (BTreeMap::new(), BTreeMap::new());
        let (source, name) = (source.to_owned(), format!("{source}-{version:08x}"));
        Self { files, source, name, build, arguments, open, parts, pushed: 0 }
    }

    /// Adds a row.
    pub(super) fn push(
        &mut self,
        table: TableName,
        partition: Partition,
        cells: &[Cell<'_>],
    ) -> Result<()> {
        self.pushed += 1;
        let key = (table, partition);
        if let Some((last, file)) = self.open.get_mut(&key) {
            *last = self.pushed;
            return self.files.push(file, cells);
        }
        if self.open.len() >= MOST_OPEN {
            let oldest = self.open.iter().min_by_key(|(_, (last, _))| *last);
            let oldest = oldest.map(|(key, _)| key.clone());
            if let Some((_, file)) = oldest.and_then(|key| self.open.remove(&key)) {
                self.files.finish(file)?;
            }
        }
        let part = self.parts.entry(key.clone()).or_default();
        let directory = key.1.directory(table, &self.build);
        let name = format!("{directory}/{}-{part}.parquet", self.name);
        *part += 1;
        let mut file = self.files.begin(name, table, self.arguments)?;
        self.files.push(&mut file, cells)?;
        self.open.insert(key, (self.pushed, file));
        Ok(())
    }

    /// Writes a file of its own, with the name of its content, and its checksum.
    pub(super) fn write_file<'a, const N: usize>(
        &mut self,
        table: TableName,
        partition: &Partition,
        content: &str,
        rows: impl Iterator<Item = [Cell<'a>; N]>,
    ) -> Result<()> {
        let directory = partition.directory(table, &self.build);
        let mut file = self.files.begin(format!("{directory}/{content}.parquet"), table, [0; 4])?;
        for cells in rows {
            self.files.push(&mut file, &cells)?;
        }
        self.files.finish_shared(file)
    }

    /// Writes a file without rows for each table, the same for all archives: an engine that finds
    /// no file of a table knows none of its columns. Queries may name the first four texts.
    fn write_empty(&mut self) -> Result<()> {
        let nowhere = Partition { day: None, program: None };
        for table in TableName::ALL {
            let name = format!("{}/none.parquet", nowhere.directory(table, ""));
            let file = self.files.begin(name, table, [4, 1, 1, 1])?;
            self.files.finish(file)?;
        }
        Ok(())
    }

    /// Puts all files in their places; false if the archive has more of the trace.
    pub(super) fn commit(mut self, export: Export) -> Result<bool> {
        self.write_empty()?;
        for (_, file) in std::mem::take(&mut self.open).into_values() {
            self.files.finish(file)?;
        }
        self.files.commit(&self.source, export)
    }
}
