//! Events that have a file of their own: its name, and the message in it that says why.
//!
//! ```text
//! app.pftrace   ->   app.error.20261127T220509.123Z.pftrace
//! ```

use crate::Recording;
use crate::packets::PacketWriter;
use crate::system::os_str;
use protolog_core::recorder::{FATAL_SIGNALS, SignalKind, SignalMark, event_path};
use protolog_core::schema::{message, packet, sequence_flags, sequence_info};
use protolog_core::{Level, message_id};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use std::{fmt, io};

/// The sequence of the messages about events, behind those of all writers.
pub const EVENT_SEQUENCE: u32 = 1 << 17;

/// Full name and tag of the group of these messages.
pub const EVENT_GROUP: &str = "trigger";

/// Their level.
pub const EVENT_LEVEL: Level = Level::Warn;

/// The most characters of a cause in a name.
pub const MAX_CAUSE: usize = 40;

/// The fatal signal that ended the process of a recording, and the file that becomes of it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FatalSignal {
    /// The signal, as `SIGSEGV`.
    pub name: &'static str,
    /// The wall clock when it came.
    pub time: SystemTime,
    /// The path of the files of the session's triggers, absolute.
    pub files: PathBuf,
}

impl FatalSignal {
    /// That of a recording, if its session waited for it.
    pub(crate) fn of(recording: &Recording<'_>) -> Option<Self> {
        let mark = SignalMark::cause(recording.bytes)?;
        let files = os_str(event_path(recording.bytes)?)?.into();
        let header = recording.header();
        let nanos = header.realtime.saturating_add(mark.time.saturating_sub(header.boottime));
        let time = UNIX_EPOCH.checked_add(Duration::from_nanos(nanos)).unwrap_or(UNIX_EPOCH);
        Some(Self { name: mark.name()?, time, files })
    }

    /// The path of its file: the one with this number, from 1, where others are taken.
    pub fn path(&self, number: usize) -> PathBuf {
        event_file(&self.files, self.name, self.time, number)
    }
}

/// An event as other programs know it, on this machine or another one: `NANOSECONDS-CAUSE`, with
/// the cause as it stands in names of files.
///
/// ```
/// use protolog_recording::EventKey;
///
/// let key: EventKey = "1764460000123456789-slow-query".parse().unwrap();
/// assert_eq!((key.nanos, &*key.cause), (1764460000123456789, "slow-query"));
/// assert_eq!(key.to_string(), "1764460000123456789-slow-query");
/// assert!("slow-query".parse::<EventKey>().is_err());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventKey {
    /// Its time, in nanoseconds since 1970.
    pub nanos: u64,
    /// Its cause: letters, digits and hyphens.
    pub cause: String,
}

/// The error for a text that is no [`EventKey`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoEventKey;

impl EventKey {
    /// The key of an event at `nanos` since 1970, of any cause.
    pub fn new(nanos: u64, cause: &str) -> Self {
        Self { nanos, cause: in_name(cause) }
    }
}

impl fmt::Display for EventKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.nanos, self.cause)
    }
}

impl FromStr for EventKey {
    type Err = NoEventKey;

    fn from_str(text: &str) -> Result<Self, NoEventKey> {
        let (nanos, cause) = text.split_once('-').ok_or(NoEventKey)?;
        let is_number = nanos.bytes().all(|byte| byte.is_ascii_digit());
        let nanos = nanos.parse().ok().filter(|_| is_number).ok_or(NoEventKey)?;
        // Not one that another form of the same cause would have, and no long one.
        let key = Self::new(nanos, cause);
        if key.cause == cause { Ok(key) } else { Err(NoEventKey) }
    }
}

/// Returns the path of the file of an event beside `files`: the one with this number, from 1, where
/// others are taken.
pub fn event_file(files: &Path, cause: &str, time: SystemTime, number: usize) -> PathBuf {
    let label = format!("{}.{}", in_name(cause), UtcTime(time));
    let label = if number == 1 { label } else { format!("{label}-{number}") };
    let mut name = files.file_stem().unwrap_or_default().to_owned();
    name.push(format!(".{label}"));
    if let Some(extension) = files.extension() {
        name.push(".");
        name.push(extension);
    }
    files.with_file_name(name)
}

/// Returns whether this is the name of the file of a fatal signal beside `files`.
pub fn is_fatal_signal_file(files: &Path, name: &OsStr) -> bool {
    let stem = files.file_stem().unwrap_or_default().as_encoded_bytes();
    let rest = name.as_encoded_bytes().strip_prefix(stem).and_then(|rest| rest.strip_prefix(b"."));
    let rest = rest.and_then(|rest| match files.extension() {
        Some(extension) => rest.strip_suffix(extension.as_encoded_bytes())?.strip_suffix(b"."),
        None => Some(rest),
    });
    let Some((cause, time)) = rest.and_then(|rest| std::str::from_utf8(rest).ok()?.split_once('.'))
    else {
        return false;
    };
    let (time, number) = time.split_once("Z-").map_or((time, "2"), |(_, number)| (time, number));
    let time = time.split('Z').next().unwrap_or_default();
    let is_time = time.len() == UtcTime(UNIX_EPOCH).to_string().len() - 1
        && time.bytes().all(|byte| byte.is_ascii_digit() || b"T.".contains(&byte));
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    let is_signal = FATAL_SIGNALS.iter().any(|(_, signal)| signal.to_ascii_lowercase() == cause);
    is_signal && is_time && is_number && name.as_encoded_bytes().contains(&b'Z')
}

/// Calls `f` with the template of each message about a fatal signal.
pub fn for_each_signal_template(mut f: impl FnMut(&str)) {
    for (signal, _) in FATAL_SIGNALS {
        SignalKind::ALL.into_iter().filter_map(|kind| template(signal, kind)).for_each(|it| f(&it));
    }
}

/// Returns the template of the message about a signal.
fn template(signal: u32, kind: SignalKind) -> Option<String> {
    let (_, name) = FATAL_SIGNALS.into_iter().find(|(known, _)| *known == signal)?;
    Some(format!("trigger: {name}{}", kind.text()))
}

/// Writes the messages about the fatal signals of a recording. Its session has put their texts into
/// the dictionary.
pub(crate) fn write_signals(
    recording: &Recording<'_>,
    to: &mut PacketWriter<'_>,
) -> io::Result<()> {
    let pid = recording.header().pid;
    if event_path(recording.bytes).is_none() {
        return Ok(());
    }
    for mark in SignalMark::read_all(recording.bytes) {
        let kind = mark.kind(pid);
        let Some(template) = template(mark.signal, kind) else { continue };
        to.write_with(EVENT_SEQUENCE, |to| {
            to.uint64(packet::TIMESTAMP, mark.time)
                .uint32(packet::SEQUENCE_FLAGS, sequence_flags::INCREMENTAL_STATE_CLEARED);
            to.nested(packet::SEQUENCE_INFO)
                .uint32(sequence_info::PID, pid)
                .uint32(sequence_info::TID, mark.thread);
            let mut body = to.nested(packet::PROTOLOG_MESSAGE);
            let id = message_id("", &template, EVENT_LEVEL, EVENT_GROUP);
            body.fixed64(message::MESSAGE_ID, id);
            if kind != SignalKind::Raised {
                body.sint64(message::SINT64_PARAMS, mark.origin as i64);
            }
        })?;
    }
    Ok(())
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

impl fmt::Display for UtcTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
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
    fn a_key_has_one_form() {
        let key = EventKey::new(12, "Slow query, today!");
        assert_eq!(key.to_string(), "12-slow-query-today");
        assert_eq!(key.to_string().parse(), Ok(key));
        let long = format!("12-{}", "x".repeat(MAX_CAUSE + 1));
        for text in ["", "12", "-slow", "12-", "x-slow", "12-Slow", "+1-slow", "12-a b", &long] {
            assert_eq!(text.parse::<EventKey>(), Err(NoEventKey), "{text}");
        }
    }

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
        let at = |path: &str, number| {
            event_file(Path::new(path), "SIGSEGV", UNIX_EPOCH, number).display().to_string()
        };
        let files =
            [at("/var/log/app.pftrace", 1), at("/var/log/app.pftrace", 12), at("/var/log/app", 1)];
        let expected = [
            "/var/log/app.sigsegv.19700101T000000.000Z.pftrace",
            "/var/log/app.sigsegv.19700101T000000.000Z-12.pftrace",
            "/var/log/app.sigsegv.19700101T000000.000Z",
        ];
        assert_eq!(files, expected);
        let is_one = |name: &str| is_fatal_signal_file(Path::new("a/app.pftrace"), name.as_ref());
        assert!(is_one("app.sigsegv.19700101T000000.000Z.pftrace"));
        assert!(is_one("app.sigbus.19700101T000000.000Z-12.pftrace"));
        for other in [
            "app.error.19700101T000000.000Z.pftrace",
            "other.sigsegv.19700101T000000.000Z.pftrace",
            "app.sigsegv.19700101T000000.000Z.txt",
            "app.sigsegv.19700101T000000.000Z-.pftrace",
            "app.sigsegv.19700101T000000.000Z-x.pftrace",
            "app.sigsegv.1970.pftrace",
            "app.sigsegv.pftrace",
            "app.pftrace",
        ] {
            assert!(!is_one(other), "{other}");
        }
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
