//! Outputs that would be written over an input or over each other are refused before anything is
//! written; so are inputs that are given twice, where that would double their messages.

use crate::exit::Failure;
use crate::system::System;
use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// Refuses inputs that are given twice, `each` of which is to be given once.
pub(crate) fn once(inputs: &[PathBuf], each: &str, system: &dyn System) -> Result<(), Failure> {
    let mut seen = HashSet::new();
    let place = |path: &Path| {
        (system.canonical(path.parent().unwrap_or(path)), path.file_name().map(OsStr::to_owned))
    };
    match inputs.iter().find(|input| !seen.insert(place(input))) {
        Some(twice) => Err(Failure::new(format!("`{}` is given twice", twice.display()))
            .help(format!("give each {each} once"))),
        None => Ok(()),
    }
}

/// A directory, so that two paths lead to one if this is the same for both.
#[derive(PartialEq, Eq, Hash)]
enum Directory {
    There((u64, u64)),
    Missing(PathBuf),
}

/// Refuses outputs that are inputs as well, or that are there twice.
///
/// An output takes the place of a name in a directory, wherever that name led; so two paths are the
/// same file here if they have the same last part and their directories are the same. Only
/// directories of equal names are looked at.
pub(super) fn check(
    outputs: &[PathBuf],
    inputs: &[PathBuf],
    system: &dyn System,
) -> Result<(), Failure> {
    let mut by_name: HashMap<&OsStr, Vec<&Path>> = HashMap::with_capacity(inputs.len());
    for input in inputs {
        by_name.entry(input.file_name().unwrap_or_default()).or_default().push(input);
    }
    // Directories by number: as the paths spell them, and as they are. There are thousands of files
    // in few of them.
    let (mut spelt, mut canonical) = (HashMap::new(), HashMap::new());
    let mut directory = |path: &Path| -> usize {
        let parent = path.parent().unwrap_or(path);
        if let Some(known) = spelt.get(parent.as_os_str()) {
            return *known;
        }
        let next = canonical.len();
        let place = match system.directory(parent) {
            Some(directory) => Directory::There(directory),
            None => Directory::Missing(system.canonical(parent)),
        };
        let number = *canonical.entry(place).or_insert(next);
        spelt.insert(parent.as_os_str().to_owned(), number);
        number
    };
    let mut seen = HashSet::with_capacity(outputs.len());
    for output in outputs {
        let Some(name) = output.file_name() else {
            let shown = output.display();
            return Err(Failure::new(format!("`{shown}` is not a file name"))
                .help("give the output a name"));
        };
        let place = directory(output);
        for input in by_name.get(name).into_iter().flatten() {
            if directory(input) == place {
                return Err(Failure::new(format!(
                    "`{}` would be written over the input `{}`",
                    output.display(),
                    input.display()
                ))
                .help("choose another name or directory for the output"));
            }
        }
        if !seen.insert((place, name)) {
            return Err(Failure::new(format!("`{}` would be written twice", output.display()))
                .help("give each output a name of its own"));
        }
    }
    Ok(())
}
