//! Messages into Perfetto's tracing service: protolog's producer beside Perfetto's SDK for Rust and
//! the layer for `tracing` on it.
//!
//! The service is the real one, compiled with optimisation. Each run has a service and a session of
//! its own; what is full is waited for, where the peer can (`STALL_THEN_DROP`), and what is lost
//! all the same is not counted as written.

mod build;
mod service;

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{ChildStdout, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use self::service::{Service, Trace};
use super::outside;
use super::report::{Report, median, rounds};
use xtask::{Result, traced, workspace};

const ROUNDS: usize = 7;
const MESSAGES: u64 = 200_000;
const THREADS: [u64; 3] = [1, 2, 4];
const SHAPES: [(&str, &str); 2] =
    [("two-ints", "two integers"), ("int-and-text", "an integer and a text, one of 8")];

/// The time in which a program has joined the service.
const JOINING: Duration = Duration::from_millis(500);

/// A program that is measured: its title, the word for it, its path.
type JoinedCandidate = (&'static str, &'static str, PathBuf);

/// The figures of a run.
struct JoinedFigures {
    /// CPU nanoseconds of the program, for a message that is in the trace.
    cpu: f64,
    /// CPU nanoseconds of the service.
    service: f64,
    /// Messages a second, until the service has them.
    rate: f64,
    /// Per cent of the messages that are in the trace.
    kept: f64,
    /// Bytes in the trace for a message.
    bytes: f64,
    /// Microseconds from the request for the session to the first enabled call.
    start: f64,
    /// Microseconds of a flush.
    flush: f64,
}

/// Fills the tables.
pub(super) fn run(report: &mut Report) -> Result<()> {
    let service = traced::optimized()?;
    let dir = workspace::target_dir()?.join("bench/joined");
    workspace::empty_dir(&dir)?;
    let own = outside::build("user")?.join("protolog-bench-user");
    let peers = outside::build("peers")?.join("bench-peers");
    let candidates: [JoinedCandidate; 4] = [
        ("protolog", "protolog", own),
        ("Perfetto SDK, data source", "data-source", peers.clone()),
        ("Perfetto SDK, track event", "track-event", peers.clone()),
        ("tracing-perfetto-sdk", "tracing-perfetto-sdk", peers),
    ];
    for (shape, title) in SHAPES {
        for threads in THREADS {
            let rounds =
                rounds(ROUNDS, &candidates, |it| round(&service, &dir, it, shape, threads))?;
            let title = format!("Into the service: {title}, threads: {threads}");
            table(&title, &candidates, &rounds, report);
        }
    }
    build::run(report)
}

fn table(
    title: &str,
    candidates: &[JoinedCandidate],
    rounds: &[Vec<JoinedFigures>],
    report: &mut Report,
) {
    let of = |rounds: &[JoinedFigures], value: fn(&JoinedFigures) -> f64| {
        median(rounds.iter().map(value))
    };
    let own = rounds.first().map_or(f64::NAN, |rounds| of(rounds, |it| it.cpu));
    let rows = candidates.iter().zip(rounds).map(|((title, ..), rounds)| {
        let cpu = of(rounds, |it| it.cpu);
        let (least, most) = rounds.iter().fold((f64::INFINITY, 0_f64), |(least, most), it| {
            (least.min(it.cpu), most.max(it.cpu))
        });
        vec![
            (*title).to_owned(),
            format!("{cpu:.0}"),
            format!("{:.1}", cpu / own),
            format!("{least:.0}–{most:.0}"),
            format!("{:.0}", of(rounds, |it| it.service)),
            format!("{:.2}", of(rounds, |it| it.rate) / 1e6),
            format!("{:.1}", of(rounds, |it| it.kept)),
            format!("{:.1}", of(rounds, |it| it.bytes)),
            format!("{:.0}", of(rounds, |it| it.start)),
            format!("{:.0}", of(rounds, |it| it.flush)),
        ]
    });
    let head = [
        "",
        "CPU ns a message",
        "×",
        "spread",
        "service's CPU ns",
        "million/s",
        "kept %",
        "bytes",
        "start µs",
        "flush µs",
    ];
    report.add(title, &head, &rows.collect::<Vec<_>>());
}

fn round(
    service: &Path,
    dir: &Path,
    (_, word, program): &JoinedCandidate,
    shape: &str,
    threads: u64,
) -> Result<JoinedFigures> {
    let service = Service::start(service, dir)?;
    let mut command = Command::new(program);
    command.args(["serve", word, shape, &threads.to_string(), &MESSAGES.to_string()]);
    command.env("PERFETTO_PRODUCER_SOCK_NAME", service.producers());
    let started =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
    let mut child = started.map_err(|error| format!("can't start `{command:?}`: {error}"))?;
    let (mut input, output) = (child.stdin.take(), child.stdout.take());
    let mut output = BufReader::new(output.ok_or("no standard output")?);
    let mut go = || {
        let sent = input.as_mut().map(|input| input.write_all(b"\n"));
        sent.ok_or("no standard input")?.map_err(|error| format!("the program ended: {error}"))
    };
    thread::sleep(JOINING);
    let (mut session, asked) = service.session()?;
    let enabled = number(&mut output)?;
    // Each thread logs a few messages first.
    thread::sleep(JOINING / 5);
    let service_before = service.cpu()?;
    go()?;
    let wall = number(&mut output)?;
    let begun = Instant::now();
    session.flush()?;
    let flush = begun.elapsed();
    go()?;
    let cpu = number(&mut output)?;
    let service_cpu = service.cpu()? - service_before;
    let Trace { messages, bytes } = session.trace()?;
    go()?;
    let ended = child.wait().map_err(|error| format!("can't wait for `{command:?}`: {error}"))?;
    if !ended.success() {
        return Err(format!("`{command:?}` ended with {ended}"));
    }
    // Those before the loop are in the trace, too, and are the same in all.
    let kept = messages - (BEFORE * threads) as f64;
    Ok(JoinedFigures {
        cpu: cpu / kept.max(1.0),
        service: service_cpu / kept.max(1.0),
        rate: kept / (wall / 1e9 + flush.as_secs_f64()),
        kept: kept / (MESSAGES * threads) as f64 * 100.0,
        bytes: bytes / messages.max(1.0),
        start: (enabled - asked) / 1000.0,
        flush: flush.as_secs_f64() * 1e6,
    })
}

/// `BEFORE` of the harness.
const BEFORE: u64 = 100;

/// The next line of a program, a number.
fn number(output: &mut BufReader<ChildStdout>) -> Result<f64> {
    let mut line = String::new();
    let read = output.read_line(&mut line);
    read.map_err(|error| format!("can't read from the program: {error}"))?;
    line.trim().parse().map_err(|_| format!("the program printed `{}`", line.trim()))
}
