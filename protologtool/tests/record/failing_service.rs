//! A service that is killed or stands still while it is recorded: what came before is kept.

use super::{lines, program_of, program_of_kind, start, tool};
use protolog_testkit::{TracingService, run_any, wait_until};
use std::fs;
use std::io::Read;
use std::process::{Child, Command, Stdio};

/// Sends a signal.
fn signal(program: &Child, name: &str) {
    let kill = Command::new("kill").args([name, &program.id().to_string()]).status();
    assert!(kill.expect("run kill").success());
}

/// Waits for the end of a recording, whose exit code is `code`. Returns its errors.
#[track_caller]
fn errors(recording: Child, code: i32) -> String {
    let output = recording.wait_with_output().expect("wait for it");
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(code), "{errors}");
    errors
}

/// The ticks that a trace has, which are those from its first one on.
#[track_caller]
fn ticks(service: &TracingService, trace: &str) -> usize {
    let lines = lines(service, trace);
    let number = |line: &String| line.split_once(": tick ").and_then(|(_, it)| it.parse().ok());
    let ticks: Vec<u64> = lines.iter().filter_map(number).collect();
    let first = *ticks.first().expect("a tick");
    assert!(ticks.iter().copied().eq(first..first + ticks.len() as u64), "{ticks:?}");
    ticks.len()
}

#[test]
fn a_service_that_has_sent_nothing_ends_the_recording() {
    let Some(mut service) = TracingService::start() else { return };
    let recording = start(&service);
    service.kill();
    let error = errors(recording, 2);
    assert!(error.contains("closed the connection") && error.contains("help: "), "{error}");

    service.restart();
    let recording = start(&service);
    service.signal("STOP");
    signal(&recording, "-INT");
    let error = errors(recording, 2);
    service.signal("CONT");
    assert!(error.contains("did not answer in time"), "{error}");
    assert!(!service.dir.path().join("new.pftrace").exists());
}

#[test]
fn a_file_has_what_a_service_sent_before_it_died() {
    let Some(mut service) = TracingService::start() else { return };
    let mut program = program_of_kind(&service, "much");
    let mut to_file = tool(&service, &["record", "--perfetto", "-o", "new.pftrace"]);
    to_file.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let recording = to_file.spawn().expect("start to record");
    wait_until("something is written", || bytes_of_files(&recording) > 0);
    service.kill();
    let warning = errors(recording, 3);
    assert!(
        warning.starts_with(
            "warning: the trace was cut: the service closed the connection; it has what came \
             before\nhelp: "
        ),
        "{warning}"
    );
    // Some were overwritten in the service's buffer, perhaps.
    let output = run_any(&mut tool(&service, &["read-log", "new.pftrace"]));
    assert!(output.stdout.matches(": tick ").count() > 10, "{}", output.stderr);
    drop(program.stdin.take());
    program.wait().expect("wait for it");
}

#[test]
fn a_pipe_has_what_a_service_sent_before_it_stood_still() {
    let Some(service) = TracingService::start() else { return };
    let mut program = program_of(&service);
    let mut to_pipe = tool(&service, &["record", "--perfetto", "-o", "-"]);
    to_pipe.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut recording = to_pipe.spawn().expect("start to record");
    let mut pipe = recording.stdout.take().expect("a pipe");
    let mut trace = vec![0; 2000];
    pipe.read_exact(&mut trace).expect("the begin of a trace");
    service.signal("STOP");
    signal(&recording, "-INT");
    pipe.read_to_end(&mut trace).expect("the rest");
    let warning = errors(recording, 3);
    service.signal("CONT");
    assert!(warning.contains("did not answer in time; it has what came before"), "{warning}");
    fs::write(service.dir.path().join("piped.pftrace"), trace).expect("write the trace");
    assert!(ticks(&service, "piped.pftrace") > 10);
    drop(program.stdin.take());
    program.wait().expect("wait for it");
}

/// The bytes of the files that a program has open.
fn bytes_of_files(program: &Child) -> u64 {
    let Ok(open) = fs::read_dir(format!("/proc/{}/fd", program.id())) else { return 0 };
    let files = open.flatten().filter_map(|it| fs::metadata(it.path()).ok());
    files.filter(fs::Metadata::is_file).map(|it| it.len()).sum()
}
