//! Sampling in sessions of the service: what is kept says at which rate, and what was passed over
//! is counted once, by group and level, in each session that would have recorded it.

use crate::service::{Service, ServiceTrace, all};
use protolog_reader::Log;
use protolog_rt::Level;
use protolog_testkit::TracingService;
use std::collections::BTreeMap;
use std::time::Duration;

/// The messages that a log says were passed over, all of one group and level.
fn passed_over(log: &Log) -> u64 {
    let all = &log.stats().passed_over;
    for (group, level) in all.keys() {
        let name = group.map(|id| log.dictionary().group_name(id));
        assert!(name.is_some_and(|name| name.ends_with("Log.WORK")));
        assert_eq!(*level, Some(Level::Debug));
    }
    all.values().sum()
}

/// Checks that of so many messages each was kept or counted, and that nothing is lost; the numbers
/// of those that were kept, by their rates.
#[track_caller]
fn check(trace: &ServiceTrace, total: u64) -> BTreeMap<String, u64> {
    let log = trace.log();
    assert!(log.losses().is_empty(), "{:?}", log.losses());
    let mut kept = BTreeMap::new();
    for entry in log.entries() {
        let rate = entry.rate().map_or("all".to_owned(), |rate| rate.to_string());
        *kept.entry(rate).or_default() += 1;
    }
    assert_eq!(kept.values().sum::<u64>() + passed_over(&log), total, "{kept:?}");
    assert_eq!(kept.values().sum::<u64>(), trace.messages().len() as u64, "by trace_processor");
    kept
}

#[test]
fn rates_and_numbers_of_sampling_are_in_the_services_trace() {
    let Some(service) = Service::start() else { return };
    let Some(mut child) = service.child("threads=3 count=4000", "sampled") else { return };
    child.tell("connected");
    let mut session = service.session(&all());
    child.tell("enabled");
    child.tell("log count=10");
    child.tell("sample 1/20");
    child.tell("log");
    session.flush(Duration::from_secs(30)).expect("flush");
    let mut bytes = session.read_to_vec().expect("read the trace");
    let kept = check(&service.trace(bytes.clone()), 30 + 12_000);
    assert_eq!(kept["all"], 30);
    // Eight standard deviations.
    assert!((410..=790).contains(&kept["1/20"]), "{kept:?}");
    let second = service.session(&all());
    child.tell("sessions 2");
    child.tell("sample 2/5");
    child.tell("log");
    let kept = check(&service.stop(second), 12_000);
    assert!((4370..=5230).contains(&kept["2/5"]) && kept.len() == 1, "{kept:?}");
    session.disable().expect("stop the session");
    bytes.extend(session.read_to_vec().expect("read the trace"));
    assert_eq!(check(&service.trace(bytes), 30 + 24_000)["2/5"], kept["2/5"]);
    child.end();
}

/// Messages passed over before the first session are counted in it, together with what is kept.
#[test]
fn a_startup_buffer_has_what_was_passed_over_before_the_session() {
    let Some(mut service) = TracingService::stopped().map(Service) else { return };
    let job = "startup=1048576 threads=2 count=3000";
    let Some(mut child) = service.child(job, "sampled-before") else { return };
    child.tell("sample 1/10");
    child.tell("log");
    service.0.restart();
    child.tell("connected");
    let session = service.session(&all());
    child.tell("sessions 1");
    child.tell("log");
    let kept = check(&service.stop(session), 12_000);
    assert!((940..=1460).contains(&kept["1/10"]) && kept.len() == 1, "{kept:?}");
    assert_eq!(child.tell("lost"), "0");
    child.end();
}
