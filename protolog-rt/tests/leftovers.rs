//! Recordings that dead processes left in memory do not pile up. The test runs a copy of itself,
//! under a name that no other program has, many times.

use protolog_rt::{Init, Level, ProtoLogGroup, RecordingPlace, Session, i};
use protolog_testkit::temp_dir;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

#[derive(ProtoLogGroup)]
enum Log {
    Work,
}

const ROLE: &str = "PROTOLOG_LEFTOVERS_ROLE";
const TEST: &str = "recordings_of_dead_processes_do_not_pile_up";

/// The program.
fn program(role: &str) {
    let builder = Session::builder().log_from(Level::Info).buffer_size(64 << 10).record();
    let builder = match role {
        "remove" => builder.keep_recordings(0, Duration::ZERO),
        _ => builder,
    };
    if role.starts_with("deleted") {
        return deleted_recording(role);
    }
    if role == "replaced" {
        return replaced_program();
    }
    let session = builder.start().expect("start");
    i!(Log::Work, "a message");
    match role {
        "wait" => {
            println!("\nready");
            let _ = std::io::stdin().read_line(&mut String::new());
        }
        // The recording stays.
        "die" => std::process::exit(0),
        _ => {}
    }
    session.stop().expect("stop");
}

/// The program, when a new version of it was installed in place while it ran.
fn replaced_program() {
    let own = std::env::current_exe().expect("the test itself");
    let name = own.file_name().and_then(|name| name.to_str()).expect("a name");
    let new = own.with_extension("new");
    std::fs::copy(&own, &new).expect("copy");
    std::fs::rename(&new, &own).expect("rename");
    let settings = own.with_extension("settings");
    std::fs::write(&settings, format!("[{name}]\nWork=error\n")).expect("write");
    let init = Init::new().persistent_settings(false).config_file(&settings);
    init.start().expect("nothing is wrong with the settings");
    let trace = own.with_extension("pftrace");
    let session = Session::builder().file(trace).log_from(Level::Info).start().expect("start");
    i!(Log::Work, "a message");
    let summary = session.stop().expect("stop");
    assert_eq!(summary.messages, 0, "its section of the settings counts: {summary:?}");
    // The recording stays.
    let _session = Session::builder().buffer_size(64 << 10).record().start().expect("start");
    std::process::exit(0);
}

/// The recordings of `program`.
fn recordings(program: &Path) -> Vec<PathBuf> {
    let name = program.file_name().and_then(|name| name.to_str()).expect("a name");
    let entries = std::fs::read_dir("/dev/shm").expect("list");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let mut paths: Vec<_> =
        paths.filter(|path| path.to_string_lossy().contains(&format!("-{name}-"))).collect();
    paths.sort();
    paths
}

/// The program, whose recording somebody deletes.
fn deleted_recording(role: &str) {
    let path = std::env::current_exe().expect("the test itself").with_extension(role);
    let builder = Session::builder().log_from(Level::Info).buffer_size(64 << 10);
    let builder = if role == "deleted-record" {
        builder.record()
    } else {
        builder.file(path).recording_in(RecordingPlace::BesideTrace)
    };
    let session = builder.start().expect("start");
    i!(Log::Work, "a message");
    session.flush().expect("flush");
    std::fs::remove_file(session.recording().expect("a recording")).expect("remove");
    for _ in 0..2 {
        i!(Log::Work, "a message");
        session.flush().expect("flush");
    }
    session.stop().expect("stop");
}

#[test]
fn recordings_of_dead_processes_do_not_pile_up() {
    if let Ok(role) = std::env::var(ROLE) {
        return program(&role);
    }
    let dir = temp_dir();
    // The directory's name is random.
    let unique = dir.path().file_name().and_then(|name| name.to_str()).expect("a name");
    let copy = dir.path().join(format!("left-{unique}"));
    std::fs::copy(std::env::current_exe().expect("the test itself"), &copy).expect("copy");
    let command = |role: &str| {
        let mut command = Command::new(&copy);
        command.args(["--exact", TEST, "--nocapture"]).env(ROLE, role);
        command
    };
    let run = |role: &str| protolog_testkit::run(&mut command(role));
    let mut alive =
        command("wait").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("run");
    let output = std::io::BufReader::new(alive.stdout.as_mut().expect("its output"));
    use std::io::BufRead as _;
    assert!(output.lines().map_while(Result::ok).any(|line| line == "ready"));
    let of_alive = recordings(&copy);
    assert_eq!(of_alive.len(), 1);
    for _ in 0..12 {
        run("die");
    }
    // The last one removed all but eight, and left its own.
    assert_eq!(recordings(&copy).len(), 1 + 8 + 1);
    run("stop");
    assert_eq!(recordings(&copy).len(), 1 + 8);
    run("replaced");
    assert_eq!(recordings(&copy).len(), 1 + 8 + 1, "under the same name");
    for role in ["deleted-record", "deleted-stream"] {
        let output = run(role);
        let said = output.stderr.matches("was deleted while it is used").count();
        assert_eq!(said, 1, "{role}: {}", output.stderr);
    }
    run("remove");
    assert_eq!(recordings(&copy), of_alive, "it is in use");
    drop(alive.stdin.take());
    assert!(alive.wait().expect("wait").success());
    assert!(recordings(&copy).is_empty());
}
