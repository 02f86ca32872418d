//! Counts over files: lines, words and bytes.

use crate::IndexLog;
use crate::expect::Journal;
use crate::walk::Found;
use protolog_rt::{Level, d, i, w};
use std::collections::BTreeMap;
use std::fs;

/// Sums over files.
#[derive(Debug, Default)]
pub(crate) struct Index {
    pub(crate) files: u64,
    pub(crate) bytes: u64,
    pub(crate) by_extension: BTreeMap<String, Sums>,
}

/// Sums over the files with one extension.
#[derive(Debug, Default)]
pub(crate) struct Sums {
    pub(crate) files: u64,
    pub(crate) lines: u64,
}

impl Index {
    /// Reads a file.
    pub(crate) fn add(&mut self, found: &Found, journal: &Journal) {
        let path = found.path.display();
        let bytes = match fs::read(&found.path) {
            Ok(bytes) => bytes,
            Err(error) => {
                w!(IndexLog::Read, "can't read %s: %s", path, error);
                journal.note(
                    Level::Warn,
                    IndexLog::Read,
                    format_args!("can't read {path}: {error}"),
                );
                return;
            }
        };
        let size = bytes.len() as u64;
        if size != found.size {
            w!(IndexLog::Read, "%s has changed from %d bytes to %d", path, found.size, size);
            journal.note(
                Level::Warn,
                IndexLog::Read,
                format_args!("{path} has changed from {} bytes to {size}", found.size),
            );
        }
        let utf8 = std::str::from_utf8(&bytes).is_ok();
        let lines = bytes.split(|byte| *byte == b'\n').count() as u64 - 1;
        let words = bytes.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).count();
        let per_line = words as f64 / lines.max(1) as f64;
        let sum = checksum(&bytes);
        d!(
            IndexLog::Read,
            "%s: %d bytes, %d lines, %f words per line, UTF-8 %b, sum %x",
            path,
            size,
            lines,
            per_line,
            utf8,
            sum
        );
        journal.note(
            Level::Debug,
            IndexLog::Read,
            format_args!(
                "{path}: {size} bytes, {lines} lines, {per_line:.6} words per line, UTF-8 {utf8}, sum {sum:x}"
            ),
        );
        if size == 0 {
            i!(IndexLog::Read, "%s is empty", path);
            journal.note(Level::Info, IndexLog::Read, format_args!("{path} is empty"));
        }
        self.files += 1;
        self.bytes += size;
        let extension = found.path.extension().unwrap_or_default().to_string_lossy().into_owned();
        let sums = self.by_extension.entry(extension).or_default();
        sums.files += 1;
        sums.lines += lines;
    }

    /// Adds the counts of another thread.
    pub(crate) fn merge(&mut self, other: Self) {
        self.files += other.files;
        self.bytes += other.bytes;
        for (extension, sums) in other.by_extension {
            let all = self.by_extension.entry(extension).or_default();
            all.files += sums.files;
            all.lines += sums.lines;
        }
    }
}

/// FNV-1a, 64 bits.
fn checksum(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |sum, byte| {
        (sum ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3)
    })
}
