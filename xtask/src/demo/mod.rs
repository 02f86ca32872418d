//! `cargo xtask demo`: the main job on real input, step by step, each command shown before it runs.
//!
//! A part is one language's way through the project; its steps build on each other, so the first failure ends the demo.

mod compare;
mod java;
mod rust;

use std::path::{Path, PathBuf};
use std::{env, fs};

use crate::tools::{self, Tool};
use crate::{Result, workspace};

/// What the steps share.
struct Place {
    /// The directory tree that the example works on.
    input: PathBuf,
    /// Whether what is missing may be installed.
    install: bool,
    /// Where the demo leaves everything it makes.
    output: PathBuf,
    /// Cargo's target directory.
    target: PathBuf,
}

/// One numbered step.
struct Step {
    title: &'static str,
    /// A step that needs a missing tool is skipped aloud.
    needs: Option<Tool>,
    run: fn(&Place) -> Result<()>,
}

/// The parts, in the order in which they run.
const PARTS: [(&str, &[Step]); 2] = [("Java", &java::STEPS), ("Rust", &rust::STEPS)];

/// Runs all parts on the directory tree `dir`.
pub(crate) fn run(dir: Option<PathBuf>, install: bool) -> Result<()> {
    let input = dir.map_or_else(default_input, Ok)?;
    let input = fs::canonicalize(&input)
        .map_err(|error| format!("can't use `{}`: {error}", input.display()))?;
    let missing =
        tools::prepare(&[tools::CC, tools::GIT, tools::JAVA, tools::NODE, tools::PYTHON], install);
    let target = workspace::target_dir()?;
    let place = Place { input, install, output: target.join("demo"), target };
    workspace::empty_dir(&place.output)?;
    let mut skipped = Vec::new();
    for (part, steps) in PARTS {
        for (index, step) in steps.iter().enumerate() {
            println!("\n== {part} {}/{}: {}", index + 1, steps.len(), step.title);
            let lacks =
                step.needs.filter(|tool| missing.iter().any(|missing| missing.name == tool.name));
            match lacks {
                Some(tool) => skipped.push(tools::skipped(&format!("`{}`", step.title), &tool)),
                None => (step.run)(&place)?,
            }
        }
    }
    println!("\n== done; everything it made is in {}", shown(&place.output));
    for line in &skipped {
        println!("{line}");
    }
    if tools::in_ci() && !skipped.is_empty() {
        Err("in CI nothing may be skipped".to_owned())
    } else {
        Ok(())
    }
}

/// The sources in cargo's registry: real, large enough, and on every machine that built the project.
fn default_input() -> Result<PathBuf> {
    let home = env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| env::home_dir().map(|home| home.join(".cargo")));
    let registry = home.map(|home| home.join("registry/src")).filter(|registry| registry.is_dir());
    registry.map_or_else(|| Ok(workspace::root()), Ok)
}

fn shown(path: &Path) -> String {
    path.strip_prefix(workspace::root()).unwrap_or(path).display().to_string()
}
