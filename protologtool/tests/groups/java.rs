//! Enums of Java with everything that may set a field.

use super::random::Choices;
use super::{Sources, compare, count, write};
use protolog_testkit::{compile_java, temp_dir};
use protologtool::lang::java::groups::from_java_source;
use protologtool::source::Source;
use std::fmt::Write;
use std::path::PathBuf;

#[test]
fn enums_of_java_are_those_of_the_virtual_machine() {
    let directory = temp_dir();
    let sources: Sources =
        (0..count(150)).map(|seed| (format!("g{seed}.Log"), generate(seed))).collect();
    let mut paths = write(directory.path(), &sources, "java");
    let interface = directory.path().join("dev/protolog/IProtoLogGroup.java");
    std::fs::create_dir_all(interface.parent().unwrap()).unwrap();
    std::fs::write(&interface, INTERFACE).unwrap();
    paths.push(interface);
    let classes: PathBuf = directory.path().join("classes");
    let Some(output) = compile_java(&classes, &paths, &[]) else { return };
    assert_eq!(output.code, Some(0), "javac: {}", output.stderr);
    let read = |class: &str, source: &str| {
        from_java_source(&Source::new("Log.java", source.as_bytes().to_vec()), class)
    };
    let Some(understood) = compare(&sources, &[classes], read) else { return };
    println!("{understood} of {} enums of Java are read", sources.len());
    // Not everything is refused.
    assert!(understood * 4 > sources.len(), "{understood} of {}", sources.len());
}

const INTERFACE: &str = "package dev.protolog; public interface IProtoLogGroup { \
    default boolean isEnabled() { return true; } default boolean isLogToLogcat() { return false; } \
    String getTag(); }";

/// A file with an enum of groups.
fn generate(seed: usize) -> String {
    let mut any = Choices::new(seed as u64);
    let mut of = Generator { any: &mut any, locals: 0, calm: seed.is_multiple_of(3) };
    let mut body = String::new();
    for field in ["boolean on", "boolean text", "String tag"] {
        let initial = match (of.any.below(3), field) {
            (0, _) => String::new(),
            (_, "String tag") => format!(" = {}", of.text(false)),
            _ => format!(" = {}", of.flag(false)),
        };
        let _ = writeln!(body, "    {field}{initial};");
    }
    if !of.calm && of.any.once_in(3) {
        let _ = writeln!(body, "    {{ {} }}", of.statements(2, false));
    }
    let _ = writeln!(body, "    Log(boolean b, String s, int n) {{ {} }}", of.statements(3, true));
    let _ = writeln!(
        body,
        "    Log(String s) {{ this({}, s + \"2\", 4); {} }}",
        of.flag(false),
        of.late()
    );
    body += "    void enable() { on = true; }\n    void set(String v) { tag = v; }\n";
    body += "    static void helper(Log l) { l.tag = l.tag + \"h\"; }\n    boolean flag() { return on; }\n";
    body += "    static final boolean YES = true;\n    static class Consts { static final String S = \"c\"; static final int N = 3; }\n";
    if !of.calm {
        body += of.any.one_of(&STATIC_CODE);
    }
    body += of.any.one_of(&[
        "    public boolean isEnabled() { return on; }\n",
        "    public boolean isEnabled() { return this.on && !text; }\n",
        "    public boolean isEnabled() { return flag(); }\n",
        "    public boolean isEnabled() { return on || flag(); }\n",
        "    public boolean isEnabled() { return !this.on; }\n",
        "    public boolean isEnabled() { return YES ? on : text; }\n",
        "",
    ]);
    body += "    public boolean isLogToLogcat() { return text; }\n";
    body += of.any.one_of(&[
        "    public String getTag() { return tag; }\n",
        "    public String getTag() { return tag + name(); }\n",
        "    public String getTag() { return \"<\" + tag + Consts.N; }\n",
        "    public String getTag() { return (this.tag); }\n",
        "    public String getTag() { return Consts.S + this.tag + ordinal(); }\n",
        "    public String getTag() { String t = tag; return t; }\n",
    ]);
    let interfaces = of.any.one_of(&[
        "dev.protolog.IProtoLogGroup",
        "dev.protolog.IProtoLogGroup",
        "dev.protolog.IProtoLogGroup, Off",
        "Off",
    ]);
    let constants: Vec<String> = ["A", "B"].iter().map(|name| of.constant(name)).collect();
    let off = "interface Off extends dev.protolog.IProtoLogGroup { default boolean isEnabled() { return false; } }";
    let constants = constants.join(", ");
    format!(
        "package g{seed};\npublic enum Log implements {interfaces} {{\n    {constants};\n{body}}}\n{off}\n"
    )
}

/// Code that runs when all constants are made.
const STATIC_CODE: [&str; 12] = [
    "",
    "",
    "",
    "",
    "",
    "    static { A.tag = \"static\"; }\n",
    "    static { for (Log l : values()) l.on = false; }\n",
    "    static { B.enable(); }\n",
    "    static final java.util.Map<String, Log> ALL = new java.util.HashMap<>();\n",
    "    static int count = first(); static int first() { A.set(\"first\"); return 1; }\n",
    "    static { java.util.Arrays.asList(values()).forEach(l -> l.text = true); }\n",
    "    static { Runnable r = A::enable; r.run(); }\n",
];

struct Generator<'c> {
    any: &'c mut Choices,
    locals: usize,
    /// True for an enum of the usual form.
    calm: bool,
}

impl Generator<'_> {
    fn constant(&mut self, name: &str) -> String {
        let arguments = match self.any.below(3) {
            0 => format!("({})", self.literal_text()),
            _ => {
                format!("({}, {}, {})", self.literal_flag(), self.literal_text(), self.any.below(4))
            }
        };
        let bodies = [
            "",
            "",
            "",
            "",
            "",
            "",
            " { { tag = \"body\"; } }",
            " { public boolean isLogToLogcat() { return !super.isLogToLogcat(); } }",
            " { String tag = \"own\"; public String getTag() { return tag; } }",
            " { boolean flag() { return false; } }",
            " { void enable() { on = false; } }",
        ];
        let body = if self.calm { "" } else { self.any.one_of(&bodies) };
        format!("{name}{arguments}{body}")
    }

    fn literal_text(&mut self) -> &'static str {
        self.any.one_of(&["\"t\"", "\"x\" + 1", "Consts.S", "\"a\" + Consts.N + 'c'"])
    }

    fn literal_flag(&mut self) -> &'static str {
        self.any.one_of(&["true", "false", "!true", "Consts.N > 2", "true && false"])
    }

    fn flag(&mut self, parameters: bool) -> String {
        let all = ["true", "false", "YES", "Consts.N > 2", "b", "!b", "n > 1 && b", "text"];
        self.any.one_of(if parameters { &all } else { &all[..4] }).to_owned()
    }

    fn text(&mut self, parameters: bool) -> String {
        let all = [
            "\"f\"",
            "\"f\" + 2",
            "Consts.S",
            "s",
            "s + \"!\"",
            "\"n\" + n",
            "this.tag + s",
            "b ? s : \"e\"",
        ];
        self.any.one_of(if parameters { &all } else { &all[..3] }).to_owned()
    }

    /// A statement behind `this(…)`.
    fn late(&mut self) -> &'static str {
        self.any.one_of(&["", "", "tag = s;", "text = !text;", "if (YES) return; tag = \"late\";"])
    }

    fn statements(&mut self, depth: usize, parameters: bool) -> String {
        let count = 1 + self.any.below(4);
        let all: Vec<String> = (0..count).map(|_| self.statement(depth, parameters)).collect();
        all.join(" ")
    }

    fn statement(&mut self, depth: usize, parameters: bool) -> String {
        let (flag, text) = (self.flag(parameters), self.text(parameters));
        let number = self.locals;
        self.locals += 1;
        let plain = match self.any.below(5) {
            0 => format!("on = {flag};"),
            1 => format!("this.text = {flag};"),
            2 => format!("tag = {text};"),
            3 => format!("this.tag = {text};"),
            _ => format!("String t{number} = {text}; tag = t{number} + \"l\";"),
        };
        if self.calm || depth == 0 || self.any.once_in(2) {
            return plain;
        }
        let inner = self.statements(depth - 1, parameters);
        match self.any.below(20) {
            0 => format!("if ({flag}) {{ {inner} }}"),
            1 => format!("if ({flag}) {{ {plain} }} else {{ {inner} }}"),
            2 => format!("if ({flag}) return;")
                .replace("return;", if parameters { "return;" } else { "tag = \"r\";" }),
            3 => format!("{{ String tag = \"local\"; tag = tag + \"x\"; }} {plain}"),
            4 => format!("for (int i{number} = 0; i{number} < 2; i{number}++) tag += i{number};"),
            5 => "enable();".to_owned(),
            6 => format!("this.set({text});"),
            7 => "helper(this);".to_owned(),
            8 => format!("Runnable r{number} = () -> tag = \"lambda\"; r{number}.run();"),
            9 => "new Object() { void f() { tag = \"anonymous\"; } }.f();".to_owned(),
            10 => format!("on = text = {flag};"),
            11 => format!("try {{ {inner} }} finally {{ {plain} }}"),
            12 => format!("tag += {text};"),
            13 if parameters => format!("s = {text}; tag = s;"),
            14 if parameters => format!("b = !b; on = b; n++; {plain}"),
            15 => {
                format!("switch (Consts.N) {{ case 3: {{ {plain} }} break; default: on = false; }}")
            }
            16 => format!("out{number}: {{ {inner} if ({flag}) break out{number}; {plain} }}"),
            17 => format!("synchronized (this) {{ {inner} }}"),
            18 => format!("java.util.List.of(1).forEach(i{number} -> enable()); {plain}"),
            _ => format!("{{ {inner} }}"),
        }
    }
}
