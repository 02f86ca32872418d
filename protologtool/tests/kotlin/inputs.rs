//! Files that need others: constants of other files, and functions that pass templates on, in both
//! languages.

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

/// A file of the package `p` with this header and these templates.
fn calls(header: &str, templates: &[&str]) -> String {
    let calls: Vec<String> =
        templates.iter().map(|it| format!("ProtoLog.d(AppLog.NET, {it})")).collect();
    let calls = calls.join("; ");
    format!(
        "package p; import demo.AppLog; import dev.protolog.ProtoLog; {header} {{ fun f() {{ {calls} }} }}"
    )
}

const TEXTS: (&str, &str) = (
    "q/Anything.kt",
    "package q\nconst val TOP = \"top \" + Texts.IN\nobject Texts { const val IN = \"in\"; object Deep { const val N = 7 } }\n\
    class Owner { companion object { internal const val TAG = \"tag\"; private const val OWN = \"own\" } }\n\
    class Named { companion object Names { const val X = 'x' } }\nprivate const val HIDDEN = \"hidden\"\n",
);

#[test]
fn constants_of_other_files() {
    let written = [
        "TOP",
        "\"$TOP!\"",
        "T.IN",
        "q.Texts.Deep.N + \"%d\"",
        "Owner.TAG",
        "Owner.Companion.TAG",
        "\"${Named.X} ${Named.Names.X}\"",
        "IN",
    ];
    let source =
        calls("import q.*; import q.Texts as T; import q.Texts.IN; object A", &written[..3]);
    check(&[("p/A.kt", &source), TEXTS], &["top in", "top in!", "in"]);
    let source = calls("import q.*; import q.Texts.IN; object A", &written[4..]);
    check(&[("p/A.kt", &source), TEXTS], &["tag", "tag", "x x", "in"]);
    let source = calls("object A", &["\"${q.Texts.Deep.N} ${q.TOP}\""]);
    check(&[("p/A.kt", &source), TEXTS], &["7 top in"]);
    // Of the same package, in a file of any name.
    let source = calls("object A", &["OF_PACKAGE"]);
    check(&[("p/A.kt", &source), ("b.kt", "package p\nconst val OF_PACKAGE = \"p\"")], &["p"]);
}

#[test]
fn constants_that_are_not_known() {
    let error = |name| {
        Err(format!("the template is not a constant: `{name}` is not known when the tool runs"))
    };
    for name in ["HIDDEN", "Owner.OWN", "Texts.NONE"] {
        let source = calls("import q.*; object A", &[name]);
        assert_eq!(templates(&[("p/A.kt", &source), TEXTS]), error(name));
    }
    // Two programs in one run.
    let source = calls("object A", &["X"]);
    let two = [
        ("a/X.kt", "package p\nconst val X = \"a\""),
        ("b/X.kt", "package p\nconst val X = \"b\""),
    ];
    assert_eq!(templates(&[("p/A.kt", &source), two[0], two[1]]), error("X"));
    // They need each other.
    let circle = [("a.kt", "package p\nconst val X = Y"), ("b.kt", "package p\nconst val Y = X")];
    assert_eq!(templates(&[("p/A.kt", &source), circle[0], circle[1]]), too_deep());
}

#[test]
fn inherited_names_hide_constants() {
    let texts = ("q/Texts.kt", "package q\nconst val TAG = \"tag\"");
    let source = calls("import q.TAG; class A : Base(1)", &["\"$TAG\""]);
    check(&[("p/A.kt", &source), texts], &["tag"]);
    for base in [
        "open class Base(n: Int) { val TAG = n }",
        "open class Base(val TAG: Int)",
        "open class Base(n: Int) : Over { companion object { const val TAG = \"base\" } }",
        "open class Base(n: Int) : Over\ninterface Over { val TAG: String get() = \"\" }",
        "open class Base(n: Int) : Over<Int>() { }\nopen class Over<T> { val TAG = 1 }",
    ] {
        let base = format!("package p\n{base}");
        check(&[("p/A.kt", &source), texts, ("p/Base.kt", &base)], &["%s"]);
    }
    let base = "package p\nopen class Base(n: Int) { fun f() { val TAG = n } }";
    check(&[("p/A.kt", &source), texts, ("p/Base.kt", base)], &["tag"]);
}

#[test]
fn constants_of_the_other_language() {
    let java = (
        "q/Texts.java",
        "package q; public class Texts { public static final String A = \"a\" + 1; static final int N = 3; \
        public static String V = \"v\"; static class In { static final String B = \"b\"; } }",
    );
    let source = calls(
        "import q.Texts; import q.Texts.A; object O",
        &["A", "\"${Texts.A} ${Texts.N} ${Texts.In.B}\""],
    );
    check(&[("p/O.kt", &source), java], &["a1", "a1 3 b"]);
    let source = calls("import q.Texts; object O", &["Texts.V"]);
    assert!(templates(&[("p/O.kt", &source), java]).is_err());

    let source = "package p; import static q.AnythingKt.TOP; import q.*; import dev.protolog.ProtoLog; import demo.AppLog; \
        class A { void f() { ProtoLog.d(AppLog.NET, TOP + \" \" + Texts.IN); ProtoLog.d(AppLog.NET, Owner.TAG); \
        ProtoLog.d(AppLog.NET, q.AnythingKt.TOP); } }";
    check(&[("p/A.java", source), TEXTS], &["top in in", "tag", "top in"]);
    for (written, file) in [("Texts.Deep.N + 1 + \"x\"", TEXTS), ("Owner.OWN", TEXTS)] {
        let source = source.replace("Owner.TAG", written);
        assert!(templates(&[("p/A.java", &source), file]).is_err(), "{written}");
    }
    let named = format!("@file:JvmName(\"Other\")\n{}", TEXTS.1);
    let source = source.replace("AnythingKt", "Other");
    check(&[("p/A.java", &source), (TEXTS.0, &named)], &["top in in", "tag", "top in"]);
}

/// A file of the package `q` with such functions.
const LOGS: (&str, &str) = (
    "q/Logs.kt",
    "package q\nimport demo.AppLog\nimport dev.protolog.ProtoLog\n\
    fun top(msg: String, vararg args: Any?) = ProtoLog.v(AppLog.NET, msg, *args)\n\
    object Log {\n    @JvmStatic fun d(msg: String, vararg args: Any?) { ProtoLog.d(AppLog.DISK, \"%s: $msg!\", TAG, *args) }\n\
    \n    fun plain(msg: String) = ProtoLog.i(AppLog.NET, msg)\n    private const val TAG = \"Log\" }\n\
    class Server { companion object { @JvmStatic fun w(msg: String, vararg args: Any?) = ProtoLog.w(AppLog.NET, \"server $msg\", *args) } }\n\
    class Named { companion object Logs { fun n(msg: String, vararg args: Any?) = ProtoLog.w(AppLog.NET, \"named $msg\", *args) } }\n\
    private object Own { fun own(msg: String) = ProtoLog.w(AppLog.NET, msg) }\n",
);

/// A file that calls them, with this header and these statements.
fn callers(header: &str, statements: &str) -> String {
    format!("package p\n{header}\nclass A {{ fun f(n: Int) {{ {statements} }} }}\n")
}

#[test]
fn functions_of_other_files_that_pass_templates_on() {
    let by_import = callers(
        "import q.Log\nimport q.Log.plain\nimport q.Named\nimport q.Server as S\nimport q.top\nimport q.top as over",
        "top(\"a %d\", n); over(\"b $n\"); Log.d(\"c\"); plain(\"d\"); S.w(\"e\"); S.Companion.w(\"f\"); Named.n(\"g\"); Named.Logs.n(\"h\")",
    );
    let expected = ["a %d", "b %d", "Log: c!", "d", "server e", "server f", "named g", "named h"];
    check(&[("p/A.kt", &by_import), LOGS], &expected);
    check(
        &[("p/A.kt", &callers("import q.*", "top(\"a\"); Log.d(\"b\")")), LOGS],
        &["a", "Log: b!"],
    );
    check(&[("p/A.kt", &callers("", "q.top(\"a\"); q.Log.plain(\"b\")")), LOGS], &["a", "b"]);
    let same_package =
        callers("", "top(\"a\"); Log.plain(\"b\")").replace("package p", "package q");
    check(&[("p/A.kt", &same_package), LOGS], &["a", "b"]);
}

/// A file with a class whose instances have a tag.
const TAGGED: (&str, &str) = (
    "q/Tagged.kt",
    "package q\nimport demo.AppLog\nimport dev.protolog.ProtoLog\n\
    class Tagged(private val tag: String) {\n\
    fun v(msg: String, vararg args: Any?) = ProtoLog.v(AppLog.NET, \"%s: $msg\", tag, *args)\n\
    fun e(msg: String, vararg args: Any?) { ProtoLog.e(AppLog.DISK, \"$tag! $msg\", *args) } }\n",
);

#[test]
fn instances_of_other_files_that_have_tags() {
    let statements =
        "log.v(\"a %d\", n); Tagged(\"B\").e(\"b $n\"); val own = q.Tagged(\"C\"); own.v(\"c\")";
    let source = callers("import q.Tagged\nprivate val log = Tagged(\"A\")", statements);
    check(&[("p/A.kt", &source), TAGGED], &["A: a %d", "B! b %d", "C: c"]);
    let source = callers("import q.Tagged as T\nprivate val log: T = T(\"A\" + 1)", "log.v(\"a\")");
    check(&[("p/A.kt", &source), TAGGED], &["A1: a"]);
    // Another class, a property that others override or that a class inherits, a function in the
    // place of the constructor.
    for (header, statements) in [
        ("import other.Tagged", "Tagged(\"A\").v(\"a\")"),
        ("import q.Tagged\nfun Tagged(text: String) = Tagged(text)", "Tagged(\"A\").v(\"a\")"),
        (
            "import q.Tagged\nopen class O { open val log = Tagged(\"A\")",
            "log.v(\"a\") } fun g() {}",
        ),
        ("import q.Tagged\nprivate val log = Tagged(\"A\").also { }", "log.v(\"a\")"),
    ] {
        check(&[("p/A.kt", &callers(header, statements)), TAGGED], &[]);
    }
    let inherits = callers("import q.Tagged\nprivate val log = Tagged(\"A\")", "log.v(\"a\")");
    let inherits = inherits.replace("class A", "class A : Base()");
    let base = ("Base.kt", "package p\nopen class Base { val log = q.Tagged(\"B\") }");
    check(&[("p/A.kt", &inherits), TAGGED, base], &[]);
    let unknown = callers("import q.Tagged", "Tagged(name).v(\"a\")");
    let system = Memory::with_files([("p/A.kt", &*unknown), TAGGED]);
    let paths = [PathBuf::from("p/A.kt"), PathBuf::from(TAGGED.0)];
    let notes = process(&system, &settings(), &paths, 1).remove(0).unwrap().warnings;
    let notes: Vec<&str> = notes.iter().map(|note| &*note.message).collect();
    let why = "this call stays as it is, and is interned when the program runs: the tag of this instance is no constant";
    assert_eq!(notes, [why]);
}

#[test]
fn functions_that_another_one_may_stand_in_for() {
    let caller = callers("import q.top", "top(\"a\")");
    check(&[("p/A.kt", &caller), LOGS], &["a"]);
    let with = |path, text: &str| templates(&[("p/A.kt", &caller), LOGS, (path, text)]);
    let none = Ok(Vec::new());
    let all = Ok(vec!["a".to_owned()]);
    assert_eq!(with("x.kt", "package q\nfun top(n: Int) = n"), none);
    assert_eq!(with("x.kt", "package q\nprivate fun top(n: Int) = n"), all);
    assert_eq!(with("x.kt", "package q\nclass X { fun top(n: Int) = n }"), all);
    assert_eq!(with("other/Logs.kt", &LOGS.1.replace("AppLog.NET, msg", "AppLog.DISK, msg")), none);
    let inherits = caller.replace("class A", "class A : Base()");
    let base = ("Base.kt", "package p\nopen class Base { fun top(msg: String) = msg }");
    check(&[("p/A.kt", &inherits), LOGS], &["a"]);
    check(&[("p/A.kt", &inherits), LOGS, base], &[]);
    for hides in [
        "fun top(n: String) = n",
        "val top = { text: String -> text }",
        "fun g(top: (String) -> Unit) {}",
    ] {
        let source = caller.replace("class A {", &format!("class A {{ {hides};"));
        let expected: &[&str] = if hides.contains("fun g") { &["a"] } else { &[] };
        check(&[("p/A.kt", &source), LOGS], expected);
    }
    let circle = callers("typealias X = Y; typealias Y = X", "X.top(\"a\")");
    check(&[("p/A.kt", &circle), LOGS], &[]);
    check(&[("p/A.kt", &callers("", "top(\"a\"); Own.own(\"b\")")), LOGS], &[]);
}

/// A class of the package `q` with methods that pass templates on.
const JAVA_LOGS: (&str, &str) = (
    "q/JLog.java",
    "package q; import demo.AppLog; import dev.protolog.ProtoLog; public class JLog {\n\
    public static void v(String msg, Object... args) { ProtoLog.v(AppLog.NET, \"j \" + msg, args); }\n\
    public static void text(String msg) { ProtoLog.d(AppLog.DISK, msg + JLog.END); } static final String END = \"!\";\n\
    void own(String msg) { own2(msg); own2(\"own\"); } private void own2(String msg) { ProtoLog.i(AppLog.NET, msg); }\n\
    static void more(String msg) { ProtoLog.i(AppLog.NET, msg); System.gc(); }\n\
    static void over(String msg) { ProtoLog.i(AppLog.NET, msg); } static void over(int n) { }\n\
    static void twice(String msg) { ProtoLog.i(AppLog.NET, msg + msg); } void open(String msg) { ProtoLog.i(AppLog.NET, msg); }\n}\n",
);

#[test]
fn methods_of_java_that_pass_templates_on() {
    let java_logs = JAVA_LOGS.1;
    // The log calls of the others are errors.
    let unclear = java_logs
        .find("    static void more")
        .unwrap_or_else(|| java_logs.find("static void more").unwrap());
    let logs = (JAVA_LOGS.0, format!("{}}}", &java_logs[..unclear]));
    let logs = (logs.0, logs.1.as_str());
    let java = "package p; import q.JLog; import static q.JLog.text; class A { void f(int n) { JLog.v(\"a %d\", n); \
        text(\"b\"); q.JLog.v(\"c\"); if (n > 1) text(\"d\"); else text(\"e\"); Runnable r = () -> text(\"f\"); \
        q.LogsKt.top(\"g\"); q.Log.d(\"h\"); q.Log.INSTANCE.plain(\"i\"); q.Server.w(\"j\"); q.Server.Companion.w(\"k\"); } }";
    let expected =
        ["j a %d", "b!", "j c", "d!", "e!", "f!", "g", "Log: h!", "i", "server j", "server k"];
    check(&[("p/A.java", java), logs, LOGS], &expected);
    check(&[logs], &["own"]);
    let kotlin =
        callers("import q.JLog\nimport q.JLog.text", "JLog.v(\"a %d\", n); text(\"b $n\")");
    check(&[("p/A.kt", &kotlin), logs], &["j a %d", "b %d!"]);
    let hidden = java.replace("void f(int n)", "static void text(String x) { } void f(int n)");
    let expected = ["j a %d", "j c", "g", "Log: h!", "i", "server j", "server k"];
    check(&[("p/A.java", &hidden), logs, LOGS], &expected);
    let inherits = java.replace("class A", "class A extends Base");
    let base = ("p/Base.java", "package p; class Base { static void text(String x) { } }");
    check(&[("p/A.java", &inherits), base, logs, LOGS], &expected);
}

#[test]
fn methods_that_do_more_than_a_log_call() {
    for name in ["more", "over", "twice", "open"] {
        let caller = format!("package p; class A {{ void f() {{ q.JLog.{name}(\"x\"); }} }}");
        check(&[("p/A.java", &caller), JAVA_LOGS], &[]);
    }
}

/// A source with what `check --fix` makes of it.
#[track_caller]
fn check_fixed(source: &str, expected: &str) {
    let system = Memory::with_files([("A.kt", source)]);
    let processed = process(&system, &settings(), &[PathBuf::from("A.kt")], 1).remove(0).unwrap();
    let report = processed.report.expect("a problem");
    let mut fixed = source.to_owned();
    let fixes = report.diagnostics.iter().flat_map(|diagnostic| &diagnostic.fixes);
    let mut certain: Vec<_> = fixes.filter(|fix| fix.is_certain).collect();
    certain.sort_by_key(|fix| std::cmp::Reverse(fix.range.start));
    for fix in certain {
        fixed.replace_range(fix.range.clone(), &fix.text);
    }
    assert_eq!(fixed, expected);
    let again = Memory::with_files([("A.kt", &*fixed)]);
    let processed = process(&again, &settings(), &[PathBuf::from("A.kt")], 1).remove(0).unwrap();
    assert!(processed.report.is_none() && !processed.messages.is_empty(), "{fixed}");
}

#[test]
fn problems_that_one_change_removes_for_certain() {
    let with =
        |call: &str| format!("package p\nimport dev.protolog.ProtoLog\nfun f(n: Int) = {call}\n");
    for (call, fixed) in [
        ("ProtoLog.d(NET, \"a $n\")", "ProtoLog.d(demo.AppLog.NET, \"a $n\")"),
        ("ProtoLog.d(\"a %d\",  demo.AppLog.NET, n)", "ProtoLog.d(demo.AppLog.NET,  \"a %d\", n)"),
        ("ProtoLog.d(demo.AppLog.NET, \"100%\")", "ProtoLog.d(demo.AppLog.NET, \"100%%\")"),
    ] {
        check_fixed(&with(call), &with(fixed));
    }
}

fn too_deep() -> Result<Vec<String>, String> {
    Err("the template needs too many constants, or is too long".to_owned())
}

/// A chain of so many constants, each in a file of its own that is Kotlin's or Java's, and a call
/// that needs the last one.
fn chain(count: usize, is_java: impl Fn(usize) -> bool) -> Vec<(String, String)> {
    let of = |number: usize| {
        let before = match number.checked_sub(1) {
            None => "\"x\"".to_owned(),
            Some(before) => format!("\"x\" + K{before}.V"),
        };
        if is_java(number) {
            let text =
                format!("package p; class K{number} {{ static final String V = {before}; }}");
            (format!("p/K{number}.java"), text)
        } else {
            let text = format!("package p\nobject K{number} {{ const val V = {before} }}");
            (format!("p/K{number}.kt"), text)
        }
    };
    let call = ("p/A.kt".to_owned(), calls("class A", &[&format!("K{}.V", count - 1)]));
    [call].into_iter().chain((0..count).map(of)).collect()
}

#[test]
fn constants_that_need_a_hundred_others_of_both_languages() {
    for is_java in [|number| number % 2 == 1, |_| false] {
        let files = chain(100, is_java);
        let files: Vec<_> = files.iter().map(|(path, text)| (&**path, &**text)).collect();
        check(&files, &[&"x".repeat(100)]);
        let files = chain(1000, is_java);
        let files: Vec<_> = files.iter().map(|(path, text)| (&**path, &**text)).collect();
        assert_eq!(templates(&files), too_deep());
    }
}

#[test]
fn constants_of_both_languages_that_need_each_other() {
    let calls = calls("class A", &["J.A"]);
    let files = [
        ("p/A.kt", &*calls),
        ("p/J.java", "package p; class J { static final String A = \"x\" + K.B; }"),
        ("p/K.kt", "package p\nobject K { const val B = \"y\" + J.A }"),
    ];
    assert_eq!(templates(&files), too_deep());
}

/// Each doubles the one before it.
#[test]
fn constants_whose_texts_grow_without_end() {
    let doubled = |declaration: &str, count: usize| {
        let one = |number: usize| {
            let before = number - 1;
            format!("{declaration} K{number} = K{before} + K{before};\n")
        };
        (1..=count).map(one).collect::<String>()
    };
    let kotlin = format!(
        "{}\nconst val K0 = \"a\"\n{}",
        calls("class A", &["K40"]),
        doubled("const val", 40)
    );
    assert_eq!(templates(&[("p/A.kt", &kotlin)]), too_deep());
    for (declaration, first) in [("String", "\"a\""), ("int", "1")] {
        let declaration = format!("static final {declaration}");
        let fields = doubled(&declaration, 40);
        let java = format!(
            "package p; import dev.protolog.ProtoLog; import demo.AppLog;\n\
            class A {{ {declaration} K0 = {first};\n{fields} void f() {{ ProtoLog.d(AppLog.NET, \"\" + K40); }} }}"
        );
        let error = templates(&[("p/A.java", &java)]).expect_err("there is no such text");
        assert!(error.ends_with("is too long, or takes too many steps for its file"), "{error}");
    }
}
