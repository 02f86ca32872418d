//! Memory that is scarce, and a service that stands still: every message is in the trace, or
//! counted as lost there.

use crate::proxy::Change;
use crate::service::{LONG, Service, ServiceTrace, all};
use perfetto_ipc::SessionConfig;
use protolog_reader::LossReason;
use std::thread;
use std::time::{Duration, Instant};

/// The least memory that the service gives.
const LITTLE: Change = Change::LittleMemory(64 << 10);

/// Messages in a trace, and those that it counts as lost.
#[track_caller]
pub(crate) fn accounted(trace: &ServiceTrace) -> (u64, u64) {
    accounted_with(trace, &[])
}

/// As above, where Perfetto may count the errors `allowed`.
#[track_caller]
pub(crate) fn accounted_with(trace: &ServiceTrace, allowed: &[&str]) -> (u64, u64) {
    let log = trace.log();
    let is_message = |reason: &LossReason| matches!(reason, LossReason::Reported(_));
    let all = log.stats().lost.iter().filter(|((reason, _), _)| is_message(reason));
    let lost = all.map(|(_, count)| count).sum();
    (trace.messages_with(allowed).len() as u64, lost)
}

/// Many threads that log rarely have more chunks than the memory, and nobody gives theirs back:
/// another thread logs all the time.
#[test]
fn chunks_of_idle_threads_are_flushed_where_memory_is_scarce() {
    let Some(service) = Service::start() else { return };
    for change in [Change::Nothing, LITTLE] {
        let mut child = service.changed_child(change, "", &format!("idle-{change:?}"));
        let mut session = service.session(&all());
        child.tell("enabled");
        child.tell("busy");
        child.tell("idle 1700");
        session.flush(LONG).expect("flush");
        let first = session.read_to_vec().expect("read");
        let found = service.trace(first.clone()).messages_of(" stays: ").len();
        assert_eq!(found, 1700, "after the flush");
        // What comes later in the same chunks goes on where they were.
        child.tell("idle 1700");
        session.flush(LONG).expect("flush");
        child.tell("idle 1700");
        session.disable().expect("stop");
        let rest = session.read_to_vec().expect("read");
        let trace = service.trace([first, rest].concat());
        let mut found = trace.messages_of(" stays: ");
        let mut logged = child.end();
        found.sort();
        logged.sort();
        assert_eq!(found.len(), logged.len(), "messages in the trace, messages logged");
        assert_eq!(found, logged);
        assert!(trace.log().stats().lost.is_empty(), "{:?}", trace.log().stats().lost);
    }
}

#[test]
fn chunks_of_idle_threads_are_forwarded_at_a_stop() {
    let Some(service) = Service::start() else { return };
    let mut child = service.changed_child(LITTLE, "", "stopped");
    let session = service.session(&all());
    child.tell("enabled");
    child.tell("idle 1700");
    let trace = service.stop(session);
    trace.check(&[child.end()]);
}

/// A process that exits leaves as much.
#[test]
fn chunks_of_idle_threads_are_forwarded_at_an_exit() {
    let Some(service) = Service::start() else { return };
    let mut child = service.changed_child(LITTLE, "", "exited");
    let session = service.session(&all());
    child.tell("enabled");
    child.tell("idle 1700");
    let logged = child.end();
    service.stop(session).check(&[logged]);
}

/// Threads that found no free chunk at all, and are gone.
#[test]
fn drops_of_threads_that_had_no_chunk_are_counted() {
    let Some(service) = Service::start() else { return };
    let mut child = service.child("size=60", "no-chunk");
    let session = service.session(&SessionConfig { buffer_kb: 128 << 10, ..all() });
    child.tell("enabled");
    service.signal("STOP");
    child.tell("log count=150000");
    for _ in 0..5 {
        child.tell("log threads=8 count=10");
    }
    service.signal("CONT");
    let trace = service.stop(session);
    let logged = child.end().len() as u64;
    let (found, lost) = accounted(&trace);
    assert!(lost > 400, "{lost}");
    assert_eq!(found + lost, logged, "found {found} and lost {lost}, logged");
}

/// The service stands still when the process exits: what it does not take is counted in the trace
/// that it makes later, and said on standard error. All sessions together have one limit.
#[test]
fn an_exit_counts_what_a_service_that_stands_still_does_not_take() {
    let Some(service) = Service::start() else { return };
    let mut child = service.child("threads=2 count=20000 size=60", "still");
    let config = SessionConfig { buffer_kb: 64 << 10, ..all() };
    let sessions = [service.session(&config), service.session(&config), service.session(&config)];
    child.tell("sessions 3");
    child.tell("enabled");
    service.signal("STOP");
    child.tell("log");
    let began = Instant::now();
    let logged = child.exit().len() as u64;
    let took = began.elapsed();
    service.signal("CONT");
    assert!(took < Duration::from_millis(6500), "the exit took {took:?}");
    service.wait_for_ends();
    let said = child.errors();
    for session in sessions {
        let trace = service.stop(session);
        let (found, lost) = accounted(&trace);
        assert!(found > 1000 && lost > 1000, "{found} found, {lost} lost");
        assert_eq!(found + lost, logged, "found {found} and lost {lost}, logged");
        assert!(said.contains(&format!(" of {logged} messages in time")), "{said}");
    }
    assert_eq!(said.matches("the tracing service did not take ").count(), 3, "{said}");
}

/// The service dies within the exit: that is the reason, and not that it was slow.
#[test]
fn an_exit_that_a_dead_service_cuts_short_says_so() {
    let Some(mut service) = Service::start() else { return };
    let mut child = service.child("threads=2 count=50000 size=60", "cut-short");
    let session = service.session(&all());
    child.tell("enabled");
    service.signal("STOP");
    child.tell("log");
    let logged = thread::scope(|scope| {
        scope.spawn(|| {
            thread::sleep(Duration::from_millis(800));
            service.kill();
        });
        child.exit().len()
    });
    drop(session);
    let said = child.errors();
    let lacks = said.split_once("Perfetto's trace lacks ").and_then(|(_, rest)| {
        rest.split_once(" messages, since the service closed the connection before it had them")
    });
    // The service's memory has 2 MiB of them, with the number of some that found no room.
    let lacks: usize = lacks.unwrap_or_else(|| panic!("{said}")).0.parse().expect("a number");
    assert!(lacks > 10_000 && lacks < logged, "{lacks} of {logged}");
    assert!(!said.contains("in time"), "{said}");
}

/// A message now and then, while the service stands still: each is a request to it, and the socket
/// has room for some hundred. The connection goes on, and nothing is missing.
#[test]
fn a_service_that_stands_still_for_many_requests_gets_all_of_them_later() {
    let Some(service) = Service::start() else { return };
    let mut child = service.child("", "requests");
    let session = service.session(&all());
    child.tell("enabled");
    service.signal("STOP");
    for _ in 0..700 {
        child.tell("log count=1");
        thread::sleep(Duration::from_millis(18));
    }
    service.signal("CONT");
    let trace = service.stop(session);
    trace.check(&[child.end()]);
}

/// As above, and the program exits meanwhile: what is in the memory is in the trace, and counted
/// where it is of a thread that the service does not know yet.
#[test]
fn an_exit_after_many_requests_leaves_all_of_them() {
    let Some(service) = Service::start() else { return };
    for (job, count) in [("limited 1", 600), ("log count=1", 300)] {
        let mut child = service.child("", &format!("requests-{count}"));
        let session = service.session(&all());
        child.tell("enabled");
        service.signal("STOP");
        for _ in 0..count {
            child.tell(job);
            thread::sleep(Duration::from_millis(18));
        }
        child.exit();
        service.signal("CONT");
        service.wait_for_ends();
        let (found, lost) = accounted(&service.stop(session));
        let said = child.errors();
        let lacks = said.split_once("Perfetto's trace lacks ").map_or("0 ", |(_, rest)| rest);
        let lacks: u64 = lacks.split_once(' ').expect("a number").0.parse().expect("a number");
        assert_eq!((found + lacks, lost), (count, 0), "{job}: {found} found: {said}");
        // Each message of the second job has a thread of its own.
        assert_eq!(lacks > 0, job.starts_with("log"), "{job}: {said}");
    }
}
