//! `cargo xtask demo`: the main job on real input, step by step, each command shown before it runs.
//!
//! A part is one language's way through the project; its steps build on each other, so the first
//! failure ends the demo.

mod both;
mod java;
mod readers;
mod rust;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use crate::install::{self, Tool};
use crate::{Result, shell, tools, workspace};

/// The places that the steps share.
struct Layout {
    /// The directory tree that the example works on.
    input: PathBuf,
    /// Where the demo leaves everything it makes.
    output: PathBuf,
    profile: Profile,
    /// Where cargo puts programs of that profile.
    programs: PathBuf,
}

/// The profile in which the demo's programs are built.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Profile {
    /// That of the tests, which have built most of it already.
    Dev,
    /// That of people who install the tool: it compiles fast.
    Tool,
}

/// A numbered step: its title, its tools, without one of which it is skipped aloud, and its work.
type DemoStep = (&'static str, &'static [Tool], fn(&Layout) -> Result<()>);

/// Tools that the parts need beside Rust.
pub(crate) const NEEDS: [Tool; 6] =
    [tools::CC, tools::GIT, tools::JAVA, tools::NODE, tools::PYTHON, tools::WHEELS];

/// The parts, in the order in which they run.
const PARTS: [(&str, &[DemoStep]); 3] =
    [("Java", &java::STEPS), ("Rust", &rust::STEPS), ("Both", &both::STEPS)];

/// Runs all parts on the directory tree `dir`.
pub(crate) fn run(dir: Option<PathBuf>, profile: Profile, install: bool) -> Result<()> {
    let input = dir.map_or_else(default_input, Ok)?;
    let input = fs::canonicalize(&input)
        .map_err(|error| format!("can't use `{}`: {error}", input.display()))?;
    install::prepare(&NEEDS, install);
    let target = workspace::target_dir()?;
    let programs = target.join(if profile == Profile::Dev { "debug" } else { "tool" });
    let layout = Layout { input, output: target.join("demo"), profile, programs };
    workspace::empty_dir(&layout.output)?;
    let mut skipped = Vec::new();
    for (part, steps) in PARTS {
        for (index, (title, needs, work)) in steps.iter().enumerate() {
            println!("\n== {part} {}/{}: {}", index + 1, steps.len(), title);
            match needs.iter().find(|tool| !tool.is_present()) {
                Some(tool) => skipped.push(install::skipped(&format!("`{}`", title), tool)),
                None => work(&layout)?,
            }
        }
    }
    println!("\n== done; everything it made is in {}", workspace::shown(&layout.output));
    for line in &skipped {
        println!("{line}");
    }
    if install::in_ci() && !skipped.is_empty() {
        Err("in CI nothing may be skipped".to_owned())
    } else {
        Ok(())
    }
}

impl Layout {
    /// A command of the tool, in the workspace.
    fn tool(&self, args: &[&str]) -> Command {
        let mut tool = Command::new(self.programs.join("protologtool"));
        tool.args(args).current_dir(workspace::root());
        tool
    }

    /// Builds the program of a package, one of whose tests has this name.
    fn build(&self, package: &str, test: &str) -> Result<()> {
        if self.profile == Profile::Dev {
            return workspace::build_tested(&[test]).map(|_| ());
        }
        let build = ["build", "--locked", "--profile=tool", "--package", package];
        shell::run(&mut shell::cargo(&build))
    }
}

/// The sources in cargo's registry: real, large enough, and on every machine that built the
/// project.
fn default_input() -> Result<PathBuf> {
    let home = env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| env::home_dir().map(|home| home.join(".cargo")));
    let registry = home.map(|home| home.join("registry/src")).filter(|registry| registry.is_dir());
    registry.map_or_else(|| Ok(workspace::root()), Ok)
}

/// The number of lines of two files that are equal; an error with the differences where they are
/// not.
fn equal_lines(one: &Path, other: &Path) -> Result<usize> {
    let mut diff = Command::new("diff");
    shell::run_without_output(diff.arg("--text").args([one, other]))?;
    Ok(workspace::read_bytes(one)?.split_inclusive(|byte| *byte == b'\n').count())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_first_difference() {
        let dir = env::temp_dir().join(format!("xtask-lines-{}", std::process::id()));
        let [one, other] = ["one", "other"].map(|name| dir.join(name));
        for (text, lines) in [("a\nb\n", Some(2)), ("a\nc\n", None), ("a\n", None)] {
            workspace::write(&one, "a\nb\n").unwrap();
            workspace::write(&other, text).unwrap();
            assert_eq!(equal_lines(&one, &other).ok(), lines, "{text}");
        }
        let differs = equal_lines(&one, &other).unwrap_err();
        assert!(differs.ends_with("2d1\n< b"), "{differs}");
        fs::remove_dir_all(dir).unwrap();
    }
}
