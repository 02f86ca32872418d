//! The items of one trace in its order: messages, losses, begins and ends of spans.
//!
//! Invariant: memory is that of one block of row groups for each file of messages, and of the
//! losses and spans.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::vec;

use parquet::file::reader::{FileReader, SerializedFileReader};

use super::super::bad_file;
use super::super::files::{BLOCKS, Export};
use super::super::others::{PASSED_OVER, UNENDED};
use super::super::schema::TableName;
use super::open::open;
use super::rows::Rows;
use crate::failure::Result;

/// The messages of the dictionary, by their ids and their places among those with the same id.
pub(super) type Templates = BTreeMap<(String, i64), TemplateRecord>;

/// A message of the dictionary.
pub(super) struct TemplateRecord {
    pub(super) level: Option<String>,
    pub(super) tag: Option<String>,
    pub(super) group: Option<String>,
    pub(super) template: String,
    pub(super) location: String,
    /// The list of the arguments' names.
    pub(super) names: String,
}

/// A row of a table, as an item of the log.
#[derive(Clone, Copy)]
pub(super) struct ItemRow<'a> {
    pub(super) kind: ItemKind,
    pub(super) rows: &'a Rows,
    pub(super) row: usize,
}

/// The kind of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ItemKind {
    Message,
    Loss,
    /// A process whose session has no end.
    Unended,
    /// Messages that sampling passed over.
    PassedOver,
    SpanBegin,
    SpanEnd,
}

/// The items of one trace.
pub(super) struct TraceItems {
    templates: Templates,
    messages: Vec<MessageFile>,
    others: vec::IntoIter<OtherItem>,
    next_other: Option<OtherItem>,
    /// The number of messages so far.
    seen: i64,
}

/// An item that is no message.
struct OtherItem {
    kind: ItemKind,
    rows: Rc<Rows>,
    row: usize,
    /// The place among these items.
    number: i64,
    /// The number of messages before it.
    after: i64,
    /// The time by the wall clock, in nanoseconds since 1970.
    time: i64,
}

/// A file of messages, one block at a time: the row groups that have the rows of one time.
struct MessageFile {
    path: PathBuf,
    reader: SerializedFileReader<File>,
    next_group: usize,
    /// The sizes of the blocks that follow, in row groups.
    blocks: vec::IntoIter<usize>,
    rows: Vec<Rows>,
    /// The rows of the block by time, the next one last: the row group of each, and the row in it.
    order: Vec<(usize, usize)>,
}

impl<'a> ItemRow<'a> {
    /// A text of the row.
    pub(super) fn text(&self, column: &str) -> Option<&'a str> {
        self.rows.text(column, self.row)
    }

    /// An integer of the row.
    pub(super) fn int(&self, column: &str) -> Option<i64> {
        self.rows.int(column, self.row)
    }

    /// Returns whether the row has this truth value, and it is true.
    pub(super) fn is(&self, column: &str) -> bool {
        self.rows.bool(column, self.row) == Some(true)
    }

    /// The time by the trace's clock, in nanoseconds.
    pub(super) fn trace_time(&self) -> i64 {
        let begin = trace_time(self.rows, self.row);
        if self.kind != ItemKind::SpanEnd {
            return begin;
        }
        begin.wrapping_add(self.int("duration").or_else(|| self.int("longest")).unwrap_or(0))
    }

    /// The time by the wall clock, in nanoseconds since 1970; none if the trace has no relation to
    /// it.
    pub(super) fn wall_time(&self) -> Option<i64> {
        let column = if self.kind == ItemKind::SpanEnd { "end_time" } else { "time" };
        self.int("boot_offset").and(self.int(column))
    }
}

impl TraceItems {
    /// Opens the files that an export wrote into the archive at `root`.
    pub(super) fn open(root: &Path, export: &Export) -> Result<Self> {
        let (mut templates, mut others) = (Templates::new(), Vec::new());
        let mut messages = Vec::new();
        for name in &export.files {
            let is_of = |table: TableName| {
                name.strip_prefix(table.directory()).is_some_and(|rest| rest.starts_with('/'))
            };
            let mut file = MessageFile::open(root.join(name))?;
            if is_of(TableName::Messages) {
                if file.reader.num_row_groups() > 0 {
                    messages.push(file);
                }
                continue;
            }
            while let Some(rows) = file.next_rows()? {
                let rows = Rc::new(rows);
                for row in 0..rows.count {
                    if is_of(TableName::Templates) {
                        let (key, template) = TemplateRecord::of(&rows, row);
                        templates.insert(key, template);
                    } else if is_of(TableName::Losses) {
                        others.push(OtherItem::of_loss(&rows, row));
                    } else if is_of(TableName::Spans) {
                        others.extend(OtherItem::of_span(&rows, row));
                    }
                }
            }
        }
        others.sort_by_key(|other| other.number);
        let mut others = others.into_iter();
        let next_other = others.next();
        Ok(Self { templates, messages, others, next_other, seen: 0 })
    }

    /// The messages of the dictionary.
    pub(super) fn templates(&self) -> &Templates {
        &self.templates
    }

    /// The time of the next item by the wall clock, in nanoseconds since 1970.
    pub(super) fn next_time(&mut self) -> Result<Option<i64>> {
        if let Some(other) = self.next_other.as_ref().filter(|it| it.after <= self.seen) {
            return Ok(Some(other.time));
        }
        let Some(index) = self.next_message()? else {
            return Ok(self.next_other.as_ref().map(|other| other.time));
        };
        Ok(self.messages[index].peek().and_then(|(rows, row)| rows.int("time", row)))
    }

    /// Calls `take` with the next item; none if there is none.
    pub(super) fn next<T>(
        &mut self,
        take: impl FnOnce(ItemRow<'_>, &Templates) -> T,
    ) -> Result<Option<T>> {
        let message = self.next_message()?;
        let is_next = |other: &OtherItem| other.after <= self.seen || message.is_none();
        if self.next_other.as_ref().is_some_and(is_next) {
            let other = std::mem::replace(&mut self.next_other, self.others.next());
            return Ok(other.map(|other| {
                let item = ItemRow { kind: other.kind, rows: &other.rows, row: other.row };
                take(item, &self.templates)
            }));
        }
        let Some(file) = message.and_then(|index| self.messages.get_mut(index)) else {
            return Ok(None);
        };
        let taken = file.peek().map(|(rows, row)| {
            take(ItemRow { kind: ItemKind::Message, rows, row }, &self.templates)
        });
        file.order.pop();
        self.seen += 1;
        Ok(taken)
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

impl TemplateRecord {
    /// The message of a row, with its id and its place among messages with that.
    fn of(rows: &Rows, row: usize) -> ((String, i64), Self) {
        let text = |column| rows.text(column, row).map(str::to_owned);
        let template = Self {
            level: text("level"),
            tag: text("tag"),
            group: text("log_group"),
            template: text("template").unwrap_or_default(),
            location: text("location").unwrap_or_default(),
            // None in archives that were written before there were names.
            names: text("names").unwrap_or_default(),
        };
        ((text("id").unwrap_or_default(), rows.int("variant", row).unwrap_or(0)), template)
    }
}

impl OtherItem {
    /// The item of a row of `losses`.
    fn of_loss(rows: &Rc<Rows>, row: usize) -> Self {
        let kind = match rows.text("reason", row) {
            Some(UNENDED) => ItemKind::Unended,
            Some(PASSED_OVER) => ItemKind::PassedOver,
            _ => ItemKind::Loss,
        };
        Self::of(rows, row, kind, ["place", "after_messages", "time"])
    }

    /// The items of a row of `spans`: its begin, and its end if it has one.
    fn of_span(rows: &Rc<Rows>, row: usize) -> impl Iterator<Item = Self> {
        let begin = Self::of(rows, row, ItemKind::SpanBegin, ["place", "after_messages", "time"]);
        let end = rows.int("end_place", row).map(|_| {
            let columns = ["end_place", "end_after_messages", "end_time"];
            Self::of(rows, row, ItemKind::SpanEnd, columns)
        });
        std::iter::once(begin).chain(end)
    }

    fn of(rows: &Rc<Rows>, row: usize, kind: ItemKind, columns: [&str; 3]) -> Self {
        let [number, after, time] = columns.map(|column| rows.int(column, row).unwrap_or(0));
        Self { kind, rows: Rc::clone(rows), row, number, after, time }
    }
}

/// The time of a row by the trace's clock.
fn trace_time(rows: &Rows, row: usize) -> i64 {
    let time = rows.int("time", row).unwrap_or(0);
    time.wrapping_add(rows.int("boot_offset", row).unwrap_or(0))
}

/// The time of a row by the trace's clock, and its place among those of that time.
fn place(rows: &Rows, row: usize) -> (i64, i64) {
    (trace_time(rows, row), rows.int("tie", row).unwrap_or(0))
}

impl MessageFile {
    fn open(path: PathBuf) -> Result<Self> {
        let reader = open(&path).map_err(|reason| reason.stopping(&path))?;
        let metadata = reader.metadata().file_metadata().key_value_metadata();
        let known = metadata.into_iter().flatten().find(|it| it.key == BLOCKS);
        let known = known.and_then(|it| serde_json::from_str(it.value.as_deref()?).ok());
        let blocks: Vec<usize> = known.unwrap_or_else(|| vec![1; reader.num_row_groups()]);
        let all = blocks.iter().try_fold(0_usize, |all, count| all.checked_add(*count));
        if all != Some(reader.num_row_groups()) {
            return Err(bad_file(&path, &format!("`{BLOCKS}` is not that of its row groups")));
        }
        let blocks = blocks.into_iter();
        Ok(Self { path, reader, next_group: 0, blocks, rows: Vec::new(), order: Vec::new() })
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

    /// Goes on to the next block if all rows of this one are done.
    fn fill(&mut self) -> Result<()> {
        while self.order.is_empty() {
            let Some(groups) = self.blocks.next() else { break };
            self.rows.clear();
            for _ in 0..groups {
                let rows = self.next_rows()?;
                self.rows.extend(rows);
            }
            let rows = self.rows.iter().enumerate();
            let all = rows.flat_map(|(group, rows)| (0..rows.count).map(move |row| (group, row)));
            self.order = all.collect();
            let place = |(group, row): &(usize, usize)| place(&self.rows[*group], *row);
            self.order.sort_by_cached_key(|at| std::cmp::Reverse(place(at)));
        }
        Ok(())
    }

    fn peek(&self) -> Option<(&Rows, usize)> {
        let (group, row) = *self.order.last()?;
        Some((self.rows.get(group)?, row))
    }
}
