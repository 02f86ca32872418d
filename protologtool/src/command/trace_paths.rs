//! The traces that a command line names: files, and those in directories.

use crate::exit::Failure;
use crate::output::cant_read;
use crate::system::System;
use std::path::{Path, PathBuf};

/// Ends of names of traces.
const ENDINGS: [&str; 6] =
    [".pftrace", ".perfetto-trace", ".pftrace.gz", ".pftrace.zst", ".pftrace.part", ".rec"];

/// The traces that are named, with those of a directory in its place, in the order of their names.
pub(super) fn expand(paths: &[PathBuf], system: &dyn System) -> Result<Vec<PathBuf>, Failure> {
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

pub(super) fn traces_in(directory: &Path, system: &dyn System) -> Result<Vec<PathBuf>, Failure> {
    let shown = directory.display();
    let is_trace = |path: &PathBuf| {
        let path = path.as_os_str().as_encoded_bytes();
        ENDINGS.iter().any(|ending| path.ends_with(ending.as_bytes()))
    };
    let entries = system.entries(directory).map_err(|error| cant_read(directory, &error))?;
    let files = entries.into_iter().filter(|entry| !entry.is_directory).map(|entry| entry.path);
    let mut traces: Vec<PathBuf> = files.filter(is_trace).collect();
    traces.sort();
    if traces.is_empty() {
        let message =
            format!("no trace in `{shown}`: no file that ends with {}", ENDINGS.join(", "));
        return Err(Failure::new(message).help("give the file that a session writes"));
    }
    Ok(traces)
}
