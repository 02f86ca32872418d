//! More threads than the service has writers for at a time, and than one frame has statistics of.

use crate::service::{Service, all};
use perfetto_ipc::SessionConfig;

/// Threads that are over give their writers to later ones, first those of low ids, which services
/// of all versions take.
#[test]
fn thousands_of_short_threads_are_recorded() {
    let Some(service) = Service::start() else { return };
    let mut child = service.child("threads=100 count=2 size=12", "short");
    let session = service.session(&SessionConfig { buffer_kb: 64 << 10, ..all() });
    child.tell("enabled");
    for _ in 0..60 {
        child.tell("log");
    }
    let trace = service.stop(session);
    let logged = child.end();
    assert_eq!(logged.len(), 60 * 200);
    trace.check(&[logged]);
}
