//! Ends that are not clean: services that stand still or are slow, connections that break, sessions
//! that can't start. What is lost is counted, by group, and nothing waits for ever.

use crate::child::RunningChild;
use crate::hostile::accept_without;
use crate::scarce::accounted;
use crate::service::{LONG, Service, all};
use perfetto_ipc::SessionConfig;
use protolog_reader::LossReason;
use protolog_testkit::temp_dir_for_sockets;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// The messages that `status` says are lost.
pub(crate) fn lost(child: &mut RunningChild) -> usize {
    let status = child.tell("status");
    let number = status.split("lost: ").nth(1).and_then(|rest| rest.split([',', ' ']).next());
    number.and_then(|number| number.parse().ok()).unwrap_or_else(|| panic!("{status}"))
}

/// A service that takes nothing at an exit: the last packet says which groups lack how many.
#[test]
fn what_is_lost_at_the_end_is_counted_by_group() {
    let Some(service) = Service::start() else { return };
    let mut child = service.child("threads=2 count=20000 size=60", "by-group");
    let session = service.session(&SessionConfig { buffer_kb: 64 << 10, ..all() });
    child.tell("enabled");
    service.signal("STOP");
    child.tell("log");
    // Threads of their own, the last of which find no room.
    child.tell("other 30000");
    child.tell("log count=5000");
    let logged = BTreeMap::from([("Work", 50_000), ("Other", 30_000)]);
    child.exit();
    service.signal("CONT");
    service.wait_for_ends();
    let trace = service.stop(session);
    let log = trace.log();
    let group =
        |name: &str| -> &'static str { if name.ends_with("Other") { "Other" } else { "Work" } };
    let mut found = BTreeMap::<&str, u64>::new();
    for entry in log.entries() {
        let name = entry.values().group(&log).map_or("", |group| &*group.name);
        *found.entry(group(name)).or_default() += 1;
    }
    let kept: u64 = found.values().sum();
    for ((reason, id), count) in &log.stats().lost {
        if matches!(reason, LossReason::Reported(_)) {
            let name = log.dictionary().group_name(id.expect("a group")).into_owned();
            *found.entry(group(&name)).or_default() += count;
        }
    }
    assert!(kept < 70_000, "{kept} kept");
    assert_eq!(found, logged);
}

/// The connection breaks: what was dropped and what nobody took is counted, and none of it in a
/// trace.
#[test]
fn drops_of_a_broken_connection_are_counted() {
    let Some(mut service) = Service::start() else { return };
    let mut child = service.child("threads=2 count=150000 size=60", "broken");
    let session = service.session(&all());
    child.tell("enabled");
    assert_eq!(lost(&mut child), 0);
    service.signal("STOP");
    child.tell("log");
    service.kill();
    drop(session);
    child.tell("disconnected");
    let (lost, logged) = (lost(&mut child), child.end().len());
    // The service's memory has 2 MiB of them.
    assert!(lost < logged && logged - lost < 100_000, "{lost} of {logged}");
}

/// A connection that breaks while a startup buffer is handed over: what is not handed over is
/// counted, with what found no room in the buffer.
#[test]
fn drops_of_a_startup_buffer_are_counted_where_the_connection_breaks() {
    let dir = temp_dir_for_sockets();
    let socket = dir.path().join("producer");
    let listener = UnixListener::bind(&socket).expect("listen");
    let job = "startup=1048576 threads=2 count=20000 size=60";
    let mut child = RunningChild::start(job, &socket, &dir.path().join("logged"));
    child.tell("log");
    let mut it = accept_without("", &listener, false);
    child.tell("connected");
    it.start_in_memory(64 << 10);
    it.wait_for("CommitData").expect("what fits the memory");
    drop((it, listener));
    child.tell("disconnected");
    let (lost, logged) = (lost(&mut child), child.end().len());
    assert_eq!(logged, 40_000);
    assert!(lost <= logged && logged - lost < 2000, "{lost} of {logged}");
}

/// Threads log without a pause, faster than a service reads that runs a tenth of the time.
#[test]
fn a_flush_ends_while_threads_log_faster_than_the_service_reads() {
    let Some(service) = Service::start() else { return };
    let mut child = service.child("threads=2", "flood");
    let mut session = service.session(&SessionConfig { buffer_kb: 4 << 10, ..all() });
    child.tell("enabled");
    let is_over = AtomicBool::new(false);
    let (flushed, took) = thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                service.signal("STOP");
                thread::sleep(Duration::from_millis(45));
                service.signal("CONT");
                thread::sleep(Duration::from_millis(5));
            }
        });
        child.ask("flood 8000");
        thread::sleep(Duration::from_millis(500));
        let began = Instant::now();
        let flushed = session.flush(LONG);
        is_over.store(true, Ordering::Relaxed);
        (flushed, began.elapsed())
    });
    // It may have failed, which the service says then.
    assert!(took < Duration::from_secs(14), "{took:?}: {flushed:?}");
    child.expect("done");
    service.stop(session);
    child.end();
}

/// The report of drops finds no room at first. It comes once there is some, whether or not anything
/// is logged, or asked for, after that.
#[test]
fn drops_are_reported_without_a_further_message() {
    let Some(service) = Service::start() else { return };
    let mut child = service.child("threads=2 count=150000 size=60", "report");
    let mut session = service.session(&SessionConfig { buffer_kb: 128 << 10, ..all() });
    child.tell("enabled");
    service.signal("STOP");
    child.tell("log");
    service.signal("CONT");
    thread::sleep(Duration::from_secs(2));
    // A read is no flush.
    let trace = service.trace(session.read_to_vec().expect("read"));
    let logged = child.logged().len() as u64;
    let (found, lost) = accounted(&trace);
    assert!(lost > 0, "{found} found");
    assert_eq!(found + lost, logged, "found {found} and lost {lost}, logged");
    session.disable().expect("stop");
    child.end();
}

/// A session that can't start leaves the startup buffer as it was, for the next one.
#[test]
fn a_startup_buffer_goes_on_where_a_session_can_t_start() {
    let Some(service) = Service::start() else { return };
    let dir = temp_dir_for_sockets();
    let socket = dir.path().join("producer");
    let listener = UnixListener::bind(&socket).expect("listen");
    let job = "startup=1048576 threads=2 count=200 size=20";
    let mut child = RunningChild::start(job, &socket, &dir.path().join("logged"));
    child.tell("log");
    let mut it = accept_without("CommitData", &listener, false);
    child.tell("connected");
    it.start_without_room();
    while it.next().is_some() {}
    let reason = child.tell("disconnected");
    assert!(reason.contains("`CommitData`"), "{reason}");
    child.tell("log");
    // The next attempt meets the real service.
    fs::remove_file(&socket).expect("remove the socket");
    symlink(service.producers(), &socket).expect("a link");
    child.tell("connected");
    let session = service.session(&all());
    child.tell("sessions 1");
    child.tell("log");
    let trace = service.stop(session);
    trace.check(&[child.end()]);
}

/// With the policy to stall and then abort, a service that stands still for longer than messages
/// wait costs messages, which are counted, and never the program.
#[test]
fn a_session_that_asks_for_an_abort_gets_none() {
    let Some(service) = Service::start() else { return };
    let mut child = service.child("threads=2 count=150000 size=60", "abort");
    let abort = Some(2);
    let config = SessionConfig { buffer_kb: 128 << 10, exhausted_policy: abort, ..all() };
    let session = service.session(&config);
    child.tell("enabled");
    let status = child.tell("status");
    assert!(status.contains("STALL_THEN_ABORT"), "{status}");
    service.signal("STOP");
    let began = Instant::now();
    child.tell("log");
    assert!(began.elapsed() > Duration::from_secs(1), "{:?}", began.elapsed());
    service.signal("CONT");
    let trace = service.stop(session);
    let logged = child.end().len() as u64;
    let (found, lost) = accounted(&trace);
    assert!(lost > 0, "{found} found");
    assert_eq!(found + lost, logged, "found {found} and lost {lost}, logged");
}
