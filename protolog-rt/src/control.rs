//! Control from outside: the program listens on a socket of its own, and shares its switches with
//! operators.
//!
//! ```no_run
//! let server = protolog_rt::control::serve()?;
//! println!("listening on {}", server.path().display());
//! // `protologtool configuration groups list` now finds this program.
//! # Ok::<(), protolog_rt::control::ServeError>(())
//! ```
//!
//! [`init`](crate::init()) does it too. One small thread waits for operators; threads that log
//! never wait for it: an operator maps the memory that holds the switches, and changes them there.
//! `docs/design/control.md` describes the protocol.
//!
//! Only the program's own user and root are admitted: nobody else can enter the socket's directory,
//! and the kernel names the peer's user.
//!
//! Invariants: nothing that an operator sends or fails to send ends, blocks or slows down the
//! program; an operator can switch levels, have a trace written where the program may write, and
//! list the groups.

#[cfg(unix)]
mod answer;
#[cfg(unix)]
mod connection;
#[cfg(not(unix))]
mod elsewhere;
#[cfg(unix)]
mod place;
#[cfg(unix)]
mod server;
mod settings_file;

pub(crate) use settings_file::{
    SettingsText, WatchedSettings, apply_text, read_file, read_state_file,
};

#[cfg(not(unix))]
use self::elsewhere::{ServerThread, Socket};
#[cfg(unix)]
use self::place::Socket;
#[cfg(unix)]
use self::server::ServerThread;
use std::path::{Path, PathBuf};
use std::{fmt, io};

/// A server for operators. Dropping it stops it, and completes the trace that an operator started.
#[derive(Debug)]
#[must_use = "the server stops when it is dropped, at once if it is bound to `_`"]
pub struct Server {
    thread: Option<ServerThread>,
    path: PathBuf,
    displaced: Option<ServeError>,
}

/// An error that keeps a program from listening to operators. Its `Debug` form is the message with
/// its help line.
#[non_exhaustive]
pub enum ServeError {
    /// The directory for sockets can't be made or read.
    Directory {
        /// The directory.
        path: PathBuf,
        /// The system's error.
        error: io::Error,
    },
    /// The directory for sockets belongs to another user, is open to others, can be replaced by
    /// others, or is not a directory.
    NotPrivate {
        /// The directory.
        path: PathBuf,
    },
    /// The socket can't be created.
    Socket {
        /// Its path.
        path: PathBuf,
        /// The system's error.
        error: io::Error,
    },
    /// The system has no thread or descriptor left.
    Resources(io::Error),
    /// The runtime can't listen on this system.
    Unsupported,
}

/// Listens to operators, in the directory that `docs/design/control.md` names:
/// `$XDG_RUNTIME_DIR/protolog` or `/run/protolog/UID`, or a directory of its own if another user
/// has taken these: [`Server::displaced`].
pub fn serve() -> Result<Server, ServeError> {
    Server::start(None, WatchedSettings::default())
}

/// Listens to operators on a socket in this directory, which is created if it is missing.
pub fn serve_in(directory: impl Into<PathBuf>) -> Result<Server, ServeError> {
    Server::start(Some(directory.into()), WatchedSettings::default())
}

impl Server {
    /// Listens, and reloads `settings` when they change.
    pub(crate) fn start(
        directory: Option<PathBuf>,
        settings: WatchedSettings,
    ) -> Result<Self, ServeError> {
        let mut socket = Socket::new(directory)?;
        let (path, displaced) = (socket.path.clone(), socket.displaced.take());
        // Without memory to share, groups are switched by request.
        let _ = crate::level::share();
        let thread = ServerThread::start(socket, settings).map_err(ServeError::Resources)?;
        Ok(Self { thread: Some(thread), path, displaced })
    }

    /// Returns the path of the socket.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the reason why the socket is not in the first of the directories that
    /// `docs/design/control.md` names: another user could have made that one, or could replace it.
    /// Operators find the socket all the same.
    pub fn displaced(&self) -> Option<&ServeError> {
        self.displaced.as_ref()
    }

    /// Keeps listening until the process ends. The socket's file then stays behind, which does no
    /// harm.
    pub fn forever(mut self) {
        std::mem::forget(self.thread.take());
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(thread) = self.thread.take() {
            thread.stop();
        }
    }
}

impl ServeError {
    /// Returns a help line, which begins with a verb.
    pub fn help(&self) -> &'static str {
        match self {
            Self::Directory { .. } => {
                "set XDG_RUNTIME_DIR, or let the service manager make the directory (systemd: RuntimeDirectory=protolog)"
            }
            Self::NotPrivate { .. } => {
                "make it a directory of this user with `chmod 700`, where others can't rename it"
            }
            Self::Socket { .. } => "set PROTOLOG_RUNTIME_DIR to a directory that can be written",
            Self::Resources(_) => "raise the process's limits",
            Self::Unsupported => "set levels by the variable `PROTOLOG`, or in the program",
        }
    }
}

impl fmt::Display for ServeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Directory { path, error } => {
                write!(f, "can't use the directory `{}`: {error}", path.display())
            }
            Self::NotPrivate { path } => {
                write!(f, "`{}` is not private to this user", path.display())
            }
            Self::Socket { path, error } => {
                write!(f, "can't listen on `{}`: {error}", path.display())
            }
            Self::Resources(error) => write!(f, "can't start listening: {error}"),
            Self::Unsupported => {
                f.write_str("protolog-rt does not listen to operators on this system")
            }
        }
    }
}

impl fmt::Debug for ServeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}\nhelp: {}", self.help())
    }
}

impl std::error::Error for ServeError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Directory { error, .. } | Self::Socket { error, .. } | Self::Resources(error) => {
                Some(error)
            }
            Self::NotPrivate { .. } | Self::Unsupported => None,
        }
    }
}
