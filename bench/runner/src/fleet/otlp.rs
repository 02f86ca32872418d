//! What it costs to send a message to a collector: to a server that reads and answers, and to
//! Rotel, which drops what it gets.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use super::super::report::Report;
use super::{FleetBench, ROUNDS, seconds};
use xtask::{Result, workspace};

/// The messages that are sent.
const MESSAGES: u64 = 1_000_000;

/// The longest time that a collector may take to start.
const START: Duration = Duration::from_secs(20);

pub(super) fn run(bench: &FleetBench, report: &mut Report) -> Result<()> {
    bench.measure(&format!(
        "rm -rf otlp && mkdir -p otlp/traces\n\"$writer\" requests otlp/traces/s.pftrace {MESSAGES} {}",
        64 << 20
    ))?;
    let mut rows = Vec::new();
    let port = serve().map_err(|error| format!("can't serve: {error}"))?;
    rows.extend(send(bench, "a server that reads and answers", port, None)?);
    match Collector::start() {
        Ok(collector) => {
            rows.extend(send(
                bench,
                "Rotel, `--exporter blackhole`",
                collector.port,
                Some(&collector),
            )?);
        }
        Err(error) => report.skip(&format!("Rotel: {error} (`cargo xtask setup fleet`)")),
    }
    let head = ["to", "wall s", "messages a second", "CPU s", "CPU of the other end", "peak MB"];
    report.add(&format!("{MESSAGES} messages sent by `export otlp`"), &head, &rows);
    Ok(())
}

/// A row for each of some runs.
fn send(
    bench: &FleetBench,
    to: &str,
    port: u16,
    collector: Option<&Collector>,
) -> Result<Vec<Vec<String>>> {
    let line = format!(
        "rm -f otlp/state && \"$fleet\" otlp http://127.0.0.1:{port} --state otlp/state otlp/traces > /dev/null"
    );
    let run = |_| {
        let before = collector.map(Collector::cpu);
        let cost = bench.measure(&line)?;
        let other = collector.map(Collector::cpu).zip(before).map(|(after, before)| after - before);
        Ok(vec![
            to.to_owned(),
            seconds(cost.run.wall),
            format!("{:.0}", MESSAGES as f64 / cost.run.wall),
            seconds(cost.run.cpu.unwrap_or(0.0)),
            other.map(seconds).unwrap_or_default(),
            format!("{:.0}", cost.run.peak.unwrap_or(0) as f64 / 1e6),
        ])
    };
    (0..ROUNDS).map(run).collect()
}

/// Accepts every request; returns the port.
fn serve() -> std::io::Result<u16> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let port = listener.local_addr()?.port();
    thread::spawn(move || {
        for connection in listener.incoming().flatten() {
            thread::spawn(move || answer(&connection));
        }
    });
    Ok(port)
}

/// Reads requests and accepts them, until the other end closes.
fn answer(connection: &TcpStream) -> std::io::Result<()> {
    let (mut reader, mut writer) = (BufReader::with_capacity(256 << 10, connection), connection);
    loop {
        let mut length = 0;
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line)? == 0 {
                return Ok(());
            }
            let line = line.trim_end().to_ascii_lowercase();
            if let Some(value) = line.strip_prefix("content-length:") {
                length = value.trim().parse().unwrap_or(0);
            }
            if line.is_empty() {
                break;
            }
        }
        std::io::copy(&mut (&mut reader).take(length), &mut std::io::sink())?;
        writer.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n")?;
    }
}

/// A collector that drops what it gets.
struct Collector {
    child: Child,
    port: u16,
}

impl Collector {
    fn start() -> Result<Self> {
        let program = workspace::tools_dir().join("fleet/rotel/rotel-agent");
        let free = TcpListener::bind("127.0.0.1:0").and_then(|it| it.local_addr());
        let port = free.map_err(|error| format!("no free port: {error}"))?.port();
        let mut rotel = Command::new(&program);
        rotel.args(["start", "--exporter", "blackhole", "--otlp-grpc-endpoint", "127.0.0.1:0"]);
        rotel.args(["--otlp-http-endpoint", &format!("127.0.0.1:{port}")]);
        let child = rotel.stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        let child =
            child.map_err(|error| format!("can't start `{}`: {error}", program.display()))?;
        let (collector, begun) = (Self { child, port }, Instant::now());
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            if begun.elapsed() > START {
                return Err("it does not listen".to_owned());
            }
            thread::sleep(Duration::from_millis(50));
        }
        Ok(collector)
    }

    /// Its processor seconds so far.
    fn cpu(&self) -> f64 {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.child.id()));
        let stat = stat.unwrap_or_default();
        let words = stat.rsplit(')').next().into_iter().flat_map(str::split_whitespace);
        let ticks: u64 = words.skip(11).take(2).filter_map(|word| word.parse::<u64>().ok()).sum();
        ticks as f64 / rustix::param::clock_ticks_per_second() as f64
    }
}

impl Drop for Collector {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
