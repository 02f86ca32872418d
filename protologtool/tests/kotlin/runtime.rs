//! A program against the real runtime: what it prints unprocessed, it prints processed, with its
//! groups on and off.

use crate::case::root;
use crate::compiler::{compile, compile_runtime, run};
use crate::trace::succeeded;
use protolog_testkit::{Output, run as run_tool, temp_dir, workspace_root};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::slice::from_ref;

const MAIN: &str = "\
fun main(args: Array<String>) = println(if (args[0] == \"before\") before.run() else after.run())
";

#[test]
fn a_program_prints_the_same_processed_and_unprocessed() {
    let dir = temp_dir();
    let (classes, out) = (dir.path().join("classes"), dir.path().join("out"));
    let dictionary = classes.join("META-INF/protolog/dictionary.pb");
    std::fs::create_dir_all(dictionary.parent().unwrap()).unwrap();
    let groups = root().join("tests/java_runtime/app/AppLog.java");
    let Some(()) = compile_runtime(&workspace_root().join("java/src"), &classes) else { return };
    let groups_output =
        protolog_testkit::compile_java(&classes, from_ref(&groups), from_ref(&classes));
    succeeded("javac", &groups_output.unwrap());

    let main = dir.path().join("Main.kt");
    std::fs::write(&main, MAIN).unwrap();
    let before = copy_app(&dir.path().join("before"), "before");
    copy_app(&dir.path().join("after"), "after");
    let mut tool = Command::new(env!("CARGO_BIN_EXE_protologtool"));
    tool.current_dir(dir.path()).args(["transform-protolog-calls", "--loggroups-class=app.AppLog"]);
    tool.arg("--loggroups-source").arg(&groups).arg("--viewer-config").arg(&dictionary);
    let said =
        run_tool(tool.arg("--output-dir").arg(&out).args(["--source-root", "."]).arg("after"));
    for line in said.stderr.lines().filter(|line| line.contains("stays as it is")) {
        assert!(line.contains("it passes on the template of calls of"), "{line}");
    }
    let after: Vec<PathBuf> =
        before.iter().map(|path| out.join("after").join(path.file_name().unwrap())).collect();
    let sources: Vec<PathBuf> = before.into_iter().chain(after).chain([main]).collect();
    // Sources of Java, too: Kotlin's call them.
    let Some(output) = compile(&sources, &classes) else { return };
    succeeded("kotlinc", &output);
    let of_java: Vec<PathBuf> = sources
        .into_iter()
        .filter(|path| path.extension().is_some_and(|it| it == "java"))
        .collect();
    let library = protolog_testkit::kotlin().unwrap().join("lib/kotlin-stdlib.jar");
    let path = [classes.clone(), library];
    succeeded("javac", &protolog_testkit::compile_java(&classes, &of_java, &path).unwrap());

    for (level, evaluations) in [("VERBOSE", ["3", "3"]), ("off", ["3", "0"])] {
        let [before, after] = ["before", "after"].map(|which| printed(&classes, level, which));
        assert_eq!(before.stderr, after.stderr, "at level {level}");
        assert_eq!(
            before.stderr.lines().count(),
            if level == "off" { 0 } else { 24 },
            "{}",
            before.stderr
        );
        assert_eq!([before.stdout.trim(), after.stdout.trim()], evaluations, "at level {level}");
    }
    let all = printed(&classes, "VERBOSE", "after").stderr;
    assert!(all.contains("ERROR Net: values -3 of example.org, 8 and null, 100%\n"), "{all}");
    assert!(all.contains("INFO Net: floats 0.1 0.1 0.100000 0.05 7.000000e+00\n"), "{all}");
    assert!(all.contains("VERBOSE Net: Host: one level deep: 7, c\n"), "{all}");
    assert!(all.contains("VERBOSE Net: java and Kotlin: from Java 4 of x\n"), "{all}");
}

/// Copies the program to `to`, as the package `package`; gives its files.
fn copy_app(to: &Path, package: &str) -> Vec<PathBuf> {
    std::fs::create_dir_all(to).unwrap();
    let files = std::fs::read_dir(root().join("tests/kotlin/app")).unwrap();
    let mut files: Vec<PathBuf> = files.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let copied = files.iter().map(|file| {
        let text = std::fs::read_to_string(file).unwrap();
        let path = to.join(file.file_name().unwrap());
        std::fs::write(&path, text.replace("package written", &format!("package {package}")))
            .unwrap();
        path
    });
    copied.collect()
}

fn printed(classes: &Path, level: &str, which: &str) -> Output {
    let output = run(classes, &[&format!("-Dprotolog.level={level}")], "MainKt", &[which]).unwrap();
    assert_eq!(output.code, Some(0), "{}", output.stderr);
    output
}
