//! The expectations of AOSP's own tests, and the observed behaviour of its tool: pinned by hand.

use crate::case::{CLASS, errors as count_errors, settings, shown};
use protologtool::groups::{Group, GroupNumbers, Groups};
use protologtool::lang::jvm::dialect::{Android, Guard};
use protologtool::pipeline::{Processed, process_source};
use protologtool::source::Source;

fn groups(class: &str) -> Groups {
    let group = |name, enabled| Group::new(class, name, enabled, false, format!("TAG_{name}"));
    let list = vec![
        group("GROUP", true),
        group("TEST_GROUP", true),
        group("TEST", true),
        group("OFF", false),
    ];
    Groups::new(class, list).unwrap().for_android(GroupNumbers::Declared).unwrap()
}

fn process(form: Android, groups: Groups, path: &str, text: &str) -> Processed {
    process_source(&settings(form, groups), Source::new(path, text.as_bytes().to_vec()))
}

/// The statement as it becomes, between the braces of a method.
fn rewritten(form: Android, statement: &str) -> String {
    let head = "package org.example;\n\
        import com.android.internal.protolog.ProtoLog;\nimport com.x.Groups;\n\
        import static com.android.internal.protolog.ProtoLog.v;\n\
        import static com.x.Groups.*;\n\
        class Example { void f(Object obj, int x, double y, boolean f, String s) { ";
    let text = format!("{head}{statement} }} }}");
    let processed = process(form, groups("com.x.Groups"), "Example.java", &text);
    assert_eq!(count_errors(&processed), 0, "{}", shown(&processed));
    let after = String::from_utf8(processed.rewritten.unwrap_or(text.into_bytes())).unwrap();
    after.strip_prefix(head).unwrap().strip_suffix(" } }").unwrap().replace(CLASS, "I")
}

#[test]
fn android_17_writes() {
    for (statement, expected) in [
        (
            r#"ProtoLog.i(GROUP, "hello");"#,
            "if (I.Cache.GROUP_enabled[2]) {  I.i(GROUP, 8054021367012408145L, 0L, (Object[]) null); }",
        ),
        (
            r#"ProtoLog.w(GROUP, "a " + "b %s", obj);"#,
            "if (I.Cache.GROUP_enabled[3]) {  String protoLogParam0 = String.valueOf(obj);  I.w(GROUP, -4000511695568881638L, 0L, protoLogParam0); }",
        ),
        (
            r#"ProtoLog.e(Groups.GROUP, "x=%d y=%f", x, y);"#,
            "if (I.Cache.GROUP_enabled[4]) {  long protoLogParam0 = x;  double protoLogParam1 = y;  I.e(Groups.GROUP, -2162539104008457997L, 9L, protoLogParam0, protoLogParam1); }",
        ),
        (
            r#"v(GROUP, "flag %b", f);"#,
            "if (I.Cache.GROUP_enabled[0]) {  boolean protoLogParam0 = f;  I.v(GROUP, -4861674863061616189L, 3L, protoLogParam0); }",
        ),
        (
            r#"com.android.internal.protolog.ProtoLog.wtf(com.x.Groups.GROUP, "line1\nline2 %s", s);"#,
            "if (I.Cache.GROUP_enabled[5]) {  String protoLogParam0 = String.valueOf(s);  I.wtf(com.x.Groups.GROUP, -5438990684176171792L, 0L, protoLogParam0); }",
        ),
        (
            "ProtoLog.i(GROUP,\n   \"hello\");",
            "if (I.Cache.GROUP_enabled[2]) {  I.i(GROUP, 8054021367012408145L, 0L, (Object[]) null);\n}",
        ),
        (
            r#"ProtoLog.d(GROUP, "Example: %s %d", s, x);"#,
            "if (I.Cache.GROUP_enabled[1]) {  String protoLogParam0 = String.valueOf(s);  long protoLogParam1 = x;  I.d(GROUP, -6872339441335321086L, 4L, protoLogParam0, protoLogParam1); }",
        ),
        (
            "if (ProtoLog.isEnabled(GROUP, LogLevel.DEBUG)) {}",
            "if (I.isEnabled(GROUP, LogLevel.DEBUG)) {}",
        ),
        ("ProtoLog.init(Groups.values());", "ProtoLog.init(Groups.values());"),
        ("ProtoLog.initAsync(Groups.values());", "ProtoLog.initAsync(Groups.values());"),
        (
            "ProtoLog.registerLogGroupInProcess(GROUP);",
            "ProtoLog.registerLogGroupInProcess(GROUP);",
        ),
        ("// ProtoLog.d(GROUP, \"x\");\n", "// ProtoLog.d(GROUP, \"x\");\n"),
    ] {
        assert_eq!(rewritten(Android::ANDROID_17, statement), expected);
    }
    let off = rewritten(Android::ANDROID_17, r#"ProtoLog.d(OFF, "hello");"#);
    assert!(off.starts_with("if (I.Cache.OFF_enabled[1]) {  I.d(OFF, "), "{off}");
}

#[test]
fn android_15_writes() {
    for (statement, expected) in [
        (
            r#"ProtoLog.i(GROUP, "hello");"#,
            "{ I.i(GROUP, 8054021367012408145L, 0, null, (Object[]) null); }",
        ),
        (
            r#"ProtoLog.d(GROUP, "Example: %s %d", s, x);"#,
            "{ String protoLogParam0 = String.valueOf(s); long protoLogParam1 = x; I.d(GROUP, -6872339441335321086L, 4, null, protoLogParam0, protoLogParam1); }",
        ),
        (
            "ProtoLog.i(GROUP,\n   \"hello\");",
            "{ I.i(GROUP, 8054021367012408145L, 0, null, (Object[]) null); \n}",
        ),
    ] {
        assert_eq!(rewritten(Android::ANDROID_15, statement), expected);
    }
}

/// Android 16, and between the releases: a guard without a long mask, and the guard that asks a
/// method.
#[test]
fn forms_of_other_releases() {
    let asking = Android { guard: Guard::IsEnabled, ..Android::ANDROID_15 };
    assert_eq!(
        rewritten(asking, r#"ProtoLog.i(Groups.GROUP, "hello");"#),
        "if (I.isEnabled(Groups.GROUP)) { I.i(Groups.GROUP, 8054021367012408145L, 0, null, (Object[]) null); }"
    );
    let after = rewritten(Android::ANDROID_16, r#"ProtoLog.i(GROUP, "%d", x);"#);
    assert!(after.ends_with("L, 1, protoLogParam0); }"), "{after}");
}

/// The file that AOSP's test of its transformer uses. Its place has no package there, which only
/// the ids show.
#[test]
fn the_transformer_test() {
    let text = |calls: &str| {
        format!(
            "package org.example; import com.android.internal.protolog.ProtoLog; import static com.x.Groups.TEST_GROUP;\n\
            class Test {{ void test() {{ {calls} }} }}"
        )
    };
    for (call, expected) in [
        (
            r#"ProtoLog.w(TEST_GROUP, "test %d %f", 100, 0.1);"#,
            "if (I.Cache.TEST_GROUP_enabled[3]) {  long protoLogParam0 = 100;  double protoLogParam1 = 0.1;  I.w(TEST_GROUP, <id>L, 9L, protoLogParam0, protoLogParam1); }",
        ),
        (
            r#"/* ProtoLog.w(TEST_GROUP, "test", 1); */ ProtoLog.w(TEST_GROUP, "test");"#,
            r#"/* ProtoLog.w(TEST_GROUP, "test", 1); */ if (I.Cache.TEST_GROUP_enabled[3]) {  I.w(TEST_GROUP, <id>L, 0L, (Object[]) null); }"#,
        ),
        (
            "ProtoLog.w(TEST_GROUP, \"test %d %f \" +\n    \"abc %s\\n test\",\n    100, 0.1, \"test\");",
            "if (I.Cache.TEST_GROUP_enabled[3]) {  long protoLogParam0 = 100;  double protoLogParam1 = 0.1;  String protoLogParam2 = String.valueOf(\"test\");  I.w(TEST_GROUP, <id>L, 9L, protoLogParam0, protoLogParam1, protoLogParam2);\n\n}",
        ),
        (
            "ProtoLog.w(TEST_GROUP, \"\"\"\ntest %d %f\nabc %s\ntest\"\"\",\n100, 0.1, \"test\");",
            "if (I.Cache.TEST_GROUP_enabled[3]) {  long protoLogParam0 = 100;  double protoLogParam1 = 0.1;  String protoLogParam2 = String.valueOf(\"test\");  I.w(TEST_GROUP, <id>L, 9L, protoLogParam0, protoLogParam1, protoLogParam2);\n\n\n\n}",
        ),
    ] {
        let processed =
            process(Android::ANDROID_17, groups("com.x.Groups"), "Test.java", &text(call));
        let id = processed.messages[0].id as i64;
        let after = String::from_utf8(processed.rewritten.unwrap()).unwrap();
        assert_eq!(
            after,
            text(&expected.replace("<id>", &id.to_string())).replace("I.", &format!("{CLASS}."))
        );
    }
    let numbers: Vec<String> = (0..20).map(|n| n.to_string()).collect();
    let call =
        format!("ProtoLog.w(TEST_GROUP, \"test{}\", {});", " %d".repeat(20), numbers.join(", "));
    let processed = process(Android::ANDROID_17, groups("com.x.Groups"), "Test.java", &text(&call));
    let after = String::from_utf8(processed.rewritten.unwrap()).unwrap();
    assert!(after.contains("L, 366503875925L, protoLogParam0, "), "{after}");
    let processed = process(Android::ANDROID_15, groups("com.x.Groups"), "Test.java", &text(&call));
    assert!(shown(&processed).contains("20 arguments: rewritten code of this dialect can pass 16"));
}

/// Processes a class with these imports and this statement, and counts its calls and its errors.
#[track_caller]
fn counts(imports: &str, statement: &str, calls: usize, errors: usize) {
    let text =
        format!("package org.example; {imports} class Test {{ void f() {{ {statement} }} }}");
    count(groups("com.x.Groups"), &text, calls, errors);
}

#[track_caller]
fn count(groups: Groups, text: &str, calls: usize, errors: usize) {
    let processed = process(Android::ANDROID_17, groups, "MyTestFile.java", text);
    let found = processed.report.as_ref().map_or(0, protologtool::diagnostic::Report::errors);
    assert_eq!((processed.messages.len(), found), (calls, errors), "{text}\n{}", shown(&processed));
    assert_eq!(processed.rewritten.is_some(), calls > 0, "{text}");
}

const PROTOLOG: &str = "import com.android.internal.protolog.ProtoLog;";

#[test]
fn imports_that_count() {
    let near = "package com.android.internal.protolog; class Test { void f() { \
        ProtoLog.d(Groups.TEST, \"test %b\", true); ProtoLog.e(Groups.TEST, \"error %d\", 1); } }";
    count(groups("com.android.internal.protolog.Groups"), near, 2, 0);
    let (named, plain) = (r#"ProtoLog.d(Groups.TEST, "x");"#, r#"d(TEST, "x");"#);
    counts("import com.android.internal.protolog.*; import com.x.*;", named, 1, 0);
    let group = "import static com.x.Groups.TEST;";
    let of_class = "import static com.android.internal.protolog.ProtoLog";
    counts(&format!("{of_class}.d; {group}"), plain, 1, 0);
    counts(&format!("{of_class}.*; import static com.x.Groups.*;"), plain, 1, 0);
    counts(&format!("{of_class}.e; {group}"), plain, 0, 0);
    counts(PROTOLOG, named, 0, 1);
    counts("import com.x.Groups;", named, 0, 0);
}

#[test]
fn calls_that_count() {
    let imports = format!("{PROTOLOG} import com.x.Groups; import static com.x.Groups.TEST;");
    for (call, calls, errors) in [
        (r#"ProtoLog.d(TEST, "test %b", true);"#, 1, 0),
        (r#"ProtoLog.d(Groups.OFF, "disabled");"#, 1, 0),
        (r#"ProtoLog.d(Groups.NONE, "unknown group");"#, 0, 1),
        (r#"ProtoLog.d(GROUP, "not imported");"#, 0, 1),
        (r#"ProtoLog.d(0, "a literal for the group");"#, 0, 1),
        (r#"ProtoLog.d("no group");"#, 0, 1),
        (r#"ProtoLog.d(TEST, "%9 %");"#, 0, 2),
        (r#"ProtoLog.d(TEST, "%d");"#, 0, 1),
        (r#"f(ProtoLog.d(TEST, "no statement"));"#, 0, 1),
        (r#"ProtoLog.d(TEST, b ? "x" : "y");"#, 0, 1),
    ] {
        counts(&imports, call, calls, errors);
    }
}

/// One message an id and a line each; two calls of one message are one entry with one place.
#[test]
fn entries() {
    let text = "package org.example;\nimport com.android.internal.protolog.ProtoLog;\nimport static com.x.Groups.*;\n\
        class Example { void f() {\nProtoLog.d(GROUP, \"a\" +\n \"b\");\nProtoLog.d(GROUP, \"ab\"); } }";
    let messages =
        process(Android::ANDROID_17, groups("com.x.Groups"), "Example.java", text).messages;
    let seen: Vec<_> = messages
        .iter()
        .map(|it| (it.template.as_str(), &*it.group, it.locations[0].to_string()))
        .collect();
    assert_eq!(
        seen,
        [
            ("ab", "GROUP", "org/example/Example.java:5".to_owned()),
            ("ab", "GROUP", "org/example/Example.java:7".to_owned())
        ]
    );
    assert_eq!(messages[0].id, messages[1].id);
}
