//! Sessions of the service that lose nothing.

use crate::proxy::Change;
use crate::service::{LONG, Service, all};
use perfetto_ipc::{CloneTarget, SessionConfig};
use protolog_reader::{Rendering, Trace};
use std::time::Duration;

#[test]
fn one_process_is_recorded() {
    let Some(service) = Service::start() else { return };
    let mut child = service.child("count=300 size=100", "one");
    child.tell("connected");
    let session = service.session(&all());
    child.tell("enabled");
    child.tell("log");
    let trace = service.stop(session);
    child.tell("disabled");
    trace.check(&[child.end()]);
}

#[test]
fn four_processes_of_four_threads_are_recorded() {
    let Some(service) = Service::start() else { return };
    let job = "threads=4 count=5000 size=40";
    let mut children: Vec<_> = (0..4).map(|at| service.child(job, &format!("of-{at}"))).collect();
    let session = service.session(&all());
    for child in &mut children {
        child.tell("enabled");
    }
    for child in &mut children {
        child.ask("log");
    }
    for child in &mut children {
        child.expect("done");
    }
    let trace = service.stop(session);
    let logged: Vec<_> = children.into_iter().map(super::child::RunningChild::end).collect();
    assert_eq!(logged.iter().flatten().count(), 80_000);
    trace.check(&logged);
}

/// The service gives its own memory to a producer that has none, and here the messages fill that
/// several times.
#[test]
fn memory_of_the_service_is_used_where_it_takes_none() {
    let Some(service) = Service::start() else { return };
    let job = "threads=4 count=10000 size=200";
    let mut child = service.changed_child(Change::NoMemory, job, "given");
    for round in 1..3 {
        let session = service.session(&all());
        child.tell("enabled");
        let before = child.logged().len();
        child.tell("log");
        let trace = service.stop(session);
        child.tell("disabled");
        let logged = child.logged();
        assert_eq!(logged.len(), round * 40_000);
        trace.check(&[logged[before..].to_vec()]);
    }
    child.end();
}

#[test]
fn a_process_that_comes_later_is_recorded() {
    let Some(mut service) = Service::stopped() else { return };
    // The service is not there yet either.
    let mut child = service.child("count=50", "later");
    service.restart();
    let session = service.session(&all());
    child.tell("enabled");
    child.tell("log");
    let logged = child.end();
    // It has ended, and its session was not stopped.
    service.stop(session).check(&[logged]);
}

#[test]
fn stacks_are_collected_where_a_session_asks() {
    let Some(service) = Service::start() else { return };
    let mut child = service.child("", "stacks");
    let session = service.session(&SessionConfig { stacks: vec!["Other".into()], ..all() });
    child.tell("sessions 1");
    child.tell("levels");
    let trace = service.stop(session);
    let log = trace.log();
    let program = std::env::current_exe().expect("this program").display().to_string();
    let stacks: Vec<bool> = log
        .entries()
        .map(|entry| entry.stack_trace().is_some_and(|stack| stack.contains(&program)))
        .collect();
    assert_eq!(stacks, [false, false, false, true, true]);
    assert_eq!(trace.messages().len(), 5);
    child.end();
}

#[test]
fn each_session_has_its_own_levels() {
    let Some(service) = Service::start() else { return };
    let mut child = service.child("", "levels");
    let debug = 1;
    let mut warn = all();
    (warn.enable_all, warn.log_from) = (false, Some(5));
    let mut named = SessionConfig { buffer_kb: 1024, ..SessionConfig::default() };
    named.groups = vec![("Work".into(), Some(debug)), ("no::such::Group".into(), None)];
    let everything = service.session(&all());
    let (warn, named) = (service.session(&warn), service.session(&named));
    child.tell("sessions 3");
    child.tell("levels");
    let texts = |session| service.stop(session).messages();
    let all = ["verbose", "debug", "fatal", "other info", "other fatal"];
    assert_eq!(texts(warn), ["fatal", "other fatal"]);
    child.tell("sessions 2");
    assert_eq!(texts(named), ["debug", "fatal", "other fatal"]);
    assert_eq!(texts(everything), all);
    child.end();
}

#[test]
fn sessions_of_the_process_run_beside() {
    let Some(service) = Service::start() else { return };
    let mut child = service.child("threads=2 count=2000", "beside");
    let session = service.session(&all());
    child.tell("enabled");
    child.tell("log");
    let path = service.dir.path().join("own.pftrace");
    let own = child.tell(&format!("own {}", path.display()));
    child.tell("log");
    let trace = service.stop(session);
    let logged = child.end();
    assert_eq!(own, "4000");
    let log = Trace::open(&path).expect("open it").read().expect("read it");
    let mut texts: Vec<String> =
        log.entries().map(|entry| entry.values().text(Rendering::Bare)).collect();
    let mut expected = logged[4000..8000].to_vec();
    texts.sort();
    expected.sort();
    assert_eq!(texts, expected);
    trace.check(&[logged]);
}

/// A forked child is not connected, and leaves its parent's connection alone.
#[test]
fn a_fork_disturbs_nothing() {
    let Some(service) = Service::start() else { return };
    let mut child = service.child("threads=2 count=500", "forks");
    let session = service.session(&all());
    child.tell("enabled");
    for _ in 0..5 {
        child.tell("log");
        child.tell("fork");
    }
    let trace = service.stop(session);
    trace.check(&[child.end()]);
}

#[test]
fn operators_see_what_a_session_has_so_far() {
    let Some(service) = Service::start() else { return };
    let mut child = service.child("threads=2 count=3000 size=40", "counted");
    let session = service.session(&all());
    child.tell("enabled");
    child.tell("log");
    // Longer than a chunk.
    child.tell("long 4096");
    let directory = service.dir.path().join("operators");
    let stats = child.tell(&format!("stats {}", directory.display()));
    let written = "session n stream 6001 0 ";
    assert!(stats.starts_with(written) && stats.contains("; written 6001 0 "), "{stats}");
    let texts = service.stop(session).messages();
    assert_eq!(texts.len(), 6001);
    child.end();
}

#[test]
fn a_flush_has_all_that_was_logged_before() {
    let Some(service) = Service::start() else { return };
    let mut child = service.child("threads=2 count=400 pause=200", "flushed");
    let mut session = service.session(&all());
    child.tell("enabled");
    child.tell("log");
    // The other threads' chunks stay open, and more is written meanwhile.
    let before = child.logged().len();
    child.ask("log");
    session.flush(LONG).expect("flush");
    let bytes = session.read_to_vec().expect("read");
    let log = Trace::from_bytes(bytes.clone()).read().expect("read the trace");
    let found = log.entries().count();
    assert!(found >= before && before == 800, "{found} of {before}");
    child.expect("done");
    session.disable().expect("stop");
    let rest = session.read_to_vec().expect("read");
    service.trace([bytes, rest].concat()).check(&[child.end()]);
}

#[test]
fn a_session_is_cloned_while_it_goes_on() {
    let Some(service) = Service::start() else { return };
    let mut child = service.child("count=100", "cloned");
    let config = SessionConfig { unique_name: Some("bug".into()), ..all() };
    let session = service.session(&config);
    child.tell("enabled");
    child.tell("log");
    let mut other = service.consumer();
    other.clone_session(CloneTarget::Name("bug")).expect("clone the session");
    service.read(&mut other).check(&[child.logged()]);
    child.tell("log");
    let trace = service.stop(session);
    trace.check(&[child.end()]);
}

#[test]
fn a_service_that_comes_back_is_joined_again() {
    let Some(mut service) = Service::start() else { return };
    let mut child = service.child("count=100", "again");
    let session = service.session(&all());
    child.tell("enabled");
    child.tell("log");
    let lost = child.logged().len();
    service.kill();
    drop(session);
    let reason = child.tell("disconnected");
    assert!(reason.contains("the service") || reason.contains("refused"), "{reason}");
    child.tell("disabled");
    service.restart();
    child.tell("connected");
    let session = service.session(&all());
    child.tell("enabled");
    child.tell("log");
    let trace = service.stop(session);
    let logged = child.end();
    trace.check(&[logged[lost..].to_vec()]);
}

#[test]
fn state_is_cleared_when_the_service_asks() {
    let Some(service) = Service::start() else { return };
    let mut child = service.child("count=200 pause=1000 size=30", "cleared");
    let config = SessionConfig { clear_every: Some(Duration::from_millis(20)), ..all() };
    let session = service.session(&config);
    child.tell("enabled");
    child.tell("log");
    let trace = service.stop(session);
    trace.check(&[child.end()]);
}

#[test]
fn long_messages_are_whole() {
    let Some(service) = Service::start() else { return };
    let mut child = service.child("", "long");
    let session = service.session(&all());
    child.tell("enabled");
    let sizes = [10, 200, 285, 1000, 3000, 4000, 4090, 4096];
    for size in &sizes {
        child.tell(&format!("long {size}"));
    }
    let texts = service.stop(session).messages();
    let expected: Vec<String> =
        sizes.iter().map(|size| format!("long {}", "x".repeat(*size))).collect();
    assert_eq!(texts, expected);
    child.end();
}
