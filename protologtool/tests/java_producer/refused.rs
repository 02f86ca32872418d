//! Sessions that a program does not record, which their traces say.

use crate::service::{Service, all};
use perfetto_ipc::frame::message;

/// The sessions that record a program at a time.
const MOST: u64 = 32;

#[test]
fn a_session_too_many_says_so_in_its_trace() {
    let Some(service) = Service::start() else { return };
    let Some(mut child) = service.child("count=20", "refused") else { return };
    child.tell("connected");
    let others = message(|to| {
        to.nested(1).uint32(1, 64);
        for _ in 0..MOST {
            let mut source = to.nested(2);
            let mut config = source.nested(1);
            config.string(1, "android.protolog").nested(126).uint32(2, 1);
        }
    });
    let others = service.session_of(&others);
    child.tell(&format!("sessions {MOST}"));
    let trace = service.stop(service.session(&all()));
    let log = trace.log();
    let refusals: Vec<_> = log.stats().refusals.iter().map(ToString::to_string).collect();
    let pid = child.process.id();
    let expected = format!(
        "process {pid} (`app.Connected`) did not record this session: \
         it records 32 others, the most at a time"
    );
    assert_eq!(refusals, [expected]);
    service.stop(others);
    child.tell("sessions 0");
    let session = service.session(&all());
    child.tell("sessions 1");
    child.tell("log");
    let trace = service.stop(session);
    assert!(trace.log().stats().refusals.is_empty());
    trace.check(&[child.end()]);
}
