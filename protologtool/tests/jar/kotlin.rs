//! Groups that kotlinc compiled, where it is installed: the same from the evaluator as from a JVM.

use crate::fixture::{entries_of, fixtures, jar};
use protolog_testkit::{assert_eq_text, run, skip, temp_dir};
use protologtool::groups::from_jar;
use std::fmt::Write;
use std::process::Command;
use zip::CompressionMethod;

#[test]
fn what_kotlinc_makes_is_evaluated() {
    let has = |tool| Command::new(tool).arg("-version").output().is_ok();
    if !has("kotlinc") || !has("kotlin") {
        skip("groups that kotlinc compiled", "the package kotlin is not installed");
        return;
    }
    let directory = temp_dir();
    let classes = directory.path().join("classes");
    let sources = ["Groups.kt", "Main.kt"].map(|file| fixtures().join("kotlin").join(file));
    run(Command::new("kotlinc").args(&sources).arg("-d").arg(&classes));
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
    let printed = run(Command::new("kotlin").arg("-cp").arg(&classes).arg("kt.MainKt"));
    assert_eq_text(&printed.stdout, &found);
}
