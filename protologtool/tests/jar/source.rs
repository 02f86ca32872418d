//! The same groups from a class's source and from its class file.

use crate::fixture::{compiled, fixtures};
use protologtool::groups::{Group, from_jar, from_java_source};
use protologtool::source::Source;
use std::fs;

/// Where the source is, and the class.
const CLASSES: [(&str, &str); 4] = [
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
        let without_ids = |groups: &[Group]| {
            let plain = |group: &Group| Group { declared_id: None, ..group.clone() };
            groups.iter().map(plain).collect::<Vec<_>>()
        };
        assert_eq!(without_ids(from_source.list()), without_ids(from_jar.list()), "{class}");
        // An id that is computed by `java.util.UUID` may be unknown from source, but never be another one.
        for (source, jar) in from_source.list().iter().zip(from_jar.list()) {
            assert!(
                source.declared_id.is_none() || source.declared_id == jar.declared_id,
                "{}",
                jar.name
            );
        }
    }
}
