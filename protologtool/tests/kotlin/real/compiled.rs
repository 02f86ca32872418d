//! The libraries of Kotlin, compiled from their sources with log calls in them; and programs that
//! run on what comes out.

use crate::case::root;
use crate::compiler::compile_runtime;
use crate::trace::{Traces, parse};
use protolog_testkit::{Output, javac, kotlin, kotlinc, run_any, tool};
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A library of Kotlin.
pub(super) struct Library {
    /// The name of its archive, without `-sources.jar`.
    pub(super) name: &'static str,
    /// The way in which it is compiled; none if its archive has not all that it needs.
    pub(super) build: Option<Build>,
}

/// The way in which a library is compiled, and what runs on it.
pub(super) struct Build {
    /// The jars that it needs, beside the API of log calls.
    jars: &'static [&'static str],
    options: &'static [&'static str],
    /// A file with a program that goes through much of it, and the class of its method `run`.
    program: (&'static str, &'static str),
}

/// The archive of kotlin-reflect lacks sources, and names classes as they are called before its
/// build renames them.
pub(super) const LIBRARIES: [Library; 4] = [
    Library {
        name: "kotlin-stdlib",
        build: Some(Build {
            jars: &["annotations-13.0"],
            options: &[
                // Its Java calls members by names with the module's in them.
                "-module-name",
                "kotlin-stdlib",
                "-Xstdlib-compilation",
                "-Xallow-returns-result-of",
            ],
            program: ("stdlib.kt", "demo.Program"),
        }),
    },
    Library {
        name: "kotlin-metadata-jvm",
        build: Some(Build {
            jars: &["kotlin-stdlib", "kotlin-compiler"],
            options: &["-opt-in=kotlin.metadata.ExperimentalContextReceivers"],
            program: ("metadata.kt", "demo.Program"),
        }),
    },
    Library {
        name: "kotlin-test",
        build: Some(Build {
            jars: &["kotlin-stdlib"],
            options: &[],
            program: ("test.kt", "kotlin.test.Program"),
        }),
    },
    Library { name: "kotlin-reflect", build: None },
];

/// The options of Kotlin's own build that all of them need: the sources use what is not a part of
/// the language yet.
const OPTIONS: [&str; 9] = [
    "-nowarn",
    "-no-stdlib",
    "-no-reflect",
    "-Xallow-kotlin-package",
    "-Xmulti-platform",
    "-Xexpect-actual-classes",
    "-Xreturn-value-checker=full",
    "-Xname-based-destructuring=only-syntax",
    "-opt-in=kotlin.contracts.ExperimentalContracts,kotlin.ExperimentalMultiplatform",
];

impl Build {
    /// Compiles the sources below `sources` and the program, with the API of log calls, and runs
    /// the program with the guard on and off: what is logged, with `dictionary` for processed
    /// calls. None without a compiler.
    pub(super) fn trace(&self, sources: &Path, dictionary: &str) -> Option<Traces> {
        let classes = sources.join("classes");
        compile_runtime(&root().join("tests/java/runtime"), &classes)?;
        let lib = kotlin()?.join("lib");
        let jars = self.jars.iter().map(|jar| lib.join(format!("{jar}.jar")));
        // Beside the sources are the names of what is loaded by name.
        let path = [classes.clone(), sources.to_path_buf()].into_iter().chain(jars);
        let path = std::env::join_paths(path).unwrap();
        let (program, main) = self.program;
        let program = root().join("tests/kotlin/real/programs").join(program);
        fs::copy(program, sources.join("Program.kt")).unwrap();
        let list = sources.join("arguments");
        fs::write(&list, arguments(sources)).unwrap();
        let mut kotlinc = kotlinc()?;
        kotlinc.args(OPTIONS).args(self.options).arg("-cp").arg(&path).arg("-d").arg(&classes);
        compiled(&run_any(kotlinc.arg(format!("@{}", list.display()))));
        // kotlinc only reads what is written in Java.
        let java: Vec<PathBuf> =
            files(sources).into_iter().filter(|path| has_end(path, "java")).collect();
        if !java.is_empty() {
            let mut javac = javac()?;
            javac.args(["-nowarn", "-proc:none", "-implicit:none"]);
            compiled(&run_any(javac.arg("-cp").arg(&path).arg("-d").arg(&classes).args(java)));
        }
        let messages = classes.join("messages.tsv");
        fs::write(&messages, dictionary).unwrap();
        let mut java = Command::new(tool("java")?);
        java.arg("-Dtrace.text=true").arg("-cp").arg(path).arg("demo.RunAll");
        Some(parse(&run_any(java.arg(messages).arg(main)), 1))
    }
}

#[track_caller]
fn compiled(output: &Output) {
    let start: Vec<&str> = output.stderr.lines().take(40).collect();
    assert_eq!(output.code, Some(0), "{}", start.join("\n"));
}

/// The arguments for the sources below `root`, one a line: all, and which of them are for all
/// platforms.
fn arguments(root: &Path) -> String {
    let files = files(root);
    let is_common = |path: &Path| path.to_string_lossy().contains("ommonMain/");
    let mut lines = String::new();
    if files.iter().any(|path| is_common(path)) {
        lines.push_str("-Xfragments=common,jvm\n-Xfragment-refines=jvm:common\n");
        for path in files.iter().filter(|path| has_end(path, "kt")) {
            let part = if is_common(path) { "common" } else { "jvm" };
            let _ = writeln!(lines, "-Xfragment-sources={part}:{}", path.display());
        }
    }
    for path in files {
        let _ = writeln!(lines, "{}", path.display());
    }
    lines
}

/// The Kotlin and Java files below `root`, sorted.
fn files(root: &Path) -> Vec<PathBuf> {
    let (mut files, mut open) = (Vec::new(), vec![root.to_path_buf()]);
    while let Some(dir) = open.pop() {
        for entry in fs::read_dir(&dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else if has_end(&path, "kt") || has_end(&path, "java") {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}

fn has_end(path: &Path, end: &str) -> bool {
    path.extension().is_some_and(|extension| extension == end)
}
