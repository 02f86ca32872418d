//! Part Both: the traces of the Java and the Rust program become one, in which both readers find
//! every message of each.

use std::path::PathBuf;
use std::process::Command;

use super::{DemoStep, Layout, readers};
use crate::{Result, shell, tools, workspace};

/// Lines of the combined log that are shown.
const LINES_SHOWN: usize = 3;

pub(super) const STEPS: [DemoStep; 2] = [
    DemoStep { title: "make one trace of both", needs: &[tools::JAVA], run: merge },
    DemoStep {
        title: "read it with both readers",
        needs: &[tools::JAVA, tools::NODE, tools::WHEELS],
        run: read,
    },
];

fn merge(layout: &Layout) -> Result<()> {
    let mut tool = Command::new(layout.programs.join("protologtool"));
    tool.arg("merge").arg(layout.java_trace("rewritten")).arg(layout.rust_trace());
    tool.arg("-o").arg(layout.combined()).current_dir(workspace::root());
    println!("$ {}", shell::line(&tool));
    shell::run_quietly(&mut tool)?;
    let messages = |trace: PathBuf| -> Result<usize> {
        let mut tool = Command::new(layout.programs.join("protologtool"));
        tool.args(["read-log", "--columns", "message"]).arg(trace);
        let text = shell::read(&mut tool)?;
        Ok(text.lines().count())
    };
    let (java, rust) = (messages(layout.java_trace("rewritten"))?, messages(layout.rust_trace())?);
    let both = messages(layout.combined())?;
    if both != java + rust {
        return Err(format!("{java} lines of Java and {rust} of Rust became {both}"));
    }
    println!("{java} lines of Java and {rust} of Rust are in {}", super::shown(&layout.combined()));
    Ok(())
}

fn read(layout: &Layout) -> Result<()> {
    readers::compare(layout, &layout.combined())?;
    for tag in ["Index", "Report"] {
        let mut tool = Command::new(layout.programs.join("protologtool"));
        tool.args(["read-log", "--columns", "time,process,tag,message", "--tag", tag]);
        let text = shell::read(tool.arg(layout.combined()).current_dir(workspace::root()))?;
        text.lines().take(LINES_SHOWN).for_each(|line| println!("    {line}"));
    }
    Ok(())
}

impl Layout {
    fn combined(&self) -> PathBuf {
        self.output.join("both.pftrace")
    }
}
