//! The rows of a table, gathered for row groups of a Parquet file.
//!
//! Invariants: texts are kept once for all rows of a group; memory is that of one group, which ends
//! at [`MOST_ROWS`] rows or [`MOST_TEXT`] bytes of distinct texts.

use std::io::Write;
use std::ops::Range;
use std::sync::Arc;

use foldhash::HashMap;
use parquet::basic::Type as Physical;
use parquet::column::writer::ColumnWriterImpl;
use parquet::data_type::{
    BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int32Type, Int64Type,
};
use parquet::errors::Result;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type;

use super::encodings::{self, Encodings};

/// The most rows of a row group.
pub(super) const MOST_ROWS: usize = 128 << 10;

/// The most bytes of distinct texts of a row group.
const MOST_TEXT: usize = 32 << 20;

/// The rows of one message that get a row group of their own: engines that look for another one
/// skip it, by the least and greatest id in it.
const OWN_GROUP: usize = 8 << 10;

/// The rows from which on they do. Of fewer, descriptions of row groups and their filters cost more
/// than is saved.
const LARGE: usize = 64 << 10;

/// Rows stay in the order of time if one in so many has a text that another message has had, as the
/// id of a request is in all of its messages. Where fewer have, arguments of one meaning side by
/// side save more.
const ROWS_FOR_SHARED: usize = 8;

/// A value in a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Cell<'a> {
    /// No value.
    Null,
    /// An integer of 32 or 64 bits, as the column is.
    Int(i64),
    /// A float.
    Float(f64),
    /// A truth value.
    Bool(bool),
    /// A text.
    Text(&'a str),
}

impl<'a> From<Option<&'a str>> for Cell<'a> {
    fn from(text: Option<&'a str>) -> Self {
        text.map_or(Self::Null, Self::Text)
    }
}

impl From<Option<i64>> for Cell<'_> {
    fn from(number: Option<i64>) -> Self {
        number.map_or(Self::Null, Self::Int)
    }
}

impl From<Option<u32>> for Cell<'_> {
    fn from(number: Option<u32>) -> Self {
        number.map_or(Self::Null, |number| Self::Int(number.into()))
    }
}

/// The rows of the next row group.
pub(super) struct Table {
    columns: Vec<Column>,
    texts: Texts,
    rows: usize,
    /// Columns by which rows are sorted; those that are equal in them stay in the order in which
    /// they were added.
    sorted_by: &'static [usize],
}

struct Column {
    values: Values,
    /// For each row, whether it has a value; empty if all must have one.
    defined: Option<Vec<bool>>,
}

enum Values {
    Int32(Vec<i64>),
    Int64(Vec<i64>),
    Float(Vec<f64>),
    Bool(Vec<bool>),
    Text(Vec<u32>),
}

/// Texts, each once.
#[derive(Default)]
struct Texts {
    ids: HashMap<Arc<str>, u32>,
    list: Vec<Arc<str>>,
    bytes: usize,
}

impl Table {
    /// For rows of this schema, which has no nested columns.
    pub(super) fn new(schema: &Type, sorted_by: &'static [usize]) -> Self {
        let column = |field: &Arc<Type>| Column {
            values: Values::of(field.get_physical_type()),
            defined: field.is_optional().then(Vec::new),
        };
        let columns = schema.get_fields().iter().map(column).collect();
        Self { columns, texts: Texts::default(), rows: 0, sorted_by }
    }

    /// Adds a row: a cell for each column.
    pub(super) fn push(&mut self, cells: &[Cell<'_>]) {
        debug_assert_eq!(cells.len(), self.columns.len());
        for (column, cell) in self.columns.iter_mut().zip(cells) {
            column.push(*cell, &mut self.texts);
        }
        self.rows += 1;
    }

    /// Returns whether the row group is to be written before the next row.
    pub(super) fn is_full(&self) -> bool {
        self.rows >= MOST_ROWS || self.texts.bytes >= MOST_TEXT
    }

    /// Returns whether there is no row.
    pub(super) fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// Writes the rows as row groups, and forgets them. Returns their number.
    pub(super) fn write(
        &mut self,
        file: &mut SerializedFileWriter<impl Write + Send>,
    ) -> Result<usize> {
        let texts: Vec<ByteArray> =
            self.texts.list.iter().map(|text| ByteArray::from(&**text)).collect();
        let layout = self.layout();
        let count = layout.groups.len();
        for rows in layout.groups {
            self.write_group(&layout.order[rows], &texts, file)?;
        }
        self.columns.iter_mut().for_each(Column::clear);
        self.texts = Texts::default();
        self.rows = 0;
        Ok(count)
    }

    /// The best encodings of the columns of 64 bits whose names are `chosen`, for these rows.
    pub(super) fn encodings(&self, schema: &Type, chosen: fn(&str) -> bool) -> Result<Encodings> {
        let (order, mut encodings) = (self.layout().order, Encodings::new());
        let columns = self.columns.iter().zip(schema.get_fields());
        for (column, field) in columns.filter(|(_, field)| chosen(field.name())) {
            let rows = Rows { order: &order, defined: column.defined.as_deref() };
            let encoding = match &column.values {
                Values::Int64(values) => encodings::of_integers(&rows.values(|row| values[row]))?,
                Values::Float(values) => encodings::of_floats(&rows.values(|row| values[row]))?,
                _ => continue,
            };
            encodings.push((field.name().to_owned(), encoding));
        }
        Ok(encodings)
    }

    fn write_group(
        &self,
        order: &[usize],
        texts: &[ByteArray],
        file: &mut SerializedFileWriter<impl Write + Send>,
    ) -> Result<()> {
        let mut group = file.next_row_group()?;
        for column in &self.columns {
            let Some(mut writer) = group.next_column()? else { break };
            let rows = Rows { order, defined: column.defined.as_deref() };
            match &column.values {
                Values::Int32(values) => {
                    rows.write(writer.typed::<Int32Type>(), |row| values[row] as i32)?;
                }
                Values::Int64(values) => {
                    rows.write(writer.typed::<Int64Type>(), |row| values[row])?;
                }
                Values::Float(values) => {
                    rows.write(writer.typed::<DoubleType>(), |row| values[row])?;
                }
                Values::Bool(values) => {
                    rows.write(writer.typed::<BoolType>(), |row| values[row])?;
                }
                Values::Text(ids) => {
                    let text = |row: usize| texts[ids[row] as usize].clone();
                    rows.write(writer.typed::<ByteArrayType>(), text)?;
                }
            }
            writer.close()?;
        }
        group.close().map(drop)
    }

    /// The rows in the order of the file, and its row groups.
    fn layout(&self) -> Layout {
        let order = self.sorted();
        if self.shares_texts(&order) { self.by_time(&order) } else { self.by_message(order) }
    }

    /// The rows sorted by message: a row group for each that has many, and one for each run of the
    /// others between them.
    fn by_message(&self, order: Vec<usize>) -> Layout {
        let mut groups: Vec<Range<usize>> = Vec::new();
        let mut at = 0;
        // The last group takes what follows, unless it is that of one message.
        let mut is_open = false;
        for run in self.runs(&order) {
            let is_large = order.len() >= LARGE && run.len() >= OWN_GROUP;
            match groups.last_mut() {
                Some(last) if is_open && !is_large => last.end += run.len(),
                _ => groups.push(at..at + run.len()),
            }
            at += run.len();
            is_open = !is_large;
        }
        Layout { order, groups }
    }

    /// The rows as they were added, so that equal texts are neighbours: a row group of messages
    /// that have many, and one of the others, sorted, so that who looks for these reads no more.
    fn by_time(&self, sorted: &[usize]) -> Layout {
        let is_small = sorted.len() < LARGE;
        let (many, few): (Vec<&[usize]>, Vec<&[usize]>) =
            self.runs(sorted).partition(|run| is_small || run.len() >= OWN_GROUP);
        let mut order = many.concat();
        order.sort_unstable();
        let ends = order.len();
        order.extend(few.concat());
        let groups = [0..ends, ends..order.len()];
        Layout { order, groups: groups.into_iter().filter(|rows| !rows.is_empty()).collect() }
    }

    /// The rows of each message, of rows that are sorted.
    fn runs<'a>(&'a self, sorted: &'a [usize]) -> impl Iterator<Item = &'a [usize]> {
        let by = self.sorted_by.first();
        let key = move |row: usize| by.map(|by| self.columns[*by].key(row, &self.texts));
        sorted.chunk_by(move |one, other| key(*one) == key(*other))
    }

    /// Returns whether texts that differ in a message are in others, too, in most rows: what the
    /// rows are sorted by last.
    fn shares_texts(&self, sorted: &[usize]) -> bool {
        let Some(Column { values: Values::Text(ids), defined }) =
            self.sorted_by.last().map(|by| &self.columns[*by])
        else {
            return false;
        };
        let is_there = |row: usize| defined.as_ref().is_none_or(|defined| defined[row]);
        let mut seen = vec![false; self.texts.list.len()];
        let mut shared = 0;
        for run in self.runs(sorted) {
            // Equal texts of a message follow each other, but for variants, which are rare.
            let mut last = None;
            for row in run.iter().copied().filter(|row| is_there(*row)) {
                let text = ids[row] as usize;
                if last.replace(text) != Some(text) {
                    shared += usize::from(std::mem::replace(&mut seen[text], true));
                }
            }
        }
        shared > 0 && shared * ROWS_FOR_SHARED >= sorted.len()
    }

    /// The rows sorted by message.
    fn sorted(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.rows).collect();
        let key = |row: usize, column: usize| self.columns[column].key(row, &self.texts);
        order.sort_by(|one, other| {
            let by = |column: &usize| key(*one, *column).cmp(&key(*other, *column));
            self.sorted_by.iter().map(by).find(|it| it.is_ne()).unwrap_or(one.cmp(other))
        });
        order
    }
}

/// The rows of a block as they are written.
#[derive(Debug, PartialEq)]
struct Layout {
    order: Vec<usize>,
    /// Parts of the order.
    groups: Vec<Range<usize>>,
}

/// The rows of a column.
struct Rows<'a> {
    order: &'a [usize],
    defined: Option<&'a [bool]>,
}

impl Rows<'_> {
    fn write<T: DataType>(
        &self,
        writer: &mut ColumnWriterImpl<'_, T>,
        value: impl Fn(usize) -> T::T,
    ) -> Result<()> {
        let values = self.values(value);
        let levels = |defined: &[bool]| -> Vec<i16> {
            self.order.iter().map(|row| i16::from(defined[*row])).collect()
        };
        writer.write_batch(&values, self.defined.map(levels).as_deref(), None).map(drop)
    }

    /// The values of rows that have one.
    fn values<T>(&self, value: impl Fn(usize) -> T) -> Vec<T> {
        let is_there = |row: &usize| self.defined.is_none_or(|defined| defined[*row]);
        self.order.iter().copied().filter(is_there).map(value).collect()
    }
}

impl Column {
    fn push(&mut self, cell: Cell<'_>, texts: &mut Texts) {
        if let Some(defined) = &mut self.defined {
            defined.push(cell != Cell::Null);
        }
        match (&mut self.values, cell) {
            (Values::Int32(values) | Values::Int64(values), Cell::Int(value)) => values.push(value),
            (Values::Int32(values) | Values::Int64(values), _) => values.push(0),
            (Values::Float(values), Cell::Float(value)) => values.push(value),
            (Values::Float(values), _) => values.push(0.0),
            (Values::Bool(values), cell) => values.push(cell == Cell::Bool(true)),
            (Values::Text(ids), Cell::Text(text)) => {
                // Most often it is the text of the row before.
                let last = ids.last().copied().filter(|last| texts.is(*last, text));
                ids.push(last.unwrap_or_else(|| texts.id(text)));
            }
            (Values::Text(ids), _) => {
                let id = ids.last().copied().unwrap_or_else(|| texts.id(""));
                ids.push(id);
            }
        }
    }

    /// The value by which a row is sorted.
    fn key<'t>(&self, row: usize, texts: &'t Texts) -> (i64, &'t str) {
        if self.defined.as_ref().is_some_and(|defined| !defined[row]) {
            return (0, "");
        }
        match &self.values {
            Values::Int32(values) | Values::Int64(values) => (values[row], ""),
            Values::Float(_) => (0, ""),
            Values::Bool(values) => (values[row].into(), ""),
            Values::Text(ids) => (0, &texts.list[ids[row] as usize]),
        }
    }

    fn clear(&mut self) {
        if let Some(defined) = &mut self.defined {
            defined.clear();
        }
        match &mut self.values {
            Values::Int32(values) | Values::Int64(values) => values.clear(),
            Values::Float(values) => values.clear(),
            Values::Bool(values) => values.clear(),
            Values::Text(ids) => ids.clear(),
        }
    }
}

impl Values {
    fn of(physical: Physical) -> Self {
        match physical {
            Physical::INT32 => Self::Int32(Vec::new()),
            Physical::DOUBLE => Self::Float(Vec::new()),
            Physical::BOOLEAN => Self::Bool(Vec::new()),
            Physical::BYTE_ARRAY => Self::Text(Vec::new()),
            _ => Self::Int64(Vec::new()),
        }
    }
}

impl Texts {
    fn is(&self, id: u32, text: &str) -> bool {
        *self.list[id as usize] == *text
    }

    fn id(&mut self, text: &str) -> u32 {
        if let Some(id) = self.ids.get(text) {
            return *id;
        }
        let (id, text) = (self.list.len() as u32, Arc::<str>::from(text));
        self.bytes += text.len();
        self.list.push(text.clone());
        self.ids.insert(text, id);
        id
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use parquet::schema::parser::parse_message_type;

    #[test]
    fn frequent_messages_have_row_groups_of_their_own_where_there_are_many_rows() {
        let schema = parse_message_type("message m { REQUIRED BYTE_ARRAY id (STRING); }").unwrap();
        let groups = |counts: &[(&str, usize)]| {
            let mut table = Table::new(&schema, &[0]);
            for (id, count) in counts {
                (0..*count).for_each(|_| table.push(&[Cell::Text(id)]));
            }
            table.layout().groups
        };
        let many = [("d", 20), ("a", 60_000), ("b", 10), ("c", 9_000), ("e", 30)];
        assert_eq!(groups(&many), [0..60_000, 60_000..60_010, 60_010..69_010, 69_010..69_060]);
        assert_eq!(groups(&[("a", 50_000), ("b", 9_000)]).len(), 1);
    }

    /// A table of messages and texts: of each message its number, text and rows.
    fn with_texts(rows: impl Iterator<Item = (String, String)>) -> Table {
        const COLUMNS: &str = "REQUIRED BYTE_ARRAY id (STRING); OPTIONAL BYTE_ARRAY s0 (STRING);";
        let schema = parse_message_type(&format!("message m {{ {COLUMNS} }}")).unwrap();
        let mut table = Table::new(&schema, &[0, 1]);
        for (id, text) in rows {
            table.push(&[Cell::Text(&id), Cell::Text(&text)]);
        }
        table
    }

    #[test]
    fn rows_whose_texts_are_in_several_messages_stay_in_their_order() {
        let requests = |messages: usize| {
            (0..90).map(move |row| ((row % messages).to_string(), format!("r{}", 99 - row / 3)))
        };
        let rows: Vec<usize> = (0..90).collect();
        let layout = with_texts(requests(3)).layout();
        assert_eq!((&layout.order, layout.groups.len()), (&rows, 1));
        // The same texts, each in one message.
        assert_ne!(with_texts(requests(1)).layout().order, rows);
        // Of few texts, sorting makes runs, which cost nothing.
        let few = (0..90).map(|row| ((row % 3).to_string(), format!("host {}", row % 2)));
        assert_ne!(with_texts(few).layout().order, rows);
    }

    #[test]
    fn rare_messages_have_a_row_group_where_frequent_ones_share_texts() {
        let id = |row: usize| if row % 1_000 == 7 { "rare" } else { ["a", "b"][row % 2] };
        let rows = (0..LARGE).map(|row| (id(row).to_owned(), format!("r{}", row / 2)));
        let Layout { order, groups } = with_texts(rows).layout();
        let rare = (0..LARGE).filter(|row| id(*row) == "rare");
        let ends = LARGE - rare.clone().count();
        assert_eq!(groups, [0..ends, ends..LARGE]);
        assert!(order[..ends].is_sorted());
        let mut found = order[ends..].to_vec();
        found.sort_unstable();
        assert!(found.into_iter().eq(rare));
    }
}
