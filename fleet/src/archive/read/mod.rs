//! Archives back to the lines that `read-log --format json` prints of their traces.
//!
//! Invariants: the lines of one trace are those of the trace itself, in the same order; those of
//! several are merged by the wall clock; memory is that of one row group for each file, and of the
//! losses and spans.

mod lines;
mod rows;

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, BufReader, Write};
use std::path::{Path, PathBuf};
use std::vec;

use parquet::file::reader::{FileReader, SerializedFileReader};
use protolog_files::open_regular_file;

use self::lines::{OtherLine, TemplateRecord};
use self::rows::Rows;
use super::bad_file;
use super::files::{EXPORTS, Export};
use super::schema::TableName;
use crate::failure::{Failure, Result, printed};

/// Writes the lines of all traces in the archive at `root`.
pub(crate) fn write_lines(root: &Path, out: &mut dyn Write) -> Result<()> {
    let mut traces = Vec::new();
    for export in exports(root)? {
        traces.push(TraceLines::open(root, &export)?);
    }
    loop {
        let mut next: Option<(usize, i64)> = None;
        for (index, trace) in traces.iter_mut().enumerate() {
            if let Some(time) = trace.next_time()?
                && next.is_none_or(|(_, first)| time < first)
            {
                next = Some((index, time));
            }
        }
        let Some((index, _)) = next else { break };
        if let Some(line) = traces[index].next()? {
            let written = writeln!(out, "{line}");
            if written.is_err() {
                return printed(written);
            }
        }
    }
    printed(out.flush())
}

/// What each export of a trace wrote, by the names of the traces.
fn exports(root: &Path) -> Result<Vec<Export>> {
    let directory = root.join(EXPORTS);
    let failed = |error: &io::Error| {
        Failure::cant_read(&directory, error).help("name the directory that `export` wrote")
    };
    let mut all = Vec::new();
    for entry in fs::read_dir(&directory).map_err(|error| failed(&error))? {
        let path = entry.map_err(|error| failed(&error))?.path();
        if path.extension().is_some_and(|extension| extension == "json") {
            let file = open_regular_file(&path);
            let file = file.map_err(|error| Failure::cant_read(&path, &error))?;
            let export: Export = serde_json::from_reader(BufReader::new(file))
                .map_err(|error| bad_file(&path, &error))?;
            all.push(export);
        }
    }
    all.sort_by(|one, other| one.trace.cmp(&other.trace));
    Ok(all)
}

/// The lines of one trace.
struct TraceLines {
    templates: HashMap<(String, i64), TemplateRecord>,
    messages: Vec<MessageFile>,
    others: vec::IntoIter<OtherLine>,
    next_other: Option<OtherLine>,
    /// The number of messages so far.
    seen: i64,
}

/// A file of messages, one row group at a time.
struct MessageFile {
    path: PathBuf,
    reader: SerializedFileReader<File>,
    next_group: usize,
    rows: Option<Rows>,
    /// The rows of the group by time, the next one last.
    order: Vec<usize>,
}

impl TraceLines {
    fn open(root: &Path, export: &Export) -> Result<Self> {
        let (mut templates, mut others) = (HashMap::new(), Vec::new());
        let mut messages = Vec::new();
        for name in &export.files {
            let path = root.join(name);
            let is_of = |table: TableName| {
                name.strip_prefix(table.directory()).is_some_and(|rest| rest.starts_with('/'))
            };
            let mut file = MessageFile::open(path)?;
            if is_of(TableName::Messages) {
                messages.push(file);
                continue;
            }
            while let Some(rows) = file.next_rows()? {
                for row in 0..rows.count {
                    if is_of(TableName::Templates) {
                        let (key, template) = TemplateRecord::of(&rows, row);
                        templates.insert(key, template);
                    } else if is_of(TableName::Losses) {
                        others.push(OtherLine::of_loss(&rows, row));
                    } else if is_of(TableName::Spans) {
                        others.extend(OtherLine::of_span(&rows, row));
                    }
                }
            }
        }
        others.sort_by_key(|other| other.number);
        let mut others = others.into_iter();
        let next_other = others.next();
        Ok(Self { templates, messages, others, next_other, seen: 0 })
    }

    /// The time of the next line by the wall clock, in nanoseconds since 1970.
    fn next_time(&mut self) -> Result<Option<i64>> {
        if let Some(other) = self.next_other.as_ref().filter(|it| it.after <= self.seen) {
            return Ok(Some(other.time));
        }
        let Some(index) = self.next_message()? else {
            return Ok(self.next_other.as_ref().map(|other| other.time));
        };
        Ok(self.messages[index].peek().and_then(|(rows, row)| rows.int("time", row)))
    }

    fn next(&mut self) -> Result<Option<String>> {
        let message = self.next_message()?;
        let is_next = |other: &OtherLine| other.after <= self.seen || message.is_none();
        if self.next_other.as_ref().is_some_and(is_next) {
            let other = std::mem::replace(&mut self.next_other, self.others.next());
            return Ok(other.map(|other| other.line));
        }
        let Some(file) = message.and_then(|index| self.messages.get_mut(index)) else {
            return Ok(None);
        };
        let line = file.peek().map(|(rows, row)| lines::message(rows, row, &self.templates));
        file.order.pop();
        self.seen += 1;
        Ok(line)
    }

    /// The file with the next message.
    fn next_message(&mut self) -> Result<Option<usize>> {
        let mut next: Option<(usize, (i64, i64))> = None;
        for (index, file) in self.messages.iter_mut().enumerate() {
            file.fill()?;
            let Some((rows, row)) = file.peek() else { continue };
            let place = place(rows, row);
            if next.is_none_or(|(_, first)| place < first) {
                next = Some((index, place));
            }
        }
        Ok(next.map(|(index, _)| index))
    }
}

/// The time of a row by the trace's clock, and its place among those of that time.
fn place(rows: &Rows, row: usize) -> (i64, i64) {
    (lines::trace_time(rows, row), rows.int("tie", row).unwrap_or(0))
}

impl MessageFile {
    fn open(path: PathBuf) -> Result<Self> {
        let file = open_regular_file(&path).map_err(|error| Failure::cant_read(&path, &error))?;
        let reader = SerializedFileReader::new(file).map_err(|error| bad_file(&path, &error))?;
        Ok(Self { path, reader, next_group: 0, rows: None, order: Vec::new() })
    }

    /// The next row group; none if there is none.
    fn next_rows(&mut self) -> Result<Option<Rows>> {
        if self.next_group >= self.reader.num_row_groups() {
            return Ok(None);
        }
        let group = self.reader.get_row_group(self.next_group);
        let rows = group.and_then(|group| Rows::read(&*group));
        self.next_group += 1;
        rows.map(Some).map_err(|error| bad_file(&self.path, &error))
    }

    /// Goes on to the next row group if all rows of this one are done.
    fn fill(&mut self) -> Result<()> {
        while self.order.is_empty() {
            let Some(rows) = self.next_rows()? else { break };
            self.order = (0..rows.count).collect();
            self.order.sort_by_key(|row| std::cmp::Reverse(place(&rows, *row)));
            self.rows = Some(rows);
        }
        Ok(())
    }

    fn peek(&self) -> Option<(&Rows, usize)> {
        self.rows.as_ref().zip(self.order.last().copied())
    }
}
