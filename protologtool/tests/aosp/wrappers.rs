//! Functions that pass templates on, in a program of several files in Java and Kotlin: compiled and
//! run with the guard on and off, as it is and rewritten for each release, it leaves the same
//! texts.

use crate::case::{Release, fixtures};
use crate::compiler::{compile, run as run_kotlin};
use crate::rule::jar;
use crate::trace::{Traces, line, parse, succeeded};
use protolog_testkit::{Output, compile_java, java_sources, kotlin, run_any, temp_dir};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use viewer_config::Dictionary;

/// The classes that are run. The methods of Java's own are refused for Android 15.
const CLASSES: [&str; 4] = ["Calls", "KotlinCalls", "Instances", "OwnCalls"];
const OF_JAVA: [&str; 3] = ["Instances.java", "Logs.java", "OwnCalls.java"];

/// The program in a package of its own, so that all are compiled in one run.
struct Program {
    package: &'static str,
    /// The sources to compile.
    sources: Vec<PathBuf>,
    /// The class that rewritten code calls, or `-`.
    implementation: String,
    /// The messages of the dictionary.
    messages: String,
}

/// The sources of a release, or all, copied to `root` as those of a package: their paths below it.
fn copy(root: &Path, package: &str, release: Option<Release>) -> Vec<PathBuf> {
    let files = fs::read_dir(fixtures().join("wrappers")).unwrap();
    let mut files: Vec<PathBuf> = files.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let is_refused = |path: &PathBuf| {
        let name = path.file_name().unwrap().to_str().unwrap();
        release == Some(Release::Android15) && OF_JAVA.contains(&name)
    };
    files.retain(|path| !is_refused(path));
    let directory = Path::new("demo").join(package);
    fs::create_dir_all(root.join(&directory)).unwrap();
    let copied = files.iter().map(|path| {
        let to = directory.join(path.file_name().unwrap());
        let text = fs::read_to_string(path).unwrap();
        let text = text.replace("package demo.wrappers", &format!("package demo.{package}"));
        fs::write(root.join(&to), text).unwrap();
        to
    });
    copied.collect()
}

/// The tool's run over the sources below `root`, to `out` and a dictionary.
fn transform(root: &Path, release: Release, sources: &[PathBuf]) -> Option<Output> {
    let groups = jar(&fixtures().join("framework/demo/Groups.java"))?;
    fs::write(root.join("groups.jar"), groups).unwrap();
    let template = fixtures().join(release.name()).join("ProtoLogImpl.java");
    let mut tool = Command::new(env!("CARGO_BIN_EXE_protologtool"));
    tool.current_dir(root).args(["transform-protolog-calls", "--dialect", release.name()]);
    tool.args(["--protolog-class", "com.android.internal.protolog.ProtoLog"]);
    tool.args(["--loggroups-class", "demo.Groups", "--loggroups-jar", "groups.jar"]);
    tool.arg("--protolog-impl-template").arg(template);
    tool.args(["--viewer-config-file-path", "/etc/x.pb", "--viewer-config", "out.pb"]);
    Some(run_any(tool.args(["--output-dir", "out"]).args(sources)))
}

/// The program, rewritten for a release below `root`.
fn rewritten(root: &Path, release: Release) -> Option<Program> {
    let package = match release {
        Release::Android17 => "android17",
        Release::Android16 => "android16",
        Release::Android15 => "android15",
    };
    let sources = copy(root, package, Some(release));
    let output = transform(root, release, &sources)?;
    assert_eq!(output.code, Some(0), "{package}: {}", output.stderr);
    assert_eq!(notes(&output, package), expected_notes(release), "{package}");
    let out = root.join("out");
    let generated = java_sources(&out.join("gen"));
    let class = generated[0].file_stem().unwrap().to_str().unwrap();
    let implementation = format!("com.android.internal.protolog.{class}");
    let dictionary = fs::read(root.join("out.pb")).unwrap();
    let dictionary = Dictionary::read(&dictionary).unwrap().dictionary;
    let messages = dictionary.messages().iter().map(line).collect();
    let sources = sources.iter().map(|path| out.join(path)).chain(generated).collect();
    Some(Program { package, sources, implementation, messages })
}

/// Compiles programs into `classes`. None without the compilers.
fn compile_all(programs: &[Program], classes: &Path) -> Option<()> {
    let framework = java_sources(&fixtures().join("framework"));
    succeeded("javac", &compile_java(classes, &framework, &[])?);
    let all: Vec<PathBuf> = programs.iter().flat_map(|it| it.sources.iter().cloned()).collect();
    succeeded("kotlinc", &compile(&all, classes)?);
    let of_java: Vec<PathBuf> =
        all.into_iter().filter(|path| path.extension().unwrap() == "java").collect();
    let path = [classes.to_path_buf(), kotlin()?.join("lib/kotlin-stdlib.jar")];
    succeeded("javac", &compile_java(classes, &of_java, &path)?);
    Some(())
}

/// Runs the classes `names` of a program, by these names.
fn traces(program: &Program, names: &[&str], classes: &Path) -> Option<Traces> {
    let Program { package, implementation, messages, .. } = program;
    let file = classes.join("messages.tsv");
    fs::write(&file, messages).unwrap();
    let names: Vec<String> = names.iter().map(|name| format!("demo.{package}.{name}")).collect();
    let names = names.iter().map(String::as_str);
    let args: Vec<&str> =
        [file.to_str().unwrap(), implementation].into_iter().chain(names).collect();
    let output = run_kotlin(classes, &["-Dtrace.text=true"], "demo.RunAll", &args)?;
    let traces = parse(&output, args.len() - 2).into_iter();
    Some(
        traces
            .map(|(state, lines)| (state.replace(&format!("demo.{package}."), ""), lines))
            .collect(),
    )
}

#[test]
fn a_program_of_several_files_leaves_the_same_texts() {
    let root = temp_dir();
    let sources = copy(root.path(), "unprocessed", None);
    let sources = sources.iter().map(|path| root.path().join(path)).collect();
    let (implementation, messages) = ("-".to_owned(), String::new());
    let mut programs = vec![Program { package: "unprocessed", sources, implementation, messages }];
    for release in Release::ALL {
        let directory = root.path().join(release.name());
        fs::create_dir(&directory).unwrap();
        let Some(program) = rewritten(&directory, release) else { return };
        programs.push(program);
    }
    let classes = temp_dir();
    let Some(()) = compile_all(&programs, classes.path()) else { return };
    let expected = traces(&programs[0], &CLASSES, classes.path()).unwrap();
    for (program, release) in programs[1..].iter().zip(Release::ALL) {
        let names = &CLASSES[..if release == Release::Android15 { 2 } else { CLASSES.len() }];
        let actual = traces(program, names, classes.path()).unwrap();
        for (state, lines) in &actual {
            // A guard that is off leaves no effects of arguments, but for calls that stay as they
            // are.
            let shown = |lines: &[String]| -> Vec<String> {
                let is_shown = |line: &&String| state.ends_with(" on") || !line.starts_with("arg ");
                lines.iter().filter(is_shown).cloned().collect()
            };
            assert_eq!(shown(&expected[state]), shown(lines), "{state}, {}", program.package);
            assert!(!lines.is_empty(), "{state}, {}", program.package);
        }
    }
}

/// Android 15's runtime throws at a log call that stays as it is, and AOSP's tool refuses it; both
/// runs that a rule consists of do.
#[test]
fn java_methods_that_pass_templates_on_are_refused_for_android_15() {
    let root = temp_dir();
    let sources = copy(root.path(), "wrappers", None);
    let Some(output) = transform(root.path(), Release::Android15, &sources) else { return };
    assert_eq!(output.code, Some(1), "{}", output.stderr);
    for line in [8, 10, 12] {
        assert!(output.stderr.contains(&format!("demo/wrappers/Logs.java:{line}:")), "{line}");
    }
    let mut tool = Command::new(env!("CARGO_BIN_EXE_protologtool"));
    tool.current_dir(root.path()).args(["generate-viewer-config", "--dialect", "android-15"]);
    tool.args(["--protolog-class", "com.android.internal.protolog.ProtoLog"]);
    tool.args(["--loggroups-class", "demo.Groups", "--loggroups-jar", "groups.jar"]);
    let generated = run_any(tool.args(["--viewer-config", "other.pb"]).args(sources));
    assert_eq!((generated.code, &generated.stderr), (Some(1), &output.stderr));
}

/// The calls that stay as they are, by file and line.
fn notes<'o>(output: &'o Output, package: &str) -> Vec<(&'o str, usize)> {
    let notes = output.stderr.lines().filter(|line| line.contains(" this call stays as it is"));
    notes.map(|line| place(line, package).unwrap()).collect()
}

fn place<'n>(note: &'n str, package: &str) -> Option<(&'n str, usize)> {
    let mut parts = note.strip_prefix(&format!("demo/{package}/"))?.split(':');
    Some((parts.next()?, parts.next()?.parse().ok()?))
}

/// The same, known: calls within the functions themselves, and calls of them whose tag, template or
/// number of arguments is not known.
fn expected_notes(release: Release) -> Vec<(&'static str, usize)> {
    let all = [
        ("Bubbles.kt", vec![13]),
        ("Calls.kt", vec![12, 19]),
        ("Desktop.kt", vec![29, 33, 39]),
        ("Instances.java", vec![15, 17, 21, 27, 29, 40, 42, 53, 58]),
        ("KotlinCalls.java", vec![9, 13]),
        ("Logs.java", vec![8, 10, 12]),
        ("OwnCalls.java", vec![17, 19, 21]),
        ("Wrappers.kt", vec![8, 10, 13, 17, 21]),
    ];
    let is_of = |name: &str| release != Release::Android15 || !OF_JAVA.contains(&name);
    let all = all.into_iter().filter(|(name, _)| is_of(name));
    all.flat_map(|(name, lines)| lines.into_iter().map(move |line| (name, line))).collect()
}
