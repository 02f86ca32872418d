//! Compiles and runs Java with the real javac and java.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{Output, run_any, tool};

/// Compiles `sources` to class files under `out_dir`; `classpath` can be empty. The caller checks
/// the exit code, because a test may expect an error of javac. `None` without javac.
///
/// # Panics
///
/// If javac can't be started.
pub fn compile_java(out_dir: &Path, sources: &[PathBuf], classpath: &[PathBuf]) -> Option<Output> {
    let mut javac = javac()?;
    javac.arg("-d").arg(out_dir).args([
        "-encoding",
        "UTF-8",
        "-Xlint:all",
        "-proc:none",
        "-implicit:none",
    ]);
    if !classpath.is_empty() {
        javac.arg("-classpath").arg(joined(classpath));
    }
    Some(run_any(javac.args(sources)))
}

/// The compiler; `None` without javac. It runs for seconds: with the JVM's first compiler alone it
/// takes half of the CPU time.
pub fn javac() -> Option<Command> {
    let mut javac = Command::new(tool("javac")?);
    javac.arg("-J-XX:TieredStopAtLevel=1");
    Some(javac)
}

/// Runs the class `main` with `args`. The caller checks the exit code. `None` without java.
///
/// # Panics
///
/// If java can't be started.
pub fn run_java(classpath: &[PathBuf], main: &str, args: &[&str]) -> Option<Output> {
    let mut java = Command::new(tool("java")?);
    java.args(["-enableassertions", "-Xshare:auto", "-classpath"]).arg(joined(classpath)).arg(main);
    Some(run_any(java.args(args)))
}

/// All `.java` files under `dir`, sorted.
///
/// # Panics
///
/// If a directory can't be read.
pub fn java_sources(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![dir.to_path_buf()];
    while let Some(dir) = open.pop() {
        let entries = fs::read_dir(&dir)
            .unwrap_or_else(|error| panic!("can't read `{}`: {error}", dir.display()));
        for entry in entries {
            let path = entry.expect("read a directory entry").path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|extension| extension == "java") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

fn joined(paths: &[PathBuf]) -> OsString {
    std::env::join_paths(paths).expect("join a class path")
}
