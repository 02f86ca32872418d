//! Programs that replace themselves, and programs that start others.

use crate::service::{Service, all};
use std::fs;
use std::process::Command;

/// The forwarding thread has looked by then, on a busy machine, too.
const LOOKED: &str = "sleep 300";

/// The old program's messages are in the trace without an exit, and the new one joins the session.
#[test]
fn a_program_that_is_replaced_is_recorded_before_and_after() {
    let Some(service) = Service::start() else { return };
    let mut child = service.child("threads=2 count=300", "replaced");
    let session = service.session(&all());
    let mut open = Vec::new();
    for _ in 0..3 {
        child.tell("sessions 1");
        child.tell("enabled");
        child.tell("log");
        child.tell(LOOKED);
        open.push(child.files());
        child.ask("again");
        child.expect("ready");
    }
    child.tell("enabled");
    child.tell("log");
    let trace = service.stop(session);
    let logged = child.end();
    assert_eq!(logged.len(), 4 * 600);
    trace.check(&[logged]);
    assert!(open.windows(2).all(|pair| pair[1] <= pair[0]), "{open:?} open files");
}

/// A program that was started keeps neither the connection nor the memory, so that the service
/// knows when the one that started it is dead.
#[test]
fn a_program_that_was_started_keeps_nothing_open() {
    let Some(service) = Service::start() else { return };
    let mut child = service.child("count=300", "starts");
    let session = service.session(&all());
    child.tell("enabled");
    child.tell("log");
    let started = child.tell("start 60");
    child.tell(LOOKED);
    let files: Vec<String> = fs::read_dir(format!("/proc/{started}/fd"))
        .expect("the files of the started program")
        .filter_map(|file| Some(fs::read_link(file.ok()?.path()).ok()?.display().to_string()))
        .collect();
    let logged = child.kill();
    service.stop(session).check(&[logged]);
    let kept = files.iter().filter(|to| to.starts_with("socket:") || to.contains("memfd:"));
    assert_eq!(kept.count(), 0, "{files:?}");
    let ended = Command::new("kill").arg(&started).status().expect("end it");
    assert!(ended.success(), "it had ended before");
}
