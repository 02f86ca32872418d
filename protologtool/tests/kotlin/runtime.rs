//! A program against the real runtime: what it prints unprocessed, it prints processed, with its groups on and off.

use crate::case::root;
use crate::compiler::{compile, compile_runtime, run};
use crate::trace::succeeded;
use protolog_testkit::{Output, run as run_tool, temp_dir, workspace_root};
use std::path::Path;
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

    let text = std::fs::read_to_string(root().join("tests/kotlin/app/Calls.kt")).unwrap();
    let write = |name: &str, text: &str| {
        let path = dir.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    };
    let before = write("Before.kt", &text.replace("package written", "package before"));
    write("After.kt", &text.replace("package written", "package after"));
    let main = write("Main.kt", MAIN);
    let mut tool = Command::new(env!("CARGO_BIN_EXE_protologtool"));
    tool.current_dir(dir.path()).args(["transform-protolog-calls", "--loggroups-class=app.AppLog"]);
    tool.arg("--loggroups-source").arg(&groups).arg("--viewer-config").arg(&dictionary);
    let said =
        run_tool(tool.arg("--output-dir").arg(&out).args(["--source-root", "."]).arg("After.kt"));
    assert_eq!(said.stderr, "", "nothing stays as it is");
    let Some(output) = compile(&[before, out.join("After.kt"), main], &classes) else { return };
    succeeded("kotlinc", &output);

    for (level, evaluations) in [("VERBOSE", ["1", "1"]), ("off", ["1", "0"])] {
        let [before, after] = ["before", "after"].map(|which| printed(&classes, level, which));
        assert_eq!(before.stderr, after.stderr, "at level {level}");
        assert_eq!(
            before.stderr.lines().count(),
            if level == "off" { 0 } else { 8 },
            "{}",
            before.stderr
        );
        assert_eq!([before.stdout.trim(), after.stdout.trim()], evaluations, "at level {level}");
    }
    let all = printed(&classes, "VERBOSE", "after").stderr;
    assert!(all.contains("ERROR Net: values -3 of example.org, 8 and null, 100%\n"), "{all}");
    assert!(all.contains("VERBOSE Net: Host: one level deep: 7, c\n"), "{all}");
}

fn printed(classes: &Path, level: &str, which: &str) -> Output {
    let output = run(classes, &[&format!("-Dprotolog.level={level}")], "MainKt", &[which]).unwrap();
    assert_eq!(output.code, Some(0), "{}", output.stderr);
    output
}
