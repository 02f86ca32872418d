//! Being switched from outside: the program listens on a socket of its own, and hands its switches to operators.
//!
//! ```no_run
//! let server = protolog_rt::control::serve()?;
//! println!("listening on {}", server.path().display());
//! // `protologtool configuration groups list` now finds this program.
//! # Ok::<(), protolog_rt::control::Error>(())
//! ```
//!
//! [`init`](crate::init()) does it too. One small thread waits for operators; the threads that log never meet it: an
//! operator gets the memory that the switches live in, and changes them there. `docs/design/control.md` has the whole of it.
//!
//! Only the program's own user and root are admitted: the socket's directory lets nobody else in, and the kernel says who is
//! at the other end.
//!
//! Invariants: nothing that an operator sends or fails to send ends, blocks or slows down the program; what it can do is to
//! switch levels, to have a trace written where the program may write, and to read what groups there are.

mod answer;
mod connection;
mod place;
mod server;
mod wishes;

pub(crate) use wishes::{Wishes, fulfil, read_file};

use self::place::Socket;
use self::server::Thread;
use std::path::{Path, PathBuf};
use std::{fmt, io};

/// A program that listens; it stops when this is dropped. A trace that an operator had started is completed then.
#[derive(Debug)]
pub struct Server {
    thread: Option<Thread>,
    path: PathBuf,
}

/// Why a program can't listen to operators.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The directory for sockets can't be made or looked at.
    Directory {
        /// The directory.
        path: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// The directory for sockets belongs to another user, or others can enter it, or it is no directory.
    NotPrivate {
        /// The directory.
        path: PathBuf,
    },
    /// The socket can't be made.
    Socket {
        /// Its path.
        path: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// There is no thread or no descriptor to be had.
    Resources(io::Error),
}

/// Listens to operators, in the directory that `docs/design/control.md` names: `$XDG_RUNTIME_DIR/protolog` or
/// `/run/protolog/UID`.
pub fn serve() -> Result<Server, Error> {
    Server::start(None, Wishes::default())
}

/// As [`serve`], with the socket in this directory, which is made if it is missing.
pub fn serve_in(directory: impl Into<PathBuf>) -> Result<Server, Error> {
    Server::start(Some(directory.into()), Wishes::default())
}

impl Server {
    /// Listens, and looks after the file of `wishes`.
    pub(crate) fn start(directory: Option<PathBuf>, wishes: Wishes) -> Result<Self, Error> {
        let socket = Socket::new(directory)?;
        let path = socket.path.clone();
        // Without memory to share, groups are switched by request.
        let _ = crate::level::share();
        let thread = Thread::start(socket, wishes).map_err(Error::Resources)?;
        Ok(Self { thread: Some(thread), path })
    }

    /// The socket.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Goes on listening until the process ends. The socket's file then stays behind, which does no harm.
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

impl Error {
    /// What to do about it; begins with a verb.
    pub fn help(&self) -> &'static str {
        match self {
            Self::Directory { .. } => {
                "set XDG_RUNTIME_DIR, or let the service manager make the directory (systemd: RuntimeDirectory=protolog)"
            }
            Self::NotPrivate { .. } => "make it a directory of this user with `chmod 700`",
            Self::Socket { .. } => {
                "set PROTOLOG_RUNTIME_DIR to a directory that can be written and has a short path"
            }
            Self::Resources(_) => "raise the process's limits",
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Directory { path, error } => {
                write!(f, "can't use the directory `{}`: {error}", path.display())
            }
            Self::NotPrivate { path } => {
                write!(f, "`{}` is no directory of this user alone", path.display())
            }
            Self::Socket { path, error } => {
                write!(f, "can't listen on `{}`: {error}", path.display())
            }
            Self::Resources(error) => write!(f, "can't start listening: {error}"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Directory { error, .. } | Self::Socket { error, .. } | Self::Resources(error) => {
                Some(error)
            }
            Self::NotPrivate { .. } => None,
        }
    }
}
