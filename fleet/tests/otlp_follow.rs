//! Logs are sent as they are written, and each message at least once, whoever is killed: the
//! program, the sender, the collector.

mod common;

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use common::sink::{Sidecar, Sink, uids};
use common::{Rotation, fleet, lines_of, trace, with_mounts};
use protolog_rt::{ProtoLogGroup, Session, i};
use protolog_testkit::temp_dir;
use serde_json::Value;

#[derive(ProtoLogGroup)]
enum FollowLog {
    Work,
}

/// The program of the tests: run as `PROGRAM=kind,DIR`, this test logs until it is killed.
#[test]
fn program() {
    let Ok(task) = std::env::var("PROTOLOG_FLEET_PROGRAM") else { return };
    let (kind, dir) = task.split_once(',').unwrap();
    let path = Path::new(dir).join("app.pftrace");
    let builder = Session::builder().enable_all();
    let session = match kind {
        "segments" => builder.file(&path).segment_bytes(20_000).start(),
        "ring" => builder.record().start(),
        _ => builder.file(&path).start(),
    };
    let session = session.unwrap();
    if let Some(recording) = session.recording().filter(|_| kind == "ring") {
        println!("logged: {}", recording.display());
    }
    let count = 3_000;
    for round in 0..count {
        i!(FollowLog::Work, "work %d of %s", round, kind);
        if round % 20 == 0 {
            thread::sleep(Duration::from_millis(10));
        }
    }
    if kind == "killed" || kind == "ring" {
        println!("logged: all");
        thread::sleep(Duration::from_secs(60));
    }
    session.stop().unwrap();
}

/// Starts the program.
fn start(kind: &str, dir: &Path) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["program", "--exact", "--nocapture"]);
    command.env("PROTOLOG_FLEET_PROGRAM", format!("{kind},{}", dir.display()));
    command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap()
}

/// Waits until it says that it has logged, and what.
fn wait_until_logged(program: &mut Child) -> String {
    let output = BufReader::new(program.stdout.take().unwrap());
    let logged =
        |line: io::Result<String>| Some(line.unwrap().split_once("logged: ")?.1.to_owned());
    output.lines().find_map(logged).unwrap()
}

/// The numbers in the messages, each once.
fn works(records: &[Value]) -> std::collections::BTreeSet<i64> {
    let number = |it: &Value| it["attributes"]["log.record.template.parameter.0"].as_i64();
    records.iter().filter_map(number).collect()
}

#[test]
fn a_trace_that_grows_is_sent_by_senders_that_are_killed() {
    let Some(mut sink) = Sink::start("") else { return };
    let dir = temp_dir();
    let whole = trace();
    let mut file = File::create(dir.path().join("app.pftrace")).unwrap();
    let url = sink.url();
    let args = [url.as_str(), "--follow", "--state", "state.json", "app.pftrace"];
    for part in whole.chunks(whole.len() / 5) {
        let mut sender = Sidecar::start(&args, dir.path());
        file.write_all(part).unwrap();
        thread::sleep(Duration::from_millis(500));
        sender.kill();
    }
    let output = fleet(&["otlp", &url, "--state", "state.json", "app.pftrace"], dir.path());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let lines = lines_of(trace()).unwrap();
    let is_item =
        |it: &&str| ["\"message\",", "\"loss\","].iter().any(|kind| it[..20].contains(kind));
    let count = lines.lines().filter(is_item).count();
    sink.wait_for(count);
    assert_eq!(uids(&sink.finish()).len(), count);
}

#[test]
fn a_collector_that_is_killed_gets_everything_when_it_is_back() {
    let Some(mut sink) = Sink::start("") else { return };
    let dir = temp_dir();
    let (url, port) = (sink.url(), sink.port());
    let mut sender = Sidecar::start(&[&url, "--follow", "--state", "s", "."], dir.path());
    let mut program = start("file", dir.path());
    thread::sleep(Duration::from_millis(900));
    sink.kill();
    let mut records = sink.finish();
    thread::sleep(Duration::from_millis(600));
    let mut sink = Sink::start_at("", "", port).unwrap();
    assert!(program.wait().unwrap().success());
    let missing = 3_000 - works(&records).len();
    records.extend_from_slice(sink.wait_for(missing));
    assert!(sender.is_running());
    sender.kill();
    records.extend(sink.finish());
    assert_eq!(works(&records).len(), 3_000);
    assert_eq!(uids(&records).len(), 3_000);
}

#[test]
fn the_last_messages_of_a_program_that_is_killed_are_sent() {
    let Some(mut sink) = Sink::start("") else { return };
    let dir = temp_dir();
    let _sender = Sidecar::start(&[&sink.url(), "--follow", "."], dir.path());
    let mut program = start("killed", dir.path());
    assert_eq!(wait_until_logged(&mut program), "all");
    program.kill().unwrap();
    program.wait().unwrap();
    sink.wait_for(3_000);
    let records = sink.finish();
    assert_eq!((works(&records).len(), records.len()), (3_000, 3_000));
}

#[test]
fn a_sender_that_is_told_to_end_sends_what_there_is() {
    let Some(sink) = Sink::start("busy=1") else { return };
    let dir = temp_dir();
    let mut sender = Sidecar::start(&[&sink.url(), "--follow", "."], dir.path());
    thread::sleep(Duration::from_millis(500));
    assert!(start("file", dir.path()).wait().unwrap().success());
    assert_eq!(sender.terminate(), Some(0));
    assert_eq!(works(&sink.finish()).len(), 3_000);
    // Without a collector it ends all the same.
    let mut sender = Sidecar::start(&["http://127.0.0.1:9", "--follow", "."], dir.path());
    thread::sleep(Duration::from_millis(700));
    assert_eq!(sender.terminate(), Some(2));
}

/// The bytes that a process has read so far.
fn bytes_read(pid: u32) -> u64 {
    let text = fs::read_to_string(format!("/proc/{pid}/io")).unwrap();
    text.lines().find_map(|line| line.strip_prefix("rchar: ")).unwrap().parse().unwrap()
}

#[test]
fn a_path_that_can_t_be_looked_at_is_named_once() {
    let dir = temp_dir();
    std::os::unix::fs::symlink("app.pftrace", dir.path().join("app.pftrace")).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_protologtool-fleet"));
    command.args(["otlp", "http://127.0.0.1:9", "--follow", "app.pftrace"]);
    command.current_dir(dir.path()).stdout(Stdio::null()).stderr(Stdio::piped());
    let sender = command.spawn().unwrap();
    thread::sleep(Duration::from_millis(1_200));
    let pid = sender.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
    let output = sender.wait_with_output().unwrap();
    let errors = String::from_utf8(output.stderr).unwrap();
    assert_eq!(errors.matches("warning: can't read `app.pftrace`").count(), 1, "{errors}");
    assert_eq!(output.status.code(), Some(3));
}

#[test]
fn a_trace_that_is_compressed_meanwhile_is_sent_once() {
    let Some(mut sink) = Sink::start("") else { return };
    let dir = temp_dir();
    let path = dir.path().join("app.pftrace");
    fs::write(&path, trace()).unwrap();
    let args = ["otlp", &sink.url(), "--state", "s", "."];
    assert!(fleet(&args, dir.path()).status.success());
    let mut gzip = Command::new("gzip");
    assert!(gzip.arg(&path).status().unwrap().success());
    let output = fleet(&args, dir.path());
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "0 records sent\n");
    // One that was not sent yet, and is being written.
    let compressed = fs::read(dir.path().join("app.pftrace.gz")).unwrap();
    let (new, count) = (temp_dir(), uids(&sink.finish()).len());
    sink = Sink::start("").unwrap();
    let _sender = Sidecar::start(&[&sink.url(), "--follow", "."], new.path());
    let mut file = File::create(new.path().join("app.pftrace.gz")).unwrap();
    for part in compressed.chunks(compressed.len() / 4) {
        file.write_all(part).unwrap();
        thread::sleep(Duration::from_millis(500));
    }
    sink.wait_for(count);
    let records = sink.finish();
    assert_eq!((uids(&records).len(), records.len()), (count, count));
}

#[test]
fn segments_that_rotate_are_sent_by_runs_one_after_another() {
    let Some(sink) = Sink::start("") else { return };
    let dir = temp_dir();
    fs::create_dir(dir.path().join("logs")).unwrap();
    let mut rotation = Rotation::start(&dir.path().join("logs"));
    let args = ["otlp", &sink.url(), "--state", "s", "--metrics", "logs"];
    for round in 0..20 {
        let output = fleet(&args, dir.path());
        let errors = String::from_utf8(output.stderr).unwrap();
        assert!(matches!(output.status.code(), Some(0 | 3)), "{round}: {errors}");
    }
    rotation.end();
    assert!(fleet(&args, dir.path()).status.success());
    let lines = sink.finish();
    let (points, records): (Vec<Value>, Vec<Value>) =
        lines.into_iter().partition(|it| it["metric"].is_string());
    let rotated = |it: &&Value| it["body"].as_str().unwrap().starts_with("rotated ");
    let rotated: Vec<Value> = records.iter().filter(rotated).cloned().collect();
    assert!(rotated.len() > 500, "{}", rotated.len());
    assert_eq!(works(&rotated).len(), rotated.len());
    // Counters have what was sent, though its segments were removed, and never got less.
    let of_rotated = points.iter().filter(|it| it["attributes"]["template"] == "rotated %d");
    let counts: Vec<u64> = of_rotated.filter_map(|it| it["value"].as_u64()).collect();
    assert!(counts.is_sorted(), "{counts:?}");
    assert_eq!(*counts.last().unwrap(), rotated.len() as u64);
}

#[test]
fn a_sender_goes_on_while_the_disk_is_full() {
    let Some(mut sink) = Sink::start("") else { return };
    let dir = temp_dir();
    fs::write(dir.path().join("app.pftrace"), trace()).unwrap();
    let script = "mount -t tmpfs -o size=64k none disk
        head -c 1M /dev/zero > disk/filler
        exec $0 otlp $1 --follow --state disk/s --metrics-file disk/m app.pftrace";
    let Some(mut command) = with_mounts(script, dir.path()) else { return };
    command.arg(sink.url()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut sender = command.spawn().unwrap();
    let lines = lines_of(trace()).unwrap();
    sink.wait_for(lines.matches("{\"type\":\"message\"").count());
    thread::sleep(Duration::from_millis(1_500));
    assert!(sender.try_wait().unwrap().is_none());
    // It is in its namespace, as which this test sees its files.
    let dir_inside = dir.path().strip_prefix("/").unwrap().join("disk");
    let disk = Path::new("/proc").join(sender.id().to_string()).join("root").join(dir_inside);
    assert!(!disk.join("s").exists() && !disk.join("m").exists());
    fs::remove_file(disk.join("filler")).unwrap();
    thread::sleep(Duration::from_millis(1_500));
    let state = fs::read_to_string(disk.join("s")).unwrap();
    assert!(state.contains(&format!("\"bytes\":{}", trace().len())), "{state}");
    assert!(fs::read_to_string(disk.join("m")).unwrap().contains("protolog_messages_total{"));
    let pid = sender.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
    let output = sender.wait_with_output().unwrap();
    let errors = String::from_utf8(output.stderr).unwrap();
    for file in ["s", "s.metrics", "m"] {
        let warning = format!("warning: can't write `disk/{file}`: No space left on device");
        assert_eq!(errors.matches(&warning).count(), 1, "{errors}");
    }
    assert_eq!(output.status.code(), Some(0), "{errors}");
}

#[test]
fn a_link_to_a_trace_is_read_once() {
    let Some(mut sink) = Sink::start("") else { return };
    let (dir, other) = (temp_dir(), temp_dir());
    fs::write(other.path().join("app.pftrace"), trace()).unwrap();
    std::os::unix::fs::symlink(other.path().join("app.pftrace"), dir.path().join("app.pftrace"))
        .unwrap();
    let sender = Sidecar::start(&[&sink.url(), "--follow", "."], dir.path());
    let lines = lines_of(trace()).unwrap();
    sink.wait_for(lines.matches("\"type\":\"message\"").count());
    thread::sleep(Duration::from_millis(500));
    let before = bytes_read(sender.id());
    thread::sleep(Duration::from_millis(1_500));
    let more = bytes_read(sender.id()) - before;
    assert!(more < trace().len() as u64, "{more}");
}

#[test]
fn a_sender_is_told_to_end_while_programs_log_faster_than_it_sends() {
    let Some(sink) = Sink::start("slow=0.2") else { return };
    let dir = temp_dir();
    let path = dir.path().join("app.pftrace");
    let session = Session::builder().file(&path).enable_all().start().unwrap();
    for number in 0..500 {
        i!(FollowLog::Work, "work %d", number);
    }
    session.stop().unwrap();
    let more = fs::read(&path).unwrap();
    let (url, is_over) = (sink.url(), Arc::new(AtomicBool::new(false)));
    let args = [url.as_str(), "--follow", "--metrics-file", "m", "."];
    let mut sender = Sidecar::start(&args, dir.path());
    let stop = Arc::clone(&is_over);
    // 50,000 a second, of which 20,000 are taken at most.
    let writer = thread::spawn(move || {
        let mut file = File::options().append(true).open(path).unwrap();
        while !stop.load(Ordering::Relaxed) {
            file.write_all(&more).unwrap();
            thread::sleep(Duration::from_millis(10));
        }
    });
    thread::sleep(Duration::from_millis(1_500));
    // Metrics are not those of the beginning alone.
    let metrics = fs::read_to_string(dir.path().join("m")).unwrap();
    assert!(metrics.contains("template=\"work %d\""), "{metrics}");
    assert!(matches!(sender.terminate(), Some(0 | 3)));
    is_over.store(true, Ordering::Relaxed);
    writer.join().unwrap();
}

#[test]
fn a_sender_that_is_told_to_end_asks_the_recording_first() {
    let Some(sink) = Sink::start("") else { return };
    let dir = temp_dir();
    let mut program = start("killed", dir.path());
    assert_eq!(wait_until_logged(&mut program), "all");
    let mut sender = Sidecar::start(&[&sink.url(), "--follow", "."], dir.path());
    thread::sleep(Duration::from_millis(300));
    program.kill().unwrap();
    program.wait().unwrap();
    assert_eq!(sender.terminate(), Some(0));
    assert_eq!(works(&sink.finish()).len(), 3_000);
}

#[test]
fn segments_that_rotate_are_sent_once() {
    let Some(mut sink) = Sink::start("") else { return };
    let dir = temp_dir();
    let _sender = Sidecar::start(&[&sink.url(), "--follow", "--state", "s", "."], dir.path());
    let mut program = start("segments", dir.path());
    assert!(program.wait().unwrap().success());
    sink.wait_for(3_000);
    assert!(fs::read_dir(dir.path()).unwrap().count() > 4);
    thread::sleep(Duration::from_millis(500));
    let records = sink.finish();
    assert_eq!((works(&records).len(), records.len()), (3_000, 3_000));
}

#[test]
fn a_recording_without_a_trace_is_sent_as_it_grows() {
    let Some(mut sink) = Sink::start("") else { return };
    let dir = temp_dir();
    let url = sink.url();
    let mut program = start("ring", dir.path());
    let recording = wait_until_logged(&mut program);
    let args = [url.as_str(), "--follow", "--state", "s", &recording];
    let mut sender = Sidecar::start(&args, dir.path());
    let records = sink.wait_for(3_000).to_vec();
    assert_eq!((works(&records).len(), records.len()), (3_000, 3_000));
    // Another run sends what is in it again: it has the same ids.
    sender.kill();
    let _again = Sidecar::start(&args, dir.path());
    thread::sleep(Duration::from_secs(1));
    program.kill().unwrap();
    program.wait().unwrap();
    let output = fleet(&["otlp", &url, &recording], dir.path());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let again = sink.finish();
    assert!(again.len() > records.len());
    assert_eq!(uids(&again).len(), uids(&records).len());
    fs::remove_file(recording).unwrap();
}

#[test]
fn a_state_is_used_by_one_run_at_a_time_and_is_for_its_user_alone() {
    let Some(sink) = Sink::start("") else { return };
    let dir = temp_dir();
    fs::write(dir.path().join("app.pftrace"), trace()).unwrap();
    let args = ["otlp", &sink.url(), "--state", "s", "app.pftrace"];
    assert!(fleet(&args, dir.path()).status.success());
    let mode = std::os::unix::fs::PermissionsExt::mode(
        &fs::metadata(dir.path().join("s")).unwrap().permissions(),
    );
    assert_eq!(mode & 0o777, 0o600);
    let mut sender = Sidecar::start(&[&[args[1], "--follow"], &args[2..]].concat(), dir.path());
    thread::sleep(Duration::from_millis(500));
    let output = fleet(&args, dir.path());
    assert_eq!(output.status.code(), Some(2));
    let errors = String::from_utf8(output.stderr).unwrap();
    assert_eq!(
        errors,
        "error: `s` is in use by another run\nhelp: give each run a state of its own\n"
    );
    sender.kill();
    fs::write(dir.path().join("s"), "{").unwrap();
    let output = fleet(&args, dir.path());
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(errors.ends_with("help: remove it to send everything again\n"), "{errors}");
}
