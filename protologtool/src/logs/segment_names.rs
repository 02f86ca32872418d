//! Segments of a session: their names, in parts, and the session that each is of.
//!
//! Invariants
//! - A name says nothing for certain: its number may be that of a process, or a date.
//! - No link of another user is taken for a segment, as for [what is found in
//!   directories](crate::logs::trace_paths).

use crate::system::System;
use protolog_reader::session_id;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// The name of a segment, in parts.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Segment {
    /// The path that the session was given.
    pub(crate) set: PathBuf,
    pub(crate) number: u64,
}

impl Segment {
    /// The parts of `path`; none if it is no segment's.
    pub(crate) fn of(path: &Path) -> Option<Self> {
        let whole = if is_part(path) { path.with_extension("") } else { path.to_owned() };
        let extension = whole.extension()?.to_owned();
        let numbered = whole.with_extension("");
        let digits = numbered.extension()?.to_str()?;
        if digits.len() < 4 || !digits.bytes().all(|digit| digit.is_ascii_digit()) {
            return None;
        }
        let mut name = numbered.file_stem()?.to_owned();
        name.push(".");
        name.push(extension);
        Some(Self { set: whole.with_file_name(name), number: digits.parse().ok()? })
    }
}

/// The segments of a session that was given `set`, by number.
pub(crate) fn segments_of(set: &Path, system: &dyn System) -> BTreeMap<u64, PathBuf> {
    let directory = set.parent().filter(|it| *it != Path::new("")).unwrap_or(Path::new("."));
    let mut found = BTreeMap::new();
    for entry in system.entries(directory).unwrap_or_default() {
        let segment = Segment::of(&entry.path)
            .filter(|segment| !entry.is_directory && segment.set.file_name() == set.file_name());
        if let Some(Segment { number, .. }) = segment
            && system.is_followed(&entry.path)
        {
            found.insert(number, entry.path);
        }
    }
    found
}

/// Returns whether a segment with this path is not complete.
pub(crate) fn is_part(path: &Path) -> bool {
    path.extension() == Some(OsStr::new("part"))
}

/// The session that writes the trace at a path; none if its head is not there yet.
pub(crate) fn session_of(path: &Path, system: &dyn System) -> Option<[u8; 16]> {
    let head = system.read_from(path, 0, SESSION_HEAD).ok().filter(|head| !head.is_empty())?;
    let session = session_id(&head);
    // A trace without a session has other packets.
    (session != [0; 16] || head.len() > LEAST_HEAD).then_some(session)
}

/// A trace of so many bytes has the id of its session, if it has one.
const LEAST_HEAD: usize = 4096;

/// The part of a trace that is looked through for the id of its session, in bytes.
const SESSION_HEAD: usize = 1 << 16;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_segments_have_a_number() {
        let check = |path: &str, parts: Option<(&str, u64)>| {
            let segment = parts.map(|(set, number)| Segment { set: set.into(), number });
            assert_eq!(Segment::of(Path::new(path)), segment, "{path}");
        };
        check("/a/app.0001.pftrace", Some(("/a/app.pftrace", 1)));
        check("app.12345.pftrace.part", Some(("app.pftrace", 12345)));
        check("my.app.0007.trace", Some(("my.app.trace", 7)));
        check("app.pftrace", None);
        check("app.001.pftrace", None);
        check("app.pftrace.part", None);
    }
}
