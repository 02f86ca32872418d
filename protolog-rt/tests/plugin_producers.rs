//! A program and a library that it loads, each with a runtime inside, at Perfetto's tracing
//! service: each message is in a trace once, whoever of the two has joined the service.

#[path = "common/plugins.rs"]
mod plugins;

use perfetto_ipc::{Consumer, SessionConfig, places};
use plugins::{Host, fixture};
use protolog_reader::{Rendering, Trace};
use protolog_testkit::{TracingService, temp_dir_for_sockets, trace_stats, wait_until};
use std::fs;

fn consumer(service: &TracingService) -> Consumer {
    let place = places::consumer(Some(service.consumers().into()));
    Consumer::connect(&place).expect("connect to the service")
}

/// Starts a session that records everything.
fn session(service: &TracingService) -> Consumer {
    let mut consumer = consumer(service);
    let all = SessionConfig { buffer_kb: 4096, enable_all: true, ..SessionConfig::default() };
    consumer.enable(&all.encode()).expect("start a session");
    consumer
}

/// Ends it, and returns its messages in the order of their texts, each after its group.
fn stop(service: &TracingService, mut consumer: Consumer) -> Vec<String> {
    consumer.disable().expect("stop the session");
    let path = service.dir.path().join("trace.pftrace");
    fs::write(&path, consumer.read_to_vec().expect("read the trace")).expect("write it");
    if let Some(stats) = trace_stats(&path) {
        assert_eq!(stats.to_string(), "", "counters of trace_processor");
    }
    let log = Trace::open(&path).expect("open the trace").read().expect("read it");
    assert_eq!(log.summary().to_string(), "");
    let text = |entry: protolog_reader::Entry<'_>| {
        let values = entry.values();
        let group = values.message().map_or(0, |message| message.group);
        format!("{}: {}", log.dictionary().group_name(group), values.text(Rendering::Bare))
    };
    let mut texts: Vec<String> = log.entries().map(text).collect();
    texts.sort();
    texts
}

/// The number of programs that are connected.
fn producers(service: &TracingService) -> usize {
    let names = consumer(service).data_sources().expect("ask the service");
    names.iter().filter(|name| *name == "android.protolog").count()
}

fn host(service: &TracingService) -> Host {
    let socket = ("PERFETTO_PRODUCER_SOCK_NAME", service.producers());
    Host::start_with(service.dir.path(), "", &[socket])
}

const HOST: &str = "plugin_host::HostLog::Net";
const PLUGIN: &str = "plugin_with_runtime::PluginLog::Work";

fn of_both(name: &str) -> Vec<String> {
    vec![
        format!("{HOST}: host says {name}"),
        format!("{PLUGIN}: warning of {name}"),
        format!("{PLUGIN}: work for {name}"),
    ]
}

/// Whoever calls `connect`, one of the two or both, the program's copy is the one producer.
#[test]
fn a_library_that_has_joined_the_program_is_no_producer_of_its_own() {
    for calls in [&["connect"][..], &["join 1"], &["connect", "join 1"], &["join 1", "connect"]] {
        let Some(service) = TracingService::start() else { return };
        let mut host = host(&service);
        host.load(&fixture().plugin);
        for call in calls {
            host.ask(call);
        }
        let session = session(&service);
        assert_eq!(host.ask("sessions 1"), "1");
        // The library's own copy joins the program's with its first group.
        host.ask("work before");
        assert_eq!(host.ask("sessions_now 1"), "1", "what the library is told: {calls:?}");
        assert_eq!(producers(&service), 1, "{calls:?}");
        host.ask("log ann");
        host.ask("work ann");
        let mut expected = of_both("ann");
        expected.extend(["warning of", "work for"].map(|it| format!("{PLUGIN}: {it} before")));
        expected.sort();
        assert_eq!(stop(&service, session), expected, "{calls:?}");
        assert_eq!(host.end(), "");
    }
}

/// A forked child is not connected, neither of the two, and joins by a call of either.
#[test]
fn a_forked_child_of_both_joins_by_itself() {
    let Some(service) = TracingService::start() else { return };
    let mut host = host(&service);
    host.load(&fixture().plugin);
    host.ask("join 1");
    let session = session(&service);
    host.ask("sessions 1");
    host.ask("log ann");
    host.ask("work ann");
    assert_eq!(host.ask("fork-connected bob"), "0");
    host.ask("log cid");
    host.ask("work cid");
    let mut expected = [of_both("ann"), of_both("cid")].concat();
    expected.push(format!("{HOST}: child says bob"));
    expected.extend(["warning of", "work for"].map(|what| format!("{PLUGIN}: {what} bob")));
    expected.sort();
    assert_eq!(stop(&service, session), expected);
    assert_eq!(host.end(), "");
}

/// The state that the library is told of has its texts, too.
#[test]
fn a_library_is_told_why_there_is_no_connection() {
    let dir = temp_dir_for_sockets();
    let socket = ("PERFETTO_PRODUCER_SOCK_NAME", dir.path().join("missing"));
    let mut host = Host::start_with(dir.path(), "", &[socket]);
    host.load(&fixture().plugin);
    host.ask("join 1");
    let length: usize = host.ask("reason_length 1").parse().expect("a number");
    assert!(length > dir.path().as_os_str().len(), "{length}");
    assert_eq!(host.end(), "");
}

/// A library with another interface stays apart, and is a producer of its own: the service has two
/// of one process, and each message once.
#[test]
fn a_library_that_stays_apart_is_a_second_producer() {
    let Some(service) = TracingService::start() else { return };
    let mut host = host(&service);
    host.load(&fixture().other);
    host.ask("connect");
    host.ask("join 1");
    wait_until("both are connected", || producers(&service) == 2);
    let session = session(&service);
    host.ask("sessions 1");
    host.ask("wait_for_session 1");
    host.ask("log ann");
    host.ask("work ann");
    assert_eq!(stop(&service, session), of_both("ann"));
    assert!(host.end().contains("has a runtime of its own"));
}
