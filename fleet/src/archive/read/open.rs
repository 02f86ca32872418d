//! A Parquet file of an archive, opened after a look at its footer.
//!
//! Invariant: the library gets no offsets and sizes that are not of the file. It takes them as they
//! are, and panics at some.

use std::fmt;
use std::fs::File;
use std::io;
use std::path::Path;

use parquet::basic::Compression;
use parquet::errors::ParquetError;
use parquet::file::metadata::{ColumnChunkMetaData, RowGroupMetaData};
use parquet::file::reader::{FileReader, SerializedFileReader};
use protolog_files::open_regular_file;

use super::super::bad_file;
use super::super::schema::PROGRAM;
use crate::failure::Failure;

/// The reason why a file can't be read.
#[derive(Debug)]
pub(super) enum Unreadable {
    Io(io::Error),
    Damaged(ParquetError),
    /// A column is compressed in a way that this program does not read. The file may be sound.
    Codec {
        column: String,
        codec: Compression,
    },
    /// It has another checksum than its record says.
    Changed,
}

/// Opens a file.
pub(super) fn open(path: &Path) -> Result<SerializedFileReader<File>, Unreadable> {
    let file = open_regular_file(path)?;
    let size = file.metadata()?.len();
    let reader = SerializedFileReader::new(file)?;
    let metadata = reader.metadata();
    for group in metadata.row_groups() {
        check_places(group, size)?;
    }
    // An export writes no other codec: there it is damage.
    let writer = metadata.file_metadata().created_by().unwrap_or_default();
    let columns = metadata.row_groups().iter().flat_map(RowGroupMetaData::columns);
    match columns.into_iter().find(|column| !is_read(column.compression())) {
        Some(column) if !writer.starts_with(PROGRAM) => {
            Err(Unreadable::Codec { column: name(column).to_owned(), codec: column.compression() })
        }
        _ => Ok(reader),
    }
}

/// Checks that the columns of a row group are within the file, and have its rows.
fn check_places(group: &RowGroupMetaData, size: u64) -> Result<(), ParquetError> {
    let rows = group.num_rows();
    if rows < 0 {
        return Err(ParquetError::General(format!("a row group has {rows} rows")));
    }
    for column in group.columns() {
        let start = column.dictionary_page_offset().unwrap_or(column.data_page_offset());
        let bytes = column.compressed_size();
        let end = u64::try_from(start).ok().zip(u64::try_from(bytes).ok());
        if end.and_then(|(start, bytes)| start.checked_add(bytes)).is_none_or(|end| end > size) {
            let place = format!("`{}` has {bytes} bytes at {start}", name(column));
            let message = format!("{place}, and the file has {size}");
            return Err(ParquetError::General(message));
        }
        let values = column.num_values();
        // A list would have more.
        if column.column_descr().max_rep_level() == 0 && values != rows {
            let message = format!("`{}` has {values} values for {rows} rows", name(column));
            return Err(ParquetError::General(message));
        }
    }
    Ok(())
}

fn name(column: &ColumnChunkMetaData) -> &str {
    column.column_descr().name()
}

/// Returns true for the codecs that this program is built with.
fn is_read(codec: Compression) -> bool {
    matches!(codec, Compression::UNCOMPRESSED | Compression::ZSTD(_))
}

impl Unreadable {
    /// The failure of what can't go on without the file.
    pub(super) fn stopping(self, path: &Path) -> Failure {
        match self {
            Self::Io(error) => Failure::cant_read(path, &error),
            reason => bad_file(path, &reason),
        }
    }
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => error.fmt(f),
            Self::Damaged(error) => error.fmt(f),
            Self::Changed => f.write_str("it is not as it was exported"),
            Self::Codec { column, codec } => {
                write!(f, "`{column}` is compressed by {codec}, which this program does not read")
            }
        }
    }
}

impl From<io::Error> for Unreadable {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl From<ParquetError> for Unreadable {
    fn from(error: ParquetError) -> Self {
        Self::Damaged(error)
    }
}
