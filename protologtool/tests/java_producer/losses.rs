//! Messages that may be lost, and those that may not: rings that wrap, services that stand still,
//! and processes that are killed.

use crate::service::{LONG, Service, all};
use perfetto_ipc::SessionConfig;
use perfetto_ipc::frame::message;
use std::collections::HashSet;
use std::thread;
use std::time::Duration;

/// A ring that wraps many times has the newest messages of each thread, with their texts.
#[test]
fn a_ring_that_wrapped_has_the_newest_messages_as_text() {
    let Some(service) = Service::start() else { return };
    let job = "threads=2 count=20000 size=20";
    let Some(mut child) = service.child(job, "ring") else { return };
    let session = service.session(&SessionConfig { buffer_kb: 256, ..all() });
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

/// Messages that were logged 150 ms before a process is killed are in the trace.
#[test]
fn a_killed_process_leaves_what_it_logged() {
    let Some(service) = Service::start() else { return };
    let Some(mut child) = service.child("", "killed") else { return };
    let session = service.session(&all());
    child.tell("enabled");
    child.tell("endless");
    thread::sleep(Duration::from_secs(2));
    let logged = child.kill();
    service.wait_for_ends();
    let messages: HashSet<String> = service.stop(session).messages().into_iter().collect();
    let missing: Vec<_> = logged.iter().filter(|text| !messages.contains(*text)).collect();
    assert!(logged.len() > 5 && missing.is_empty(), "{missing:?} of {}", logged.len());
}

/// Messages that find no room while the service stands still are dropped, and counted in the trace.
#[test]
fn a_slow_service_loses_what_is_counted() {
    let Some(service) = Service::start() else { return };
    let job = "threads=3 count=100000 size=60";
    let Some(mut child) = service.child(job, "slow") else { return };
    let session = service.session(&SessionConfig { buffer_kb: 128 << 10, ..all() });
    child.tell("enabled");
    service.0.signal("STOP");
    child.tell("log");
    service.0.signal("CONT");
    let trace = service.stop(session);
    let logged = child.end().len() as u64;
    let (found, lost) = (trace.messages().len() as u64, trace.lost());
    assert!(lost > 0 && found > 10_000, "{found} found, {lost} lost");
    assert_eq!(found + lost, logged, "found and lost, logged");
}

/// A clone counts what was lost before it, and the session's end counts it once.
#[test]
fn losses_are_counted_once_in_clone_and_session() {
    let Some(service) = Service::start() else { return };
    let job = "threads=2 count=150000 size=60";
    let Some(mut child) = service.child(job, "twice") else { return };
    let config = SessionConfig { buffer_kb: 64 << 10, unique_name: Some("slow".into()), ..all() };
    let session = service.session(&config);
    child.tell("enabled");
    service.0.signal("STOP");
    child.tell("log");
    service.0.signal("CONT");
    let mut other = service.consumer();
    other.clone_session(perfetto_ipc::CloneTarget::Name("slow")).expect("clone the session");
    let clone = service.read(&mut other);
    let trace = service.stop(session);
    let logged = child.end().len() as u64;
    for trace in [clone, trace] {
        let (found, lost) = (trace.messages().len() as u64, trace.lost());
        assert!(lost > 0, "{found} found");
        assert_eq!(found + lost, logged, "found and lost, logged");
    }
}

/// With the policy to stall, messages wait while the service stands still for less than a second.
#[test]
fn a_service_that_is_waited_for_loses_nothing() {
    let Some(service) = Service::start() else { return };
    let job = "threads=2 count=150000 size=60";
    let Some(mut child) = service.child(job, "waited") else { return };
    let abort = 2;
    let config = SessionConfig { buffer_kb: 128 << 10, exhausted_policy: Some(abort), ..all() };
    let session = service.session(&config);
    child.tell("enabled");
    let notice = child.tell("notice");
    assert!(notice.contains("STALL_THEN_ABORT"), "{notice}");
    service.0.signal("STOP");
    child.ask("log");
    thread::sleep(Duration::from_millis(400));
    service.0.signal("CONT");
    child.expect("done");
    let trace = service.stop(session);
    trace.check(&[child.end()]);
}

/// A program exits while the service stands still, and says so.
#[test]
fn a_service_that_stands_still_does_not_keep_the_jvm() {
    let Some(service) = Service::start() else { return };
    let Some(mut child) = service.child("threads=2 count=100000 size=60", "stuck") else { return };
    let session = service.session(&SessionConfig { buffer_kb: 64 << 10, ..all() });
    child.tell("enabled");
    service.0.signal("STOP");
    child.tell("log");
    let begun = std::time::Instant::now();
    let logged = child.exit().len() as u64;
    let taken = begun.elapsed();
    service.0.signal("CONT");
    assert!(taken < Duration::from_secs(20), "{taken:?}");
    // What the program said to lack, and what was in the queues of the socket, is all there is.
    let errors = child.errors();
    let lacks = errors.split_once("its trace lacks ").and_then(|(_, rest)| rest.split_once(' '));
    let lacks: u64 = lacks.expect("a report").0.parse().expect("a number");
    let trace = service.stop(session);
    let (found, lost) = (trace.log().entries().len() as u64, trace.lost());
    assert_eq!(found + lost + lacks, logged, "{found} found, {lost} lost, lacks {lacks}: {errors}");
}

/// A service has so many writers of a process. Messages of threads that find none are lost, and
/// counted in the trace, and the connection goes on.
#[test]
fn threads_without_a_writer_are_counted() {
    const SESSIONS: u64 = 32;
    let Some(service) = Service::start() else { return };
    // Each of them has a writer of its own: none takes that of a thread that has ended.
    let job = "threads=1100 count=1 size=4 together=1";
    let Some(mut child) = service.child(job, "writers") else { return };
    let config = message(|to| {
        // Programs have as long as they need at the end, which is long on a busy machine.
        to.nested(1).uint32(1, 256 << 10);
        to.uint32(23, 60_000);
        for _ in 0..SESSIONS {
            let mut source = to.nested(2);
            let mut source = source.nested(1);
            source.string(1, "android.protolog").uint32(2, 0).nested(126).uint32(2, 1);
        }
    });
    let mut session = service.session_of(&config);
    child.tell(&format!("sessions {SESSIONS}"));
    child.tell("log");
    child.tell(&format!("sessions {SESSIONS}"));
    // Or the first session that ends would give its writers to threads that have none yet.
    session.flush(LONG).expect("flush");
    let trace = service.stop(session);
    assert_eq!(child.tell("notice"), "null");
    child.tell("connected");
    let logged = child.end().len() as u64 * SESSIONS;
    let (found, lost) = (trace.log().entries().len() as u64, trace.lost());
    // Each session has one writer for itself.
    assert!(lost > 0 && found > 32_000, "{found} found, {lost} lost");
    assert_eq!(found + lost, logged, "{found} found, {lost} lost");
}

/// Messages that are still in the program when the service dies are in no trace; the program knows
/// how many.
#[test]
fn messages_of_a_broken_connection_are_counted() {
    let Some(mut service) = Service::start() else { return };
    let job = "threads=2 count=100000 size=60";
    let Some(mut child) = service.child(job, "broken") else { return };
    let session = service.session(&all());
    child.tell("enabled");
    service.0.signal("STOP");
    child.tell("log");
    service.0.kill();
    drop(session);
    child.tell("disconnected");
    let lost: usize = child.tell("lost").parse().expect("a number");
    let logged = child.end().len();
    // The rest was on its way: in the queues of the socket.
    assert!(lost <= logged && logged - lost < 20_000, "{lost} of {logged}");
}
