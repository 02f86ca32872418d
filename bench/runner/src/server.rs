//! What logging costs a server under load: `bench/server`, and the same on the JDK's HTTP server,
//! `bench/java/src/bench/ServerMain.java`.
//!
//! Servers take turns, each in a process of its own. Clients are a process beside it, on the same
//! processors: they send one request after the other over eight connections.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::report::{Report, median, rounds};
use super::{java, outside};
use xtask::{Result, loggers, shell, workspace};

const ROUNDS: usize = 5;
const CONNECTIONS: &str = "8";

/// Servers: is it Java's, the word for the program, and the row of the table.
const SERVERS: [(bool, &str, &str); 9] = [
    (false, "none", "hyper, no log"),
    (false, "always-on", "protolog, always on: DEBUG in memory, trigger, sampled, limited"),
    (false, "file", "protolog, all messages into a file"),
    (false, "tracing", "tracing, all messages into a file"),
    (false, "tracing-info", "tracing, INFO and worse"),
    (true, "none", "JDK, no log"),
    (true, "always-on", "protolog for Java, always on"),
    (true, "file", "protolog for Java, all messages into a file"),
    (true, "log4j", "Log4j 2, asynchronous, all messages into a file"),
];

/// The figures of a run.
struct Load {
    /// Requests a second.
    rate: f64,
    /// CPU microseconds of the server for a request.
    cpu: f64,
    /// Microseconds that 50, 99 and 99.9 % of the requests took at most.
    times: [f64; 3],
    /// Bytes in the server's files.
    bytes: f64,
}

/// Builds the servers, runs them in turns, and adds the table.
pub(super) fn run(report: &mut Report) -> Result<()> {
    let program = outside::build("server")?.join("bench-server");
    let programs = java::build(&loggers::find()?)?;
    let dir = workspace::target_dir()?.join("bench/served");
    let all = rounds(ROUNDS, &SERVERS, |(is_java, log, _)| {
        workspace::empty_dir(&dir)?;
        let server = if *is_java {
            programs.server(log, &dir)
        } else {
            let mut server = Command::new(&program);
            server.args(["serve", log]).arg(&dir);
            server
        };
        // The JVM compiles meanwhile.
        measure(server, &program, if *is_java { "60000" } else { "40000" }, &dir)
    })?;
    let rows = SERVERS.iter().zip(&all).map(|((.., name), loads)| {
        let of = |figure: fn(&Load) -> f64| median(loads.iter().map(figure));
        let [rate, cpu, bytes] = [of(|it| it.rate), of(|it| it.cpu), of(|it| it.bytes)];
        let times = [of(|it| it.times[0]), of(|it| it.times[1]), of(|it| it.times[2])];
        let times = times.map(|time| format!("{time:.0}"));
        let cells = [vec![(*name).to_owned(), format!("{cpu:.1}")], times.into()].concat();
        [cells, vec![format!("{rate:.0}"), format!("{:.1}", bytes / 1e6)]].concat()
    });
    let head = ["server", "CPU µs", "p50 µs", "p99 µs", "p99.9 µs", "requests/s", "MB written"];
    let title = format!("A request of eleven messages; medians of {ROUNDS} rounds");
    report.add(&title, &head, &rows.collect::<Vec<_>>());
    Ok(())
}

fn measure(mut server: Command, program: &Path, requests: &str, dir: &Path) -> Result<Load> {
    let failed = |what: &str| format!("`{}` {what}", program.display());
    let mut child = server
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| format!("can't start `{}`: {error}", shell::line(&server)))?;
    let output = child.stdout.take().ok_or_else(|| failed("has no output"))?;
    let mut lines = BufReader::new(output).lines();
    let mut line =
        || lines.next().and_then(std::result::Result::ok).ok_or_else(|| failed("said nothing"));
    let address = line()?;
    let load = shell::read(Command::new(program).args(["load", &address, CONNECTIONS, requests]));
    // It ends in any case.
    drop(child.stdin.take());
    let used = line();
    child.wait().map_err(|error| format!("can't wait for a server: {error}"))?;
    let (load, used) = (numbers(&load?), numbers(&used?));
    let ([rate, p50, p99, p999], [cpu, requests]) = (&load[..], &used[..]) else {
        return Err(failed("printed other figures"));
    };
    let times = [p50, p99, p999].map(|nanos| nanos / 1000.0);
    let bytes = files(dir)?.iter().filter_map(|path| Some(fs::metadata(path).ok()?.len())).sum();
    let bytes: u64 = bytes;
    Ok(Load { rate: *rate, cpu: cpu / requests / 1000.0, times, bytes: bytes as f64 })
}

fn files(dir: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(dir).map_err(|error| format!("can't list files: {error}"))?;
    Ok(entries.flatten().map(|entry| entry.path()).collect())
}

fn numbers(text: &str) -> Vec<f64> {
    text.split_whitespace().filter_map(|word| word.parse().ok()).collect()
}
