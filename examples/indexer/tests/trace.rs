//! Perfetto, `read-log` and the expected messages agree on the indexer's trace, message by message.

use protolog_testkit::{
    Value, assert_eq_text, check_trace, run, serde_json, temp_dir, trace_processor, trace_stats,
};
use protologtool::cli::{self, Exit};
use protologtool::system::Memory;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::Command;

/// Level, group, text.
type Line = (String, String, String);

/// Lines by thread, in order.
type Threads = BTreeMap<String, Vec<Line>>;

/// Sources, and some unusual files.
fn plant(root: &Path) {
    for (name, content) in [
        ("plain/a.txt", &b"one two\nthree\n"[..]),
        ("plain/empty.txt", b""),
        ("plain/no newline", b"x"),
        ("plain/binary.bin", &[0, 159, 146, 150, 10]),
        ("100%/d %s %d.txt", b"\xff"),
        ("100%/an extension.%d", b"per cent signs are no conversions\n"),
        ("m\u{fc}nchen/\u{65e5}\u{672c}\u{8a9e}.md", "\u{fc}\n".as_bytes()),
        ("deep/1/2/3/4/5/6/7/8/9/leaf.rs", b"fn main() {}\n"),
        ("quote\"/back\\slash\t.txt", b"q\n"),
    ] {
        let path = root.join(name);
        fs::create_dir_all(path.parent().expect("a directory")).expect("make a directory");
        fs::write(path, content).expect("write a file");
    }
    fs::write(root.join(std::ffi::OsStr::from_bytes(b"not\xffutf8")), "x").expect("write a file");
    std::os::unix::fs::symlink("nowhere", root.join("link")).expect("make a link");
    for number in 0..40 {
        let dir = root.join(format!("many/{}", "nested/".repeat(number % 5)));
        fs::create_dir_all(&dir).expect("make a directory");
        let lines = "a line of text\n".repeat(number * 13);
        fs::write(dir.join(format!("{number}.rs")), lines).expect("write a file");
    }
}

/// The messages by thread, from JSON lines with these member names.
fn threads(lines: &str, [thread, level, tag, text]: [&str; 4]) -> Threads {
    let mut threads = Threads::new();
    for line in objects(lines) {
        let cell = |name: &str| line[name].as_str().expect("a text").to_owned();
        let message = (cell(level), cell(tag), cell(text));
        threads.entry(cell(thread)).or_default().push(message);
    }
    threads
}

fn objects(lines: &str) -> impl Iterator<Item = Value> {
    lines.lines().map(|line| serde_json::from_str(line).expect("a line of JSON"))
}

/// The output of `protologtool read-log --format json`, which must print no warnings.
fn read_log(trace: &Path) -> String {
    let system = Memory::default();
    system.add_file("trace", fs::read(trace).expect("read the trace"));
    let words = ["protologtool", "read-log", "trace", "--format", "json"];
    let exit = cli::run(words.map(Into::into), &system);
    assert_eq!((exit, system.errors().as_str()), (Exit::Done, ""));
    system.out()
}

/// Members of JSON lines, one row each, in the form of trace_processor's tables.
fn rows(lines: &str, members: &[&str]) -> String {
    let mut text = String::new();
    for line in objects(lines) {
        let cell =
            |name: &&str| line[*name].as_str().map_or(line[*name].to_string(), str::to_owned);
        let cells: Vec<String> = members.iter().map(cell).collect();
        writeln!(text, "{}", cells.join(" | ")).expect("a string takes every write");
    }
    text
}

#[test]
fn perfetto_the_reader_and_the_program_agree() {
    let dir = temp_dir();
    let (tree, trace, notes) =
        (dir.path().join("tree"), dir.path().join("i.pftrace"), dir.path().join("i.jsonl"));
    plant(&tree);
    let mut command = Command::new(env!("CARGO_BIN_EXE_indexer"));
    command.arg("--trace").arg(&trace).arg("--expect").arg(&notes).args(["--threads", "3"]);
    let output = run(command.arg(&tree).arg(dir.path().join("missing")));
    assert!(output.stdout.contains("protologtool read-log"), "{}", output.stdout);

    let notes = fs::read_to_string(notes).expect("read what the program knows");
    let expected = threads(&notes, ["thread", "level", "group", "text"]);
    let groups: BTreeSet<&str> = expected.values().flatten().map(|line| line.1.as_str()).collect();
    assert_eq!(Vec::from_iter(groups), ["ReadFile", "Report", "Walk"]);
    assert_eq!(expected.len(), 5, "walker, three readers, and the program's own thread");
    let log = read_log(&trace);
    let shown = threads(&log, ["thread", "level", "tag", "message"]);
    assert_eq!(shown, expected, "each thread's messages, in their order");

    let columns = ["ts", "level", "tag", "message", "location"];
    let sql = format!("select {} from protolog", columns.join(", "));
    let Some(tables) = trace_processor(&trace, &[&sql]) else { return };
    assert_eq_text(&rows(&log, &columns), &tables[0].to_string());
    assert_eq!(trace_stats(&trace).expect("Perfetto was there").to_string(), "");
    if let Some(packets) = check_trace(&trace) {
        let unknown =
            packets.iter().flat_map(|packet| packet["unknown"].as_array().expect("paths"));
        let unknown: BTreeSet<&str> = unknown.filter_map(Value::as_str).collect();
        let ours = [
            "1000",
            "protolog_message.1000",
            "protolog_viewer_config.messages.1000",
            "trace_stats.buffer_stats.1000",
        ];
        assert_eq!(Vec::from_iter(unknown), ours, "no other fields are unknown");
        let messages =
            packets.iter().filter(|packet| packet["packet"]["protolog_message"].is_object());
        assert_eq!(messages.count(), log.lines().count());
    }
}
