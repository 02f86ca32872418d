//! Messages that limits suppress, in sessions of the service: counted once, soon, and where they
//! were.

use crate::child::RunningChild;
use crate::service::{Service, all};
use protolog_reader::{Item, Log, LossReason, Rendering};
use protolog_rt::LossCause;
use std::thread;
use std::time::{Duration, Instant};

const LIMITED: LossReason = LossReason::Reported(LossCause::Limited);

/// Starts a program of whose calls two pass, and the others are suppressed.
fn limited_child(service: &Service, name: &str) -> RunningChild {
    let mut child = service.child("", name);
    child.tell("connected");
    let dir = service.dir.path().join(format!("{name}-control"));
    child.tell(&format!("set {} site \"limited %d\"=limit 1/h burst 2", dir.display()));
    child
}

/// The messages that a trace says were suppressed.
fn suppressed(log: &Log) -> u64 {
    let limited = log.losses().iter().filter(|loss| loss.reason == LIMITED);
    limited.filter_map(|loss| loss.count).sum()
}

/// The entries of a log in their order: the text of a message, or the number of those that are
/// missing.
fn shown(log: &Log) -> Vec<String> {
    let line = |item: Item<'_>| match item {
        Item::Entry(entry) => entry.values().text(Rendering::Full),
        Item::Loss(loss) => {
            assert!(loss.from.is_some_and(|from| from <= loss.time), "{loss:?}");
            assert_eq!(loss.reason, LIMITED, "{loss:?}");
            format!("{} suppressed", loss.count.expect("a number"))
        }
        _ => String::new(),
    };
    log.items().map(line).filter(|line| !line.is_empty()).collect()
}

/// A flood that ends in silence is in the service soon, though nothing is logged or flushed after
/// it, and it is counted once.
#[test]
fn a_flood_before_silence_is_in_the_service() {
    let Some(service) = Service::start() else { return };
    let mut child = limited_child(&service, "silence");
    let mut session = service.session(&all());
    child.tell("sessions 1");
    child.tell("limited 1");
    // The forwarding thread has nothing to do meanwhile, and sleeps.
    thread::sleep(Duration::from_millis(1500));
    let mut bytes = Vec::new();
    let mut wait_for = |count: u64| {
        let end = Instant::now() + Duration::from_secs(20);
        loop {
            bytes.extend(session.read_to_vec().expect("read the trace"));
            let found = suppressed(&service.trace(bytes.clone()).log());
            if found >= count {
                return assert_eq!(found, count);
            }
            assert!(Instant::now() < end, "{found} of {count} are in the service");
            thread::sleep(Duration::from_millis(50));
        }
    };
    child.tell("limited 100");
    wait_for(99);
    // Once more, while the first report is new.
    child.tell("limited 200");
    wait_for(299);
    session.disable().expect("stop the session");
    bytes.extend(session.read_to_vec().expect("read the trace"));
    let trace = service.trace(bytes);
    assert_eq!(trace.messages().len(), 2);
    assert_eq!(suppressed(&trace.log()), 299, "counted once");
    child.end();
}

/// The number of suppressed messages stands between the messages of its thread, of which there are
/// more after a report, and an explicit flush has it at once.
#[test]
fn suppressed_messages_are_counted_where_they_were() {
    let Some(service) = Service::start() else { return };
    let mut child = limited_child(&service, "order");
    let mut session = service.session(&all());
    child.tell("sessions 1");
    child.tell("say before");
    child.tell("limited 1000");
    child.tell("say between");
    // There may be a report of these, in the chunk that the thread goes on with.
    thread::sleep(Duration::from_millis(1500));
    child.tell("say later");
    child.tell("limited 10");
    session.flush(Duration::from_secs(30)).expect("flush");
    let mut bytes = session.read_to_vec().expect("read the trace");
    let so_far = ["before", "limited 0", "limited 1", "998 suppressed", "between", "later"];
    let so_far = [&so_far[..], &["10 suppressed"]].concat();
    assert_eq!(shown(&service.trace(bytes.clone()).log()), so_far);
    child.tell("say after");
    child.tell("limited 20");
    session.disable().expect("stop the session");
    bytes.extend(session.read_to_vec().expect("read the trace"));
    let trace = service.trace(bytes);
    assert_eq!(shown(&trace.log()), [&so_far[..], &["after", "20 suppressed"]].concat());
    assert_eq!(trace.messages().len(), 6, "as trace_processor reads them");
    let log = trace.log();
    let threads: Vec<_> = log.entries().map(|entry| entry.thread()).collect();
    assert!(threads.iter().all(|thread| *thread == threads[0]), "of one thread: {threads:?}");
    child.end();
}

/// Also where every message of a session is suppressed.
#[test]
fn overlapping_sessions_count_what_each_would_have_recorded() {
    let Some(service) = Service::start() else { return };
    let mut child = limited_child(&service, "overlap");
    let first = service.session(&all());
    child.tell("sessions 1");
    child.tell("limited 30");
    let second = service.session(&all());
    child.tell("sessions 2");
    child.tell("limited 40");
    let second = service.stop(second);
    child.tell("limited 50");
    let first = service.stop(first);
    assert_eq!(first.messages(), ["limited 0", "limited 1"]);
    assert_eq!(suppressed(&first.log()), 118);
    assert_eq!(second.messages(), [""; 0]);
    assert_eq!(suppressed(&second.log()), 40);
    child.end();
}
