//! A collector that shows what it gets: `tests/sink.py`.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use protolog_testkit::workspace_root;
use serde_json::Value;

use super::{fleet_python, wheels};

/// A sink that runs until it is dropped.
pub(crate) struct Sink {
    child: Child,
    lines: Receiver<Value>,
    got: Vec<Value>,
    port: u16,
}

impl Sink {
    /// With these answers to the first requests. None if what it needs is not there.
    pub(crate) fn start(answers: &str) -> Option<Self> {
        Self::start_at(answers, "", 0)
    }

    /// With TLS, and the certificate and key in this file.
    pub(crate) fn start_at(answers: &str, certificate: &str, port: u16) -> Option<Self> {
        let python = fleet_python("OTLP")?;
        let mut command = Command::new(python);
        command.env("PYTHONPATH", wheels());
        command.arg(workspace_root().join("fleet/tests/sink.py"));
        command.args([answers, certificate, &port.to_string()]);
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let mut port = String::new();
        output.read_line(&mut port).unwrap();
        let (sender, lines) = channel();
        thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                // One that was killed ends in the middle of a line.
                let Ok(line) = serde_json::from_str(&line) else { continue };
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        Some(Self { child, lines, got: Vec::new(), port: port.trim().parse().unwrap() })
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Waits until so many different records came; what came until then.
    pub(crate) fn wait_for(&mut self, count: usize) -> &[Value] {
        let end = Instant::now() + Duration::from_secs(60);
        while uids(&self.got).len() < count && Instant::now() < end {
            self.got.extend(self.lines.recv_timeout(Duration::from_millis(100)));
            self.got.extend(self.lines.try_iter());
        }
        assert!(uids(&self.got).len() >= count, "{} of {count}", uids(&self.got).len());
        &self.got
    }

    /// Waits until something came for which this holds.
    pub(crate) fn wait_until(&mut self, is_it: impl Fn(&Value) -> bool) -> &[Value] {
        self.wait_until_all(|got| got.iter().any(&is_it))
    }

    /// Waits until this holds for all that came.
    pub(crate) fn wait_until_all(&mut self, is_it: impl Fn(&[Value]) -> bool) -> &[Value] {
        let end = Instant::now() + Duration::from_secs(60);
        while !is_it(&self.got) {
            assert!(Instant::now() < end, "it did not come: {:?}", self.got.last());
            self.got.extend(self.lines.recv_timeout(Duration::from_millis(100)));
            self.got.extend(self.lines.try_iter());
        }
        &self.got
    }

    /// All that came until it is killed.
    pub(crate) fn finish(mut self) -> Vec<Value> {
        self.kill();
        let mut got = std::mem::take(&mut self.got);
        got.extend(self.lines.iter());
        got
    }

    pub(crate) fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Sink {
    fn drop(&mut self) {
        self.kill();
    }
}

/// The ids of records.
pub(crate) fn uids(records: &[Value]) -> BTreeSet<String> {
    let uid = |it: &Value| it["attributes"]["log.record.uid"].as_str().map(str::to_owned);
    records.iter().filter_map(uid).collect()
}

/// A sender that runs until it is killed.
pub(crate) struct Sidecar(Child);

impl Sidecar {
    pub(crate) fn start(args: &[&str], dir: &Path) -> Self {
        Self::start_with(args, dir, &[])
    }

    /// With these variables.
    pub(crate) fn start_with(args: &[&str], dir: &Path, variables: &[(&str, &str)]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_protologtool-fleet"));
        command.current_dir(dir).arg("otlp").args(args).stdout(Stdio::null());
        command.envs(variables.iter().copied());
        Self(command.spawn().unwrap())
    }

    pub(crate) fn kill(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }

    /// Tells it to end, and returns the exit code.
    pub(crate) fn terminate(&mut self) -> Option<i32> {
        let pid = self.0.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
        self.0.wait().unwrap().code()
    }

    /// The exit code, when it ends by itself.
    pub(crate) fn wait(&mut self) -> Option<i32> {
        let end = Instant::now() + Duration::from_secs(30);
        while self.is_running() {
            assert!(Instant::now() < end, "it does not end");
            thread::sleep(Duration::from_millis(50));
        }
        self.0.wait().unwrap().code()
    }

    pub(crate) fn id(&self) -> u32 {
        self.0.id()
    }

    pub(crate) fn is_running(&mut self) -> bool {
        self.0.try_wait().unwrap().is_none()
    }
}

impl Drop for Sidecar {
    fn drop(&mut self) {
        self.kill();
    }
}
