//! Sources of Java in the encoding that javac is told: processed, compiled and run as those in
//! UTF-8.

use protolog_testkit::{java_sources, javac, run_any, temp_dir};
use std::fs;
use std::path::Path;
use std::process::Command;

const SOURCE: &str = "package demo;
import dev.protolog.ProtoLog;
class Sizes {
    static final String TEXT = \"größe %d für %s\"; // é
    void log(String name) { ProtoLog.d(AppLog.NET, TEXT, 1 + name.length(), name + \"ß\"); }
}
";

/// The rewritten source, and the dictionary.
fn transformed(directory: &Path, encoding: &str, source: &[u8]) -> (Vec<u8>, Vec<u8>) {
    let file = directory.join("Sizes.java");
    fs::write(&file, source).expect("write a source");
    let groups = crate::case::here().join("runtime/demo/AppLog.java");
    let mut tool = Command::new(env!("CARGO_BIN_EXE_protologtool"));
    tool.args(["transform-protolog-calls", "--loggroups-class", "demo.AppLog"])
        .args(["--encoding", encoding, "--output-dir", "out", "--viewer-config", "out.json"])
        .arg("--loggroups-source")
        .arg(groups)
        .arg("Sizes.java");
    let output = run_any(tool.current_dir(directory));
    assert_eq!((output.code, &*output.stderr), (Some(0), ""), "{encoding}");
    let read = |path: &str| fs::read(directory.join(path)).expect("read an output");
    (read("out/Sizes.java"), read("out.json"))
}

#[test]
fn sources_in_other_encodings_are_those_in_utf_8() {
    let directories = [temp_dir(), temp_dir()];
    let (rewritten, dictionary) = transformed(directories[0].path(), "UTF-8", SOURCE.as_bytes());
    let encoded = |text: &str| text.chars().map(|char| char as u8).collect::<Vec<u8>>();
    for encoding in ["ISO-8859-1", "Cp1252"] {
        let (other, same) = transformed(directories[1].path(), encoding, &encoded(SOURCE));
        assert_eq!(same, dictionary);
        assert_eq!(other, encoded(&String::from_utf8(rewritten.clone()).expect("UTF-8")));
        assert_ne!(other, encoded(SOURCE), "something was rewritten");
    }
    let sources = java_sources(&crate::case::here().join("runtime"));
    let sources = [sources, vec![directories[1].path().join("out/Sizes.java")]].concat();
    let classes = directories[1].path().join("classes");
    let Some(mut javac) = javac() else { return };
    javac.args(["-encoding", "ISO-8859-1", "-proc:none", "-d"]).arg(classes);
    let compiled = run_any(javac.args(sources));
    assert_eq!(compiled.code, Some(0), "{}", compiled.stderr);
}

#[test]
fn changes_are_made_in_the_encoding_of_the_source() {
    let directory = temp_dir();
    let file = directory.path().join("A.java");
    let source = b"package demo;\nimport dev.protolog.ProtoLog;\nclass A { void f(int n) { ProtoLog.d(AppLog.NET, \"gr\xf6\xdfe {}\", n); } }\n";
    fs::write(&file, source).expect("write a source");
    let groups = crate::case::here().join("runtime/demo/AppLog.java");
    let mut tool = Command::new(env!("CARGO_BIN_EXE_protologtool"));
    tool.args(["check", "--fix", "--encoding", "latin1", "--loggroups-class", "demo.AppLog"]);
    let output = run_any(tool.arg("--loggroups-source").arg(groups).arg(&file));
    assert_eq!(output.code, Some(0), "{}", output.stderr);
    let changed = fs::read(&file).expect("read the source");
    let at = source.windows(2).position(|it| it == b"{}").expect("braces");
    assert_eq!(changed, [&source[..at], b"%s", &source[at + 2..]].concat());
}
