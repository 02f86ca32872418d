//! Part Both: the traces of the Java and the Rust program become one, in which both readers find
//! every message of each.

use std::path::PathBuf;

use super::{DemoStep, Layout, readers};
use crate::tools::{JAVA, NODE, WHEELS};
use crate::{Result, shell, workspace};

/// Lines of the combined log that are shown.
const LINES_SHOWN: usize = 3;

pub(super) const STEPS: [DemoStep; 2] = [
    ("make one trace of both", &[JAVA], merge),
    ("read it with both readers", &[JAVA, NODE, WHEELS], read),
];

fn merge(layout: &Layout) -> Result<()> {
    let mut tool = layout.tool(&["merge"]);
    tool.arg(layout.java_trace("rewritten")).arg(layout.rust_trace());
    shell::run(tool.arg("-o").arg(layout.combined()))?;
    let messages = |trace: PathBuf| -> Result<usize> {
        let mut tool = layout.tool(&["read-log", "--columns", "message"]);
        Ok(shell::read(tool.arg(trace))?.lines().count())
    };
    let (java, rust) = (messages(layout.java_trace("rewritten"))?, messages(layout.rust_trace())?);
    let both = messages(layout.combined())?;
    if both != java + rust {
        return Err(format!("{java} lines of Java and {rust} of Rust became {both}"));
    }
    println!(
        "{java} lines of Java and {rust} of Rust are in {}",
        workspace::shown(&layout.combined())
    );
    Ok(())
}

fn read(layout: &Layout) -> Result<()> {
    readers::compare(layout, &layout.combined())?;
    for tag in ["Index", "Report"] {
        let columns = ["read-log", "--columns", "time,process,tag,message", "--tag", tag];
        let text = shell::read(layout.tool(&columns).arg(layout.combined()))?;
        text.lines().take(LINES_SHOWN).for_each(|line| println!("    {line}"));
    }
    Ok(())
}

impl Layout {
    fn combined(&self) -> PathBuf {
        self.output.join("both.pftrace")
    }
}
