//! Part Rust: the indexer of `examples/indexer` logs into a trace, which our reader and Perfetto's
//! own one must read alike.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use super::{DemoStep, Layout, readers};
use crate::tools::{NODE, WHEELS};
use crate::{Result, shell, workspace};

/// Lines of the log that are shown.
const LINES_SHOWN: usize = 6;
const COUNTS: &str =
    "SELECT level, tag, count(*) AS messages FROM protolog GROUP BY level, tag ORDER BY level, tag";

pub(super) const STEPS: [DemoStep; 5] = [
    ("build a program that logs", &[], build),
    ("run it; it leaves a trace", &[], record),
    ("read the trace", &[], read),
    ("read it with Perfetto's trace_processor", &[NODE, WHEELS], ask_perfetto),
    ("look at it in the Perfetto UI", &[], explain_ui),
];

fn build(layout: &Layout) -> Result<()> {
    layout.build("protolog-example-indexer", "both_ways")
}

fn record(layout: &Layout) -> Result<()> {
    let mut indexer = Command::new(layout.programs.join("indexer"));
    indexer.arg("--trace").arg(layout.rust_trace()).arg(&layout.input);
    shell::run(&mut indexer)
}

fn read(layout: &Layout) -> Result<()> {
    let text = shell::read(&mut read_log(layout, &[]))?;
    workspace::write(layout.log(), &text)?;
    let lines = text.lines().count();
    if lines == 0 {
        return Err("the trace holds no message".to_owned());
    }
    for filter in [&["--group", "Walk", "--level", "debug"][..], &["--tag", "Report"]] {
        let mut command = read_log(layout, filter);
        show(&shell::show_and_read(&mut command)?);
    }
    println!("all {lines} lines are in {}", workspace::shown(&layout.log()));
    Ok(())
}

fn ask_perfetto(layout: &Layout) -> Result<()> {
    let rows = readers::ask_perfetto(COUNTS, &layout.rust_trace())?;
    print!("{rows}");
    let count = |row: &str| {
        let row: serde_json::Value = serde_json::from_str(row).ok()?;
        row["messages"].as_u64()
    };
    let counted: u64 = rows.lines().filter_map(count).sum();
    let log = workspace::read(layout.log())?;
    let lines = log.lines().count() as u64;
    if counted != lines {
        return Err(format!("trace_processor has {counted} messages, read-log {lines}"));
    }
    println!("both readers have {counted} messages");
    Ok(())
}

fn explain_ui(layout: &Layout) -> Result<()> {
    let size = fs::metadata(layout.rust_trace()).map_err(|error| error.to_string())?.len();
    println!(
        "open {} ({} KB) at https://ui.perfetto.dev, where it is read by the browser alone;",
        workspace::shown(&layout.rust_trace()),
        size.div_ceil(1024)
    );
    println!("on the page \"Query (SQL)\" ask: select * from protolog");
    println!("without a network: python3 -m http.server -d target/tools/perfetto/web_dist");
    Ok(())
}

fn read_log(layout: &Layout, filter: &[&str]) -> Command {
    let mut tool = layout.tool(&["read-log"]);
    tool.args(filter).arg(layout.rust_trace());
    tool
}

fn show(text: &str) {
    text.lines().take(LINES_SHOWN).for_each(|line| println!("    {line}"));
    let more = text.lines().count().saturating_sub(LINES_SHOWN);
    if more > 0 {
        println!("    … {more} more");
    }
}

impl Layout {
    pub(super) fn rust_trace(&self) -> PathBuf {
        self.output.join("indexer.pftrace")
    }

    fn log(&self) -> PathBuf {
        self.output.join("indexer.log")
    }
}
