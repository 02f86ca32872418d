//! The other programs of a family: each is told of an event, and has a file of the same time.
//!
//! ```text
//! event here   the ring is copied; `join-for BEFORE AFTER FAMILY PID EVENT` to each program of this
//!              user that listens, and then `join`, for those that know no more
//! its file     by then they have answered; standard error says how many have not
//! ```
//!
//! Programs find each other by the sockets on which they listen to operators, in directories that
//! only this user can enter. One that is not of the family refuses, and that is no failure. Of many
//! programs some are asked for an answer.
//!
//! Invariants: nothing waits for an answer, and no longer than [`MOST_WAIT`] in all for programs
//! that accept no connection; a program that was told tells nobody.

use crate::session::arbiter::session_arbiter::Core;
use crate::sys::close_on_fork::CloseOnFork;
use crate::sys::{process, runtime_dirs};
use protolog_core::control::name::NameWord;
use protolog_core::control::protocol::{Join, JoinWindow, Request, SOCKET_SUFFIX, VERSION};
use protolog_files::{Directory, Peer};
use protolog_recording::EventKey;
use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// The longest that all programs together hold up the thread.
const MOST_WAIT: Duration = Duration::from_secs(1);

/// The longest that one of them does.
const WAIT: Duration = Duration::from_millis(50);

/// The most programs that are told.
const MOST_PROGRAMS: usize = 1024;

/// The most programs whose answers are awaited: each takes a descriptor of this program until then.
const MOST_AWAITED: usize = 64;

/// The most bytes of an answer that are looked at: two lines for the greeting, and one for each
/// request, or two where it is a refusal.
const MOST_ANSWER: usize = 4096;

/// The programs that were told of an event.
#[derive(Debug)]
pub(super) struct FamilyCall {
    family: String,
    /// Those whose answers are awaited.
    awaited: Vec<CloseOnFork<UnixStream>>,
    told: usize,
    /// The number of those that could not be told.
    failed: usize,
}

impl FamilyCall {
    /// Tells all programs of this user that listen, and `others`, which are sessions of this one.
    pub(super) fn new(
        others: impl Iterator<Item = Arc<Core>>,
        family: &str,
        cause: &str,
        (wall, window): (SystemTime, JoinWindow),
    ) -> Self {
        let since = wall.duration_since(UNIX_EPOCH).unwrap_or_default();
        let nanos = u64::try_from(since.as_nanos()).unwrap_or(u64::MAX);
        let key = EventKey::new(nanos, cause);
        for other in others {
            other.join(family, &key, (process::id(), Some(window)));
        }
        let event = key.to_string();
        let word = NameWord(family).to_string();
        let join = Join { family: &word, pid: process::id(), event: &event, window: None };
        let for_window = Request::Join(Join { window: Some(window), ..join });
        // One whose runtime is older refuses the first, and knows the second. Others know the event
        // by then.
        let join = Request::Join(join);
        let request = format!("{}\n{for_window}\n{join}\n", Request::Hello(VERSION));
        let mut call = Self { family: family.to_owned(), awaited: Vec::new(), told: 0, failed: 0 };
        let by = Instant::now() + MOST_WAIT;
        for directory in runtime_dirs::private() {
            call.tell_all(&directory, request.as_bytes(), by);
        }
        call
    }

    fn tell_all(&mut self, directory: &Directory, request: &[u8], by: Instant) {
        let Ok(names) = directory.names() else { return };
        let is_socket = |name: &&_| Path::new(name).to_string_lossy().ends_with(SOCKET_SUFFIX);
        for name in names.iter().filter(is_socket) {
            let wait = by.saturating_duration_since(Instant::now()).min(WAIT);
            if wait.is_zero() || self.told >= MOST_PROGRAMS {
                self.failed += 1;
                continue;
            }
            match tell(&directory.path().join(name), request, wait) {
                Ok(told) => {
                    self.told += usize::from(told.is_some());
                    let room = MOST_AWAITED - self.awaited.len();
                    self.awaited.extend(told.into_iter().take(room));
                }
                // A program that has ended, and left its socket.
                Err(error) if is_gone(&error) => {}
                Err(_) => self.failed += 1,
            }
        }
    }

    /// What standard error is told, where programs have not answered by now.
    pub(super) fn failure(&self) -> Option<String> {
        let silent = self.awaited.iter().filter(|one| !has_answered(one)).count();
        let count = silent + self.failed;
        let family = &self.family;
        (count > 0).then(|| {
            format!(
                "protolog: {count} programs of this user did not answer when the family `{family}` was told of an event\n\
                 help: see `protologtool configuration trace status`, and which of them is stopped\n"
            )
        })
    }
}

/// Tells the program that listens at `path`; none if that is this one.
fn tell(
    path: &Path,
    request: &[u8],
    wait: Duration,
) -> io::Result<Option<CloseOnFork<UnixStream>>> {
    let socket = CloseOnFork::new(protolog_files::unconnected)?;
    protolog_files::connect(&socket, path, wait)?;
    let peer = Peer::of(&socket)?;
    if !peer.is_trusted() || peer.pid == process::id() {
        return Ok(None);
    }
    // It fits into the socket, of which nobody else knows.
    (&mut &*socket).write_all(request)?;
    socket.set_nonblocking(true)?;
    Ok(Some(socket))
}

/// Returns whether a program has answered the request, in whatever words.
fn has_answered(socket: &CloseOnFork<UnixStream>) -> bool {
    let Some(mut socket) = socket.if_open() else { return true };
    let mut answer = Vec::new();
    let mut bytes = [0; 512];
    while answer.len() < MOST_ANSWER {
        match socket.read(&mut bytes) {
            // It closed the connection, as a program does that ends.
            Ok(0) => return true,
            Ok(count) => answer.extend_from_slice(bytes.get(..count).unwrap_or_default()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
            Err(_) => return true,
        }
    }
    // One to the greeting, and one to each request.
    let is_last = |line: &&[u8]| *line == b"ok\n" || line.starts_with(b"error ");
    answer.split_inclusive(|byte| *byte == b'\n').filter(is_last).count() >= 3
}

fn is_gone(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::ConnectionRefused | io::ErrorKind::NotFound)
}
