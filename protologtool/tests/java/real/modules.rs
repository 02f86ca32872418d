//! A module of the JDK, compiled with unprocessed calls in it and with rewritten ones.

use super::{File, is_soak, jdk, settings};
use crate::case::here;
use crate::real::insert::insert;
use protolog_testkit::{java_sources, javac, temp_dir};
use protologtool::pipeline::process_source;
use protologtool::source::Source;
use std::path::{Path, PathBuf};

#[test]
fn a_module_compiles_before_and_after() {
    // The small one takes seconds, the large one a minute or two.
    let module = if is_soak() { "java.xml" } else { "java.logging" };
    let prefix = format!("{module}/");
    let Some(files) = jdk(|_, path| path.starts_with(&prefix)) else { return };
    let (before, after) = (temp_dir(), temp_dir());
    let mut calls = 0;
    for File { path, bytes } in &files {
        let path = path.strip_prefix(&prefix).unwrap();
        let inserted = insert(path.as_bytes(), bytes);
        calls += inserted.as_ref().map_or(0, |inserted| inserted.calls.len());
        let with_calls = inserted.map_or(bytes.clone(), |inserted| inserted.text);
        let processed = process_source(&settings(), Source::new(path, with_calls.clone()));
        assert!(processed.report.is_none(), "{path}: {:?}", processed.report);
        let rewritten = processed.rewritten.unwrap_or(with_calls.clone());
        write(&before.path().join(path), &with_calls);
        write(&after.path().join(path), &rewritten);
    }
    assert!(calls > files.len(), "{calls} calls in {} files", files.len());
    println!("{calls} calls in the {} files of {module}", files.len());
    compile(module, before.path());
    compile(module, after.path());
}

fn write(path: &Path, bytes: &[u8]) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, bytes).unwrap();
}

/// Compiles the sources under `root`, and the API as a part of the same module.
fn compile(module: &str, root: &Path) {
    let Some(mut javac) = javac() else { return };
    let runtime = here().join("runtime");
    for file in java_sources(&runtime) {
        write(&root.join(file.strip_prefix(&runtime).unwrap()), &std::fs::read(&file).unwrap());
    }
    let list = root.join("files");
    let paths: Vec<String> =
        java_sources(root).iter().map(|path| path.display().to_string()).collect();
    std::fs::write(&list, paths.join("\n")).unwrap();
    let classes: PathBuf = root.join("classes");
    javac.args([
        "-encoding",
        "UTF-8",
        "-nowarn",
        "-proc:none",
        "-J-Xmx2g",
        "-XDignore.symbol.file",
    ]);
    javac.arg("--patch-module").arg(format!("{module}={}", root.display()));
    javac.arg("-d").arg(&classes).arg(format!("@{}", list.display()));
    let output = javac.output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    let start: String = stderr.lines().take(40).collect::<Vec<_>>().join("\n");
    assert!(output.status.success(), "{start}");
}
