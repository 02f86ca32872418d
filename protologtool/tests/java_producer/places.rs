//! Services elsewhere: over TCP, and where there is none.

use crate::child::RunningChild;
use crate::service::{Service, all};
use perfetto_ipc::frame::message;
use protolog_testkit::{TracingService, temp_dir_for_sockets};
use std::net::TcpListener;

/// Field of `TraceConfig`: programs of other machines are recorded, too.
const TRACE_ALL_MACHINES: u32 = 43;

#[test]
fn a_service_is_joined_over_tcp() {
    // A port that was free a moment ago.
    let port = TcpListener::bind("127.0.0.1:0").and_then(|it| it.local_addr()).expect("a port");
    let address = port.to_string();
    let Some(service) = TracingService::start_at(&address).map(Service) else { return };
    let job = "threads=3 count=5000 size=60";
    let Some(mut child) = RunningChild::start(&address, job, &service.path("tcp")) else { return };
    child.tell("connected");
    let every = message(|to| _ = to.bool(TRACE_ALL_MACHINES, true));
    let session = service.session_of(&[all().encode(), every].concat());
    child.tell("enabled");
    child.tell("log");
    let trace = service.stop(session);
    let pid = child.process.id();
    trace.check(&[child.end()]);
    let log = trace.log();
    assert!(log.entries().all(|entry| entry.thread().pid == Some(pid)));
}

#[test]
fn sockets_that_java_does_not_have_are_named() {
    let dir = temp_dir_for_sockets();
    for (socket, reason) in [
        ("@abstract", "@abstract: Java has no such sockets"),
        ("vsock://1:2", "vsock://1:2: Java has no such sockets"),
        ("127.0.0.1:99999", "127.0.0.1:99999: no port has the number 99999"),
        ("/no/such/socket", "/no/such/socket: "),
    ] {
        let logged = dir.path().join("logged");
        let Some(mut child) = RunningChild::start(socket, "", &logged) else { return };
        let said = child.tell("failed");
        assert!(said.starts_with(reason), "`{said}` instead of `{reason}`");
        child.end();
    }
}

/// Whoever starts the JVM has the last word.
#[test]
fn a_property_joins_the_service_or_forbids_to() {
    let Some(service) = Service::start() else { return };
    let socket = service.0.producers();
    let socket = socket.to_str().expect("UTF-8");
    let (on, off) = (["-Dprotolog.perfetto=true"], ["-Dprotolog.perfetto=false"]);
    let start = |options: &[&str], job: &str| {
        RunningChild::start_with(socket, options, job, &service.path("logged"))
    };
    let Some(mut child) = start(&off, "init") else { return };
    assert_eq!(child.tell("threads"), "");
    child.end();
    let Some(mut child) = start(&on, "settings") else { return };
    child.tell("connected");
    child.end();
}
