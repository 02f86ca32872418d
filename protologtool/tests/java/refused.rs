//! The errors of javac for rewritten calls whose arguments have other types than the template wants.

use crate::case::{here, rewritten};
use protolog_testkit::{compile_java, java_sources, temp_dir};
use protologtool::source::Source;
use std::fmt::Write;

#[test]
fn javac_refuses_arguments_of_other_types() {
    let calls = [
        ("%d", "1", true),
        ("%d", "'c'", true),
        ("%d", "(byte) 1", true),
        ("%d", "1.5", false),
        ("%d", "1.5f", false),
        ("%d", "true", false),
        ("%d", "\"x\"", false),
        ("%d", "new Object()", false),
        ("%d", "hashCode() > 0 ? 1.5 : 2", false),
        ("%d", "hashCode() > 0 ? 1 : toString()", false),
        ("%d", "switch (hashCode()) { case 0 -> 1; default -> true; }", false),
        ("%f", "1", true),
        ("%f", "1.5f", true),
        ("%f", "false", false),
        ("%f", "\"x\"", false),
        ("%b", "true", true),
        ("%b", "1", false),
        ("%b", "\"x\"", false),
        ("%s", "1", true),
        ("%s", "new int[0]", true),
    ];
    let mut text = "package demo; class A {".to_owned();
    for (number, (template, argument, _)) in calls.iter().enumerate() {
        let call = format!("dev.protolog.ProtoLog.d(AppLog.NET, \"{template}\", {argument});");
        let _ = write!(text, "\nvoid f{number}() {{ {call} }}");
    }
    let after = rewritten(Source::new("A.java", (text + "\n}").into_bytes())).unwrap();
    let directory = temp_dir();
    let file = directory.path().join("A.java");
    std::fs::write(&file, after).unwrap();
    let sources = [java_sources(&here().join("runtime")), vec![file]].concat();
    let Some(compiled) = compile_java(&directory.path().join("out"), &sources, &[]) else { return };
    for (number, (template, argument, fits)) in calls.iter().enumerate() {
        let refused = compiled.stderr.contains(&format!("A.java:{}: error", number + 2));
        assert_eq!(refused, !fits, "{argument} for {template}:\n{}", compiled.stderr);
    }
}
