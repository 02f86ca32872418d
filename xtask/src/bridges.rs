//! The test of the jars: each bridge with the real library, on the class path, and that the same sources give the same bytes.

use std::ffi::OsString;
use std::path::Path;
use std::process::Command;
use std::{env, fs};

use serde_json::Value;

use crate::jar::Built;
use crate::loggers::{self, Loggers};
use crate::{Result, jar, java, shell, workspace};

const PROGRAM: &str = "java/bridges/test/app/Bridges.java";
const LOG4J_CONFIG: &str = "java/bridges/test/log4j2.xml";
/// The messages of the program's traces: template and arguments, without stack frames and times.
const EXPECTED: &str = "java/bridges/test/expected.txt";
/// The ways in which Log4j hands on events: a name, an option of Java, and what the program prints. The others have more loggers.
const WAYS: [(&str, &str, &str); 3] = [
    ("synchronous", "-Dappender=trace", "false true\nfalse true\n29\n"),
    ("AsyncAppender", "-Dappender=async", "9\n"),
    (
        "AsyncLogger",
        "-Dlog4j2.contextSelector=org.apache.logging.log4j.core.async.AsyncLoggerContextSelector",
        "9\n",
    ),
];

/// Builds the jars twice, runs a program with all bridges, and compares what its traces say.
pub(crate) fn test() -> Result<()> {
    let loggers = loggers::find()?;
    let built = jar::build("jars", Some(&loggers))?;
    for (one, other) in built.files.iter().zip(jar::build("jars-again", Some(&loggers))?.files) {
        shell::run_quietly(Command::new("cmp").arg(one).arg(other))?;
    }
    let dir = built.runtime().parent().unwrap_or(Path::new("")).join("test");
    let path = compile(&built, &loggers, &dir)?;
    shell::run(&mut shell::cargo(&["build", "--locked", "--package", "protolog-tool"]))?;
    let mut text = String::new();
    for (number, (way, option, expected)) in WAYS.into_iter().enumerate() {
        let trace = dir.join(format!("{way}.pftrace"));
        let mut java = Command::new("java");
        java.arg(format!("-Dlog4j2.configurationFile={LOG4J_CONFIG}")).arg(option);
        java.arg("-classpath").arg(&path).arg("app.Bridges").arg(&trace);
        java.args((number > 0).then_some("log4j")).current_dir(workspace::root());
        let printed = shell::read(&mut java)?;
        if printed != expected {
            return Err(format!("the program printed `{printed}`, and not `{expected}`"));
        }
        text.extend([format!("== log4j: {way}\n"), rows(&trace)?]);
    }
    let actual = dir.join("bridges.txt");
    fs::write(&actual, text).map_err(|error| error.to_string())?;
    shell::run(Command::new("diff").arg(workspace::root().join(EXPECTED)).arg(&actual))
}

/// Compiles the program into `dir`; returns its class path.
fn compile(built: &Built, loggers: &Loggers, dir: &Path) -> Result<OsString> {
    workspace::empty_dir(dir)?;
    let all = [vec![dir.to_owned()], built.files.clone(), vec![loggers.slf4j()], loggers.log4j()];
    let path = env::join_paths(all.concat()).map_err(|error| error.to_string())?;
    let mut javac = java::javac();
    javac.args([
        "-encoding",
        "UTF-8",
        "-proc:none",
        "-Xlint:all",
        "-Xlint:-classfile",
        "-Werror",
        "-classpath",
    ]);
    shell::run_quietly(
        javac.arg(&path).arg("-d").arg(dir).arg(PROGRAM).current_dir(workspace::root()),
    )?;
    Ok(path)
}

/// The messages of a trace: level, tag, template and typed arguments.
fn rows(trace: &Path) -> Result<String> {
    let mut read = Command::new(workspace::target_dir()?.join("debug/protologtool"));
    let text = shell::read(read.args(["read-log", "--format", "json"]).arg(trace))?;
    let mut rows = String::new();
    for line in text.lines() {
        let row: Value = serde_json::from_str(line).map_err(|error| error.to_string())?;
        if row["type"] != "message" {
            return Err(format!("the trace has more than messages: {line}"));
        }
        let args = row["args"].as_array().map_or(&[][..], Vec::as_slice);
        let args: Vec<_> = args.iter().map(|arg| stable(arg).to_string()).collect();
        let (level, tag) = (&row["level"], &row["tag"]);
        let (level, tag) = (level.as_str().unwrap_or_default(), tag.as_str().unwrap_or_default());
        rows.extend([format!("{level} {tag} {} [{}]\n", row["template"], args.join(", "))]);
    }
    Ok(rows)
}

/// An argument without what differs from run to run: frames of a stack, times, identities of objects.
fn stable(arg: &Value) -> Value {
    let Some(text) = arg.as_str() else { return arg.clone() };
    let line = text.lines().next().unwrap_or_default();
    if line.len() > 20 && line.starts_with("20") && line.ends_with('Z') {
        return "TIME".into();
    }
    let Some((before, after)) = line.split_once('@') else { return line.into() };
    format!("{before}@{}", after.trim_start_matches(|c: char| c.is_ascii_hexdigit())).into()
}
