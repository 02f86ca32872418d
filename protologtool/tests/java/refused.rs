//! Arguments of other types than the template wants: those that are evident are errors of the tool,
//! all others of javac.

use crate::case::{here, rewritten};
use protolog_testkit::{compile_java, java_sources, temp_dir};
use protologtool::source::Source;

/// The program that refuses an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Refused {
    No,
    ByTool,
    ByJavac,
}

use Refused::{ByJavac, ByTool, No};

/// Templates, arguments, and who refuses them.
const CALLS: [(&str, &str, Refused); 37] = [
    ("%d", "1", No),
    ("%d", "'c'", No),
    ("%d", "(byte) 1", No),
    ("%d", "1.5", ByTool),
    ("%d", "1.5f", ByTool),
    ("%d", "true", ByTool),
    ("%d", "\"x\"", ByTool),
    ("%d", "-(1.5)", ByTool),
    ("%d", "(double) 1", ByTool),
    ("%d", "(Long) 1L", No),
    ("%d", "text", ByTool),
    ("%d", "this.text", ByTool),
    ("%d", "local", ByTool),
    ("%d", "inferred", ByTool),
    ("%d", "array", ByJavac),
    ("%d", "other.ratio", ByJavac),
    ("%d", "count", No),
    ("%d", "\"x\" + count", ByTool),
    ("%d", "1 < 2", ByTool),
    ("%d", "other.toString()", ByTool),
    ("%d", "other.toString(4)", No),
    ("%d", "String.valueOf(4)", No),
    ("%d", "java.lang.String.valueOf(4)", ByJavac),
    ("%d", "Integer.parseInt(text)", No),
    ("%d", "new Object()", ByJavac),
    ("%d", "hashCode() > 0 ? 1.5 : 2", ByJavac),
    ("%d", "hashCode() > 0 ? 1 : toString()", ByJavac),
    ("%d", "switch (hashCode()) { case 0 -> 1; default -> true; }", ByJavac),
    ("%f", "1", No),
    ("%f", "1.5f", No),
    ("%f", "false", ByTool),
    ("%f", "\"x\"", ByTool),
    ("%b", "true", No),
    ("%b", "1", ByTool),
    ("%b", "\"x\"", ByTool),
    ("%s", "1", No),
    ("%s", "new int[0]", No),
];

#[test]
fn arguments_of_other_types_are_refused() {
    let own = "int toString(int of) { return of; } int valueOf(int of) { return of; }";
    let fields = "String text; int count; double ratio; A other; A String;";
    let mut text = format!("package demo; class A {{ {own} {fields}");
    let before = text.clone();
    let mut by_tool = Vec::new();
    for (number, (template, argument, _)) in CALLS.iter().enumerate() {
        let locals = "double local = 1; var inferred = \"x\"; int array[] = {};";
        let call = format!("dev.protolog.ProtoLog.d(AppLog.NET, \"{template}\", {argument});");
        let method = format!("\nvoid f{number}() {{ {locals} {call} }}");
        let alone = format!("{before}{method}\n}}").into_bytes();
        match rewritten(Source::new("A.java", alone)) {
            Ok(_) => text.push_str(&method),
            Err(errors) => {
                assert!(errors.contains("[argument-type]"), "{errors}");
                by_tool.push(number);
                text.push('\n');
            }
        }
    }
    let after = rewritten(Source::new("A.java", (text + "\n}").into_bytes())).unwrap();
    let directory = temp_dir();
    let file = directory.path().join("A.java");
    std::fs::write(&file, after).unwrap();
    let sources = [java_sources(&here().join("runtime")), vec![file]].concat();
    let Some(compiled) = compile_java(&directory.path().join("out"), &sources, &[]) else { return };
    for (number, (template, argument, expected)) in CALLS.iter().enumerate() {
        let refused = if by_tool.contains(&number) {
            ByTool
        } else if compiled.stderr.contains(&format!("A.java:{}: error", number + 2)) {
            ByJavac
        } else {
            No
        };
        assert_eq!(refused, *expected, "{argument} for {template}:\n{}", compiled.stderr);
    }
}

/// The classes that others extend here are of no source, and may have fields of these names.
#[test]
fn variables_that_a_superclass_may_hide_are_not_judged() {
    let call = "void log() { dev.protolog.ProtoLog.d(AppLog.NET, \"%d\", count); }";
    for body in [
        format!("String count; class Inner extends lib.Base {{ {call} }}"),
        format!("String count; Object o = new lib.Base() {{ {call} }};"),
        format!("void f(String count) {{ new lib.Base() {{ {call} }}; }}"),
    ] {
        let source = format!("package demo; class A {{ {body} }}");
        assert!(rewritten(Source::new("A.java", source.clone().into_bytes())).is_ok(), "{source}");
    }
}

/// Types, and type parameters, that are called like those of the language, each compiled: what has
/// such a type is not judged.
#[test]
fn names_of_the_language_may_be_taken() {
    let of =
        |template: &str| format!("{{ dev.protolog.ProtoLog.d(AppLog.NET, \"{template}\", x); }}");
    let (d, b) = (of("%d"), of("%b"));
    let bodies = [
        format!("<String extends Long> void f(String x) {d}"),
        format!("<T, @Z({{1, 2}}) Float extends Long> void f(Float x) {d}"),
        format!("static class C<String extends Long> {{ void f(String x) {d} }}"),
        format!(
            "static class C<T extends Comparable<T>, @Z @Deep({{\"<\"}}) String extends Long> {{ void f(String x) {d} }}"
        ),
        format!("static class C<@Z String extends Long> {{ class In {{ void f(String x) {d} }} }}"),
        format!("record R<@Z Integer extends Boolean>(Integer x) {{ void f() {b} }}"),
        format!("void f() {{ class L<@Z String extends Long> {{ void g(String x) {d} }} }}"),
        format!("interface String {{ }} static class N implements String {{ void f(Long x) {d} }}"),
        format!(
            "static class Base {{ static class Double {{ }} }} static class N extends @Z Base {{ <T extends Long> void f(T x) {d} }}"
        ),
    ];
    let annotations = "@java.lang.annotation.Target({java.lang.annotation.ElementType.TYPE_PARAMETER, java.lang.annotation.ElementType.TYPE_USE}) @interface Z { int[] value() default {}; } \
        @java.lang.annotation.Target(java.lang.annotation.ElementType.TYPE_PARAMETER) @interface Deep { java.lang.String[] value(); }";
    let directory = temp_dir();
    let mut sources = java_sources(&here().join("runtime"));
    for (number, body) in bodies.iter().enumerate() {
        let annotations = if number == 0 { annotations } else { "" };
        let text = format!("package demo; {annotations} class A{number} {{ {body} }}");
        let after = rewritten(Source::new("A.java", text.clone().into_bytes()));
        let after = after.unwrap_or_else(|errors| panic!("{text}\n{errors}"));
        let file = directory.path().join(format!("A{number}.java"));
        std::fs::write(&file, after).unwrap();
        sources.push(file);
    }
    let Some(output) = compile_java(&directory.path().join("out"), &sources, &[]) else { return };
    assert_eq!(output.code, Some(0), "{}", output.stderr);
}
