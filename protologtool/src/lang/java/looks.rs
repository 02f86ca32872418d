//! Shapes of Java files, of which each call costs the same however long the file is.

use crate::groups::{Group, Groups};
use crate::ids::MessageIds;
use crate::lang::java::Java;
use crate::lang::jvm::looks;
use crate::pipeline::{Settings, process_source};
use crate::source::Source;

/// Shapes of a class: the code before, a part for each number in place of `#`, the code after. Each
/// part has one log call; `LOG` is its beginning.
const SHAPES: [(&str, &str, &str, &str); 14] = [
    ("calls of one method", "void f(int n) {", "LOG\"sent %d #\", n);", "}"),
    ("methods", "", "void f#(int n) { LOG\"sent %d\", n); }", ""),
    ("locals", "void f() {", "int v# = #; LOG\"sent %d\", v#);", "}"),
    ("locals of one name", "void f() {", "{ int v = 1; LOG\"sent %d #\", v); }", "}"),
    ("fields", "", "int p#; void f#() { LOG\"sent %d\", p#); }", ""),
    ("fields by `this`", "", "int p#; void f#() { LOG\"sent %d\", this.p#); }", ""),
    ("fields of many classes", "", "class C# { int q; void f() { LOG\"sent %d #\", q); } }", ""),
    (
        "fields of one class above many",
        "static class B { int q; }",
        "static class C# extends B { void f() { LOG\"sent %d #\", q); } }",
        "",
    ),
    ("names of others", "void f() {", "LOG\"sent %s\", Other.p#);", "}"),
    ("patterns", "void f(Object o) {", "if (o instanceof String s#) LOG\"sent %s\", s#);", "}"),
    ("lambdas", "void f() {", "g(x# -> LOG\"sent %s\", x#));", "}"),
    ("cases", "void f(int n) { switch (n) {", "case #: LOG\"sent %d #\", n); break;", "} }"),
    (
        "anonymous classes",
        "int q;",
        "Object o# = new O() { void f() { LOG\"sent %d #\", q); } };",
        "",
    ),
    ("texts", "void f() {", "LOG\"sent %s #\", String.valueOf(1));", "}"),
];

fn looks_of(shape: (&str, &str, &str, &str), count: usize) -> usize {
    let (name, before, part, after) = shape;
    let part = part.replace("LOG", "dev.protolog.ProtoLog.d(p.G.A, ");
    let parts: Vec<_> = (0..count).map(|it| part.replace('#', &it.to_string())).collect();
    let text = format!("package p;\nclass X {{\n{before}\n{}\n{after}\n}}\n", parts.join("\n"));
    let java = Java::new("dev.protolog.ProtoLog", "dev.protolog.ProtoLogImpl");
    let groups = Groups::new("p.G", vec![Group::new("p.G", "A", true, true, "TAG")]).unwrap();
    let settings = Settings { java, rust: None, groups, ids: MessageIds::Xxh3 };
    let source = Source::new("p/X.java", text.into_bytes());
    let (processed, looks) = looks::of(|| process_source(&settings, source));
    let problems = processed.report.map(|report| report.diagnostics);
    assert_eq!(processed.messages.len(), count, "{name}: {problems:?}");
    looks
}

#[test]
fn each_call_costs_the_same_in_a_file_of_any_length() {
    for shape in SHAPES {
        looks::assert_linear(shape.0, |count| looks_of(shape, count));
    }
}

#[test]
fn a_field_that_declares_many_names_is_parsed_once() {
    looks::assert_linear("one field", |count| {
        let names: Vec<_> = (0..count).map(|it| format!("p{it}")).collect();
        let before = format!("int {};", names.join(", "));
        looks_of(("one field", &before, "void f#() { LOG\"sent %d\", p#); }", ""), count)
    });
}
