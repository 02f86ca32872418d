//! Unix sockets: those in a directory, made and connected to by descriptor, and those of other
//! programs, with the process that listens.
//!
//! The system takes only paths for addresses, so these go by `/proc/self/fd`, whose links lead to
//! the open file under any name. Such an address is short, too, however long the path of the
//! directory is.
//!
//! Invariants: a connection to an [`Entry`] is to the socket that was looked at, never by way of a
//! link, and nobody sends open files by it until [`admit_files`]. A socket that is made has its
//! name only when it listens, with the mode 0600 from the start. What is said of a [`Peer`] comes
//! from the kernel.

use crate::directory::Directory;
use crate::entry::Entry;
use crate::sys;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::time::{Duration, Instant};

/// The mode of a socket.
const MODE: u32 = 0o600;
/// The end of the name of a socket that does not listen yet.
const UNFINISHED: &str = ".new";
/// As many waiting connections as the system admits.
const BACKLOG: i32 = -1;

impl Entry {
    /// Connects to the socket within `timeout`: a stopped process might never accept.
    /// [`io::ErrorKind::ConnectionRefused`] if nobody listens.
    ///
    /// The kernel refuses open files that the other end sends, if it can (since Linux 6.16): the
    /// last one to close a file waits for what its owner made of it, such as a connection that
    /// lingers.
    pub fn connect(&self, timeout: Duration) -> io::Result<UnixStream> {
        if !self.is_socket() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no socket"));
        }
        let socket = UnixStream::from(sys::socket()?);
        socket.set_write_timeout(Some(timeout))?;
        // An older kernel has no such option.
        let _ = sys::admit_files(&socket, false);
        sys::connect(&socket, &self.address()?)?;
        Ok(socket)
    }
}

impl Directory {
    /// Listens on a new socket.
    pub fn listen(&self, name: impl AsRef<OsStr>) -> io::Result<UnixListener> {
        let name = name.as_ref();
        let mut unfinished = OsString::from(name);
        unfinished.push(UNFINISHED);
        let socket = sys::socket()?;
        // Without /proc, as in some jails, by the path, which has led to this very directory or
        // else the socket is not in it.
        let directory = sys::address_in(self).unwrap_or_else(|| self.path().to_owned());
        sys::bind_with_mode(&socket, &directory.join(&unfinished), (self, &unfinished), MODE)?;
        let made = self.look(&unfinished)?;
        // A process that connects before would find that nobody listens, and remove the socket as a
        // dead program's.
        let listening = sys::listen(&socket, BACKLOG);
        if let Err(error) = listening.and_then(|()| self.rename_to_free(&unfinished, name)) {
            // The error says more than another one here.
            let _ = self.remove(&unfinished, made.identity());
            return Err(error);
        }
        Ok(socket.into())
    }
}

/// The process at the other end of a connection, as it was when it began to listen, or connected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Peer {
    /// Its id; 0 if it is in a PID namespace that this process can't see.
    pub pid: u32,
    /// The user that it acted as.
    pub user: u32,
}

impl Peer {
    /// Returns the process at the other end of `connection`.
    pub fn of(connection: &UnixStream) -> io::Result<Self> {
        let (pid, user) = sys::peer(connection)?;
        Ok(Self { pid: u32::try_from(pid).unwrap_or(0), user })
    }

    /// Returns whether it is root's, or of the user that this process acts as.
    pub fn is_trusted(&self) -> bool {
        self.user == 0 || self.user == sys::user()
    }
}

/// Returns a socket for [`connect`], so that it can be listed before that may wait.
pub fn unconnected() -> io::Result<UnixStream> {
    Ok(sys::socket()?.into())
}

/// Connects `socket` within `timeout` to the one that the system finds at `path`, whoever made it:
/// [`Peer::of`] says who listens.
///
/// [`io::ErrorKind::TimedOut`] if whoever listens accepts no connection. The timeout stays that of
/// the connection's writes.
pub fn connect(socket: &UnixStream, path: &Path, timeout: Duration) -> io::Result<()> {
    socket.set_write_timeout(Some(timeout))?;
    let by = Instant::now() + timeout;
    loop {
        match sys::connect(socket, path) {
            Ok(()) => return Ok(()),
            // A signal came. Whether the caller minds it shows before the time is up.
            Err(error) if error.kind() == io::ErrorKind::Interrupted && Instant::now() < by => {}
            Err(error) if is_full(&error) => {
                return Err(io::Error::new(io::ErrorKind::TimedOut, "it accepts no connection"));
            }
            Err(error) => return Err(error),
        }
    }
}

/// Returns whether the queue of connections that wait to be accepted stayed full.
fn is_full(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
}

/// Lets the other end of a connection send open files from now on.
pub fn admit_files(connection: &UnixStream) {
    // A kernel without the option admits them anyway.
    let _ = sys::admit_files(connection, true);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::{MetadataExt, symlink};

    const TIMEOUT: Duration = Duration::from_secs(60);

    #[test]
    fn a_socket_is_connected_to_a_path() {
        let dir = protolog_testkit::temp_dir_for_sockets();
        let path = dir.path().join("socket");
        let socket = unconnected().unwrap();
        let missing = connect(&socket, &path, TIMEOUT).unwrap_err();
        assert_eq!(missing.kind(), io::ErrorKind::NotFound);
        let listener = UnixListener::bind(&path).unwrap();
        connect(&socket, &path, TIMEOUT).unwrap();
        assert!(Peer::of(&socket).unwrap().is_trusted());
        listener.accept().unwrap();
        let long = Path::new("/").join("x".repeat(200));
        let too_long = connect(&socket, &long, TIMEOUT).unwrap_err();
        assert_eq!(too_long.raw_os_error(), Some(rustix::io::Errno::NAMETOOLONG.raw_os_error()));
    }

    #[test]
    fn sockets_are_made_and_reached_in_the_directory_that_was_opened() {
        let temporary = protolog_testkit::temp_dir();
        // Longer than the address of a socket may be.
        let [path, moved, other] =
            ["a", "b", "c"].map(|name| temporary.path().join(name.repeat(120)));
        fs::create_dir(&path).unwrap();
        fs::create_dir(&other).unwrap();
        let directory = Directory::open(&path).unwrap();
        fs::rename(&path, &moved).unwrap();
        symlink(&other, &path).unwrap();
        let listener = directory.listen("1.sock").unwrap();
        assert_eq!(directory.names().unwrap(), ["1.sock"]);
        assert_eq!(fs::metadata(moved.join("1.sock")).unwrap().mode() & 0o777, 0o600);
        let entry = directory.look("1.sock").unwrap();
        // Another one's by now.
        fs::remove_file(moved.join("1.sock")).unwrap();
        let second = directory.listen("1.sock").unwrap();
        second.set_nonblocking(true).unwrap();
        entry.connect(TIMEOUT).unwrap();
        listener.accept().unwrap();
        assert_eq!(second.accept().unwrap_err().kind(), io::ErrorKind::WouldBlock);
        drop(second);
        let refused = directory.look("1.sock").unwrap().connect(TIMEOUT).unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::ConnectionRefused);
        assert_eq!(fs::read_dir(&other).unwrap().count(), 0);
    }

    #[test]
    fn a_program_that_accepts_nothing_is_waited_for_as_long_as_said() {
        let temporary = protolog_testkit::temp_dir_for_sockets();
        let path = temporary.path().join("full");
        let socket = sys::socket().unwrap();
        sys::bind(&socket, &path).unwrap();
        sys::listen(&socket, 0).unwrap();
        let [waiting, other] = [(); 2].map(|()| unconnected().unwrap());
        connect(&waiting, &path, TIMEOUT).unwrap();
        let begun = Instant::now();
        let error = connect(&other, &path, Duration::from_millis(200)).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut, "{error}");
        assert!(begun.elapsed() >= Duration::from_millis(200));
        let peer = Peer::of(&waiting).unwrap();
        assert_eq!(peer, Peer { pid: std::process::id(), user: sys::user() });
        assert!(peer.is_trusted() && !Peer { user: u32::MAX - 1, ..peer }.is_trusted());
    }

    #[test]
    fn nothing_but_a_socket_is_connected_to() {
        let temporary = protolog_testkit::temp_dir();
        let directory = Directory::open(temporary.path()).unwrap();
        let _listener = directory.listen("1.sock").unwrap();
        symlink("1.sock", temporary.path().join("link.sock")).unwrap();
        fs::write(temporary.path().join("file.sock"), "").unwrap();
        for name in ["link.sock", "file.sock"] {
            let error = directory.look(name).unwrap().connect(TIMEOUT).unwrap_err();
            assert_eq!(error.to_string(), "it is no socket", "{name}");
        }
    }
}
