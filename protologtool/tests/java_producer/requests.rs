//! Requests of programs that a service records: also of messages from before its session, of which
//! some are not recorded.

use crate::service::{Service, all};
use perfetto_ipc::SessionConfig;
use protolog_reader::Rendering;

#[test]
fn messages_belong_to_their_requests() {
    let Some(service) = Service::start() else { return };
    let fatal = SessionConfig { enable_all: false, log_from: Some(5), ..all() };
    for (name, config, expected) in [("all", all(), 3200), ("fatal", fatal, 1600)] {
        let Some(mut child) = service.child("startup=1048576", name) else { return };
        child.tell("requests 600");
        let session = service.session(&config);
        child.tell("sessions 1");
        child.tell("requests 600");
        let trace = service.stop(session);
        assert_eq!(trace.messages().len(), expected, "{name}");
        let log = trace.log();
        for entry in log.entries() {
            let text = entry.values().text(Rendering::Bare);
            let request = text.rsplit_once("in ").expect("a request").1;
            assert_eq!(entry.request().unwrap_or("none"), request, "{name}: {text}");
        }
        child.end();
    }
}
