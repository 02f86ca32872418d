//! Archives of `protologtool export parquet` beside the text of the log and clp-s: bytes, searches,
//! and directories of many machines; and what it costs to send logs to a collector.
//!
//! The machine may have other work, so processor time is what counts; wall time is there beside it
//! where two processors can work. Peers that are not there are named and left out.

mod hosts;
mod otlp;
mod search;
mod sizes;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::measure::{self, Run};
use super::report::Report;
use xtask::{Result, python, shell, workspace};

/// Of each figure; the median by wall time is shown.
const ROUNDS: usize = 3;

/// The Python that has the engines which are not among the wheels of `cargo xtask setup fleet`.
const PYTHON: &str = "PROTOLOG_ENGINES_PYTHON";

/// How the peers come there.
const HOW: &str = "`pip install duckdb pyspark yscope-clp-core` in a venv, and name its Python by \
    PROTOLOG_ENGINES_PYTHON";

/// Messages of the trace that is searched, 10 million if nothing else is said.
const MESSAGES: &str = "PROTOLOG_BENCH_MESSAGES";

/// The programs, and a directory for what they write.
struct FleetBench {
    dir: PathBuf,
    /// `protologtool`, and `protologtool-fleet`.
    tool: PathBuf,
    fleet: PathBuf,
    /// The programs that log.
    writer: PathBuf,
    indexer: PathBuf,
    /// clp-s, if it is there.
    clp: Option<PathBuf>,
}

/// What a program took.
struct Cost {
    run: Run,
    /// The bytes that it read by calls of the system, other than through mapped files.
    read: u64,
}

/// Builds the programs, and prints the tables.
pub(super) fn run(report: &mut Report) -> Result<()> {
    let packages = ["protolog-tool", "protolog-bench", "protolog-example-indexer"];
    let programs = workspace::build(&packages, &["--release"])?;
    let dir = workspace::target_dir()?.join("bench/fleet");
    make_dir(&dir)?;
    let bench = FleetBench {
        dir,
        tool: programs.join("protologtool"),
        fleet: build_fleet()?,
        writer: programs.join("protolog-bench"),
        indexer: programs.join("indexer"),
        clp: clp(),
    };
    if bench.clp.is_none() {
        report.skip(&format!("clp-s: it is not there ({HOW})"));
    }
    sizes::run(&bench, report)?;
    search::run(&bench, report)?;
    hosts::run(&bench, report)?;
    otlp::run(&bench, report)
}

/// The program outside the workspace, in the directory that its tests are built in.
fn build_fleet() -> Result<PathBuf> {
    let target = workspace::target_dir()?.join("fleet");
    let mut build = shell::cargo(&["build", "--locked", "--release"]);
    build.args(["--manifest-path", "fleet/Cargo.toml", "--target-dir"]).arg(&target);
    shell::run(build.current_dir(workspace::root()))?;
    Ok(target.join("release/protologtool-fleet"))
}

/// clp-s, which lies beside the Python that has it.
fn clp() -> Option<PathBuf> {
    let beside = engines()?.with_file_name("clp-s");
    beside.is_file().then_some(beside)
}

/// The Python of the engines, if one is named.
fn engines() -> Option<PathBuf> {
    std::env::var_os(PYTHON).map(PathBuf::from)
}

/// A Python with DuckDB: that of the engines, or that of the wheels.
fn duckdb() -> Command {
    let mut python = Command::new(engines().unwrap_or_else(|| python::environment().python));
    if engines().is_none() {
        python.env("PYTHONPATH", workspace::tools_dir().join("fleet"));
    }
    python
}

impl FleetBench {
    /// A path in the directory.
    fn path(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }

    /// Runs a line of the shell, in which `$tool`, `$fleet`, `$writer`, `$indexer`, `$clp` and
    /// `$scripts` are what they are called, in the directory.
    fn measure(&self, line: &str) -> Result<Cost> {
        let scripts = workspace::root().join("bench/fleet");
        let clp = self.clp.clone().unwrap_or_default();
        let named = [
            ("tool", &self.tool),
            ("fleet", &self.fleet),
            ("writer", &self.writer),
            ("indexer", &self.indexer),
            ("clp", &clp),
            ("scripts", &scripts),
        ];
        let named = named.map(|(name, path)| format!("{name}='{}'\n", path.display())).concat();
        let words = ["-c".to_owned(), format!("set -e\n{named}{line}")];
        let before = bytes_read();
        let run = measure::program(Path::new("/bin/sh"), &words, &self.dir, &self.dir.join("time"))
            .map_err(|error| format!("{error}, by the line `{line}`"))?;
        // Those of a process that has ended count as ours.
        Ok(Cost { run, read: bytes_read() - before })
    }

    /// The median of some runs.
    fn median(&self, line: &str) -> Result<Cost> {
        let mut all: Vec<Cost> = (0..ROUNDS).map(|_| self.measure(line)).collect::<Result<_>>()?;
        all.sort_by(|one, other| one.run.wall.total_cmp(&other.run.wall));
        Ok(all.swap_remove(ROUNDS / 2))
    }

    /// Asks DuckDB, each query in a process of its own.
    fn ask(&self, archive: &Path, queries: &[&str]) -> Result<Vec<Answer>> {
        let root = workspace::root();
        let mut python = duckdb();
        python.arg(root.join("bench/fleet/ask.py"));
        python.arg(root.join("integrations/duckdb/protolog.sql")).arg(archive).args(queries);
        let text = shell::read(python.current_dir(&self.dir))?;
        let answers: Vec<Answer> = text.lines().filter_map(Answer::parse).collect();
        if answers.len() == queries.len() {
            return Ok(answers);
        }
        Err(format!("can't read the answers `{}` of DuckDB", text.trim()))
    }

    /// The same, the median of some runs for each query.
    fn ask_often(&self, archive: &Path, queries: &[&str]) -> Result<Vec<Answer>> {
        let mut rounds: Vec<Vec<Answer>> =
            (0..ROUNDS).map(|_| self.ask(archive, queries)).collect::<Result<_>>()?;
        let median = |at: usize| {
            rounds.sort_by(|one, other| one[at].wall.total_cmp(&other[at].wall));
            rounds[ROUNDS / 2][at].clone()
        };
        Ok((0..queries.len()).map(median).collect())
    }
}

/// What DuckDB answers, and took for it.
#[derive(Clone)]
struct Answer {
    /// The columns of the first row.
    row: Vec<String>,
    wall: f64,
    cpu: f64,
    read: u64,
}

impl Answer {
    fn parse(line: &str) -> Option<Self> {
        let value: serde_json::Value = serde_json::from_str(line).ok()?;
        let cell = |cell: &serde_json::Value| {
            cell.as_str().map_or_else(|| cell.to_string(), str::to_owned)
        };
        let row = value["row"].as_array().into_iter().flatten().map(cell).collect();
        let number = |name: &str| value[name].as_f64();
        let (wall, cpu) = (number("wall")?, number("cpu")?);
        Some(Self { row, wall, cpu, read: value["bytes"].as_u64()? })
    }

    /// The first cell.
    fn found(&self) -> String {
        self.row.first().cloned().unwrap_or_default()
    }
}

/// The bytes that this process and those that it has waited for have read.
fn bytes_read() -> u64 {
    let text = fs::read_to_string("/proc/self/io").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("rchar: "));
    line.and_then(|count| count.trim().parse().ok()).unwrap_or(0)
}

/// The bytes of a file, or of all files below a directory.
fn size(path: &Path) -> u64 {
    let Ok(entries) = fs::read_dir(path) else {
        return fs::metadata(path).map_or(0, |meta| meta.len());
    };
    entries.flatten().map(|entry| size(&entry.path())).sum()
}

fn make_dir(dir: &Path) -> Result<()> {
    fs::create_dir_all(dir).map_err(|error| format!("can't make `{}`: {error}", dir.display()))
}

fn megabytes(bytes: u64) -> String {
    format!("{:.1}", bytes as f64 / 1e6)
}

fn seconds(time: f64) -> String {
    format!("{time:.2}")
}
