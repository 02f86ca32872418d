//! The command line: groups, places of the enum, files that can't be written, formats.

use crate::case::migrate;
use protologtool::cli::Exit;
use protologtool::system::Memory;
use std::fs;
use std::path::Path;
use std::process::Command;

const MANIFEST: &str = "[package]\nname = \"my-app\"\n";
const CALLS: &str = "use log::info;\n\nfn f(n: u8) {\n    info!(\"sent {}\", n);\n}\n";

fn project(files: &[(&str, &str)]) -> Memory {
    let system = Memory::with_files(files.iter().copied());
    system.add_file("Cargo.toml", MANIFEST);
    system
}

#[test]
fn a_group_that_is_given() {
    let system = project(&[("src/lib.rs", "mod net;\n"), ("src/net.rs", CALLS)]);
    let exit =
        migrate(&system, &["--from", "log", "--group", "crate::a::AppLog::Net", "--apply", "src"]);
    assert_eq!(exit, Exit::Done, "{}", system.errors());
    let expected = "use protolog_rt::levels::info;\nuse crate::a::AppLog;\n\nfn f(n: u8) {\n    info!(AppLog::Net, \"sent %s\", n);\n}\n";
    assert_eq!(system.text("src/net.rs").unwrap(), expected);
    assert_eq!(system.text("src/lib.rs").unwrap(), "mod net;\n");
}

#[test]
fn the_enum_is_in_the_root_whatever_the_module() {
    let root =
        "//! A crate.\n#![allow(unused)]\n\nmod net;\nmod disk;\n\n/// A type.\npub struct A;\n";
    let system = project(&[("src/lib.rs", root), ("src/net.rs", CALLS), ("src/disk.rs", CALLS)]);
    assert_eq!(
        migrate(&system, &["--from", "log", "--enum", "Logs", "--apply", "src"]),
        Exit::Done
    );
    let expected = "//! A crate.\n#![allow(unused)]\n\nmod net;\nmod disk;\n\n/// The groups of this crate's log calls.\n#[derive(protolog_rt::ProtoLogGroup)]\npub(crate) enum Logs {\n    Disk,\n    Net,\n}\n\n/// A type.\npub struct A;\n";
    assert_eq!(system.text("src/lib.rs").unwrap(), expected);
    // A module with calls that comes later adds its group.
    system.add_file("src/lib.rs", expected.replace("mod disk;", "mod disk;\nmod late;"));
    system.add_file("src/late.rs", CALLS);
    assert_eq!(
        migrate(&system, &["--from", "log", "--enum", "Logs", "--apply", "src"]),
        Exit::Done
    );
    assert!(system.text("src/lib.rs").unwrap().contains("    Disk,\n    Net,\n    Late,\n}\n"));
}

#[test]
fn targets_that_differ_have_groups_that_differ() {
    let calls = "fn f() {\n    log::info!(target: \"a::b\", \"x\");\n    log::info!(target: \"a-b\", \"y\");\n    log::info!(target: \"a::b\", \"z\");\n}\n";
    let system = project(&[("src/lib.rs", calls)]);
    assert_eq!(migrate(&system, &["--from", "log", "--apply", "src"]), Exit::Done);
    let first = system.text("src/lib.rs").unwrap();
    let group = |text: &str, call: &str| {
        let line = text.lines().find(|line| line.contains(call)).unwrap().to_owned();
        line.split("LogGroup::").nth(1).unwrap().split(',').next().unwrap().to_owned()
    };
    let groups = ["\"x\"", "\"y\"", "\"z\""].map(|call| group(&first, call));
    assert_eq!(groups, ["AB", "AB2", "AB"], "{first}");
    let body =
        "    #[protolog(tag = \"a::b\")]\n    AB,\n    #[protolog(tag = \"a-b\")]\n    AB2,\n}";
    assert!(first.contains(body), "{first}");
    // Those of an earlier run are known by their tags, whichever call comes first.
    let later = "mod late;\n".to_owned() + &first;
    system.add_file("src/lib.rs", later);
    system.add_file(
        "src/late.rs",
        "fn g() {\n    log::info!(target: \"a.b\", \"u\");\n    log::info!(target: \"a-b\", \"v\");\n}\n",
    );
    assert_eq!(migrate(&system, &["--from", "log", "--apply", "src"]), Exit::Done);
    let late = system.text("src/late.rs").unwrap();
    assert_eq!(["\"u\"", "\"v\""].map(|call| group(&late, call)), ["AB3", "AB2"], "{late}");
    assert!(
        system.text("src/lib.rs").unwrap().contains("    #[protolog(tag = \"a.b\")]\n    AB3,\n")
    );
}

/// Names of variants in comments and tags of the enum are none of its own.
#[test]
fn groups_of_an_enum_that_is_there_are_its_variants() {
    let root = "mod net;\nmod disk;\n\n#[derive(protolog_rt::ProtoLogGroup)]\npub(crate) enum LogGroup {\n    /// As Net, but of the Disk.\n    #[protolog(tag = \"Disk, Net\")]\n    Other,\n    /// Calls of Net, not Disk.\n    Net // or Disk\n}\n";
    let system = project(&[("src/lib.rs", root), ("src/net.rs", CALLS), ("src/disk.rs", CALLS)]);
    assert_eq!(migrate(&system, &["--from", "log", "--apply", "src"]), Exit::Done);
    assert!(system.text("src/net.rs").unwrap().contains("LogGroup::Net, \"sent"));
    assert!(system.text("src/disk.rs").unwrap().contains("LogGroup::Disk, \"sent"));
    let text = system.text("src/lib.rs").unwrap();
    assert!(text.contains("    Net, // or Disk\n    Disk,\n}"), "{text}");
}

#[test]
fn numbers_in_targets_that_differ_stay_apart() {
    let calls = "fn f() {\n    log::info!(target: \"1 2 3\", \"x\");\n    log::info!(target: \"12 3\", \"y\");\n    log::info!(target: \"http 1.1\", \"z\");\n}\n";
    let system = project(&[("src/lib.rs", calls)]);
    assert_eq!(migrate(&system, &["--from", "log", "--apply", "src"]), Exit::Done);
    let text = system.text("src/lib.rs").unwrap();
    for expected in ["Group1_2_3, \"x\"", "Group12_3, \"y\"", "Http1_1, \"z\""] {
        assert!(text.contains(expected), "{text}");
    }
}

#[test]
fn paths_that_are_not_there_are_named() {
    let system = project(&[("src/lib.rs", CALLS)]);
    for path in ["missing.rs", "missing.java"] {
        assert_eq!(migrate(&system, &["--from", "log", path]), Exit::Failed);
        let expected = format!("error: can't read `{path}`: ");
        assert!(system.errors().contains(&expected), "{}", system.errors());
    }
}

#[test]
fn a_root_that_is_no_input_is_a_step() {
    let system = project(&[("src/lib.rs", "mod net;\n"), ("src/net.rs", CALLS)]);
    assert_eq!(migrate(&system, &["--from", "log", "--apply", "src/net.rs"]), Exit::Done);
    assert_eq!(system.text("src/lib.rs").unwrap(), "mod net;\n");
    let step = "help: add to `src/lib.rs`: `#[derive(protolog_rt::ProtoLogGroup)] pub(crate) enum LogGroup { Net }`\n";
    assert!(system.errors().contains(step), "{}", system.errors());
}

#[test]
fn a_file_of_two_crates_is_listed() {
    let system = project(&[
        ("src/lib.rs", "mod net;\n"),
        ("src/main.rs", "mod net;\nfn main() {}\n"),
        ("src/net.rs", CALLS),
    ]);
    assert_eq!(migrate(&system, &["--from", "log", "--apply", "src"]), Exit::Problems);
    assert_eq!(system.text("src/net.rs").unwrap(), CALLS);
    assert!(
        system.errors().contains("its file is a module of several crates"),
        "{}",
        system.errors()
    );
}

#[test]
fn a_crate_that_is_taken_into_all_files_goes_where_nothing_needs_it() {
    let root = "#[macro_use]\nextern crate log;\n\nmod net;\n\nfn g() { warn!(\"x\"); }\n";
    let calls = "fn f() { info!(\"y\"); }\n";
    let system = project(&[("src/lib.rs", root), ("src/net.rs", calls)]);
    assert_eq!(migrate(&system, &["--from", "log", "--apply", "src"]), Exit::Done);
    let after = system.text("src/lib.rs").unwrap();
    assert!(after.starts_with("\nmod net;\n"), "{after}");
    assert!(
        after.contains("fn g() { protolog_rt::w!(crate::LogGroup::MyApp, \"x\"); }"),
        "{after}"
    );
    let after = system.text("src/net.rs").unwrap();
    assert_eq!(after, "fn f() { protolog_rt::i!(crate::LogGroup::Net, \"y\"); }\n");

    let system = project(&[("src/lib.rs", root), ("src/net.rs", "fn f() { info!(X); }\n")]);
    assert_eq!(migrate(&system, &["--from", "log", "--apply", "src"]), Exit::Problems);
    assert!(system.text("src/lib.rs").unwrap().starts_with("#[macro_use]\nextern crate log;\n"));
}

#[test]
fn an_import_that_other_files_need_stays() {
    let root = "use log::info;\nmod net;\nfn g() { info!(\"x\"); }\n";
    let system =
        project(&[("src/lib.rs", root), ("src/net.rs", "use super::*;\nfn f() { info!(X); }\n")]);
    assert_eq!(migrate(&system, &["--from", "log", "--apply", "src"]), Exit::Problems);
    let after = system.text("src/lib.rs").unwrap();
    assert!(after.starts_with("use log::info;\n"), "{after}");
    assert!(after.contains("protolog_rt::i!(crate::LogGroup::MyApp, \"x\")"), "{after}");
}

#[test]
fn machines_get_the_list_in_lines_of_json() {
    let system = project(&[("src/lib.rs", "fn f() { log::info!(X); }\n")]);
    let exit = migrate(&system, &["--from", "log", "--message-format", "json", "src"]);
    assert_eq!(exit, Exit::Problems);
    let line: serde_json::Value = serde_json::from_str(system.out().trim()).unwrap();
    assert_eq!(
        (&line["code"], &line["start"]["line"], &line["start"]["column"]),
        (&"not-moved".into(), &1.into(), &10.into()),
        "{line}"
    );
}

#[test]
fn nothing_to_move_is_nothing_to_do() {
    let system = project(&[("src/lib.rs", "fn f() { println!(); }\n")]);
    assert_eq!(migrate(&system, &["--from", "log", "--apply", "src"]), Exit::Done);
    assert_eq!(system.errors(), "0 calls moved in 0 files\n");
}

/// Without tests nothing names the variant, which would be a warning.
#[test]
fn a_group_that_only_tests_have_may_be_unused() {
    let text = "use log::info;\nfn f() { info!(\"x\"); }\n#[cfg(test)]\nmod tests {\n    use super::*;\n    #[test]\n    fn t() { info!(\"y\"); }\n}\n";
    let system = project(&[("src/lib.rs", text)]);
    assert_eq!(migrate(&system, &["--from", "log", "--apply", "src"]), Exit::Done);
    let after = system.text("src/lib.rs").unwrap();
    let expected = "enum LogGroup {\n    MyApp,\n    #[allow(dead_code)]\n    Tests,\n}\n";
    assert!(after.contains(expected), "{after}");
}

#[test]
fn a_library_that_the_sources_do_not_use() {
    let text = "use tracing::info;\nfn f() { info!(\"x\"); }\n";
    let system = project(&[("src/lib.rs", text)]);
    assert_eq!(migrate(&system, &["--from", "log", "--apply", "src"]), Exit::Done);
    let expected =
        "0 calls moved in 0 files\nhelp: try `--from tracing`, which `src/lib.rs` names\n";
    assert_eq!(system.errors(), expected);
}

#[test]
fn kotlin_is_named_as_not_read() {
    let java = "import org.slf4j.Logger;\nclass A { Logger log; void f() { log.info(\"x\"); } }\n";
    let system = project(&[("src/A.java", java), ("src/K.kt", "fun f() {}\n")]);
    migrate(&system, &["--from", "slf4j", "src"]);
    let note = "note: 1 file of Kotlin not read: only calls of Java are moved\n";
    assert!(system.errors().contains(note), "{}", system.errors());
}

/// `git apply` compares bytes, so the difference of a source in Latin-1 is in Latin-1.
#[test]
fn a_difference_has_the_bytes_of_the_source() {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("migrate-bytes");
    fs::create_dir_all(&directory).unwrap();
    let text = b"import org.slf4j.Logger;\n// caf\xe9\nclass A {\n    Logger log;\n    void f() { log.info(\"x\"); }\n}\n";
    fs::write(directory.join("A.java"), text).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_protologtool"));
    command.args(["migrate", "--from", "slf4j", "A.java"]).current_dir(&directory);
    let out = command.output().unwrap().stdout;
    let line = b"\n // caf\xe9\n".as_slice();
    assert!(out.windows(line.len()).any(|part| part == line), "{}", out.escape_ascii());
}

#[test]
fn wrong_words() {
    for (words, error) in [
        (&["--from", "log4j", "src"][..], "log4j"),
        (&["--from", "log"], "missing sources"),
        (&["--from", "log", "--group", "Net", "src"], "is not the path of a group"),
        (&["--from", "log", "--enum", "net", "src"], "not the name of an enum"),
        (&["src"], "--from"),
        (&["--from", "log", "missing"], "missing"),
        (&["--from", "slf4j", "src"], "no source of Java is in the paths"),
    ] {
        let system = project(&[("src/lib.rs", CALLS)]);
        assert_eq!(migrate(&system, words), Exit::Failed, "{words:?}");
        assert!(system.errors().contains(error), "{words:?}: {}", system.errors());
        assert!(system.errors().contains("\nhelp: "), "{words:?}: {}", system.errors());
    }
}
