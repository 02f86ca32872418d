//! The segments of a session, followed one after the other.
//!
//! ```text
//! app.pftrace   ->   app.0007.pftrace, app.0008.pftrace       complete
//!                    app.0009.pftrace.part                    being written, or left by a crash
//! ```
//!
//! Each is a trace by itself.

use super::file::GrowingFile;
use super::{Growing, Outlook, Reading, Shower, Stopped};
use crate::command::inputs::cant_read;
use crate::system::System;
use protolog_reader::printable;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// The name of a segment, in parts.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Segment {
    /// The path that the session was given.
    pub(super) set: PathBuf,
    pub(super) number: u64,
}

impl Segment {
    /// The parts of `path`; none if it is no segment's.
    pub(super) fn of(path: &Path) -> Option<Self> {
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
pub(super) fn segments_of(set: &Path, system: &dyn System) -> BTreeMap<u64, PathBuf> {
    let directory = set.parent().filter(|it| *it != Path::new("")).unwrap_or(Path::new("."));
    let mut found = BTreeMap::new();
    for entry in system.entries(directory).unwrap_or_default() {
        let segment = Segment::of(&entry.path)
            .filter(|segment| !entry.is_directory && segment.set.file_name() == set.file_name());
        if let Some(Segment { number, .. }) = segment {
            found.insert(number, entry.path);
        }
    }
    found
}

/// Returns whether a segment with this path is not complete.
fn is_part(path: &Path) -> bool {
    path.extension() == Some(OsStr::new("part"))
}

/// Segments of which more come.
pub(super) struct GrowingSegments {
    set: PathBuf,
    /// The number of the one that is read, or comes next.
    number: u64,
    file: Option<GrowingFile>,
    reading: Reading,
}

impl GrowingSegments {
    /// The segments of a session that was given `set`, from a number on.
    pub(super) fn new(set: PathBuf, number: u64, reading: Reading) -> Self {
        Self { set, number, file: None, reading }
    }

    /// Goes on to the segment that follows; false if there is none yet.
    fn next(
        &mut self,
        segments: &BTreeMap<u64, PathBuf>,
        system: &dyn System,
    ) -> Result<bool, Stopped> {
        let from = self.number + u64::from(self.file.is_some());
        let Some((number, path)) = segments.range(from..).next() else { return Ok(false) };
        let file = GrowingFile::new(path.clone(), self.reading.clone(), system);
        let mut file = file.map_err(|error| cant_read(path, &error))?;
        if let Some(before) = self.file.take() {
            file.go_on_from(before);
        }
        self.file = Some(file);
        self.number = *number;
        Ok(true)
    }
}

impl Growing for GrowingSegments {
    fn read(&mut self, show: &mut Shower<'_>, system: &dyn System) -> Result<Outlook, Stopped> {
        loop {
            let segments = segments_of(&self.set, system);
            let Some(file) = &mut self.file else {
                if self.next(&segments, system)? {
                    continue;
                }
                return Ok(Outlook::Open);
            };
            let is_last = segments.range(self.number + 1..).next().is_none();
            match segments.get(&self.number) {
                Some(path) if path != file.path() => file.rename(path.clone()),
                Some(_) => {}
                None if file.is_read() && !is_part(file.path()) => {}
                None if is_last => return Ok(Outlook::Open),
                None => {
                    let shown = printable(&file.path().to_string_lossy());
                    system.print_error(&format!(
                        "warning: `{shown}` was removed; what was added to it since the last look is not shown\n"
                    ));
                }
            }
            // If it is complete before it is read, it will have nothing added.
            let is_complete = !is_part(file.path());
            file.read(show, system)?;
            if is_last || !is_complete && !file.is_read() || !self.next(&segments, system)? {
                return Ok(Outlook::Open);
            }
        }
    }
}

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
