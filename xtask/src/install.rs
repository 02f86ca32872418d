//! Tools that the project needs beside Rust: found, installed where that is allowed, named where
//! not.
//!
//! Debian packages are installed when the user is root, Rust components through rustup; tools of
//! one version only are put under `target/tools`. Nothing is installed silently: the tools and the
//! reason are printed first.

use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::PathBuf;
use std::process::Command;
use std::{env, fs};

use crate::{Result, shell};

/// Something that must be on the machine.
#[derive(Debug, Clone, Copy)]
pub struct Tool {
    /// Its name in messages.
    pub name: &'static str,
    /// Its purpose, as in "to …".
    pub why: &'static str,
    /// Looks whether it is there.
    pub present: fn() -> bool,
    /// Where it comes from.
    pub source: Source,
}

/// The place where a tool comes from.
#[derive(Debug, Clone, Copy)]
pub enum Source {
    /// Packages, by their names with blanks between them.
    Debian(&'static str),
    /// A component of the toolchain.
    Rustup(&'static str),
    /// A function that fetches it.
    Project(fn() -> Result<()>),
}

use Source::{Debian, Project, Rustup};

impl Tool {
    /// Returns true if it is on the machine.
    pub fn is_present(&self) -> bool {
        (self.present)()
    }
}

/// Makes sure of `wanted`, in this order, installing missing tools where `install` allows it and
/// the means are there. Returns those that are still missing after saying so in one line.
pub fn prepare(wanted: &[Tool], install: bool) -> Vec<Tool> {
    let missing = missing_of(wanted);
    let found = wanted.iter().copied().filter(|tool| !contains(&missing, tool));
    if missing.len() < wanted.len() {
        println!("found: {}", names(&found.collect::<Vec<_>>()));
    }
    if missing.is_empty() || !install {
        return report(missing);
    }
    if let Err(problem) = install_packages(&missing) {
        println!("{problem}");
    }
    for tool in &missing {
        if let Project(fetch) = tool.source {
            println!("needed: {}, to {}", tool.name, tool.why);
            if let Err(problem) = fetch() {
                println!("{problem}");
            }
        }
    }
    report(missing_of(&missing))
}

/// Returns true if `tool` is among `tools`.
pub fn contains(tools: &[Tool], tool: &Tool) -> bool {
    tools.iter().any(|it| it.name == tool.name)
}

fn missing_of(wanted: &[Tool]) -> Vec<Tool> {
    wanted.iter().copied().filter(|tool| !tool.is_present()).collect()
}

fn report(missing: Vec<Tool>) -> Vec<Tool> {
    if !missing.is_empty() {
        let how = commands(&missing).join(" && ");
        println!("missing: {} (install with: {how})", names(&missing));
    }
    missing
}

fn names(tools: &[Tool]) -> String {
    tools.iter().map(|tool| tool.name).collect::<Vec<_>>().join(", ")
}

/// The line about the checks that are skipped without `tool`.
pub fn skipped(what: &str, tool: &Tool) -> String {
    format!(
        "skipped: {what} because {} is not installed ({})",
        tool.name,
        commands(&[*tool]).join(" && ")
    )
}

/// Says that `what` is not checked and why, now and in the summary.
pub fn skip(skipped: &mut Vec<String>, what: &str, why: &str) {
    add_skipped(skipped, format!("skipped: {what} because {why}"));
}

/// Returns true if `tool` is not there, after saying that `what` is skipped without it.
pub(crate) fn lacks(tool: &Tool, what: &str, list: &mut Vec<String>) -> bool {
    let is_missing = !tool.is_present();
    if is_missing {
        add_skipped(list, skipped(what, tool));
    }
    is_missing
}

/// Does `check` if `tool` is there; else `what` counts as skipped.
pub(crate) fn with(
    tool: &Tool,
    what: &str,
    skipped: &mut Vec<String>,
    check: impl FnOnce() -> Result<()>,
) -> Result<()> {
    if lacks(tool, what, skipped) { Ok(()) } else { check() }
}

/// Prints a line about skipped checks, now and in the summary.
pub(crate) fn add_skipped(skipped: &mut Vec<String>, line: String) {
    println!("{line}");
    skipped.push(line);
}

/// Returns true if a program of this name is on `PATH`.
pub fn found(name: &str) -> bool {
    let executable = |file: PathBuf| {
        fs::metadata(file)
            .is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
    };
    env::split_paths(&env::var_os("PATH").unwrap_or_default()).any(|dir| executable(dir.join(name)))
}

/// Returns true in CI, where nothing may be skipped for want of a tool.
pub fn in_ci() -> bool {
    env::var_os("CI").is_some_and(|value| !value.is_empty())
}

/// Installs tools where it can: Debian packages as root, Rust components with rustup.
fn install_packages(missing: &[Tool]) -> Result<()> {
    let apt = is_root() && found("apt-get");
    let mut packages = Vec::new();
    let mut components = Vec::new();
    for tool in missing {
        match tool.source {
            Debian(names) if apt => packages.extend(names.split(' ')),
            Rustup(component) if found("rustup") => components.push(component),
            _ => continue,
        }
        println!("needed: {}, to {}", tool.name, tool.why);
    }
    if !components.is_empty() {
        let mut add = Command::new("rustup");
        shell::run_without_output(add.args(["component", "add"]).args(components))?;
    }
    if packages.is_empty() {
        return Ok(());
    }
    // Debian's tools say hundreds of lines, even when they are asked not to.
    let apt = |args: &[&str]| {
        let mut apt = Command::new("apt-get");
        shell::run_without_output(apt.args(args).env("DEBIAN_FRONTEND", "noninteractive"))
    };
    apt(&["update", "-qq"])?;
    let mut install = vec!["install", "-qq", "--yes", "--no-install-recommends"];
    install.extend(packages);
    apt(&install)
}

/// The commands with which a person would install these.
fn commands(tools: &[Tool]) -> Vec<String> {
    let (mut debian, mut rustup, mut own) = (Vec::new(), Vec::new(), None);
    for tool in tools {
        match tool.source {
            Debian(package) => debian.push(package),
            Rustup(component) => rustup.push(component),
            Project(_) => own = Some("cargo xtask setup".to_owned()),
        }
    }
    let line = |command: &str, names: Vec<&str>| {
        (!names.is_empty()).then(|| format!("{command} {}", names.join(" ")))
    };
    let packages = [line("apt-get install", debian), line("rustup component add", rustup)];
    packages.into_iter().flatten().chain(own).collect()
}

/// True where packages can be installed.
pub fn is_root() -> bool {
    fs::metadata("/proc/self").is_ok_and(|meta| meta.uid() == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_programs_on_the_path_only() {
        assert!(found("sh"));
        assert!(!found("no-such-program"));
    }

    const JDK: Tool = Tool { name: "a JDK", why: "test", present: || false, source: Debian("jdk") };
    const LINTER: Tool = Tool { name: "x", why: "test", present: || true, source: Rustup("x") };

    #[test]
    fn says_how_to_install() {
        let fetched = Tool { source: Project(|| Ok(())), ..JDK };
        assert_eq!(
            commands(&[JDK, LINTER, JDK]),
            ["apt-get install jdk jdk", "rustup component add x"]
        );
        assert_eq!(commands(&[fetched]), ["cargo xtask setup"]);
        assert_eq!(
            skipped("the Java tests", &JDK),
            "skipped: the Java tests because a JDK is not installed (apt-get install jdk)"
        );
    }

    #[test]
    fn what_is_missing_without_leave_to_install_is_handed_back() {
        let fetched = Tool { source: Project(|| panic!("not allowed")), ..JDK };
        let missing = prepare(&[LINTER, fetched], false);
        assert_eq!(names(&missing), "a JDK");
    }

    #[test]
    fn what_can_not_be_fetched_is_missing() {
        let fetched = Tool { source: Project(|| Err("no network".to_owned())), ..JDK };
        assert_eq!(names(&prepare(&[fetched, LINTER], true)), "a JDK");
    }
}
