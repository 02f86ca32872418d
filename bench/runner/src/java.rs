//! The Java runtime beside the JDK's logger, Log4j 2, Logback and the JDK's flight recorder:
//! `bench/java`.
//!
//! A process measures one kind of call of one logger, so that the JVM compiles it as in a program
//! with one logger. Processes take turns; of times the best of them is shown, since all that
//! disturbs makes them longer.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};
use std::{env, fs};

use super::report::Report;
use xtask::{Result, java, java_25, loggers, shell, workspace};

/// The most processes for each figure.
const FORKS: usize = 3;
/// No further round of processes is begun that would probably end later than this.
const LONGEST: Duration = Duration::from_secs(6 * 60);
/// The messages that a process logs before it is killed: `UNTIL_KILLED` of
/// `bench/java/src/bench/Main.java`.
const LOGGED: u64 = 100_000;
/// Loggers: the word for the program, and the row of the table.
const PEERS: [(&str, &str); 6] = [
    ("floor", "floor: a static boolean; `System.nanoTime()`"),
    ("protolog", "protolog"),
    ("jfr", "JFR events"),
    ("logback", "Logback 1.2, buffered file"),
    ("log4j", "Log4j 2.19, asynchronous, garbage-free"),
    ("jul", "java.util.logging, file"),
];
const CALLS: [&str; 5] = ["off", "two-ints", "int-string", "two-ints-double", "six"];
/// Calls with names of so many hosts, and the loggers that make them.
const HOSTS: [&str; 3] = ["hosts-4", "hosts-64", "hosts-10000"];
const WITH_HOSTS: [&str; 4] = ["protolog", "jfr", "logback", "log4j"];

/// Kinds of threads that log once, how many, and how many of them live at once.
const SHORT_THREADS: [(&str, &str, &str); 3] =
    [("platform", "20000", "400"), ("virtual", "100000", "400"), ("virtual", "100000", "100000")];

/// The figures of a call.
#[derive(Clone, Copy)]
struct CallFigures {
    /// Median time of a call, nanoseconds.
    time: f64,
    /// The time that it stays below in 99 of 100 batches of calls, nanoseconds.
    p99: f64,
    /// Bytes that the calling thread allocates for a call.
    allocated: f64,
    /// CPU time of all threads for a call, nanoseconds.
    cpu: f64,
    /// Bytes in the file for a message.
    written: f64,
}

/// Those of each logger and call.
type AllFigures = BTreeMap<(&'static str, &'static str), CallFigures>;

pub(super) struct JavaPrograms {
    dir: PathBuf,
    tool: PathBuf,
    classpath: String,
}

/// Builds the programs, runs them in turns, and adds the tables.
pub(super) fn run(report: &mut Report) -> Result<()> {
    let programs = build(&loggers::find()?)?;
    let (all, forks) = programs.rounds()?;
    let figures = |title: &str, report: &mut Report, show: fn(&CallFigures) -> String| {
        let head =
            ["logger", "off", "two ints", "int, string", "two ints, double", "six arguments"];
        let rows = PEERS.map(|(peer, name)| {
            let cells =
                CALLS.iter().map(|call| all.get(&(peer, *call)).map(show).unwrap_or_default());
            [name.to_owned()].into_iter().chain(cells).collect()
        });
        report.add(title, &head, &rows);
    };
    let times = format!("Time of a call, ns, median; the best of {forks} processes");
    figures(&times, report, |it| format!("{:.1}", it.time));
    let times = "Time of a call, ns, that 99 of 100 batches stay below";
    figures(times, report, |it| format!("{:.1}", it.p99));
    figures("Bytes allocated by a call", report, |it| format!("{:.0}", it.allocated));
    figures("CPU of all threads for a call, ns", report, |it| format!("{:.0}", it.cpu));
    figures("Bytes in the file for a message", report, |it| format!("{:.0}", it.written));
    let mut rows = Vec::new();
    for (peer, name) in PEERS.iter().filter(|(peer, _)| WITH_HOSTS.contains(peer)) {
        let of = |show: fn(&CallFigures) -> String| {
            HOSTS.map(|call| all.get(&(*peer, call)).map(show).unwrap_or_default())
        };
        let times = of(|it| format!("{:.1}", it.time));
        let bytes = of(|it| format!("{:.1}", it.written));
        rows.push([vec![(*name).to_owned()], times.into(), bytes.into()].concat());
    }
    let head =
        ["logger", "ns, 4", "ns, 64", "ns, 10,000", "bytes, 4", "bytes, 64", "bytes, 10,000"];
    report.add("An int and one of so many hosts in turn", &head, &rows);
    programs.short_threads(report)?;
    let mut rows = Vec::new();
    for (peer, name) in PEERS.iter().filter(|(peer, _)| *peer != "floor") {
        rows.push(vec![(*name).to_owned(), programs.kept(peer)?.to_string()]);
    }
    report.add(
        &format!("Messages of {LOGGED} that can be read after SIGKILL"),
        &["logger", "messages"],
        &rows,
    );
    Ok(())
}

/// Has the tool rewrite the calls, and compiles what it has written.
pub(super) fn build(jars: &loggers::Loggers) -> Result<JavaPrograms> {
    let tool = workspace::build_tool()?;
    let dir = workspace::target_dir()?.join("bench/java");
    workspace::empty_dir(&dir)?;
    let classes = dir.join("classes");
    let dictionary = classes.join("META-INF/protolog/dictionary.pb");
    workspace::empty_dir(&classes.join("META-INF/protolog"))?;
    let sources = java::sources("bench/java")?;
    let mut rewrite = Command::new(&tool);
    let groups =
        "--loggroups-class bench.BenchLog --loggroups-source bench/java/src/bench/BenchLog.java";
    rewrite.arg("transform-protolog-calls").args(groups.split(' '));
    rewrite.args(["--source-root", "bench/java/src", "--output-dir"]).arg(dir.join("src"));
    rewrite.arg("--viewer-config").arg(&dictionary).args(&sources).current_dir(workspace::root());
    shell::run_quietly(&mut rewrite)?;
    let jars = [jars.log4j(), jars.logback()].concat();
    let path: Vec<PathBuf> = [vec![classes.clone()], jars].concat();
    let classpath = env::join_paths(path).map_err(|error| error.to_string())?;
    let classpath = classpath.to_string_lossy().into_owned();
    let mut javac = java::javac();
    javac
        .args(["-encoding", "UTF-8", "-nowarn", "-d"])
        .arg(&classes)
        .args(["-classpath", &classpath]);
    javac.args(java::sources("java/src")?).current_dir(workspace::root());
    let rewritten = |source: &PathBuf| {
        dir.join("src").join(source.strip_prefix("bench/java/src").unwrap_or(source))
    };
    shell::run_quietly(javac.args(sources.iter().map(rewritten)))?;
    Ok(JavaPrograms { dir, tool, classpath })
}

impl JavaPrograms {
    /// The server with this log, in a directory.
    pub(super) fn server(&self, log: &str, dir: &Path) -> Command {
        let mut java = Command::new("java");
        let layout = workspace::root().join("bench/java/log4j2.xml");
        // The JDK's server writes head and body apart: the kernel would hold the second one for the
        // client's acknowledgement, 40 ms.
        java.args(["-Xms512m", "-Xmx512m", "-Dsun.net.httpserver.nodelay=true"]);
        java.arg(format!("-Dlog4j2.configurationFile={}", layout.display()));
        java.args(["-classpath", &self.classpath, "bench.ServerMain", log]).arg(dir);
        java
    }

    fn java(&self, peer: &str, call: &str) -> Result<Command> {
        let output = self.dir.join(peer);
        workspace::empty_dir(&output)?;
        let mut java = Command::new("java");
        java.args(["-Xms512m", "-Xmx512m"]);
        java.arg(format!("-XX:FlightRecorderOptions=repository={}", output.join("jfr").display()));
        let layout = workspace::root().join("bench/java/log4j2.xml");
        java.arg(format!("-Dlog4j2.configurationFile={}", layout.display()));
        java.args(["-classpath", &self.classpath, "bench.Main", peer]).arg(&output).arg(call);
        Ok(java)
    }

    /// Measures everything several times, as long as there is time for it; the best figures, and
    /// how often they were taken.
    fn rounds(&self) -> Result<(AllFigures, usize)> {
        let mut all = AllFigures::new();
        let begun = Instant::now();
        for round in 0..FORKS {
            if begun.elapsed() + begun.elapsed() / (round.max(1) as u32) > LONGEST {
                return Ok((all, round));
            }
            for (peer, _) in PEERS {
                let hosts = HOSTS.iter().filter(|_| WITH_HOSTS.contains(&peer));
                for call in CALLS.iter().chain(hosts).copied() {
                    let new = self.measure(peer, call)?;
                    all.entry((peer, call))
                        .and_modify(|known| *known = best(*known, new))
                        .or_insert(new);
                }
            }
            println!("round {} of {FORKS} after {} s", round + 1, begun.elapsed().as_secs());
        }
        Ok((all, FORKS))
    }

    fn measure(&self, peer: &str, call: &str) -> Result<CallFigures> {
        let text = shell::read(&mut self.java(peer, call)?)?;
        let figures: Vec<f64> =
            text.split_whitespace().filter_map(|word| word.parse().ok()).collect();
        match figures[..] {
            [time, p99, allocated, cpu, written] => {
                Ok(CallFigures { time, p99, allocated, cpu, written })
            }
            _ => Err(format!("`bench.Main {peer} {call}` printed `{}`", text.trim())),
        }
    }

    /// CPU time of threads that log one message and end, beside that of threads that log none;
    /// virtual ones where Java 25 is.
    fn short_threads(&self, report: &mut Report) -> Result<()> {
        let file = self.dir.join("short.pftrace");
        let mut rows = Vec::new();
        for (kind, count, alive) in SHORT_THREADS {
            let java = if kind == "virtual" { java_25::java() } else { Some("java".into()) };
            let Some(java) = java else { continue };
            let figures = |logs: &str| {
                let mut java = Command::new(&java);
                java.args(["-classpath", &self.classpath, "bench.ShortThreads"]).arg(&file);
                let text = shell::read(java.args([kind, count, alive, logs]))?;
                let mut words = text.split_whitespace().map(|word| word.parse().ok());
                match (words.next().flatten(), words.next().flatten()) {
                    (Some(cpu), Some(lost)) => Ok::<(f64, f64), String>((cpu, lost)),
                    _ => Err(format!("`bench.ShortThreads` printed `{}`", text.trim())),
                }
            };
            let ((none, _), (one, lost)) = (figures("off")?, figures("on")?);
            let difference = one - none;
            let figures = [none, one, difference].map(|time| format!("{time:.1}"));
            let what = format!("{count} {kind} ones, {alive} alive");
            rows.push([vec![what], figures.into(), vec![lost.to_string()]].concat());
        }
        let head = ["threads", "µs of CPU without a message", "with one", "difference", "lost"];
        report.add("Threads of one message, each of four rounds", &head, &rows);
        Ok(())
    }

    /// The messages that can be read after a process was killed right after its last message.
    fn kept(&self, peer: &str) -> Result<u64> {
        let mut java = self.java(peer, "kill")?;
        let status = java.status().map_err(|error| format!("can't start java: {error}"))?;
        if status.success() {
            return Err(format!("`bench.Main {peer} kill` was not killed"));
        }
        let dir = self.dir.join(peer);
        match peer {
            "protolog" => {
                let trace = dir.join("protolog.pftrace");
                shell::run_quietly(Command::new(&self.tool).arg("recover").arg(&trace))?;
                Ok(lines(&shell::read(Command::new(&self.tool).arg("read-log").arg(&trace))?))
            }
            "jfr" => Ok(Self::kept_events(&dir.join("jfr"))),
            _ => {
                let text = fs::read_to_string(dir.join(format!("{peer}.log")));
                Ok(lines(&text.map_err(|error| format!("can't read the log of {peer}: {error}"))?))
            }
        }
    }

    /// Events that the JDK's own tool finds; none where it can't read what is there.
    fn kept_events(repository: &Path) -> u64 {
        let folders = fs::read_dir(repository).into_iter().flatten().flatten();
        let Some(folder) = folders.map(|entry| entry.path()).find(|path| path.is_dir()) else {
            return 0;
        };
        let whole = repository.join("whole.jfr");
        let _ = shell::read(Command::new("jfr").arg("assemble").arg(&folder).arg(&whole));
        let text = shell::read(
            Command::new("jfr").args(["print", "--events", "bench.TwoInts"]).arg(&whole),
        );
        text.unwrap_or_default().matches("bench.TwoInts {").count() as u64
    }
}

fn lines(text: &str) -> u64 {
    text.matches('\n').count() as u64
}

/// The better of two measurements in each figure.
fn best(one: CallFigures, other: CallFigures) -> CallFigures {
    CallFigures {
        time: one.time.min(other.time),
        p99: one.p99.min(other.p99),
        allocated: one.allocated.min(other.allocated),
        cpu: one.cpu.min(other.cpu),
        written: one.written.min(other.written),
    }
}
