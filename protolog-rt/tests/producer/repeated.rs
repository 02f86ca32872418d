//! Repeats in sessions of the service: counted once, where they were, soon after a silence, and
//! with the message that they repeat.

use crate::child::RunningChild;
use crate::service::{Service, all};
use protolog_reader::{Item, Log, LossReason, Rendering};
use protolog_rt::LossCause;
use std::thread;
use std::time::{Duration, Instant};

const REPEATED: LossReason = LossReason::Reported(LossCause::Repeated);

fn merging_child(service: &Service, job: &str, name: &str) -> RunningChild {
    let mut child = service.child(job, name);
    child.tell("connected");
    let dir = service.dir.path().join(format!("{name}-control"));
    child.tell(&format!("set {} site \"%s\"=repeat", dir.display()));
    child
}

fn say(child: &mut RunningChild, count: u32, text: &str) {
    (0..count).for_each(|_| _ = child.tell(&format!("say {text}")));
}

/// The messages of a log, each with the number of its repeats; those of a run that a report has
/// divided are added up.
fn counted(log: &Log) -> Vec<(String, u64)> {
    let mut all: Vec<(String, u64)> = Vec::new();
    for item in log.items() {
        match item {
            Item::Entry(entry) => all.push((entry.values().text(Rendering::Full), 0)),
            Item::Loss(loss) => {
                assert_eq!(loss.reason, REPEATED, "{loss:?}");
                let last = all.last_mut().expect("a message");
                assert_eq!(log.repeated_text(loss).as_ref(), Some(&last.0));
                last.1 += loss.count.expect("a number");
            }
            _ => {}
        }
    }
    all
}

fn expected(all: &[(&str, u64)]) -> Vec<(String, u64)> {
    all.iter().map(|(text, count)| ((*text).to_owned(), *count)).collect()
}

/// What is repeated until a silence is in the service soon, though nothing is logged or flushed
/// after it.
#[test]
fn repeats_are_in_the_services_trace() {
    let Some(service) = Service::start() else { return };
    let mut child = merging_child(&service, "", "repeated");
    let mut session = service.session(&all());
    child.tell("sessions 1");
    say(&mut child, 20, "a");
    say(&mut child, 1, "b");
    say(&mut child, 30, "c");
    let (mut bytes, end) = (Vec::new(), Instant::now() + Duration::from_secs(20));
    let all = expected(&[("a", 19), ("b", 0), ("c", 29)]);
    loop {
        bytes.extend(session.read_to_vec().expect("read the trace"));
        let found = counted(&service.trace(bytes.clone()).log());
        if found == all {
            break;
        }
        assert!(Instant::now() < end, "{found:?}");
        thread::sleep(Duration::from_millis(50));
    }
    session.disable().expect("stop the session");
    bytes.extend(session.read_to_vec().expect("read the trace"));
    let trace = service.trace(bytes);
    assert_eq!(counted(&trace.log()), all, "counted once");
    assert_eq!(trace.messages(), ["a", "b", "c"], "as trace_processor reads them");
    child.end();
}

/// Each of two sessions has the message of a run that it counts repeats of.
#[test]
fn a_session_that_starts_later_has_the_message() {
    let Some(service) = Service::start() else { return };
    let mut child = merging_child(&service, "startup=1048576", "later");
    say(&mut child, 10, "a");
    let first = service.session(&all());
    child.tell("sessions 1");
    say(&mut child, 5, "a");
    let second = service.session(&all());
    child.tell("sessions 2");
    say(&mut child, 3, "a");
    for (session, total) in [(second, 3), (first, 18)] {
        let trace = service.stop(session);
        let found = counted(&trace.log());
        assert!(found.iter().all(|(text, _)| text == "a"), "{found:?}");
        assert_eq!(found.iter().map(|(_, count)| 1 + count).sum::<u64>(), total, "{found:?}");
        assert_eq!(trace.messages().len(), found.len());
    }
    child.end();
}
