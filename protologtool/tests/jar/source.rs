//! The same groups from a class's source and from its class file.

use crate::fixture::{compiled, fixtures};
use protologtool::groups::{Group, from_jar, from_java_source};
use protologtool::source::Source;
use std::fs;

/// Enums whose source alone says what their groups are.
const CLASSES: [&str; 2] = [
    "com.android.internal.protolog.WmProtoLogGroups",
    "com.android.wm.shell.protolog.ShellProtoLogGroup",
];

#[test]
fn source_and_jar_give_the_same_groups() {
    let Some(compiled) = compiled() else { return };
    let jar = compiled.jar("17");
    for class in CLASSES {
        let path = fixtures().join("aosp").join(format!("{}.java", class.replace('.', "/")));
        let source = Source::new(&path, fs::read(&path).unwrap());
        let from_source =
            from_java_source(&source, class).unwrap_or_else(|problems| panic!("{problems:?}"));
        let from_jar = from_jar(&jar, class).unwrap();
        let known = |groups: &[Group]| groups.to_vec();
        assert_eq!(known(from_source.list()), known(from_jar.list()), "{class}");
    }
}
