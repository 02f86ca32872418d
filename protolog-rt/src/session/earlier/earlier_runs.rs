//! Files that earlier runs left at the path of a trace: they get other names before the path is
//! written again.
//!
//! ```text
//! app.pftrace      the run that begins
//! app.1.pftrace    the one before it
//! app.2.pftrace    the one before that, and so on
//! ```
//!
//! The trace of a run that crashed is completed from its recording first. It is then made
//! read-only, which marks it: it stays beside those that are asked for, until all that crashed take
//! more than [`CRASH_BYTES`] or are more than [`CRASHES`]; the newest one stays in any case. So a
//! program that crashes at once, again and again, runs out of neither disk nor numbers. Where
//! others have taken all numbers, a trace is `app.run-0123456789abcdef.pftrace`; those with such
//! names count as older than those with numbers.
//!
//! Invariants
//! - A file under one of these names is renamed or removed only if it is a trace of this program
//!   and user that nobody has. Others keep their names, and their numbers are left out; nothing of
//!   another user is read. A session starts no matter which files others put there.
//! - Files are renamed from the oldest to the newest, each to a name that is free by then. If that
//!   ends half-way, all are there.
//! - No file gets more permissions than it had, and the new one has those that the session asks
//!   for.
//! - All is done in one directory, which is found once, wherever its path leads by then.
//! - At most one of these files is open at a time, besides the one that gets the first name.

use crate::error::Error;
use crate::session::earlier::previous::{complete, complete_segments};
use crate::session::file::claim::{Held, hold};
use crate::session::file::file_place::FilePlace;
use crate::session::file::heads::{survey_of, survey_of_head};
use crate::sys::create::random;
use crate::sys::process::user;
use crate::text_queue;
use protolog_files::{Entry, FileExt, Identity, Location, Status, set_mode};
use protolog_recording::{TraceSurvey, os_str};
use std::cmp::Reverse;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// The most bytes of traces of crashed runs that are kept beside the others.
const CRASH_BYTES: u64 = 256 << 20;

/// The most traces of crashed runs.
const CRASHES: usize = 64;

/// The largest trace without a recording that is read to see whether its session was ended; of a
/// larger one the last [`TAIL`] bytes.
const MAX_SURVEYED: u64 = 64 << 20;
const TAIL: u64 = 512;

/// The end of the numbers: those of segments have four digits.
const LAST: u64 = 1000;

/// The treatment of the trace that the last run left.
#[derive(Clone, Copy, Debug)]
pub(in crate::session) struct Earlier {
    /// The number of traces that are kept, but for those of runs that crashed.
    pub(in crate::session) keep: usize,
    /// The file is emptied or replaced, as it is.
    pub(in crate::session) truncates: bool,
}

impl Default for Earlier {
    fn default() -> Self {
        Self { keep: 1, truncates: false }
    }
}

/// The text in place of a number in a name where all are taken, before 16 hexadecimal digits.
const RUN: &str = "run-";

/// A trace of an earlier run under one of the names.
#[derive(Debug)]
struct EarlierRun {
    name: OsString,
    label: Label,
    identity: Identity,
    is_crash: bool,
    bytes: u64,
    /// When it was written.
    time: SystemTime,
}

/// The part of a name that tells a trace from others. The newer ones come first, but for those
/// without a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Label {
    Number(u64),
    Run,
}

/// Gives the file at `place` another name, unless `earlier` says that it may go, or it is empty. A
/// file that can't get one is emptied. With `reports`, a line says so, and that the run crashed if
/// it did. [`Error::FileInUse`] if somebody writes it.
pub(in crate::session) fn keep(
    place: &FilePlace,
    earlier: Earlier,
    reports: bool,
) -> Result<(), Error> {
    let path = place.path();
    let Ok(place) = place.location() else { return Ok(()) };
    if earlier.truncates {
        return Ok(());
    }
    // A refused file has its error when it is opened.
    let Some(found) = own(place).filter(|found| found.status().len() > 0) else { return Ok(()) };
    let found = found.identity();
    // If it can't be completed, its recording stays, and completes it under the other name.
    let recovered = complete(place, path).ok().flatten().map(|(trace, _)| trace.messages);
    let Some(held) = hold(place, path)? else { return Ok(()) };
    // A user who may write to the directory may have put another one there.
    let is_same = |found| Identity::of_file(held.file()).is_ok_and(|held| held == found);
    if !is_same(found) || !own(place).is_some_and(|now| is_same(now.identity())) {
        return Ok(());
    }
    let is_crash = recovered.is_some() || !is_ended(&held).unwrap_or(true);
    if earlier.keep == 0 && !is_crash {
        return Ok(());
    }
    let line = match give_name((place, path), &held, is_crash, earlier.keep) {
        Ok(name) if is_crash => Some(crash_line(&path.with_file_name(name), recovered)),
        Ok(_) => None,
        Err(error) => Some(format!(
            "protolog: the trace of the last run, `{}`, is overwritten: it can't be renamed: {error}\n",
            path.display()
        )),
    };
    if let Some(line) = line.filter(|_| reports) {
        text_queue::write_line(line.as_bytes());
    }
    Ok(())
}

/// Completes the segments that earlier runs left, unless `earlier` says that they may go. With
/// `reports`, a line says so.
pub(in crate::session) fn keep_segments(place: &FilePlace, earlier: Earlier, reports: bool) {
    let Ok(location) = place.location() else { return };
    if earlier.truncates {
        return;
    }
    for trace in complete_segments(location, place.path()) {
        if reports {
            text_queue::write_line(crash_line(&trace.path, Some(trace.messages)).as_bytes());
        }
    }
}

/// Looks at the file at `place`; none unless it is a regular file of this user with one name.
fn own(place: &Location) -> Option<Entry> {
    let found = place.look().ok()?;
    (found.is_regular() && found.owner() == user() && found.links() == 1).then_some(found)
}

/// Returns whether the session that wrote a trace was ended, as far as a look tells. A file that is
/// no trace has no session.
fn is_ended(held: &Held) -> io::Result<bool> {
    let length = held.file().metadata()?.len();
    if survey_of_head(held.file())?.session_id == [0; 16] {
        return Ok(true);
    }
    if length <= MAX_SURVEYED {
        return Ok(survey_of(held.file(), length)?.has_end);
    }
    let mut tail = [0; TAIL as usize];
    held.file().read_exact_at(&mut tail, length - TAIL)?;
    let has = |end: &[u8]| tail.windows(end.len()).any(|part| part == end);
    Ok(TraceSurvey::ENDS.iter().any(|end| has(end)))
}

/// Renames the file at `place`, which is `held`, to the first of the names, and those that are in
/// the way to the next ones. Then removes those that need not be kept. Returns its name. The path
/// is for errors.
fn give_name(
    (place, path): (&Location, &Path),
    held: &Held,
    is_crash: bool,
    keep: usize,
) -> io::Result<OsString> {
    let (mut kept, foreign) = find(place, path)?;
    let name = match free_first((place, path), &mut kept, &foreign)? {
        Some(first) => numbered(place.name(), &first.to_string()),
        // Others have all numbers.
        None => numbered(place.name(), &format!("{RUN}{:016x}", random())),
    };
    place.rename_to_free(&name)?;
    let found = Status::of(held.file())?;
    if is_crash {
        // A trace that can't be marked is kept as long as others.
        let _ = set_mode(held.file(), found.mode() & 0o444);
    }
    let newest = is_crash.then_some(found.len());
    for kept in needless(kept, newest, keep.saturating_sub(usize::from(!is_crash))) {
        // That one can't be removed is no reason not to start.
        let held = place.sibling(&kept.name).ok().and_then(|it| Some((kept.hold(&it, path)?, it)));
        if let Some((held, place)) = held {
            let _ = place.remove_if(held.file());
        }
    }
    Ok(name)
}

/// Renames traces so that the first number is free that nobody else has, and returns it; none if
/// all are taken.
fn free_first(
    (place, path): (&Location, &Path),
    kept: &mut [EarlierRun],
    foreign: &[u64],
) -> io::Result<Option<u64>> {
    let at = |kept: &[EarlierRun], number| {
        kept.iter().position(|kept| kept.label == Label::Number(number))
    };
    let mut numbers = (1..LAST).filter(|number| !foreign.contains(number));
    let Some(first) = numbers.next() else { return Ok(None) };
    // Up to the first free one.
    let mut chain: Vec<u64> = vec![first];
    while chain.last().is_some_and(|last| at(kept, *last).is_some()) {
        let Some(next) = numbers.next() else { return Ok(None) };
        chain.push(next);
    }
    for pair in chain.windows(2).rev() {
        let Some(moved) = at(kept, pair[0]).and_then(|at| kept.get_mut(at)) else { continue };
        let from = place.sibling(&moved.name)?;
        let to = numbered(place.name(), &pair[1].to_string());
        let in_use = || io::Error::other("another program has one of an earlier run");
        let held = moved.hold(&from, path).ok_or_else(in_use)?;
        from.rename_to_free(&to)?;
        drop(held);
        (moved.name, moved.label) = (to, Label::Number(pair[1]));
    }
    Ok(Some(first))
}

/// Returns those that need not be kept beside `keep` ended ones, and beside a newer one of a
/// crashed run of so many bytes if there is one.
fn needless(
    mut kept: Vec<EarlierRun>,
    newest_crash: Option<u64>,
    mut keep: usize,
) -> Vec<EarlierRun> {
    let (mut crashes, mut crash_bytes) =
        (usize::from(newest_crash.is_some()), newest_crash.unwrap_or(0));
    kept.sort_by_key(|kept| (kept.label, (kept.label == Label::Run).then_some(Reverse(kept.time))));
    kept.retain(|kept| {
        if kept.is_crash {
            crashes += 1;
            crash_bytes = crash_bytes.saturating_add(kept.bytes);
            crashes > 1 && (crashes > CRASHES || crash_bytes > CRASH_BYTES)
        } else {
            let is_needless = keep == 0;
            keep = keep.saturating_sub(1);
            is_needless
        }
    });
    kept
}

/// Finds the traces of earlier runs beside `place`, and the numbers of other files with such names.
fn find(place: &Location, path: &Path) -> io::Result<(Vec<EarlierRun>, Vec<u64>)> {
    let (mut all, mut foreign) = (Vec::new(), Vec::new());
    for name in place.siblings()? {
        let Some(label) = label(place.name(), &name) else { continue };
        match (EarlierRun::open(&place.sibling(&name)?, path, label), label) {
            (Some(kept), _) => all.push(kept),
            (None, Label::Number(number)) => foreign.push(number),
            (None, Label::Run) => {}
        }
    }
    Ok((all, foreign))
}

impl EarlierRun {
    /// Returns the file at `place` if it is a trace of this program and user that nobody has.
    fn open(place: &Location, path: &Path, label: Label) -> Option<Self> {
        // Nothing of somebody else is read.
        let identity = own(place)?.identity();
        let path = path.with_file_name(place.name());
        let held = hold(place, &path).ok()??;
        if Identity::of_file(held.file()).ok()? != identity {
            return None;
        }
        let metadata = held.file().metadata().ok()?;
        let mode = Status::of(held.file()).ok()?.mode();
        let survey = survey_of_head(held.file()).ok()?;
        let is_of_program = survey.session_id != [0; 16] && is_this_program(&survey.program?);
        is_of_program.then(|| Self {
            name: place.name().to_owned(),
            label,
            identity,
            is_crash: mode & 0o222 == 0,
            bytes: metadata.len(),
            time: metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH),
        })
    }

    /// Holds it, where it is at `place`, so that nobody begins to write it; none if somebody has
    /// it, or it is not there any more.
    fn hold(&self, place: &Location, path: &Path) -> Option<Held> {
        let held = hold(place, &path.with_file_name(place.name())).ok()??;
        (Identity::of_file(held.file()).ok()? == self.identity).then_some(held)
    }
}

/// Returns whether a process was called as this one is, in any directory.
fn is_this_program(name: &[u8]) -> bool {
    let own = std::env::args_os().next().unwrap_or_default();
    let base = |name: &OsStr| Path::new(name).file_name().map(OsStr::to_owned);
    let own = base(OsStr::new(own.to_string_lossy().as_ref()));
    os_str(name).is_some_and(|name| base(name) == own)
}

/// The line that says that the last run crashed.
fn crash_line(name: &Path, recovered: Option<u64>) -> String {
    let of = recovered.map(|messages| {
        let what = if messages == 1 { "message" } else { "messages" };
        format!(", with {messages} {what} from its recording")
    });
    let of = of.unwrap_or_default();
    format!("protolog: the last run crashed; its trace is `{}`{of}\n", name.display())
}

/// Returns the path of a trace of another name than that at `path`, which nobody can know in
/// advance.
pub(crate) fn unknown_sibling(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default();
    path.with_file_name(numbered(name, &format!("{RUN}{:016x}", random())))
}

/// Returns the name of trace `number`, which stands before the extension.
fn numbered(name: &OsStr, number: &str) -> OsString {
    let name = Path::new(name);
    let mut numbered = name.file_stem().unwrap_or_default().to_owned();
    numbered.push(format!(".{number}"));
    if let Some(extension) = name.extension() {
        numbered.push(".");
        numbered.push(extension);
    }
    numbered
}

/// Returns the part of a trace's name that tells it from others of `name`; none if `file` has no
/// such name.
fn label(name: &OsStr, file: &OsStr) -> Option<Label> {
    let (path, file) = (Path::new(name), Path::new(file));
    let stem = path.file_stem()?.as_encoded_bytes();
    let rest = file.as_os_str().as_encoded_bytes().strip_prefix(stem)?.strip_prefix(b".")?;
    let label = match path.extension() {
        Some(extension) => rest.strip_suffix(extension.as_encoded_bytes())?.strip_suffix(b".")?,
        None => rest,
    };
    let label = std::str::from_utf8(label).ok()?;
    if let Some(digits) = label.strip_prefix(RUN) {
        let is_hex = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        return (digits.len() == 16 && digits.bytes().all(is_hex)).then_some(Label::Run);
    }
    let number: u64 = label.parse().ok()?;
    let is_canonical = numbered(name, &number.to_string()) == file.as_os_str();
    (is_canonical && (1..LAST).contains(&number)).then_some(Label::Number(number))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    /// The Java runtime reads the same table.
    #[test]
    fn names_are_read_and_made_as_the_vectors_say() {
        let vectors = include_str!("../../../../protolog-core/testdata/file_names.tsv");
        for line in vectors.lines().skip(1) {
            let cells: Vec<&str> = line.split('\t').collect();
            let [name, file, _, run, made] = cells[..] else { panic!("five cells: {line}") };
            let expected = match run {
                "" => None,
                "run" => Some(Label::Run),
                number => number.parse().ok().map(Label::Number),
            };
            assert_eq!(label(OsStr::new(name), OsStr::new(file)), expected, "{line}");
            if !run.is_empty() && made == "y" {
                assert_eq!(numbered(OsStr::new(name), run), OsStr::new(file), "{line}");
            }
        }
    }

    #[test]
    fn names_are_given_in_the_directory_that_was_found() {
        let dir = protolog_testkit::temp_dir();
        let at = |name: &str| dir.path().join(name);
        for (name, texts) in
            [("logs", ["the last run", "no trace"]), ("other", ["precious", "precious, too"])]
        {
            fs::create_dir(at(name)).expect("a directory");
            fs::write(at(name).join("app.pftrace"), texts[0]).expect("write");
            fs::write(at(name).join("app.1.pftrace"), texts[1]).expect("write");
        }
        let path = at("logs/app.pftrace");
        let place = Location::of(&path).expect("a place");
        fs::rename(at("logs"), at("moved")).expect("rename");
        fs::rename(at("other"), at("logs")).expect("rename");
        let held = hold(&place, &path).expect("nobody has it").expect("a file");
        let name = give_name((&place, &path), &held, false, 1).expect("a name");
        assert_eq!(name, "app.2.pftrace");
        let read = |name: &str| fs::read_to_string(at(name)).expect("a file");
        assert_eq!(read("moved/app.2.pftrace"), "the last run");
        assert_eq!(read("moved/app.1.pftrace"), "no trace");
        assert_eq!(read("logs/app.pftrace"), "precious");
        assert_eq!(read("logs/app.1.pftrace"), "precious, too");
        assert!(!at("moved/app.pftrace").exists() && !at("logs/app.2.pftrace").exists());
    }
}
