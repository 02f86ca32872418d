//! The list of sources: files that are named, and those of directories.
//!
//! Invariant: a file that a run writes is no input of the next, even where the output directory is
//! below one of the sources.

use crate::exit::Failure;
use crate::lang::Kind;
use crate::output::cant_read;
use crate::system::System;
use std::cell::OnceCell;
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// The sources that the arguments name, in their order; those of a directory in the order of their
/// paths' bytes. A file of a directory comes once, and not if it is named itself. Directories may
/// have no sources, and be missing if `may_be_missing`.
pub(in crate::command) fn files(
    named: &[PathBuf],
    may_be_missing: bool,
    output: Option<&Path>,
    system: &dyn System,
) -> Result<Vec<PathBuf>, Failure> {
    let mut files = Vec::with_capacity(named.len());
    let given: OnceCell<HashSet<&Path>> = OnceCell::new();
    let mut walked = HashSet::new();
    let output = output.map(|output| system.canonical(output));
    for path in named {
        // Files with the name of a source are not looked up: there may be thousands.
        if is_source(path) {
            files.push(path.clone());
            continue;
        }
        if !system.is_directory(path) {
            if may_be_missing && !system.is_file(path) {
                continue;
            }
            return Err(not_a_source(path));
        }
        let given = given.get_or_init(|| named.iter().map(PathBuf::as_path).collect());
        let mut found = walk(path, output.as_deref(), system)?;
        found.sort_unstable_by(|a, b| {
            a.as_os_str().as_encoded_bytes().cmp(b.as_os_str().as_encoded_bytes())
        });
        if named.len() > 1 {
            found.retain(|file| !given.contains(file.as_path()) && walked.insert(file.clone()));
        }
        files.append(&mut found);
    }
    if files.is_empty() {
        let is_output = |path: &&PathBuf| output.as_ref() == Some(&system.canonical(path));
        if let Some(path) = named.iter().find(is_output) {
            let message =
                format!("`{}` holds the sources, and is the output directory", path.display());
            return Err(Failure::new(message).help("name another directory with `--output-dir`"));
        }
    }
    Ok(files)
}

fn is_source(path: &Path) -> bool {
    Kind::of_path(path).is_some()
}

fn not_a_source(path: &Path) -> Failure {
    Failure::new(format!("`{}` is neither a source nor a directory", path.display()))
        .help("give files whose names end with `.java`, `.kt` or `.rs`, or directories of them")
}

/// The sources below a directory, but not below `output`.
fn walk(
    directory: &Path,
    output: Option<&Path>,
    system: &dyn System,
) -> Result<Vec<PathBuf>, Failure> {
    let (mut files, mut open) = (Vec::new(), vec![directory.to_path_buf()]);
    let mut is_first = true;
    while let Some(directory) = open.pop() {
        // No link leads to a directory below the first, so that its own name is the last part of
        // its canonical path.
        let may_be = |output: &Path| is_first || directory.file_name() == output.file_name();
        if output.is_some_and(|output| may_be(output) && system.canonical(&directory) == output) {
            continue;
        }
        is_first = false;
        let entries = system.entries(&directory).map_err(|error| cant_read(&directory, &error))?;
        for entry in entries {
            if entry.is_directory {
                open.push(entry.path);
            } else if is_source(&entry.path) {
                files.push(entry.path);
            }
        }
    }
    Ok(files)
}
