//! What a recording keeps that is killed, and one whose disk is full.

use super::{lines, program_of, program_of_kind, record, tool};
use protolog_testkit::{TracingService, run_any, skip, wait_until};
use protozero::Reader;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

/// The rounds of killing; `PROTOLOG_KILL_ROUNDS` sets them.
fn rounds() -> usize {
    std::env::var("PROTOLOG_KILL_ROUNDS").ok().and_then(|it| it.parse().ok()).unwrap_or(4)
}

/// Starts to record into `new.pftrace`.
fn start(service: &TracingService) -> Child {
    let mut tool = tool(service, &["record", "--perfetto", "-o", "new.pftrace"]);
    // `env` becomes the tool, so what is killed is this.
    tool.stderr(Stdio::piped()).spawn().expect("start to record")
}

/// The numbers of the ticks that a trace has. Half a packet at the end is no error.
#[track_caller]
fn ticks(service: &TracingService, trace: &str) -> Vec<u64> {
    let output = run_any(&mut tool(service, &["read-log", trace, "--group", "Tick"]));
    assert!(matches!(output.code, Some(0 | 3)), "{}", output.stderr);
    let number = |line: &str| line.split_once(": tick ").and_then(|(_, it)| it.parse().ok());
    output.stdout.lines().filter_map(number).collect()
}

#[track_caller]
fn assert_without_gaps(ticks: &[u64]) {
    let first = *ticks.first().expect("a tick");
    assert!(ticks.iter().copied().eq(first..first + ticks.len() as u64), "{ticks:?}");
}

fn size(path: &Path) -> u64 {
    fs::metadata(path).map_or(0, |it| it.len())
}

#[test]
fn a_recording_that_is_killed_leaves_what_came_before() {
    let Some(service) = TracingService::start() else { return };
    let mut program = program_of(&service);
    let at = |name: &str| service.dir.path().join(name);
    for round in 0..rounds() {
        let mut recording = start(&service);
        wait_until("something is written", || size(&at("new.pftrace.part")) > 0);
        let pause = 1300 + round as u64 * 37 % 1000;
        thread::sleep(Duration::from_millis(pause));
        recording.kill().expect("kill it");
        recording.wait().expect("wait for it");
        assert!(!at("new.pftrace").exists());
        let ticks = ticks(&service, "new.pftrace.part");
        assert_without_gaps(&ticks);
        // One each 5 ms, and more, on a busy machine; the last second may be missing.
        assert!(ticks.len() > 10, "{} ticks in {pause} ms", ticks.len());
        fs::remove_file(at("new.pftrace.part")).expect("remove it");
    }
    drop(program.stdin.take());
    program.wait().expect("wait for it");
}

#[test]
fn the_next_recording_leaves_it_alone_and_says_where_it_is() {
    let Some(service) = TracingService::start() else { return };
    let mut program = program_of(&service);
    let at = |name: &str| service.dir.path().join(name);
    let mut killed = start(&service);
    wait_until("something is written", || size(&at("new.pftrace.part")) > 0);
    // While it runs, another one has a file of its own.
    let output = record(&service, &["--time", "1s", "-o", "new.pftrace"]);
    let note = "note: `new.pftrace.part` is being recorded by another program; this one goes to \
                `new-2.pftrace.part` meanwhile\n";
    assert_eq!((output.code, output.stderr.as_str()), (Some(0), note));
    killed.kill().expect("kill it");
    killed.wait().expect("wait for it");
    let left = fs::read(at("new.pftrace.part")).expect("read it");

    let output = record(&service, &["--time", "1s", "-o", "new.pftrace"]);
    let warning = "warning: `new.pftrace.part` is what a recording left that could not end\n\
                   help: read it, and rename or remove it; this recording goes to \
                   `new-2.pftrace.part` meanwhile\n";
    assert_eq!((output.code, output.stderr.as_str()), (Some(0), warning));
    assert!(!lines(&service, "new.pftrace").is_empty());
    assert!(fs::read(at("new.pftrace.part")).expect("read it") == left);
    // Both are logs of the directory.
    assert!(!at("new-2.pftrace.part").exists());
    let output = run_any(&mut tool(&service, &["read-log", "."]));
    assert!(matches!(output.code, Some(0 | 3)), "{}", output.stderr);
    let both = ticks(&service, "new.pftrace.part").len() + ticks(&service, "new.pftrace").len();
    assert_eq!(output.stdout.matches(": tick ").count(), both);
    drop(program.stdin.take());
    program.wait().expect("wait for it");
}

#[test]
fn a_recording_can_be_followed() {
    let Some(service) = TracingService::start() else { return };
    let mut program = program_of(&service);
    let part = service.dir.path().join("new.pftrace.part");
    let mut recording = start(&service);
    wait_until("something is written", || size(&part) > 0);
    let mut follow = tool(&service, &["read-log", "--follow", "new.pftrace.part"]);
    let mut reader =
        follow.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("start to read");
    let lines = BufReader::new(reader.stdout.take().expect("a pipe")).lines();
    let ticks = lines.map(|it| it.expect("a line")).filter(|line| line.contains(": tick "));
    assert_eq!(ticks.take(500).count(), 500);
    reader.kill().expect("kill it");
    reader.wait().expect("wait for it");
    recording.kill().expect("kill it");
    recording.wait().expect("wait for it");
    drop(program.stdin.take());
    program.wait().expect("wait for it");
}

/// It fills no chunk of the service for longer than this waits.
#[test]
fn a_program_that_logs_rarely_is_in_the_trace_meanwhile() {
    let Some(service) = TracingService::start() else { return };
    let mut program = program_of_kind(&service, "rare");
    let part = service.dir.path().join("new.pftrace.part");
    let mut recording = start(&service);
    wait_until("something is written", || size(&part) > 0);
    wait_until("three ticks are there", || ticks(&service, "new.pftrace.part").len() >= 3);
    recording.kill().expect("kill it");
    recording.wait().expect("wait for it");
    drop(program.stdin.take());
    program.wait().expect("wait for it");
}

#[test]
fn a_full_disk_leaves_what_came_before() {
    let Some(service) = TracingService::start() else { return };
    let unshare = ["--user", "--map-root-user", "--mount", "sh", "-c"];
    let made = Command::new("unshare").args(unshare).arg("mount -t tmpfs none /mnt").output();
    if !made.is_ok_and(|made| made.status.success()) {
        return skip("a full disk", "there are no namespaces of users and mounts");
    }
    let mut program = program_of_kind(&service, "much");
    // The trace is read in the namespace, too, where the disk is.
    let script = "mkdir disk && mount -t tmpfs -o size=512k none disk || exit 9
        $0 record --perfetto -o disk/new.pftrace; echo exit code $?
        ls disk; $0 read-log disk/new.pftrace --group Tick > ticks; echo exit code $?
        cp disk/new.pftrace .";
    let mut tool = Command::new("unshare");
    tool.args(unshare).args([script, env!("CARGO_BIN_EXE_protologtool")]);
    tool.env("PERFETTO_CONSUMER_SOCK_NAME", service.consumers()).current_dir(service.dir.path());
    let output = run_any(&mut tool);
    let warning = "warning: the trace was cut: can't write `disk/new.pftrace`: no space left on \
                   device; it has what came before\n\
                   help: make room there, or write it elsewhere\n";
    assert!(output.stderr.starts_with(warning), "{}", output.stderr);
    let printed = output.stdout.strip_prefix("exit code 3\nnew.pftrace\nexit code ");
    assert!(matches!(printed, Some("0\n" | "3\n")), "{} {}", output.stdout, output.stderr);
    let trace = fs::read(service.dir.path().join("new.pftrace")).expect("read it");
    for (number, packet) in Reader::new(&trace).enumerate() {
        packet.unwrap_or_else(|error| panic!("packet {number} is no whole one: {error:?}"));
    }
    let ticks = fs::read_to_string(service.dir.path().join("ticks")).expect("read it");
    assert!(ticks.matches(": tick ").count() > 50, "{ticks}");
    drop(program.stdin.take());
    program.wait().expect("wait for it");
}

#[test]
fn a_trace_that_was_moved_meanwhile_is_not_where_it_grew() {
    let Some(service) = TracingService::start() else { return };
    let mut program = program_of(&service);
    let at = |name: &str| service.dir.path().join(name);
    let mut recording = start(&service);
    wait_until("something is written", || size(&at("new.pftrace.part")) > 0);
    fs::rename(at("new.pftrace.part"), at("moved")).expect("rename it");
    let pid = rustix::process::Pid::from_child(&recording);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).expect("interrupt it");
    let mut said = String::new();
    let mut errors = recording.stderr.take().expect("a pipe");
    std::io::Read::read_to_string(&mut errors, &mut said).expect("text");
    assert_eq!(recording.wait().expect("wait for it").code(), Some(2));
    let expected = "error: can't write `new.pftrace`: what grew, `new.pftrace.part`, was removed \
                    or renamed\n";
    assert!(said.starts_with(expected), "{said}");
    assert!(!at("new.pftrace").exists());
    assert_without_gaps(&ticks(&service, "moved"));
    // A name that has no room for what it ends with until it is complete.
    let long = format!("{}.pftrace", "a".repeat(247));
    let output = record(&service, &["--time", "1s", "-o", &long]);
    assert_eq!((output.code, output.stderr.as_str()), (Some(0), ""));
    assert!(!ticks(&service, &long).is_empty());
    drop(program.stdin.take());
    program.wait().expect("wait for it");
}
