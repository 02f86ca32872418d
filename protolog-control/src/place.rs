//! Where programs' sockets are, and where wishes are remembered: the same rules as in the runtime.

use crate::error::Error;
use protolog_core::control::protocol::SOCKET_SUFFIX;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// The directory of services, which has one of each user.
const SERVICES: &str = "/run/protolog";
/// The directory of the users' own directories.
const USERS: &str = "/run/user";

/// The directories in which this user's programs have their sockets; for root, those of all users. With
/// `PROTOLOG_RUNTIME_DIR` set, it is that one alone.
pub fn directories() -> Vec<PathBuf> {
    if let Some(directory) = variable("PROTOLOG_RUNTIME_DIR") {
        return vec![directory];
    }
    let user = rustix::process::geteuid().as_raw();
    let mut all: Vec<_> =
        variable("XDG_RUNTIME_DIR").map(|path| path.join("protolog")).into_iter().collect();
    if user == 0 {
        let below = |path: &str| fs::read_dir(path).into_iter().flatten().flatten();
        all.extend(below(USERS).map(|entry| entry.path().join("protolog")));
        all.extend(below(SERVICES).map(|entry| entry.path()));
    } else {
        all.push(Path::new(USERS).join(user.to_string()).join("protolog"));
        all.push(Path::new(SERVICES).join(user.to_string()));
    }
    all.sort();
    all.dedup();
    all
}

/// The sockets in these directories, in the order of their names. A directory that is not there has none.
pub fn sockets(directories: &[PathBuf]) -> Result<Vec<PathBuf>, Error> {
    let mut all = Vec::new();
    for directory in directories {
        let failed = |error| Error::Directory { path: directory.clone(), error };
        let entries = match fs::read_dir(directory) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(failed(error)),
        };
        for entry in entries {
            let path = entry.map_err(failed)?.path();
            if path.to_str().is_some_and(|path| path.ends_with(SOCKET_SUFFIX)) {
                all.push(path);
            }
        }
    }
    all.sort();
    Ok(all)
}

/// Where wishes are remembered for programs that start later: `$PROTOLOG_STATE`, or else `protolog/wishes` in
/// `$XDG_STATE_HOME` or `~/.local/state`, or, without a home, in `/var/lib`.
pub fn state_file() -> PathBuf {
    variable("PROTOLOG_STATE").unwrap_or_else(|| {
        let state = variable("XDG_STATE_HOME");
        let state = state.or_else(|| variable("HOME").map(|home| home.join(".local/state")));
        state.unwrap_or_else(|| "/var/lib".into()).join("protolog/wishes")
    })
}

/// The absolute path that a variable holds.
fn variable(name: &str) -> Option<PathBuf> {
    env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sockets_are_found_by_name() {
        let temporary = protolog_testkit::temp_dir();
        let directory = temporary.path().to_path_buf();
        for name in ["2-b.sock", "1-a.sock", "other"] {
            fs::write(directory.join(name), "").unwrap();
        }
        let missing = directory.join("missing");
        let found = sockets(&[missing, directory.clone()]).unwrap();
        assert_eq!(found, [directory.join("1-a.sock"), directory.join("2-b.sock")]);
        assert!(matches!(sockets(&[directory.join("other")]), Err(Error::Directory { .. })));
    }
}
