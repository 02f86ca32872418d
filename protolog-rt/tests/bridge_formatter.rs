//! Events of `tracing`, beside `tracing`'s own formatter, and records of `log` that come by way of
//! `tracing`.
#![cfg(all(feature = "log", feature = "tracing"))]

mod common;

use common::{Trace, record};
use protolog_reader::Rendering;
use protolog_rt::{Builder, Level, bridge};
use std::fmt;
use std::sync::{Arc, Mutex};
use tracing::subscriber::with_default;
use tracing_subscriber::layer::SubscriberExt as _;

fn with_tracing(f: impl FnOnce()) {
    with_default(tracing_subscriber::registry().with(bridge::tracing_layer()), f);
}

/// `file:line` of each message in the trace.
fn locations(trace: &Trace) -> Vec<String> {
    let log = trace.log();
    log.entries().filter_map(|entry| Some(entry.message()?.location.clone())).collect()
}

/// Bytes that a formatter writes.
#[derive(Clone, Default)]
struct Written(Arc<Mutex<Vec<u8>>>);

impl std::io::Write for Written {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// An error that has a source.
#[derive(Debug)]
struct Outer(std::io::Error);

impl fmt::Display for Outer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("can't open config")
    }
}

impl std::error::Error for Outer {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.0)
    }
}

/// The same event by protolog's layer and by `tracing`'s own formatter: field by field, but for
/// quotes around strings.
#[test]
fn fields_are_those_of_the_formatter() {
    let error = Outer(std::io::Error::other("denied"));
    let error: &(dyn std::error::Error + 'static) = &error;
    let log = || {
        tracing::info!(
            ts = 1_732_549_620.123_f64,
            lat = 52.520_006_61_f64,
            bytes = 1_234_567.5_f64
        );
        tracing::info!(
            tenth = 0.1_f64,
            less = -0.00015_f64,
            n = u64::MAX,
            i = i64::MIN,
            f = 16_777_217.5_f64
        );
        tracing::info!(
            wide = i128::MIN,
            wider = u128::MAX,
            is_on = true,
            none = None::<i32>,
            some = Some(3)
        );
        tracing::error!(error, "failed");
        tracing::info!(error = ?error, shown = %"a b", r#type = 1, a.b.c = 2, "quoted name" = 3);
        tracing::info!("100% of {{}} %d");
        tracing::info!(message = "named", x = 1);
    };
    let recording = record(Builder::enable_all);
    with_tracing(log);
    let trace = recording.stop();
    let log_of = trace.log();
    let lines: Vec<String> =
        log_of.entries().map(|entry| entry.values().text(Rendering::Full)).collect();
    let written = Written::default();
    let to = written.clone();
    let formatter = tracing_subscriber::fmt()
        .with_ansi(false)
        .without_time()
        .with_target(false)
        .with_level(false)
        .with_writer(move || to.clone());
    with_default(formatter.finish(), log);
    let written = String::from_utf8(written.0.lock().unwrap().clone()).unwrap();
    let expected: Vec<&str> = written.lines().collect();
    assert_eq!(lines.len(), expected.len());
    for (line, expected) in lines.iter().zip(expected) {
        assert_eq!(line.trim(), expected.trim());
    }
}

/// `tracing_log` makes events of records, which all have one target and no place of their own.
#[test]
fn records_by_way_of_tracing_keep_target_and_place() {
    let record = |target: &str, text: &str, line: u32| {
        let arguments = format_args!("{text}");
        let record = log::Record::builder()
            .level(log::Level::Info)
            .target(target)
            .file(Some("src/net.rs"))
            .line(Some(line))
            .module_path(Some("app::net"))
            .args(arguments)
            .build();
        tracing_log::format_trace(&record).unwrap();
    };
    for group in [None, Some("net")] {
        let recording = self::record(|session| match group {
            None => session.enable_all(),
            Some(group) => session.group(group, Level::Verbose),
        });
        with_tracing(|| {
            record("net::tcp", "from log", 7);
            record("other", "elsewhere", 8);
            tracing::info!(target: "net::tcp", "direct");
        });
        let trace = recording.stop();
        let mut expected =
            vec!["INFO net::tcp from log", "INFO other elsewhere", "INFO net::tcp direct"];
        if group.is_some() {
            expected.remove(1);
        }
        trace.check(&expected);
        assert_eq!(locations(&trace)[0], "src/net.rs:7");
    }
}
