//! `record --perfetto` on the real tracing service, with a program that logs.

mod endless;
mod failing_service;
mod hostile;
mod kept;
mod names;
mod refused;
mod unwritable;

use perfetto_ipc::SessionConfig;
use perfetto_ipc::frame::{Body, Frame, Method};
use protolog_rt::{ProtoLogGroup, d, producer, v};
use protolog_testkit::{Output, TracingService, run_any};
use protozero::Reader;
use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::sync::Barrier;
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
    let Ok(kind) = std::env::var("PROTOLOG_TEST_PROGRAM") else { return };
    producer::connect();
    if kind == "threads" {
        log_on_threads();
        let _ = std::io::stdin().read(&mut [0]);
        return;
    }
    let long = "x".repeat(if kind == "much" { 4000 } else { 0 });
    let pause = Duration::from_millis(if kind == "rare" { 1000 } else { 5 });
    thread::spawn(move || {
        for number in 0_u64.. {
            d!(Log::Tick, "tick %d", number);
            v!(Log::Other, "other %d", number);
            if long.is_empty() {
                thread::sleep(pause);
            } else {
                d!(Log::Tick, "long %s", long.as_str());
            }
        }
    });
    let _ = std::io::stdin().read(&mut [0]);
}

/// The threads of `log_on_threads`, which are there at one time, and the sessions that record each.
const THREADS: usize = 600;
const SESSIONS: usize = 8;

/// Logs once on each, after all sessions have started.
fn log_on_threads() {
    while producer::status().sessions < SESSIONS {
        thread::sleep(Duration::from_millis(1));
    }
    let barrier = Barrier::new(THREADS);
    thread::scope(|scope| {
        for number in 0..THREADS {
            let barrier = &barrier;
            let log = move || {
                d!(Log::Tick, "of thread %d", number as u64);
                barrier.wait();
            };
            thread::Builder::new()
                .stack_size(128 << 10)
                .spawn_scoped(scope, log)
                .expect("a thread");
        }
    });
}

fn program_of(service: &TracingService) -> Child {
    program_of_kind(service, "little")
}

/// A program that logs `rare`ly, `little` or `much`.
fn program_of_kind(service: &TracingService, kind: &str) -> Child {
    start_program(Command::new(std::env::current_exe().expect("this program")), service, kind)
}

/// Starts it by the command that this program's name ends.
fn start_program(mut command: Command, service: &TracingService, kind: &str) -> Child {
    command
        .args(["--exact", "program", "--nocapture"])
        .env("PROTOLOG_TEST_PROGRAM", kind)
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

/// The number of writers of whose chunks a trace has statistics.
fn counted_writers(service: &TracingService, trace: &str) -> usize {
    let mut found = vec![std::fs::read(service.dir.path().join(trace)).expect("the trace")];
    // `packet`, `trace_stats`, `writer_stats`.
    for number in [1, 35, 18] {
        let fields = found.iter().flat_map(|of| Reader::new(of)).map(|it| it.expect("a field"));
        let inner = fields.filter(|field| field.number == number);
        found = inner.map(|field| field.as_bytes().expect("a message").to_vec()).collect();
    }
    found.len()
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
    assert_eq!(counted_writers(&service, "a.pftrace"), 0);
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
    file("bad.pbtx", b"buffers {\n  size_kib: 64\n}\n");
    file("large.pb", &SessionConfig { buffer_kb: u32::MAX, ..SessionConfig::default() }.encode());
    fails(&service, &["-c", "bad.pb"], "`bad.pb`: the configuration is no encoded TraceConfig");
    fails(&service, &["-c", "empty.pb"], "`empty.pb`: the configuration has no buffer");
    fails(&service, &["-c", "text.pbtx"], "`text.pbtx`: the configuration has no buffer");
    fails(&service, &["-c", "bad.pbtx"], "bad.pbtx:2:3: `TraceConfig.BufferConfig` has no field");
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
    start_with(service, &["record", "--perfetto", "--name", "watch", "-o", "new.pftrace"])
}

fn start_with(service: &TracingService, args: &[&str]) -> Child {
    let recording = tool(service, args).stderr(Stdio::piped()).spawn().expect("start to record");
    let end = Instant::now() + Duration::from_secs(30);
    while record(service, &["--clone", "watch", "-o", "clone.pftrace"]).code != Some(0) {
        assert!(Instant::now() < end, "there is nothing to clone");
        thread::sleep(Duration::from_millis(50));
    }
    recording
}

#[test]
fn a_configuration_in_text_is_recorded_as_often_as_it_says() {
    let Some(service) = TracingService::start() else { return };
    let mut program = program_of(&service);
    // A buffer that has room for a part of the trace alone.
    let config = "buffers { size_kb: 64 } duration_ms: 4000\n\
                  write_into_file: true file_write_period_ms: 200 # Read by us.\n\
                  data_sources { config { name: 'android.protolog' protolog_config {\n\
                  group_overrides { group_name: \"Tick\" log_from: PROTOLOG_LEVEL_DEBUG } } } }";
    let path = service.dir.path().join("own.pbtxt");
    std::fs::write(&path, config).expect("write it");
    let output = record(&service, &["-c", "own.pbtxt", "-o", "own.pftrace"]);
    assert_eq!((output.code, output.stderr.as_str()), (Some(0), ""));
    let whole = lines(&service, "own.pftrace").len();
    assert!(whole > 100, "{whole}");
    let limited = format!("{config} max_file_size_bytes: 2000");
    let mut from_input =
        tool(&service, &["record", "--perfetto", "-c", "-", "-o", "small.pftrace"]);
    let mut recording = from_input.stdin(Stdio::piped()).spawn().expect("start to record");
    let mut input = recording.stdin.take().expect("a pipe");
    std::io::Write::write_all(&mut input, limited.as_bytes()).expect("write the configuration");
    drop(input);
    let begun = Instant::now();
    assert!(recording.wait().expect("wait for it").success());
    assert!(begun.elapsed() < Duration::from_secs(3), "it ends when the file is full");
    let size = std::fs::metadata(service.dir.path().join("small.pftrace")).expect("a file").len();
    assert!((500..=2000).contains(&size), "{size}");
    drop(program.stdin.take());
    program.wait().expect("wait for it");
}

#[test]
fn signals_that_end_a_program_complete_the_trace() {
    let Some(service) = TracingService::start() else { return };
    let mut program = program_of(&service);
    for signal in ["TERM", "HUP"] {
        let recording = start(&service);
        thread::sleep(Duration::from_millis(300));
        let kill = Command::new("kill").args(["-s", signal, &recording.id().to_string()]).status();
        assert!(kill.expect("run kill").success());
        let output = recording.wait_with_output().expect("wait for it");
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
        assert!(!lines(&service, "new.pftrace").is_empty());
    }
    drop(program.stdin.take());
    program.wait().expect("wait for it");
}

#[test]
fn the_longest_time_is_no_error() {
    let Some(service) = TracingService::start() else { return };
    let args = [
        "record",
        "--perfetto",
        "--name",
        "watch",
        "--time",
        "213503982334601d",
        "-o",
        "new.pftrace",
    ];
    let recording = start_with(&service, &args);
    let kill = Command::new("kill").args(["-INT", &recording.id().to_string()]).status();
    assert!(kill.expect("run kill").success());
    let output = recording.wait_with_output().expect("wait for it");
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn a_service_that_accepts_nothing_is_not_waited_for() {
    let dir = protolog_testkit::temp_dir_for_sockets();
    let socket = dir.path().join("consumer");
    let kind = rustix::net::SocketType::STREAM;
    let listener =
        rustix::net::socket(rustix::net::AddressFamily::UNIX, kind, None).expect("a socket");
    let address = rustix::net::SocketAddrUnix::new(&socket).expect("an address");
    rustix::net::bind(&listener, &address).expect("bind it");
    rustix::net::listen(&listener, 0).expect("listen");
    let _waiting = std::os::unix::net::UnixStream::connect(&socket).expect("the queue's one place");
    let mut tool = Command::new("timeout");
    tool.args(["60", env!("CARGO_BIN_EXE_protologtool"), "record", "--perfetto", "-o"])
        .arg(dir.path().join("new.pftrace"))
        .env("PERFETTO_CONSUMER_SOCK_NAME", &socket);
    let output = run_any(&mut tool);
    assert_eq!(output.code, Some(2), "{}", output.stderr);
    assert!(output.stderr.contains(": it accepts no connection"), "{}", output.stderr);
    assert!(output.stderr.contains("help: "), "{}", output.stderr);
}

/// A reason of the service's is printed in one line, so that it can't pass for advice.
#[test]
fn what_a_service_says_is_no_advice() {
    let dir = protolog_testkit::temp_dir_for_sockets();
    let socket = dir.path().join("consumer");
    let listener = std::os::unix::net::UnixListener::bind(&socket).expect("listen");
    let service = thread::spawn(move || {
        let (mut consumer, _) = listener.accept().expect("a consumer");
        let methods = vec![Method { id: 1, name: "EnableTracing" }];
        let bound = Body::BindReply { success: true, service_id: 1, methods };
        let reason = Body::RequestError("\u{1b}[2Jno\nhelp: run `reboot`");
        for (request_id, body) in (1..).zip([bound, reason]) {
            let _ = consumer.read(&mut [0; 4096]);
            let frame = Frame { request_id, body }.encode().expect("a frame");
            std::io::Write::write_all(&mut consumer, &frame).expect("answer");
        }
        consumer
    });
    let mut tool = Command::new("timeout");
    tool.args(["60", env!("CARGO_BIN_EXE_protologtool"), "record", "--perfetto", "-o"])
        .arg(dir.path().join("new.pftrace"))
        .env("PERFETTO_CONSUMER_SOCK_NAME", &socket);
    let output = run_any(&mut tool);
    let expected = "error: the service refused: \\u{1b}[2Jno\\nhelp: run `reboot`\n\
                    help: change what the service names, and try again\n";
    assert_eq!((output.code, output.stderr.as_str()), (Some(2), expected));
    drop(service.join());
}

/// The most memory that a process has had, in KiB.
fn peak_memory(process: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).expect("a process");
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("its peak");
    peak.trim().trim_end_matches(" kB").parse().expect("a number")
}

#[test]
fn a_slow_reader_of_a_pipe_costs_no_memory_and_gets_a_whole_trace() {
    let Some(service) = TracingService::start() else { return };
    let mut program = program_of_kind(&service, "much");
    let fifo = service.dir.path().join("fifo");
    let made = Command::new("mkfifo").arg(&fifo).status();
    assert!(made.expect("run mkfifo").success());
    let args = ["record", "--perfetto", "--buffer", "16", "-o", "fifo"];
    let recording = tool(&service, &args).stderr(Stdio::piped()).spawn().expect("start to record");
    let mut reader = std::fs::File::open(&fifo).expect("open the pipe");
    thread::sleep(Duration::from_millis(500));
    let before = peak_memory(recording.id());
    // As much is logged as the service has time to send, so that a read has no end.
    thread::sleep(Duration::from_secs(8));
    let peak = peak_memory(recording.id());
    let kill = Command::new("kill").args(["-TERM", &recording.id().to_string()]).status();
    assert!(kill.expect("run kill").success());
    let mut trace = Vec::new();
    reader.read_to_end(&mut trace).expect("read the pipe");
    let output = recording.wait_with_output().expect("wait for it");
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(trace.len() > 8 << 20, "{}", trace.len());
    assert!(peak - before < 4 << 10, "{} KiB for {} bytes", peak - before, trace.len());
    std::fs::write(service.dir.path().join("piped.pftrace"), &trace).expect("write it");
    let output = run_any(&mut tool(&service, &["read-log", "piped.pftrace", "--count"]));
    // Whether the ring has lost some or not: the trace is whole, and its end is there.
    assert!(matches!(output.code, Some(0 | 3)), "{} {}", output.stdout, output.stderr);
    drop(program.stdin.take());
    program.wait().expect("wait for it");
}

#[test]
fn a_session_of_programs_that_log_without_a_pause_ends_on_time() {
    let Some(service) = TracingService::start() else { return };
    let mut program = program_of_kind(&service, "much");
    let begun = Instant::now();
    let output = record(&service, &["--time", "4s", "--buffer", "4", "-o", "new.pftrace"]);
    assert_eq!(output.code, Some(0), "{}", output.stderr);
    assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", begun.elapsed());
    drop(program.stdin.take());
    program.wait().expect("wait for it");
}

#[test]
fn programs_of_two_network_namespaces_are_in_one_trace() {
    let Some(service) = TracingService::start() else { return };
    // A Unix socket leads from one to the other, as into a container that has its directory.
    let own = ["--net", "--user", "--map-root-user"];
    let flags = if rustix::process::geteuid().is_root() { &own[..1] } else { &own[..] };
    let made = Command::new("unshare").args(flags).arg("true").output();
    if !made.is_ok_and(|made| made.status.success()) {
        return protolog_testkit::skip("network namespaces", "the system has none for us");
    }
    let mut there = Command::new("unshare");
    there.args(flags).arg(std::env::current_exe().expect("this program"));
    let mut programs = [program_of(&service), start_program(there, &service, "little")];
    let output = record(&service, &["--time", "3s", "-o", "both.pftrace"]);
    assert_eq!((output.code, output.stderr.as_str()), (Some(0), ""));
    let output = run_any(&mut tool(&service, &["read-log", "both.pftrace", "--format", "json"]));
    for program in &mut programs {
        // The id that the service knows it by.
        let process = format!("\"pid\":{},", program.id());
        assert!(output.stdout.contains(&process), "{process} {}", output.stdout);
        drop(program.stdin.take());
        program.wait().expect("wait for it");
    }
}

/// The service sends statistics of all writers in one frame, however long that is.
#[test]
fn a_session_of_thousands_of_writers_is_recorded() {
    let Some(service) = TracingService::start() else { return };
    let source = "data_sources { config { name: 'android.protolog'\n\
                  protolog_config { tracing_mode: ENABLE_ALL } } }\n";
    let config =
        format!("buffers {{ size_kb: 65536 }} duration_ms: 8000\n{}", source.repeat(SESSIONS));
    std::fs::write(service.dir.path().join("own.txtpb"), config).expect("write it");
    let mut program = program_of_kind(&service, "threads");
    let output = record(&service, &["-c", "own.txtpb", "-o", "own.pftrace"]);
    assert_eq!((output.code, output.stderr.as_str()), (Some(0), ""));
    assert!(counted_writers(&service, "own.pftrace") > THREADS * SESSIONS);
    let found = lines(&service, "own.pftrace");
    let found = found.iter().filter(|line| line.contains(": of thread ")).count();
    assert_eq!(found, THREADS * SESSIONS, "messages");
    drop(program.stdin.take());
    program.wait().expect("wait for it");
}

#[test]
fn a_reader_that_leaves_ends_the_recording() {
    let Some(service) = TracingService::start() else { return };
    let mut program = program_of(&service);
    let mut to_pipe = tool(&service, &["record", "--perfetto", "-o", "-"]);
    let mut recording = to_pipe.stdout(Stdio::piped()).spawn().expect("start to record");
    let mut output = recording.stdout.take().expect("a pipe");
    output.read_exact(&mut [0; 100]).expect("the begin of a trace");
    drop(output);
    assert!(recording.wait().expect("wait for it").success());
    drop(program.stdin.take());
    program.wait().expect("wait for it");
}
