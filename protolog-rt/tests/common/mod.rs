//! Shared by the tests of sessions: one session at a time, each trace in its own directory, checked
//! by our reader, by Perfetto's trace_processor and by the official descriptors.
#![allow(dead_code)] // Each test binary uses a part.

pub(crate) mod thread_end;

use protolog_core::schema::{loss, packet, sequence_info};
use protolog_reader::{Log, Rendering, Trace as TraceFile};
use protolog_rt::{Builder, LossCause, Session, Summary};
use protolog_testkit::{
    Table, TempDir, Value, check_trace, temp_dir, trace_processor, trace_stats,
};
use protozero::Reader;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A session of one test. No other test of the binary runs one at the same time.
pub(crate) struct TestSession {
    session: Option<Session>,
    pub(crate) path: PathBuf,
    dir: TempDir,
    lock: Option<MutexGuard<'static, ()>>,
}

/// A finished trace.
pub(crate) struct Trace {
    pub(crate) path: PathBuf,
    pub(crate) summary: Summary,
    _dir: TempDir,
    _lock: Option<MutexGuard<'static, ()>>,
}

/// Stops the other threads of a test, also when an assertion fails: the scope waits for them.
pub(crate) struct SetOnDrop<'a>(pub(crate) &'a AtomicBool);

impl Drop for SetOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// The fields of a packet that tests check.
#[derive(Debug, Default)]
pub(crate) struct ParsedPacket {
    pub(crate) sequence: u32,
    pub(crate) is_message: bool,
    /// The field `previous_packet_dropped`.
    pub(crate) dropped: bool,
    /// Process id, thread id and thread name, in the first packet of a chunk.
    pub(crate) info: Option<(u32, u32, String)>,
    /// Losses: group id, number of the cause, count.
    pub(crate) losses: Vec<(u32, u32, u64)>,
}

/// Traces with more messages are not checked in Python.
const PYTHON_LIMIT: u64 = 5_000;

/// Paths of the fields that we add to Perfetto's schema.
const OUR_FIELDS: [&str; 12] = [
    "1000",
    "1001",
    "1003",
    "1004",
    "1005",
    "1006",
    "1011",
    "1012",
    "1013",
    "protolog_message.1000",
    "protolog_viewer_config.messages.1000",
    "trace_stats.buffer_stats.1000",
];

static SESSIONS: Mutex<()> = Mutex::new(());

/// Keeps other tests of the binary from starting a session while the guard lives.
pub(crate) fn lock_sessions() -> MutexGuard<'static, ()> {
    SESSIONS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Starts a session with the options that `configure` sets, once no other test runs one.
pub(crate) fn record(configure: impl FnOnce(Builder) -> Builder) -> TestSession {
    let lock = lock_sessions();
    TestSession { lock: Some(lock), ..record_concurrently(configure) }
}

/// Starts a session while others of the same test run. One of them must hold the lock.
pub(crate) fn record_concurrently(configure: impl FnOnce(Builder) -> Builder) -> TestSession {
    let dir = temp_dir();
    let path = dir.path().join("test.pftrace");
    let session = configure(Session::builder().file(&path)).start().expect("start a session");
    TestSession { session: Some(session), path, dir, lock: None }
}

impl TestSession {
    pub(crate) fn session(&self) -> &Session {
        self.session.as_ref().expect("a session that runs")
    }

    pub(crate) fn stop(mut self) -> Trace {
        let summary = self.session.take().expect("a session").stop().expect("stop the session");
        Trace { path: self.path, summary, _dir: self.dir, _lock: self.lock }
    }

    /// Writes a snapshot of the session, which continues.
    pub(crate) fn snapshot(&self) -> Trace {
        let dir = temp_dir();
        let path = dir.path().join("snapshot.pftrace");
        let summary = self.session().snapshot(&path).expect("take a snapshot");
        Trace { path, summary, _dir: dir, _lock: None }
    }

    /// Drops the session instead of stopping it.
    pub(crate) fn drop_session(mut self) -> Trace {
        drop(self.session.take());
        let summary = Summary::default();
        Trace { path: self.path, summary, _dir: self.dir, _lock: self.lock }
    }
}

impl Trace {
    /// Wraps the trace at `path` and keeps its directory alive.
    pub(crate) fn of(path: PathBuf, summary: Summary, dir: TempDir) -> Self {
        Self { path, summary, _dir: dir, _lock: None }
    }

    /// The messages in order of time, as `LEVEL TAG text`. Checks that Perfetto's trace_processor,
    /// if there is one, reads the same messages with the same times.
    #[track_caller]
    pub(crate) fn messages(&self) -> Vec<String> {
        let log = self.log();
        let (lines, times) = (lines(&log), log.entries().map(|entry| entry.time().to_string()));
        let times: Vec<String> = times.collect();
        let sql = "select ts, level || ' ' || tag || ' ' || message as line from protolog";
        if let Some(table) = self.query(sql) {
            // trace_processor before version 55 prints nothing for `%%`.
            let without = |lines: &[String]| lines.join("\n").replace('%', "");
            assert_eq!(without(&table.texts("line")), without(&lines), "Perfetto, our reader");
            assert_eq!(table.texts("ts"), times, "Perfetto, our reader");
        }
        self.check_stats();
        lines
    }

    /// The messages as `LEVEL TAG text`, from our reader alone.
    #[track_caller]
    pub(crate) fn lines(&self) -> Vec<String> {
        lines(&self.log())
    }

    /// Reads the trace with our reader, which must report no problem but losses.
    #[track_caller]
    pub(crate) fn log(&self) -> Log {
        let log =
            TraceFile::open(&self.path).expect("open the trace").read().expect("read the trace");
        let summary = log.summary().to_string();
        // A message of which an argument was cut is there.
        let is_known =
            |line: &str| line.starts_with("lost: ") || line.contains(": truncated, since ");
        let wrong: Vec<&str> = summary.lines().filter(|line| !is_known(line)).collect();
        assert!(wrong.is_empty(), "{wrong:?}");
        log
    }

    #[track_caller]
    pub(crate) fn query(&self, sql: &str) -> Option<Table> {
        Some(trace_processor(&self.path, &[sql])?.remove(0))
    }

    /// Checks that trace_processor reports no error, and that the official descriptors know every
    /// field but ours.
    #[track_caller]
    pub(crate) fn check_stats(&self) {
        if let Some(stats) = trace_stats(&self.path) {
            assert_eq!(stats.to_string(), "", "counters of trace_processor");
        }
        // Python needs a second for 20,000 messages.
        if self.summary.messages > PYTHON_LIMIT {
            return;
        }
        let packets = check_trace(&self.path).unwrap_or_default();
        let unknown =
            packets.iter().flat_map(|packet| packet["unknown"].as_array().expect("paths"));
        let foreign: Vec<&str> =
            unknown.filter_map(Value::as_str).filter(|path| !OUR_FIELDS.contains(path)).collect();
        assert!(foreign.is_empty(), "unknown fields: {foreign:?}");
    }

    /// Compares the messages.
    #[track_caller]
    pub(crate) fn check(&self, expected: &[&str]) {
        assert_eq!(self.summary.messages, expected.len() as u64, "{:?}", self.summary);
        assert_eq!(self.messages(), expected);
    }

    /// The packets, in the order of the file.
    pub(crate) fn packets(&self) -> Vec<ParsedPacket> {
        let bytes = std::fs::read(&self.path).expect("read the trace");
        let packets = Reader::new(&bytes).map(|field| field.expect("a whole packet"));
        packets.map(|field| ParsedPacket::read(field.as_message().expect("a packet"))).collect()
    }

    /// The losses in the trace by group and cause. Checks that our reader and the session's summary
    /// agree.
    pub(crate) fn losses(&self) -> BTreeMap<(u32, u32), u64> {
        let mut sums = BTreeMap::new();
        for (group, cause, count) in self.packets().into_iter().flat_map(|packet| packet.losses) {
            *sums.entry((group, cause)).or_default() += count;
        }
        let total: u64 = self.summary.losses.iter().map(|loss| loss.count).sum();
        assert_eq!(
            sums.values().sum::<u64>(),
            total,
            "trace and summary agree: {:?}",
            self.summary
        );
        let log = self.log();
        let lost = &log.stats().lost;
        let read: BTreeMap<_, _> = lost
            .iter()
            .map(|((cause, group), count)| ((group.unwrap_or(0), cause.name()), *count))
            .collect();
        let name = |number: u32| {
            LossCause::ALL.into_iter().find(|cause| wire(*cause) == number).expect("a cause")
        };
        let written: BTreeMap<_, _> = sums
            .iter()
            .map(|((group, cause), count)| ((*group, name(*cause).name()), *count))
            .collect();
        assert_eq!(read, written, "our reader and the trace");
        sums
    }
}

/// The messages as `LEVEL TAG text`.
fn lines(log: &Log) -> Vec<String> {
    let line = |entry: protolog_reader::Entry<'_>| {
        let values = entry.values();
        let level = values.level().expect("a level").name();
        let tag = &values.group(log).expect("a group").tag;
        format!("{level} {tag} {}", values.text(Rendering::Bare))
    };
    log.entries().map(line).collect()
}

impl ParsedPacket {
    fn read(fields: Reader<'_>) -> Self {
        let mut read = Self::default();
        for field in fields.map(|field| field.expect("a field")) {
            match field.number {
                packet::TRUSTED_PACKET_SEQUENCE_ID => read.sequence = field.as_u32().unwrap(),
                packet::PROTOLOG_MESSAGE => read.is_message = true,
                packet::PREVIOUS_PACKET_DROPPED => read.dropped = true,
                packet::SEQUENCE_INFO => {
                    let mut info = (0, 0, String::new());
                    for field in field.as_message().unwrap().map(Result::unwrap) {
                        match field.number {
                            sequence_info::PID => info.0 = field.as_u32().unwrap(),
                            sequence_info::TID => info.1 = field.as_u32().unwrap(),
                            sequence_info::THREAD_NAME => info.2 = field.as_str().unwrap().into(),
                            sequence_info::MESSAGES
                            | sequence_info::BOOT_ID
                            | sequence_info::PROCESS
                            | sequence_info::SESSION_ID
                            | sequence_info::FILTER
                            | sequence_info::SEGMENTS_OF => {}
                            other => panic!("field {other} in SEQUENCE_INFO"),
                        }
                    }
                    read.info = Some(info);
                }
                packet::LOSS => {
                    let mut lost = (0, 0, 0);
                    for field in field.as_message().unwrap().map(Result::unwrap) {
                        match field.number {
                            loss::GROUP_ID => lost.0 = field.as_u32().unwrap(),
                            loss::CAUSE => lost.1 = field.as_u32().unwrap(),
                            loss::COUNT => lost.2 = field.as_u64().unwrap(),
                            loss::FIRST | loss::LAST => {}
                            other => panic!("field {other} in LOSS"),
                        }
                    }
                    read.losses.push(lost);
                }
                _ => {}
            }
        }
        read
    }
}

/// The number of `cause` in traces.
pub(crate) fn wire(cause: LossCause) -> u32 {
    cause as u32
}
