//! The directories of an archive: by date, program and build, in the form that engines read as
//! columns.
//!
//! ```text
//! DIR/messages/date=2026-11-27/program=indexer/build=2f1c6d0a9be85377/SOURCE-VERSION-0.parquet
//! DIR/templates/program=indexer/build=2f1c6d0a9be85377/CONTENT-SUM.parquet
//! ```

use std::path::Path;
use std::sync::Arc;

use jiff::Timestamp;
use jiff::civil::Date;

use super::schema::TableName;
use crate::percent::decoded;

/// The value of a partition that is not known, as Hive, Spark and DuckDB write it.
const UNKNOWN: &str = "__HIVE_DEFAULT_PARTITION__";

/// The place of rows.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Partition {
    /// Days since 1970 in UTC; none if the trace has no relation to the wall clock.
    pub(super) day: Option<i64>,
    /// The name of the program as a part of a path, if it is known: see [`program`].
    pub(super) program: Option<Arc<str>>,
}

/// Nanoseconds of a day.
const DAY: i64 = 86_400_000_000_000;

/// The day of a time of the wall clock, in nanoseconds since 1970.
pub(super) fn day(wall: i64) -> i64 {
    wall.div_euclid(DAY)
}

/// The name of a program as a part of a path: that of its executable. None if it has no name.
///
/// Names that are the same as parts of paths are one program: files of two would have one name.
pub(super) fn program(process: &str) -> Option<Arc<str>> {
    let name = process.rsplit('/').next().unwrap_or(process);
    Some(escaped(name).into()).filter(|name: &Arc<str>| **name != *UNKNOWN)
}

impl Partition {
    /// The directory of a table's rows, below that of the archive.
    pub(super) fn directory(&self, table: TableName, build: &str) -> String {
        let program = self.program.as_deref().unwrap_or(UNKNOWN);
        let place = format!("program={program}/build={}", escaped(build));
        if table == TableName::Templates {
            return format!("{}/{place}", table.directory());
        }
        let date = self.day.and_then(date).unwrap_or_else(|| UNKNOWN.to_owned());
        format!("{}/date={date}/{place}", table.directory())
    }
}

/// The reason why no file of this table may stand at a path below the table's directory; none if it
/// may. An engine that finds a directory which is not as those of other files, or has a value that
/// it can't read, fails all queries.
pub(super) fn misplaced(table: TableName, below: &Path) -> Option<String> {
    let Some(path) = below.to_str() else { return Some("its path is no UTF-8".to_owned()) };
    let keys: &[&str] = match table {
        TableName::Templates => &["program", "build"],
        TableName::Messages | TableName::Losses | TableName::Spans => &["date", "program", "build"],
    };
    let directory = path.rsplit_once('/').map_or("", |(directory, _)| directory);
    let values: Vec<(&str, &str)> =
        directory.split('/').filter_map(|part| part.split_once('=')).collect();
    let has_keys =
        directory.split('/').count() == keys.len() && values.iter().map(|(key, _)| key).eq(keys);
    if !has_keys {
        let keys: Vec<String> = keys.iter().map(|key| format!("{key}=…")).collect();
        return Some(format!("it is not in a directory `{}`", keys.join("/")));
    }
    values.into_iter().find_map(|(key, value)| {
        let is_date = || value.parse().is_ok_and(|date: Date| date.to_string() == value);
        if decoded(value).is_none() {
            Some(format!("`{key}={value}` is no UTF-8"))
        } else if key == "date" && value != UNKNOWN && !is_date() {
            Some(format!("`{key}={value}` is no date"))
        } else {
            None
        }
    })
}

/// `2026-11-27`
fn date(day: i64) -> Option<String> {
    let time = Timestamp::from_second(day.checked_mul(86_400)?).ok()?;
    Some(time.to_string().split('T').next()?.to_owned())
}

/// A text as a part of a path, with `%20` and the like for what is special to file systems and
/// engines.
fn escaped(text: &str) -> String {
    if text.is_empty() {
        return UNKNOWN.to_owned();
    }
    let mut path = String::new();
    for byte in shortened(text).bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.".contains(&byte) {
            path.push(char::from(byte));
        } else {
            path.extend(["%", &format!("{byte:02X}")]);
        }
    }
    path
}

/// As much of a text as the name of a file takes: that has at most 255 bytes, with what stands
/// before it. No letter is cut in two: engines fail on names that are no UTF-8.
fn shortened(text: &str) -> &str {
    let ends = text.char_indices().map(|(at, letter)| at + letter.len_utf8());
    let end = ends.take_while(|end| *end <= MOST_BYTES).last().unwrap_or(0);
    &text[..end]
}

/// The most bytes of a text in a part of a path, each of which may become three.
const MOST_BYTES: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directories_have_what_engines_read_as_columns() {
        let partition = Partition { day: Some(day(1_764_201_600_000_000_000)), program: None };
        let directory = partition.directory(TableName::Messages, "b");
        assert_eq!(
            directory,
            "messages/date=2025-11-27/program=__HIVE_DEFAULT_PARTITION__/build=b"
        );
        let partition = Partition { day: None, program: program("a/b c=d") };
        let directory = partition.directory(TableName::Templates, "");
        assert_eq!(directory, "templates/program=b%20c%3Dd/build=__HIVE_DEFAULT_PARTITION__");
        assert_eq!(day(-1), -1);
        assert_eq!(program("/usr/bin/indexer").as_deref(), Some("indexer"));
        assert_eq!([program(""), program("/usr/bin/"), program(UNKNOWN)], [None, None, None]);
    }
    #[test]
    fn a_long_name_ends_between_letters() {
        let name = |before: usize| program(&format!("{}日本語", "x".repeat(before))).unwrap();
        for (before, rest) in [
            (64, ""),
            (63, ""),
            (62, ""),
            (61, "%E6%97%A5"),
            (58, "%E6%97%A5%E6%9C%AC"),
            (55, "%E6%97%A5%E6%9C%AC%E8%AA%9E"),
        ] {
            assert_eq!(*name(before), *format!("{}{rest}", "x".repeat(before)));
        }
        let build = "é".repeat(64);
        let partition = Partition { day: None, program: None };
        let directory = partition.directory(TableName::Templates, &build);
        assert!(directory.ends_with(&format!("/build={}", "%C3%A9".repeat(32))), "{directory}");
    }

    #[test]
    fn directories_that_engines_do_not_read_are_found() {
        let reason = |table, path: &str| misplaced(table, Path::new(path)).unwrap_or_default();
        let messages = |path: &str| reason(TableName::Messages, path);
        for path in [
            "date=2026-11-27/program=a/build=b/x.parquet",
            "date=__HIVE_DEFAULT_PARTITION__/program=b%20c%3Dd/build=%C3%A9/x.parquet",
        ] {
            assert_eq!(messages(path), "");
        }
        assert_eq!(reason(TableName::Templates, "program=a/build=b/x.parquet"), "");
        let keys = "it is not in a directory `date=…/program=…/build=…`";
        for path in [
            "x.parquet",
            "program=a/build=b/x.parquet",
            "date=2026-11-27/build=b/program=a/x.parquet",
            "date=2026-11-27/program=a/build=b/more/x.parquet",
            "date=2026-11-27/program=a/build=b/more=c/x.parquet",
            "date=2026-11-27/more/program=a/build=b/x.parquet",
        ] {
            assert_eq!(messages(path), keys, "{path}");
        }
        let path = "date=2026-11-27/program=a/build=b/x.parquet";
        let keys = "it is not in a directory `program=…/build=…`";
        assert_eq!(reason(TableName::Templates, path), keys);
        for date in ["yesterday", "2026-13-01", "2026-1-1", "20260101", ""] {
            let path = format!("date={date}/program=a/build=b/x.parquet");
            assert_eq!(messages(&path), format!("`date={date}` is no date"));
        }
        let path = "date=2026-11-27/program=x%E6/build=b/x.parquet";
        assert_eq!(messages(path), "`program=x%E6` is no UTF-8");
    }
}
