//! The workspace: its places, and the files that belong to the project.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

pub use crate::root::root;
use crate::{Result, shell};

/// The place of downloaded tools, for any target directory of cargo's: the tests look there too.
pub fn tools_dir() -> PathBuf {
    root().join("target/tools")
}

/// Returns true if [`complete`] has noted this text in a folder.
pub(crate) fn is_complete(dir: &Path, text: &str) -> bool {
    fs::read_to_string(dir.join(COMPLETE)).is_ok_and(|noted| noted == text)
}

/// Notes in a folder what it was made of: at the end, so that an interrupted installation is
/// repeated.
pub(crate) fn complete(dir: &Path, text: &str) -> Result<()> {
    write(dir.join(COMPLETE), text)
}

const COMPLETE: &str = "complete";

/// The output of `cargo metadata`, with the resolved graph of all platforms.
pub fn metadata() -> Result<Value> {
    read_metadata(&[])
}

/// The same for one platform.
pub fn metadata_of(platform: &str) -> Result<Value> {
    read_metadata(&["--filter-platform", platform])
}

/// The same for one platform, of the workspace of another manifest below the root.
pub fn metadata_at(manifest: &str, platform: &str) -> Result<Value> {
    read_metadata(&["--manifest-path", manifest, "--filter-platform", platform])
}

pub(crate) fn read_metadata(args: &[&str]) -> Result<Value> {
    let all = [&["metadata", "--format-version", "1", "--locked"], args].concat();
    let text = shell::read(&mut shell::cargo(&all))?;
    serde_json::from_str(&text)
        .map_err(|error| format!("can't read the output of `cargo metadata`: {error}"))
}

/// Cargo's target directory.
pub fn target_dir() -> Result<PathBuf> {
    let metadata = metadata()?;
    metadata["target_directory"]
        .as_str()
        .map(PathBuf::from)
        .ok_or_else(|| "no target directory in `cargo metadata`".to_owned())
}

/// Builds packages of the workspace, with cargo's options beside; returns the folder of their
/// programs.
pub fn build(packages: &[&str], options: &[&str]) -> Result<PathBuf> {
    let mut cargo = shell::cargo(&["build", "--locked"]);
    cargo.args(options).args(packages.iter().flat_map(|package| ["--package", package]));
    shell::run(&mut cargo)?;
    let is_release = options.contains(&"--release");
    Ok(target_dir()?.join(if is_release { "release" } else { "debug" }))
}

/// Builds the tool, as its tests have built it; returns its program.
pub fn build_tool() -> Result<PathBuf> {
    build_tested(&["cli"]).map(|dir| dir.join("protologtool"))
}

/// Builds these test programs with the programs of their packages, as a test of the whole workspace
/// has built them: for a package alone cargo leaves out features that others ask for, and so would
/// build much of it again. Returns the folder of the packages' programs.
pub(crate) fn build_tested(tests: &[&str]) -> Result<PathBuf> {
    let mut cargo = shell::cargo(&["test", "--quiet", "--locked", "--workspace", "--no-run"]);
    shell::run(cargo.args(tests.iter().flat_map(|test| ["--test", test])))?;
    Ok(target_dir()?.join("debug"))
}

/// The project's files, relative to the root, sorted: those that git tracks or would track (new
/// files that are not ignored), without deleted ones.
pub fn files() -> Result<Vec<PathBuf>> {
    let mut git = Command::new("git");
    git.args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"]).current_dir(root());
    let listed = shell::read(&mut git)?;
    let mut files: Vec<PathBuf> = listed.split_terminator('\0').map(PathBuf::from).collect();
    files.retain(|file| fs::symlink_metadata(root().join(file)).is_ok_and(|meta| meta.is_file()));
    files.sort();
    files.dedup();
    Ok(files)
}

/// The files and folders in a folder, sorted; none where there is no folder.
pub(crate) fn entries(dir: impl AsRef<Path>) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    let mut entries: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    entries.sort();
    entries
}

/// The path as people see it: relative to the workspace, if it is in there.
pub(crate) fn shown(path: &Path) -> String {
    path.strip_prefix(root()).unwrap_or(path).display().to_string()
}

/// The checksum that `md5sum` and the like print of a file, in hexadecimal digits.
pub(crate) fn checksum(program: &str, file: &Path) -> Result<String> {
    let printed = shell::read(Command::new(program).arg(file))?;
    // Of a name with a backslash in it, the line begins with one.
    let sum = printed.split_whitespace().next().unwrap_or_default();
    Ok(sum.trim_start_matches('\\').to_owned())
}

/// Makes `dir` an empty directory.
pub fn empty_dir(dir: &Path) -> Result<()> {
    let removed = match fs::remove_dir_all(dir) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    };
    removed.map_err(|error| format!("can't empty `{}`: {error}", dir.display()))?;
    make_dir(dir)
}

/// Makes an empty directory in cargo's target directory.
pub(crate) fn empty_target(name: &str) -> Result<PathBuf> {
    let dir = target_dir()?.join(name);
    empty_dir(&dir).map(|()| dir)
}

/// Makes a directory, and those that it lies in, if they are not there.
pub(crate) fn make_dir(dir: &Path) -> Result<()> {
    fs::create_dir_all(dir).map_err(|error| format!("can't make `{}`: {error}", dir.display()))
}

/// Copies a file or a folder with all below it into a folder, or to a new name.
pub fn copy(from: impl AsRef<Path>, to: impl AsRef<Path>) -> Result<()> {
    shell::run_quietly(Command::new("cp").arg("-r").arg(from.as_ref()).arg(to.as_ref()))
}

/// The text of a file.
pub fn read(path: impl AsRef<Path>) -> Result<String> {
    let path = path.as_ref();
    fs::read_to_string(path).map_err(|error| format!("can't read `{}`: {error}", path.display()))
}

/// The content of a file.
pub fn read_bytes(path: impl AsRef<Path>) -> Result<Vec<u8>> {
    let path = path.as_ref();
    fs::read(path).map_err(|error| format!("can't read `{}`: {error}", path.display()))
}

/// Writes a file, and makes the folders that it lies in.
pub fn write(path: impl AsRef<Path>, content: impl AsRef<[u8]>) -> Result<()> {
    let path = path.as_ref();
    let made = fs::create_dir_all(path.parent().unwrap_or(path));
    made.and_then(|()| fs::write(path, content))
        .map_err(|error| format!("can't write `{}`: {error}", path.display()))
}
