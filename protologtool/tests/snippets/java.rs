//! Java in pages: commands that compile and run it, fragments of programs; and sources that
//! commands of pages and help texts name.

use crate::{page, shell};
use protolog_testkit::{TempDir, run, run_any, tool, workspace_root};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

/// The class of groups, `com.foo.AppLog`.
pub(crate) const GROUPS: &str = "\
package com.foo;

public enum AppLog implements dev.protolog.IProtoLogGroup {
    NET(\"Net\");

    private final String tag;

    AppLog(String tag) { this.tag = tag; }

    public String getTag() { return tag; }
}
";

/// A class with a log call.
pub(crate) const CALLS: &str = "\
package com.foo;

import dev.protolog.ProtoLog;

class Net {
    static void sent(int n, String host) {
        ProtoLog.d(AppLog.NET, \"sent %d bytes to %s\", n, host);
    }
}
";

/// The page of the example: each of its blocks is run in a copy of its directory.
#[test]
fn the_example_runs_as_its_page_says() {
    const PAGE: &str = "examples/java/README.md";
    if tool("javac").is_none() {
        return;
    }
    let dir = repository();
    let copy =
        format!("mkdir examples && cp -r '{}/examples/java' examples", workspace_root().display());
    run(&mut shell("sh", &copy, dir.path()));
    let example = dir.path().join("examples/java");
    run(&mut shell("sh", "rm -rf out", &example));
    let blocks = blocks(PAGE);
    assert!(blocks.len() >= 4, "{} blocks", blocks.len());
    for (line, block) in blocks {
        let output = run_any(&mut shell("bash", &block, &example));
        // `diff` shows a difference.
        let expected = i32::from(block.contains("\ndiff "));
        assert_eq!(output.code, Some(expected), "{PAGE}:{line}\n{}", output.stderr);
        if block.contains("the same") {
            assert_eq!(output.stdout.matches(": the same\n").count(), 4, "{}", output.stdout);
        }
    }
}

/// The guide: its fragments compile, and its commands make the runtime's jar, and classes without
/// texts.
#[test]
fn the_guide_runs_as_it_says() {
    const PAGE: &str = "docs/guides/java.md";
    if tool("javac").is_none() {
        return;
    }
    let dir = repository();
    write(&dir, "src/com/foo/AppLog.java", GROUPS);
    write(&dir, "src/com/foo/Net.java", CALLS);
    let mut count = 0;
    for (line, block) in blocks(PAGE) {
        // An ellipsis stands for what only the reader knows; `named.rs` looks at the tool's
        // commands.
        if !block.contains('…') {
            let output = run_any(&mut shell("bash", &block, dir.path()));
            assert_eq!(output.code, Some(0), "{PAGE}:{line}\n{}", output.stderr);
            count += 1;
        }
    }
    assert_eq!(count, 2, "the jar, and the classes");
    let class = fs::read(dir.path().join("out/classes/com/foo/Net.class")).expect("a class");
    assert!(!class.windows(8).any(|part| part == b"bytes to"), "a text in the class");
    compile_fragments(&dir, &fs::read_to_string(workspace_root().join(PAGE)).expect("a page"));
}

/// Of the two lines of the README, the tool makes the second out of the first.
#[test]
fn the_rewritten_line_is_what_the_tool_writes() {
    let page = fs::read_to_string(workspace_root().join("README.md")).expect("a page");
    let blocks = page::blocks(&page);
    let lines = blocks.iter().find(|block| block.text.starts_with("ProtoLog.d(NET"));
    let (before, after) = lines.expect("two lines").text.split_once('\n').expect("two lines");
    let (call, _) = before.split_once(" //").expect("a comment");
    let dir = repository();
    write(&dir, "com/foo/AppLog.java", GROUPS);
    let class = "package com.foo;\nimport static com.foo.AppLog.NET;\nimport dev.protolog.ProtoLog;\n\
        class Net {\n    static void sent(int n, String host, double ms) {\nCALL\n    }\n}\n";
    write(&dir, "com/foo/Net.java", &class.replace("CALL", call));
    let transform = "protologtool transform-protolog-calls --loggroups-class com.foo.AppLog \
        --loggroups-source com/foo/AppLog.java --output-dir out com";
    run(&mut shell("sh", transform, dir.path()));
    let written = fs::read_to_string(dir.path().join("out/com/foo/Net.java")).expect("a source");
    // The id depends on the file, the rest does not.
    let without_id = |text: &str| {
        let (start, rest) = text.split_once(".d(NET, ").expect("a call");
        let (_, end) = rest.split_once(", ").expect("arguments");
        format!("{start}.d(NET, {end}").trim().to_owned()
    };
    let line = written.lines().nth(5).expect("the line of the call");
    assert_eq!(without_id(line), without_id(after));
}

/// Compiles the fragments of a page in one class: an enum is a member, the rest are statements of a
/// method.
fn compile_fragments(dir: &TempDir, text: &str) {
    let (mut members, mut statements) = (String::new(), String::new());
    // A program with a `main` is compiled and run as a whole.
    let is_fragment =
        |block: &&page::Block| block.language == "java" && !block.text.contains(" main(");
    for block in page::blocks(text).iter().filter(is_fragment) {
        let is_member = block.text.starts_with("enum ");
        let end = if is_member { block.text.find("\n}\n").map_or(0, |at| at + 3) } else { 0 };
        members.push_str(&block.text[..end]);
        statements.push_str(&block.text[end..]);
    }
    let class = format!(
        "import dev.protolog.*;\nimport java.nio.file.*;\nimport java.time.*;\nclass Fragments {{\n{members}\nstatic void run() {{}}\n\
         static void all(int n, String host, double ms) throws Exception {{\n{statements}}}\n}}\n"
    );
    write(dir, "Fragments.java", &class);
    run(&mut shell("sh", "javac -d fragments -cp runtime Fragments.java", dir.path()));
}

/// A directory with links to what the pages take from the repository.
fn repository() -> TempDir {
    let dir = protolog_testkit::temp_dir();
    for name in ["java", "protolog-core"] {
        symlink(workspace_root().join(name), dir.path().join(name)).expect("make a link");
    }
    dir
}

fn blocks(page: &str) -> Vec<(usize, String)> {
    page::indented(&fs::read_to_string(workspace_root().join(page)).expect("read the page"))
}

fn write(dir: &TempDir, path: &str, text: &str) {
    let path = dir.path().join(path);
    let parent = path.parent().unwrap_or(Path::new(""));
    fs::create_dir_all(parent).and_then(|()| fs::write(&path, text)).expect("write a source");
}
