//! Several traces as one: those that are named, and those in directories that are.
//!
//! A directory is whatever it is at a moment: programs rename and remove segments in it, and others put
//! there what is no trace. So what can't be read of it is left out with a warning, and the rest is
//! shown.
//!
//! Invariant: the number of open files has a limit, however many traces there are.

use super::input::{read_trace, source_of};
use crate::args::Expansion;
use crate::command::inputs::cant_read;
use crate::command::merge::{self, Made};
use crate::exit::Failure;
use crate::system::{Spool, System};
use protolog_reader::{ByteSource, MergeInput, Merged, merge_within, printable};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// The name of several traces that became one, in messages.
pub(super) const MERGED: &str = "the merged traces";

/// As [`gather`], in memory.
pub(in crate::command) fn gather_whole(
    traces: (&[PathBuf], &[PathBuf]),
    expansion: Expansion,
    system: &dyn System,
    note: &dyn Fn(&str),
) -> Result<(Vec<u8>, Merged), Failure> {
    let (trace, merged) = gather(traces, expansion, system, note)?;
    let bytes = trace.into_bytes().map_err(|error| cant_read(Path::new(MERGED), &error))?;
    Ok((bytes, merged))
}

/// Makes one trace of several, and says what is not in it. `note` gets what is said. What was found in
/// a directory, and is not among those that were `named`, may be left out.
pub(super) fn gather(
    (paths, named): (&[PathBuf], &[PathBuf]),
    expansion: Expansion,
    system: &dyn System,
    note: &dyn Fn(&str),
) -> Result<(Spool, Merged), Failure> {
    let opener = Opener::new(paths.len(), system, note);
    let (mut made, mut left_out, mut first) = (Vec::new(), Vec::new(), None);
    for path in paths {
        let is_found = !named.contains(path);
        match opener.open(path) {
            Ok(source) => made.push(Made { name: path.to_string_lossy(), source, is_found }),
            Err(failure) if !is_found => return Err(failure),
            Err(failure) => match opener.open_moved(path, paths) {
                Moved::To(path, source) => {
                    made.push(Made {
                        name: path.to_string_lossy().into_owned().into(),
                        source,
                        is_found,
                    });
                }
                Moved::Away => {
                    note(&format!(
                        "note: `{}` was removed meanwhile\n",
                        printable(&path.to_string_lossy())
                    ));
                }
                Moved::Nowhere => {
                    left_out.push(failure.message().to_owned());
                    first = first.or(Some(failure));
                }
            },
        }
    }
    let inputs: Vec<&dyn MergeInput> = made.iter().map(|it| it as &dyn MergeInput).collect();
    let mut trace = Spool::new();
    let mut merged = merge_within(&inputs, expansion.max_expansion, &mut trace)
        .map_err(|error| merge::failure(&error, Path::new("-")))?;
    merged.left_out.extend(left_out);
    for line in merge::problems(&merged, expansion) {
        note(&line);
    }
    if merged.packets == 0 && merged.left_out.len() >= inputs.len() {
        let failure = Failure::new("none of the traces can be read");
        return Err(first.unwrap_or(failure.help("give the files that sessions write")));
    }
    Ok((trace, merged))
}

/// The number of files that are open at once. Of more, each is opened for what is read of it.
const MOST_HELD: usize = 256;

/// Opens the traces of a set.
pub(super) struct Opener<'a> {
    holds_files: bool,
    pub(super) system: &'a dyn System,
    pub(super) note: &'a dyn Fn(&str),
}

/// The file whose name is gone.
enum Moved {
    /// It is there under another name.
    To(PathBuf, Box<dyn ByteSource>),
    /// It was removed.
    Away,
    /// Its name is not gone.
    Nowhere,
}

impl<'a> Opener<'a> {
    /// For so many traces.
    pub(super) fn new(traces: usize, system: &'a dyn System, note: &'a dyn Fn(&str)) -> Self {
        Self { holds_files: traces <= MOST_HELD, system, note }
    }

    fn open(&self, path: &Path) -> Result<Box<dyn ByteSource>, Failure> {
        match self.open_as_it_stands(path) {
            Some(source) => Ok(source),
            None => Ok(Box::new(read_trace(path, self.system, self.note)?)),
        }
    }

    /// The bytes of a file that is a trace as it stands; none of anything else.
    pub(super) fn open_as_it_stands(&self, path: &Path) -> Option<Box<dyn ByteSource>> {
        let source = source_of(path, self.system, self.note)?;
        if self.holds_files { Some(source) } else { self.system.source_by_name(path).ok()? }
    }

    /// Looks for a file that could not be opened. A segment gets its name without `.part` when it is
    /// complete, and the oldest one is removed, both at any moment.
    fn open_moved(&self, path: &Path, known: &[PathBuf]) -> Moved {
        let there = path.parent().and_then(|parent| self.system.entries(parent).ok());
        if there.unwrap_or_default().iter().any(|entry| entry.path == path) {
            return Moved::Nowhere;
        }
        let complete = path.with_extension("");
        if path.extension() != Some(OsStr::new("part")) || known.contains(&complete) {
            return Moved::Away;
        }
        self.open(&complete).map_or(Moved::Away, |source| Moved::To(complete, source))
    }
}
