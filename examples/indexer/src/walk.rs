//! Walks the trees.

use crate::IndexLog;
use crate::expect::Journal;
use protolog_rt::{Level, d, e, v, w};
use std::fs::{self, DirEntry};
use std::path::{Path, PathBuf};
use std::sync::mpsc::SyncSender;

/// A file to read.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) path: PathBuf,
    /// Its size, from its directory entry.
    pub(crate) size: u64,
}

/// Sends all files in the trees below `roots`, sorted by name within each directory.
pub(crate) fn walk(roots: &[PathBuf], send: &SyncSender<Found>, journal: &Journal) {
    let mut left: Vec<(PathBuf, usize)> =
        roots.iter().rev().map(|root| (root.clone(), 0)).collect();
    while let Some((dir, depth)) = left.pop() {
        let mut entries: Vec<DirEntry> = match fs::read_dir(&dir) {
            Ok(entries) => entries.flatten().collect(),
            Err(error) => {
                e!(IndexLog::Walk, "can't read %s: %s", dir.display(), error);
                journal.note(
                    Level::Error,
                    IndexLog::Walk,
                    format_args!("can't read {}: {error}", dir.display()),
                );
                continue;
            }
        };
        entries.sort_by_key(DirEntry::file_name);
        let (mut files, mut dirs) = (0u32, 0u32);
        for entry in entries.iter().rev() {
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => {
                    dirs += 1;
                    left.push((entry.path(), depth + 1));
                }
                Ok(kind) if kind.is_file() => {
                    files += 1;
                    let size = entry.metadata().map_or(0, |metadata| metadata.len());
                    // Fails only after all readers have ended.
                    let _ = send.send(Found { path: entry.path(), size });
                }
                _ => skipped(&entry.path(), journal),
            }
        }
        let name = dir.file_name().unwrap_or_default().to_string_lossy();
        v!(IndexLog::Walk, "depth %d: %s", depth, name);
        journal.note(Level::Verbose, IndexLog::Walk, format_args!("depth {depth}: {name}"));
        let leaf = dirs == 0;
        d!(
            IndexLog::Walk,
            "%s: %d files, %d directories, leaf %b",
            dir.display(),
            files,
            dirs,
            leaf
        );
        journal.note(
            Level::Debug,
            IndexLog::Walk,
            format_args!("{}: {files} files, {dirs} directories, leaf {leaf}", dir.display()),
        );
    }
}

fn skipped(path: &Path, journal: &Journal) {
    w!(IndexLog::Walk, "skipped %s", path.display());
    journal.note(Level::Warn, IndexLog::Walk, format_args!("skipped {}", path.display()));
}
