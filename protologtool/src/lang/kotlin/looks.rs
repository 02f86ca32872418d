//! Shapes of Kotlin files, of which each call costs the same however long the file is.

use crate::groups::{Group, Groups};
use crate::lang::java::Java;
use crate::lang::jvm::looks;
use crate::lang::kotlin::{Kotlin, find::find};
use crate::source::Source;
use std::fmt::Write as _;

/// Files of a shape: lines before, a line for each number in place of `#`, lines after. Each line
/// has one log call; `LOG` is its beginning.
const SHAPES: [(&str, &str, &str, &str); 14] = [
    ("functions", "", "fun f#(n: Int) { LOG\"sent $n\") }", ""),
    (
        "parameters of one name",
        "val n = 1",
        "fun f#(n: Int) = 1\nval a# = run { LOG\"sent $n\") }",
        "",
    ),
    ("properties and methods", "class C {", "val p# = #\nfun f#() { LOG\"sent $p#\") }", "}"),
    ("calls of one method", "class C { val p = 1\nfun f() {", "LOG\"sent $p #\")", "} }"),
    ("locals", "fun f() {", "val v# = #; LOG\"sent $v#\")", "}"),
    ("locals of one name", "fun f() {", "run { val v = #; LOG\"sent $v\") }", "}"),
    ("lambdas", "fun f() {", "listOf(1).forEach { LOG\"sent $it #\") }", "}"),
    ("branches", "fun f(n: Int) = when (n) {", "# -> LOG\"sent #\")", "else -> Unit }"),
    ("conversions", "fun f(s: String) {", "LOG\"sent # ${s.toInt()}\")", "}"),
    ("overloads", "", "class X#\nfun f(x: X#) { LOG\"sent #\") }", ""),
    ("constants", "", "const val K# = \"k#\"\nfun f#() = LOG\"sent $K#\")", ""),
    (
        "functions of an object that pass on",
        "object W {",
        "fun f#(m: String, vararg a: Any?) = LOGm, *a)",
        "}",
    ),
    (
        "methods with a tag",
        "class W(private val tag: String) {",
        "fun f#(m: String, vararg a: Any?) = LOG\"%s: $m\", tag, *a)",
        "}",
    ),
    (
        "classes with a tag",
        "",
        "class W#(private val tag: String) { fun v(m: String, vararg a: Any?) = LOG\"%s: $m\", tag, *a) }",
        "",
    ),
];

fn file(shape: (&str, &str, &str, &str), count: usize) -> String {
    let (_, before, line, after) = shape;
    let mut text = "package p\nimport dev.protolog.ProtoLog\nimport p.G.A\n".to_owned();
    writeln!(text, "{before}").unwrap();
    for number in 0..count {
        let line = line.replace("LOG", "ProtoLog.d(A, ").replace('#', &number.to_string());
        writeln!(text, "{line}").unwrap();
    }
    writeln!(text, "{after}").unwrap();
    text
}

fn looks_of(shape: (&str, &str, &str, &str), count: usize) -> usize {
    let java = Java::new("dev.protolog.ProtoLog", "dev.protolog.ProtoLogImpl");
    let groups = Groups::new("p.G", vec![Group::new("p.G", "A", true, true, "TAG")]).unwrap();
    let source = Source::new("p/A.kt", file(shape, count).into_bytes());
    let (found, looks) = looks::of(|| find(Kotlin { java: &java }, &source, &groups, None));
    let seen = found.calls.len() + found.unread.listed.len();
    assert_eq!(
        (seen, found.unread.refused.len()),
        (count, 0),
        "{}: {:?}",
        shape.0,
        found.diagnostics
    );
    looks
}

#[test]
fn each_call_costs_the_same_in_a_file_of_any_length() {
    for shape in SHAPES {
        looks::assert_linear(shape.0, |count| looks_of(shape, count));
    }
}
