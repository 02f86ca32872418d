//! Files that need others: what they inherit, and constants of classes that they import.

use crate::case::settings;
use protologtool::pipeline::process;
use protologtool::system::Memory;
use std::path::PathBuf;

/// The templates of the calls that are found in the first of these files; what is wrong with it.
#[track_caller]
fn templates(files: &[(&str, &str)]) -> Result<Vec<String>, String> {
    let system = Memory::with_files(files.iter().copied());
    let paths: Vec<PathBuf> = files.iter().map(|(path, _)| PathBuf::from(path)).collect();
    let mut results = [1, 2].map(|threads| {
        let first = process(&system, &settings(), &paths, threads).remove(0).unwrap();
        match first.report {
            Some(report) => Err(report.diagnostics[0].message.clone()),
            None => Ok(first.messages.into_iter().map(|message| message.template).collect()),
        }
    });
    assert_eq!(results[0], results[1], "one thread and two");
    std::mem::replace(&mut results[0], Ok(Vec::new()))
}

#[track_caller]
fn check(files: &[(&str, &str)], expected: &[&str]) {
    let expected = expected.iter().map(|text| (*text).to_owned()).collect();
    assert_eq!(templates(files), Ok(expected));
}

const CALLS: &str = "package p; import static dev.protolog.ProtoLog.*; import dev.protolog.ProtoLog; \
    import static demo.AppLog.NET; import q.Base; \
    class A extends Base { void f() { d(NET, \"static\"); ProtoLog.i(NET, \"class\"); } }";

#[test]
fn inherited_members_hide() {
    let base = |text| ("q/Base.java", text);
    let with = |text| [("p/A.java", CALLS), base(text)];
    check(&with("package q; public class Base { }"), &["static", "class"]);
    check(&with("package q; public class Base { protected void d(int x) { } }"), &["class"]);
    check(
        &with("package q; public class Base { private void d() { } private int ProtoLog; }"),
        &["static", "class"],
    );
    check(&with("package q; public class Base { protected static Object ProtoLog; }"), &["static"]);
    check(&with("package q; public class Base { public static class ProtoLog { } }"), &["static"]);
    check(&with("package other; public class Base { void d() { } }"), &["static", "class"]);
    let error =
        templates(&with("package q; public class Base { public static final int NET = 1; }"));
    assert_eq!(error, Err("`NET` is a variable here, not a group of `demo.AppLog`".to_owned()));
}

/// A class in a file that is called by another one, which only its own package sees.
#[test]
fn inherited_from_secondary_classes() {
    let calls = CALLS.replace("import q.Base; ", "");
    let hiding = "class Base { protected void d(int x) { } static Object ProtoLog; }";
    let with = |path: &str, package: &str| {
        let other = format!("package {package};\npublic class Other {{ }}\n{hiding}\n");
        templates(&[("p/A.java", &calls), (path, &other)])
    };
    let all = Ok(vec!["static".to_owned(), "class".to_owned()]);
    assert_eq!(with("p/Other.java", "p"), Ok(Vec::new()));
    assert_eq!(with("src/p/Other.java", "p"), Ok(Vec::new()));
    assert_eq!(with("q/Other.java", "q"), all);
    assert_eq!(with("p/Other.java", "q"), all);
    let flat = calls.replace("package p", "package r.s");
    let other = format!("package r.s;\nclass Other {{ }}\n{hiding}");
    assert_eq!(templates(&[("A.java", &flat), ("Other.java", &other)]), Ok(Vec::new()));
    // The file of the class's own name comes first.
    check(
        &[
            ("p/A.java", &calls),
            ("p/Other.java", &format!("package p;\n{hiding}")),
            ("p/Base.java", "package p; class Base { }"),
        ],
        &["static", "class"],
    );
}

#[test]
fn inherited_from_afar() {
    check(
        &[
            ("p/A.java", CALLS),
            (
                "x/src/q/Base.java",
                "package q; import r.*; public class Base extends Over.Inner<String> implements Face { }",
            ),
            (
                "r/Over.java",
                "package r; public class Over { public static class Inner<T> extends Top { } }",
            ),
            ("r/Top.java", "package r; class Top { protected void d() { } }"),
            (
                "q/Face.java",
                "package q; interface Face { Object ProtoLog = null; static void i() { } }",
            ),
        ],
        &[],
    );
}

#[test]
fn anonymous_classes_inherit() {
    let calls = "package p; import dev.protolog.ProtoLog; import demo.AppLog; class A { Object o = new Base() { \
        void f() { ProtoLog.d(AppLog.NET, \"hidden\"); } }; void g() { ProtoLog.d(AppLog.NET, \"not hidden\"); \
        class L extends Base { void h() { ProtoLog.d(AppLog.NET, \"hidden\"); } } } }";
    let base = ("p/Base.java", "package p; class Base { static Object ProtoLog; }");
    check(&[("p/A.java", calls), base], &["not hidden"]);
}

#[test]
fn classes_that_extend_each_other_end() {
    check(
        &[
            ("p/A.java", CALLS),
            (
                "q/Base.java",
                "package q; public class Base extends Other.X implements Base.Y, Other.X { }",
            ),
            (
                "q/Other.java",
                "package q; public class Other extends Base.Y { class Z extends Other.Z { } }",
            ),
        ],
        &["static", "class"],
    );
}

#[test]
fn a_class_of_the_package_comes_before_wildcard_imports() {
    let calls = "package p; import dev.protolog.*; import demo.*; class A { void f() { ProtoLog.d(AppLog.NET, \"x\"); } }";
    check(&[("p/A.java", calls)], &["x"]);
    check(&[("p/A.java", calls), ("p/ProtoLog.java", "package p; class ProtoLog { }")], &[]);
}

#[test]
fn constants_of_other_files() {
    let calls = "package p; import q.Texts; import static q.Texts.Deep.TEXT; import static q.More.*; \
        import dev.protolog.ProtoLog; import demo.AppLog; \
        class A extends Own { void f() { ProtoLog.d(AppLog.NET, Texts.HELLO + \"!\"); ProtoLog.d(AppLog.NET, TEXT); \
        ProtoLog.d(AppLog.NET, MORE); ProtoLog.d(AppLog.NET, OWN); ProtoLog.d(AppLog.NET, q.Texts.NUMBER + \"%d\", 1); } }";
    let files = [
        ("p/A.java", calls),
        (
            "q/Texts.java",
            "package q; public interface Texts { int NUMBER = 7; String HELLO = \"hello \" + Deep.TEXT; \
            class Deep { public static final String TEXT = \"deep\"; } }",
        ),
        (
            "q/More.java",
            "package q; public class More extends p.Own { public static final String MORE = \"more \" + OWN; }",
        ),
        ("p/Own.java", "package p; public class Own { public static final String OWN = \"own\"; }"),
    ];
    check(&files, &["hello deep!", "deep", "more own", "own", "7%d"]);
}

#[test]
fn what_is_wrong_in_another_file_is_said_where_it_is_named() {
    let calls = "package p; import dev.protolog.ProtoLog; import demo.AppLog; \
        class A { void f() { ProtoLog.d(AppLog.NET, Texts.A); } }";
    for (text, reason) in [
        (
            "static final String A = B; static String B = \"x\";",
            "has no value: its initial value is not a constant",
        ),
        (
            "static final String A = B + A, B = \"x\";",
            "has no value: its initial value needs its own value",
        ),
        ("static String A = \"x\";", "is not a constant"),
        ("static final String C = \"x\";", "is declared in none of the sources"),
    ] {
        let texts = format!("package p; class Texts {{ {text} }}");
        let error = templates(&[("p/A.java", calls), ("p/Texts.java", &texts)]);
        assert_eq!(error, Err(format!("the template is not a constant: `Texts.A` {reason}")));
    }
    let bad = [
        ("p/A.java", calls),
        ("p/Texts.java", "package p; class Texts { static final String A = \"a %q\"; }"),
    ];
    assert_eq!(templates(&bad), Err("unknown conversion `%q`".to_owned()));
}
