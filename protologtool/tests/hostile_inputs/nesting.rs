//! Deep inputs of all kinds: sources, dictionaries and manifests that nest 20,000 times.
//!
//! Each is checked by a process of its own, in limited memory and with the usual stack. It may
//! refuse the input, but has to end by itself.

use super::LOG;
use protolog_testkit::temp_dir;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

const DEPTH: usize = 20_000;

/// The groups of Java and Kotlin.
const GROUPS: [&str; 4] = ["--loggroups-class", "demo.Log", "--loggroups-source", "Log.java"];

/// The address space of a command, in KiB.
const MEMORY: u64 = 2 << 20;

/// The processor's time of a command, in seconds, of a build without optimization.
const TIME: u64 = 60;

fn run(directory: &Path, args: &[&str]) -> Output {
    let mut command = Command::new("sh");
    let limits = format!("ulimit -v {MEMORY} -t {TIME}; exec \"$@\"; exit 99");
    command.args(["-c", &limits, "sh"]);
    command.arg(env!("CARGO_BIN_EXE_protologtool")).args(args).current_dir(directory);
    command.output().unwrap()
}

fn nested(open: &str, inner: &str, close: &str) -> String {
    format!("{}{inner}{}", open.repeat(DEPTH), close.repeat(DEPTH))
}

/// Checks a source, and returns what standard error says.
fn check(name: &str, text: &str, args: &[&str]) -> String {
    let dir = temp_dir();
    fs::create_dir(dir.path().join("src")).unwrap();
    fs::write(dir.path().join("src").join(name), text).unwrap();
    fs::write(dir.path().join("Log.java"), LOG).unwrap();
    let output = run(dir.path(), &[&["check", &format!("src/{name}")], args].concat());
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    let shown: String = errors.chars().take(2000).collect();
    let code = output.status.code();
    assert!(matches!(code, Some(0..=3)), "{name}: {:?}: {shown}", output.status);
    errors
}

#[test]
fn rust_ends() {
    let group = "#[derive(protolog_rt::ProtoLogGroup)] enum Log { A }\n";
    let call = |argument: &str| {
        format!("{group}fn f() {{ protolog_rt::d!(Log::A, \"%d\", {argument}); }}\n")
    };
    let crates = ["--crate-name", "app", "--crate-root", "src/main.rs"];
    let deep =
        check("main.rs", &format!("{}use {};\n", call("1"), nested("a::{", "b", "}")), &crates);
    assert!(deep.contains("nested too deeply") && deep.contains("main.rs:3:"), "{deep}");
    let wide = format!("use {}{{{}}};\n", "a::".repeat(2000), "b, ".repeat(20_000));
    let wide = check("main.rs", &format!("{}{wide}", call("1")), &crates);
    assert!(wide.contains("nested too deeply"), "{wide}");
    for text in [
        nested("mod a { ", "", "}"),
        nested("fn f() { ", "", "}"),
        nested("macro_rules! a { ", "", "}"),
        nested("#[a(", "", ")] ") + "fn g() {}",
        call(&nested("(", "1", ")")),
        call(&nested("[", "1", "]")),
        format!("{group}fn f() {{ protolog_rt::d!({}, \"a\"); }}", nested("(", "Log::A", ")")),
        format!("{group}#[{}] enum B {{}}", nested("cfg_attr(a, ", "b", ")")),
        call(&nested("if true { ", "1", "}")),
        call(&nested("&", "1", "")),
        call(&nested("-", "1", "")),
        call(&nested("|x| ", "1", "")),
        call(&nested("f(", "1", ")")),
        call(&nested("1 + ", "1", "")),
        call(&nested("a!(", "1", ")")),
        call(&format!("x as {}", nested("Vec<", "u8", ">"))),
        format!(
            "{group}fn f() {{ protolog_rt::d!(Log::A, {}); }}",
            nested("concat!(", "\"a\"", ")")
        ),
        format!("{group}{}", nested("/*", "", "*/")),
        format!(
            "#[derive(protolog_rt::ProtoLogGroup)] enum Log {{ #[protolog(tag = {})] A }}",
            nested("(", "\"a\"", ")")
        ),
    ] {
        check("main.rs", &format!("{}\n{text}", call("1")), &crates);
    }
    let uses = |number: usize| format!("use self::a{} as a{number};\n", number + 1);
    let imports: String = (0..DEPTH).map(uses).collect();
    check("main.rs", &format!("{imports}fn f() {{ protolog_rt::d!(a0::A, \"a\"); }}"), &crates);
    // A file that is itself twice, in as many ways as there are numbers of a hundred bits.
    let modules = "#[path = \"main.rs\"] mod one;\n#[path = \"main.rs\"] mod two;\n";
    check("main.rs", &format!("{modules}{}", call("1")), &crates);
}

#[test]
fn kotlin_ends() {
    let head = "package demo\nimport dev.protolog.ProtoLog\n";
    let call = |template: &str, argument: &str| {
        format!("{head}fun f() {{ ProtoLog.d(Log.A, {template}, {argument}) }}\n")
    };
    let deep = nested("(\"a\" + ", "\"b\"", ")");
    for text in [
        call(&nested("\"${", "1", "}\""), "1"),
        call(&nested("\"${", "\"a\"", "}\""), "1"),
        call(&deep, "1"),
        call(&format!("\"{}\"", "$a".repeat(DEPTH)), "1"),
        call(&nested("(", "\"a\"", ")"), "1"),
        call("\"%d\"", &nested("(", "1", ")")),
        call("\"%d\"", &nested("{ ", "1", "}")),
        call("\"%d\"", &nested("f(", "1", ")")),
        call("\"%d\"", &nested("if (x) ", "1", "")),
        call("\"%d\"", &nested("-", "1", "")),
        format!("{head}{}", nested("class A { ", "", "}")),
        format!("{head}{}", nested("fun f() { ", "", "}")),
        format!("{head}{}", nested("/*", "", "*/")),
        format!("{head}const val A = {deep}\n"),
        format!("{head}val x: {} = 1", nested("List<", "Int", ">")),
        format!("{head}{} fun f() {{}}", nested("@A(", "", ")")),
    ] {
        check("App.kt", &text, &GROUPS);
    }
}

#[test]
fn java_ends() {
    let head = "package demo; import dev.protolog.ProtoLog;\n";
    let call = |template: &str, argument: &str| {
        format!("{head}class A {{ void f() {{ ProtoLog.d(Log.A, {template}, {argument}); }} }}\n")
    };
    for text in [
        call("\"%d\"", &nested("(", "1", ")")),
        call("\"%d\"", &nested("f(", "1", ")")),
        call("\"%d\"", &nested("-", "1", "")),
        call("\"%d\"", &nested("(int) ", "1", "")),
        call("\"%d\"", &nested("a ? 1 : ", "1", "")),
        call("\"%d\"", &nested("() -> ", "1", "")),
        call("\"%d\"", &nested("1 + ", "1", "")),
        call("\"%d\"", &nested("a[", "1", "]")),
        call("\"%d\"", &nested("new A() { int f = ", "1", "; }")),
        call(&nested("(", "\"a\"", ")"), "1"),
        call(&nested("(\"a\" + ", "\"b\"", ")"), "1"),
        call(&nested("\"a\" + ", "\"b\"", ""), "1"),
        format!("{head}{}", nested("class A { ", "", "}")),
        format!("{head}class A {{ {} }}", nested("void f() { ", "", "}")),
        format!("{head}class A {{ void f() {{ {} }} }}", nested("if (a) ", ";", "")),
        format!("{head}class A {{ {} x; }}", nested("List<", "A", ">")),
        format!("{head}{} class A {{}}", nested("@A(", "", ")")),
    ] {
        check("A.java", &text, &GROUPS);
    }
}

/// Each class has all the others for its supertypes, and names that none of them has.
#[test]
fn classes_in_a_circle_end() {
    const CLASSES: usize = 2000;
    let head = "package demo; import dev.protolog.ProtoLog;\n";
    let class = |number: usize| {
        let above = (number + 1) % CLASSES;
        format!(
            "class C{number} extends C{above} {{ void f() {{ ProtoLog.d(Log.A, \"%d\", x{number}); g(); }} }}\n"
        )
    };
    let classes: String = (0..CLASSES).map(class).collect();
    check("A.java", &format!("{head}{classes}"), &GROUPS);
    check(
        "A.kt",
        &format!("{head}{}", classes.replace(" extends ", " : ").replace("void ", "fun ")),
        &GROUPS,
    );
}

#[test]
fn dictionaries_and_manifests_end() {
    let dir = temp_dir();
    for (name, text) in
        [("deep.json", nested("[", "", "]")), ("objects.json", nested("{\"messages\":", "1", "}"))]
    {
        fs::write(dir.path().join(name), text).unwrap();
        for args in [
            &["generate-viewer-config", "--merge", name, "--viewer-config", "out.json"][..],
            &["read-log", name],
            &["read-log", "/dev/null", "--viewer-config", name],
        ] {
            let output = run(dir.path(), args);
            let errors = String::from_utf8_lossy(&output.stderr);
            assert!(matches!(output.status.code(), Some(0..=3)), "{args:?}: {errors}");
        }
    }
    fs::create_dir(dir.path().join("src")).unwrap();
    fs::write(dir.path().join("src/main.rs"), "fn main() { protolog_rt::d!(Log::A, \"a\"); }")
        .unwrap();
    for text in [
        format!("[package]\nname = \"a\"\nx = {}\n", nested("[", "", "]")),
        format!("[package]\nname = \"a\"\nx = {}\n", nested("{a=", "1", "}")),
        format!("[package]\nname = \"a\"\n[{}]\n", nested("a.", "a", "")),
    ] {
        fs::write(dir.path().join("Cargo.toml"), text).unwrap();
        let output = run(dir.path(), &["check", "src"]);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(matches!(output.status.code(), Some(0..=3)), "{:?}: {errors}", output.status);
    }
}
