//! The sums of log calls: each call of the sources is rewritten, or refused, or listed with its
//! place and reason.
//!
//! Each line of a program below has calls whose number is known from its text alone, and says what
//! becomes of them. All lines go through the tool together, shuffled, so that none is counted
//! because of another.

use protolog_testkit::{run_any, temp_dir};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

const GROUPS: &str = "package p; import dev.protolog.*; enum AppLog implements IProtoLogGroup { NET, DISK; public String getTag() { return \"T\"; } }";

/// A line of a source, and the numbers of its calls that are rewritten, refused and listed.
type Line = (&'static str, [usize; 3]);

/// Members of a Kotlin file.
const KOTLIN: [Line; 24] = [
    ("fun connected(host: String) { ProtoLog.d(NET, \"connected to $host\") }", [1, 0, 0]),
    ("private fun closed(host: String) = ProtoLog.d(NET, \"$host closed\")", [1, 0, 0]),
    (
        "class Peer(val n: String) { fun seen(at: String) = ProtoLog.d(NET, \"$n at $at\") }",
        [1, 0, 0],
    ),
    (
        "fun two(a: String, b: String) { ProtoLog.d(NET, \"$a, $b\"); ProtoLog.i(NET, \"two\") }",
        [2, 0, 0],
    ),
    (
        "private fun pass(msg: String, vararg args: Any?) = ProtoLog.v(NET, \"P: $msg\", *args)",
        [0, 0, 1],
    ),
    ("fun passes(n: Int) { pass(\"sent %d\", n); pass(\"got\") }", [2, 0, 0]),
    ("fun text(msg: String) = ProtoLog.v(NET, msg)", [0, 0, 1]),
    (
        "object Loaded { init { computed() }; fun l(m: String) = ProtoLog.v(NET, m); fun c() = l(\"within\") }",
        [1, 0, 1],
    ),
    ("fun loads() = Loaded.l(\"stays\")", [0, 0, 1]),
    (
        "class Made { companion object { val made by lazy { 1 }; fun m(s: String) = ProtoLog.v(NET, s) }; fun c() = m(\"in\") }",
        [1, 0, 1],
    ),
    ("fun makes() = Made.m(\"stays\")", [0, 0, 1]),
    (
        "object Plain { const val A = 1; val B = \"b\"; fun p(m: String) = ProtoLog.v(NET, m) }",
        [0, 0, 1],
    ),
    ("fun plain() = Plain.p(\"is rewritten\")", [1, 0, 0]),
    (
        "val first = java.util.UUID.randomUUID().toString(); class Outside { fun o() = text(\"constant\") }",
        [0, 0, 1],
    ),
    ("fun texts(s: String) { text(\"constant\"); text(s) }", [1, 0, 1]),
    ("fun group(group: AppLog) = ProtoLog.v(group, \"text\")", [0, 0, 1]),
    ("fun computed() = ProtoLog.v(NET, \"a\".trimIndent())", [0, 1, 0]),
    ("fun unknown() { ProtoLog.v(AppLog.NOT, \"a\"); ProtoLog.v(NET, \"%d\") }", [0, 2, 0]),
    ("val reference = ProtoLog::w", [0, 0, 1]),
    ("fun nested() = ProtoLog.w(NET, \"%s\", run { ProtoLog.e(NET, \"in\"); 1 })", [2, 0, 0]),
    (
        "fun inText() = ProtoLog.w(NET, \"a ${run { ProtoLog.e(NET, \"in a text\"); 2 }}\")",
        [2, 0, 0],
    ),
    ("fun comment() { /* ProtoLog.d(NET, \"no\") */ val no = \"ProtoLog.d(NET)\" }", [0, 0, 0]),
    ("open class Other { open fun over(s: String) = ProtoLog.d(NET, \"over $s\") }", [1, 0, 0]),
    (
        "object Named { fun d(s: String) = ProtoLog.d(NET, s) ; fun other() = d(\"own\") }",
        [1, 0, 1],
    ),
];

/// Members of a Java class.
const JAVA: [Line; 16] = [
    (
        "void a(int n) { ProtoLog.d(NET, \"sent %d\", n); p.Log.ProtoLog.d(NET, \"no\"); }",
        [1, 0, 0],
    ),
    (
        "private static void pass(String msg, Object... args) { ProtoLog.v(NET, \"P: \" + msg, args); }",
        [0, 0, 1],
    ),
    ("void passes(int n) { pass(\"sent %d\", n); pass(\"got\"); }", [2, 0, 0]),
    ("static void own(String msg, Object... args) { ProtoLog.v(NET, msg, args); }", [0, 0, 1]),
    (
        "static void throwing(String m, Object... a) throws java.io.IOException { ProtoLog.v(NET, m, a); }",
        [0, 0, 1],
    ),
    (
        "static class Loaded { static { f(null); } static void l(String m, Object... a) { ProtoLog.v(NET, m, a); } void c() { l(\"within\"); } }",
        [1, 0, 1],
    ),
    ("void loads() { Loaded.l(\"stays\"); }", [0, 0, 1]),
    (
        "static class Made extends Loaded { static void m(String m, Object... a) { ProtoLog.v(NET, m, a); } void c() { Made.m(\"in\"); } }",
        [1, 0, 1],
    ),
    (
        "static class Plain { static final int[] A = {1}; static final String B = \"b\" + 1; static void p(String m, Object... a) { ProtoLog.v(NET, m, a); } } void plain() { Made.m(\"stays\"); Plain.p(\"is rewritten\"); }",
        [1, 0, 2],
    ),
    ("void owns(String s) { own(\"constant\"); own(s); }", [1, 0, 1]),
    ("void computed(String s) { ProtoLog.v(NET, \"a\" + s); }", [0, 1, 0]),
    ("void unknown() { ProtoLog.v(AppLog.NOT, \"a\"); ProtoLog.v(NET, \"%d\"); }", [0, 2, 0]),
    (
        "interface Ref { void f(AppLog g, String s, Object... a); } Ref reference = ProtoLog::w;",
        [0, 0, 1],
    ),
    (
        "void nested() { ProtoLog.w(NET, \"%s\", f(() -> { ProtoLog.e(NET, \"in\"); })); }",
        [2, 0, 0],
    ),
    (
        "void comment() { /* ProtoLog.d(NET, \"no\") */ String no = \"ProtoLog.d(NET)\"; }",
        [0, 0, 0],
    ),
    (
        "void position(int n) { ProtoLog.d(NET, \"a\"); int x = n > 1 ? 1 : 2; ProtoLog.i(DISK, \"b\"); }",
        [2, 0, 0],
    ),
];

/// Items of a Rust file.
const RUST: [Line; 8] = [
    ("fn a(n: u32) { d!(Log::Net, \"sent %d\", n); protolog_rt::w!(Log::Net, \"w\"); }", [2, 0, 0]),
    ("fn nested() { d!(Log::Net, \"%d\", { i!(Log::Net, \"in\"); 1 }); }", [2, 0, 0]),
    (
        "macro_rules! own { ($e:expr) => { d!(Log::Net, \"%d\", $e); i!(Log::Net, \"i\") } }",
        [0, 0, 2],
    ),
    ("fn computed() { d!(Log::Net, concat!(\"a\", \"b\")); d!(Log::Not, \"a\"); }", [0, 2, 0]),
    ("fn count() { d!(Log::Net, \"%d\"); }", [0, 1, 0]),
    ("fn comment() { /* d!(Log::Net, \"no\") */ let _no = \"d!(Log::Net)\"; }", [0, 0, 0]),
    ("fn quoted() -> &'static str { stringify!(d!(Log::Net, \"quoted\")) }", [0, 0, 1]),
    ("fn selected() { select! { x = f() => d!(Log::Net, \"selected\") } }", [1, 0, 0]),
];

/// The lines in another order, which `seed` chooses.
fn shuffled(lines: &[Line], seed: usize) -> Vec<Line> {
    let mut left = lines.to_vec();
    (0..lines.len()).map(|at| left.remove((seed * 31 + at * 7) % left.len())).collect()
}

fn check(name: &str, head: &str, lines: &[Line], tail: &str, rust: bool) {
    for seed in 0..6 {
        let lines = shuffled(lines, seed);
        let directory = temp_dir();
        let root = directory.path();
        let body: Vec<&str> = lines.iter().map(|(text, _)| *text).collect();
        fs::write(root.join(name), format!("{head}\n{}\n{tail}", body.join("\n"))).unwrap();
        fs::write(root.join("AppLog.java"), GROUPS).unwrap();
        let mut tool = Command::new(env!("CARGO_BIN_EXE_protologtool"));
        tool.current_dir(root).args(["check", "--message-format", "json"]);
        if rust {
            tool.args(["--crate-name", "x", "--crate-root", name]);
        } else {
            tool.args(["--loggroups-class", "p.AppLog", "--loggroups-source", "AppLog.java"]);
        }
        let output = run_any(tool.arg(name));
        let [rewritten, refused, listed] = lines.iter().fold([0; 3], |sums, (_, counts)| {
            [sums[0] + counts[0], sums[1] + counts[1], sums[2] + counts[2]]
        });
        let found = rewritten + refused + listed;
        let sums = format!(
            "log calls: {found} found = {rewritten} rewritten + {refused} refused + {listed} listed\n"
        );
        assert_eq!(output.stderr, sums, "{name}, order {seed}: {}", output.stdout);
        let first = head.lines().count() + 1;
        let mut reported: BTreeSet<(&str, usize)> = BTreeSet::new();
        let problems: Vec<Value> =
            output.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        for problem in &problems {
            let severity = problem["severity"].as_str().unwrap();
            reported.insert((severity, problem["start"]["line"].as_u64().unwrap() as usize));
        }
        for (index, (text, [_, refused, listed])) in lines.iter().enumerate() {
            for (severity, count) in [("error", refused), ("note", listed)] {
                let is_reported = reported.contains(&(severity, first + index));
                assert_eq!(is_reported, *count > 0, "{severity} of `{text}`: {}", output.stdout);
            }
        }
    }
}

#[test]
fn each_call_of_kotlin_is_accounted_for() {
    check(
        "A.kt",
        "package p\nimport dev.protolog.ProtoLog\nimport p.AppLog.NET",
        &KOTLIN,
        "",
        false,
    );
}

#[test]
fn each_call_of_java_is_accounted_for() {
    let head = "package p; import dev.protolog.ProtoLog; import static p.AppLog.*;\nclass A {";
    check("A.java", head, &JAVA, "}", false);
}

#[test]
fn each_call_of_rust_is_accounted_for() {
    let head = "use protolog_rt::{d, i};\n#[derive(protolog_rt::ProtoLogGroup)] enum Log { Net }";
    check("a.rs", head, &RUST, "", true);
}
