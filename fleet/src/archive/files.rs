//! The files of one export, none of which has its name before all are written.
//!
//! The files of an export have other names than those of an earlier one of the same trace that had
//! other rows, so both can be there. Which of them count, the record says, which is replaced at
//! once; the others are removed after that. While this goes on, an intent names all of them, for
//! the next export to clear up if this one is killed.
//!
//! Invariants: what fails before [`StagedFiles::commit`] leaves nothing behind; the files that a
//! record names are there, whole, and of one export; one export at a time puts files in place.

use std::cell;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fmt;
use std::fs::File;
use std::io::{self, BufWriter, ErrorKind};
use std::path::{Component, Path, PathBuf};

use parquet::file::metadata::KeyValue;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::TypePtr;
use protolog_files::{StagedFile, Tree, open_lock_file};
use rustix::process::{Signal, getpid, kill_process};
use serde::{Deserialize, Serialize};

use super::schema::{self, TableName};
use super::sum::{SummedFile, with_sum};
use super::table::{Cell, Table};
use crate::failure::{Failure, Result};

/// The beginning of names of files that are not complete, where the file system gives them one.
pub(super) const PREFIX: &str = ".protolog-";

/// The mode of files: logs are for their user alone.
pub(super) const MODE: u32 = 0o600;

/// The metadata of a file that says how many row groups follow each other by id, and not by time.
pub(super) const BLOCKS: &str = "protolog.blocks";

/// The directory with one file for each trace that was exported: its record, in JSON.
pub(super) const EXPORTS: &str = "exports";

/// The file whose lock the export has that puts files in place.
const LOCK: &str = "exports/archive.lock";

/// The ends of the names of a record and, beside it, an intent.
pub(super) const RECORD: &str = ".json";
pub(super) const INTENT: &str = ".intent";

/// Files that are written, and not in their places yet.
pub(super) struct StagedFiles {
    tree: Tree,
    root: PathBuf,
    done: Vec<(String, StagedFile)>,
    /// The checksums of these.
    sums: BTreeMap<String, String>,
    /// The steps of putting files in place that were passed.
    steps: cell::Cell<u32>,
}

/// The output of an export, which the next one of the same trace replaces.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Export {
    /// The name of the trace.
    pub(super) trace: String,
    pub(super) messages: u64,
    /// The time of the last item, in nanoseconds of the trace's clock.
    #[serde(default)]
    pub(super) ends: Option<i64>,
    /// Paths below the directory of the archive.
    pub(super) files: Vec<String>,
    /// The checksums of those that no other export has.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) sha256: BTreeMap<String, String>,
}

/// A Parquet file that is being written.
pub(super) struct TableFile {
    name: String,
    staged: StagedFile,
    file: File,
    schema: TypePtr,
    /// None until rows are written, which decide the encodings.
    writer: Option<SerializedFileWriter<BufWriter<SummedFile>>>,
    table: Table,
    /// The numbers of row groups that have the rows of one time.
    blocks: Vec<usize>,
}

impl StagedFiles {
    /// In the directory at `root`, which is made if it is not there.
    pub(super) fn new(root: &Path) -> Result<Self> {
        let tree = Tree::create(root).map_err(|error| Failure::cant_write(root, &error))?;
        let (done, sums, steps) = (Vec::new(), BTreeMap::new(), cell::Cell::new(0));
        Ok(Self { tree, root: root.to_owned(), done, sums, steps })
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
        Ok(TableFile { name, staged, file, schema, writer: None, table: rows, blocks: Vec::new() })
    }

    /// Adds a row to a file.
    pub(super) fn push(&self, file: &mut TableFile, cells: &[Cell<'_>]) -> Result<()> {
        file.table.push(cells);
        if !file.table.is_full() {
            return Ok(());
        }
        file.write_block().map_err(|error| self.failed(&file.name, &error))
    }

    /// Completes a file.
    pub(super) fn finish(&mut self, mut file: TableFile) -> Result<()> {
        let sum = file.complete().map_err(|error| self.failed(&file.name, &error))?;
        self.sums.insert(file.name.clone(), sum);
        self.done.push((file.name, file.staged));
        Ok(())
    }

    /// Completes a file that other exports may have, too: its name gets its checksum.
    pub(super) fn finish_shared(&mut self, mut file: TableFile) -> Result<()> {
        let sum = file.complete().map_err(|error| self.failed(&file.name, &error))?;
        self.done.push((with_sum(&file.name, &sum), file.staged));
        Ok(())
    }

    /// Puts all files in their places, and then removes those of an earlier export of the same
    /// trace. Other exports wait until that is done. Leaves all as it is, and returns false, if the
    /// trace goes on in that earlier export: this one is of a copy from before.
    pub(super) fn commit(mut self, source: &str, mut export: Export) -> Result<bool> {
        let _lock = self.lock()?;
        self.undo_interrupted()?;
        // Without it, nobody knows which files of the trace are there: they would stay.
        let before = self.read_export(&record_of(source))?.unwrap_or_default();
        // A time alone could be damaged; and a ring that was written again has later messages.
        if before.ends > export.ends && before.messages > export.messages {
            return Ok(false);
        }
        // A message without its template is worth less than a template without a message.
        self.done.sort_by_key(|(name, _)| (!is_template(name), name.clone()));
        export.files = self.done.iter().map(|(name, _)| name.clone()).collect();
        export.files.sort();
        // Another export may write the same file by another version of the library.
        self.sums.retain(|name, _| is_own(name, source));
        export.sha256 = std::mem::take(&mut self.sums);
        let touched = export.files.iter().chain(&before.files).cloned().collect::<BTreeSet<_>>();
        let intended = Export { files: touched.into_iter().collect(), ..Export::default() };
        let placed = self.place(source, &intended, &export);
        if placed.is_err() {
            // As the next export does after a kill, but at once: engines read all files.
            let _ = self.undo_interrupted();
        }
        placed.map(|()| true)
    }

    /// Puts all files and the record in place, and removes what is not in that, with an intent of
    /// all these files meanwhile.
    fn place(&mut self, source: &str, intended: &Export, export: &Export) -> Result<()> {
        self.write_export(&intent(source), intended)?;
        for (name, staged) in std::mem::take(&mut self.done) {
            self.pass_step();
            let place = self.tree.locate_new(Path::new(&name));
            let placed = place.and_then(|place| staged.commit(&place));
            placed.map_err(|error| self.failed(&name, &error))?;
        }
        self.pass_step();
        self.write_export(&record_of(source), export)?;
        self.clear(source, intended, export)
    }

    /// Waits until no other export has the lock of the archive, and takes it.
    fn lock(&self) -> Result<File> {
        let place = self.tree.locate_new(Path::new(LOCK));
        let locked = place.and_then(|place| open_lock_file(&place)).and_then(|file| {
            file.lock()?;
            Ok(file)
        });
        locked.map_err(|error| self.failed(LOCK, &error))
    }

    /// Removes what exports that were killed have left: files that are in no record.
    fn undo_interrupted(&self) -> Result<()> {
        let names = self.tree.locate(Path::new(LOCK)).and_then(|place| place.siblings());
        for name in names.map_err(|error| self.failed(EXPORTS, &error))? {
            let name = name.to_string_lossy();
            let Some(source) = name.strip_suffix(INTENT) else { continue };
            // Of one that is damaged, a check of the archive finds what is in no record.
            let intended = self.read_export(&intent(source)).ok().flatten().unwrap_or_default();
            // Without knowing what is in the record, nothing is removed.
            if let Ok(record) = self.read_export(&record_of(source)) {
                let record = record.unwrap_or_default();
                self.clear(source, &intended, &record)?;
            }
        }
        Ok(())
    }

    /// Removes the files of a trace's intent that are not in its record, and then the intent.
    fn clear(&self, source: &str, intended: &Export, record: &Export) -> Result<()> {
        let is_left = |name: &&String| is_own(name, source) && !record.files.contains(*name);
        for name in intended.files.iter().filter(is_left) {
            self.remove(name)?;
        }
        self.remove(&intent(source))
    }

    /// A record or an intent; none if it is not there.
    fn read_export(&self, name: &str) -> Result<Option<Export>> {
        let failed = |error: &dyn fmt::Display| bad_record(&self.root.join(name), error);
        match self.tree.read(Path::new(name)) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(failed(&error)),
            Ok(bytes) => serde_json::from_slice(&bytes).map(Some).map_err(|error| failed(&error)),
        }
    }

    fn write_export(&self, name: &str, export: &Export) -> Result<()> {
        let (staged, mut file) = self.create(name)?;
        let written = serde_json::to_writer(&mut file, export).map_err(io::Error::from);
        let placed = written.and_then(|()| {
            file.sync_all()?;
            staged.commit(&self.tree.locate_new(Path::new(name))?)
        });
        placed.map_err(|error| self.failed(name, &error))
    }

    /// Passes a step at which a process may be killed. Tests have it end at each, by a variable
    /// that has its number; in builds with debug assertions alone.
    fn pass_step(&self) {
        self.steps.set(self.steps.get() + 1);
        let is_last = |last: String| last == self.steps.get().to_string();
        if cfg!(debug_assertions) && std::env::var("PROTOLOG_FLEET_LAST_STEP").is_ok_and(is_last) {
            let _ = kill_process(getpid(), Signal::KILL);
        }
    }

    fn remove(&self, name: &str) -> Result<()> {
        self.pass_step();
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

impl TableFile {
    /// Writes the rows that are gathered.
    fn write_block(&mut self) -> io::Result<()> {
        let mut writer = self.writer()?;
        self.blocks.push(self.table.write(&mut writer)?);
        self.writer = Some(writer);
        Ok(())
    }

    /// Writes what is left, and the end of the file. Returns its checksum.
    fn complete(&mut self) -> io::Result<String> {
        if !self.table.is_empty() {
            self.write_block()?;
        }
        let (mut writer, blocks) = (self.writer()?, serde_json::to_string(&self.blocks)?);
        writer.append_key_value_metadata(KeyValue::new(BLOCKS.to_owned(), blocks));
        let out = writer.into_inner()?.into_inner().map_err(io::IntoInnerError::into_error)?;
        self.file.sync_all()?;
        Ok(out.sum())
    }

    fn writer(&mut self) -> io::Result<SerializedFileWriter<BufWriter<SummedFile>>> {
        if let Some(writer) = self.writer.take() {
            return Ok(writer);
        }
        let encodings = self.table.encodings(&self.schema, schema::has_any_encoding)?;
        let properties = schema::properties(&self.schema, &encodings);
        let file = BufWriter::new(SummedFile::new(self.file.try_clone()?));
        Ok(SerializedFileWriter::new(file, self.schema.clone(), properties)?)
    }
}

/// The name of the intent of a trace's export.
fn intent(source: &str) -> String {
    format!("{EXPORTS}/{source}{INTENT}")
}

/// The name of the record of a trace's export.
fn record_of(source: &str) -> String {
    format!("{EXPORTS}/{source}{RECORD}")
}

/// Returns whether a name that a record has stays below the archive: records may come from others.
pub(super) fn is_below(name: &str) -> bool {
    Path::new(name).components().all(|part| matches!(part, Component::Normal(_)))
}

/// Returns whether a file is of this trace alone: templates, and files without rows, are the same
/// for several.
fn is_own(name: &str, source: &str) -> bool {
    let file = Path::new(name).file_name().and_then(OsStr::to_str);
    let rest = file.and_then(|file| file.strip_prefix(source));
    is_below(name) && rest.is_some_and(|rest| rest.starts_with('-'))
}

/// The trace whose export alone has a file of this name, by what tells it from others:
/// `SOURCE-VERSION-NUMBER.parquet`. None for files that several exports may have, or that an
/// engine wrote.
pub(super) fn source_of(file: &str) -> Option<&str> {
    let mut parts = file.strip_suffix(".parquet")?.split('-');
    let (source, version, number) = (parts.next()?, parts.next()?, parts.next()?);
    let is_hex =
        |text: &str, size| text.len() == size && text.bytes().all(|it| it.is_ascii_hexdigit());
    let is_one = is_hex(source, 16) && is_hex(version, 8) && number.parse::<u64>().is_ok();
    (is_one && parts.next().is_none()).then_some(source)
}

/// The failure of a record that can't be read. An export of its trace would not know which files
/// it replaces, so these are moved away first.
pub(super) fn bad_record(path: &Path, error: &dyn fmt::Display) -> Failure {
    let help = "move what `export check` names out of the archive, and export the trace again";
    Failure::cant_read(path, error).help(help)
}

fn is_template(name: &str) -> bool {
    name.starts_with(TableName::Templates.directory())
}
