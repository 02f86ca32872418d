//! Archives of logs in Parquet: tables that DuckDB reads as they are.
//!
//! ```text
//! traces         files, recordings            →  a log, page by page
//! messages       entries                      →  rows of `messages`
//! others         losses, spans, and so on     →  rows of theirs
//! templates      the dictionary               →  rows of `templates`
//! partition      date, program, build         →  directories
//! table          rows                         →  columns of one row group, sorted
//! encodings      columns of numbers           →  the smallest encoding
//! places         rows                         →  the file of each directory
//! files          files without a name         →  the archive, all at once
//! sum            bytes that are written       →  a checksum for the record
//! read           the archive                  →  the lines of `read-log --format json`
//! ```
//!
//! Invariants: an archive has all that `read-log` shows of its traces, in the same order; memory is
//! that of a page of the trace and of one row group for each file that is being written, of which
//! there are at most [`places::MOST_OPEN`].

mod encodings;
mod files;
mod json;
mod messages;
mod others;
mod partition;
mod places;
pub(crate) mod read;
mod schema;
mod sum;
mod table;
mod templates;

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use protolog_core::hash;
use protolog_reader::{Item, Log, SpanSlice};

use self::files::{Export, StagedFiles};
use self::messages::{MessageRows, RowOrigin};
use self::others::{ItemPlace, LossRow, SpanRows, Unended};
use self::partition::{Partition, day, program};
use self::places::Places;
use self::schema::TableName;
use self::templates::TemplateRow;
use crate::failure::{Failure, Result};
use crate::traces::TraceLog;

/// Values that are exported with each row, where the trace does not have them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Labels {
    /// The name of the machine.
    pub(crate) host: Option<String>,
    /// The name of the build.
    pub(crate) build: Option<String>,
}

/// Writes the log of a trace into the archive at `root`. Returns the number of messages; none if
/// the archive has more of this trace, and so stays as it is.
pub(crate) fn export(trace: &mut TraceLog, labels: &Labels, root: &Path) -> Result<Option<u64>> {
    let dictionary = templates::build(&templates::rows(trace.pages.log().dictionary()));
    let version = version(trace, labels, &dictionary);
    let build = labels.build.clone().unwrap_or(dictionary);
    let rows = MessageRows::new(trace.pages.log());
    let source = trace.source.clone();
    let files = StagedFiles::new(root)?;
    let places = Places::new(files, (&source, version), build, rows.arguments());
    let mut writer = Writer {
        origin: RowOrigin { source: &source, host: labels.host.as_deref() },
        places,
        rows,
        spans: SpanRows::default(),
        others: 0,
        programs: BTreeSet::new(),
        last: (None, None),
        messages: 0,
    };
    while trace.next_page()? {
        writer.write_page(trace.pages.log())?;
    }
    writer.finish(trace)
}

/// The way in which rows are written: another number where one version of the program has two.
const LAYOUT: u32 = 6;

/// The number that tells the rows of this export from those of another one of the same trace, which
/// has grown or was mended since, or was exported with another dictionary, by another name of the
/// machine, or otherwise.
fn version(trace: &TraceLog, labels: &Labels, dictionary: &str) -> u32 {
    let (trace, program) = (trace.content, env!("CARGO_PKG_VERSION"));
    let of = format!("{trace} {:?} {dictionary} {program} {LAYOUT}", labels.host);
    hash(of.as_bytes()) as u32
}

/// The rows of one export, as far as they are written.
struct Writer<'a> {
    origin: RowOrigin<'a>,
    places: Places,
    rows: MessageRows,
    spans: SpanRows,
    /// The number of items that are no messages.
    others: u64,
    programs: BTreeSet<Option<Arc<str>>>,
    /// The name of the process of the last row, and its program.
    last: (Option<String>, Option<Arc<str>>),
    messages: u64,
}

impl Writer<'_> {
    fn write_page(&mut self, log: &Log) -> Result<()> {
        for item in log.items() {
            match item {
                Item::Entry(entry) => {
                    let wall = log.wall_time(entry.time());
                    let partition = self.partition(entry.process_name(), wall);
                    let Self { rows, places, origin, .. } = self;
                    rows.with_row((log, &entry), origin, |cells| {
                        places.push(TableName::Messages, partition, cells)
                    })?;
                    self.messages += 1;
                }
                Item::Loss(loss) => {
                    let place = self.next_place();
                    let row = LossRow { log, loss, place };
                    let partition = self.partition(row.process(), log.wall_time(loss.time));
                    row.with_cells(&self.origin, |cells| {
                        self.places.push(TableName::Losses, partition, cells)
                    })?;
                }
                Item::SpanBegin(slice) => {
                    let place = self.next_place();
                    self.spans.begin(slice, place);
                }
                Item::SpanEnd(slice) => {
                    let place = self.next_place();
                    self.push_span(log, slice, Some(place))?;
                }
            }
        }
        Ok(())
    }

    fn push_span(&mut self, log: &Log, slice: &SpanSlice, end: Option<ItemPlace>) -> Result<()> {
        let Some(row) = self.spans.end(log, slice, end) else { return Ok(()) };
        let partition = self.partition(row.process(), log.wall_time(slice.begin));
        row.with_cells(&self.origin, |cells| self.places.push(TableName::Spans, partition, cells))
    }

    /// The place of the next item that is no message.
    fn next_place(&mut self) -> ItemPlace {
        self.others += 1;
        ItemPlace { after: self.messages, number: self.others }
    }

    /// The place of a row of this process and time of the wall clock.
    fn partition(&mut self, process: Option<&str>, wall: Option<i64>) -> Partition {
        let (last, last_program) = &self.last;
        if last.as_deref() != process || !self.programs.contains(last_program) {
            let program = process.and_then(program);
            self.programs.insert(program.clone());
            self.last = (process.map(str::to_owned), program);
        }
        Partition { day: wall.map(day), program: self.last.1.clone() }
    }

    fn finish(mut self, trace: &TraceLog) -> Result<Option<u64>> {
        let log = trace.pages.log();
        for slice in self.spans.open(log) {
            self.push_span(log, slice, None)?;
        }
        let last = log.span().map_or(0, |(_, last)| last);
        for pid in log.stats().unended.clone() {
            let partition = self.partition(log.name_of_pid(pid), log.wall_time(last));
            let row = Unended { log, pid, time: last, place: self.next_place() };
            row.with_cells(&self.origin, |cells| {
                self.places.push(TableName::Losses, partition, cells)
            })?;
        }
        for row in others::passed_over(log) {
            let partition = self.partition(row.process, log.wall_time(row.time));
            let place = self.next_place();
            row.with_cells(&self.origin, place, |cells| {
                self.places.push(TableName::Losses, partition, cells)
            })?;
        }
        // All machines write the same file: its name is that of its content.
        let rows = templates::rows(log.dictionary());
        let content = templates::content(rows.iter());
        for program in std::mem::take(&mut self.programs) {
            let partition = Partition { day: None, program };
            let rows = rows.iter().map(TemplateRow::cells);
            self.places.write_file(TableName::Templates, &partition, &content, rows)?;
        }
        let messages = self.messages;
        let ends = log.span().map(|(_, last)| last);
        let trace = trace.name.clone();
        let export = Export { trace, messages, ends, ..Export::default() };
        Ok(self.places.commit(export)?.then_some(messages))
    }
}

/// A failure of the Parquet library on a file of an archive.
fn bad_file(path: &Path, error: &dyn std::fmt::Display) -> Failure {
    Failure::cant_read(path, error).help("export the trace again")
}
