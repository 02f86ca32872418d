//! Text to the system's log: one datagram per message, to the socket of syslog or of systemd's
//! journal.
//!
//! Both protocols are a few bytes around the text, so no library is needed. A message that the
//! daemon does not take at once waits for it in the queue for text. A daemon that was restarted is
//! connected to again; without one, messages are dropped and counted.

use super::sink::{TextLine, TextSink};
use crate::sys::datagram::Datagrams;
use crate::sys::process;
use crate::text_queue;
use protolog_core::Level;
use protolog_core::escape::{Escaped, Form};
use std::fmt::{self, Write as _};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// Milliseconds after which a busy daemon is tried again.
const RETRY: u32 = 1000;

/// A sink that sends messages to syslog.
#[derive(Debug)]
pub struct Syslog {
    daemon: Daemon,
}

/// A sink that sends messages to systemd's journal, with level, tag, process and thread as fields.
#[derive(Debug)]
pub struct Journald {
    daemon: Daemon,
}

impl Syslog {
    /// Connects to `/dev/log`.
    ///
    /// # Errors
    /// No daemon listens there.
    pub fn connect() -> io::Result<Self> {
        Self::connect_to("/dev/log")
    }

    /// Connects to the socket at `path`.
    ///
    /// # Errors
    /// No daemon listens there.
    pub fn connect_to(path: impl AsRef<Path>) -> io::Result<Self> {
        Ok(Self { daemon: Daemon::connect(path.as_ref())? })
    }
}

impl TextSink for Syslog {
    fn show(&self, line: &TextLine<'_>) {
        let send = |datagram: String| self.daemon.send(datagram.as_bytes());
        let sent = line.text.lines().all(|text| datagram(line, text).is_some_and(send));
        count_unless(sent);
    }

    fn show_now(&self, line: &TextLine<'_>) -> bool {
        let mut lines = line.text.lines();
        match (lines.next(), lines.next()) {
            (Some(text), None) => datagram(line, text)
                .is_some_and(|datagram| self.daemon.send_now(datagram.as_bytes()).is_ok()),
            (None, _) => true,
            // The daemon may take only some of them.
            _ => false,
        }
    }
}

/// The datagram of a line of a message; none without memory.
fn datagram(line: &TextLine<'_>, text: &str) -> Option<String> {
    /// User-level messages.
    const FACILITY: u32 = 1;
    let priority = FACILITY << 3 | severity(line.level);
    // Without a time: the daemon adds its own, and formats of the field differ.
    let (tag, text) = (Escaped(Form::Line, line.tag), Escaped(Form::Line, text));
    formatted(format_args!("<{priority}>{tag}[{}]: {text}", process::asked_id()))
}

/// A text in memory of the heap; none without memory: the thread that logs shall not abort.
fn formatted(text: fmt::Arguments<'_>) -> Option<String> {
    struct Fallible(String);
    impl fmt::Write for Fallible {
        fn write_str(&mut self, text: &str) -> fmt::Result {
            self.0.try_reserve(text.len()).map_err(|_| fmt::Error)?;
            self.0.push_str(text);
            Ok(())
        }
    }
    let mut out = Fallible(String::new());
    out.write_fmt(text).is_ok().then_some(out.0)
}

impl Journald {
    /// Connects to the journal of the system.
    ///
    /// # Errors
    /// There is no journal.
    pub fn connect() -> io::Result<Self> {
        Self::connect_to("/run/systemd/journal/socket")
    }

    /// Connects to the socket at `path`.
    ///
    /// # Errors
    /// No daemon listens there.
    pub fn connect_to(path: impl AsRef<Path>) -> io::Result<Self> {
        Ok(Self { daemon: Daemon::connect(path.as_ref())? })
    }
}

impl TextSink for Journald {
    fn show(&self, line: &TextLine<'_>) {
        count_unless(fields(line).is_some_and(|fields| self.daemon.send(&fields)));
    }

    fn show_now(&self, line: &TextLine<'_>) -> bool {
        fields(line).is_some_and(|fields| self.daemon.send_now(&fields).is_ok())
    }
}

/// The datagram of a message in the journal's native protocol; none without memory.
fn fields(line: &TextLine<'_>) -> Option<Vec<u8>> {
    let priority = formatted(format_args!("{}", severity(line.level)))?;
    let thread = formatted(format_args!("{}", line.thread))?;
    // A message with control characters is a blob to journalctl, and is not shown.
    let text = formatted(format_args!("{}", EscapedLines(line.text)))?;
    let tag = formatted(format_args!("{}", Escaped(Form::Line, line.tag)))?;
    let mut datagram = Vec::new();
    let values = text.len() + priority.len() + tag.len() + thread.len();
    datagram.try_reserve(values + 128).ok()?;
    for (name, value) in
        [("MESSAGE", &text), ("PRIORITY", &priority), ("SYSLOG_IDENTIFIER", &tag), ("TID", &thread)]
    {
        // A value of more than one line is preceded by its size, 64 bits little-endian.
        datagram.extend(name.bytes());
        datagram.push(b'\n');
        datagram.extend((value.len() as u64).to_le_bytes());
        datagram.extend(value.bytes());
        datagram.push(b'\n');
    }
    Some(datagram)
}

/// A text with escapes, but for the ends of lines.
struct EscapedLines<'a>(&'a str);

impl fmt::Display for EscapedLines<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, line) in self.0.split('\n').enumerate() {
            f.write_str(if number > 0 { "\n" } else { "" })?;
            Form::Line.write(f, line)?;
        }
        Ok(())
    }
}

/// Counts a message that could not be sent.
fn count_unless(is_sent: bool) {
    if !is_sent {
        text_queue::count_dropped(1);
    }
}

/// A daemon that takes datagrams.
#[derive(Debug)]
pub(super) struct Daemon {
    socket: Datagrams,
    path: PathBuf,
}

impl Daemon {
    /// Connects to the daemon that listens at `path`.
    pub(super) fn connect(path: &Path) -> io::Result<Self> {
        let daemon = Self::later(path)?;
        daemon.socket.connect(path)?;
        Ok(daemon)
    }

    /// Connects to the daemon at `path` with the first message.
    pub(super) fn later(path: &Path) -> io::Result<Self> {
        Ok(Self { socket: Datagrams::unbound()?, path: path.to_path_buf() })
    }

    /// Sends a datagram, if need be after connecting again, without waiting.
    pub(super) fn send_now(&self, datagram: &[u8]) -> io::Result<()> {
        let send = || loop {
            match self.socket.send(datagram, &self.path) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                sent => return sent.map(|_| ()),
            }
        };
        match send() {
            Err(error) if error.kind() != ErrorKind::WouldBlock => {
                self.socket.connect(&self.path)?;
                send()
            }
            sent => sent,
        }
    }

    /// As [`Self::send_now`], as soon as the daemon takes it. False if there is no daemon.
    pub(super) fn send(&self, datagram: &[u8]) -> bool {
        loop {
            match self.send_now(datagram) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    // Now and then it is tried anyway: a daemon that is replaced makes no socket
                    // writable.
                    self.socket.wait(RETRY);
                }
                sent => return sent.is_ok(),
            }
        }
    }
}

/// The severity of RFC 5424.
fn severity(level: Level) -> u32 {
    match level {
        Level::Verbose | Level::Debug => 7,
        Level::Info => 6,
        Level::Warn => 4,
        Level::Error => 3,
        Level::Wtf => 2,
    }
}
