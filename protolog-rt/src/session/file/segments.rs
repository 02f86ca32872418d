//! A trace in several files, one after the other: their names, when the next one begins, and which
//! old ones are removed.
//!
//! ```text
//! app.pftrace   ->   app.0007.pftrace, app.0008.pftrace       complete
//!                    app.0009.pftrace.part                    being written, or left by a crash
//! ```
//!
//! Numbers count up over all runs of the program, so that no segment is overwritten.
//!
//! Invariants: files of other users are not read, and their numbers count for nothing but that
//! their names are taken: a user who may put files there can have taken the highest one. A name
//! without `.part` is that of a complete file. Only files whose names have this form, and that say
//! that they are segments, are ever removed: the number in another one's name may be that of a
//! process, or a date. An empty one with `.part` is one, too: its program died before it wrote.

use crate::error::Error;
use crate::session::file::claim::{Claim, hold};
use crate::session::file::file_place::FilePlace;
use crate::session::file::heads::survey_of_head;
use crate::session::file::trace_file::{FileForm, TraceFile};
use crate::sys::create::is_own;
use crate::sys::process::user;
use protolog_files::Location;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The extension of a file that is not complete.
const PART: &str = "part";

/// The most digits of a segment's number, as in Java. No program comes so far, and after the
/// greatest number that fits there would be none.
const MOST_DIGITS: usize = 18;

/// The size and age at which a segment ends, and the number that is kept.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::session) struct Limits {
    /// The most bytes of a segment.
    pub(in crate::session) bytes: Option<u64>,
    /// The longest time that a segment takes.
    pub(in crate::session) age: Option<Duration>,
    /// The number of complete segments that are kept.
    pub(in crate::session) keep: Option<usize>,
}

impl Limits {
    /// Returns whether there are any limits.
    pub(in crate::session) fn any(self) -> bool {
        self.bytes.is_some() || self.age.is_some() || self.keep.is_some()
    }
}

/// The files of a session. See the module.
#[derive(Debug)]
pub(in crate::session) struct Segments {
    limits: Limits,
    /// The place that the session was given.
    place: FilePlace,
    form: FileForm,
    next: u64,
    /// The number of the first one of this session.
    first: u64,
    /// Existing segments with their numbers, the oldest first. The last one may still be written.
    old: Vec<u64>,
    /// The time at which the newest one was begun.
    begun: Instant,
    /// Held, so that no other session has the names.
    claim: Claim,
}

impl Segments {
    /// Claims the segments of `place` for one session, and finds those that exist.
    pub(in crate::session) fn new(
        place: FilePlace,
        limits: Limits,
        form: FileForm,
    ) -> Result<Self, Error> {
        let (claim, old) = claim(&place)?;
        let next = old.last().map_or(1, |number| number + 1);
        let begun = Instant::now();
        Ok(Self { limits, place, form, next, first: next, old, begun, claim })
    }

    /// Goes on in the directory that was made in place of the one that was removed, if one was.
    fn follow(&mut self) -> Result<(), Error> {
        if self.place.follow() {
            let (claim, old) = claim(&self.place)?;
            self.next = old.last().map_or(1, |number| number + 1).max(self.next);
            (self.first, self.old, self.claim) = (self.next, old, claim);
        }
        Ok(())
    }

    /// Creates the next segment, and then removes those that are too old to be kept beside it:
    /// where none can be created, all stay.
    pub(in crate::session) fn open(&mut self) -> Result<TraceFile, Error> {
        self.follow()?;
        let file = self.create()?;
        self.remove_old();
        self.old.push(self.next - 1);
        Ok(file)
    }

    fn create(&mut self) -> Result<TraceFile, Error> {
        loop {
            let name = segment_path(self.place.path(), self.next);
            let part = with_part(&name);
            let place = self.sibling(&part)?;
            match TraceFile::segment((place, &part), &name, self.limits.bytes, self.form.mode) {
                // Another process uses the same path.
                Err(Error::File { error, .. }) if error.kind() == io::ErrorKind::AlreadyExists => {
                    self.next += 1;
                }
                file => {
                    let mut file = file?;
                    file.set_form(&self.form);
                    file.set_segments_of(self.place.path());
                    self.begun = Instant::now();
                    self.next += 1;
                    return Ok(file);
                }
            }
        }
    }

    /// Removes the oldest ones. Those of runs that crashed, completed since or not, are counted
    /// apart, as long as they are newer than another one that is kept: runs that die soon take no
    /// other one away. The newest one of this session is still being finished, so it stays even if
    /// none is to be kept.
    fn remove_old(&mut self) {
        let Some(keep) = self.limits.keep else { return };
        let (mut complete, mut parts) = (keep.max(1), keep.max(1));
        for number in std::mem::take(&mut self.old).into_iter().rev() {
            let path = segment_path(self.place.path(), number);
            let place = self.sibling(&path).ok();
            let is_there = place.as_ref().is_none_or(|place| place.is_taken().unwrap_or(true));
            let is_part = number < self.first && !is_there;
            let of_crash = is_part || place.is_some_and(|place| is_of_crash(&place));
            if complete > 0 && (!of_crash || parts > 0) {
                *(if of_crash { &mut parts } else { &mut complete }) -= 1;
                self.old.push(number);
            } else {
                let path = if is_part { with_part(&path) } else { path };
                // That it can't be removed is no reason to stop logging.
                let place = self.sibling(&path).ok();
                let is_one = |place: &Location| {
                    self.place.location().is_ok_and(|set| is_segment(set, place))
                };
                if let Some(place) = place.filter(is_one) {
                    remove(&place, &path);
                }
            }
        }
        self.old.reverse();
    }

    /// The place of a file with this path, in the directory that is open.
    fn sibling(&self, path: &Path) -> Result<Location, Error> {
        sibling(&self.place, path).map_err(|error| Error::File { path: path.to_path_buf(), error })
    }

    /// Returns the time until the newest segment has reached its age; none without a limit on age.
    pub(in crate::session) fn left(&self) -> Option<Duration> {
        Some(self.limits.age?.saturating_sub(self.begun.elapsed()))
    }

    /// Starts the newest segment's age anew, since nothing is in it yet.
    pub(in crate::session) fn restart_age(&mut self) {
        self.begun = Instant::now();
    }
}

/// Claims the segments of `place`, and returns the numbers of those that exist, the oldest first.
fn claim(place: &FilePlace) -> Result<(Claim, Vec<u64>), Error> {
    let path = place.path();
    let failed = |error| Error::File { path: path.to_path_buf(), error };
    let location = place.location().map_err(failed)?;
    let in_use = || Error::FileInUse { path: path.to_path_buf() };
    let claim = Claim::segments(location).map_err(failed)?.ok_or_else(in_use)?;
    let names = location.siblings().map_err(failed)?;
    let numbered = names.iter().filter_map(|name| {
        let number = number(Path::new(location.name()), Path::new(name))?;
        let file = location.sibling(name).ok()?;
        is_segment(location, &file).then_some(number)
    });
    let mut old: Vec<u64> = numbered.collect();
    old.sort_unstable();
    // One that is complete may have an incomplete namesake.
    old.dedup();
    Ok((claim, old))
}

/// The place of a file with this path, in the directory of `place`.
fn sibling(place: &FilePlace, path: &Path) -> io::Result<Location> {
    place.location()?.sibling(path.file_name().unwrap_or_default())
}

/// Returns whether this is a regular file of this user.
fn is_of_user(file: &Location) -> bool {
    file.look().is_ok_and(|found| found.is_regular() && found.owner() == user())
}

/// Returns whether a file of this user with the name of a segment of `set` is one. One with `.part`
/// may have no beginning yet, where its program died.
fn is_segment(set: &Location, file: &Location) -> bool {
    // One of a session of this process is not even opened, since closing it may release a lock.
    if !is_of_user(file) || Claim::is_taken_at(file, None) {
        return false;
    }
    let Ok(open) = file.open_regular() else { return false };
    if is_part(file.name()) && open.metadata().is_ok_and(|metadata| metadata.len() == 0) {
        return true;
    }
    let name = survey_of_head(&open).ok().and_then(|head| head.segments_of);
    name.is_some_and(|name| name == set.name().to_string_lossy().as_bytes())
}

fn is_part(name: &OsStr) -> bool {
    Path::new(name).extension() == Some(OsStr::new(PART))
}

/// Returns whether a complete segment was left by a run that crashed: it is read-only.
fn is_of_crash(place: &Location) -> bool {
    place.look().is_ok_and(|entry| entry.is_regular() && entry.status().mode() & 0o222 == 0)
}

/// Returns the names of the incomplete segments of `place`, the oldest first.
pub(in crate::session) fn incomplete(place: &Location) -> Vec<OsString> {
    let names = place.siblings().unwrap_or_default().into_iter();
    let parts = names.filter(|name| Path::new(name).extension() == Some(OsStr::new(PART)));
    let number = |name: &OsString| number(Path::new(place.name()), Path::new(name));
    let mut numbered: Vec<_> =
        parts.filter_map(|name| number(&name).map(|number| (number, name))).collect();
    numbered.sort();
    numbered.into_iter().map(|(_, name)| name).collect()
}

/// Returns the name that a file has once it is complete.
pub(in crate::session) fn complete_name(path: &Path) -> PathBuf {
    if path.extension() == Some(OsStr::new(PART)) { path.with_extension("") } else { path.into() }
}

/// Removes a file of this user, unless somebody writes it.
fn remove(place: &Location, path: &Path) {
    match hold(place, path) {
        Ok(Some(held)) if is_own(held.file()).unwrap_or(false) => {
            let _ = place.remove_if(held.file());
        }
        _ => {}
    }
}

/// Returns the name of segment `number` of `path`: the number stands before the extension.
fn segment_path(path: &Path, number: u64) -> PathBuf {
    let mut name = path.file_stem().unwrap_or_default().to_owned();
    name.push(format!(".{number:04}"));
    if let Some(extension) = path.extension() {
        name.push(".");
        name.push(extension);
    }
    path.with_file_name(name)
}

fn with_part(name: &Path) -> PathBuf {
    let mut part = name.as_os_str().to_owned();
    part.push(".");
    part.push(PART);
    part.into()
}

/// Returns the number of a segment of `path`, complete or not; none if `file` is no segment.
fn number(path: &Path, file: &Path) -> Option<u64> {
    let whole = match file.extension() {
        Some(extension) if extension == OsStr::new(PART) => file.with_extension(""),
        _ => file.to_path_buf(),
    };
    let numbered = match path.extension() {
        Some(extension) if whole.extension() == Some(extension) => whole.with_extension(""),
        Some(_) => return None,
        None => whole,
    };
    let digits = numbered.extension()?.to_str()?;
    let known = numbered.file_stem() == path.file_stem();
    let is_number = digits.bytes().all(|digit| digit.is_ascii_digit());
    let good = (4..=MOST_DIGITS).contains(&digits.len()) && is_number;
    if known && good { digits.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::create::directory;
    use protolog_core::schema::{packet, sequence_info, trace};
    use protozero::{Heap, Writer};
    use std::fs;
    use std::os::unix::fs::chown;

    #[test]
    fn names_have_the_number_before_the_extension() {
        let check = |path: &str, number_of: u64, name: &str| {
            assert_eq!(segment_path(Path::new(path), number_of), Path::new(name));
            assert_eq!(number(Path::new(path), Path::new(name)), Some(number_of), "{name}");
            let part = with_part(Path::new(name));
            assert_eq!(number(Path::new(path), &part), Some(number_of), "{part:?}");
        };
        check("/var/log/app.pftrace", 1, "/var/log/app.0001.pftrace");
    }

    /// The Java runtime reads the same table.
    #[test]
    fn names_are_read_and_made_as_the_vectors_say() {
        let vectors = include_str!("../../../../protolog-core/testdata/file_names.tsv");
        for line in vectors.lines().skip(1) {
            let cells: Vec<&str> = line.split('\t').collect();
            let [name, file, segment, _, made] = cells[..] else { panic!("five cells: {line}") };
            let (name, file) = (Path::new(name), Path::new(file));
            assert_eq!(number(name, file), segment.parse().ok(), "{line}");
            if let Some(number) = segment.parse().ok().filter(|_| made == "y") {
                let whole = segment_path(name, number);
                assert_eq!(if is_part(file.as_os_str()) { with_part(&whole) } else { whole }, file);
            }
        }
    }

    #[test]
    fn a_name_alone_is_one_of_the_current_directory() {
        for (path, expected) in [
            ("app", "."),
            ("logs/app.pftrace", "logs"),
            ("/app", "/"),
            ("./app", "."),
            ("../app", ".."),
        ] {
            assert_eq!(directory(Path::new(path)), Path::new(expected), "{path}");
        }
    }

    /// A trace of a session that was given this name, and has segments.
    fn begin(set: &str) -> Vec<u8> {
        let mut writer = Writer::new(Heap::new());
        let mut trace = writer.message();
        let mut packet = trace.nested(trace::PACKET);
        let mut info = packet.nested(packet::SEQUENCE_INFO);
        info.bytes(sequence_info::SESSION_ID, &[7; 16]);
        info.string(sequence_info::SEGMENTS_OF, set);
        drop(info);
        drop(packet);
        writer.into_vec().expect("a trace")
    }

    #[test]
    fn numbers_go_on_after_the_highest_one_and_the_lowest_go_first() {
        let dir = protolog_testkit::temp_dir();
        let make =
            |name: &str| fs::write(dir.path().join(name), begin("app.pftrace")).expect("a file");
        let foreign = ["app.4711.pftrace", "app.4712.pftrace", "app.20261126.pftrace"];
        for (name, set) in foreign.into_iter().zip(["", "other.pftrace", "app"]) {
            fs::write(dir.path().join(name), begin(set)).expect("a file");
        }
        // In no order, as directories have them.
        for number in [7, 31, 2, 18, 30, 1, 25, 9] {
            make(&format!("app.{number:04}.pftrace"));
        }
        make("app.0032.pftrace.part");
        // As of a browser that has not all of it yet.
        let download = "app.20201126.pftrace.part";
        fs::write(dir.path().join(download), "precious").expect("a file");
        let limits = Limits { keep: Some(4), ..Limits::default() };
        let path = dir.path().join("app.pftrace");
        let mut segments = Segments::new(
            FilePlace::of(&path).expect("a place"),
            limits,
            FileForm { compression: None, mode: 0o600, epilogue: None },
        )
        .expect("segments");
        // Created by another process meanwhile.
        make("app.0033.pftrace");
        make("app.0034.pftrace.part");
        drop(segments.open().expect("a file"));
        let files = fs::read_dir(dir.path()).expect("files").map(|file| file.unwrap().file_name());
        let mut names: Vec<_> = files.map(|name| name.into_string().unwrap()).collect();
        names.sort();
        let kept = ["app.0018", "app.0025", "app.0030", "app.0031", "app.0033"]
            .map(|it| format!("{it}.pftrace"));
        let parts = ["app.0032", "app.0034", "app.0035"].map(|it| format!("{it}.pftrace.part"));
        let mut expected = [&kept[..], &parts, &foreign.map(str::to_owned)].concat();
        expected.push(download.to_owned());
        expected.sort();
        assert_eq!(names, expected);
    }

    #[test]
    fn files_of_other_users_say_nothing_of_the_next_number() {
        let dir = protolog_testkit::temp_dir();
        let other = user().wrapping_add(1);
        let numbers = ["999999999999999999", "0002", "0009"].map(|it| format!("app.{it}.pftrace"));
        for name in [format!("{}.part", numbers[0]), numbers[1].clone(), numbers[2].clone()] {
            let path = dir.path().join(name);
            fs::write(&path, begin("app.pftrace")).expect("a file");
            if chown(&path, Some(other), None).is_err() {
                return protolog_testkit::skip("files of another user", "only root can make them");
            }
        }
        let place = FilePlace::of(&dir.path().join("app.pftrace")).expect("a place");
        let form = FileForm { compression: None, mode: 0o600, epilogue: None };
        let limits = Limits { keep: Some(1), ..Limits::default() };
        let mut segments = Segments::new(place, limits, form).expect("segments");
        for _ in 0..3 {
            drop(segments.open().expect("a file"));
        }
        let is_there = |name: &str| dir.path().join(name).exists();
        let of_others = [numbers[1].as_str(), &numbers[2]].into_iter().all(is_there);
        assert!(of_others && is_there("app.999999999999999999.pftrace.part"));
        assert!(["0001", "0003", "0004"].iter().all(|it| {
            let name = format!("app.{it}.pftrace.part");
            is_there(&name)
        }));
    }

    #[test]
    fn other_files_are_no_segments() {
        for name in [
            "app.pftrace",
            "app.0001.pftrace.gz",
            "app.0001.part",
            "app.001.pftrace",
            "app.0x01.pftrace",
            "app.+001.pftrace",
            "application.0001.pftrace",
            "app.18446744073709551615.pftrace",
            "app.99999999999999999999.pftrace",
            "my.app.0001.pftrace",
            "app.0001.trace",
            "0001.pftrace",
        ] {
            assert_eq!(number(Path::new("app.pftrace"), Path::new(name)), None, "{name}");
        }
        assert_eq!(number(Path::new("app"), Path::new("app.0001.pftrace")), None);
    }
}
