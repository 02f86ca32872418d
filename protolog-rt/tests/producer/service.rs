//! The real service and a consumer of it, and checks of the traces that come of it.

use crate::child::RunningChild;
use crate::proxy::{self, Change};
use perfetto_ipc::{Consumer, SessionConfig, places};
use protolog_reader::{Log, Rendering, Trace};
use protolog_testkit::{TracingService, trace_processor, trace_stats, wait_until};
use std::collections::BTreeMap;
use std::fs;
use std::ops::{Deref, DerefMut};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Longer than anything takes, even on a busy machine.
pub(crate) const LONG: Duration = Duration::from_secs(60);

/// The service.
pub(crate) struct Service(TracingService);

impl Deref for Service {
    type Target = TracingService;

    fn deref(&self) -> &TracingService {
        &self.0
    }
}

impl DerefMut for Service {
    fn deref_mut(&mut self) -> &mut TracingService {
        &mut self.0
    }
}

impl Service {
    /// Starts the service; none where it is not there.
    pub(crate) fn start() -> Option<Self> {
        TracingService::start().map(Self)
    }

    /// A service that does not run yet.
    pub(crate) fn stopped() -> Option<Self> {
        TracingService::stopped().map(Self)
    }

    /// A connection with it as a consumer.
    pub(crate) fn consumer(&self) -> Consumer {
        let place = places::consumer(Some(self.consumers().into()));
        Consumer::connect(&place).expect("connect to the service")
    }

    /// Starts a session.
    pub(crate) fn session(&self, config: &SessionConfig) -> Consumer {
        let mut consumer = self.consumer();
        consumer.enable(&config.encode()).expect("start a session");
        consumer
    }

    /// Starts a program that logs.
    pub(crate) fn child(&self, job: &str, name: &str) -> RunningChild {
        RunningChild::start(job, &self.producers(), &self.dir.path().join(name))
    }

    /// Starts a program that logs, and whose introduction is changed.
    pub(crate) fn changed_child(&self, change: Change, job: &str, name: &str) -> RunningChild {
        let proxy = proxy::start(self.producers(), self.dir.path(), change);
        RunningChild::start(job, &proxy, &self.dir.path().join(name))
    }

    /// Waits until no program offers what ours do: the service has read all that they sent.
    pub(crate) fn wait_for_ends(&self) {
        let mut consumer = self.consumer();
        wait_until("the service has read to the end", || {
            let names = consumer.data_sources().expect("ask the service");
            !names.iter().any(|name| name == "android.protolog")
        });
    }

    /// Ends a session, and returns its trace.
    pub(crate) fn stop(&self, mut consumer: Consumer) -> ServiceTrace {
        assert!(consumer.disable().expect("stop the session"), "it ends in time");
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

    /// The messages in order of time, as our reader alone reads them.
    pub(crate) fn texts(&self) -> Vec<String> {
        self.log().entries().map(|entry| entry.values().text(Rendering::Bare)).collect()
    }

    /// The messages in order of time. Checks that trace_processor reads the same, with the same
    /// times, and counts no error but those `allowed`.
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

    /// Likewise, those with `part` in them.
    #[track_caller]
    pub(crate) fn messages_of(&self, part: &str) -> Vec<String> {
        self.messages().into_iter().filter(|text| text.contains(part)).collect()
    }

    /// Checks that the trace has exactly what the children say they logged.
    #[track_caller]
    pub(crate) fn check(&self, expected: &[Vec<String>]) {
        let mut expected: Vec<&String> = expected.iter().flatten().collect();
        let messages = self.messages();
        assert_eq!(self.log().stats().lost, BTreeMap::new(), "nothing is lost");
        let mut found: Vec<&String> = messages.iter().collect();
        expected.sort();
        found.sort();
        assert_eq!(found.len(), expected.len(), "messages in the trace, messages logged");
        let other = found.iter().zip(&expected).find(|(found, expected)| found != expected);
        assert_eq!(other, None, "in the trace, logged");
    }
}
