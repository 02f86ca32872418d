//! The directories of sockets, and the state file: the same rules as in the runtime.

use crate::error::Error;
use protolog_core::control::place::{FALLBACK_PREFIX, FALLBACKS, SERVICES, is_private};
use protolog_core::control::protocol::SOCKET_SUFFIX;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// The variable with the only directory to look into.
const ONLY: &str = "PROTOLOG_RUNTIME_DIR";
/// The directory of the users' runtime directories.
const USERS: &str = "/run/user";

/// The directories with the sockets of this user's processes, or of all users' for root. If `PROTOLOG_RUNTIME_DIR` is set, it
/// is the only one. Only private ones, in which programs listen, too: see [`refused_directories`].
pub fn directories() -> Vec<PathBuf> {
    let user = rustix::process::geteuid().as_raw();
    let mut all = directories_of(user, variable, below);
    if variable(ONLY).is_none() {
        all.extend(below(FALLBACKS).into_iter().filter(|path| is_fallback(user, path)));
    }
    all.retain(|path| may_look_into(user, path) != Some(false));
    all
}

/// The directories where sockets of this user's processes should be, or of all users' for root, but that another user made, can
/// enter or can replace: whoever listens there may be anybody.
pub fn refused_directories() -> Vec<PathBuf> {
    let user = rustix::process::geteuid().as_raw();
    let mut all = directories_of(user, variable, below);
    all.retain(|path| may_look_into(user, path) == Some(false));
    all
}

/// True if `user` may look into this directory: one of its own, or any user's for root, that is private. None if it is missing.
fn may_look_into(user: u32, path: &Path) -> Option<bool> {
    let directory = fs::symlink_metadata(path).ok()?;
    let parent = path.parent().filter(|parent| *parent != Path::new(""));
    let parent = fs::metadata(parent.unwrap_or(Path::new("."))).ok()?;
    let is_own = user == 0 || directory.uid() == user;
    let is_private = is_private(directory.uid(), directory.mode(), parent.uid(), parent.mode());
    Some(directory.is_dir() && is_own && is_private)
}

/// True if a program of `user`, or of any user for root, may have made this directory because it could use no other one.
fn is_fallback(user: u32, path: &Path) -> bool {
    let owner = || {
        let name = path.file_name()?.to_str()?.strip_prefix(FALLBACK_PREFIX)?;
        name.split_once('-')?.0.parse::<u32>().ok()
    };
    owner().is_some_and(|owner| user == 0 || user == owner)
}

/// The paths in a directory.
fn below(path: &str) -> Vec<PathBuf> {
    fs::read_dir(path).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
}

/// The sockets in these directories, sorted by path. A missing directory has none.
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

/// The state file, with the persistent settings for processes that start later: `$PROTOLOG_STATE`, or else
/// `protolog/settings` in `$XDG_STATE_HOME` or `~/.local/state`, or, without a home directory, in `/var/lib`.
pub fn state_file() -> PathBuf {
    state_file_of(variable)
}

/// [`directories`] of `user`. `variable` reads a path from the environment, `below` lists a directory.
fn directories_of(
    user: u32,
    variable: impl Fn(&str) -> Option<PathBuf>,
    below: impl Fn(&str) -> Vec<PathBuf>,
) -> Vec<PathBuf> {
    if let Some(directory) = variable(ONLY) {
        return vec![directory];
    }
    let mut all: Vec<_> =
        variable("XDG_RUNTIME_DIR").map(|path| path.join("protolog")).into_iter().collect();
    if user == 0 {
        all.extend(below(USERS).into_iter().map(|path| path.join("protolog")));
        all.extend(below(SERVICES));
    } else {
        all.push(Path::new(USERS).join(user.to_string()).join("protolog"));
        all.push(Path::new(SERVICES).join(user.to_string()));
    }
    all.sort();
    all.dedup();
    all
}

/// [`state_file`]; `variable` reads a path from the environment.
fn state_file_of(variable: impl Fn(&str) -> Option<PathBuf>) -> PathBuf {
    variable("PROTOLOG_STATE").unwrap_or_else(|| {
        let state = variable("XDG_STATE_HOME");
        let state = state.or_else(|| variable("HOME").map(|home| home.join(".local/state")));
        state.unwrap_or_else(|| "/var/lib".into()).join("protolog/settings")
    })
}

/// The absolute path in an environment variable.
fn variable(name: &str) -> Option<PathBuf> {
    env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads variables from `NAME=path` words.
    fn set(words: &str) -> impl Fn(&str) -> Option<PathBuf> {
        move |name| {
            let mut pairs = words.split(' ').filter_map(|word| word.split_once('='));
            pairs.find(|(set, _)| *set == name).map(|(_, path)| path.into())
        }
    }

    #[test]
    fn sockets_are_in_the_directories_of_the_user() {
        let check = |user, variables, expected: &str| {
            let below = |path: &str| ["7", "1000"].map(|user| Path::new(path).join(user)).into();
            let found = directories_of(user, set(variables), below);
            let expected: Vec<_> = expected.split(' ').map(PathBuf::from).collect();
            assert_eq!(found, expected, "{user}, {variables}");
        };
        check(7, "", "/run/protolog/7 /run/user/7/protolog");
        check(7, "XDG_RUNTIME_DIR=/x", "/run/protolog/7 /run/user/7/protolog /x/protolog");
        check(7, "XDG_RUNTIME_DIR=/run/user/7", "/run/protolog/7 /run/user/7/protolog");
        check(7, "XDG_RUNTIME_DIR=/x PROTOLOG_RUNTIME_DIR=/y", "/y");
        check(0, "PROTOLOG_RUNTIME_DIR=/y", "/y");
        let all = "/run/protolog/1000 /run/protolog/7 /run/user/1000/protolog /run/user/7/protolog";
        check(0, "", all);
        check(0, "XDG_RUNTIME_DIR=/x", &format!("{all} /x/protolog"));
    }

    #[test]
    fn directories_that_others_can_enter_or_replace_are_refused() {
        use std::os::unix::fs::{PermissionsExt, chown};
        let temporary = protolog_testkit::temp_dir();
        let directory = temporary.path().join("run");
        let user = rustix::process::geteuid().as_raw();
        let set_mode = |path: &Path, mode| {
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        };
        assert_eq!(may_look_into(user, &directory), None);
        fs::create_dir(&directory).unwrap();
        for (mode, parent, expected) in [
            (0o700, 0o755, true),
            (0o700, 0o1777, true),
            (0o700, 0o777, false),
            (0o755, 0o755, false),
        ] {
            set_mode(&directory, mode);
            set_mode(temporary.path(), parent);
            assert_eq!(may_look_into(user, &directory), Some(expected), "{mode:o} {parent:o}");
        }
        set_mode(&directory, 0o700);
        set_mode(temporary.path(), 0o755);
        assert_eq!(may_look_into(user + 1, &directory), Some(false), "another user's");
        if chown(&directory, Some(user + 1), None).is_ok() {
            assert_eq!(may_look_into(user, &directory), Some(user == 0), "root looks everywhere");
        }
    }

    #[test]
    fn fallbacks_are_those_of_the_user() {
        for (user, name, expected) in [
            (7, "protolog-7-0123456789abcdef", true),
            (7, "protolog-71-0123456789abcdef", false),
            (0, "protolog-71-0123456789abcdef", true),
            (0, "protolog-tests", false),
            (0, "protolog-x-1", false),
        ] {
            assert_eq!(is_fallback(user, &Path::new("/tmp").join(name)), expected, "{user} {name}");
        }
    }

    #[test]
    fn the_state_file_is_with_other_state() {
        for (variables, expected) in [
            ("", "/var/lib/protolog/settings"),
            ("HOME=/h", "/h/.local/state/protolog/settings"),
            ("HOME=/h XDG_STATE_HOME=/s", "/s/protolog/settings"),
            ("HOME=/h XDG_STATE_HOME=/s PROTOLOG_STATE=/p/file", "/p/file"),
        ] {
            assert_eq!(state_file_of(set(variables)), Path::new(expected), "{variables}");
        }
    }

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
