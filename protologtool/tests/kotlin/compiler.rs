//! Compiling by kotlinc, and running what comes out.

use protolog_testkit::{Output, compile_java, java_sources, kotlin, kotlinc, run_any, tool};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Compiles the Kotlin sources `sources` against the classes in `classes`, into that directory.
/// None without a compiler.
pub(crate) fn compile(sources: &[PathBuf], classes: &Path) -> Option<Output> {
    let mut compiler = kotlinc()?;
    compiler.args(["-nowarn", "-no-reflect", "-cp"]).arg(classes).arg("-d").arg(classes);
    Some(run_any(compiler.args(sources)))
}

/// Compiles Java sources below `root` into `classes`.
#[allow(dead_code, reason = "Android's platform is compiled with its own files")]
pub(crate) fn compile_runtime(root: &Path, classes: &Path) -> Option<()> {
    let output = compile_java(classes, &java_sources(root), &[])?;
    assert_eq!(output.code, Some(0), "javac: {}", output.stderr);
    Some(())
}

/// Runs the class `main` of `classes`, with these options of the virtual machine.
pub(crate) fn run(classes: &Path, options: &[&str], main: &str, args: &[&str]) -> Option<Output> {
    let library = kotlin()?.join("lib/kotlin-stdlib.jar");
    let path = std::env::join_paths([classes, &library]).unwrap();
    let mut java = Command::new(tool("java")?);
    Some(run_any(java.args(options).arg("-cp").arg(path).arg(main).args(args)))
}
