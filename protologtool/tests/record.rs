//! `record --perfetto` on the real tracing service, with a program that logs.

use perfetto_ipc::SessionConfig;
use protolog_rt::{ProtoLogGroup, d, producer, v};
use protolog_testkit::{Output, TracingService, run_any};
use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

#[derive(ProtoLogGroup)]
enum Log {
    Tick,
    Other,
}

/// The program that logs, until its standard input ends: this test program, run again. Does nothing
/// in the test run itself.
#[test]
fn program() {
    if std::env::var_os("PROTOLOG_TEST_PROGRAM").is_none() {
        return;
    }
    producer::connect();
    thread::spawn(|| {
        for number in 0_u64.. {
            d!(Log::Tick, "tick %d", number);
            v!(Log::Other, "other %d", number);
            thread::sleep(Duration::from_millis(5));
        }
    });
    let _ = std::io::stdin().read(&mut [0]);
}

fn program_of(service: &TracingService) -> Child {
    Command::new(std::env::current_exe().expect("this program"))
        .args(["--exact", "program", "--nocapture"])
        .env("PROTOLOG_TEST_PROGRAM", "1")
        .env("PERFETTO_PRODUCER_SOCK_NAME", service.producers())
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .expect("start the program")
}

fn tool(service: &TracingService, args: &[&str]) -> Command {
    // Where whoever runs the tests ignores Ctrl-C, as `nohup` does, the tool would, too.
    let mut tool = Command::new("env");
    tool.args(["--default-signal=HUP,INT,TERM", env!("CARGO_BIN_EXE_protologtool")])
        .args(args)
        .env("PERFETTO_CONSUMER_SOCK_NAME", service.consumers())
        .current_dir(service.dir.path());
    tool
}

fn record(service: &TracingService, args: &[&str]) -> Output {
    run_any(&mut tool(service, &[&["record", "--perfetto"], args].concat()))
}

/// The lines of a trace.
#[track_caller]
fn lines(service: &TracingService, trace: &str) -> Vec<String> {
    let output = run_any(&mut tool(service, &["read-log", trace]));
    assert_eq!(output.code, Some(0), "{}", output.stderr);
    output.stdout.lines().map(str::to_owned).collect()
}

#[test]
fn a_session_is_recorded() {
    let Some(service) = TracingService::start() else { return };
    let mut program = program_of(&service);
    let output = record(&service, &["--time", "2s", "--group", "Tick=debug", "-o", "a.pftrace"]);
    assert_eq!((output.code, output.stderr.as_str()), (Some(0), ""));
    let lines = lines(&service, "a.pftrace");
    assert!(lines.len() > 10, "{lines:?}");
    let is_tick = |line: &String| line.contains(" D Tick") && line.contains(": tick ");
    assert!(lines.iter().all(is_tick), "{lines:?}");
    drop(program.stdin.take());
    program.wait().expect("wait for it");
}

#[test]
fn ctrl_c_completes_the_trace_and_a_clone_leaves_it_running() {
    let Some(service) = TracingService::start() else { return };
    let mut program = program_of(&service);
    let args = ["record", "--perfetto", "--name", "watch", "-o", "watch.pftrace"];
    let mut recording = tool(&service, &args).spawn().expect("start to record");
    let end = Instant::now() + Duration::from_secs(30);
    while record(&service, &["--clone", "watch", "-o", "bug.pftrace"]).code != Some(0)
        || lines(&service, "bug.pftrace").is_empty()
    {
        assert!(Instant::now() < end, "there is nothing to clone");
        thread::sleep(Duration::from_millis(100));
    }
    assert_eq!(recording.try_wait().expect("ask for it"), None, "it runs on");
    let kill = Command::new("kill").args(["-INT", &recording.id().to_string()]).status();
    assert!(kill.expect("run kill").success());
    assert!(recording.wait().expect("wait for it").success());
    let (bug, watch) = (lines(&service, "bug.pftrace"), lines(&service, "watch.pftrace"));
    assert!(watch.len() > bug.len(), "{} {}", watch.len(), bug.len());
    assert!(watch.iter().any(|line| line.contains(": other ")), "{watch:?}");
    drop(program.stdin.take());
    program.wait().expect("wait for it");
}

/// Runs the tool, and expects an error with advice, and no file.
#[track_caller]
fn fails(service: &TracingService, args: &[&str], error: &str) {
    let output = record(service, &[args, &["-o", "new.pftrace"]].concat());
    assert_eq!(output.code, Some(2), "{}", output.stderr);
    assert!(output.stderr.starts_with(&format!("error: {error}")), "{}", output.stderr);
    assert!(output.stderr.contains("help: "), "{}", output.stderr);
    assert!(!service.dir.path().join("new.pftrace").exists());
}

#[test]
fn what_the_service_refuses_writes_nothing() {
    let Some(mut service) = TracingService::start() else { return };
    let file = |name: &str, bytes: &[u8]| {
        std::fs::write(service.dir.path().join(name), bytes).expect("write it");
    };
    // The service takes each of the first three for a session that records nothing.
    file("bad.pb", &[0x12, 0x7f]);
    file("empty.pb", &[]);
    file("text.pbtx", b"buffers { size_kb: 64 }");
    file("large.pb", &SessionConfig { buffer_kb: u32::MAX, ..SessionConfig::default() }.encode());
    fails(&service, &["-c", "bad.pb"], "`bad.pb`: the configuration is no encoded TraceConfig");
    fails(&service, &["-c", "empty.pb"], "`empty.pb`: the configuration has no buffer");
    fails(&service, &["-c", "text.pbtx"], "`text.pbtx`: the configuration is text");
    fails(&service, &["-c", "large.pb"], "the service refused: ");
    fails(&service, &["--clone", "no such session"], "the service cloned no session: ");
    service.kill();
    fails(&service, &[], "can't connect to the tracing service");
}

#[test]
fn a_configuration_of_ones_own_is_recorded_for_a_time() {
    let Some(service) = TracingService::start() else { return };
    let mut program = program_of(&service);
    let config = SessionConfig {
        buffer_kb: 1024,
        groups: vec![("Tick".into(), Some(1))],
        duration: Some(Duration::from_secs(2)),
        ..SessionConfig::default()
    };
    std::fs::write(service.dir.path().join("own.pb"), config.encode()).expect("write it");
    // It ends by itself, and before that after a time.
    for (args, least) in [(&["-c", "own.pb"][..], 2), (&["-c", "own.pb", "--time", "1s"], 1)] {
        let begin = Instant::now();
        let output = record(&service, &[args, &["-o", "own.pftrace"]].concat());
        assert_eq!((output.code, output.stderr.as_str()), (Some(0), ""));
        assert!(begin.elapsed() >= Duration::from_secs(least));
        assert!(lines(&service, "own.pftrace").len() > 10);
    }
    drop(program.stdin.take());
    program.wait().expect("wait for it");
}

/// Starts a recording, and waits until its session is there.
fn start(service: &TracingService) -> Child {
    let args = ["record", "--perfetto", "--name", "watch", "-o", "new.pftrace"];
    let recording = tool(service, &args).stderr(Stdio::piped()).spawn().expect("start to record");
    let end = Instant::now() + Duration::from_secs(30);
    while record(service, &["--clone", "watch", "-o", "clone.pftrace"]).code != Some(0) {
        assert!(Instant::now() < end, "there is nothing to clone");
        thread::sleep(Duration::from_millis(50));
    }
    recording
}

#[test]
fn a_service_that_goes_away_or_stands_still_ends_the_recording() {
    let Some(mut service) = TracingService::start() else { return };
    let recording = start(&service);
    service.kill();
    let output = recording.wait_with_output().expect("wait for it");
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{error}");
    assert!(error.contains("closed the connection") && error.contains("help: "), "{error}");

    service.restart();
    let recording = start(&service);
    service.signal("STOP");
    let kill = Command::new("kill").args(["-INT", &recording.id().to_string()]).status();
    assert!(kill.expect("run kill").success());
    let output = recording.wait_with_output().expect("wait for it");
    service.signal("CONT");
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{error}");
    assert!(error.contains("did not answer in time"), "{error}");
    assert!(!service.dir.path().join("new.pftrace").exists());
}
