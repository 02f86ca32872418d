//! Part Java: the indexer of `examples/java` is rewritten, compiled and run before and after, and must print the same.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use super::{Place, Step, compare};
use crate::{Result, java, shell, tools, workspace};

const SOURCES: &str = "examples/java/src";
const API: &str = "examples/java/api";
const GROUPS: &str = "demo.indexer.IndexLog";
const GROUPS_SOURCE: &str = "examples/java/src/demo/indexer/IndexLog.java";
const MAIN: &str = "demo.indexer.Main";
/// The file whose rewriting is shown.
const SHOWN: &str = "demo/indexer/FileEntry.java";
/// Messages of the dictionary that are shown.
const MESSAGES_SHOWN: usize = 4;

pub(super) const STEPS: [Step; 6] = [
    Step { title: "build the tool", needs: None, run: build },
    Step { title: "rewrite the log calls", needs: None, run: rewrite },
    Step { title: "what that does to a file", needs: None, run: difference },
    Step {
        title: "compile the sources as written, and as rewritten",
        needs: Some(tools::JAVA),
        run: compile,
    },
    Step { title: "run both, compare what they print", needs: Some(tools::JAVA), run: run_both },
    Step { title: "the dictionary that holds the texts now", needs: None, run: dictionary },
];

fn build(_: &Place) -> Result<()> {
    shell::run(&mut shell::cargo(&["build", "--locked", "--release", "--package", "protolog-tool"]))
}

fn rewrite(place: &Place) -> Result<()> {
    let sources = java::sources(SOURCES)?;
    let mut tool = Command::new(place.target.join("release/protologtool"));
    tool.args(["transform-protolog-calls", "--protolog-class", "dev.protolog.ProtoLog"]);
    tool.args([
        "--loggroups-class",
        GROUPS,
        "--loggroups-source",
        GROUPS_SOURCE,
        "--source-root",
        SOURCES,
    ]);
    tool.arg("--output-dir").arg(place.rewritten());
    tool.arg("--viewer-config").arg(place.dictionary("pb"));
    tool.arg("--viewer-config").arg(place.dictionary("json"));
    println!("$ {} {SOURCES}/**/*.java", shell::line(&tool));
    shell::run_quietly(tool.args(&sources).current_dir(workspace::root()))?;
    let missing: Vec<&PathBuf> =
        sources.iter().filter(|source| !place.rewritten_file(source).is_file()).collect();
    match missing.first() {
        Some(source) => {
            Err(format!("the tool did not write its version of `{}`", source.display()))
        }
        None => Ok(()),
    }
}

fn difference(place: &Place) -> Result<()> {
    let written = Path::new(SOURCES).join(SHOWN);
    let mut diff = Command::new("diff");
    diff.args(["--unified=1", "--label", "as written", "--label", "as rewritten"]);
    diff.arg(&written).arg(place.rewritten_file(&written)).current_dir(workspace::root());
    println!("$ {}", shell::line(&diff));
    // Exit code 1 means that the files differ, as they must.
    match diff.status().map_err(|error| format!("can't start diff: {error}"))?.code() {
        Some(1) => Ok(()),
        Some(0) => Err(format!("the rewritten `{SHOWN}` is as it was")),
        _ => Err("diff failed".to_owned()),
    }
}

fn compile(place: &Place) -> Result<()> {
    let (api, sources) = (java::sources(API)?, java::sources(SOURCES)?);
    java::compile(
        &place.classes("written"),
        &[api.clone(), sources.clone()].concat(),
        &[API, SOURCES],
    )?;
    let rewritten: Vec<PathBuf> =
        sources.iter().map(|source| place.rewritten_file(source)).collect();
    let folder = place.rewritten();
    java::compile(
        &place.classes("rewritten"),
        &[api, rewritten].concat(),
        &[API, &super::shown(&folder)],
    )
}

fn run_both(place: &Place) -> Result<()> {
    let written = execute(place, "written")?;
    let rewritten = execute(place, "rewritten")?;
    if written != rewritten {
        return Err(format!("exit code {written} as written, {rewritten} as rewritten"));
    }
    let report =
        compare::equal_lines(&place.printed("written", "out"), &place.printed("rewritten", "out"))?;
    let messages =
        compare::equal_lines(&place.printed("written", "err"), &place.printed("rewritten", "err"))?;
    if messages == 0 {
        return Err("neither run logged anything".to_owned());
    }
    println!("both print the same: {report} lines of report, {messages} of log messages, such as");
    let log = fs::read(place.printed("rewritten", "err"))
        .map_err(|error| format!("can't read the log: {error}"))?;
    let log = String::from_utf8_lossy(&log);
    for line in log.lines().step_by(messages.div_ceil(MESSAGES_SHOWN)) {
        println!("    {line}");
    }
    Ok(())
}

/// Runs the indexer, its output into files; the exit code, which says 1 where files could not be read.
fn execute(place: &Place, which: &str) -> Result<i32> {
    let create = |stream| {
        let path = place.printed(which, stream);
        File::create(&path).map_err(|error| format!("can't create `{}`: {error}", path.display()))
    };
    let mut java = Command::new("java");
    if which == "rewritten" {
        java.arg(format!("-Dprotolog.viewerconfig={}", place.dictionary("pb").display()));
    }
    java.arg("-classpath").arg(place.classes(which)).arg(MAIN).arg(&place.input);
    println!("$ {}", shell::line(&java));
    let status = java.stdout(create("out")?).stderr(create("err")?).status();
    match status.map_err(|error| format!("can't start java: {error}"))?.code() {
        Some(code @ 0..=1) => Ok(code),
        _ => Err(format!("the indexer failed, see `{}`", place.printed(which, "err").display())),
    }
}

fn dictionary(place: &Place) -> Result<()> {
    let path = place.dictionary("json");
    let text = fs::read_to_string(&path)
        .map_err(|error| format!("can't read `{}`: {error}", path.display()))?;
    let json: Value =
        serde_json::from_str(&text).map_err(|error| format!("`{}`: {error}", path.display()))?;
    let messages = json["messages"].as_object().map_or(0, serde_json::Map::len);
    let messages = messages.max(json["messages"].as_array().map_or(0, Vec::len));
    println!("{} holds {messages} messages; it begins", super::shown(&path));
    let mut closed = 0;
    for line in text.lines() {
        println!("    {line}");
        closed += usize::from(line.trim_start().starts_with('}'));
        if closed == MESSAGES_SHOWN {
            println!("        …");
            break;
        }
    }
    Ok(())
}

impl Place {
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

    fn dictionary(&self, form: &str) -> PathBuf {
        self.output.join(format!("indexer.{form}"))
    }
}
