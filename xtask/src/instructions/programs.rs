//! The programs whose instructions are counted, and how each is built.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::table::Counts;
use crate::{Result, callgrind, shell, toolchain, workspace};

/// Repetitions of a call: many chunks full.
const REPETITIONS: u64 = 50_000;

/// Names in the table, and the work of the programs.
const CALLS: [(&str, [&str; 2]); 17] = [
    ("switched off", ["turns", "protolog"]),
    ("switched off beside one by a rule", ["turns", "ruled"]),
    ("passed over by sampling", ["turns", "passed-over"]),
    ("passed over by sampling of bytes", ["turns", "passed-over-bytes"]),
    ("suppressed by a limit", ["turns", "suppressed"]),
    ("two integers", ["calls", "two-ints"]),
    ("an integer and a text, one of 8", ["calls", "int-and-text"]),
    ("two integers and a float", ["calls", "two-ints-and-float"]),
    ("a text of 40 bytes", ["calls", "long-text"]),
    ("an integer and a new text, 8 bytes", ["calls", "new-8"]),
    ("an integer and a new text, 40 bytes", ["calls", "new-40"]),
    ("two integers to two sessions", ["calls", "two-sessions"]),
    ("two integers, let through by a limit", ["calls", "limited"]),
    ("a span switched off", ["turns", "span"]),
    ("a span of two integers", ["calls", "span-two-ints"]),
    ("a span with a text", ["calls", "span-text"]),
    ("a request and one message of it", ["calls", "request"]),
];

/// Messages of two traces: the difference of their instructions is that of their messages alone.
const MESSAGES: [u64; 2] = [20_000, 60_000];

/// Names in the table, and the output that the program is to make of a trace.
const READS: [(&str, &str); 5] = [
    ("a message read to text", "text"),
    ("a message vouched for, read to text", "vouched"),
    ("a message read to JSON", "json"),
    ("a message read, one of 100 to text", "errors"),
    ("a message read, to count templates", "counts"),
];

/// Counts all, with rustup's `toolchain`, or with that of the workspace.
pub(super) fn count(toolchain: Option<&str>) -> Result<Vec<(String, Counts)>> {
    let builds = Builds::new(toolchain)?;
    let workspace = builds.workspace()?;
    let of = |program: &Path| count_calls(&program.display().to_string());
    let columns = [of(&workspace)?, of(&builds.user("release")?)?, of(&builds.user("lto")?)?];
    let counts = |index: usize| columns.each_ref().map(|column| Some(column[index]));
    let calls = CALLS.iter().enumerate();
    let mut rows: Vec<_> = calls.map(|(at, (name, _))| ((*name).to_owned(), counts(at))).collect();
    let reads = count_reads(&workspace)?.into_iter();
    rows.extend(reads.map(|(name, count)| (name.to_owned(), [Some(count), None, None])));
    Ok(rows)
}

/// Instructions of each of [`CALLS`]; switched off, without the loop.
fn count_calls(program: &str) -> Result<Vec<f64>> {
    let each = |[mode, case]: [&str; 2]| callgrind::each(&[program, mode, case], REPETITIONS);
    let empty = each(["turns", "empty"])?;
    let floor = |mode: &str| if mode == "turns" { empty } else { 0.0 };
    CALLS.iter().map(|(_, words)| Ok(each(*words)? - floor(words[0]))).collect()
}

/// Instructions of a message in each of [`READS`], with all threads and the survey of the trace.
fn count_reads(program: &Path) -> Result<Vec<(&'static str, f64)>> {
    let dir = workspace::empty_target("instructions")?;
    let mut traces = Vec::new();
    for messages in MESSAGES {
        let trace = dir.join(format!("{messages}.pftrace"));
        let mut write = Command::new(program);
        shell::run(write.arg("sequences").arg(&trace).arg(messages.to_string()))?;
        traces.push(trace.display().to_string());
    }
    let program = program.display().to_string();
    let more = (MESSAGES[1] - MESSAGES[0]) as f64;
    let of = |form: &str, trace: &str| callgrind::all(&[&program, "read", form, trace]);
    let each =
        |form: &str| -> Result<f64> { Ok((of(form, &traces[1])? - of(form, &traces[0])?) / more) };
    READS.iter().map(|(name, form)| Ok((*name, each(form)?))).collect()
}

struct Builds<'a> {
    toolchain: Option<&'a str>,
    target: PathBuf,
}

impl<'a> Builds<'a> {
    fn new(toolchain: Option<&'a str>) -> Result<Self> {
        let target = workspace::target_dir()?.join(toolchain.map_or("", |_| "other-rust"));
        Ok(Self { toolchain, target })
    }

    /// The program that is a part of the workspace.
    fn workspace(&self) -> Result<PathBuf> {
        self.run(&["--release", "--package", "protolog-bench"], &self.target)?;
        Ok(self.target.join("release/protolog-bench"))
    }

    /// The program that is no part of the workspace.
    fn user(&self, profile: &str) -> Result<PathBuf> {
        let target = self.target.join("bench/user");
        self.run(&["--profile", profile, "--manifest-path", "bench/user/Cargo.toml"], &target)?;
        Ok(target.join(profile).join("protolog-bench-user"))
    }

    fn run(&self, args: &[&str], target: &Path) -> Result<()> {
        let args = [&["build", "--locked"], args].concat();
        shell::run(toolchain::cargo(self.toolchain, &args).env("CARGO_TARGET_DIR", target))
    }
}
