//! The socket of a program: a file of its own in a directory that only its user can enter.
//!
//! The directory is `$PROTOLOG_RUNTIME_DIR`, or else `$XDG_RUNTIME_DIR/protolog`, or else `/run/protolog/UID` for services.
//! The file is `PID-TIME.sock`, where TIME is the start in nanoseconds of BOOTTIME: no later program has the same name, so a
//! socket that nobody listens on can be removed.
//!
//! Invariant: no socket is made in a directory that another user owns or can enter.

use super::ServeError;
use crate::clock;
use crate::sys::close_on_fork::CloseOnFork;
use crate::sys::process::user;
use protolog_core::control::protocol::SOCKET_SUFFIX;
use std::fs::{DirBuilder, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

/// The directory of services, with a directory for each user.
const SERVICES: &str = "/run/protolog";

/// A socket that listens. Dropping it removes its file.
#[derive(Debug)]
pub(super) struct Socket {
    pub(super) listener: CloseOnFork<UnixListener>,
    pub(super) path: PathBuf,
}

impl Socket {
    /// Creates the directory and the socket.
    pub(super) fn new(directory: Option<PathBuf>) -> Result<Self, ServeError> {
        let directory = match directory {
            Some(directory) => directory,
            None => default_directory()?,
        };
        check(&directory)?;
        let name = format!("{}-{:x}{SOCKET_SUFFIX}", std::process::id(), clock::boottime());
        let path = directory.join(name);
        let failed = |error| ServeError::Socket { path: path.clone(), error };
        let listener = CloseOnFork::new(|| UnixListener::bind(&path)).map_err(failed)?;
        let socket = Self { listener, path: path.clone() };
        // Nobody else can enter the directory.
        std::fs::set_permissions(&path, Permissions::from_mode(0o600)).map_err(failed)?;
        socket.listener.set_nonblocking(true).map_err(failed)?;
        Ok(socket)
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        // A file that stays behind does no harm: nobody listens on it.
        let _ = std::fs::remove_file(&self.path);
    }
}

fn default_directory() -> Result<PathBuf, ServeError> {
    let absolute =
        |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    if let Some(directory) = absolute("PROTOLOG_RUNTIME_DIR") {
        return Ok(directory);
    }
    if let Some(directory) = absolute("XDG_RUNTIME_DIR") {
        return Ok(directory.join("protolog"));
    }
    if user() == 0 && !Path::new(SERVICES).exists() {
        // Like /tmp: every user's services have a directory in it, which nobody else can remove.
        let made = DirBuilder::new().create(SERVICES);
        made.and_then(|()| std::fs::set_permissions(SERVICES, Permissions::from_mode(0o1777)))
            .map_err(|error| ServeError::Directory { path: SERVICES.into(), error })?;
    }
    Ok(Path::new(SERVICES).join(user().to_string()))
}

/// Creates the directory if it is missing, and checks that it is private.
fn check(directory: &Path) -> Result<(), ServeError> {
    let failed = |error| ServeError::Directory { path: directory.to_path_buf(), error };
    match DirBuilder::new().mode(0o700).create(directory) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(failed(error)),
        _ => {}
    }
    let metadata = std::fs::symlink_metadata(directory).map_err(failed)?;
    // None of the six bits of the group and of others.
    let private =
        metadata.is_dir() && metadata.uid() == user() && metadata.mode().trailing_zeros() >= 6;
    if private { Ok(()) } else { Err(ServeError::NotPrivate { path: directory.to_path_buf() }) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use protolog_testkit::temp_dir_for_sockets;
    use std::os::unix::net::UnixStream;

    #[test]
    fn sockets_are_private_and_go() {
        let temporary = temp_dir_for_sockets();
        let directory = temporary.path().join("run");
        let socket = Socket::new(Some(directory.clone())).unwrap();
        let other = Socket::new(Some(directory.clone())).unwrap();
        assert_ne!(socket.path, other.path);
        let mode = |path: &Path| std::fs::metadata(path).unwrap().mode() & 0o777;
        assert_eq!((mode(&directory), mode(&socket.path)), (0o700, 0o600));
        UnixStream::connect(&socket.path).unwrap();
        let path = socket.path.clone();
        drop(socket);
        assert!(!path.exists() && other.path.exists());
    }

    #[test]
    fn open_directories_and_files_are_refused() {
        let temporary = temp_dir_for_sockets();
        let directory = temporary.path().join("open");
        std::fs::create_dir(&directory).unwrap();
        std::fs::set_permissions(&directory, Permissions::from_mode(0o750)).unwrap();
        let error = Socket::new(Some(directory.clone())).unwrap_err();
        assert!(matches!(error, ServeError::NotPrivate { .. }), "{error}");
        std::fs::set_permissions(&directory, Permissions::from_mode(0o700)).unwrap();
        let link = temporary.path().join("link");
        std::os::unix::fs::symlink(&directory, &link).unwrap();
        assert!(matches!(Socket::new(Some(link.clone())), Err(ServeError::NotPrivate { .. })));
        let missing = directory.join("a").join("b");
        let error = Socket::new(Some(missing)).unwrap_err();
        assert!(matches!(&error, ServeError::Directory { .. }), "{error}");
    }
}
