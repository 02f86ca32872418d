//! Groups of all shapes: the same from the evaluator as from a JVM, whatever release javac compiled
//! for.

use crate::fixture::{RELEASES, compiled, fixtures, jar, table};
use protolog_testkit::{assert_eq_text, expect_file, run_java};
use protologtool::groups::{Group, from_jar};
use zip::CompressionMethod;

/// The classes with groups among the fixtures.
const CLASSES: [&str; 8] = [
    "com.android.internal.protolog.WmProtoLogGroups",
    "com.android.wm.shell.protolog.ShellProtoLogGroup",
    "shapes.Objects",
    "shapes.Bodies",
    "shapes.Outer$Mid$dle$Groups",
    "shapes.Computed",
    "shapes.KotlinLike",
    "shapes.Unrelated",
];

#[test]
fn the_evaluator_finds_what_a_jvm_finds() {
    let Some(compiled) = compiled() else { return };
    let mut found = Vec::new();
    let mut arguments = Vec::new();
    for release in RELEASES {
        let jar = compiled.jar(release);
        for class in CLASSES {
            let groups = from_jar(&jar, class).unwrap_or_else(|error| panic!("{class}: {error}"));
            found.push(table(&groups));
            arguments
                .extend([format!("{}/", compiled.classes(release).display()), class.to_owned()]);
        }
    }
    let one_release = found.len() / RELEASES.len();
    for release in found.chunks(one_release) {
        assert_eq_text(&found[..one_release].concat(), &release.concat());
    }
    expect_file(&fixtures().join("expected.txt"), &found[..one_release].concat());
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let classpath = [compiled.classes("oracle"), compiled.classes("outside")];
    let Some(jvm) = run_java(&classpath, "PrintGroups", &arguments) else { return };
    assert_eq!(jvm.code, Some(0), "{}", jvm.stderr);
    assert_eq_text(&jvm.stdout, &found.concat());
}

#[test]
fn aosp_ids_are_the_ones_that_android_has() {
    let Some(compiled) = compiled() else { return };
    let jar = compiled.jar("17");
    let ids = |class| {
        let groups = from_jar(&jar, class).unwrap();
        let id = |group: &Group| group.declared_id.unwrap() as i32;
        groups.list().iter().map(id).collect::<Vec<_>>()
    };
    let start = -1752631416;
    assert_eq!(ids(CLASSES[0]), (start..start + 5).collect::<Vec<_>>());
    assert_eq!(ids(CLASSES[1]), (373596902..373596906).collect::<Vec<_>>());
    assert_eq!(ids(CLASSES[2])[..2], [-834443150, 1841070369]);
}

#[test]
fn what_the_groups_do_not_need_may_be_missing() {
    let Some(compiled) = compiled() else { return };
    let mut entries = compiled.entries("17");
    entries.retain(|(name, _)| {
        name.contains("WmProtoLogGroups")
            || name.contains("Groups$Consts") && !name.contains("IProto")
    });
    assert_eq!(entries.len(), 2, "the enum and its constants, not the interface");
    let groups = from_jar(&jar(&entries, CompressionMethod::Stored), CLASSES[0]).unwrap();
    assert_eq!(groups.list().len(), 5);
}

#[test]
fn nested_classes_are_found_by_either_name() {
    let Some(compiled) = compiled() else { return };
    let jar = compiled.jar("17");
    let binary = from_jar(&jar, "shapes.Outer$Mid$dle$Groups").unwrap();
    let canonical = from_jar(&jar, "shapes.Outer.Mid$dle.Groups").unwrap();
    assert_eq!(binary, canonical);
    assert_eq!(binary.class(), "shapes.Outer.Mid$dle.Groups");
}
