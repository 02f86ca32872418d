//! A directory that is renamed under the program that listens there.

use protolog_testkit::{Users, run};
use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::{Path, PathBuf};

/// A directory of a victim's within one of the intruder's, who can rename it.
pub(crate) struct Renamed {
    intruders: PathBuf,
    /// The directory of the socket, as the victim names it.
    pub(crate) run: PathBuf,
    /// The same, once the intruder has renamed what it is in.
    pub(crate) moved: PathBuf,
    /// Another directory of the victim's, to which the name then leads.
    pub(crate) other: PathBuf,
}

impl Renamed {
    pub(crate) fn new(users: &Users) -> Self {
        let intruders = directory(std::env::temp_dir().join("intruders"), 0o755);
        chown(&intruders, Some(users.intruder), None).unwrap();
        let home = directory(intruders.join("home"), 0o755);
        let elsewhere = directory(std::env::temp_dir().join("elsewhere"), 0o755);
        let other = directory(elsewhere.join("run"), 0o700);
        for path in [&home, &elsewhere, &other] {
            chown(path, Some(users.victim), None).unwrap();
        }
        let (run, moved) = (home.join("run"), intruders.join("old/run"));
        Self { intruders, run, moved, other }
    }

    /// The names in the directory of the socket.
    pub(crate) fn names(directory: &Path) -> Vec<String> {
        let entries = fs::read_dir(directory).unwrap().map(Result::unwrap);
        let mut names: Vec<_> =
            entries.map(|entry| entry.file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// Has the intruder put a link in the place of the victim's directory; files of the same names
    /// as those there are elsewhere.
    pub(crate) fn swap(&self, users: &Users) -> Vec<String> {
        let names = Self::names(&self.run);
        for name in &names {
            fs::write(self.other.join(name), "precious").unwrap();
        }
        let script = "mv home old && ln -s \"$1\" home";
        let mut intruder = users.command(users.intruder, "sh");
        intruder.current_dir(&self.intruders).args(["-c", script, "swap"]);
        run(intruder.arg(self.other.parent().unwrap()));
        assert_eq!(Self::names(&self.run), Self::names(&self.other));
        names
    }
}

/// Makes a directory with this mode.
fn directory(path: PathBuf, mode: u32) -> PathBuf {
    fs::create_dir(&path).unwrap();
    fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
    path
}
