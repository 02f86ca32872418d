//! The startup buffer: messages from before the service, or a session of it, is there.

use crate::scarce::accounted;
use crate::service::{Service, all};
use perfetto_ipc::SessionConfig;
use std::thread;
use std::time::{Duration, Instant};

#[test]
fn messages_from_before_the_service_go_to_the_first_session() {
    let Some(mut service) = Service::stopped() else { return };
    let mut child = service.child("startup=1048576 threads=2 count=500 size=30", "before");
    // Without a service, too; the threads are gone by then, but for one.
    child.tell("log");
    child.tell("long 9000");
    child.tell("long 3000");
    service.restart();
    child.tell("connected");
    child.tell("log");
    child.tell("idle 20");
    let session = service.session(&all());
    child.tell("sessions 1");
    child.tell("log");
    child.tell("idle 20");
    let trace = service.stop(session);
    let logged = child.logged();
    let (mut long, found): (Vec<_>, Vec<_>) =
        trace.messages().into_iter().partition(|text| text.starts_with("long "));
    assert_eq!(sorted(found), sorted(logged.clone()));
    long.sort_by_key(String::len);
    // A message has at most 4,096 bytes of text, of which the last three say that it was cut.
    assert!(
        long == [(3000, ""), (4093, "…")]
            .map(|(size, end)| format!("long {}{end}", "x".repeat(size)))
    );
    // The next one gets nothing of that.
    child.tell("disabled");
    let session = service.session(&all());
    child.tell("enabled");
    child.tell("log");
    let trace = service.stop(session);
    trace.check(&[child.end()[logged.len()..].to_vec()]);
}

fn sorted(mut texts: Vec<String>) -> Vec<String> {
    texts.sort();
    texts
}

/// A message goes to the startup buffer or to the session, also while one takes the other's place.
#[test]
fn no_message_is_missing_or_double_where_a_session_starts() {
    let Some(service) = Service::start() else { return };
    for round in 0..3 {
        let job = "startup=8388608 threads=3 count=4000 pause=50 size=20";
        let mut child = service.child(job, &format!("switch-{round}"));
        child.ask("log");
        thread::sleep(Duration::from_millis(100));
        let session = service.session(&all());
        child.expect("done");
        service.stop(session).check(&[child.end()]);
    }
}

#[test]
fn a_session_gets_the_levels_that_it_enables() {
    let Some(service) = Service::start() else { return };
    let mut child = service.child("startup=65536", "levels-before");
    let mut expected = Vec::new();
    for number in 0..50 {
        // Texts and times of messages that are left out count for later ones.
        child.tell(&format!("mixed {number}"));
        expected.push(format!("fatal {number} text-{number} text-{}", number / 2));
    }
    let mut warn = all();
    (warn.enable_all, warn.log_from) = (false, Some(5));
    let session = service.session(&warn);
    child.tell("sessions 1");
    // What messages that are left out leave is no message.
    let directory = service.dir.path().join("operators");
    let stats = child.tell(&format!("stats {}", directory.display()));
    assert!(stats.contains("; written 50 0 "), "{stats}");
    assert_eq!(service.stop(session).messages(), expected);
    child.end();
}

#[test]
fn a_startup_buffer_has_the_levels_that_it_is_for() {
    let Some(service) = Service::start() else { return };
    let mut child = service.child("startup=65536 startup_from=5", "from");
    child.tell("levels");
    let session = service.session(&all());
    child.tell("sessions 1");
    child.tell("levels");
    let before = ["fatal", "other fatal"];
    let after = ["verbose", "debug", "fatal", "other info", "other fatal"];
    assert_eq!(service.stop(session).messages(), [&before[..], &after].concat());
    child.end();
}

/// Messages that do not fit are counted, also of threads that ended.
#[test]
fn drops_of_a_full_startup_buffer_are_counted() {
    let Some(service) = Service::start() else { return };
    let mut child = service.child("startup=65536 size=40", "full");
    child.tell("connected");
    for _ in 0..3 {
        child.tell("log threads=4 count=500");
    }
    child.tell("log threads=1200 count=2");
    thread::sleep(Duration::from_millis(300));
    let session = service.session(&SessionConfig { buffer_kb: 8 << 10, ..all() });
    child.tell("sessions 1");
    child.tell("log threads=2 count=100");
    let trace = service.stop(session);
    let logged = child.end().len() as u64;
    let (found, lost) = accounted(&trace);
    assert!(found > 500 && lost > 1000, "{found} found, {lost} lost");
    assert_eq!(found + lost, logged, "found {found} and lost {lost}, logged");
}

/// Nobody asks for the messages: the exit does not wait.
#[test]
fn an_exit_without_a_session_does_not_wait() {
    let Some(service) = Service::stopped() else { return };
    let mut child = service.child("startup=65536 threads=2 count=5000", "nobody");
    child.tell("log");
    let began = Instant::now();
    child.exit();
    assert!(began.elapsed() < Duration::from_secs(3), "{:?}", began.elapsed());
    assert_eq!(child.errors(), "");
}

/// A buffer that the system has no room for: the program is told, also once it is connected.
#[test]
fn a_startup_buffer_that_is_too_large_is_no_secret() {
    let Some(service) = Service::start() else { return };
    let mut child =
        service.child(&format!("count=20 room={} startup={}", 150 << 20, 200 << 20), "large");
    let reason = "messages from before the first session are not kept: ";
    let session = service.session(&all());
    child.tell("enabled");
    let status = child.tell("status");
    assert!(status.contains(reason) && status.contains("is_connected: true"), "{status}");
    child.tell("log");
    let trace = service.stop(session);
    trace.check(&[child.end()]);
}

/// One that is larger than any can be has less: the program is told once, and the messages are
/// kept.
#[test]
fn a_startup_buffer_that_is_cut_to_the_most_is_no_secret() {
    let Some(service) = Service::stopped() else { return };
    let mut child = service.child(&format!("count=20 startup={}", 300 << 20), "cut");
    let notice = "the startup buffer has 268435456 bytes, and not 314572800";
    let status = child.tell("status");
    assert!(status.contains(notice), "{status}");
    let line = format!("protolog: {notice}\nhelp: ask for at most 268435456 bytes\n");
    assert_eq!(child.errors(), line);
    // The most is not too much.
    let mut whole = service.child(&format!("count=20 startup={}", 256 << 20), "whole");
    let status = whole.tell("status");
    assert!(status.contains("notice: None"), "{status}");
    assert_eq!(whole.errors(), "");
    for child in [child, whole] {
        child.end();
    }
}
