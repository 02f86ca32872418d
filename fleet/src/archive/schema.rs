//! The tables of an archive: their columns, and how each is written.
//!
//! A column of one table keeps its name and type in later versions; new ones come at the end.

use std::sync::Arc;

use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterPropertiesPtr};
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::{ColumnPath, Type, TypePtr};

use super::encodings::Encodings;
use super::table::MOST_ROWS;

/// The tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum TableName {
    /// One row for each message that was logged.
    Messages,
    /// One row for each run of messages that are missing; and, with a reason of its own and another
    /// column for the number, for what sampling passed over, which is not lost. A table of its own
    /// would be one more file of each export, and a fleet's archives have too many.
    Losses,
    /// One row for each time that a thread was in a span.
    Spans,
    /// One row for each message of the dictionary.
    Templates,
}

/// The beginning of what each file says of the program that wrote it.
pub(super) const PROGRAM: &str = "protologtool-fleet";

/// The columns of `messages` before those of arguments.
const MESSAGES: &str = "
    REQUIRED INT64 time (TIMESTAMP(NANOS,true));
    OPTIONAL INT64 boot_offset;
    REQUIRED INT32 tie;
    REQUIRED BOOLEAN time_guessed;
    REQUIRED BYTE_ARRAY source (STRING);
    OPTIONAL BYTE_ARRAY host (STRING);
    OPTIONAL INT64 pid;
    OPTIONAL INT64 tid;
    OPTIONAL BYTE_ARRAY process (STRING);
    OPTIONAL BYTE_ARRAY thread (STRING);
    REQUIRED BYTE_ARRAY id (STRING);
    REQUIRED INT32 variant;
    OPTIONAL BYTE_ARRAY level (STRING);
    REQUIRED INT64 unsigned_args;
    REQUIRED BOOLEAN message_guessed;
    OPTIONAL BYTE_ARRAY stack_trace (STRING);
    OPTIONAL BYTE_ARRAY text (STRING);
    OPTIONAL BYTE_ARRAY args (STRING);
    OPTIONAL INT64 rate_kept;
    OPTIONAL INT64 rate_of;
    OPTIONAL INT64 rate_by;
    OPTIONAL BYTE_ARRAY request (STRING);";

/// The number of these columns.
pub(crate) const FIXED_COLUMNS: usize = 22;

/// Rows of `messages` are sorted by id, variant and first text in each row group, unless messages
/// share these texts: the arguments of a template are side by side, and texts with the same
/// beginning follow each other.
const MESSAGE_ORDER: &[usize] = &[10, 11, FIXED_COLUMNS];

const LOSSES: &str = "
    REQUIRED INT64 time (TIMESTAMP(NANOS,true));
    OPTIONAL INT64 boot_offset;
    REQUIRED BOOLEAN time_guessed;
    REQUIRED BYTE_ARRAY source (STRING);
    OPTIONAL BYTE_ARRAY host (STRING);
    OPTIONAL INT64 pid;
    OPTIONAL INT64 tid;
    OPTIONAL BYTE_ARRAY process (STRING);
    OPTIONAL BYTE_ARRAY thread (STRING);
    REQUIRED BYTE_ARRAY reason (STRING);
    OPTIONAL BYTE_ARRAY log_group (STRING);
    OPTIONAL INT64 count;
    OPTIONAL INT64 duration;
    REQUIRED INT64 after_messages;
    REQUIRED INT64 place;
    OPTIONAL BYTE_ARRAY level (STRING);
    OPTIONAL INT64 passed_over;";

const SPANS: &str = "
    REQUIRED INT64 time (TIMESTAMP(NANOS,true));
    OPTIONAL INT64 boot_offset;
    OPTIONAL INT64 end_time (TIMESTAMP(NANOS,true));
    OPTIONAL INT64 duration;
    OPTIONAL INT64 longest;
    OPTIONAL INT64 busy;
    OPTIONAL INT64 age;
    REQUIRED BOOLEAN end_missing;
    REQUIRED BYTE_ARRAY source (STRING);
    OPTIONAL BYTE_ARRAY host (STRING);
    OPTIONAL INT64 pid;
    OPTIONAL INT64 tid;
    OPTIONAL BYTE_ARRAY process (STRING);
    OPTIONAL BYTE_ARRAY thread (STRING);
    REQUIRED BYTE_ARRAY name (STRING);
    REQUIRED BYTE_ARRAY target (STRING);
    OPTIONAL INT64 span_id;
    REQUIRED INT64 depth;
    REQUIRED BYTE_ARRAY begin_args (STRING);
    REQUIRED BYTE_ARRAY args (STRING);
    REQUIRED INT64 after_messages;
    REQUIRED INT64 place;
    OPTIONAL INT64 end_after_messages;
    OPTIONAL INT64 end_place;";

const TEMPLATES: &str = "
    REQUIRED BYTE_ARRAY id (STRING);
    REQUIRED INT32 variant;
    OPTIONAL BYTE_ARRAY level (STRING);
    OPTIONAL BYTE_ARRAY tag (STRING);
    OPTIONAL BYTE_ARRAY log_group (STRING);
    REQUIRED BYTE_ARRAY template (STRING);
    REQUIRED BYTE_ARRAY location (STRING);
    OPTIONAL BYTE_ARRAY pieces (STRING);
    OPTIONAL BYTE_ARRAY names (STRING);";

/// The kinds of arguments, by the letters of their columns: texts, integers, floats, truth values.
pub(crate) const KINDS: [char; 4] = ['s', 'i', 'f', 'b'];

impl TableName {
    /// The tables in the order in which they are put in place: messages last.
    pub(crate) const ALL: [Self; 4] = [Self::Templates, Self::Losses, Self::Spans, Self::Messages];

    /// The directory of its files.
    pub(crate) fn directory(self) -> &'static str {
        match self {
            Self::Messages => "messages",
            Self::Losses => "losses",
            Self::Spans => "spans",
            Self::Templates => "templates",
        }
    }

    /// Its columns; `messages` has so many for the arguments of each of [`KINDS`].
    pub(super) fn schema(self, arguments: [usize; 4]) -> TypePtr {
        let columns = match self {
            Self::Messages => {
                let types = ["BYTE_ARRAY", "INT64", "DOUBLE", "BOOLEAN"];
                let mut columns = MESSAGES.to_owned();
                for ((kind, count), of) in KINDS.iter().zip(arguments).zip(types) {
                    let annotation = if *kind == 's' { " (STRING)" } else { "" };
                    for place in 0..count {
                        let column = format!("OPTIONAL {of} {kind}{place}{annotation};");
                        columns += &column;
                    }
                }
                columns
            }
            Self::Losses => LOSSES.to_owned(),
            Self::Spans => SPANS.to_owned(),
            Self::Templates => TEMPLATES.to_owned(),
        };
        let schema = format!("message {} {{ {columns} }}", self.directory());
        Arc::new(parse_message_type(&schema).expect("the schema is written above"))
    }

    /// The columns by which rows are sorted.
    pub(super) fn order(self) -> &'static [usize] {
        match self {
            Self::Messages => MESSAGE_ORDER,
            Self::Losses | Self::Spans | Self::Templates => &[],
        }
    }
}

/// Returns true for a column of numbers whose encoding its values decide.
pub(super) fn has_any_encoding(column: &str) -> bool {
    column == "time" || is_argument(column, 'i') || is_argument(column, 'f')
}

/// Returns true for a column of arguments of one of [`KINDS`].
fn is_argument(column: &str, kind: char) -> bool {
    column.strip_prefix(kind).is_some_and(|rest| rest.parse::<u32>().is_ok())
}

/// The encodings of a table's columns: of some in `encodings`, which their values have decided.
pub(super) fn properties(schema: &Type, encodings: &Encodings) -> WriterPropertiesPtr {
    let level = ZstdLevel::try_new(LEVEL).expect("a level of zstd");
    let mut properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(level))
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_created_by(format!("{PROGRAM} {}", env!("CARGO_PKG_VERSION")))
        .set_data_page_size_limit(PAGE)
        .set_data_page_row_count_limit(MOST_ROWS)
        .set_dictionary_page_size_limit(DICTIONARY)
        .set_max_row_group_row_count(None);
    for field in schema.get_fields() {
        let column = ColumnPath::from(field.name());
        let is_text = is_argument(field.name(), 's');
        if has_any_encoding(field.name()) {
            properties = properties.set_column_dictionary_enabled(column.clone(), false);
        }
        if is_text {
            properties = properties
                .set_column_dictionary_page_size_limit(column.clone(), TEXT_DICTIONARY)
                .set_column_encoding(column.clone(), Encoding::DELTA_BYTE_ARRAY)
                .set_column_bloom_filter_fpp(column.clone(), FALSE_POSITIVES);
        }
        if field.name() == "id" || is_text {
            properties = properties.set_column_bloom_filter_max_ndv(column, MOST_ROWS as u64);
        }
    }
    for (column, encoding) in encodings {
        properties = properties.set_column_encoding(ColumnPath::from(column.as_str()), *encoding);
    }
    properties.build().into()
}

/// The level of zstd.
const LEVEL: i32 = 9;

/// The most bytes of a page of values, and of a dictionary of one column of a row group.
const PAGE: usize = 1 << 20;
const DICTIONARY: usize = 1 << 20;

/// The same of texts of arguments: few are best in a dictionary; many, by what they have in
/// common with the one before.
const TEXT_DICTIONARY: usize = 16 << 10;

/// The part of row groups that are read in vain for a text.
const FALSE_POSITIVES: f64 = 0.1;
