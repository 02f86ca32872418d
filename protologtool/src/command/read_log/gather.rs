//! Several traces as one: those that are named, and those in directories that are.

use super::input::{read_trace, source_of};
use crate::args::Expansion;
use crate::command::inputs::cant_read;
use crate::command::merge::{self, Made};
use crate::exit::Failure;
use crate::system::{Spool, System};
use protolog_reader::{MergeInput, Merged, merge_within};
use std::path::{Path, PathBuf};

/// The name of several traces that became one, in messages.
pub(super) const MERGED: &str = "the merged traces";

/// Ends of names of traces.
const ENDINGS: [&str; 6] =
    [".pftrace", ".perfetto-trace", ".pftrace.gz", ".pftrace.zst", ".pftrace.part", ".rec"];

/// The traces that are named, with those of a directory in its place, in the order of their names.
pub(in crate::command) fn expand(
    paths: &[PathBuf],
    system: &dyn System,
) -> Result<Vec<PathBuf>, Failure> {
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
        path.to_str().is_some_and(|path| ENDINGS.iter().any(|ending| path.ends_with(ending)))
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

/// As [`gather`], in memory.
pub(in crate::command) fn gather_whole(
    paths: &[PathBuf],
    expansion: Expansion,
    system: &dyn System,
    note: &dyn Fn(&str),
) -> Result<(Vec<u8>, Merged), Failure> {
    let (trace, merged) = gather(paths, expansion, system, note)?;
    let bytes = trace.into_bytes().map_err(|error| cant_read(Path::new(MERGED), &error))?;
    Ok((bytes, merged))
}

/// Makes one trace of several, and says what is not in it. `note` gets what is said.
pub(super) fn gather(
    paths: &[PathBuf],
    expansion: Expansion,
    system: &dyn System,
    note: &dyn Fn(&str),
) -> Result<(Spool, Merged), Failure> {
    let mut made = Vec::new();
    for path in paths {
        let source = match source_of(path, system, note) {
            Some(source) => source,
            None => Box::new(read_trace(path, system, note)?),
        };
        made.push(Made { name: path.to_string_lossy(), source });
    }
    let inputs: Vec<&dyn MergeInput> = made.iter().map(|it| it as &dyn MergeInput).collect();
    let mut trace = Spool::new();
    let merged = merge_within(&inputs, expansion.max_expansion, &mut trace)
        .map_err(|error| merge::failure(&error, Path::new("-")))?;
    for line in merge::problems(&merged, expansion) {
        note(&line);
    }
    Ok((trace, merged))
}
