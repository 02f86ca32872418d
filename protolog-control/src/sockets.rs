//! Sockets of programs, in directories that were checked and stay open.
//!
//! Invariants
//! - A directory is looked into only if it is private to one user, who is this one, or any user for
//!   root, and the one that its name says.
//! - After the check, everything goes through the descriptor of the directory: it is listed, and
//!   sockets are connected to and removed in the directory that was checked, even if its path leads
//!   elsewhere by then.
//! - A socket is one only if it is a socket, has no other name, and belongs to the user of its
//!   directory.
//! - Another user has limits, of directories, of names and of sockets ([`Share`]), so nobody's hide
//!   those of this user or of others; and a look around has a limit of time ([`LOOK_AROUND`]). What
//!   is left out is counted.

use crate::error::Error;
use crate::paths::{Place, places};
use protolog_core::control::protocol::{SOCKET_SUFFIX, SWITCHES_EXTENSION};
use protolog_files::{Directory, Entry};
use rustix::process::{Resource, Rlimit};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The time for a program to admit a connection that only asks whether it listens.
const LOOK: Duration = Duration::from_millis(100);
/// The time to look for directories: longer only if there are a million of them.
const LOOK_AROUND: Duration = Duration::from_secs(3);
/// The most directories of another user in which there are sockets.
const MOST_DIRECTORIES: usize = 256;
/// The most sockets of another user.
const MOST_SOCKETS: usize = 1024;
/// The most names in a directory of another user: a program has two at most.
const MOST_NAMES: usize = 4 * MOST_SOCKETS;

/// The users whose programs are looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whose {
    /// This user's.
    Own,
    /// Those of all users, for root; this user's for any other.
    All,
}

/// The sockets that were found, and the places not looked into.
#[derive(Debug, Default)]
pub struct Found {
    /// The sockets, sorted by path.
    pub sockets: Vec<Socket>,
    /// Directories that other users made, can enter or can replace: the listener there may be
    /// anybody.
    pub refused: Vec<PathBuf>,
    /// Directories that can't be read.
    pub failed: Vec<Error>,
    /// The number of directories and sockets that were left out, by user, since that one has too
    /// many.
    pub left_out: BTreeMap<u32, usize>,
    /// True if the time was too short to look for all directories of other users.
    pub is_unfinished: bool,
}

/// The limits for one of the other users.
#[derive(Clone, Copy, Debug)]
struct Share {
    directories: usize,
    sockets: usize,
}

/// The usage of one of the other users.
#[derive(Clone, Copy, Debug, Default)]
struct Used {
    directories: usize,
    sockets: usize,
}

/// A socket in a directory that was checked. The directory stays open.
#[derive(Clone, Debug)]
pub struct Socket {
    directory: Arc<SocketDirectory>,
    name: OsString,
    path: PathBuf,
}

/// An open directory.
#[derive(Debug)]
struct SocketDirectory {
    directory: Directory,
    owner: u32,
}

/// Finds the sockets of programs. A missing directory has none.
///
/// Raises the number of files that this process may open to what it may raise it to: each directory
/// with sockets stays open, and so do connections.
pub fn find_sockets(whose: Whose) -> Found {
    let user = rustix::process::geteuid().as_raw();
    let deadline = Instant::now() + LOOK_AROUND;
    let share = Share::of(raise_limit());
    let (places, is_unfinished) = places(user, deadline);
    let mut found = Found { is_unfinished, ..Found::default() };
    let mut used: BTreeMap<u32, Used> = BTreeMap::new();
    for place in places {
        if whose == Whose::Own && place.owner.is_some_and(|owner| owner != user) {
            continue;
        }
        let is_own = place.owner.is_none_or(|owner| owner == user);
        if !is_own && Instant::now() > deadline {
            found.is_unfinished = true;
            break;
        }
        match SocketDirectory::open(&place, user) {
            Ok(Some(it)) if whose == Whose::Own && it.owner != user => {}
            Ok(Some(it)) if it.owner == user => match it.sockets(usize::MAX) {
                Ok((sockets, _)) => found.sockets.extend(sockets),
                Err(error) => found.failed.push(error),
            },
            Ok(Some(it)) => found.add(&it, used.entry(it.owner).or_default(), share),
            Ok(None) if place.is_anybodys => {}
            Ok(None) => found.refused.push(place.path),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => found.failed.push(Error::Directory { path: place.path, error }),
        }
    }
    found.sockets.sort_by(|one, other| one.path.cmp(&other.path));
    found
}

impl Found {
    /// Adds the sockets in a directory of another user, as far as that one's share goes.
    fn add(&mut self, directory: &Arc<SocketDirectory>, used: &mut Used, share: Share) {
        let left_out = if used.directories < share.directories {
            match directory.sockets(MOST_NAMES) {
                Ok((mut sockets, is_whole)) => {
                    let left = share.sockets - used.sockets;
                    let more = sockets.len().saturating_sub(left) + usize::from(!is_whole);
                    sockets.truncate(left);
                    used.sockets += sockets.len();
                    used.directories += usize::from(!sockets.is_empty());
                    self.sockets.extend(sockets);
                    more
                }
                Err(error) => {
                    self.failed.push(error);
                    0
                }
            }
        } else {
            1
        };
        if left_out > 0 {
            *self.left_out.entry(directory.owner).or_default() += left_out;
        }
    }
}

impl Share {
    /// That of a user where this process may have so many files open: a quarter of them, at most.
    fn of(files: usize) -> Self {
        let directories = MOST_DIRECTORIES.min(files / 16);
        Self { directories, sockets: MOST_SOCKETS.min(files / 8) }
    }
}

/// Raises the number of files that this process may open, and returns it.
fn raise_limit() -> usize {
    let Rlimit { current, maximum } = rustix::process::getrlimit(Resource::Nofile);
    let raised = Rlimit { current: maximum, maximum };
    let limit = match rustix::process::setrlimit(Resource::Nofile, raised) {
        Ok(()) => maximum,
        Err(_) => current,
    };
    limit.map_or(usize::MAX, |limit| usize::try_from(limit).unwrap_or(usize::MAX))
}

impl SocketDirectory {
    /// Opens it; none if `user` may not look into it.
    fn open(place: &Place, user: u32) -> io::Result<Option<Arc<Self>>> {
        let may_own =
            |owner| place.owner.is_none_or(|named| named == owner) && (user == 0 || user == owner);
        let Some(directory) = Directory::open_private(&place.path, may_own)? else {
            return Ok(None);
        };
        let owner = directory.status()?.uid();
        Ok(Some(Arc::new(Self { directory, owner })))
    }

    /// The sockets among the first `most` names in it; false if there are more names.
    fn sockets(self: &Arc<Self>, most: usize) -> Result<(Vec<Socket>, bool), Error> {
        let path = self.directory.path();
        let names = self.directory.first_names(most.saturating_add(1));
        let mut names = names.map_err(|error| Error::Directory { path: path.to_owned(), error })?;
        let is_whole = names.len() <= most;
        names.truncate(most);
        let is_socket =
            |name: &OsString| name.to_str().is_some_and(|name| name.ends_with(SOCKET_SUFFIX));
        let socket =
            |name: OsString| Socket { directory: Arc::clone(self), path: path.join(&name), name };
        Ok((names.into_iter().filter(is_socket).map(socket).collect(), is_whole))
    }

    /// True if `user`, who made a socket or listens on it, is this one or root; root admits the
    /// user of the directory, too.
    fn admits(&self, user: u32) -> bool {
        let own = rustix::process::geteuid().as_raw();
        user == own || user == 0 || own == 0 && user == self.owner
    }
}

impl Socket {
    /// The socket at a path that the caller trusts: its directory may be anybody's, but is reached
    /// by no link of another user.
    pub fn at(path: &Path) -> io::Result<Self> {
        let (directory, name) = Directory::trusted_holding(path)?;
        let owner = directory.status()?.uid();
        let directory = Arc::new(SocketDirectory { directory, owner });
        Ok(Self { directory, name, path: path.to_owned() })
    }

    /// The path that it was found at: for messages, and to tell sockets apart.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The user that its directory belongs to.
    pub fn owner(&self) -> u32 {
        self.directory.owner
    }

    /// The directory that it is in, and the user that this belongs to.
    pub(crate) fn directory(&self) -> (&Directory, u32) {
        (&self.directory.directory, self.directory.owner)
    }

    /// True if a process of `user` may listen on it.
    pub(crate) fn admits(&self, user: u32) -> bool {
        self.directory.admits(user)
    }

    /// Connects to it within `timeout`.
    pub(crate) fn connect(&self, timeout: Duration) -> Result<UnixStream, Error> {
        Ok(self.look()?.connect(timeout)?)
    }

    /// Removes the socket and the switches beside it if the program that made them has ended; false
    /// if somebody listens. A socket that is gone already counts as removed.
    pub fn remove_if_dead(&self) -> Result<bool, Error> {
        let entry = match self.look() {
            Err(Error::Ended) => return Ok(true),
            entry => entry?,
        };
        match entry.connect(LOOK) {
            Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {}
            _ => return Ok(false),
        }
        let (directory, owner) = self.directory();
        directory.remove(&self.name, entry.identity())?;
        let switches = Path::new(&self.name).with_extension(SWITCHES_EXTENSION);
        // Most programs have none.
        let Ok(entry) = directory.look(&switches) else { return Ok(true) };
        if entry.is_regular() && entry.owner() == owner {
            directory.remove(&switches, entry.identity())?;
        }
        Ok(true)
    }

    /// Looks at it. An error if it is anything else than a socket that a program made.
    fn look(&self) -> Result<Entry, Error> {
        let entry = self.directory.directory.look(&self.name)?;
        match entry.links() {
            _ if !entry.is_socket() => Err(Error::Socket("it is no socket")),
            0 => Err(Error::Ended),
            1 if !self.admits(entry.owner()) => Err(Error::OtherUser { user: entry.owner() }),
            1 => Ok(entry),
            _ => Err(Error::Socket("the socket has another name, too")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::os::unix::net::UnixListener;

    fn in_directory(path: &Path) -> io::Result<Option<Vec<Socket>>> {
        let user = rustix::process::geteuid().as_raw();
        let place = Place { path: path.to_owned(), owner: None, is_anybodys: false };
        let opened = SocketDirectory::open(&place, user)?;
        Ok(opened.map(|directory| directory.sockets(usize::MAX).unwrap().0))
    }

    fn private(path: &Path) {
        fs::set_permissions(path, fs::Permissions::from_mode(0o700)).unwrap();
    }

    #[test]
    fn sockets_are_found_by_name() {
        let temporary = protolog_testkit::temp_dir();
        private(temporary.path());
        let at = |name: &str| temporary.path().join(name);
        for name in ["2-b.sock", "1-a.sock", "other"] {
            fs::write(at(name), "").unwrap();
        }
        let found = in_directory(temporary.path()).unwrap().unwrap();
        let paths: Vec<_> = found.iter().map(Socket::path).collect();
        assert_eq!(paths, [at("1-a.sock"), at("2-b.sock")]);
        assert!(in_directory(&at("other")).unwrap().is_none(), "a file");
        let missing = in_directory(&at("missing")).unwrap_err();
        assert_eq!(missing.kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn only_sockets_of_ended_programs_are_removed() {
        let temporary = protolog_testkit::temp_dir_for_sockets();
        private(temporary.path());
        let at = |name: &str| temporary.path().join(name);
        drop(UnixListener::bind(at("1-dead.sock")).unwrap());
        let _listener = UnixListener::bind(at("2-alive.sock")).unwrap();
        drop(UnixListener::bind(at("3-named.sock")).unwrap());
        fs::hard_link(at("3-named.sock"), at("3-other")).unwrap();
        symlink("3-other", at("4-link.sock")).unwrap();
        fs::write(at("5-file.sock"), "").unwrap();
        for name in ["1-dead.switches", "2-alive.switches", "5-file.switches"] {
            fs::write(at(name), "").unwrap();
        }
        let removed = in_directory(temporary.path()).unwrap().unwrap().into_iter();
        let removed = removed.map(|socket| match socket.remove_if_dead() {
            Ok(is_removed) => is_removed.to_string(),
            Err(error) => error.to_string(),
        });
        let another = "the socket has another name, too";
        let none = "it is no socket";
        assert_eq!(removed.collect::<Vec<_>>(), ["true", "false", another, none, none]);
        for name in ["1-dead.sock", "1-dead.switches"] {
            assert!(!at(name).exists(), "{name}");
        }
        let left = fs::read_dir(temporary.path()).unwrap().count();
        assert_eq!(left, 7);
    }

    #[test]
    fn a_directory_that_is_replaced_is_left_alone() {
        let temporary = protolog_testkit::temp_dir_for_sockets();
        let [path, moved, other] = ["run", "old", "other"].map(|it| temporary.path().join(it));
        for directory in [&path, &other] {
            fs::create_dir(directory).unwrap();
            private(directory);
            drop(UnixListener::bind(directory.join("1-a.sock")).unwrap());
            fs::write(directory.join("1-a.switches"), "").unwrap();
        }
        let [socket] = in_directory(&path).unwrap().unwrap().try_into().unwrap();
        fs::rename(&path, &moved).unwrap();
        symlink(&other, &path).unwrap();
        assert!(matches!(socket.connect(LOOK), Err(Error::Ended)));
        assert!(socket.remove_if_dead().unwrap());
        assert_eq!(fs::read_dir(&moved).unwrap().count(), 0);
        assert_eq!(fs::read_dir(&other).unwrap().count(), 2);
    }
}
