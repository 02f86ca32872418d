//! Enums and objects of Kotlin, with initialisers, accessors and supertypes of all kinds.

use super::compiler::compile;
use super::random::Choices;
use super::{Sources, compare, count, write};
use protolog_testkit::{kotlin, temp_dir};
use protologtool::lang::kotlin::groups::from_kotlin_source;
use protologtool::source::Source;

#[test]
fn groups_of_kotlin_are_those_of_the_virtual_machine() {
    let directory = temp_dir();
    let sources: Sources =
        (0..count(60)).map(|seed| (format!("k{seed}.Log"), generate(seed))).collect();
    let paths = write(directory.path(), &sources, "kt");
    let classes = directory.path().join("classes");
    std::fs::create_dir_all(&classes).unwrap();
    let Some(output) = compile(&paths, &classes) else { return };
    assert_eq!(output.code, Some(0), "kotlinc: {}", output.stderr);
    let read = |class: &str, source: &str| {
        from_kotlin_source(&Source::new("Log.kt", source.as_bytes().to_vec()), class)
    };
    let library = kotlin().unwrap().join("lib/kotlin-stdlib.jar");
    let Some(understood) = compare(&sources, &[classes, library], read) else { return };
    println!("{understood} of {} classes of Kotlin are read", sources.len());
    // Not everything is refused.
    assert!(understood * 4 > sources.len(), "{understood} of {}", sources.len());
}

/// A file with an enum of groups, or with groups in variables of an object.
fn generate(seed: usize) -> String {
    let mut any = Choices::new(seed as u64);
    let any = &mut any;
    let calm = seed.is_multiple_of(3);
    let is_enum = any.once_in(2);
    let mut members = vec![flag_member(any, calm), text_member(any, calm), tag_member(any, calm)];
    if !calm {
        let more = [
            "init { }",
            "constructor(s: String) : this(false, s + \"2\")",
            "var mode = 1",
            "init { if (on) changed = \"init\" }",
            "fun getTag(prefix: String) = prefix",
            "fun change() { changed = \"changed\" }",
        ];
        members.push(any.one_of(&more).to_owned());
        let at = any.below(members.len());
        members.swap(0, at);
    }
    members.insert(any.below(2), "open val base: String = \"b\"".to_owned());
    members
        .push("val early = late + \"!\"\n    val late: String get() = \"late\" + base".to_owned());
    let supertype =
        if calm { "" } else { any.one_of(&["", "", " : Other()", " : Named", " : Foreign"]) };
    if supertype != " : Foreign" {
        members.retain(|it| !it.is_empty());
    }
    let body = members.join("\n    ");
    let head = any.one_of(&[
        "(val on: Boolean, s: String, var n: Int = 3)",
        "(val on: Boolean = true, s: String = \"d\", var n: Int = 3)",
        "(val on: Boolean, val s: String, n: Int = 1 + 2)",
    ]);
    let property = if head.contains("val s") { "" } else { "    val s2 = s\n" };
    let property = format!("{property}    var changed = s\n");
    let supertype = if is_enum && supertype == " : Other()" { " : Named" } else { supertype };
    let [a, b] = [arguments(any), arguments(any)];
    let own = if calm || !is_enum {
        ""
    } else {
        any.one_of(&[
            "",
            "",
            " { override val base = \"own\" }",
            " { init { changed = \"body\" } }",
        ])
    };
    let companion = "companion object { const val IN = \"in\"; val shared = \"shared\" }";
    if is_enum {
        return format!(
            "package k{seed}\nenum class Log{head}{supertype} {{\n    A{a}{own}, B{b};\n{property}    {body}\n    {companion}\n}}\n{OTHERS}"
        );
    }
    format!(
        "package k{seed}\nopen class Group{head}{supertype} {{\n    fun name() = s3()\n    private fun s3() = \"\"\n{property}    {body}\n    {companion}\n}}\n\
        object Log {{\n    val A = Group{a}\n    val B = Group{b}\n}}\n{OTHERS}"
    )
    .replace("    fun name() = s3()\n    private fun s3() = \"\"\n", "    fun getName() = \"x\" + on + changedNot\n    val changedNot = s\n")
}

/// The other declarations of the file.
const OTHERS: &str = "open class Other { open val label: String = \"other\"; open val full = label + \"-\" }\n\
        interface Named { fun isNamed() = true }\nabstract class Foreign2 { }\ninterface Foreign\n\
        const val TOP = \"top\"\nval COMPUTED = \"c\" + 1\nval GOT: String\n    get() = \"got\"\n";

fn arguments(any: &mut Choices) -> &'static str {
    any.one_of(&[
        "(true, \"t\")",
        "(false, \"f\" + TOP)",
        "(on = true, s = \"named\")",
        "(1 > 2, \"$TOP!\", 5)",
        "(true, COMPUTED)",
        "(true, GOT)",
    ])
}

fn flag_member(any: &mut Choices, calm: bool) -> String {
    let all = [
        "fun isEnabled() = on",
        "fun isEnabled(): Boolean { return on }",
        "val isEnabled = on",
        "val isEnabled: Boolean get() = !on",
        "val isEnabled: Boolean\n    get() = on || n > 2",
        "fun isEnabled() = if (on) true else n == 4",
        "fun isEnabled(): Boolean { val x = !on; return x }",
        "val isEnabled: Boolean = true\n    get() = field && on",
        "var isEnabled = on",
        "val isEnabled: Boolean\n    init { isEnabled = !on }",
        "val isEnabled by lazy { on }",
        "var isEnabled = on\n        private set\n    init { isEnabled = false }",
        "fun isEnabled() = on.not()",
        "val isEnabled = true\n    @JvmName(\"isEnabled\") get() = on && field",
    ];
    let all = all.map(|it| {
        it.replace("n > 2", "s.length > 99")
            .replace("n == 4", "s.length > 99")
            .replace("s.length > 99", "TOP == \"x\"")
    });
    let all: Vec<&str> = all.iter().map(String::as_str).collect();
    any.one_of(if calm { &all[..6] } else { &all }).to_owned()
}

fn text_member(any: &mut Choices, calm: bool) -> String {
    let all = [
        "fun isLogToLogcat() = false",
        "fun isLogToLogcat() = on && true",
        "val isLogToLogcat = !on",
        "fun isLogToLogcat(): Boolean = helper()\n    private fun helper() = true",
        "val isLogToLogcat get() = TOP != \"top\"",
        "var isLogToLogcat = true\n    init { this.isLogToLogcat = false }",
    ];
    any.one_of(if calm { &all[..3] } else { &all }).to_owned()
}

fn tag_member(any: &mut Choices, calm: bool) -> String {
    let all = [
        "val tag = \"tag \" + s",
        "val tag: String = \"$s!\"",
        "fun getTag(): String = \"fixed\"",
        "val tag: String get() = IN + base",
        "val tag = \"a\"\n        get() = \"b\" + base + field",
        "val tag: String = \"a\"\n    get() = field + TOP",
        "val tag = full()\n    private fun full() = base + \"x\"",
        "var tag = s\n        set(value) { field = value + \"!\" }",
        "val tag get() = changed",
        "val tag: String\n    init { tag = s + \"i\" }",
        "fun getTag() = base + shared",
        "val tag: String get() { val x = base; return x }",
        "val tag = late + s",
        "fun getTag(): String { if (on) return \"on\"; return \"off\" }",
        "val tag = \"x\".uppercase()",
        "val tag get() = TOP + GOT + COMPUTED",
    ];
    any.one_of(if calm { &all[..4] } else { &all }).to_owned()
}
