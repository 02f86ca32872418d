//! The files of a session's triggers: their names, how many stay, and which are removed.
//!
//! ```text
//! app.pftrace   ->   app.error.20261127T220509.123Z.pftrace
//! ```
//!
//! Invariants
//! - A file appears under its name when it is complete.
//! - Only files are removed that this session has made, and that are at their names still; and only
//!   after a new one is complete.

use crate::error::Error;
use crate::session::arbiter::session_arbiter::Core;
use crate::session::file::file_place::FilePlace;
use crate::session::file::trace_file::{FileForm, TraceFile};
use crate::session::packets::copied::OWN_SEQUENCE;
use crate::session::ring::snapshot::{self, Collected};
use crate::session::stream::trace::Trace;
use crate::session::trigger::message::{CauseMessage, SEQUENCE};
use crate::session::trigger::settings::KeptFiles;
use protolog_files::Identity;
use std::collections::VecDeque;
use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

const _: () = assert!(SEQUENCE > OWN_SEQUENCE + u16::MAX as u32);

/// The most characters of a cause in a name.
const MAX_CAUSE: usize = 40;

/// The names to try where others are taken.
const NAMES: usize = 100;

/// Attempts to write a file whose name others take, or whose temporary file they remove.
const ATTEMPTS: usize = 8;

/// See the module.
#[derive(Debug)]
pub(in crate::session) struct TriggerFiles {
    place: FilePlace,
    form: FileForm,
    keep: KeptFiles,
    /// Those that this session has made, the oldest first.
    made: VecDeque<Made>,
}

/// A file that this session has made.
#[derive(Debug)]
struct Made {
    name: OsString,
    identity: Identity,
    bytes: u64,
}

impl TriggerFiles {
    /// Files beside `place`, as many as `keep` says.
    pub(in crate::session) fn new(place: FilePlace, form: FileForm, keep: KeptFiles) -> Self {
        Self { place, form, keep, made: VecDeque::new() }
    }

    /// Writes the chunks to a file of its own, and then removes those that are too many.
    pub(super) fn write(
        &mut self,
        core: &Arc<Core>,
        collected: &Collected,
        (cause, message): (&str, CauseMessage),
        wall: SystemTime,
    ) -> Result<(), Error> {
        self.place.follow();
        for _ in 1..ATTEMPTS {
            match self.write_once(core, collected, (cause, message), wall) {
                // Another session, also of another process, writes the same event's file.
                Err(Error::File { error, .. })
                    if matches!(error.kind(), ErrorKind::AlreadyExists | ErrorKind::NotFound) => {}
                done => return done,
            }
        }
        self.write_once(core, collected, (cause, message), wall)
    }

    fn write_once(
        &mut self,
        core: &Arc<Core>,
        collected: &Collected,
        (cause, message): (&str, CauseMessage),
        wall: SystemTime,
    ) -> Result<(), Error> {
        let path = self.free_path(cause, wall)?;
        let (mut file, identity) = TraceFile::create_beside(&self.place, &path, self.form.mode)?;
        file.set_form(&self.form);
        let mut trace = Trace::begin(Arc::clone(core), file);
        trace.file.packet(SEQUENCE, &message.packet(core.pid));
        let what = "protolog session goes on";
        let summary = snapshot::write_collected(core, trace, collected, what)?;
        let name = path.file_name().unwrap_or_default().to_owned();
        self.made.push_back(Made { name, identity, bytes: summary.bytes });
        self.remove_old();
        Ok(())
    }

    /// Returns an error if the longest name of a file is too long for the directory.
    pub(in crate::session) fn check_names(&self) -> Result<(), Error> {
        let label = format!("{}.{}-{NAMES}", "x".repeat(MAX_CAUSE), UtcTime(UNIX_EPOCH));
        let path = with_label(self.place.path(), &label);
        let place = self.place.location();
        let place = place.and_then(|place| place.sibling(path.file_name().unwrap_or_default()));
        let there = place.and_then(|place| place.is_taken());
        there.map_or_else(|error| Err(Error::File { path, error }), |_| Ok(()))
    }

    /// Returns the path of a file that is not there.
    fn free_path(&self, cause: &str, wall: SystemTime) -> Result<PathBuf, Error> {
        let path = self.place.path();
        let failed = |error| Error::File { path: path.to_path_buf(), error };
        let label = format!("{}.{}", in_name(cause), UtcTime(wall));
        for number in 1..NAMES {
            let label = if number == 1 { label.clone() } else { format!("{label}-{number}") };
            let path = with_label(path, &label);
            let place = self.place.location().map_err(failed)?;
            let place = place.sibling(path.file_name().unwrap_or_default()).map_err(failed)?;
            if !place.is_taken().map_err(failed)? {
                return Ok(path);
            }
        }
        Err(failed(ErrorKind::AlreadyExists.into()))
    }

    fn remove_old(&mut self) {
        let is_over = |made: &VecDeque<Made>| {
            let bytes: u64 = made.iter().map(|file| file.bytes).sum();
            made.len() > self.keep.files || bytes > self.keep.bytes && made.len() > 1
        };
        while is_over(&self.made) {
            let Some(Made { name, identity, .. }) = self.made.pop_front() else { break };
            // That it can't be removed is no reason not to write the next one.
            let place = self.place.location().and_then(|place| place.sibling(name));
            let _ = place.and_then(|place| place.remove_entry(identity));
        }
    }
}

/// Returns the file with `label` before the extension of `path`.
fn with_label(path: &Path, label: &str) -> PathBuf {
    let mut name = path.file_stem().unwrap_or_default().to_owned();
    name.push(format!(".{label}"));
    if let Some(extension) = path.extension() {
        name.push(".");
        name.push(extension);
    }
    path.with_file_name(name)
}

/// Returns a cause as it stands in a name: letters, digits and hyphens.
fn in_name(cause: &str) -> String {
    let mut name = String::new();
    for character in cause.chars().take(MAX_CAUSE) {
        match character {
            _ if character.is_ascii_alphanumeric() => name.push(character.to_ascii_lowercase()),
            _ if name.ends_with('-') => {}
            _ => name.push('-'),
        }
    }
    let name = name.trim_matches('-');
    if name.is_empty() { "trigger".to_owned() } else { name.to_owned() }
}

/// A time as `20261127T220509.123Z`.
struct UtcTime(SystemTime);

impl std::fmt::Display for UtcTime {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        const DAY: u64 = 86_400;
        let since = self.0.duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
        let (seconds, millis) = (since.as_secs(), since.subsec_millis());
        // The calendar is counted in years that begin in March, so that the leap day ends them.
        let day = seconds / DAY + 719_468;
        let (era, day) = (day / 146_097, day % 146_097);
        let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
        let day_of_year = day - (365 * year + year / 4 - year / 100);
        let month = (5 * day_of_year + 2) / 153;
        let day = day_of_year - (153 * month + 2) / 5 + 1;
        let is_after_december = month >= 10;
        let month = if is_after_december { month - 9 } else { month + 3 };
        let year = era * 400 + year + u64::from(is_after_december);
        let (hour, minute, second) = (seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
        write!(f, "{year:04}{month:02}{day:02}T{hour:02}{minute:02}{second:02}.{millis:03}Z")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_cause_and_time() {
        for (cause, expected) in [
            ("error", "error"),
            ("Slow connection!", "slow-connection"),
            ("../../etc/passwd", "etc-passwd"),
            ("é", "trigger"),
            ("", "trigger"),
        ] {
            assert_eq!(in_name(cause), expected, "{cause}");
        }
        let path = with_label(Path::new("/var/log/app.pftrace"), "error.7");
        assert_eq!(path, Path::new("/var/log/app.error.7.pftrace"));
    }

    #[test]
    fn times_are_those_of_the_calendar() {
        // As `date -u -d @…` says.
        for (seconds, expected) in [
            (0, "19700101T000000.007Z"),
            (951_782_400, "20000229T000000.007Z"),
            (1_709_251_199, "20240229T235959.007Z"),
            (1_735_689_599, "20241231T235959.007Z"),
            (1_795_817_109, "20261127T220509.007Z"),
            (4_107_542_400, "21000301T000000.007Z"),
        ] {
            let time = UNIX_EPOCH + Duration::from_millis(seconds * 1000 + 7);
            assert_eq!(UtcTime(time).to_string(), expected);
        }
    }
}
