//! The command from arguments to outputs: in memory, and once through the real program.

use protolog_testkit::{assert_eq_text, temp_dir};
use protologtool::cli::{Exit, run};
use protologtool::source::line_ends;
use protologtool::system::Memory;
use std::ffi::OsString;
use std::io::{Cursor, Read};
use std::path::Path;
use std::process::Command;
use viewer_config::Dictionary;

const GROUPS: &str = include_str!("../java/runtime/demo/AppLog.java");
const NET: &str = include_str!("fixtures/src/demo/net/Net.java");
const OTHER: &str = include_str!("fixtures/src/demo/Other.java");

const BAD: &str = "\
package demo;
import dev.protolog.ProtoLog;
class Bad { void f() { ProtoLog.d(AppLog.NETT, \"x\"); ProtoLog.d(AppLog.NET, \"%d\"); } }
";

fn system() -> Memory {
    Memory::with_files([
        ("src/demo/AppLog.java", GROUPS),
        ("src/demo/net/Net.java", NET),
        ("src/demo/Other.java", OTHER),
        ("src/demo/Bad.java", BAD),
    ])
}

/// Runs a command line; words are separated by spaces, and `CLASSES` stands for the flags that all
/// have.
fn protologtool(system: &Memory, line: &str) -> Exit {
    let classes = "--protolog-class dev.protolog.ProtoLog --loggroups-class demo.AppLog \
                   --loggroups-source src/demo/AppLog.java";
    let line = format!("protologtool {}", line.replace("CLASSES", classes));
    run(line.split_whitespace().map(OsString::from), system)
}

const TRANSFORM: &str = "transform-protolog-calls CLASSES";
const GENERATE: &str = "generate-viewer-config CLASSES";

#[test]
fn a_directory_and_dictionaries_in_one_pass() {
    let system = system();
    let line = format!(
        "{TRANSFORM} --output-dir out --source-root src --viewer-config a.pb src/demo/net/Net.java \
         src/demo/Other.java --viewer-config a.json --viewer-config a.json.gz"
    );
    assert_eq!(protologtool(&system, &line), Exit::Done, "{}", system.errors());
    assert_eq!((system.out(), system.errors()), (String::new(), String::new()));
    assert_eq!(system.text("out/demo/Other.java").as_deref(), Some(OTHER));

    let rewritten = system.text("out/demo/net/Net.java").unwrap();
    assert_eq!(line_ends(rewritten.as_bytes()).count(), line_ends(NET.as_bytes()).count());
    let dictionary = Dictionary::read(&system.files()[Path::new("a.pb")]).unwrap().dictionary;
    let [message] = dictionary.messages() else { panic!("{dictionary:?}") };
    assert_eq!(message.template, "sent %04d bytes to %s");
    assert_eq!(message.locations[0].to_string(), "demo/net/Net.java:6,7");
    let call = format!("dev.protolog.ProtoLogImpl.d(AppLog.NET, {}L, 1L, ", message.id as i64);
    assert_eq!(rewritten.matches(&call).count(), 2, "{rewritten}");
    assert!(
        rewritten.contains("        if (false) dev.protolog.ProtoLogImpl.e(AppLog.OFF, "),
        "{rewritten}"
    );
    let [group] = dictionary.groups() else { panic!("{dictionary:?}") };
    assert_eq!((group.name.as_str(), group.tag.as_str()), ("demo.AppLog.NET", "Net"));

    for other in ["a.json", "a.json.gz"] {
        let read = Dictionary::read(&system.files()[Path::new(other)]).unwrap().dictionary;
        assert_eq!(read, dictionary, "{other}");
    }
    let line = format!("{GENERATE} --viewer-config b.pb src/demo/net/Net.java src/demo/Other.java");
    assert_eq!(protologtool(&system, &line), Exit::Done);
    assert_eq!(system.files()[Path::new("b.pb")], system.files()[Path::new("a.pb")]);
}

#[test]
fn an_archive() {
    let archive = |line: &str| {
        let system = system();
        assert_eq!(protologtool(&system, line), Exit::Done, "{}", system.errors());
        system.files()[Path::new("out.srcjar")].clone()
    };
    let files = "src/./demo/net/Net.java src/demo/Other.java";
    let bytes = archive(&format!("{TRANSFORM} --output-srcjar out.srcjar {files}"));
    let mut zip = zip::ZipArchive::new(Cursor::new(&bytes)).unwrap();
    assert_eq!(names(&zip), ["src/demo/net/Net.java", "src/demo/Other.java"]);
    let mut entry = zip.by_index(1).unwrap();
    let time = entry.last_modified().unwrap();
    assert_eq!((time.year(), time.month(), time.day()), (2008, 1, 1));
    assert_eq!(entry.compression(), zip::CompressionMethod::Stored);
    let mut text = String::new();
    entry.read_to_string(&mut text).unwrap();
    assert_eq!(text, OTHER);
    assert_eq!(archive(&format!("{TRANSFORM} {files} --output-srcjar out.srcjar")), bytes);
}

fn names(zip: &zip::ZipArchive<Cursor<impl AsRef<[u8]>>>) -> Vec<String> {
    zip.file_names().map(|name| name.unwrap().into_owned()).collect()
}

#[test]
fn names_in_an_archive_stay_inside() {
    let system = system();
    system.add_file("../up/Net.java", NET);
    system.add_file("/abs/Other.java", OTHER);
    let line = format!("{TRANSFORM} --output-srcjar out.srcjar ../up/Net.java /abs/Other.java");
    assert_eq!(protologtool(&system, &line), Exit::Done, "{}", system.errors());
    let bytes = system.files()[Path::new("out.srcjar")].clone();
    let zip = zip::ZipArchive::new(Cursor::new(bytes)).unwrap();
    assert_eq!(names(&zip), ["demo/net/Net.java", "demo/Other.java"]);
}

#[test]
fn problems_of_all_files_are_shown_and_nothing_is_written() {
    let system = system();
    system.add_file("src/demo/Bad2.java", BAD.replace("class Bad", "class Bad2"));
    let before = system.files();
    let line = format!(
        "{TRANSFORM} --output-dir out --viewer-config a.pb src/demo/Bad.java src/demo/net/Net.java src/demo/Bad2.java"
    );
    assert_eq!(protologtool(&system, &line), Exit::Problems);
    assert_eq!(system.files(), before);
    let first_lines: Vec<String> =
        system.errors().lines().filter(|line| line.contains("error")).map(str::to_owned).collect();
    assert_eq_text(
        "\
src/demo/Bad.java:3:35: error: `demo.AppLog` has no group `NETT` [unknown-group]
src/demo/Bad.java:3:77: error: the template takes 1 argument, the call passes 0 [argument-count]
src/demo/Bad2.java:3:36: error: `demo.AppLog` has no group `NETT` [unknown-group]
src/demo/Bad2.java:3:78: error: the template takes 1 argument, the call passes 0 [argument-count]
4 errors in 2 files; nothing was written
",
        &(first_lines.join("\n") + "\n"),
    );
    assert_eq!(
        protologtool(&system, &format!("{GENERATE} --viewer-config a.pb src/demo/Bad.java")),
        Exit::Problems
    );
    assert_eq!(system.files(), before);
}

#[test]
fn what_can_not_be_read_or_written() {
    let system = system();
    let before = system.files();
    let line = format!(
        "{TRANSFORM} --output-dir out src/demo/net/Net.java src/Gone.java src/demo/Bad.java"
    );
    assert_eq!(protologtool(&system, &line), Exit::Failed);
    let errors = system.errors();
    assert!(errors.contains("error: can't read `src/Gone.java`: "), "{errors}");
    assert!(
        errors.contains("src/demo/Bad.java:3:35: error: "),
        "other problems are shown too: {errors}"
    );
    assert_eq!(system.files(), before);

    system.refuse("a.pb");
    let line = format!("{TRANSFORM} --output-dir out src/demo/net/Net.java --viewer-config a.pb");
    assert_eq!(protologtool(&system, &line), Exit::Failed);
    assert_eq!(system.files(), before, "no output without all outputs");

    let line = format!("{TRANSFORM} --output-dir . src/demo/net/Net.java");
    assert_eq!(protologtool(&system, &line), Exit::Failed);
    assert!(system.errors().contains("would be written over the input"), "{}", system.errors());
}

#[test]
fn bad_command_lines() {
    for (line, expected) in [
        ("", "no command"),
        ("frobnicate", "no command `frobnicate`"),
        ("transform-protolog-calls --frobnicate x A.java", "unknown flag `--frobnicate`"),
        ("transform-protolog-calls CLASSES --output-dir out", "missing sources"),
        ("transform-protolog-calls CLASSES A.java", "--output-srcjar"),
        (
            "transform-protolog-calls CLASSES A.java --output-dir a --output-srcjar b.srcjar",
            "can't be used with",
        ),
        ("transform-protolog-calls CLASSES A.java --output-dir a --output-dir b", "is given twice"),
        (
            "transform-protolog-calls CLASSES A.java --output-dir a --loggroups-jar g.jar",
            "can't be used with",
        ),
        ("check CLASSES A.java --jobs 0", "`0` for `--jobs`"),
        ("check CLASSES A.java --message-format xml", "use one of `human`, `json`, `sarif`"),
        ("check CLASSES A.java --deny-warnings --deny-warnings", "is given twice"),
        ("check CLASSES A.java --viewer-config a.pb", "unknown flag"),
        ("transform-protolog-calls CLASSES A.java --output-dir", "no value for `--output-dir`"),
        ("transform-protolog-calls CLASSES A.java --output-srcjar a.jar", "ends with `.srcjar`"),
        (
            "transform-protolog-calls CLASSES A.class --output-dir a",
            "neither a source nor a directory",
        ),
        ("generate-viewer-config CLASSES A.java", "--viewer-config"),
        (
            "generate-viewer-config CLASSES A.java --viewer-config a.txt",
            "`.pb`, `.json` or `.json.gz`",
        ),
        (
            "generate-viewer-config CLASSES A.java --viewer-config a.pb --output-dir x",
            "unknown flag",
        ),
        ("generate-viewer-config --protolog-class ProtoLog", "not a full class name"),
    ] {
        let system = system();
        assert_eq!(protologtool(&system, line), Exit::Failed, "{line}");
        assert!(system.errors().contains(expected), "{line}: {}", system.errors());
        assert_eq!(system.out(), "", "{line}");
    }
}

#[test]
fn help_teaches() {
    let system = system();
    assert_eq!(protologtool(&system, "transform-protolog-calls --help"), Exit::Done);
    for part in ["Examples:", "--loggroups-source", "Exit codes: 0 done"] {
        assert!(system.out().contains(part), "{part}: {}", system.out());
    }
    assert_eq!(system.errors(), "");
}

#[test]
fn kotlin_is_rewritten_beside_java() {
    let system = system();
    let kotlin = "import demo.AppLog\nimport dev.protolog.ProtoLog\nfun f() = ProtoLog.d(AppLog.NET, \"x\")\n";
    system.add_file("src/A.kt", kotlin);
    system.add_file("src/B.kt", "fun g() {}\n");
    let line = format!(
        "{TRANSFORM} --output-dir out --source-root src --viewer-config out.json src/A.kt src/B.kt"
    );
    assert_eq!(protologtool(&system, &line), Exit::Done);
    let after = system.text("out/A.kt").unwrap();
    assert!(
        after.contains("fun f() = (if (dev.protolog.ProtoLogImpl.isEnabled(AppLog.NET, "),
        "{after}"
    );
    assert_eq!(system.text("out/B.kt").as_deref(), Some("fun g() {}\n"));
    assert!(system.text("out.json").unwrap().contains("\"A.kt"), "its place is in the dictionary");
    assert_eq!(system.errors(), "");
}

#[test]
fn colours_are_for_terminals_of_people_who_want_them() {
    let errors = |prepare: &dyn Fn(&Memory)| {
        let system = system();
        prepare(&system);
        let exit = protologtool(&system, "check CLASSES src/demo/Bad.java");
        assert_eq!(exit, Exit::Problems);
        system.errors()
    };
    let plain = errors(&|_| {});
    assert!(!plain.contains('\x1b'), "{plain}");
    let colored = errors(&Memory::set_terminal);
    assert!(colored.contains("\x1b[1;31merror: \x1b[0m"), "{colored}");
    let with_variable = |value: &'static str| {
        errors(&move |system| {
            system.set_terminal();
            system.set_variable("NO_COLOR", value);
        })
    };
    assert_eq!(with_variable("1"), plain);
    assert_eq!(with_variable(""), colored);
}

#[test]
fn a_bad_enum_of_groups_is_shown_once() {
    let system = system();
    system
        .add_file("src/demo/AppLog.java", GROUPS.replace("return enabled;", "return Build.DEBUG;"));
    let line = format!("{TRANSFORM} --output-dir out src/demo/net/Net.java");
    assert_eq!(protologtool(&system, &line), Exit::Problems);
    assert!(system.errors().starts_with("src/demo/AppLog.java:22:"), "{}", system.errors());
    assert!(
        system.errors().ends_with("1 error in 1 file; nothing was written\n"),
        "{}",
        system.errors()
    );
}

#[test]
fn the_program() {
    let directory = temp_dir();
    for (path, bytes) in system().files() {
        let path = directory.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }
    let protologtool = |line: &str| {
        let classes = "--protolog-class dev.protolog.ProtoLog --loggroups-class demo.AppLog \
                       --loggroups-source src/demo/AppLog.java";
        let args = line.replace("CLASSES", classes);
        let mut command = Command::new(env!("CARGO_BIN_EXE_protologtool"));
        command.current_dir(directory.path()).args(args.split_whitespace()).output().unwrap()
    };
    let line = format!(
        "{TRANSFORM} --output-dir out --source-root src src/demo/net/Net.java --viewer-config out/a.pb"
    );
    let output = protologtool(&line);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let rewritten = directory.path().join("out/demo/net/Net.java");
    let modified = || std::fs::metadata(&rewritten).unwrap().modified().unwrap();
    let first = modified();
    assert!(
        std::fs::read_to_string(&rewritten).unwrap().contains("ProtoLogImpl.isEnabled(AppLog.NET")
    );
    assert_eq!(protologtool(&line).status.code(), Some(0));
    assert_eq!(modified(), first, "a file that has its content already is left alone");
    let left: Vec<_> = std::fs::read_dir(directory.path().join("out/demo/net")).unwrap().collect();
    assert_eq!(left.len(), 1, "no temporary file stays: {left:?}");

    let output = protologtool(&format!("{TRANSFORM} --output-dir bad src/demo/Bad.java"));
    assert_eq!(output.status.code(), Some(1));
    assert!(!directory.path().join("bad").exists());
    assert!(!String::from_utf8_lossy(&output.stderr).contains('\x1b'), "no colours into a pipe");
    assert_eq!(protologtool("frobnicate").status.code(), Some(2));
    assert_eq!(protologtool("--version").status.code(), Some(0));
}
