//! JVMs with several runtimes, and with processes that they start.

use crate::child::RunningChild;
use crate::service::{Service, all};
use std::fs;
use std::process::Command;

/// Two class loaders have a runtime each, as in an application server: each joins the service by
/// itself, and the trace has the messages of both.
#[test]
fn runtimes_of_two_class_loaders_join_by_themselves() {
    let Some(service) = Service::start() else { return };
    let Some(mut child) = service.child("count=300 threads=2 size=20", "two") else { return };
    let session = service.session(&all());
    child.tell("enabled");
    child.tell("second");
    child.tell("log");
    let names = service.consumer().data_sources().expect("ask the service");
    assert_eq!(names.iter().filter(|name| *name == "android.protolog").count(), 2, "{names:?}");
    let threads = "protolog-conn,protolog-conn,protolog-fwd,protolog-fwd";
    assert_eq!(child.tell("threads"), threads);
    let trace = service.stop(session);
    // One leaves, and the other one stays.
    child.tell("leave");
    assert_eq!(child.tell("threads"), "protolog-conn,protolog-fwd");
    let second: Vec<_> = (0..100).map(|at| format!("{at} of the second runtime")).collect();
    trace.check(&[child.end(), second]);
}

/// A process that the program starts has no copy of the connection, nor does one keep it open that
/// outlives the program, as a daemon does.
#[test]
fn processes_that_a_program_starts_have_no_connection() {
    let Some(service) = Service::start() else { return };
    let Some(mut child) = service.child("", "starts") else { return };
    child.tell("connected");
    let started = child.tell("start 60");
    let files = fs::read_dir(format!("/proc/{started}/fd")).expect("its files");
    let files = files.map(|file| fs::read_link(file.expect("a file").path()).unwrap_or_default());
    let sockets = files.filter(|path| path.to_string_lossy().starts_with("socket:"));
    assert_eq!(sockets.collect::<Vec<_>>(), Vec::<std::path::PathBuf>::new());
    child.kill();
    service.wait_for_ends();
    let killed = Command::new("kill").args(["-s", "KILL", &started]).status();
    assert!(killed.expect("run kill").success(), "it has outlived the program");
}

/// A wrapper that makes a daemon of the program changes nothing.
#[test]
fn a_program_with_a_session_of_processes_of_its_own_is_recorded() {
    let Some(service) = Service::start() else { return };
    let Some(java) = protolog_testkit::java() else { return };
    let mut wrapped = Command::new("setsid");
    wrapped.args(["--wait", "nohup"]).arg(java.get_program()).args(java.get_args());
    let (socket, logged) = (service.0.producers(), service.path("daemon"));
    let socket = socket.to_str().expect("UTF-8");
    let job = "count=100 size=20";
    let Some(mut child) = RunningChild::start_by(wrapped, socket, &[], job, &logged) else {
        return;
    };
    let session = service.session(&all());
    child.tell("enabled");
    child.tell("log");
    let trace = service.stop(session);
    trace.check(&[child.end()]);
}
