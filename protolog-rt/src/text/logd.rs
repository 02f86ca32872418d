//! Text to Android's log daemon, whose lines logcat shows: one datagram per message, as the
//! platform's own liblog sends them.
//!
//! ```text
//! 00        d2 04      78 56 34 12  15 cd 5b 07   04     4e 65 74 00   68 69 00
//! log main  thread id  seconds      nanoseconds   INFO   Net\0         hi\0
//! ```
//!
//! Numbers are little-endian. The 11 bytes of the header are followed by at most [`PAYLOAD`] bytes;
//! the daemon cuts off the rest without notice, so a longer text is split, with an ellipsis on
//! either side. A message that the daemon does not take at once is dropped and counted, and the
//! count goes to the log `events` before the next message, as liblog's own does.
//!
//! The format is that of `liblog/logd_writer.cpp`, `liblog/include/private/android_logger.h` and
//! `logd/LogListener.cpp` in Android's `platform/system/logging`.
//!
//! Invariants: nothing waits; nothing is allocated once there is a socket; a message is sent or
//! counted.

use super::datagram::Daemon;
use super::lines::TAG_MAX;
use super::sink::{TextLine, TextSink};
use crate::sys::thread;
use protolog_core::Level;
use protolog_core::escape::{Form, controls_output};
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};
use std::time::{SystemTime, UNIX_EPOCH};

/// Where the daemon listens.
const SOCKET: &str = "/dev/socket/logdw";
/// Bytes of the header: log, thread, time.
const HEADER: usize = 11;
/// The most bytes after the header, `LOGGER_ENTRY_MAX_PAYLOAD`.
const PAYLOAD: usize = 4068;
/// The log that logcat shows, and the one for counts.
const MAIN: u8 = 0;
const EVENTS: u8 = 2;
/// The event "messages were dropped", `LIBLOG_LOG_TAG`, and the type of its value: 32 bits.
const DROPPED: u32 = 1006;
const INT: u8 = 0;
const ELLIPSIS: &str = "…";

/// A sink that sends messages to Android's log daemon, so that `logcat` shows them. On Android it
/// is the default sink.
///
/// ```no_run
/// use protolog_rt::text::{Logd, set_sink};
///
/// set_sink(Logd::connect()?)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Logd {
    daemon: Daemon,
    dropped: AtomicU64,
    /// Number of those dropped that were not reported to the daemon yet.
    unreported: AtomicU32,
}

impl Logd {
    /// Connects to the daemon.
    ///
    /// # Errors
    /// No daemon listens there.
    pub fn connect() -> io::Result<Self> {
        Self::connect_to(SOCKET)
    }

    /// Connects to the socket at `path`.
    ///
    /// # Errors
    /// No daemon listens there.
    pub fn connect_to(path: impl AsRef<Path>) -> io::Result<Self> {
        Daemon::connect(path.as_ref()).map(Self::new)
    }

    /// Connects to the daemon with the first message, since it may not run yet.
    pub(super) fn later() -> io::Result<Self> {
        Daemon::later(Path::new(SOCKET)).map(Self::new)
    }

    fn new(daemon: Daemon) -> Self {
        Self { daemon, dropped: AtomicU64::new(0), unreported: AtomicU32::new(0) }
    }

    /// Returns the number of messages, or parts of them, that the daemon did not take.
    pub fn dropped(&self) -> u64 {
        self.dropped.load(Relaxed)
    }

    /// Reports the number of dropped messages to the daemon, if any.
    fn report_dropped(&self, datagram: &mut Datagram) {
        if self.unreported.load(Relaxed) == 0 {
            return;
        }
        let count = self.unreported.swap(0, Relaxed);
        datagram.begin(EVENTS, thread::id(), SystemTime::now());
        datagram.put(&DROPPED.to_le_bytes());
        datagram.put(&[INT]);
        datagram.put(&count.to_le_bytes());
        if self.daemon.send_now(datagram.bytes()).is_err() {
            self.unreported.fetch_add(count, Relaxed);
        }
    }
}

impl TextSink for Logd {
    fn show(&self, line: &TextLine<'_>) {
        let mut datagram = Datagram::new();
        self.report_dropped(&mut datagram);
        let mut rest = line.text;
        let mut continues = false;
        loop {
            datagram.begin(MAIN, line.thread, line.time);
            datagram.put(&[priority(line.level)]);
            let tag = line.tag.chars().filter(|char| !controls_output(*char));
            tag.take(TAG_MAX).for_each(|char| datagram.put_char(char));
            datagram.put(&[0]);
            datagram.put(if continues { ELLIPSIS } else { "" }.as_bytes());
            (rest, continues) = datagram.put_text(rest);
            datagram.put(&[0]);
            if self.daemon.send_now(datagram.bytes()).is_err() {
                self.dropped.fetch_add(1, Relaxed);
                self.unreported.fetch_add(1, Relaxed);
            }
            if rest.is_empty() {
                return;
            }
        }
    }

    /// The daemon takes a message at once, or it is dropped and counted, as liblog's own are.
    fn show_now(&self, line: &TextLine<'_>) -> bool {
        self.show(line);
        true
    }
}

/// A datagram that is being built, on the stack.
struct Datagram {
    bytes: [u8; HEADER + PAYLOAD],
    length: usize,
}

impl Datagram {
    fn new() -> Self {
        Self { bytes: [0; HEADER + PAYLOAD], length: 0 }
    }

    fn bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }

    /// Starts over with the header: the log, the thread, the time.
    fn begin(&mut self, log: u8, thread: u32, time: SystemTime) {
        let time = time.duration_since(UNIX_EPOCH).unwrap_or_default();
        self.length = 0;
        self.put(&[log]);
        // The header has room for half of an id; so does liblog's.
        self.put(&(thread as u16).to_le_bytes());
        self.put(&(time.as_secs() as u32).to_le_bytes());
        self.put(&time.subsec_nanos().to_le_bytes());
    }

    /// Appends `bytes`, for which there is room.
    fn put(&mut self, bytes: &[u8]) {
        self.bytes[self.length..self.length + bytes.len()].copy_from_slice(bytes);
        self.length += bytes.len();
    }

    /// Appends a character, or its escape. A NUL would end the text for the daemon; others, a
    /// terminal would obey.
    fn put_char(&mut self, char: char) {
        if is_escaped(char) {
            for char in char.escape_default() {
                self.put(char.encode_utf8(&mut [0; 4]).as_bytes());
            }
        } else {
            self.put(char.encode_utf8(&mut [0; 4]).as_bytes());
        }
    }

    /// Appends as much of `text` as fits with a NUL behind it, and returns the rest, and true where
    /// the rest continues a line. The text is split at the end of a line if one ends in the second
    /// half of the space, or else anywhere, with an ellipsis.
    fn put_text<'a>(&mut self, text: &'a str) -> (&'a str, bool) {
        let begin = self.length;
        let all = self.bytes.len() - 1;
        let part = all - ELLIPSIS.len();
        // Positions where the text can be split: before an ellipsis, and behind a line.
        let (mut before, mut behind) = ((0, begin), None);
        for (at, char) in text.char_indices() {
            let size = if is_escaped(char) { char.escape_default().len() } else { char.len_utf8() };
            if self.length + size > all {
                let (at, length) = behind.unwrap_or(before);
                self.length = length;
                if behind.is_none() {
                    self.put(ELLIPSIS.as_bytes());
                }
                return (&text[at..], behind.is_none());
            }
            if self.length <= part {
                before = (at, self.length);
            }
            self.put_char(char);
            if char == '\n' && self.length - begin > (all - begin) / 2 {
                // The line's end itself is not sent: the next datagram is another line.
                behind = Some((at + 1, self.length - 1));
            }
        }
        ("", false)
    }
}

/// True for the characters of a text that have an escape: as in other lines, but for the ends of
/// lines, which logcat shows.
fn is_escaped(char: char) -> bool {
    char != '\n' && Form::Line.escapes(char)
}

/// Android's `android_LogPriority`.
fn priority(level: Level) -> u8 {
    2 + level.severity()
}

#[cfg(test)]
mod tests;
