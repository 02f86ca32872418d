//! A real collector, Rotel, forwards what it gets to the sink.
//!
//! It answers before it forwards: what it has accepted is lost if it is killed then, and no sender
//! can know that. So the collector that is killed here has nothing left to forward.

mod common;

use std::fs;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use common::sink::{Sidecar, Sink, uids};
use common::{fleet, lines_of, trace};
use protolog_testkit::{skip, temp_dir, workspace_root};
use serde_json::Value;

/// The collector, which runs until it is dropped.
struct Collector(Child);

impl Collector {
    /// Takes OTLP at a port, and forwards it to a URL. None if it is not installed.
    fn start(port: u16, to: &str, dir: &Path) -> Option<Self> {
        let program = workspace_root().join("target/tools/fleet/rotel/rotel-agent");
        if !program.is_file() {
            skip("a collector", "Rotel is not there; run `cargo xtask setup fleet`");
            return None;
        }
        let mut command = Command::new(program);
        command.args(["start", "--exporter", "otlp", "--otlp-exporter-protocol", "http"]);
        command.args(["--otlp-exporter-endpoint", to, "--otlp-grpc-endpoint", "127.0.0.1:0"]);
        command.args(["--otlp-http-endpoint", &format!("127.0.0.1:{port}")]);
        let child = command.current_dir(dir).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        Some(Self(child.unwrap()))
    }
}

impl Drop for Collector {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

fn count() -> usize {
    let lines = lines_of(trace()).unwrap();
    let is_item = |it: &&str| ["\"message\",", "\"loss\","].iter().any(|of| it[..20].contains(of));
    lines.lines().filter(is_item).count()
}

#[test]
fn each_message_comes_once_through_a_collector() {
    let Some(mut sink) = Sink::start("") else { return };
    let (dir, port) = (temp_dir(), free_port());
    let Some(_collector) = Collector::start(port, &sink.url(), dir.path()) else { return };
    fs::write(dir.path().join("app.pftrace"), trace()).unwrap();
    let url = format!("http://127.0.0.1:{port}");
    let output = fleet(&["otlp", &url, "--state", "s", "--metrics", "app.pftrace"], dir.path());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    sink.wait_for(count());
    sink.wait_until(|line| line["metric"] == "protolog.lost_messages");
    let all = sink.finish();
    let (points, records): (Vec<_>, Vec<_>) =
        all.into_iter().partition(|it| it["metric"].is_string());
    // It forwards data points with what they are of.
    let messages = points.iter().filter(|it| it["metric"] == "protolog.messages");
    let sum: u64 = messages.map(|point| point["value"].as_u64().unwrap()).sum();
    let lines = lines_of(trace()).unwrap();
    assert_eq!(sum as usize, lines.matches("{\"type\":\"message\"").count());
    let is_cumulative = |it: &Value| it["temporality"] == 2 && it["monotonic"] == true;
    assert!(points.iter().all(|it| is_cumulative(it) && it["start"].as_u64() > Some(0)));
    assert_eq!((records.len(), uids(&records).len()), (count(), count()));
    let loss = records.iter().find(|it| it["attributes"]["protolog.loss.count"].is_number());
    assert_eq!(loss.unwrap()["severity"], 13);
    assert!(records.iter().any(|it| it["body"] == "round 7 of example.org"));
}

#[test]
fn a_collector_that_is_killed_and_started_again_loses_nothing_that_it_did_not_accept() {
    let Some(mut sink) = Sink::start("") else { return };
    let (dir, port) = (temp_dir(), free_port());
    let Some(collector) = Collector::start(port, &sink.url(), dir.path()) else { return };
    let url = format!("http://127.0.0.1:{port}");
    let _sender = Sidecar::start(&[&url, "--follow", "--state", "s", "."], dir.path());
    let whole = trace();
    fs::write(dir.path().join("app.pftrace"), &whole[..whole.len() / 2]).unwrap();
    sink.wait_for(1);
    // It forwards five times a second.
    thread::sleep(Duration::from_millis(1500));
    drop(collector);
    fs::write(dir.path().join("app.pftrace"), whole).unwrap();
    thread::sleep(Duration::from_millis(800));
    let _again = Collector::start(port, &sink.url(), dir.path()).unwrap();
    sink.wait_for(count());
    assert_eq!(uids(&sink.finish()).len(), count());
}
