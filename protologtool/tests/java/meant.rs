//! The meaning of names in Java, as a table of cases: each is compiled by javac and run, so that
//! its calls tell whether they are log calls. Those that are not may not be rewritten; the table
//! says which of the others are.

use crate::case::settings;
use protolog_testkit::{compile_java, java_sources, run_java, temp_dir};
use protologtool::pipeline::process;
use protologtool::system::Memory;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// The outcome for the call of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Made {
    Rewritten,
    Listed,
    /// It is known to be no log call.
    Nothing,
}

/// Imports and the class `A` of the package `p`, whose `f()` calls; a class `B` of the package `q`;
/// another file of the package `p`; and what is made of the call. A log call says `log`, any other
/// says `own`.
const CASES: [(&str, &str, &str, Made); 20] = [
    (
        "import dev.protolog.*; class A { void f() { ProtoLog.d(NET, \"own\"); } }",
        "public class B { }",
        "class Y { }\n  @Deprecated class ProtoLog { static void d(Object g, String s) { q.Own.say(); } }",
        Made::Nothing,
    ),
    (
        "import dev.protolog.*; class A { void f() { ProtoLog.d(NET, \"log\"); } }",
        "public class B { }",
        "class Y { class ProtoLog { static void d(Object g, String s) { q.Own.say(); } } }",
        Made::Rewritten,
    ),
    (
        "import static dev.protolog.ProtoLog.*; class A extends q.B { void f() { d(NET, \"log\"); } }",
        "public class B { static void d(Object g, String s) { Own.say(); } }",
        "",
        Made::Rewritten,
    ),
    (
        "import static dev.protolog.ProtoLog.*; class A extends q.B { void f() { d(NET, \"own\"); } }",
        "public class B { protected static void d(Object g, String s) { Own.say(); } }",
        "",
        Made::Nothing,
    ),
    (
        "import dev.protolog.*; class A extends q.B { void f() { ProtoLog.d(NET, \"log\"); } }",
        "public class B { static class ProtoLog { static void d(Object g, String s) { Own.say(); } } }",
        "",
        Made::Rewritten,
    ),
    (
        "import dev.protolog.*; class A extends q.B { void f() { ProtoLog.d(NET, \"own\"); } }",
        "public class B { public static class ProtoLog { public static void d(Object g, String s) { Own.say(); } } }",
        "",
        Made::Nothing,
    ),
    (
        "import static dev.protolog.ProtoLog.*; import static q.C.T; class A extends q.B { void f() { d(NET, T); } }",
        "public class B { static final String T = \"own\"; }",
        "",
        Made::Rewritten,
    ),
    (
        "import static dev.protolog.ProtoLog.*; class A extends q.B { void f() { d(NET, \"log\"); } }",
        "public class B { static final Object NET = null; }",
        "",
        Made::Rewritten,
    ),
    (
        "import static dev.protolog.ProtoLog.*; class A implements q.B { void f() { d(NET, \"log\"); } }",
        "public interface B { static void d(Object g, String s) { Own.say(); } }",
        "",
        Made::Rewritten,
    ),
    (
        "import dev.protolog.*; import demo.*; class A { record R(java.util.Map<AppLog, String> m) { void g() { ProtoLog.d(AppLog.NET, \"log\"); } } void f() { new R(null).g(); } }",
        "public class B { }",
        "",
        Made::Rewritten,
    ),
    (
        "import dev.protolog.*; import demo.*; class A { record R<AppLog, T>(@Deprecated String text) implements Comparable<ProtoLog> { public int compareTo(ProtoLog o) { demo.AppLog n = NET; ProtoLog.d(NET, \"log\"); return 1; } } void f() { new R<>(\"\").compareTo(null); } }",
        "public class B { }",
        "",
        Made::Rewritten,
    ),
    (
        "import dev.protolog.*; class A extends q.@Z(1) B { void f() { ProtoLog.d(NET, \"own\"); } }",
        "public class B { public static class ProtoLog { public static void d(Object g, String s) { Own.say(); } } }",
        "@java.lang.annotation.Target(java.lang.annotation.ElementType.TYPE_USE) @interface Z { int value(); }",
        Made::Nothing,
    ),
    (
        "import dev.protolog.*; import q.B; class A { void f() { class L extends @Z(1) B { void f() { ProtoLog.d(NET, \"own\"); } } new L().f(); } }",
        "public class B { public static class ProtoLog { public static void d(Object g, String s) { Own.say(); } } }",
        "@java.lang.annotation.Target(java.lang.annotation.ElementType.TYPE_USE) @interface Z { int value(); }",
        Made::Nothing,
    ),
    (
        "import dev.protolog.*; import q.B; class A { void f() { new @Z(1) B() { void g() { ProtoLog.d(NET, \"own\"); } }.g(); } }",
        "public class B { public static class ProtoLog { public static void d(Object g, String s) { Own.say(); } } }",
        "@java.lang.annotation.Target(java.lang.annotation.ElementType.TYPE_USE) @interface Z { int value(); }",
        Made::Nothing,
    ),
    (
        "import dev.protolog.*; class A { void f() { ProtoLog.d(NET, \"own\"); } }",
        "public class B { }",
        "class Z { }\nclass ProtoLog { static void d(Object g, String s) { q.Own.say(); } }",
        Made::Nothing,
    ),
    (
        "import dev.protolog.ProtoLog; class A { void f() { ProtoLog.d(NET, \"log\"); } }",
        "public class B { }",
        "class Z { }\nclass ProtoLog { static void d(Object g, String s) { q.Own.say(); } }",
        Made::Rewritten,
    ),
    (
        "import static dev.protolog.ProtoLog.d; import static q.B.d; class A { void f() { d(NET, \"log\"); } }",
        "public class B { public static void d(int n) { Own.say(); } }",
        "",
        Made::Listed,
    ),
    (
        "import static dev.protolog.ProtoLog.d; import static q.B.d; class A { void f() { d(NET, \"own\"); } }",
        "public class B { public static void d(demo.AppLog g, String s) { Own.say(); } }",
        "",
        Made::Listed,
    ),
    (
        "import static dev.protolog.ProtoLog.d; import static q.B.*; class A { void f() { d(NET, \"log\"); } }",
        "public class B { public static void e(int n) { Own.say(); } }",
        "",
        Made::Rewritten,
    ),
    (
        "import static dev.protolog.ProtoLog.*; import static q.B.*; class A { void f() { d(NET, \"own\"); } }",
        "public class B { public static void d(demo.AppLog g, String s) { Own.say(); } }",
        "",
        Made::Listed,
    ),
];

const OWN: &str = "public class Own { public static void say() { System.out.println(\"own\"); } }";
const CONSTANT: &str = "public class C { public static final String T = \"log\"; }";

fn sources(number: usize, (own, b, other, _): &(&str, &str, &str, Made)) -> Vec<(String, String)> {
    let (p, q) = (format!("p{number}"), format!("q{number}"));
    let named = |text: &str| text.replace("q.", &format!("{q}."));
    let own = format!("package {p}; import static demo.AppLog.NET; {}", named(own));
    let mut files = vec![(format!("{p}/A.java"), format!("{own}\nclass Run {{ }}"))];
    for (name, text) in [("B", *b), ("C", CONSTANT), ("Own", OWN)] {
        files.push((format!("{q}/{name}.java"), format!("package {q}; {text}")));
    }
    let main = "public class Main { public static void main() { new A().f(); } }";
    files.push((format!("{p}/Main.java"), format!("package {p}; {main}")));
    if !other.is_empty() {
        files.push((format!("{p}/Z.java"), format!("package {p};\n{}", named(other))));
    }
    files
}

fn made(files: &[(String, String)]) -> Made {
    let system =
        Memory::with_files(files.iter().map(|(path, text)| (path.as_str(), text.as_str())));
    let paths: Vec<PathBuf> = files.iter().map(|(path, _)| PathBuf::from(path)).collect();
    let first = process(&system, &settings(), &paths, 1).remove(0).unwrap();
    assert!(first.report.is_none(), "{}: {:?}", files[0].1, first.report.map(|it| it.diagnostics));
    match (first.log_calls.rewritten, first.log_calls.listed) {
        (1, 0) => {
            assert_eq!(first.messages[0].template, "log", "{}", files[0].1);
            Made::Rewritten
        }
        (0, 1) => Made::Listed,
        (0, 0) => Made::Nothing,
        other => panic!("{other:?}: {}", files[0].1),
    }
}

#[test]
fn names_mean_what_javac_says() {
    let directory = temp_dir();
    let root = directory.path();
    let (mut paths, mut calls) = (Vec::new(), String::new());
    for (number, case) in CASES.iter().enumerate() {
        let files = sources(number, case);
        assert_eq!(made(&files), case.3, "{case:?}");
        for (path, text) in files {
            let path = root.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, text).unwrap();
            paths.push(path);
        }
        let _ = write!(calls, "p{number}.Main.main(); show(); ");
    }
    let main = root.join("RunCases.java");
    let show = "static void show() { for (String line : Trace.LINES) System.out.println(line); Trace.LINES.clear(); }";
    let text = format!(
        "import dev.protolog.Trace; class RunCases {{ {show} public static void main(String[] a) {{ Trace.on = true; {calls} }} }}"
    );
    std::fs::write(&main, text).unwrap();
    paths.push(main);
    paths.extend(java_sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/java/runtime")));
    let classes = root.join("classes");
    let Some(output) = compile_java(&classes, &paths, &[]) else { return };
    assert_eq!(output.code, Some(0), "{}", output.stderr);
    let Some(output) = run_java(&[classes], "RunCases", &[]) else { return };
    let said = output.stdout.lines().map(|line| if line == "own" { "own" } else { "log" });
    let said: Vec<&str> = said.collect();
    assert_eq!(said.len(), CASES.len(), "{}", output.stdout);
    for (case, said) in CASES.iter().zip(said) {
        assert!(said == "log" || case.3 != Made::Rewritten, "{case:?}");
        assert!(said == "own" || case.3 != Made::Nothing, "{case:?}");
    }
}

/// A class of Kotlin may have the method that a Java class inherits.
#[test]
fn a_superclass_of_kotlin_makes_a_call_doubtful() {
    let java = "package p; import static dev.protolog.ProtoLog.*; import static demo.AppLog.NET; \
        class A extends q.Base { void f() { d(NET, \"x\"); } }";
    let with = |kotlin: &str| {
        made(&[
            ("p/A.java".into(), java.replace("\"x\"", "\"log\"")),
            ("q/Base.kt".into(), kotlin.into()),
        ])
    };
    let base = "package q\nopen class Base { fun d(group: Any?, text: String) { } }";
    assert_eq!(with(base), Made::Listed);
    assert_eq!(with(&base.replace("fun d", "fun other")), Made::Rewritten);
}
