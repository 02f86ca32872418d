//! Groups that Kotlin's compiler made classes of: the same from the evaluator as from a JVM, and
//! from their source.

use crate::fixture::{entries_of, fixtures, jar};
use protolog_testkit::{assert_eq_text, kotlin, kotlinc, run, temp_dir, tool};
use protologtool::groups::{GroupNumbers, from_jar};
use protologtool::lang::kotlin::groups::from_kotlin_source;
use protologtool::source::Source;
use std::fmt::Write;
use std::process::Command;
use zip::CompressionMethod;

#[test]
fn what_kotlinc_makes_is_evaluated() {
    let (Some(kotlin), Some(java), Some(mut compiler)) = (kotlin(), tool("java"), kotlinc()) else {
        return;
    };
    let directory = temp_dir();
    let classes = directory.path().join("classes");
    let sources =
        ["Groups.kt", "Source.kt", "Main.kt"].map(|file| fixtures().join("kotlin").join(file));
    run(compiler.args(&sources).arg("-d").arg(&classes));
    let jar = jar(&entries_of(&classes), CompressionMethod::Deflated);
    let mut found = String::new();
    for class in ["kt.Groups", "kt.Objects"].into_iter().chain(OF_SOURCE) {
        for group in from_jar(&jar, class).unwrap_or_else(|error| panic!("{class}: {error}")).list()
        {
            let id = group.declared_id.expect("they have ids") as i32;
            let (enabled, text, tag) = (group.enabled, group.log_to_text, &group.tag);
            writeln!(found, "{} {enabled} {text} {id} {tag}", group.own_name).unwrap();
        }
    }
    let path = std::env::join_paths([classes, kotlin.join("lib/kotlin-stdlib.jar")]).unwrap();
    let printed = run(Command::new(java).arg("-cp").arg(path).arg("kt.MainKt"));
    assert_eq_text(&printed.stdout, &found);

    let path = fixtures().join("kotlin/Source.kt");
    let source = Source::new(&path, std::fs::read(&path).unwrap());
    for class in OF_SOURCE {
        let from_source = from_kotlin_source(&source, class);
        let from_source = from_source.unwrap_or_else(|problems| panic!("{class}: {problems:#?}"));
        let from_jar = from_jar(&jar, class).unwrap();
        assert_eq!(from_source, from_jar, "{class}");
    }
}

/// An error names what can't be evaluated without a compiler; of an id it is a warning.
#[test]
fn what_the_source_does_not_tell() {
    let read = |text: &str, class: &str| {
        let groups = from_kotlin_source(&Source::new("G.kt", text.as_bytes().to_vec()), class);
        groups.map_err(|problems| problems[0].message.clone())
    };
    let text = "package p\nimport dev.protolog.IProtoLogGroup\nenum class G(val tag: String) { A(System.lineSeparator()), B(\"b\") }\n\
        object O { val X = Unknown(1); val Y = 2 }\n\
        enum class Ids(val tag: String = \"t\") { ONE; fun getId() = hashCode() }\n\
        enum class NoTag { ONE }\n\
        enum class Imported(val tag: String) : IProtoLogGroup { ONE(\"t\") }";
    let errors = [
        ("p.G", "can't evaluate the group `A`: `System.lineSeparator()` has no value here"),
        ("p.O", "no groups in `p.O`"),
        (
            "p.NoTag",
            "can't evaluate the group `ONE`: `getTag` is not in this file, or of another type",
        ),
        ("p.None", "no class `p.None` in this file"),
        (
            "p.Imported",
            "the enum `Imported` can't implement `IProtoLogGroup`: its `name` and the interface's `name()` would be one method",
        ),
    ];
    for (class, message) in errors {
        assert_eq!(read(text, class), Err(message.to_owned()), "{class}");
    }
    let ids = read(text, "p.Ids").unwrap().for_android(GroupNumbers::Declared).unwrap();
    assert_eq!(ids.list()[0].id, 1);
    assert!(ids.unknown_ids().is_some());
    assert!(read("enum class G { A(", "G").is_err());
}

/// The classes whose groups are read from their source, too.
const OF_SOURCE: [&str; 3] = ["kt.FromSource", "kt.SourceObjects", "kt.Host"];
