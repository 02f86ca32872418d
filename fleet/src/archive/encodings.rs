//! The encodings of numbers: chosen for a file by the rows that come first.
//!
//! Numbers that count up are smallest by their differences, checksums as they are, and measured
//! floats as streams: of their first bytes, of their second ones and so on. Nothing says which a
//! column has before they are there, so each encoding is tried on them. Streams of integers, which
//! would be smaller still where these are small, are nothing that DuckDB 1.5 reads.

use std::sync::Arc;

use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::data_type::{DataType, DoubleType, Int64Type};
use parquet::errors::Result;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;

/// The values that are tried, as runs from all over the rows, since those of one message follow
/// each other: enough that a sample says what the rest is like.
const RUN: usize = 4 << 10;
const RUNS: usize = 8;

/// The level of zstd for it: which encoding is smallest does not depend on the level.
const LEVEL: i32 = 3;

/// The encodings of columns by their names.
pub(super) type Encodings = Vec<(String, Encoding)>;

/// The smallest encoding of integers in the order of the file.
pub(super) fn of_integers(values: &[i64]) -> Result<Encoding> {
    const TRIED: [Encoding; 2] = [Encoding::PLAIN, Encoding::DELTA_BINARY_PACKED];
    smallest::<Int64Type>("INT64", values, &TRIED)
}

/// The smallest encoding of floats.
pub(super) fn of_floats(values: &[f64]) -> Result<Encoding> {
    const TRIED: [Encoding; 2] = [Encoding::PLAIN, Encoding::BYTE_STREAM_SPLIT];
    smallest::<DoubleType>("DOUBLE", values, &TRIED)
}

/// The first one of those that are smallest.
fn smallest<T: DataType>(of: &str, values: &[T::T], tried: &[Encoding]) -> Result<Encoding> {
    let sample = sample(values);
    let (mut best, mut least) = (tried[0], usize::MAX);
    for encoding in tried {
        let size = size::<T>(of, &sample, *encoding)?;
        if size < least {
            (best, least) = (*encoding, size);
        }
    }
    Ok(best)
}

/// Runs of the values, evenly spaced; all of them where there are few.
fn sample<T: Clone>(values: &[T]) -> Vec<T> {
    let between = values.len().div_ceil(RUNS).max(RUN);
    values.chunks(between).flat_map(|part| &part[..part.len().min(RUN)]).cloned().collect()
}

/// The bytes of a file that has nothing but these values.
fn size<T: DataType>(of: &str, values: &[T::T], encoding: Encoding) -> Result<usize> {
    let schema = Arc::new(parse_message_type(&format!("message m {{ REQUIRED {of} v; }}"))?);
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(LEVEL)?))
        .set_statistics_enabled(EnabledStatistics::None)
        .set_dictionary_enabled(false)
        .set_encoding(encoding);
    let mut file = Vec::new();
    let mut writer = SerializedFileWriter::new(&mut file, schema, properties.build().into())?;
    let mut group = writer.next_row_group()?;
    if let Some(mut column) = group.next_column()? {
        column.typed::<T>().write_batch(values, None, None)?;
        column.close()?;
    }
    group.close()?;
    writer.close()?;
    Ok(file.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers that nothing makes smaller.
    fn random(count: i64) -> Vec<i64> {
        let odd = 0x9e37_79b9_7f4a_7c15_u64 as i64;
        let mixed = |number: i64| {
            let number = number.wrapping_mul(odd);
            (number ^ (number >> 29)).wrapping_mul(odd)
        };
        (1..=count).map(mixed).collect()
    }

    #[test]
    fn the_encoding_depends_on_the_numbers() {
        let random = random(5_000);
        let small: Vec<i64> = random.iter().map(|it| it.rem_euclid(60_000)).collect();
        let rising: Vec<i64> = (0..5_000).map(|it| 1_764_000_000_000_000_000 + it * 977).collect();
        assert_eq!(of_integers(&random).unwrap(), Encoding::PLAIN);
        assert_eq!(of_integers(&rising).unwrap(), Encoding::DELTA_BINARY_PACKED);
        assert_eq!(of_integers(&[]).unwrap(), Encoding::PLAIN);
        let few: Vec<f64> = random.iter().map(|it| it.rem_euclid(9) as f64 / 7.0).collect();
        assert_eq!(of_floats(&few).unwrap(), Encoding::PLAIN);
        let measured: Vec<f64> = small.iter().map(|it| *it as f64 + 1e6).collect();
        assert_eq!(of_floats(&measured).unwrap(), Encoding::BYTE_STREAM_SPLIT);
        // Rows are sorted by message: checksums of the first one do not decide for all.
        let counters = (0..95_000).map(|it| 1_764_000_000_000_000_000 + it * 977);
        let mixed: Vec<i64> = random.iter().copied().chain(counters).collect();
        assert_eq!(of_integers(&mixed).unwrap(), Encoding::DELTA_BINARY_PACKED);
    }

    #[test]
    fn a_sample_has_runs_from_all_over() {
        let numbers: Vec<usize> = (0..1_000_000).collect();
        let sample = sample(&numbers);
        assert_eq!(sample.len(), RUN * RUNS);
        assert_eq!((sample[RUN - 1], sample[RUN]), (RUN - 1, 125_000));
        assert_eq!(super::sample(&numbers[..RUN + 7]), numbers[..RUN + 7]);
        assert_eq!(super::sample(&numbers[..0]), [0; 0]);
    }
}
