//! Processes that may not do everything: no access to the socket, no sockets, no memory of their
//! own, no barriers. A log call costs nothing and fails nothing, and the attempts go on.

use crate::service::{LONG, Service, all};
use std::fs::{self, File, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::thread;
use std::time::Duration;

fn allow(path: &std::path::Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).expect("change the mode");
}

/// The socket is another user's, until it is everybody's.
#[test]
fn a_socket_without_access_is_joined_once_it_is_accessible() {
    let Some(service) = Service::start() else { return };
    allow(service.dir.path(), 0o711);
    allow(&service.producers(), 0);
    let logged = service.dir.path().join("other-user");
    File::create(&logged).expect("a file");
    allow(&logged, 0o666);
    // Root may do everything.
    let is_root = fs::metadata("/proc/self").expect("this process").uid() == 0;
    let job = if is_root { "count=100 uid=54321" } else { "count=100" };
    let mut child = service.child(job, "other-user");
    child.tell("sleep 1000");
    let status = child.tell("status");
    assert!(
        status.contains("Permission denied") && status.contains("is_connected: false"),
        "{status}"
    );
    assert_eq!(child.tell("log").as_str(), "");
    allow(&service.producers(), 0o666);
    child.tell("connected");
    let session = service.session(&all());
    child.tell("enabled");
    let before = child.logged().len();
    child.tell("log");
    let trace = service.stop(session);
    let logged = child.end();
    trace.check(&[logged[before..].to_vec()]);
}

/// A process that may make no sockets: nothing is open, and hardly anything is done.
#[test]
fn a_process_without_sockets_tries_rarely_and_leaves_nothing_open() {
    let Some(service) = Service::start() else { return };
    let mut child = service.child("refuse=socket", "no-sockets");
    child.tell("sleep 300");
    let status = child.tell("status");
    assert!(status.contains("Operation not permitted"), "{status}");
    let (files, before) = (child.files(), child.processor_time());
    child.tell("sleep 3000");
    child.tell("levels");
    let (after, time) = (child.files(), child.processor_time().saturating_sub(before));
    assert_eq!(after, files, "files that are open");
    assert!(time < Duration::from_millis(50), "{time:?} of processor time in 3 s");
    child.end();
    assert_eq!(
        fs::read_to_string(service.dir.path().join("no-sockets.err")).ok().as_deref(),
        Some("")
    );
}

/// Memory of the service's is used where the process can make none, and without barriers chunks
/// stay with their threads.
#[test]
fn a_process_without_memory_files_and_barriers_is_recorded() {
    let Some(service) = Service::start() else { return };
    for refused in ["memfd_create", "membarrier", "memfd_create,membarrier"] {
        let job = format!("threads=2 count=2000 size=30 refuse={refused}");
        let mut child = service.child(&job, &refused.replace(',', "-"));
        let mut session = service.session(&all());
        child.tell("enabled");
        child.tell("idle 900");
        session.flush(LONG).expect("flush");
        child.tell("log");
        child.tell("idle 900");
        thread::sleep(Duration::from_millis(100));
        let trace = service.stop(session);
        trace.check(&[child.end()]);
    }
}

/// Rights that are dropped after the connection was made change nothing.
#[test]
fn rights_that_are_dropped_later_change_nothing() {
    let Some(service) = Service::start() else { return };
    let mut child = service.child("count=500 threads=2", "dropped");
    child.tell("connected");
    child.tell("refuse socket,memfd_create,membarrier");
    let session = service.session(&all());
    child.tell("enabled");
    child.tell("log");
    let trace = service.stop(session);
    trace.check(&[child.end()]);
}

/// The program asked to be recorded, and nothing else says why it is not.
#[test]
fn a_process_without_another_thread_says_so() {
    let Some(service) = Service::start() else { return };
    let mut child = service.child("refuse=clone,clone3 startup=65536", "no-threads");
    let status = child.tell("status");
    assert!(status.contains("there is no thread to be had"), "{status}");
    child.tell("disabled");
    child.end();
}
