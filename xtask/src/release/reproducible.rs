//! The installed tool, the same to a byte wherever it is built.
//!
//! A compiler writes the places of sources into its output: for the lines of a panic, and in C for
//! assertions. Two users, two folders, two binaries. Those places are given one name here, as a
//! distribution does: by `--remap-path-prefix` for Rust and `-ffile-prefix-map` for C. The
//! compiler, the options and the locked versions are the same; nothing else may matter.

use std::path::Path;

use super::packages::Package;
use super::trial::Trial;
use crate::{Result, shell, workspace};

/// Installs the tool in two folders and compares.
pub(super) fn check(packages: &[Package]) -> Result<()> {
    let first = install(packages, "install")?;
    let second = install(packages, "install-in-another-folder")?;
    if first == second {
        println!("{} bytes, the same in both", first.len());
        return Ok(());
    }
    let differs = first.iter().zip(&second).position(|(one, other)| one != other);
    let at = differs.unwrap_or(first.len().min(second.len()));
    Err(format!("{} and {} bytes, the first other one at {at}", first.len(), second.len()))
}

/// The bytes of the tool, installed from packages in a folder of this name.
fn install(packages: &[Package], name: &str) -> Result<Vec<u8>> {
    let trial = Trial::prepare(packages, name)?;
    let below = workspace::target_dir()?.join("release").join(name);
    workspace::empty_dir(&below.join("target"))?;
    let mut install = trial.command("cargo", &["install", "--quiet", "--locked", "protolog-tool"]);
    let map = |flag: &str, from: &Path| format!("{flag}={}=built", from.display());
    install.env("RUSTFLAGS", map("--remap-path-prefix", &below));
    install.env("CFLAGS", map("-ffile-prefix-map", &below));
    shell::run(&mut install)?;
    let bytes = workspace::read_bytes(trial.tool())?;
    trial.end()?;
    Ok(bytes)
}
