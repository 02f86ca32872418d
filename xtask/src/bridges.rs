//! The test of the jars: each bridge with the real library, on the class path, and that the same
//! sources give the same bytes.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::jar::Built;
use crate::loggers::{self, Loggers};
use crate::{Result, jar, java, shell, workspace};

/// The messages of the programs' traces: level, tag, template, arguments, names, thread, time,
/// place and exception, without the parts that differ from run to run.
const EXPECTED: &str = "java/bridges/test/expected.txt";
/// Those that log by Logback run apart: its SLF4J is another one.
const PROGRAMS: [BridgedProgram; 4] = [
    BridgedProgram {
        source: "java/bridges/test/app/Bridges.java",
        class: "app.Bridges",
        options: &["-Dlog4j2.configurationFile=java/bridges/test/log4j2.xml"],
        libraries: |loggers| [vec![loggers.slf4j()], loggers.log4j()].concat(),
        left_out: "protolog-logback",
        ways: &[
            ("log4j: synchronous", "-Dappender=trace", &[], "false true\nfalse true\n40\n"),
            ("log4j: AsyncAppender", "-Dappender=async", &["log4j"], "14\n"),
            (
                "log4j: AsyncLogger",
                "-Dlog4j2.contextSelector=org.apache.logging.log4j.core.async.AsyncLoggerContextSelector",
                &["log4j"],
                "14\n",
            ),
            (
                "log4j: asynchronous loggers, one in another",
                "-Dlog4j2.configurationFile=java/bridges/test/log4j2-mixed.xml",
                &["log4j"],
                "14\n",
            ),
        ],
    },
    LOGBACK,
    BridgedProgram {
        libraries: Loggers::logback_1_5,
        ways: &[
            ("logback 1.5: synchronous", "-Dappender=TRACE", &[], "10\n"),
            ("logback 1.5: AsyncAppender", "-Dappender=ASYNC", &[], "10\n"),
        ],
        ..LOGBACK
    },
    BridgedProgram {
        source: "java/bridges/test-logback-2/app/FluentBridge.java",
        class: "app.FluentBridge",
        libraries: Loggers::logback_1_5,
        ways: &[
            ("logback 1.5, fluent: synchronous", "-Dappender=TRACE", &[], "12 2\n"),
            ("logback 1.5, fluent: AsyncAppender", "-Dappender=ASYNC", &[], "12 2\n"),
        ],
        ..LOGBACK
    },
];

const LOGBACK: BridgedProgram = BridgedProgram {
    source: "java/bridges/test-logback/app/LogbackBridge.java",
    class: "app.LogbackBridge",
    options: &LOGBACK_OPTIONS,
    libraries: Loggers::logback,
    left_out: "protolog-slf4j",
    ways: &[
        ("logback: synchronous", "-Dappender=TRACE", &[], "10\n"),
        ("logback: AsyncAppender", "-Dappender=ASYNC", &[], "10\n"),
    ],
};

/// Newer ones print their steps where a part of their configuration is not used.
const LOGBACK_OPTIONS: [&str; 2] = [
    "-Dlogback.configurationFile=java/bridges/test-logback/logback.xml",
    "-Dlogback.statusListenerClass=ch.qos.logback.core.status.NopStatusListener",
];

/// A program that logs by the loggers of bridges.
struct BridgedProgram {
    source: &'static str,
    class: &'static str,
    options: &'static [&'static str],
    libraries: fn(&Loggers) -> Vec<PathBuf>,
    /// The jar that would be another provider of SLF4J, or needs another SLF4J.
    left_out: &'static str,
    ways: &'static [Way],
}

/// A way in which a library hands on its events: its name, the option of `java`, the program's
/// arguments, and its output.
type Way = (&'static str, &'static str, &'static [&'static str], &'static str);

/// Builds the jars twice, runs programs with all bridges, and compares their traces.
pub(crate) fn test() -> Result<()> {
    let loggers = loggers::find()?;
    let built = jar::build("jars", Some(&loggers))?;
    for (one, other) in built.files.iter().zip(jar::build("jars-again", Some(&loggers))?.files) {
        shell::run_quietly(Command::new("cmp").arg(one).arg(other))?;
    }
    let dir = built.runtime().parent().unwrap_or(Path::new("")).join("test");
    workspace::empty_dir(&dir)?;
    let tool = workspace::build_tool()?;
    let mut text = String::new();
    for program in &PROGRAMS {
        let path = compile(program, &built, &loggers, &dir.join(program.class))?;
        for (name, option, args, prints) in program.ways {
            let trace = dir.join(name.replace([':', ',', ' '], "-")).with_extension("pftrace");
            let mut java = Command::new("java");
            java.args(program.options).arg(option).arg("-classpath").arg(&path);
            java.arg(program.class).arg(&trace).args(*args).current_dir(workspace::root());
            let printed = shell::read(&mut java)?;
            if printed != *prints {
                return Err(format!("the program printed `{printed}`, and not `{}`", prints));
            }
            text.extend([format!("== {}\n", name), rows(&tool, &trace)?]);
        }
    }
    let actual = dir.join("bridges.txt");
    workspace::write(&actual, text)?;
    shell::run(Command::new("diff").arg(workspace::root().join(EXPECTED)).arg(&actual))
}

/// Compiles a program into `dir`; returns its class path.
fn compile(
    program: &BridgedProgram,
    built: &Built,
    loggers: &Loggers,
    dir: &Path,
) -> Result<OsString> {
    workspace::empty_dir(dir)?;
    let is_used = |file: &&PathBuf| {
        !file.file_name().is_some_and(|name| name.to_string_lossy().starts_with(program.left_out))
    };
    let jars = built.files.iter().filter(is_used).cloned().collect();
    let all = [vec![dir.to_owned()], jars, (program.libraries)(loggers)];
    let path = env::join_paths(all.concat()).map_err(|error| error.to_string())?;
    let mut javac = java::javac();
    javac.args(["-encoding", "UTF-8", "-proc:none", "-Xlint:all", "-Xlint:-classfile", "-Werror"]);
    javac.arg("-classpath").arg(&path).arg("-d").arg(dir).arg(program.source);
    shell::run_quietly(javac.current_dir(workspace::root()))?;
    Ok(path)
}

/// The messages of a trace.
fn rows(tool: &Path, trace: &Path) -> Result<String> {
    let mut read = Command::new(tool);
    let text = shell::read(read.args(["read-log", "--format", "json"]).arg(trace))?;
    let mut rows = Vec::new();
    for line in text.lines() {
        let row: Value = serde_json::from_str(line).map_err(|error| error.to_string())?;
        if row["type"] != "message" {
            return Err(format!("the trace has more than messages: {line}"));
        }
        rows.push(shown(&row));
    }
    // Of events in the same millisecond any may come first.
    rows.sort();
    Ok(rows.concat())
}

/// A message on a line, with the parts that are the same in each run.
fn shown(row: &Value) -> String {
    let args = row["args"].as_array().map_or(&[][..], Vec::as_slice);
    let args: Vec<_> = args.iter().map(|arg| stable(arg).to_string()).collect();
    let text = |name: &str| row[name].as_str().unwrap_or_default();
    let mut line =
        format!("{} {} {} [{}]", text("level"), text("tag"), row["template"], args.join(", "));
    if let Some(fields) = row["fields"].as_object() {
        line.extend(fields.keys().map(|name| format!(" {name}=")));
    }
    let is_of_kernel = row["tid"].as_u64().is_some_and(|tid| tid < 1 << 29);
    let known = if is_of_kernel { "" } else { " of no known id" };
    line.extend([" by ", text("thread"), known, text("request")]);
    if text("template").starts_with("at %d") {
        let expected = row["args"][0].as_u64().unwrap_or_default() % (24 * 3_600_000);
        let is_right = millis_of_day(text("time")).is_some_and(|time| time.abs_diff(expected) < 30);
        line.push_str(if is_right { " then" } else { " at another time" });
    }
    if let Some(place) = row["location"].as_str() {
        // The lines of the programs change with them; a message may have several.
        let file = place.split(':').next().filter(|_| place.starts_with("app/"));
        line.extend([" in ", file.unwrap_or(place)]);
    }
    let stack = text("stack_trace").lines().filter(|line| !line.trim_start().starts_with("at "));
    stack.for_each(|part| line.extend([" | ", part.trim()]));
    line + "\n"
}

/// The milliseconds of the day in a time such as `2026-11-26T17:27:49.515316733Z`.
fn millis_of_day(time: &str) -> Option<u64> {
    let (_, clock) = time.trim_end_matches('Z').split_once('T')?;
    let mut parts = clock.split(':').map(|part| part.parse::<f64>().ok());
    let (hours, minutes, seconds) = (parts.next()??, parts.next()??, parts.next()??);
    Some(((hours * 60.0 + minutes) * 60_000.0 + seconds * 1000.0) as u64)
}

/// An argument without the parts that differ from run to run: times, identities of objects, frames.
fn stable(arg: &Value) -> Value {
    if arg.as_u64().is_some_and(|number| number > 1 << 40) {
        return "TIME".into();
    }
    let Some(text) = arg.as_str() else { return arg.clone() };
    let line = text.lines().next().unwrap_or_default();
    let Some((before, after)) = line.split_once('@') else { return line.into() };
    format!("{before}@{}", after.trim_start_matches(|c: char| c.is_ascii_hexdigit())).into()
}
