//! Writing what came of a run: sources into an archive or a directory, and dictionaries.
//!
//! Invariant: everything is staged before anything is committed, so a failure leaves no output at all (a failure of one of
//! the final renames excepted, which is reported).

mod dictionary;
mod directory;
mod layout;
mod srcjar;

use crate::cli::{Exit, Failure};
use crate::groups::Groups;
use crate::pipeline::Processed;
use crate::system::{Staged, System};
use std::borrow::Cow;
use std::io;
use std::path::{Path, PathBuf};

/// What to write.
#[derive(Clone, Copy, Debug, Default)]
pub struct Outputs<'a> {
    /// An archive of all sources.
    pub srcjar: Option<&'a Path>,
    /// A directory of all sources.
    pub directory: Option<&'a Path>,
    /// What the names of sources in archive and directory are relative to.
    pub source_root: Option<&'a Path>,
    /// Dictionaries; their names say the format.
    pub dictionaries: &'a [PathBuf],
}

/// Writes all outputs. Messages that clash are shown; then nothing is written.
pub fn write(
    outputs: &Outputs<'_>,
    groups: &Groups,
    mut processed: Vec<Processed>,
    system: &dyn System,
) -> Result<Exit, Failure> {
    let collected = match dictionary::collect(groups, &mut processed) {
        Ok(dictionary) => dictionary,
        Err(problems) => {
            for problem in problems.as_slice() {
                system.print_error(&format!(
                    "error: {problem} [id-clash]\nhelp: {}\n",
                    problem.help()
                ));
            }
            return Ok(Exit::Problems);
        }
    };
    let mut staged: Vec<StagedFile> = Vec::new();
    if outputs.srcjar.is_some() || outputs.directory.is_some() {
        let names = layout::names(&processed, outputs.source_root)?;
        if let Some(path) = outputs.srcjar {
            staged.push((path.to_path_buf(), srcjar::stage(path, &names, &processed, system)?));
        }
        if let Some(path) = outputs.directory {
            staged.extend(directory::stage(path, &names, &processed, system)?);
        }
    }
    for path in outputs.dictionaries {
        staged.push((path.clone(), dictionary::stage(path, &collected, system)?));
    }
    for (path, staged) in staged {
        staged.commit().map_err(|error| cant_write(&path, &error))?;
    }
    Ok(Exit::Done)
}

/// A file that is staged, and its place.
type StagedFile = (PathBuf, Box<dyn Staged>);

/// The content that a source has in the output.
fn content<'p>(file: &'p Processed, system: &dyn System) -> Result<Cow<'p, [u8]>, Failure> {
    match &file.rewritten {
        Some(bytes) => Ok(Cow::Borrowed(bytes)),
        None => system.read(&file.path).map(Cow::Owned).map_err(|error| {
            Failure::new(format!("can't read `{}`: {}", file.path.display(), reason(&error)))
        }),
    }
}

fn cant_write(path: &Path, error: &io::Error) -> Failure {
    Failure::new(format!("can't write `{}`: {}", path.display(), reason(error)))
}

/// The cause of an I/O error, in our wording: lower case, without the error's number.
pub(crate) fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or(&text);
    let mut chars = text.chars();
    chars.next().map_or(String::new(), |first| first.to_lowercase().chain(chars).collect())
}
