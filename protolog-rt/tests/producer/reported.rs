//! Situations in which users of other producers have lost messages, or the connection.

use crate::service::{Service, all};
use perfetto_ipc::SessionConfig;
use std::fs;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

/// A program that forks again and again, and whose children join by themselves.
#[test]
fn forked_children_join_by_themselves() {
    let Some(service) = Service::start() else { return };
    let mut child = service.child("count=50", "generations");
    let session = service.session(&all());
    child.tell("enabled");
    child.tell("log");
    child.tell("generations 3");
    child.tell("generations 1");
    child.tell("log");
    let trace = service.stop(session);
    let mut expected = child.end();
    expected.extend([2, 1, 0, 0].map(|left| format!("generation with {left} to come")));
    trace.check(&[expected]);
}

/// A program that becomes a daemon: its child closes all files, also those of the producer, and
/// opens others. (A profiler's process went on reading from what was no socket any more:
/// google/perfetto#569.)
#[test]
fn a_daemon_that_closes_all_files_joins_by_itself() {
    let Some(service) = Service::start() else { return };
    let mut child = service.child("count=50", "daemon");
    let session = service.session(&all());
    child.tell("enabled");
    child.tell("log");
    child.tell(&format!("daemon {}", service.dir.path().join("own").display()));
    child.tell("log");
    let trace = service.stop(session);
    let mut expected = child.end();
    expected.extend((0..100).map(|at| format!("{at} of a daemon")));
    trace.check(&[expected]);
}

/// Likewise, without a fork, while the producer is connected: nothing of ours goes into the files
/// and sockets that get its numbers, and nothing is read from them. The service knows the program
/// anew.
#[test]
fn a_program_that_closes_all_files_is_recorded_again() {
    let Some(service) = Service::start() else { return };
    let mut child = service.child("count=50", "closes");
    let session = service.session(&all());
    child.tell("sessions 1");
    child.tell("enabled");
    child.tell("log");
    // Longer than a message is in the process only.
    child.tell("sleep 300");
    for _ in 0..2 {
        let foreign = child.tell(&format!("close {}", service.dir.path().join("own").display()));
        assert_eq!(foreign, "", "what happened to the program's own");
        child.tell("sessions 1");
        child.tell("enabled");
        child.tell("log");
        child.tell("sleep 300");
    }
    let trace = service.stop(session);
    let logged = child.end();
    let found = trace.texts();
    let missing: Vec<_> = logged.iter().filter(|text| !found.contains(text)).collect();
    assert!(missing.is_empty() && logged.len() == 150, "{missing:?} of {}", logged.len());
}

/// Likewise, where no session runs: the connection is found to be over with the next one.
#[test]
fn a_program_that_closes_all_files_is_recorded_by_the_next_session() {
    let Some(service) = Service::start() else { return };
    let mut child = service.child("count=50", "idle");
    child.tell("connected");
    let foreign = child.tell(&format!("close {}", service.dir.path().join("own").display()));
    assert_eq!(foreign, "", "what happened to the program's own");
    let session = service.session(&all());
    child.tell("sessions 1");
    child.tell("enabled");
    child.tell("log");
    let trace = service.stop(session);
    trace.check(&[child.end()]);
}

/// A program that another one takes the place of: the trace has what it logged, and the other one
/// neither its connection nor its memory.
#[test]
fn an_exec_ends_the_connection() {
    let Some(service) = Service::start() else { return };
    let mut child = service.child("threads=2 count=200", "exec");
    let session = service.session(&all());
    child.tell("enabled");
    child.tell("log");
    // Longer than a message is in the process only.
    child.tell("sleep 300");
    let of_producer = |name: &String| name.starts_with("socket:") || name.contains("protolog");
    assert!(child.open_files().iter().any(of_producer), "{:?}", child.open_files());
    child.ask("exec");
    let program = format!("/proc/{}/comm", child.process.id());
    let end = Instant::now() + Duration::from_secs(30);
    while fs::read_to_string(&program).expect("its name") != "sleep\n" {
        assert!(Instant::now() < end, "it is still the same program");
        thread::sleep(Duration::from_millis(5));
    }
    let left = child.open_files();
    let is_log = |name: &String| Path::new(name).extension().is_some_and(|end| end == "err");
    assert!(!left.iter().any(|name| of_producer(name) && !is_log(name)), "{left:?}");
    let logged = child.kill();
    service.stop(session).check(&[logged]);
}

/// The last message of each thread that lives on, where a session ends without a flush, and again
/// in the next session.
#[test]
fn the_last_message_of_each_thread_is_there_without_a_flush() {
    let Some(service) = Service::start() else { return };
    let mut child = service.child("", "last");
    let mut seen = 0;
    for _ in 0..5 {
        child.tell("sessions 0");
        let session = service.session(&all());
        child.tell("sessions 1");
        child.tell("idle 24");
        let trace = service.stop(session);
        let logged = child.logged();
        trace.check(&[logged[seen..].to_vec()]);
        seen = logged.len();
    }
    child.end();
}

/// Short sessions, one after the other, until each id of a writer has been used again.
#[test]
fn sessions_follow_each_other_for_long() {
    let Some(service) = Service::start() else { return };
    let mut child = service.child("threads=30 count=2", "series");
    let mut seen = 0;
    for number in 0..80 {
        child.tell("sessions 0");
        let session = service.session(&SessionConfig { buffer_kb: 1024, ..all() });
        child.tell("sessions 1");
        child.tell("log");
        let mut consumer = session;
        if number % 7 == 0 {
            // Where threads have ended, a flush has nothing to wait for.
            consumer.flush(Duration::from_secs(30)).expect("flush");
        }
        let trace = service.stop(consumer);
        let logged = child.logged();
        let (mut found, mut expected) = (trace.texts(), logged[seen..].to_vec());
        found.sort();
        expected.sort();
        assert_eq!(found, expected, "session {number}");
        seen = logged.len();
    }
    child.end();
}

/// Several threads log faster than the service reads, into a buffer that has room for all of it:
/// what is in no trace is counted, and what is there has its text.
#[test]
fn many_threads_at_once_leave_no_gap_that_is_not_counted() {
    let Some(service) = Service::start() else { return };
    let mut child = service.child("threads=8 count=40000 size=40", "parallel");
    let session = service.session(&SessionConfig { buffer_kb: 256 << 10, ..all() });
    child.tell("enabled");
    child.ask("log");
    let mut flushing = session;
    for _ in 0..5 {
        thread::sleep(Duration::from_millis(20));
        flushing.flush(Duration::from_secs(30)).expect("flush");
    }
    child.expect("done");
    let trace = service.stop(flushing);
    let logged = child.end().len() as u64;
    let lost: u64 = trace.log().stats().lost.values().sum();
    assert_eq!(trace.texts().len() as u64 + lost, logged, "found and {lost} lost, logged");
}

/// A program whose forked children end by `exit`, as those of `daemon` do, while its service runs
/// and while it stands still. (Handlers of a tracing library crashed there: ceph/ceph#4073.)
#[test]
fn a_forked_child_that_exits_leaves_the_connection_alone() {
    let Some(service) = Service::start() else { return };
    let mut child = service.child("count=50", "exits");
    let session = service.session(&all());
    child.tell("enabled");
    child.tell("log");
    child.tell("fork-exit");
    service.signal("STOP");
    child.tell("fork-exit");
    service.signal("CONT");
    child.tell("log");
    child.tell("fork-exit");
    let trace = service.stop(session);
    trace.check(&[child.end()]);
}

/// Consumers that go away within a session, one after the other, while the service asks for a flush
/// each 20 ms. (After hours of that a producer's data stopped: google/perfetto#4095.)
#[test]
fn consumers_that_go_away_leave_nothing_behind() {
    let Some(service) = Service::start() else { return };
    let mut child = service.child("threads=3 count=200 size=40", "segments");
    // `flush_period_ms` and its value.
    let config = [all().encode(), vec![13 << 3, 20]].concat();
    let mut before = [0; 3];
    for round in 0..40 {
        child.tell("sessions 0");
        let mut consumer = service.consumer();
        consumer.enable(&config).expect("start a session");
        child.tell("sessions 1");
        child.ask("log");
        if round % 2 == 0 {
            thread::sleep(Duration::from_millis(30));
        }
        drop(consumer);
        child.expect("done");
        if round == 9 {
            child.tell("sessions 0");
            before = child.resources();
        }
    }
    child.tell("sessions 0");
    let [threads, files, maps] = child.resources();
    assert_eq!([threads, files], before[..2], "threads, files: {:?}", child.open_files());
    assert!(maps <= before[2] + 8, "{maps} parts of memory, {} before", before[2]);
    let seen = child.logged().len();
    let session = service.session(&all());
    child.tell("sessions 1");
    child.tell("log");
    let trace = service.stop(session);
    trace.check(&[child.end()[seen..].to_vec()]);
}
