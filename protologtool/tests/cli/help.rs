//! The help pages: every line fits, and paragraphs are wrapped once.

use protologtool::cli::{Exit, run};
use protologtool::system::Memory;
use std::ffi::OsString;

const WIDTH: usize = 100;

fn page(words: &[&str]) -> String {
    let system = Memory::default();
    let args = ["protologtool"].iter().chain(words).map(OsString::from);
    assert_eq!(run(args, &system), Exit::Done, "{words:?}");
    system.out()
}

/// The commands, as the list of the tool's own page has them.
fn commands() -> Vec<String> {
    let page = page(&["--help"]);
    let list = page.split("Commands:\n").nth(1).unwrap().split("\n\n").next().unwrap();
    let names = list.lines().filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    names.map(|line| line.split_whitespace().next().unwrap().to_owned()).collect()
}

#[test]
fn pages_are_wrapped_once() {
    let commands = commands();
    assert!(commands.len() > 5, "{commands:?}");
    for flag in ["--help", "-h"] {
        let pages = commands.iter().filter(|name| *name != "help").map(|name| vec![name, flag]);
        for words in pages.chain([vec![flag]]) {
            let page = page(&words);
            for line in page.lines() {
                assert!(line.chars().count() <= WIDTH, "{words:?}: `{line}` is too long");
            }
            for (line, next) in page.lines().zip(page.lines().skip(1)) {
                assert!(!is_ragged(line, next), "{words:?}: `{line}` ends early");
            }
        }
    }
}

/// The pages of all commands, those within others included.
#[test]
fn each_page_has_an_example() {
    let listed = |page: &str| -> Vec<String> {
        let Some(list) = page.split("Commands:\n").nth(1) else { return Vec::new() };
        let list = list.split("\n\n").next().unwrap().lines();
        let names = list.filter(|line| line.starts_with("  ") && !line.starts_with("   "));
        let names = names.map(|line| line.split_whitespace().next().unwrap().to_owned());
        names.filter(|name| name != "help").collect()
    };
    let mut rest: Vec<Vec<String>> = vec![Vec::new()];
    let mut seen = 0;
    while let Some(words) = rest.pop() {
        let all: Vec<&str> = words.iter().map(String::as_str).chain(["--help"]).collect();
        let page = page(&all);
        assert!(words.is_empty() || page.contains("Example"), "{words:?}: {page}");
        let path = words.join(" ");
        assert!(words.is_empty() || page.contains(&format!("protologtool {path}")), "{words:?}");
        seen += 1;
        for name in listed(&page) {
            rest.push([words.clone(), vec![name]].concat());
        }
    }
    assert!(seen > 18, "{seen}");
}

#[test]
fn mistakes_suggest_what_was_meant() {
    let list = "run `protologtool --help` for the list of commands";
    let of = |page: &str| format!("run `protologtool {page} --help` for its flags");
    for (line, error, help) in [
        ("readlog x", "no command `readlog`", format!("use `read-log`, or {list}")),
        ("help readlog", "no command `readlog`", format!("use `read-log`, or {list}")),
        ("config", "no command `config`", format!("use `configuration`, or {list}")),
        ("status", "no command `status`", list.to_owned()),
        ("trace", "no command `trace`", format!("use `configuration trace`, or {list}")),
        ("help configuration trce", "no command `trce`", format!("use `trace`, or {list}")),
        ("man raed-log", "no command `raed-log`", format!("use `read-log`, or {list}")),
        ("man configuration trce", "no command `trce`", format!("use `trace`, or {list}")),
        (
            "app.pftrace",
            "no command `app.pftrace`",
            format!("use `protologtool read-log app.pftrace` for the log in a trace, or {list}"),
        ),
        ("read-log a --json", "unknown flag `--json`", "use `--format json`".to_owned()),
        ("read-log a --logfmt", "unknown flag `--logfmt`", "use `--format logfmt`".to_owned()),
        ("read-log a --histogram=1s", "`--histogram` takes no value: `1s`", of("read-log")),
        (
            "read-log a --groups x",
            "unknown flag `--groups`",
            format!("use `--group`, or {}", of("read-log")),
        ),
        (
            "configuration level Net warn --presist",
            "unknown flag `--presist`",
            format!("use `--persist`, or {}", of("configuration level")),
        ),
    ] {
        let system = Memory::default();
        let words = std::iter::once("protologtool").chain(line.split(' '));
        assert_eq!(run(words.map(Into::into), &system), Exit::Failed, "{line}");
        assert_eq!(system.errors(), format!("error: {error}\nhelp: {help}\n"), "{line}");
    }
}

/// Returns whether the first word of the next line of a paragraph would have fitted.
fn is_ragged(line: &str, next: &str) -> bool {
    let is_prose = |line: &str| line.starts_with(|char: char| char.is_alphanumeric());
    let word = next.split_whitespace().next().unwrap_or_default();
    let fits = line.chars().count() + 1 + word.chars().count() <= WIDTH;
    is_prose(line) && is_prose(next) && !line.ends_with(':') && fits
}

#[test]
fn the_pages_that_others_name_are_there() {
    let words = ["generate-viewer-config", "--from-binary", "--help"];
    assert!(page(&["generate-viewer-config", "--help"]).contains(&words.join(" ")));
    let page = page(&words);
    assert!(
        page.contains(
            "Usage: protologtool generate-viewer-config [OPTIONS] --from-binary <PROGRAM>"
        )
    );
    assert!(page.contains("--strip-to <PROGRAM>"));
    let system = Memory::default();
    let wrong = ["protologtool", "generate-viewer-config", "--from-binary", "app", "--nonsense"];
    assert_eq!(run(wrong.map(Into::into), &system), Exit::Failed);
    let expected = "error: unknown flag `--nonsense`\n\
                    help: run `protologtool generate-viewer-config --from-binary --help` for its flags\n";
    assert_eq!(system.errors(), expected);
}

#[test]
fn mistakes_point_to_the_page_of_the_command_that_is_meant() {
    #[track_caller]
    fn check(command_line: &str, error: &str, page: &str) {
        let system = Memory::default();
        assert_eq!(run(command_line.split(' ').map(Into::into), &system), Exit::Failed);
        let help = format!("run `protologtool {page} --help` for its flags");
        assert_eq!(system.errors(), format!("error: {error}\nhelp: {help}\n"));
    }
    check("protologtool read-log", "missing the trace", "read-log");
    let start = "configuration trace start";
    check("protologtool configuration trace start", "missing the file", start);
    check("protologtool configuration --pid 5 trace start", "missing the file", start);
    check("protologtool configuration trace start x --list", "unknown flag `--list`", start);
    // A program's name is no command.
    check("protologtool configuration --name level trace start", "missing the file", start);
    let level = "missing the minimum level";
    check("protologtool configuration level Net", level, "configuration level");
}

#[test]
fn a_page_that_finds_no_room_is_an_error() {
    for words in [&["--help"][..], &["--version"], &["read-log", "-h"], &["man"]] {
        let mut program = std::process::Command::new(env!("CARGO_BIN_EXE_protologtool"));
        let full = std::fs::File::create("/dev/full").expect("a device");
        let done = program.args(words).stdout(full).output().expect("run the program");
        assert_eq!(done.status.code(), Some(2), "{words:?}");
        let said = String::from_utf8_lossy(&done.stderr);
        assert_eq!(said, "error: can't write the page: no space left on device\n", "{words:?}");
    }
}

#[test]
fn what_chooses_entries_is_apart_from_how_they_look() {
    let page = page(&["read-log", "--help"]);
    let part =
        |heading: &str| page.split(heading).nth(1).unwrap().split("\n\nExamples:").next().unwrap();
    let (which, how) = part("Which entries to show:").split_once("How to show them:").unwrap();
    for flag in ["--level", "--group", "--location"] {
        assert!(which.contains(flag) && !how.contains(flag), "{flag}");
    }
    for flag in ["--format", "--time", "--color"] {
        assert!(how.contains(flag) && !which.contains(flag), "{flag}");
    }
}
