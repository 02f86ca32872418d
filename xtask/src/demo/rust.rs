//! Part Rust: the indexer of `examples/indexer` logs into a trace, which our reader and Perfetto's own one must read alike.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use super::{Place, Step};
use crate::{Result, python, shell, tools, workspace};

/// Lines of the log that are shown.
const LINES_SHOWN: usize = 6;
const COUNTS: &str =
    "SELECT level, tag, count(*) AS messages FROM protolog GROUP BY level, tag ORDER BY level, tag";

pub(super) const STEPS: [Step; 5] = [
    Step { title: "build a program that logs", needs: None, run: build },
    Step { title: "run it; it leaves a trace", needs: None, run: record },
    Step { title: "read the trace", needs: None, run: read },
    Step {
        title: "read it with Perfetto's trace_processor",
        needs: Some(tools::NODE),
        run: ask_perfetto,
    },
    Step { title: "look at it in the Perfetto UI", needs: None, run: explain_ui },
];

fn build(_: &Place) -> Result<()> {
    let mut cargo = shell::cargo(&["build", "--locked", "--release"]);
    cargo.args(["--package", "protolog-tool", "--package", "protolog-example-indexer"]);
    shell::run(&mut cargo)
}

fn record(place: &Place) -> Result<()> {
    let mut indexer = Command::new(place.target.join("release/indexer"));
    indexer.arg("--trace").arg(place.trace()).arg(&place.input);
    shell::run(&mut indexer)
}

fn read(place: &Place) -> Result<()> {
    let text = shell::read(&mut read_log(place, &[]))?;
    fs::write(place.log(), &text)
        .map_err(|error| format!("can't write `{}`: {error}", place.log().display()))?;
    let lines = text.lines().count();
    if lines == 0 {
        return Err("the trace holds no message".to_owned());
    }
    for filter in [&["--group", "Walk", "--level", "debug"][..], &["--tag", "Report"]] {
        let mut command = read_log(place, filter);
        println!("$ {}", shell::line(&command));
        show(&shell::read(&mut command)?);
    }
    println!("all {lines} lines are in {}", super::shown(&place.log()));
    Ok(())
}

fn ask_perfetto(place: &Place) -> Result<()> {
    let environment = python::prepare(place.install)?;
    let mut node = Command::new("node");
    node.arg(workspace::root().join("tests/oracle/trace_processor.mjs"));
    node.args(["--stats", "--sql", COUNTS]).arg(place.trace());
    node.env("PERFETTO_WEB_DIST", &environment.web_dist);
    println!("$ {}", shell::line(&node));
    // An exit code other than 0 says that something was lost or wrong.
    let rows = shell::read(&mut node)?;
    print!("{rows}");
    let count = |row: &str| {
        let row: serde_json::Value = serde_json::from_str(row).ok()?;
        row["messages"].as_u64()
    };
    let counted: u64 = rows.lines().filter_map(count).sum();
    let log = fs::read_to_string(place.log())
        .map_err(|error| format!("can't read `{}`: {error}", place.log().display()))?;
    let lines = log.lines().count() as u64;
    if counted != lines {
        return Err(format!("trace_processor has {counted} messages, read-log {lines}"));
    }
    println!("both readers have {counted} messages");
    Ok(())
}

fn explain_ui(place: &Place) -> Result<()> {
    let size = fs::metadata(place.trace()).map_err(|error| error.to_string())?.len();
    println!(
        "open {} ({} KB) at https://ui.perfetto.dev, where it is read by the browser alone;",
        super::shown(&place.trace()),
        size.div_ceil(1024)
    );
    println!("on the page \"Query (SQL)\" ask: select * from protolog");
    println!("without a network: python3 -m http.server -d target/tools/perfetto/web_dist");
    Ok(())
}

fn read_log(place: &Place, filter: &[&str]) -> Command {
    let mut tool = Command::new(place.target.join("release/protologtool"));
    tool.arg("read-log").args(filter).arg(place.trace()).current_dir(workspace::root());
    tool
}

fn show(text: &str) {
    text.lines().take(LINES_SHOWN).for_each(|line| println!("    {line}"));
    let more = text.lines().count().saturating_sub(LINES_SHOWN);
    if more > 0 {
        println!("    … {more} more");
    }
}

impl Place {
    fn trace(&self) -> PathBuf {
        self.output.join("indexer.pftrace")
    }

    fn log(&self) -> PathBuf {
        self.output.join("indexer.log")
    }
}
