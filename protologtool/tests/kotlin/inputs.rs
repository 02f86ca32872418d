//! Files that need others: constants of other files, in both languages.

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
    assert_eq!(templates(&[("p/A.kt", &source), circle[0], circle[1]]), error("X"));
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
