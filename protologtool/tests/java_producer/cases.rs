//! Sessions of the service that lose nothing.

use crate::service::{LONG, Service, all};
use perfetto_ipc::{CloneTarget, SessionConfig};
use protolog_reader::{Rendering, Trace};
use std::time::Duration;

#[test]
fn one_process_is_recorded() {
    let Some(service) = Service::start() else { return };
    let Some(mut child) = service.child("count=300 size=100", "one") else { return };
    child.tell("connected");
    let session = service.session(&all());
    child.tell("enabled");
    child.tell("log");
    let trace = service.stop(session);
    child.tell("disabled");
    trace.check(&[child.end()]);
}

#[test]
fn processes_of_four_threads_are_recorded() {
    let Some(service) = Service::start() else { return };
    let job = "threads=4 count=10000 size=40";
    let children = (0..2).map(|at| service.child(job, &format!("of-{at}")));
    let Some(mut children) = children.collect::<Option<Vec<_>>>() else { return };
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
    let logged: Vec<_> = children.into_iter().map(crate::child::RunningChild::end).collect();
    assert_eq!(logged.iter().flatten().count(), 80_000);
    trace.check(&logged);
}

/// The service is not there at first, and the session is not stopped before the program exits.
#[test]
fn a_program_that_comes_first_and_ends_first_is_recorded() {
    let Some(mut service) = protolog_testkit::TracingService::stopped().map(Service) else {
        return;
    };
    let Some(mut child) = service.child("init count=50", "later") else { return };
    let reason = child.tell("failed");
    assert!(reason.contains("producer: "), "{reason}");
    service.0.restart();
    let session = service.session(&all());
    child.tell("enabled");
    child.tell("log");
    let logged = child.end();
    service.stop(session).check(&[logged]);
}

#[test]
fn each_session_has_its_own_levels() {
    let Some(service) = Service::start() else { return };
    let Some(mut child) = service.child("", "levels") else { return };
    let (debug, warn) = (1, 5);
    let warn = SessionConfig { enable_all: false, log_from: Some(warn), ..all() };
    let mut named = SessionConfig { buffer_kb: 1024, ..SessionConfig::default() };
    named.groups = vec![("Work".into(), Some(debug)), ("no.such.Group".into(), None)];
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

/// The dictionary of a session has what the session records, and no more.
#[test]
fn a_dictionary_has_the_groups_and_levels_of_its_session() {
    let Some(service) = Service::start() else { return };
    let Some(mut child) = service.child("", "texts") else { return };
    let config = SessionConfig { buffer_kb: 1024, ..SessionConfig::default() };
    let session = service.session(&config);
    child.tell("sessions 1");
    child.tell("levels");
    let trace = service.stop(session);
    assert_eq!(trace.messages(), ["fatal", "other fatal"]);
    let has = |text: &[u8]| trace.bytes.windows(text.len()).any(|part| part == text);
    assert!(has(b"other fatal") && !has(b"other info") && !has(b"before any session"));
    child.end();
}

#[test]
fn stacks_are_collected_where_a_session_asks() {
    let Some(service) = Service::start() else { return };
    let Some(mut child) = service.child("", "stacks") else { return };
    let config = SessionConfig { stacks: vec!["Other".into()], ..all() };
    let session = service.session(&config);
    child.tell("sessions 1");
    child.tell("levels");
    let trace = service.stop(session);
    let log = trace.log();
    let stacks: Vec<bool> = log
        .entries()
        .map(|entry| entry.stack_trace().is_some_and(|it| it.contains("app.Connected.obey")))
        .collect();
    assert_eq!(stacks, [false, false, false, true, true]);
    child.end();
}

#[test]
fn sessions_of_the_process_run_beside() {
    let Some(service) = Service::start() else { return };
    let Some(mut child) = service.child("threads=2 count=2000", "beside") else { return };
    let session = service.session(&all());
    child.tell("enabled");
    child.tell("log");
    let path = service.path("own.pftrace");
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

#[test]
fn a_flush_has_all_that_was_logged_before() {
    let Some(service) = Service::start() else { return };
    let Some(mut child) = service.child("threads=2 count=400 pause=1", "flushed") else { return };
    let mut session = service.session(&all());
    child.tell("enabled");
    child.tell("log");
    // The threads' chunks stay open, and more is written meanwhile.
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
    let Some(mut child) = service.child("count=100", "cloned") else { return };
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
    let Some(mut child) = service.child("count=100", "again") else { return };
    let session = service.session(&all());
    child.tell("enabled");
    child.tell("log");
    let lost = child.logged().len();
    service.0.kill();
    drop(session);
    let reason = child.tell("disconnected");
    assert!(reason.contains("the service") || reason.contains("refused"), "{reason}");
    child.tell("disabled");
    service.0.restart();
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
    let Some(mut child) = service.child("count=200 pause=1 size=30", "cleared") else { return };
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
    let Some(mut child) = service.child("", "long") else { return };
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

#[test]
fn interrupts_of_all_threads_change_nothing() {
    let Some(service) = Service::start() else { return };
    let Some(mut child) = service.child("count=100", "interrupted") else { return };
    let session = service.session(&all());
    child.tell("enabled");
    for _ in 0..20 {
        child.tell("interrupt");
        child.tell("log");
    }
    let trace = service.stop(session);
    trace.check(&[child.end()]);
}

/// A program that leaves has no thread of the producer's any more, and may come back.
#[test]
fn a_program_leaves_and_comes_back() {
    let Some(service) = Service::start() else { return };
    let Some(mut child) = service.child("count=1000", "leaves") else { return };
    let session = service.session(&all());
    child.tell("enabled");
    assert_eq!(child.tell("threads"), "protolog-conn,protolog-fwd");
    child.tell("log");
    child.tell("leave");
    assert_eq!(child.tell("threads"), "");
    child.tell("disabled");
    let before = child.logged();
    service.stop(session).check(std::slice::from_ref(&before));
    child.tell("log");
    child.tell("connect");
    let session = service.session(&all());
    child.tell("enabled");
    child.tell("log");
    let trace = service.stop(session);
    let logged = child.end();
    trace.check(&[logged[2 * before.len()..].to_vec()]);
}
