//! The socket of a program: a file of its own in a directory that only its user can enter.
//!
//! The directory is `$PROTOLOG_RUNTIME_DIR`, or else `$XDG_RUNTIME_DIR/protolog`, or else
//! `/run/protolog/UID` for services. Where another user could have made one of the last two, or
//! could replace it, the program takes the next one, at last a directory of its own,
//! `protolog-UID-RANDOM` in `/tmp`, which operators look for, too. The file is `PID-TIME.sock`,
//! where TIME is the start in nanoseconds of BOOTTIME: no later program has the same name, so a
//! socket that nobody listens on can be removed.
//!
//! Invariants
//! - No socket is made in a directory that another user owns, can enter or can replace.
//! - The directory that was checked stays open: the socket is made and removed there, even if the
//!   path leads elsewhere by then.

use super::ServeError;
use crate::clock;
use crate::sys::close_on_fork::CloseOnFork;
use crate::sys::create::random;
use crate::sys::environment::absolute_path;
use crate::sys::process::user;
use crate::sys::runtime_dirs::{fallback_prefix, is_own, known_fallback, named_fallbacks};
use crate::text_queue;
use protolog_core::control::place::{FALLBACKS, SERVICES};
use protolog_core::control::protocol::SOCKET_SUFFIX;
use protolog_files::{Directory, Identity};
use std::fs::DirBuilder;
use std::io;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

/// A socket that listens. Dropping it removes its file.
#[derive(Debug)]
pub(super) struct Socket {
    pub(super) listener: CloseOnFork<UnixListener>,
    pub(super) path: PathBuf,
    /// The reason why it is not where it should be.
    pub(super) displaced: Option<ServeError>,
    directory: CloseOnFork<Directory>,
    name: String,
    identity: Identity,
}

impl Socket {
    /// Creates the directory and the socket.
    pub(super) fn new(directory: Option<PathBuf>) -> Result<Self, ServeError> {
        let only = directory.or_else(|| absolute_path("PROTOLOG_RUNTIME_DIR"));
        let (directory, displaced) = match only {
            Some(directory) => (make_private(&directory)?, None),
            None => first_private(
                absolute_path("XDG_RUNTIME_DIR").as_deref(),
                Path::new(SERVICES),
                Path::new(FALLBACKS),
            )?,
        };
        let name = format!("{}-{:x}{SOCKET_SUFFIX}", std::process::id(), clock::boottime());
        let path = directory.path().join(&name);
        let failed = |error| ServeError::Socket { path: path.clone(), error };
        let directory = CloseOnFork::new(|| Ok(directory)).map_err(failed)?;
        let listener = CloseOnFork::new(|| directory.listen(&name)).map_err(failed)?;
        let identity = directory.look(&name).map_err(failed)?.identity();
        let socket = Self { listener, path: path.clone(), displaced, directory, name, identity };
        socket.listener.set_nonblocking(true).map_err(failed)?;
        Ok(socket)
    }

    /// Says that nobody listens any more, since the program has closed the descriptor.
    pub(super) fn report_loss(&self) {
        let path = self.path.display();
        let text = format!(
            "protolog: the program has closed the socket `{path}`, and can't be switched any more\n\
             help: close only what the program opened, or call `serve` after that\n"
        );
        text_queue::write_line(text.as_bytes());
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        // A file that stays behind does no harm: nobody listens on it.
        let _ = self.directory.if_open().map(|it| it.remove(&self.name, self.identity));
    }
}

/// Returns the first of the default directories that is private, or can be made so, and the error
/// of an earlier one.
fn first_private(
    runtime: Option<&Path>,
    services: &Path,
    fallbacks: &Path,
) -> Result<(Directory, Option<ServeError>), ServeError> {
    let mut displaced = None;
    let in_runtime = || runtime.map(|path| Ok(path.join("protolog")));
    let in_services = || Some(service(services));
    let places: [&dyn Fn() -> Option<Result<PathBuf, ServeError>>; 2] = [&in_runtime, &in_services];
    for directory in places.into_iter().filter_map(|place| place()) {
        match directory.and_then(|directory| make_private(&directory)) {
            Ok(directory) => return Ok((directory, displaced)),
            Err(error @ ServeError::NotPrivate { .. }) => _ = displaced.get_or_insert(error),
            // After an error that names another user, a missing directory says less.
            Err(error) if displaced.is_none() => return Err(error),
            Err(_) => {}
        }
    }
    Ok((fallback(fallbacks)?, displaced))
}

/// Returns the directory of this user's services in `services`, which root makes if it is missing.
fn service(services: &Path) -> Result<PathBuf, ServeError> {
    if user() == 0 {
        let made = match DirBuilder::new().create(services) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            // Like /tmp: every user's services have a directory in it, which nobody else can
            // remove.
            made => made.and_then(|()| Directory::open(services)?.set_mode(0o1777)),
        };
        made.map_err(|error| ServeError::Directory { path: services.into(), error })?;
    }
    Ok(services.join(user().to_string()))
}

/// Opens a private directory in `fallbacks`: an earlier program's, or a new one. Its name is
/// random, since another user could make one that can be guessed.
fn fallback(fallbacks: &Path) -> Result<Directory, ServeError> {
    match known_fallback(named_fallbacks(fallbacks)) {
        Some(directory) => Ok(directory),
        None => make_private(&fallbacks.join(format!("{}{:016x}", fallback_prefix(), random()))),
    }
}

/// Opens the directory, and creates it if it is missing. An error unless it is private.
fn make_private(path: &Path) -> Result<Directory, ServeError> {
    match Directory::make_private(path, is_own) {
        Ok(Some(directory)) => Ok(directory),
        Ok(None) => Err(ServeError::NotPrivate { path: path.to_path_buf() }),
        Err(error) => Err(ServeError::Directory { path: path.to_path_buf(), error }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::runtime_dirs::MOST_FALLBACKS;
    use protolog_testkit::temp_dir_for_sockets;
    use std::fs::{self, Permissions};
    use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
    use std::os::unix::net::UnixStream;

    fn set_mode(path: &Path, mode: u32) {
        fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn sockets_are_private_and_go() {
        let temporary = temp_dir_for_sockets();
        let directory = temporary.path().join("run");
        let socket = Socket::new(Some(directory.clone())).unwrap();
        let other = Socket::new(Some(directory.clone())).unwrap();
        assert_ne!(socket.path, other.path);
        let mode = |path: &Path| fs::metadata(path).unwrap().mode() & 0o777;
        assert_eq!((mode(&directory), mode(&socket.path)), (0o700, 0o600));
        UnixStream::connect(&socket.path).unwrap();
        let path = socket.path.clone();
        drop(socket);
        assert!(!path.exists() && other.path.exists());
    }

    #[test]
    fn a_socket_is_removed_where_it_was_made() {
        let temporary = temp_dir_for_sockets();
        let [directory, moved, other] =
            ["run", "old", "other"].map(|name| temporary.path().join(name));
        let socket = Socket::new(Some(directory.clone())).unwrap();
        let (name, path) = (socket.name.clone(), socket.path.clone());
        fs::rename(&directory, &moved).unwrap();
        fs::create_dir(&other).unwrap();
        fs::write(other.join(&name), "another's").unwrap();
        symlink(&other, &directory).unwrap();
        UnixStream::connect(moved.join(&name)).unwrap();
        drop(socket);
        assert!(path.exists() && !moved.join(&name).exists());
        // A name that is another file's by now stays, too.
        let socket = Socket::new(Some(moved.clone())).unwrap();
        fs::remove_file(&socket.path).unwrap();
        fs::write(&socket.path, "another's").unwrap();
        let path = socket.path.clone();
        drop(socket);
        assert!(path.exists());
    }

    #[test]
    fn open_directories_and_files_are_refused() {
        let temporary = temp_dir_for_sockets();
        let directory = temporary.path().join("open");
        fs::create_dir(&directory).unwrap();
        set_mode(&directory, 0o750);
        let error = Socket::new(Some(directory.clone())).unwrap_err();
        assert!(matches!(error, ServeError::NotPrivate { .. }), "{error}");
        set_mode(&directory, 0o700);
        let link = temporary.path().join("link");
        symlink(&directory, &link).unwrap();
        assert!(matches!(Socket::new(Some(link.clone())), Err(ServeError::NotPrivate { .. })));
        let missing = directory.join("a").join("b");
        let error = Socket::new(Some(missing)).unwrap_err();
        assert!(matches!(&error, ServeError::Directory { .. }), "{error}");
    }

    #[test]
    fn directories_that_others_can_replace_are_refused() {
        let temporary = temp_dir_for_sockets();
        let directory = temporary.path().join("run");
        for (mode, is_good) in [(0o777, false), (0o770, false), (0o1777, true), (0o755, true)] {
            set_mode(temporary.path(), mode);
            let made = Socket::new(Some(directory.clone()));
            assert_eq!(made.is_ok(), is_good, "{mode:o}");
        }
    }

    #[test]
    fn a_start_does_not_wait_for_any_number_of_directories() {
        let temporary = temp_dir_for_sockets();
        let path = temporary.path().join("protolog-own");
        fs::create_dir(&path).unwrap();
        set_mode(&path, 0o700);
        let others = (0..MOST_FALLBACKS + 9).map(|number| {
            assert!(number <= MOST_FALLBACKS, "it looks at all that another user has made");
            temporary.path().join(format!("protolog-{number}"))
        });
        assert!(known_fallback(others.clone()).is_none());
        let found = known_fallback(std::iter::once(path.clone()).chain(others)).unwrap();
        assert_eq!(found.path(), path);
    }

    #[test]
    fn a_directory_that_another_user_made_first_is_not_used() {
        let temporary = temp_dir_for_sockets();
        let (services, fallbacks) =
            (temporary.path().join("services"), temporary.path().join("tmp"));
        for path in [&services, &fallbacks] {
            fs::create_dir(path).unwrap();
            set_mode(path, 0o1777);
        }
        let own = services.join(user().to_string());
        let find = |runtime: Option<&Path>| {
            let found = first_private(runtime, &services, &fallbacks).unwrap();
            (found.0.path().to_path_buf(), found.1)
        };
        let (directory, displaced) = find(None);
        assert!(directory == own && displaced.is_none());
        // Another user's, or, where the test may not make one, a directory that others can enter.
        if chown(&own, Some(user() + 1), None).is_err() {
            set_mode(&own, 0o777);
        }
        let (directory, displaced) = find(None);
        assert!(matches!(&displaced, Some(ServeError::NotPrivate { path }) if *path == own));
        assert!(directory.starts_with(&fallbacks));
        assert_eq!(fs::metadata(&directory).unwrap().mode() & 0o7777, 0o700);
        assert_eq!(find(None).0, directory, "the next program is there, too");
        set_mode(&directory, 0o755);
        let next = find(None).0;
        assert_ne!(next, directory, "others can enter it now");
        // The user's own runtime directory comes first.
        let runtime = temporary.path().join("runtime");
        fs::create_dir(&runtime).unwrap();
        let (directory, displaced) = find(Some(&runtime));
        assert!(directory == runtime.join("protolog") && displaced.is_none());
        set_mode(&runtime, 0o777);
        let (directory, displaced) = find(Some(&runtime));
        assert_eq!(directory, next);
        assert!(
            matches!(displaced, Some(ServeError::NotPrivate { path }) if path.starts_with(&runtime))
        );
    }
}
