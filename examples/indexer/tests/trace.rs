//! What Perfetto reads in the indexer's trace, what our reader reads, and what the program knows it logged, are the same.

use protolog_reader::{Rendering, Trace};
use protolog_testkit::{
    Value, check_trace, run, serde_json, temp_dir, trace_processor, trace_stats,
};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::Command;

/// Level, group, text.
type Line = (String, String, String);

/// Lines by thread, in order.
type Threads = BTreeMap<String, Vec<Line>>;

/// Sources, and some files that are not what one expects.
fn plant(root: &Path) {
    for (name, content) in [
        ("plain/a.txt", &b"one two\nthree\n"[..]),
        ("plain/empty.txt", b""),
        ("plain/no newline", b"x"),
        ("plain/binary.bin", &[0, 159, 146, 150, 10]),
        ("100%/d %s %d.txt", b"per cent signs are no conversions\n"),
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

fn expected(path: &Path) -> Threads {
    let text = fs::read_to_string(path).expect("read the expectations");
    let mut threads = Threads::new();
    for line in text.lines() {
        let line: Value = serde_json::from_str(line).expect("a line of JSON");
        let cell = |name: &str| line[name].as_str().expect("a text").to_owned();
        threads.entry(cell("thread")).or_default().push((
            cell("level"),
            cell("group"),
            cell("text"),
        ));
    }
    threads
}

fn read(trace: &Path) -> Threads {
    let log = Trace::open(trace).expect("open the trace").read().expect("read the trace");
    assert_eq!(log.losses(), []);
    let mut threads = Threads::new();
    for entry in log.entries() {
        let values = entry.values();
        let level = values.level().expect("a level").name().to_owned();
        let group = values.group(&log).expect("a group");
        let name = entry.thread().name.clone().expect("a thread with a name");
        let line = (level, group.tag.clone(), values.text(Rendering::Full));
        threads.entry(name).or_default().push(line);
    }
    threads
}

fn sorted(threads: &Threads) -> Vec<Line> {
    let mut lines: Vec<Line> = threads.values().flatten().cloned().collect();
    lines.sort();
    lines
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

    let expected = expected(&notes);
    let groups: std::collections::BTreeSet<&str> =
        expected.values().flatten().map(|line| line.1.as_str()).collect();
    assert_eq!(groups.into_iter().collect::<Vec<_>>(), ["ReadFile", "Report", "Walk"]);
    assert_eq!(expected.len(), 5, "walker, three readers, and the program's own thread");
    assert_eq!(read(&trace), expected, "each thread's messages, in their order");

    let Some(tables) = trace_processor(&trace, &["select level, tag, message from protolog"])
    else {
        return;
    };
    let (levels, tags, texts) =
        (tables[0].texts("level"), tables[0].texts("tag"), tables[0].texts("message"));
    let mut rows: Vec<Line> = levels
        .into_iter()
        .zip(tags.into_iter().zip(texts))
        .map(|(level, (tag, text))| (level, tag, text))
        .collect();
    rows.sort();
    assert_eq!(rows, sorted(&expected));
    assert_eq!(trace_stats(&trace).expect("Perfetto was there").to_string(), "");
    if let Some(packets) = check_trace(&trace) {
        assert!(packets.len() > rows.len());
    }
}
