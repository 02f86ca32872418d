//! Messages that may be lost, and those that may not: rings that wrap, and processes that are
//! killed.

use crate::proxy::Change;
use crate::service::{Service, all};
use perfetto_ipc::SessionConfig;
use protolog_reader::LossReason;
use std::collections::HashSet;
use std::thread;
use std::time::Duration;

/// A ring that wraps many times has the newest messages of each thread, with their texts.
#[test]
fn a_ring_that_wrapped_has_the_newest_messages_as_text() {
    let Some(service) = Service::start() else { return };
    let mut child = service.child("threads=2 count=20000 size=20", "ring");
    let config = SessionConfig { buffer_kb: 256, ..all() };
    let session = service.session(&config);
    child.tell("enabled");
    child.tell("log");
    let trace = service.stop(session);
    let logged = child.end();
    let messages = trace.messages();
    assert!(messages.len() > 1000 && messages.len() < 20_000, "{}", messages.len());
    let logged: HashSet<&String> = logged.iter().collect();
    let foreign: Vec<_> = messages.iter().filter(|text| !logged.contains(text)).collect();
    assert!(foreign.is_empty(), "{foreign:?}");
    for thread in 0..2 {
        let numbers =
            messages.iter().filter_map(|text| text.split_once(&format!(" of {thread} in ")));
        let numbers: Vec<u64> =
            numbers.map(|(number, _)| number.parse().expect("a number")).collect();
        let expected: Vec<u64> = (20_000 - numbers.len() as u64..20_000).collect();
        assert_eq!(numbers, expected, "the newest of thread {thread}, without a gap");
    }
}

/// Messages that were logged 30 ms before a process is killed are in the trace.
#[test]
fn a_killed_process_leaves_what_it_logged() {
    let Some(service) = Service::start() else { return };
    for round in 0..3 {
        let mut child = service.child("threads=3", &format!("killed-{round}"));
        let session = service.session(&all());
        child.tell("enabled");
        child.ask("endless");
        thread::sleep(Duration::from_millis(400));
        let logged = child.kill();
        service.wait_for_ends();
        let messages: HashSet<String> = service.stop(session).messages().into_iter().collect();
        let missing: Vec<_> = logged.iter().filter(|text| !messages.contains(*text)).collect();
        assert!(logged.len() > 5 && missing.is_empty(), "{missing:?} of {}", logged.len());
    }
}

/// A killed process leaves the messages that the service finds in chunks that were not committed:
/// where it does not look, the same messages are lost.
#[test]
fn a_killed_process_leaves_less_where_the_service_does_not_look() {
    let Some(service) = Service::start() else { return };
    for (change, loses) in [(Change::Nothing, false), (Change::NoScraping, true)] {
        let mut child =
            service.changed_child(change, "threads=3 busy=1", &format!("control-{change:?}"));
        let session = service.session(&all());
        child.tell("enabled");
        child.ask("endless");
        thread::sleep(Duration::from_millis(400));
        let logged = child.kill();
        service.wait_for_ends();
        let messages: HashSet<String> =
            service.stop(session).messages_with(&[]).into_iter().collect();
        let missing = logged.iter().filter(|text| !messages.contains(*text)).count();
        assert!(logged.len() > 5, "{}", logged.len());
        assert_eq!(missing > 0, loses, "{missing} of {} are missing", logged.len());
    }
}

/// Messages that find no room while the service stands still are dropped, and counted in the trace.
#[test]
fn a_slow_service_loses_what_is_counted() {
    let Some(service) = Service::start() else { return };
    let mut child = service.child("threads=2 count=150000 size=60", "slow");
    let session = service.session(&SessionConfig { buffer_kb: 128 << 10, ..all() });
    child.tell("enabled");
    service.signal("STOP");
    child.tell("log");
    service.signal("CONT");
    let trace = service.stop(session);
    let logged = child.end().len() as u64;
    let (found, log) = (trace.messages().len() as u64, trace.log());
    // Packets that are no messages may be missing, too, which the service marks.
    let is_message = |reason: &LossReason| matches!(reason, LossReason::Reported(_));
    let all = log.stats().lost.iter().filter(|((reason, _), _)| is_message(reason));
    let lost: u64 = all.map(|(_, count)| count).sum();
    assert!(lost > 0 && found > 10_000, "{found} found, {lost} lost");
    assert_eq!(found + lost, logged, "found and lost, logged");
}

/// With the policy to stall, messages wait while the service stands still for less than a second.
#[test]
fn a_service_that_is_waited_for_loses_nothing() {
    let Some(service) = Service::start() else { return };
    let mut child = service.child("threads=2 count=150000 size=60", "waited");
    let config = SessionConfig { buffer_kb: 128 << 10, exhausted_policy: Some(3), ..all() };
    let session = service.session(&config);
    child.tell("enabled");
    service.signal("STOP");
    child.ask("log");
    thread::sleep(Duration::from_millis(400));
    service.signal("CONT");
    child.expect("done");
    let trace = service.stop(session);
    trace.check(&[child.end()]);
}

/// A message that is larger than the service's buffer is lost there, and nothing else is: not the
/// program, not the session, not another session.
#[test]
fn a_message_larger_than_the_buffer_disturbs_no_other() {
    let Some(service) = Service::start() else { return };
    let mut child = service.child("count=5", "large");
    let small = service.session(&SessionConfig { buffer_kb: 4, ..all() });
    let large = service.session(&all());
    child.tell("sessions 2");
    child.tell("enabled");
    for _ in 0..20 {
        child.tell("long 4096");
    }
    child.tell("log");
    child.tell("sessions 2");
    service.stop(small);
    let texts = service.stop(large).messages();
    assert_eq!(texts.len(), 25, "{texts:?}");
    child.end();
}
