//! The checksums of files that `integrations/duckdb/compact.sh` wrote, as `sha256sum` prints them:
//! one list for each day and program that was compacted.
//!
//! Invariant: a list that can't be read is named, and keeps no other back.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};

use protolog_files::open_regular_file;

use super::super::files::is_below;
use crate::failure::Failure;

/// The directory with the lists: `.sha256/date=…/program=…`.
const LISTS: &str = ".sha256";

/// The parts of a path that are those of a day and program, behind that of the table.
const PLACE: usize = 2;

/// What the lists say.
#[derive(Default)]
pub(super) struct CompactedFiles {
    /// The checksum of each file.
    pub(super) sums: BTreeMap<PathBuf, String>,
    /// Lists that can't be read.
    pub(super) damaged: Vec<(PathBuf, Failure)>,
}

impl CompactedFiles {
    /// Reads the lists of the archive at `root`; there are none if it was not compacted.
    pub(super) fn read(root: &Path) -> Self {
        let mut files = Self::default();
        let lists = root.join(LISTS);
        for day in files.list(&lists) {
            for path in files.list(&day) {
                let read = read(&path).and_then(|text| {
                    let sums = parse(&text).ok_or_else(|| io::Error::other(NO_LIST))?;
                    let named =
                        sums.into_iter().map(|(name, sum)| (root.join(name), sum.to_owned()));
                    Ok(named.collect::<Vec<_>>())
                });
                match read {
                    Ok(sums) => files.sums.extend(sums),
                    Err(error) => files.damaged.push((path.clone(), failure(&path, &error))),
                }
            }
        }
        files
    }

    /// Files that a list has and that are not there, of days that were not removed.
    pub(super) fn missing(&self, root: &Path) -> Vec<&PathBuf> {
        let is_missing = |path: &&PathBuf| {
            let below = path.strip_prefix(root).unwrap_or(path).iter();
            let place: PathBuf = below.take(1 + PLACE).collect();
            !path.exists() && root.join(place).exists()
        };
        self.sums.keys().filter(is_missing).collect()
    }

    /// The paths in a directory.
    fn list(&mut self, directory: &Path) -> Vec<PathBuf> {
        let listed = fs::read_dir(directory).and_then(|entries| {
            entries.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()
        });
        listed.unwrap_or_else(|error| {
            if error.kind() != ErrorKind::NotFound {
                self.damaged.push((directory.to_owned(), failure(directory, &error)));
            }
            Vec::new()
        })
    }
}

const NO_LIST: &str = "it has a line that `sha256sum` does not print";

fn failure(path: &Path, error: &io::Error) -> Failure {
    Failure::cant_read(path, error).help("compact the day again, or move it out of the archive")
}

fn read(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    open_regular_file(path)?.read_to_string(&mut text)?;
    Ok(text)
}

/// The names and checksums of a list; none if it is damaged.
fn parse(text: &str) -> Option<Vec<(&str, &str)>> {
    let lines = text.lines().map(|line| {
        let (sum, name) = line.split_once("  ")?;
        let is_sum = sum.len() == 64 && sum.bytes().all(|it| it.is_ascii_hexdigit());
        let is_file = is_below(name) && Path::new(name).extension() == Some(OsStr::new("parquet"));
        (is_sum && is_file).then_some((name, sum))
    });
    lines.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_whole_or_damaged() {
        let sum = "0".repeat(64);
        let line = format!("{sum}  messages/date=2026-11-20/program=a/build=b/data_0.parquet\n");
        assert_eq!(parse(&line.repeat(2)).unwrap().len(), 2);
        assert_eq!(parse("").unwrap(), []);
        let cut = &line[..line.len() - 9];
        let (above, absolute) = (format!("{sum}  ../a.parquet"), format!("{sum}  /a.parquet"));
        for damaged in [cut, &line[1..], "\0", "no line", &above, &absolute] {
            assert_eq!(parse(damaged), None, "{damaged}");
        }
    }
}
