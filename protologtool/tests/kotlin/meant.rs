//! The meaning of names in Kotlin, as a table of cases: each is compiled by kotlinc and run, so
//! that its calls tell whether they are log calls. Those that are not may not be rewritten; the
//! table says which of the others are.

use crate::case::settings;
use crate::compiler::{compile, run};
use protolog_testkit::{compile_java, java_sources, temp_dir};
use protologtool::diagnostic::Severity;
use protologtool::pipeline::process;
use protologtool::system::Memory;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// The outcome for a case's calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Made {
    /// All are rewritten.
    Rewritten,
    /// Each that is a log call, or may be one, is listed.
    Listed,
    /// None is a log call, which is known.
    Nothing,
}

/// Declarations of the package `p`, a function `f` among them, those of another file, in the
/// package `q`, and what is made of them. A log call says `log`, any other says `own`.
const CASES: [(&str, &str, Made); 36] = [
    ("data class Point(val d: Double)\nfun f() { d(NET, \"log\") }", "", Made::Rewritten),
    ("class Device(val dev: String)\nfun f() { ProtoLog.d(NET, \"log\") }", "", Made::Rewritten),
    (
        "fun f() { class Local(val n: Int); val n = \"log\"; ProtoLog.d(NET, \"$n\") }",
        "",
        Made::Rewritten,
    ),
    (
        "fun f() { try { error(\"x\") } catch (e: Exception) { e(NET, \"log\") } }",
        "",
        Made::Rewritten,
    ),
    ("fun f() { for (i in 0..0) i(NET, \"log\") }", "", Made::Rewritten),
    ("fun f() = g(1)\nfun g(w: Int) { w(NET, \"log\") }", "", Made::Rewritten),
    ("fun f() = g(0.5)\nfun g(d: Double?) { d(NET, \"log\") }", "", Made::Rewritten),
    ("fun f() { val d = { g: AppLog, s: String -> own() }; d(NET, \"own\") }", "", Made::Listed),
    ("fun d(x: Int) = own()\nfun f() { d(NET, \"log\") }", "", Made::Rewritten),
    ("fun d(g: Any?, s: String) = own()\nfun f() { d(NET, \"log\") }", "", Made::Rewritten),
    (
        "class C { fun d(x: Int) = own(); fun f() { d(NET, \"log\") } }\nfun f() = C().f()",
        "",
        Made::Rewritten,
    ),
    (
        "class C { fun d(g: Any?, s: String) = own(); fun f() { d(NET, \"own\") } }\nfun f() = C().f()",
        "",
        Made::Listed,
    ),
    (
        "class C : q.Base() { fun f() { d(NET, \"own\") } }\nfun f() = C().f()",
        "open class Base { fun d(g: Any?, s: String) = own() }",
        Made::Listed,
    ),
    (
        "class C : q.Base() { fun f() { d(NET, \"own\") } }\nfun f() = C().f()",
        "open class Base { companion object { fun d(g: Any?, s: String) = own() } }",
        Made::Listed,
    ),
    (
        "class C : q.Base() { fun f() { ProtoLog.d(NET, \"own\") } }\nfun f() = C().f()",
        "open class Base { object ProtoLog { fun d(g: Any?, s: String) = own() } }",
        Made::Listed,
    ),
    (
        "class C : q.Base() { fun f() { ProtoLog.d(NET, \"own\") } }\nfun f() = C().f()",
        "class Logger { fun d(g: Any?, s: String) = own() }\nopen class Base { protected val ProtoLog = Logger() }",
        Made::Listed,
    ),
    (
        "fun q.Logger.g() { d(NET, \"own\") }\nfun f() = q.Logger().g()",
        "class Logger { fun d(g: Any?, s: String) = own() }",
        Made::Listed,
    ),
    (
        "fun f() = with(q.Logger()) { d(NET, \"own\") }",
        "class Logger { fun d(g: Any?, s: String) = own() }",
        Made::Listed,
    ),
    (
        "fun f() { q.Logger().apply { d(NET, \"own\") } }",
        "class Logger { fun d(g: Any?, s: String) = own() }",
        Made::Listed,
    ),
    (
        "fun f() { listOf(1).forEach { d(NET, \"log\") } }",
        "class Logger { fun d(s: String) = own() }",
        Made::Rewritten,
    ),
    (
        "class ProtoLog2\nfun f() { class ProtoLog { fun d(g: Any?, s: String) = own() }; ProtoLog().d(NET, \"own\") }",
        "",
        Made::Nothing,
    ),
    (
        "class N(val n: String) { fun toInt() = n }\nfun f() { val x = N(\"log\"); ProtoLog.d(NET, \"${x.toInt()}\") }",
        "",
        Made::Rewritten,
    ),
    (
        "import q.Int\nfun f() = g(Int(\"log\"))\nfun g(n: Int) { ProtoLog.d(NET, \"$n\") }",
        "class Int(val text: String)",
        Made::Rewritten,
    ),
    (
        "import q.N as Long\nfun f() = g(Long(\"log\"))\nfun g(n: Long) { ProtoLog.d(NET, \"$n\") }",
        "class N(val text: String)",
        Made::Rewritten,
    ),
    (
        "class C : q.Base() { fun g(n: Short) { ProtoLog.d(NET, \"$n\") } }\nfun f() = C().g(q.Base.Short(\"log\"))",
        "open class Base { class Short(val text: String) }",
        Made::Rewritten,
    ),
    (
        "fun <Boolean> g(n: Boolean) { ProtoLog.d(NET, \"$n\") }\nfun f() = g(\"log\")",
        "",
        Made::Rewritten,
    ),
    (
        "class C<T, @Suppress(\"<\") in Long>(a: T) { inner class I { fun g(n: Long) { ProtoLog.d(NET, \"$n\") } } }\nfun f() = C<String, String>(\"\").I().g(\"log\")",
        "",
        Made::Rewritten,
    ),
    (
        "inline fun <T : (String, T) -> T?, reified Byte> Byte.g(n: Byte) where Byte : Any { ProtoLog.d(NET, \"$n\") }\nfun f() = \"\".g<(String, Any?) -> Nothing?, String>(\"log\")",
        "",
        Made::Rewritten,
    ),
    (
        "val <Short> List<Short>.first: Short get() { val n: Short = get(0); ProtoLog.d(NET, \"$n\"); return n }\nfun f() = listOf(\"log\").first",
        "",
        Made::Rewritten,
    ),
    (
        "fun <Int : (AppLog, kotlin.String) -> Unit> g(d: Int) { d(NET, \"own\") }\nfun f() = g { _: AppLog, _: String -> own() }",
        "",
        Made::Listed,
    ),
    (
        "typealias Int = (AppLog, kotlin.String) -> Unit\nfun g(d: Int) { d(NET, \"own\") }\nfun f() = g { _, _ -> own() }",
        "",
        Made::Listed,
    ),
    (
        "class C { fun <@Suppress(\"\") T> d(g: Any?, s: T) = own(); fun f() { d(NET, \"own\") } }\nfun f() = C().f()",
        "",
        Made::Listed,
    ),
    ("fun <T> d(x: T) = own()\nfun f() { d(NET, \"log\") }", "", Made::Rewritten),
    (
        "import dev.protolog.ProtoLog.*\nenum class X(val n: Int) { wtf(1), @Deprecated(\"\") v(2) { override fun n() = 1 }; open fun n() = 2 }\nclass wtf(val n: Int)\nfun f() { v(NET, \"log\") }",
        "",
        Made::Rewritten,
    ),
    (
        "import dev.protolog.ProtoLog.*\nclass v(val group: Any?, val text: String) { init { own() } }\nfun f() { v(NET, \"own\") }",
        "",
        Made::Listed,
    ),
    ("enum class X { e, d; fun g() { d(NET, \"log\") } }\nfun f() = X.e.g()", "", Made::Rewritten),
];

fn sources(number: usize, own: &str, other: &str) -> [(String, String); 2] {
    let (p, q) = (format!("p{number}"), format!("q{number}"));
    let own = own.replace("q.", &format!("{q}."));
    let own = format!(
        "package {p}\nimport demo.AppLog\nimport demo.AppLog.NET\nimport demo.own\nimport dev.protolog.ProtoLog\n\
        import dev.protolog.ProtoLog.d\nimport dev.protolog.ProtoLog.e\nimport dev.protolog.ProtoLog.i\nimport dev.protolog.ProtoLog.w\n{own}\n"
    );
    let other = format!("package {q}\nimport demo.own\n{other}\n");
    [(format!("{p}/A.kt"), own), (format!("{q}/B.kt"), other)]
}

/// The log calls of a case that are rewritten, and those that are listed.
fn made(files: &[(String, String)]) -> (usize, usize) {
    let system =
        Memory::with_files(files.iter().map(|(path, text)| (path.as_str(), text.as_str())));
    let paths: Vec<PathBuf> = files.iter().map(|(path, _)| PathBuf::from(path)).collect();
    let first = process(&system, &settings(), &paths, 1).remove(0).unwrap();
    assert!(first.report.is_none(), "{:?}", first.report);
    let notes = first.warnings.iter().filter(|it| it.severity == Severity::Note).count();
    assert_eq!(notes, first.log_calls.listed, "{}", files[0].1);
    (first.log_calls.rewritten, first.log_calls.listed)
}

/// A type that the sources declare, or import, may be another one than the language's of the same
/// name.
#[test]
fn types_of_the_language_are_those_that_nothing_hides() {
    for (number, (own, other, _)) in CASES.iter().enumerate() {
        if !own.contains("\"$n\"") {
            continue;
        }
        let files = sources(number, own, other);
        let system =
            Memory::with_files(files.iter().map(|(path, text)| (path.as_str(), text.as_str())));
        let paths: Vec<PathBuf> = files.iter().map(|(path, _)| PathBuf::from(path)).collect();
        let processed = process(&system, &settings(), &paths, 1).remove(0).unwrap();
        let template = &processed.messages[0].template;
        assert_eq!(template, "%s", "{own}");
    }
}

#[test]
fn names_mean_what_kotlinc_says() {
    let directory = temp_dir();
    let root = directory.path();
    let mut paths = Vec::new();
    let mut calls = String::new();
    for (number, (own, other, expected)) in CASES.iter().enumerate() {
        let files = sources(number, own, other);
        let actual = match made(&files) {
            (1, 0) => Made::Rewritten,
            (0, 1) => Made::Listed,
            (0, 0) => Made::Nothing,
            other => panic!("{other:?} calls: {own}"),
        };
        assert_eq!(actual, *expected, "{own}\n{other}");
        for (path, text) in files {
            let path = root.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, text).unwrap();
            paths.push(path);
        }
        let _ = write!(calls, "p{number}.f(); show(); ");
    }
    let main = root.join("Main.kt");
    let text = format!(
        "package demo\nimport dev.protolog.Trace\nfun own() {{ println(\"own\") }}\n\
        fun show() {{ for (line in Trace.LINES) println(\"log\"); Trace.LINES.clear() }}\nobject Main {{ @JvmStatic fun main(a: Array<String>) {{ Trace.on = true; {calls} }} }}\n"
    );
    std::fs::write(&main, text).unwrap();
    paths.push(main);
    let classes = root.join("classes");
    std::fs::create_dir_all(&classes).unwrap();
    let runtime = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/java/runtime");
    let Some(output) = compile_java(&classes, &java_sources(&runtime), &[]) else { return };
    assert_eq!(output.code, Some(0), "{}", output.stderr);
    let Some(output) = compile(&paths, &classes) else { return };
    assert_eq!(output.code, Some(0), "kotlinc: {}", output.stderr);
    let Some(output) = run(&classes, &[], "demo.Main", &[]) else { return };
    let said: Vec<&str> = output.stdout.lines().collect();
    assert_eq!(said.len(), CASES.len(), "{}", output.stdout);
    for ((own, _, expected), said) in CASES.iter().zip(said) {
        assert!(own.contains(&format!("\"{said}\"")), "{said}: {own}");
        assert!(said == "log" || *expected != Made::Rewritten, "{own}");
    }
}
