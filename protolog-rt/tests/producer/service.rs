//! The real service and a consumer of it, and checks of the traces that come of it.

use crate::child::RunningChild;
use perfetto_ipc::{Consumer, SessionConfig};
use protolog_reader::{Log, Rendering, Trace};
use protolog_testkit::{TempDir, temp_dir_for_sockets, trace_processor, trace_stats, traced};
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// Longer than anything takes, even on a busy machine.
pub(crate) const LONG: Duration = Duration::from_secs(60);

/// A tracing service that runs until it is dropped, and its directory.
pub(crate) struct Service {
    pub(crate) dir: TempDir,
    program: PathBuf,
    process: Option<Child>,
}

impl Service {
    /// Starts the service; none where it is not there.
    pub(crate) fn start() -> Option<Self> {
        let mut service = Self::stopped()?;
        service.restart();
        Some(service)
    }

    /// A service that does not run yet.
    pub(crate) fn stopped() -> Option<Self> {
        let program = traced()?;
        Some(Self { dir: temp_dir_for_sockets(), program, process: None })
    }

    pub(crate) fn producer_socket(&self) -> PathBuf {
        self.dir.path().join("producer")
    }

    /// Starts it again, after it was killed or never started.
    pub(crate) fn restart(&mut self) {
        self.kill();
        for socket in ["producer", "consumer"] {
            let _ = fs::remove_file(self.dir.path().join(socket));
        }
        let mut process = Command::new(&self.program)
            .arg(self.producer_socket())
            .arg(self.dir.path().join("consumer"))
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("start the service");
        let mut line = String::new();
        let output = process.stdout.take().expect("a pipe");
        BufReader::new(output).read_line(&mut line).expect("read a line");
        assert_eq!(line, "listening\n");
        self.process = Some(process);
    }

    /// Ends it at once.
    pub(crate) fn kill(&mut self) {
        if let Some(mut process) = self.process.take() {
            process.kill().expect("kill the service");
            process.wait().expect("wait for the service");
        }
    }

    /// A connection with it as a consumer.
    pub(crate) fn consumer(&self) -> Consumer {
        Consumer::connect(&self.dir.path().join("consumer")).expect("connect to the service")
    }

    /// Starts a session.
    pub(crate) fn session(&self, config: &SessionConfig) -> Consumer {
        let mut consumer = self.consumer();
        consumer.enable(&config.encode()).expect("start a session");
        consumer
    }

    /// Starts a program that logs.
    pub(crate) fn child(&self, job: &str, name: &str) -> RunningChild {
        RunningChild::start(job, &self.producer_socket(), &self.dir.path().join(name))
    }

    /// Ends a session, and returns its trace.
    pub(crate) fn stop(&self, mut consumer: Consumer) -> ServiceTrace {
        consumer.disable().expect("stop the session");
        self.read(&mut consumer)
    }

    /// Returns the trace so far.
    pub(crate) fn read(&self, consumer: &mut Consumer) -> ServiceTrace {
        self.trace(consumer.read_to_vec().expect("read the trace"))
    }

    /// A trace that was read in parts.
    pub(crate) fn trace(&self, bytes: Vec<u8>) -> ServiceTrace {
        ServiceTrace::of(bytes, self.dir.path())
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        self.kill();
    }
}

/// A configuration for all levels of all groups.
pub(crate) fn all() -> SessionConfig {
    SessionConfig { buffer_kb: 32 << 10, enable_all: true, ..SessionConfig::default() }
}

/// A trace of the service's.
pub(crate) struct ServiceTrace {
    path: PathBuf,
    pub(crate) bytes: Vec<u8>,
}

impl ServiceTrace {
    fn of(bytes: Vec<u8>, dir: &Path) -> Self {
        let count = fs::read_dir(dir).expect("list the directory").count();
        let path = dir.join(format!("trace-{count}.pftrace"));
        fs::write(&path, &bytes).expect("write the trace");
        Self { path, bytes }
    }

    /// The log, as our reader reads it.
    pub(crate) fn log(&self) -> Log {
        Trace::from_bytes(self.bytes.clone()).read().expect("read the trace")
    }

    /// The messages in order of time. Checks that trace_processor reads the same, with the same times, and counts no error but those
    /// `allowed`.
    #[track_caller]
    pub(crate) fn messages_with(&self, allowed: &[&str]) -> Vec<String> {
        let log = self.log();
        let ours: Vec<(String, String)> = log
            .entries()
            .map(|entry| (entry.time().to_string(), entry.values().text(Rendering::Bare)))
            .collect();
        if let Some(tables) =
            trace_processor(&self.path, &["select ts, message from protolog order by ts, id"])
        {
            let theirs: Vec<(String, String)> =
                tables[0].texts("ts").into_iter().zip(tables[0].texts("message")).collect();
            let sorted = |mut rows: Vec<(String, String)>| {
                rows.sort();
                rows
            };
            let (ours, theirs) = (sorted(ours.clone()), sorted(theirs));
            assert_eq!(theirs.len(), ours.len(), "rows of Perfetto, entries of our reader");
            let other = theirs.iter().zip(&ours).find(|(theirs, ours)| theirs != ours);
            assert_eq!(other, None, "Perfetto, our reader");
        }
        if let Some(stats) = trace_stats(&self.path) {
            let names = stats.texts("name");
            let wrong: Vec<&String> =
                names.iter().filter(|name| !allowed.contains(&name.as_str())).collect();
            assert!(wrong.is_empty(), "{stats}");
        }
        ours.into_iter().map(|(_, text)| text).collect()
    }

    /// Likewise, where nothing may be lost.
    #[track_caller]
    pub(crate) fn messages(&self) -> Vec<String> {
        self.messages_with(&[])
    }

    /// Checks that the trace has exactly what the children say they logged.
    #[track_caller]
    pub(crate) fn check(&self, expected: &[Vec<String>]) {
        let mut expected: Vec<&String> = expected.iter().flatten().collect();
        let messages = self.messages();
        let mut found: Vec<&String> = messages.iter().collect();
        expected.sort();
        found.sort();
        assert_eq!(found.len(), expected.len(), "messages in the trace, messages logged");
        let other = found.iter().zip(&expected).find(|(found, expected)| found != expected);
        assert_eq!(other, None, "in the trace, logged");
    }
}
