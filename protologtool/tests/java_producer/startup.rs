//! The startup buffer: messages from before the service, or a session of it, is there.

use crate::service::{Service, all};
use perfetto_ipc::SessionConfig;
use protolog_testkit::TracingService;
use std::thread;
use std::time::{Duration, Instant};

#[test]
fn messages_from_before_the_service_go_to_the_first_session() {
    let Some(mut service) = TracingService::stopped().map(Service) else { return };
    let job = "startup=1048576 threads=2 count=500 size=30";
    let Some(mut child) = service.child(job, "before") else { return };
    // Without a service, too; the threads are gone by then.
    child.tell("log");
    child.tell("long 3000");
    service.0.restart();
    child.tell("connected");
    child.tell("log");
    let session = service.session(&all());
    child.tell("sessions 1");
    child.tell("log");
    let trace = service.stop(session);
    let logged = child.logged();
    let (long, mut found): (Vec<_>, Vec<_>) =
        trace.messages().into_iter().partition(|text| text.starts_with("long "));
    let mut expected = logged.clone();
    found.sort();
    expected.sort();
    assert_eq!(found, expected);
    assert_eq!(long, [format!("long {}", "x".repeat(3000))]);
    assert!(trace.log().stats().lost.is_empty(), "{:?}", trace.log().stats().lost);
    // The next one gets nothing of that.
    child.tell("disabled");
    let session = service.session(&all());
    child.tell("enabled");
    child.tell("log");
    let trace = service.stop(session);
    assert_eq!(child.tell("lost"), "0");
    trace.check(&[child.end()[logged.len()..].to_vec()]);
}

/// A message goes to the startup buffer or to the session, also while one takes the other's place.
#[test]
fn no_message_is_missing_or_double_where_a_session_starts() {
    let Some(service) = Service::start() else { return };
    for round in 0..3 {
        let job = "startup=8388608 threads=3 count=800 pause=1 size=20";
        let Some(mut child) = service.child(job, &format!("switch-{round}")) else { return };
        child.ask("log");
        thread::sleep(Duration::from_millis(300));
        let session = service.session(&all());
        child.expect("done");
        service.stop(session).check(&[child.end()]);
    }
}

#[test]
fn a_session_gets_the_levels_that_it_enables() {
    let Some(service) = Service::start() else { return };
    let Some(mut child) = service.child("startup=65536", "levels-before") else { return };
    let mut expected = Vec::new();
    for number in 0..50 {
        // Texts and times of messages that are left out count for later ones.
        child.tell(&format!("mixed {number}"));
        expected.push(format!("fatal {number} text-{number} text-{}", number / 2));
    }
    let warn = SessionConfig { enable_all: false, log_from: Some(5), ..all() };
    let session = service.session(&warn);
    child.tell("sessions 1");
    assert_eq!(service.stop(session).messages(), expected);
    child.end();
}

#[test]
fn a_startup_buffer_has_the_levels_that_it_is_for() {
    let Some(service) = Service::start() else { return };
    let warn = 3;
    let job = format!("startup=65536 startup_from={warn}");
    let Some(mut child) = service.child(&job, "from") else { return };
    child.tell("levels");
    let session = service.session(&all());
    child.tell("sessions 1");
    child.tell("levels");
    let texts = service.stop(session).messages();
    let after = ["verbose", "debug", "fatal", "other info", "other fatal"];
    assert_eq!(texts, [&["fatal", "other fatal"][..], &after].concat());
    child.end();
}

/// Messages that do not fit are counted, also of threads that ended.
#[test]
fn drops_of_a_full_startup_buffer_are_counted() {
    let Some(service) = Service::start() else { return };
    let Some(mut child) = service.child("startup=65536 size=40", "full") else { return };
    child.tell("connected");
    for _ in 0..3 {
        child.tell("log threads=4 count=500");
    }
    child.tell("log threads=300 count=2");
    let session = service.session(&SessionConfig { buffer_kb: 8 << 10, ..all() });
    child.tell("sessions 1");
    child.tell("log threads=2 count=100");
    let trace = service.stop(session);
    let logged = child.end().len() as u64;
    let (found, lost) = (trace.messages().len() as u64, trace.lost());
    assert!(found > 500 && lost > 1000, "{found} found, {lost} lost");
    assert_eq!(found + lost, logged, "found {found} and lost {lost}, logged");
}

/// The buffer goes with the hand-over, not with the session.
#[test]
fn the_memory_of_a_startup_buffer_is_free_once_a_session_has_its_messages() {
    let Some(service) = Service::start() else { return };
    let job = "startup=67108864 threads=2 count=500";
    let Some(mut child) = service.child(job, "memory") else { return };
    child.tell("log");
    let before: u64 = child.tell("memory").parse().expect("bytes");
    assert!(before >= 64 << 20, "{before} bytes");
    let session = service.session(&all());
    child.tell("sessions 1");
    child.tell("log");
    child.tell(&format!("memory-below {}", 32 << 20));
    child.tell("log");
    service.stop(session).check(&[child.end()]);
}

/// Nobody asks for the messages: the exit does not wait.
#[test]
fn an_exit_without_a_session_does_not_wait() {
    let Some(service) = TracingService::stopped().map(Service) else { return };
    let Some(mut child) = service.child("startup=65536 threads=2 count=5000", "nobody") else {
        return;
    };
    child.tell("log");
    let begun = Instant::now();
    child.end();
    assert!(begun.elapsed() < Duration::from_secs(3), "{:?}", begun.elapsed());
}
