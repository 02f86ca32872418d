//! Java programs before and after: they log the same texts at the same levels. Before, by Logback.

use crate::case::{case_files, crate_of, library, migrate};
use protolog_testkit::{compile_java, java, java_sources, run_java, skip, workspace_root};
use protologtool::cli::{self, Exit};
use protologtool::system::Memory;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

const CONFIGURATION: &str = r#"<configuration>
  <appender name="OUT" class="ch.qos.logback.core.ConsoleAppender">
    <encoder><pattern>%level %msg%n%nopex</pattern></encoder>
  </appender>
  <root level="TRACE"><appender-ref ref="OUT"/></root>
</configuration>
"#;

#[test]
fn programs_log_the_same_before_and_after() {
    let names = ["logback-core-1.5.18.jar", "logback-classic-1.5.18.jar", "slf4j-api-2.0.17.jar"];
    let jars = names.map(|name| workspace_root().join("target/tools/jars").join(name));
    if java().is_none() || jars.iter().any(|jar| !jar.exists()) {
        return skip("programs with SLF4J", "run `cargo xtask setup jar` for Logback");
    }
    let file = case_files().into_iter().find(|file| library(file) == "slf4j").unwrap();
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("migrate-slf4j");
    let _ = fs::remove_dir_all(&directory);
    let runtime = directory.join("runtime");
    let sources = java_sources(&workspace_root().join("java/src"));
    let compiled = compile_java(&runtime, &sources, &[]).unwrap();
    assert_eq!(compiled.code, Some(0), "{}", compiled.stderr);
    let classes = [&jars[..], &[runtime]].concat();
    let system = crate_of(&file);
    let before = lines(&system, &directory.join("before"), &classes);
    migrate(&system, &["--from", "slf4j", "--apply", "src"]);
    let after = lines(&system, &directory.join("after"), &classes);
    assert!(before.len() > 20, "{before:?}");
    protolog_testkit::assert_eq_text(&before.join("\n"), &after.join("\n"));
}

/// Compiles and runs the program; the lines that it prints, and those in its trace, sorted.
fn lines(system: &Memory, directory: &Path, classes: &[PathBuf]) -> Vec<String> {
    let (source, out) = (directory.join("source"), directory.join("out"));
    for (path, content) in system.files() {
        let path = source.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }
    let compiled = compile_java(&out, &java_sources(&source), classes).unwrap();
    assert_eq!(compiled.code, Some(0), "{}", compiled.stderr);
    fs::write(out.join("logback.xml"), CONFIGURATION).unwrap();
    let classes = [classes, &[out]].concat();
    let trace = directory.join("trace.pftrace");
    let ran = run_java(&classes, "demo.Main", &[trace.to_str().unwrap()]).unwrap();
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let levels = [("ERROR", "E"), ("WARN", "W"), ("INFO", "I"), ("DEBUG", "D"), ("TRACE", "V")];
    let mut lines: Vec<String> = ran
        .stdout
        .lines()
        .filter_map(|line| {
            let (long, text) = line.split_once(' ')?;
            let level = levels.iter().find(|(known, _)| *known == long)?.1;
            Some(format!("{level} {text}"))
        })
        .collect();
    let reader = Memory::default();
    reader.add_file("trace", fs::read(&trace).unwrap());
    let words = ["protologtool", "read-log", "trace", "--format", "json"];
    assert_eq!(cli::run(words.map(OsString::from), &reader), Exit::Done, "{}", reader.errors());
    for line in reader.out().lines() {
        let entry: serde_json::Value = serde_json::from_str(line).unwrap();
        let text = |name: &str| entry[name].as_str().unwrap().to_owned();
        let level = text("level").chars().next().unwrap().to_ascii_uppercase();
        lines.push(format!("{level} {}", text("message")));
    }
    lines.sort();
    lines
}
