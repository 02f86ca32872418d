//! Several traces as one: those that are named, and those in directories that are.
//!
//! The contents of a directory change: programs rename and remove segments in it, and others put
//! files there that are no traces. So files that can't be read are left out with a warning, and the
//! rest is shown.
//!
//! Invariant: the number of open files has a limit, however many traces there are.

use crate::args::Expansion;
use crate::exit::Failure;
use crate::logs::merge_report;
use crate::logs::trace_file::{read_trace, source_of};
use crate::logs::trace_paths::{self, Moved};
use crate::output::cant_read;
use crate::system::{Spool, System};
use protolog_reader::{
    ByteSource, MergeInput, Merged, SourceReader, merge_within, places_of_recording,
};
use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// The name of several traces that became one, in messages.
pub(crate) const MERGED: &str = "the merged traces";

/// As [`gather`], in memory.
pub(crate) fn gather_whole(
    traces: (&[PathBuf], &[PathBuf]),
    expansion: Expansion,
    system: &dyn System,
    note: &dyn Fn(&str),
) -> Result<(Vec<u8>, Merged), Failure> {
    let (trace, merged) = gather(traces, expansion, system, note)?;
    let bytes = trace.into_bytes().map_err(|error| cant_read(Path::new(MERGED), &error))?;
    Ok((bytes, merged))
}

/// Makes one trace of several, and gives `note` lines about missing parts. A trace found in a
/// directory, and not among those that were `named`, may be left out.
pub(crate) fn gather(
    (paths, named): (&[PathBuf], &[PathBuf]),
    expansion: Expansion,
    system: &dyn System,
    note: &dyn Fn(&str),
) -> Result<(Spool, Merged), Failure> {
    let opener = Opener::new(paths.len(), system, note);
    let (mut made, mut left_out, mut first) = (Vec::new(), Vec::new(), None);
    let named: HashSet<&PathBuf> = named.iter().collect();
    for path in paths {
        let is_found = !named.contains(path);
        match opener.open(path) {
            Ok(source) => made.push(MadeTrace { name: path.to_string_lossy(), source, is_found }),
            Err(failure) if !is_found => return Err(failure),
            Err(failure) => match trace_paths::moved(path, paths, system) {
                Moved::To(path) if let Ok(source) = opener.open(&path) => {
                    let name = path.to_string_lossy().into_owned().into();
                    made.push(MadeTrace { name, source, is_found });
                }
                Moved::To(_) | Moved::Away => note(&trace_paths::removed(path)),
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
        .map_err(|error| merge_report::failure(&error, Path::new("-")))?;
    merged.left_out.extend(left_out);
    for line in merge_report::problems(&merged, expansion) {
        note(&line);
    }
    if merged.packets == 0 && merged.left_out.len() >= inputs.len() {
        let failure = Failure::new("none of the traces can be read");
        return Err(first.unwrap_or(failure.help("give the files that sessions write")));
    }
    Ok((trace, merged))
}

/// Opens the traces of a set.
pub(crate) struct Opener<'a> {
    /// The number of traces.
    traces: usize,
    /// The sessions that have recordings in each directory in which one was looked for.
    sessions: RefCell<HashMap<PathBuf, HashSet<[u8; 16]>>>,
    pub(crate) system: &'a dyn System,
    pub(crate) note: &'a dyn Fn(&str),
}

impl<'a> Opener<'a> {
    /// For so many traces.
    pub(crate) fn new(traces: usize, system: &'a dyn System, note: &'a dyn Fn(&str)) -> Self {
        let sessions = RefCell::default();
        Self { traces, sessions, system, note }
    }

    /// As [`System::find_recording`], with one look at each directory for all traces that have
    /// none.
    fn find_recording(&self, trace: &Path, session_id: [u8; 16]) -> Option<PathBuf> {
        let mut known = self.sessions.borrow_mut();
        let has_some = places_of_recording(trace).into_iter().any(|directory| {
            if !known.contains_key(directory) {
                let recordings = self.system.recordings_in(directory).into_iter();
                known.insert(directory.into(), recordings.map(|it| it.session_id).collect());
            }
            known[directory].contains(&session_id)
        });
        if has_some { self.system.find_recording(trace, session_id) } else { None }
    }

    fn open(&self, path: &Path) -> Result<Box<dyn ByteSource>, Failure> {
        match self.open_as_it_stands(path) {
            Some(source) => Ok(source),
            None => Ok(Box::new(read_trace(path, self.system, self.note)?)),
        }
    }

    /// The bytes of a file that is a trace as it stands; none of anything else.
    pub(crate) fn open_as_it_stands(&self, path: &Path) -> Option<Box<dyn ByteSource>> {
        let find = |path: &Path, session_id| self.find_recording(path, session_id);
        let source = source_of(path, (self.system, &find), self.note)?;
        if self.traces <= self.system.most_held() {
            Some(source)
        } else {
            self.system.source_by_name(path).ok()?
        }
    }
}

/// A trace under the names of the traces that it was made of.
pub(crate) struct MadeTrace<'a> {
    /// The name in messages.
    pub(crate) name: Cow<'a, str>,
    /// The trace.
    pub(crate) source: Box<dyn ByteSource>,
    /// It was found in a directory, and not named.
    pub(crate) is_found: bool,
}

impl MergeInput for MadeTrace<'_> {
    fn name(&self) -> &str {
        &self.name
    }

    fn open(&self) -> io::Result<Box<dyn Read + '_>> {
        Ok(Box::new(SourceReader::new(&*self.source)))
    }

    fn may_be_left_out(&self) -> bool {
        self.is_found
    }
}
