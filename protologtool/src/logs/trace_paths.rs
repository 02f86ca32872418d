//! The traces that a command line names: files, and those in directories.
//!
//! Invariant: in a directory that others may write to, no link of theirs adds a file of somebody
//! else to what is read.

use crate::exit::Failure;
use crate::output::cant_read;
use crate::system::System;
use protolog_reader::{ByteSource, printable};
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

/// Ends of names of traces.
const ENDINGS: [&str; 6] =
    [".pftrace", ".perfetto-trace", ".pftrace.gz", ".pftrace.zst", ".pftrace.part", ".rec"];

/// The traces that are named, with those of a directory in its place, in the order of their names.
pub(crate) fn expand(paths: &[PathBuf], system: &dyn System) -> Result<Vec<PathBuf>, Failure> {
    let mut traces = Vec::new();
    for path in paths {
        if path != Path::new("-") && system.is_directory(path) {
            traces.extend(traces_in(path, system)?);
        } else {
            traces.push(path.clone());
        }
    }
    Ok(traces)
}

/// The traces in a directory. A failure if there are none; a warning of those that are left out.
pub(crate) fn traces_in(directory: &Path, system: &dyn System) -> Result<Vec<PathBuf>, Failure> {
    let (traces, refused) = find(directory, system).map_err(|it| cant_read(directory, &it))?;
    if let Some((link, more)) = refused.split_first() {
        let link = link.display();
        let others =
            if more.is_empty() { String::new() } else { format!(", and {} more", more.len()) };
        system.print_error(&format!(
            "warning: `{link}` is left out{others}: it is a link of another user to a file of somebody else\n\
             help: name the file itself\n"
        ));
    }
    if traces.is_empty() {
        let (shown, endings) = (directory.display(), ENDINGS.join(", "));
        let message = format!("no trace in `{shown}`: no file that ends with {endings}");
        return Err(Failure::new(message).help("give the file that a session writes"));
    }
    Ok(traces)
}

/// As [`traces_in`], for one that is looked into again and again.
pub(crate) fn traces_now_in(directory: &Path, system: &dyn System) -> Vec<PathBuf> {
    find(directory, system).unwrap_or_default().0
}

/// The file that a directory had, and whose name is gone.
pub(crate) enum Moved {
    /// It has this name now.
    To(PathBuf),
    /// It was removed.
    Away,
    /// Its name is not gone.
    Nowhere,
}

/// Looks for a file that could not be opened. A segment gets its name without `.part` when it is
/// complete, and the oldest one is removed, both at any moment. `known` are the files that were
/// found with it.
pub(crate) fn moved(path: &Path, known: &[PathBuf], system: &dyn System) -> Moved {
    let there = path.parent().and_then(|parent| system.entries(parent).ok());
    if there.unwrap_or_default().iter().any(|entry| entry.path == path) {
        return Moved::Nowhere;
    }
    let complete = path.with_extension("");
    let is_new = path.extension() == Some(OsStr::new("part")) && !known.contains(&complete);
    // It was found, as the other name was.
    if is_new && system.is_followed(&complete) { Moved::To(complete) } else { Moved::Away }
}

/// The line about a file that was removed.
pub(crate) fn removed(path: &Path) -> String {
    format!("note: `{}` was removed meanwhile\n", printable(&path.to_string_lossy()))
}

/// The bytes of a regular file, which is one of so many that are read side by side; none of
/// anything else.
pub(crate) fn source_of_many(
    path: &Path,
    count: usize,
    system: &dyn System,
) -> io::Result<Option<Box<dyn ByteSource>>> {
    if count <= system.most_held() { system.source(path) } else { system.source_by_name(path) }
}

/// The traces in a directory, and those that are left out, each in the order of their names.
fn find(directory: &Path, system: &dyn System) -> io::Result<(Vec<PathBuf>, Vec<PathBuf>)> {
    let is_trace = |path: &PathBuf| {
        let path = path.as_os_str().as_encoded_bytes();
        ENDINGS.iter().any(|ending| path.ends_with(ending.as_bytes()))
    };
    let entries = system.entries(directory)?;
    let files = entries.into_iter().filter(|entry| !entry.is_directory).map(|entry| entry.path);
    let mut all: Vec<PathBuf> = files.filter(is_trace).collect();
    all.sort();
    Ok(all.into_iter().partition(|file| system.is_followed(file)))
}
