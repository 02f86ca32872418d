//! The rows of one row group of a Parquet file, by column.

use std::collections::BTreeMap;

use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{ByteArray, DataType};
use parquet::errors::{ParquetError, Result};
use parquet::file::reader::RowGroupReader;

/// The rows of a row group.
pub(super) struct Rows {
    columns: BTreeMap<String, Values>,
    pub(super) count: usize,
}

enum Values {
    Int(Vec<Option<i64>>),
    Float(Vec<Option<f64>>),
    Bool(Vec<Option<bool>>),
    Text(Vec<Option<ByteArray>>),
}

impl Rows {
    /// Reads all columns.
    pub(super) fn read(group: &dyn RowGroupReader) -> Result<Self> {
        let count = group.metadata().num_rows() as usize;
        let mut columns = BTreeMap::new();
        for (index, column) in group.metadata().columns().iter().enumerate() {
            let descriptor = column.column_descr();
            let depth = descriptor.max_def_level();
            let values = match group.get_column_reader(index)? {
                ColumnReader::Int32ColumnReader(reader) => {
                    let values = read(reader, count, depth)?;
                    Values::Int(values.into_iter().map(|it| it.map(i64::from)).collect())
                }
                ColumnReader::Int64ColumnReader(reader) => Values::Int(read(reader, count, depth)?),
                ColumnReader::DoubleColumnReader(reader) => {
                    Values::Float(read(reader, count, depth)?)
                }
                ColumnReader::BoolColumnReader(reader) => Values::Bool(read(reader, count, depth)?),
                ColumnReader::ByteArrayColumnReader(reader) => {
                    Values::Text(read(reader, count, depth)?)
                }
                _ => continue,
            };
            columns.insert(descriptor.name().to_owned(), values);
        }
        Ok(Self { count: if columns.is_empty() { 0 } else { count }, columns })
    }

    /// An integer; none if the row or the file has none.
    pub(super) fn int(&self, column: &str, row: usize) -> Option<i64> {
        match self.columns.get(column)? {
            Values::Int(values) => *values.get(row)?,
            _ => None,
        }
    }

    /// A float.
    pub(super) fn float(&self, column: &str, row: usize) -> Option<f64> {
        match self.columns.get(column)? {
            Values::Float(values) => *values.get(row)?,
            _ => None,
        }
    }

    /// A truth value.
    pub(super) fn bool(&self, column: &str, row: usize) -> Option<bool> {
        match self.columns.get(column)? {
            Values::Bool(values) => *values.get(row)?,
            _ => None,
        }
    }

    /// A text.
    pub(super) fn text(&self, column: &str, row: usize) -> Option<&str> {
        match self.columns.get(column)? {
            Values::Text(values) => values.get(row)?.as_ref()?.as_utf8().ok(),
            _ => None,
        }
    }
}

/// The values of a column: none where a row has none.
fn read<T: DataType>(
    mut reader: ColumnReaderImpl<T>,
    count: usize,
    depth: i16,
) -> Result<Vec<Option<T::T>>> {
    let (mut values, mut levels, mut seen) = (Vec::new(), Vec::new(), 0);
    while seen < count {
        let (records, _, _) =
            reader.read_records(count - seen, Some(&mut levels), None, &mut values)?;
        if records == 0 {
            break;
        }
        seen += records;
    }
    let mut values = values.into_iter();
    let rows: Vec<Option<T::T>> = if depth == 0 {
        values.map(Some).collect()
    } else {
        levels.iter().map(|level| if *level == depth { values.next() } else { None }).collect()
    };
    if rows.len() == count {
        return Ok(rows);
    }
    Err(ParquetError::General(format!("a column has {} rows instead of {count}", rows.len())))
}
