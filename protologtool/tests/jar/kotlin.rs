//! Groups that Kotlin's compiler made classes of: the same from the evaluator as from a JVM.

use crate::fixture::{entries_of, fixtures, jar};
use protolog_testkit::{assert_eq_text, kotlin, run, temp_dir, tool};
use protologtool::groups::from_jar;
use std::fmt::Write;
use std::process::Command;
use zip::CompressionMethod;

#[test]
fn what_kotlinc_makes_is_evaluated() {
    let (Some(kotlin), Some(java)) = (kotlin(), tool("java")) else {
        return;
    };
    let directory = temp_dir();
    let classes = directory.path().join("classes");
    let sources = ["Groups.kt", "Main.kt"].map(|file| fixtures().join("kotlin").join(file));
    let mut compiler = Command::new(&java);
    compiler.arg("-cp").arg(kotlin.join("lib/kotlin-compiler.jar"));
    compiler.arg("org.jetbrains.kotlin.cli.jvm.K2JVMCompiler").arg("-kotlin-home").arg(&kotlin);
    run(compiler.args(&sources).arg("-d").arg(&classes));
    let jar = jar(&entries_of(&classes), CompressionMethod::Deflated);
    let mut found = String::new();
    for class in ["kt.Groups", "kt.Objects"] {
        for group in from_jar(&jar, class).unwrap_or_else(|error| panic!("{class}: {error}")).list()
        {
            let id = group.declared_id.expect("they have ids") as i32;
            let (enabled, text, tag) = (group.enabled, group.log_to_text, &group.tag);
            writeln!(found, "{} {enabled} {text} {id} {tag}", group.own_name).unwrap();
        }
    }
    let path = std::env::join_paths([classes, kotlin.join("lib/kotlin-stdlib.jar")]).unwrap();
    let printed = run(Command::new(java).arg("-cp").arg(path).arg("kt.MainKt"));
    assert_eq_text(&printed.stdout, &found);
}
