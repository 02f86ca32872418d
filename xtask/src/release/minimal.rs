//! The lowest versions: those that a manifest names must be enough, or a user whose `Cargo.lock`
//! has just that version can't build.
//!
//! Cargo chooses the lowest version of each direct dependency, and as usual of the others, with an
//! option for nightly compilers that `RUSTC_BOOTSTRAP` lets the stable one take. That rewrites
//! `Cargo.lock`, so it is done in a copy.

use std::path::PathBuf;
use std::process::Command;

use super::packages::{self, Package};
use crate::{Result, shell, workspace};

/// Checks all packages with the lowest versions; fetches those that are not there.
pub(super) fn check(packages: &[Package]) -> Result<()> {
    let copy = copy()?;
    let lowest = |args: &[&str]| {
        let mut cargo = shell::cargo(args);
        cargo.arg("-Zdirect-minimal-versions").current_dir(&copy);
        cargo.env("CARGO_TARGET_DIR", copy.with_file_name("minimal-target"));
        shell::run(cargo.env("RUSTC_BOOTSTRAP", "1"))
    };
    lowest(&["generate-lockfile", "--quiet"])?;
    let check = ["check", "--quiet", "--lib", "--bins", "--all-features"];
    lowest(&[&check[..], &packages::selected(packages)].concat())
}

/// A copy of the project's files.
fn copy() -> Result<PathBuf> {
    let copy = workspace::empty_target("release/minimal")?;
    let list = copy.with_file_name("minimal-files");
    let files = workspace::files()?;
    let names: Vec<_> = files.iter().map(|file| file.to_string_lossy().into_owned()).collect();
    workspace::write(&list, names.join("\n"))?;
    let mut tar = Command::new("sh");
    tar.args(["-c", "tar -cf - -T \"$0\" | tar -xf - -C \"$1\""]).arg(&list).arg(&copy);
    shell::run_without_output(tar.current_dir(workspace::root()))?;
    Ok(copy)
}
