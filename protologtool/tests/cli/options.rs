//! The command lines that AOSP's tool accepts and refuses, row by row of its own tests.

use protolog_testkit::{compile_java, java_sources, temp_dir};
use protologtool::cli::{Exit, run};
use protologtool::system::Memory;
use std::ffi::OsString;
use std::io::{Cursor, Write};
use std::path::{Path, PathBuf};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

/// The flags that AOSP's tool requires, and inputs between them.
const TRANSFORM: &str = "transform-protolog-calls --protolog-class dev.protolog.ProtoLog \
    --loggroups-class demo.AppLog a/Test1.java --loggroups-jar groups.jar \
    --dialect protolog --viewer-config-file-path not_required.pb --output-srcjar out.srcjar b/Test2.java";
const GENERATE: &str = "generate-viewer-config --protolog-class dev.protolog.ProtoLog \
    --loggroups-class demo.AppLog --loggroups-jar groups.jar --viewer-config out.json a/Test1.java \
    b/Test2.java";

/// A jar with the groups of the fixture; none without javac.
fn groups_jar() -> Option<Vec<u8>> {
    let directory = temp_dir();
    let runtime = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/java/runtime");
    let sources: Vec<PathBuf> = ["demo/AppLog.java", "dev/protolog/ProtoLogGroup.java"]
        .map(|name| runtime.join(name))
        .into();
    assert!(java_sources(&runtime).len() > sources.len());
    let output = compile_java(directory.path(), &sources, &[])?;
    assert_eq!(output.code, Some(0), "{}", output.stderr);
    let mut jar = ZipWriter::new(Cursor::new(Vec::new()));
    for name in ["demo/AppLog.class", "demo/AppLog$Consts.class"] {
        if let Ok(class) = std::fs::read(directory.path().join(name)) {
            jar.start_file(name, SimpleFileOptions::default()).unwrap();
            jar.write_all(&class).unwrap();
        }
    }
    Some(jar.finish().unwrap().into_inner())
}

fn tool(line: &str, jar: &[u8]) -> (Exit, Memory) {
    let system = Memory::with_files([
        ("a/Test1.java", "package a;\nclass Test1 {}\n"),
        ("b/Test2.java", "package b;\nclass Test2 {}\n"),
        ("b/Test3.kt", "package b\n"),
    ]);
    system.add_file("groups.jar", jar);
    let words = line.split_whitespace().map(OsString::from);
    let exit = run(std::iter::once("protologtool".into()).chain(words), &system);
    (exit, system)
}

/// The line without a flag and its value.
fn without(line: &str, flag: &str) -> String {
    let mut words = line.split_whitespace();
    let mut kept = Vec::new();
    while let Some(word) = words.next() {
        if word == flag {
            words.next();
        } else {
            kept.push(word);
        }
    }
    kept.join(" ")
}

/// The line with another value of a flag.
fn with(line: &str, flag: &str, value: &str) -> String {
    format!("{} {flag} {value}", without(line, flag))
}

#[test]
fn what_aosp_accepts() {
    let Some(jar) = groups_jar() else { return };
    let legacy = "--legacy-viewer-config-file-path /system/etc/p.json.gz \
                  --legacy-output-file-path /data/p.winscope";
    for (line, outputs) in [
        (TRANSFORM.to_owned(), &["out.srcjar"][..]),
        (format!("{TRANSFORM} {legacy}"), &["out.srcjar"]),
        (format!("{TRANSFORM} b/Test3.kt"), &["out.srcjar"]),
        (GENERATE.to_owned(), &["out.json"]),
        (with(GENERATE, "--viewer-config", "out.pb"), &["out.pb"]),
        (format!("{GENERATE} --viewer-config-type json"), &["out.json"]),
        (with(GENERATE, "--viewer-config", "o.pb --viewer-config-type proto"), &["o.pb"]),
    ] {
        let (exit, system) = tool(&line, &jar);
        assert_eq!(exit, Exit::Done, "{line}: {}", system.errors());
        for output in outputs {
            assert!(system.files().contains_key(Path::new(output)), "{line}");
        }
    }
}

#[test]
fn what_aosp_refuses() {
    let mut rows = vec![
        (String::new(), "no command"),
        ("invalid".to_owned(), "no command `invalid`"),
        ("read-log --viewer-config".to_owned(), "no value for `--viewer-config`"),
        (with(TRANSFORM, "--protolog-class", "invalid"), "not a full class name"),
        (with(TRANSFORM, "--loggroups-class", "invalid"), "not a full class name"),
        (with(TRANSFORM, "--loggroups-jar", "invalid.txt"), "a jar's name ends with `.jar`"),
        (with(TRANSFORM, "--output-srcjar", "invalid.pb"), "ends with `.srcjar`"),
        (with(TRANSFORM, "--viewer-config-file-path", "invalid.json"), "ends with `.pb`"),
        (format!("{TRANSFORM} --legacy-viewer-config-file-path a.json"), "ends with `.json.gz`"),
        (format!("{TRANSFORM} --legacy-output-file-path a.log"), "ends with `.winscope`"),
        (format!("{TRANSFORM} invalid.py"), "`invalid.py` is neither a source nor a directory"),
        (format!("{TRANSFORM} --unknown test"), "unknown flag `--unknown`"),
        (format!("{TRANSFORM} --unknown"), "unknown flag `--unknown`"),
        (format!("{GENERATE} --output-srcjar a.srcjar"), "unknown flag `--output-srcjar`"),
        (format!("{GENERATE} --viewer-config-file-path a.pb"), "unknown flag"),
        (format!("{GENERATE} --legacy-output-file-path a.winscope"), "unknown flag"),
        (with(GENERATE, "--viewer-config", "invalid.yaml"), "`.pb`, `.json` or `.json.gz`"),
        (format!("{GENERATE} --viewer-config-type xml"), "use one of `proto`, `json`"),
        (
            "transform-protolog-calls --loggroups-class --loggroups-jar groups.jar".to_owned(),
            "no value for `--loggroups-class`",
        ),
        (without(GENERATE, "--viewer-config"), "--viewer-config"),
    ];
    for line in [TRANSFORM, GENERATE] {
        for flag in ["--protolog-class", "--loggroups-class", "--loggroups-jar"] {
            // The class has a default here.
            if flag != "--protolog-class" {
                rows.push((without(line, flag), flag));
            }
            rows.push((format!("{} {flag}", without(line, flag)), "no value for"));
        }
        rows.push((line.replace("a/Test1.java", "").replace("b/Test2.java", ""), "sources"));
    }
    rows.push((without(TRANSFORM, "--output-srcjar"), "--output-srcjar"));
    for flag in ["--protolog-class a.B", "--loggroups-class a.B", "--loggroups-jar b.jar"] {
        rows.push((format!("{TRANSFORM} {flag}"), "is given twice"));
    }
    for flag in ["--output-srcjar b.srcjar", "--viewer-config-file-path b.pb"] {
        rows.push((format!("{TRANSFORM} {flag}"), "is given twice"));
    }
    for (line, expected) in rows {
        let (exit, system) = tool(&line, b"never read");
        assert_eq!(exit, Exit::Failed, "{line}: {}", system.errors());
        assert!(system.errors().contains(expected), "{line}: {}", system.errors());
        assert_eq!(system.files().len(), 4, "{line}: something was written");
    }
}

/// AOSP's tool requires the path always; here it is only missed where there is a template to be
/// filled in.
#[test]
fn without_a_template_no_path_on_the_device_is_needed() {
    let Some(jar) = groups_jar() else { return };
    let line = without(TRANSFORM, "--viewer-config-file-path");
    assert_eq!(tool(&line, &jar).0, Exit::Done);
}
