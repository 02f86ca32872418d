//! Sampling in sessions of the service: what is kept says at which rate, and what was passed over
//! is counted once, by group and level, in each session that would have recorded it.

use crate::ends::lost;
use crate::service::{Service, ServiceTrace, all};
use protolog_reader::{Log, Rendering};
use protolog_rt::Level;
use std::time::Duration;

/// The messages that a log says were passed over, of a group by the end of its name.
fn passed_over(log: &Log, group: &str, level: Level) -> u64 {
    let is_it = |id: u32| log.dictionary().group_name(id).ends_with(group);
    let all = log.stats().passed_over.iter();
    let of = all.filter(|((id, of), _)| id.is_some_and(is_it) && *of == Some(level));
    of.map(|(_, count)| count).sum()
}

/// Checks that of so many messages, whose texts begin so, each was kept at one of `rate` or
/// counted, and that nothing is lost. Returns the number of those that were kept.
#[track_caller]
fn check(log: &Log, text: &str, group: &str, level: Level, rate: u32, total: u64) -> u64 {
    let is_it = |line: &str| line.strip_prefix(text).is_some_and(|rest| rest.starts_with(' '));
    let kept = log.entries().filter(|it| is_it(&it.values().text(Rendering::Full)));
    let rates: Vec<_> = kept.map(|entry| entry.rate().map(|it| (it.kept(), it.of()))).collect();
    assert!(rates.iter().all(|it| *it == Some((1, rate))), "{rates:?}");
    let kept = rates.len() as u64;
    assert_eq!(kept + passed_over(log, group, level), total, "{kept} of `{text}` were kept");
    assert!(log.losses().is_empty(), "{:?}", log.losses());
    // Eight standard deviations.
    let (mean, rate) = (total as f64 / f64::from(rate), f64::from(rate));
    let most = 8.0 * (mean * (1.0 - 1.0 / rate)).sqrt();
    assert!((kept as f64 - mean).abs() < most, "{kept} of {total} at 1/{rate}");
    kept
}

/// As [`check`], of the group that declares its rate.
#[track_caller]
fn declared(log: &Log, total: u64) -> u64 {
    check(log, "declared", "Log::Declared", Level::Debug, 10, total)
}

fn passed_in_all(log: &Log) -> u64 {
    log.stats().passed_over.values().sum()
}

/// Messages have their rates and the others are counted, soon after an explicit flush, for a thread
/// that stays and for one that ends, by a group's own rate, an operator's, and a session's.
#[test]
fn rates_and_numbers_of_sampling_are_in_the_services_trace() {
    let Some(service) = Service::start() else { return };
    let mut child = service.child("", "sampled");
    child.tell("connected");
    let mut session = service.session(&all());
    child.tell("sessions 1");
    child.tell("declared 4000");
    session.flush(Duration::from_secs(30)).expect("flush");
    let mut bytes = session.read_to_vec().expect("read the trace");
    declared(&service.trace(bytes.clone()).log(), 4000);
    child.tell("declared 1000");
    let second = service.session(&all());
    child.tell("sessions 2");
    child.tell("declared 2000");
    let dir = service.dir.path().join("control");
    child.tell(&format!("set {} site Log::Other=sample:1/20", dir.display()));
    child.tell("other 5000");
    let second = service.stop(second);
    session.disable().expect("stop the session");
    bytes.extend(session.read_to_vec().expect("read the trace"));
    let check_all = |trace: &ServiceTrace, of_declared: u64| {
        let log = trace.log();
        let kept = declared(&log, of_declared);
        let others = check(&log, "other", "Log::Other", Level::Info, 20, 5000);
        assert_eq!(passed_in_all(&log), of_declared + 5000 - kept - others);
        assert_eq!(trace.messages().len() as u64, kept + others, "as trace_processor reads them");
    };
    check_all(&second, 2000);
    check_all(&service.trace(bytes), 7000);
    let file = dir.with_extension("own");
    let session = service.session(&all());
    child.tell("sessions 1");
    let kept = child.tell(&format!("own-sampled {} 3000", file.display()));
    let log = service.stop(session).log();
    assert_eq!(check(&log, "other", "Log::Other", Level::Info, 5, 3000).to_string(), kept);
    child.end();
}

/// Messages passed over before the first session are counted in it, together with what is kept.
#[test]
fn a_startup_buffer_has_what_was_passed_over_before_the_session() {
    let Some(service) = Service::start() else { return };
    let mut child = service.child("startup=1048576", "before");
    child.tell("declared 3000");
    let session = service.session(&all());
    child.tell("sessions 1");
    child.tell("declared 1000");
    let trace = service.stop(session);
    child.end();
    let kept = declared(&trace.log(), 4000);
    assert_eq!(passed_in_all(&trace.log()), 4000 - kept);
    assert_eq!(trace.messages().len() as u64, kept);
}

/// Where the connection breaks, what was passed over is no loss: it would not have been in a trace.
#[test]
fn what_was_passed_over_is_not_lost_where_the_connection_breaks() {
    let Some(mut service) = Service::start() else { return };
    let mut child = service.child("", "passed-and-broken");
    child.tell("connected");
    let session = service.session(&all());
    child.tell("sessions 1");
    service.signal("STOP");
    child.tell("declared 4000");
    service.kill();
    drop(session);
    child.tell("disconnected");
    // A tenth is kept. A part of it may be in the service's memory.
    let lost = lost(&mut child);
    assert!(lost < 1000, "{lost} of 400 or so are lost");
    child.end();
}
