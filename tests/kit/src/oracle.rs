//! Perfetto's own reader and the official protobuf descriptors, as oracles for this project's
//! output.
//!
//! `tests/oracle/trace_processor.mjs` runs `trace_processor` (wasm) in node. Booting it costs a
//! second or two, so one node process serves all traces of a test binary. A request is a line of
//! JSON, and so is its reply. The process ends with the test binary, when its stdin closes.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Mutex, PoisonError};

use serde_json::{Value, json};

use crate::{python, run, tool, web_dist, workspace_root};

/// The result of one query.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// Column names, in the query's order.
    pub columns: Vec<String>,
    /// Rows of cells: null, integer, float, string; a blob is a string `hex:…`.
    pub rows: Vec<Vec<Value>>,
}

/// The result of [`read_trace`].
#[derive(Debug, Clone, PartialEq)]
pub struct Reading {
    /// One table per query.
    pub tables: Vec<Table>,
    /// The counters of `trace_processor` for losses and errors (name, idx, severity, source,
    /// value).
    pub stats: Table,
    /// The error if loading stopped early; the tables then have the part before it.
    pub error: Option<String>,
}

/// Loads `trace` into `trace_processor` and runs each of `sql`. `None` without node or Perfetto's
/// web build.
///
/// # Panics
///
/// If the trace can't be loaded completely, or a query is wrong.
#[track_caller]
pub fn trace_processor(trace: &Path, sql: &[&str]) -> Option<Vec<Table>> {
    let reading = read_trace(trace, sql)?;
    assert!(
        reading.error.is_none(),
        "can't load `{}`: {}",
        trace.display(),
        reading.error.unwrap_or_default()
    );
    Some(reading.tables)
}

/// The counters for losses and errors in `trace`; no row means that there are none. `None` without
/// node or Perfetto's web build.
///
/// # Panics
///
/// If the trace can't be loaded completely.
#[track_caller]
pub fn trace_stats(trace: &Path) -> Option<Table> {
    let reading = read_trace(trace, &[])?;
    assert!(
        reading.error.is_none(),
        "can't load `{}`: {}",
        trace.display(),
        reading.error.unwrap_or_default()
    );
    Some(reading.stats)
}

/// Tables, counters and load error of `trace`. `None` without node or Perfetto's web build.
///
/// # Panics
///
/// If a query is wrong or the reader itself fails.
#[track_caller]
pub fn read_trace(trace: &Path, sql: &[&str]) -> Option<Reading> {
    let (node, dist) = (tool("node")?, web_dist()?);
    let request = json!({"trace": trace, "sql": sql}).to_string();
    let answer = ask(&node, &dist, &request);
    let answer: Value = serde_json::from_str(&answer)
        .unwrap_or_else(|error| panic!("{error} in answer `{answer}`"));
    if let Some(failure) = answer["failure"].as_str() {
        panic!("`{}`: {failure}", trace.display());
    }
    Some(Reading {
        tables: answer["tables"].as_array().into_iter().flatten().map(Table::new).collect(),
        stats: Table::new(&answer["stats"]),
        error: answer["error"].as_str().map(str::to_owned),
    })
}

/// Parses a dictionary (`.pb`) with the official descriptors:
/// `{"messages": […], "groups": […], "unknown": […]}`, where `unknown` lists the paths of fields
/// that Perfetto does not know, as in `messages.1000`, sorted, each once. `None` without the Python
/// environment.
///
/// # Panics
///
/// If the file is not a dictionary.
#[track_caller]
pub fn check_dictionary(file: &Path) -> Option<Value> {
    let output = check("check_dictionary.py", &[file])?;
    Some(serde_json::from_str(&output).unwrap_or_else(|error| panic!("{error} in `{output}`")))
}

/// Reads a dictionary (`.pb`) with the official descriptors and writes it with them to `copy`.
/// `None` without the Python environment.
///
/// # Panics
///
/// If the file is not a dictionary.
#[track_caller]
pub fn copy_dictionary(file: &Path, copy: &Path) -> Option<()> {
    check("check_dictionary.py", &[file, copy]).map(drop)
}

/// Parses every packet of a trace with the official descriptors: one value per packet,
/// `{"packet": {…}, "unknown": […]}`. `None` without the Python environment.
///
/// # Panics
///
/// If the file is not a trace, or has an unknown field with a number below 1000, which can't be
/// ours.
#[track_caller]
pub fn check_trace(file: &Path) -> Option<Vec<Value>> {
    let output = check("check_trace.py", &[file])?;
    let parse =
        |line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error} in `{line}`"));
    Some(output.lines().map(parse).collect())
}

impl Table {
    /// The cells of the column `name`.
    ///
    /// # Panics
    ///
    /// If there is no such column.
    #[track_caller]
    pub fn column(&self, name: &str) -> Vec<&Value> {
        let at = self.columns.iter().position(|column| column == name);
        let at = at.unwrap_or_else(|| panic!("no column `{name}` among {:?}", self.columns));
        self.rows.iter().map(|row| &row[at]).collect()
    }

    /// The cells of the column `name` as text: strings bare, everything else as JSON.
    ///
    /// # Panics
    ///
    /// If there is no such column.
    #[track_caller]
    pub fn texts(&self, name: &str) -> Vec<String> {
        self.column(name).into_iter().map(cell_text).collect()
    }

    fn new(value: &Value) -> Self {
        let columns = value["columns"].as_array().into_iter().flatten();
        let rows = value["rows"].as_array().into_iter().flatten();
        Self {
            columns: columns.map(cell_text).collect(),
            rows: rows.map(|row| row.as_array().cloned().unwrap_or_default()).collect(),
        }
    }
}

/// One line per row, cells separated by ` | `, without the column names: a text to compare.
impl std::fmt::Display for Table {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for row in &self.rows {
            writeln!(f, "{}", row.iter().map(cell_text).collect::<Vec<_>>().join(" | "))?;
        }
        Ok(())
    }
}

fn cell_text(cell: &Value) -> String {
    cell.as_str().map_or_else(|| cell.to_string(), str::to_owned)
}

#[track_caller]
fn check(script: &str, files: &[&Path]) -> Option<String> {
    let script = workspace_root().join("tests/oracle").join(script);
    Some(run(Command::new(python()?).arg(script).args(files)).stdout)
}

/// The node process of this test binary.
struct Reader {
    child: Child,
    requests: ChildStdin,
    answers: BufReader<ChildStdout>,
}

fn ask(node: &PathBuf, dist: &PathBuf, request: &str) -> String {
    static READER: Mutex<Option<Reader>> = Mutex::new(None);
    // A test that panics while it holds the lock leaves no reader behind, see below.
    let mut slot = READER.lock().unwrap_or_else(PoisonError::into_inner);
    let mut reader = slot.take().unwrap_or_else(|| start(node, dist));
    writeln!(reader.requests, "{request}").expect("send a request to trace_processor");
    let mut answer = String::new();
    reader.answers.read_line(&mut answer).expect("read an answer of trace_processor");
    if answer.is_empty() {
        let status = reader.child.wait().expect("wait for trace_processor");
        panic!("trace_processor ended with {status} on {request}");
    }
    *slot = Some(reader);
    answer
}

fn start(node: &PathBuf, dist: &PathBuf) -> Reader {
    let script = workspace_root().join("tests/oracle/trace_processor.mjs");
    let mut command = Command::new(node);
    command
        .arg(script)
        .arg("--dist")
        .arg(dist)
        .arg("--serve")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    let mut child = command.spawn().expect("start node");
    let requests = child.stdin.take().expect("stdin was piped");
    let answers = BufReader::new(child.stdout.take().expect("stdout was piped"));
    Reader { child, requests, answers }
}
