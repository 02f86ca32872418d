//! Text to the system's log: one datagram per message, to the socket of syslog or of systemd's journal.
//!
//! Both protocols are a few bytes around the text, so no library is needed. A message that the daemon does not take at once is
//! dropped, since a log call never blocks. A daemon that was restarted is connected to again.

use super::sink::{TextLine, TextSink};
use crate::sys::thread;
use protolog_core::Level;
use std::io::{self, ErrorKind};
use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};

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
        /// User-level messages.
        const FACILITY: u32 = 1;
        let priority = FACILITY << 3 | severity(line.level);
        let (tag, pid) = (line.tag, std::process::id());
        for text in line.text.lines() {
            // Without a time: the daemon adds its own, and formats of the field differ.
            let message = format!("<{priority}>{tag}[{pid}]: {text}");
            self.daemon.send(message.as_bytes());
        }
    }
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
        let (priority, thread) = (severity(line.level).to_string(), thread::id().to_string());
        let mut datagram = Vec::with_capacity(line.text.len() + 128);
        for (name, value) in [
            ("MESSAGE", line.text),
            ("PRIORITY", &priority),
            ("SYSLOG_IDENTIFIER", line.tag),
            ("TID", &thread),
        ] {
            // A value of more than one line is preceded by its size, 64 bits little-endian.
            datagram.extend(name.bytes());
            datagram.push(b'\n');
            datagram.extend((value.len() as u64).to_le_bytes());
            datagram.extend(value.bytes());
            datagram.push(b'\n');
        }
        self.daemon.send(&datagram);
    }
}

/// A daemon that takes datagrams.
#[derive(Debug)]
pub(super) struct Daemon {
    socket: UnixDatagram,
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
        let socket = UnixDatagram::unbound()?;
        socket.set_nonblocking(true)?;
        Ok(Self { socket, path: path.to_path_buf() })
    }

    /// Sends a datagram, if need be after connecting again. False where the daemon did not take it.
    pub(super) fn send(&self, datagram: &[u8]) -> bool {
        let send = || loop {
            match self.socket.send(datagram) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                sent => return sent,
            }
        };
        match send() {
            Ok(_) => true,
            // The daemon is too busy.
            Err(error) if error.kind() == ErrorKind::WouldBlock => false,
            Err(_) => self.socket.connect(&self.path).is_ok() && send().is_ok(),
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
