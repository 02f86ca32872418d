//! The same groups from a class's source and from its class file.

use crate::fixture::{compiled, fixtures};
use protologtool::groups::from_jar;
use protologtool::lang::java::groups::from_java_source;
use protologtool::source::Source;
use std::fs;

/// Where the source is, and the class.
const CLASSES: [(&str, &str); 7] = [
    (
        "aosp/com/android/internal/protolog/WmProtoLogGroups.java",
        "com.android.internal.protolog.WmProtoLogGroups",
    ),
    (
        "aosp/com/android/wm/shell/protolog/ShellProtoLogGroup.java",
        "com.android.wm.shell.protolog.ShellProtoLogGroup",
    ),
    ("both/both/Plain.java", "both.Plain"),
    ("both/both/Nested.java", "both.Nested$Groups"),
    ("both/both/Ids.java", "both.Ids$Groups"),
    ("both/both/Objects.java", "both.Objects"),
    ("shapes/shapes/Objects.java", "shapes.Objects"),
];

#[test]
fn source_and_jar_give_the_same_groups() {
    let Some(compiled) = compiled() else { return };
    let jar = compiled.jar("17");
    for (path, class) in CLASSES {
        let path = fixtures().join(path);
        let source = Source::new(&path, fs::read(&path).unwrap());
        let from_source = from_java_source(&source, class);
        let from_source = from_source.unwrap_or_else(|problems| panic!("{class}: {problems:#?}"));
        let from_jar = from_jar(&jar, class).unwrap_or_else(|error| panic!("{class}: {error}"));
        assert_eq!(from_source.class(), from_jar.class());
        assert_eq!(from_source.list(), from_jar.list(), "{class}");
        let known = from_source.list().iter().filter(|group| group.declared_id.is_some()).count();
        assert_eq!(known > 0, !class.ends_with("Plain") && !class.contains("Nested"), "{class}");
    }
}

#[test]
fn android_knows_objects_by_what_they_call_themselves() {
    let path = fixtures().join("both/both/Objects.java");
    let source = Source::new(&path, fs::read(&path).unwrap());
    let groups = from_java_source(&source, "both.Objects")
        .unwrap()
        .for_android(protologtool::groups::GroupNumbers::Declared)
        .unwrap();
    let names: Vec<_> =
        groups.list().iter().map(|it| (it.name.as_str(), it.full_name.as_str())).collect();
    assert_eq!(names, [("NET", "Obj.net"), ("DISK", "disk"), ("QUIET", "quiet")]);
}
