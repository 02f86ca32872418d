//! The directories where sockets may be, and the state file: the same rules as in the runtime.

use protolog_core::control::place::{FALLBACK_PREFIX, FALLBACKS, SERVICES};
use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Instant;
use std::{env, fs};

/// The variable with the only directory to look into.
const ONLY: &str = "PROTOLOG_RUNTIME_DIR";
/// The directory of the users' runtime directories.
const USERS: &str = "/run/user";

/// A directory where sockets may be.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    pub(crate) path: PathBuf,
    /// The user that it has to belong to, if its name says one.
    pub(crate) owner: Option<u32>,
    /// True for a name that anybody may take, so that another user's is no surprise.
    pub(crate) is_anybodys: bool,
}

/// The directories with the sockets of `user`'s processes, or of all users' for root. If
/// `PROTOLOG_RUNTIME_DIR` is set, it is the only one.
///
/// Those come first that only root can make, then fallbacks of `user`, then those of others by
/// turns; and true if there may be more, since the deadline has passed.
pub(crate) fn places(user: u32, deadline: Instant) -> (Vec<Place>, bool) {
    let mut all = places_of(user, variable, below);
    let mut is_cut = false;
    if variable(ONLY).is_none() {
        let fallbacks;
        (fallbacks, is_cut) = fallbacks_in(Path::new(FALLBACKS), user, deadline);
        all.extend(by_turns(user, fallbacks));
    }
    (all, is_cut)
}

/// The fallbacks for programs of `user` in a directory, or for those of any user for root; and true
/// if there may be more, since the deadline has passed. One that does not belong to the user in its
/// name is none: anybody can make any number of them in the name of `user`, whose own come first.
fn fallbacks_in(directory: &Path, user: u32, deadline: Instant) -> (Vec<Place>, bool) {
    let mut fallbacks = Vec::new();
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        if Instant::now() > deadline {
            return (fallbacks, true);
        }
        let Some(place) = fallback(user, entry.path()) else { continue };
        if entry.metadata().is_ok_and(|found| Some(found.uid()) == place.owner) {
            fallbacks.push(place);
        }
    }
    (fallbacks, false)
}

/// Fallbacks in their order: those of `user`, then the first of each other one, then the second.
fn by_turns(user: u32, fallbacks: Vec<Place>) -> impl Iterator<Item = Place> {
    let mut counts: BTreeMap<Option<u32>, usize> = BTreeMap::new();
    let turn = |place: Place| {
        let count = counts.entry(place.owner).or_default();
        *count += 1;
        let turn = if place.owner == Some(user) { 0 } else { *count };
        (turn, place)
    };
    let mut all: Vec<_> = fallbacks.into_iter().map(turn).collect();
    all.sort();
    all.into_iter().map(|(_, place)| place)
}

/// The place, if a program of `user`, or of any user for root, may have made the directory because
/// it could use no other one.
fn fallback(user: u32, path: PathBuf) -> Option<Place> {
    let name = path.file_name()?.to_str()?.strip_prefix(FALLBACK_PREFIX)?;
    let owner = name.split_once('-')?.0.parse::<u32>().ok()?;
    let is_meant = user == 0 || user == owner;
    is_meant.then_some(Place { path, owner: Some(owner), is_anybodys: true })
}

/// The paths in a directory.
fn below(path: &str) -> Vec<PathBuf> {
    fs::read_dir(path).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
}

/// The state file, with the persistent settings for processes that start later: `$PROTOLOG_STATE`,
/// or else `protolog/settings` in `$XDG_STATE_HOME` or `~/.local/state`, or, without a home
/// directory, in `/var/lib`.
pub fn state_file() -> PathBuf {
    state_file_of(variable)
}

/// [`places`] of `user` without the fallbacks. `variable` reads a path from the environment,
/// `below` lists a directory.
fn places_of(
    user: u32,
    variable: impl Fn(&str) -> Option<PathBuf>,
    below: impl Fn(&str) -> Vec<PathBuf>,
) -> Vec<Place> {
    let any = |path| Place { path, owner: None, is_anybodys: false };
    if let Some(directory) = variable(ONLY) {
        return vec![any(directory)];
    }
    let of = |owner: u32, path: PathBuf| Place { owner: Some(owner), ..any(path) };
    let mut users = vec![user];
    if user == 0 {
        // Programs make directories whose names are the ids of their users, and no others.
        let id = |path: PathBuf| path.file_name()?.to_str()?.parse().ok();
        users = [USERS, SERVICES].into_iter().flat_map(&below).filter_map(id).collect();
    }
    let mut all = Vec::new();
    for user in users {
        all.push(of(user, Path::new(USERS).join(user.to_string()).join("protolog")));
        all.push(of(user, Path::new(SERVICES).join(user.to_string())));
    }
    let own = variable("XDG_RUNTIME_DIR").map(|path| path.join("protolog"));
    all.extend(own.filter(|own| !all.iter().any(|place| place.path == *own)).map(any));
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
    fn what_others_make_in_a_users_name_is_left_out() {
        let temporary = protolog_testkit::temp_dir();
        let own = rustix::process::geteuid().as_raw();
        let at = |name: &str| temporary.path().join(format!("{FALLBACK_PREFIX}{own}-{name}"));
        let names = ["own", "theirs", "file"].map(at);
        for path in &names[..2] {
            fs::create_dir(path).unwrap();
        }
        fs::write(&names[2], "").unwrap();
        for path in &names[1..] {
            if std::os::unix::fs::chown(path, Some(own.wrapping_add(1)), None).is_err() {
                return protolog_testkit::skip("files of another user", "only root can make them");
            }
        }
        let later = Instant::now() + std::time::Duration::from_secs(600);
        let (found, is_cut) = fallbacks_in(temporary.path(), own, later);
        assert_eq!(found.iter().map(|it| &it.path).collect::<Vec<_>>(), [&names[0]]);
        assert!(!is_cut && fallbacks_in(temporary.path(), own, Instant::now()).1);
    }

    #[test]
    fn sockets_are_in_the_directories_of_the_user() {
        let check = |user, variables, expected: &str| {
            let below = |path: &str| ["7", "1000", "x"].map(|it| Path::new(path).join(it)).into();
            let found = places_of(user, set(variables), below);
            let shown = found.iter().map(|Place { path, owner, .. }| match owner {
                Some(owner) => format!("{}={owner}", path.display()),
                None => path.display().to_string(),
            });
            assert_eq!(shown.collect::<Vec<_>>().join(" "), expected, "{user}, {variables}");
        };
        check(7, "", "/run/protolog/7=7 /run/user/7/protolog=7");
        check(7, "XDG_RUNTIME_DIR=/x", "/run/protolog/7=7 /run/user/7/protolog=7 /x/protolog");
        check(7, "XDG_RUNTIME_DIR=/run/user/7", "/run/protolog/7=7 /run/user/7/protolog=7");
        check(7, "XDG_RUNTIME_DIR=/x PROTOLOG_RUNTIME_DIR=/y", "/y");
        check(0, "PROTOLOG_RUNTIME_DIR=/y", "/y");
        let all = "/run/protolog/1000=1000 /run/protolog/7=7 \
                   /run/user/1000/protolog=1000 /run/user/7/protolog=7";
        check(0, "", all);
        check(0, "XDG_RUNTIME_DIR=/x", &format!("{all} /x/protolog"));
    }

    #[test]
    fn fallbacks_are_those_of_the_user() {
        for (user, name, expected) in [
            (7, "protolog-7-0123456789abcdef", Some(7)),
            (7, "protolog-71-0123456789abcdef", None),
            (0, "protolog-71-0123456789abcdef", Some(71)),
            (0, "protolog-tests", None),
            (0, "protolog-x-1", None),
        ] {
            let place = fallback(user, Path::new("/tmp").join(name));
            assert_eq!(place.and_then(|place| place.owner), expected, "{user} {name}");
        }
    }

    #[test]
    fn fallbacks_are_looked_into_by_turns() {
        let names = [
            "protolog-71-1",
            "protolog-71-2",
            "protolog-71-3",
            "protolog-80-1",
            "protolog-7-1",
            "protolog-7-2",
        ];
        let all = names.iter().filter_map(|name| fallback(0, Path::new("/tmp").join(name)));
        let places = by_turns(7, all.collect());
        let found: Vec<_> = places
            .map(|place| place.path.file_name().unwrap().to_str().unwrap()[9..].to_owned())
            .collect();
        assert_eq!(found, ["7-1", "7-2", "71-1", "80-1", "71-2", "71-3"]);
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
}
