//! Libraries that are unloaded: one with the runtime inside stays loaded once it has a session or
//! listens to operators. The test builds the library and a program that loads it outside this
//! workspace.

use protolog_reader::{Recording, Rendering, Trace};
use protolog_testkit::{run, temp_dir_for_sockets, trace_stats, user_cargo, workspace_root};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::{env, fs};

/// Paths of the program and the library.
struct Fixture {
    host: PathBuf,
    plugin: PathBuf,
}

/// The fixture, built once for all tests.
fn fixture() -> &'static Fixture {
    static FIXTURE: OnceLock<Fixture> = OnceLock::new();
    FIXTURE.get_or_init(|| {
        let runtime = Path::new(env!("CARGO_MANIFEST_DIR"));
        let copy = Path::new(env!("CARGO_TARGET_TMPDIR")).join("unloaded");
        for file in [
            "Cargo.toml",
            "host/Cargo.toml",
            "host/src/main.rs",
            "plugin/Cargo.toml",
            "plugin/src/lib.rs",
        ] {
            let source = runtime.join("tests/fixtures/unloaded").join(file);
            let text = fs::read_to_string(source).expect("read the fixture");
            let text = text.replace("PROTOLOG_RT", &runtime.display().to_string());
            let target = copy.join(file);
            fs::create_dir_all(target.parent().expect("a directory")).expect("make a directory");
            if fs::read_to_string(&target).ok().as_ref() != Some(&text) {
                fs::write(target, text).expect("copy the fixture");
            }
        }
        fs::copy(workspace_root().join("Cargo.lock"), copy.join("Cargo.lock")).expect("copy");
        let mut cargo = user_cargo(env!("CARGO_TARGET_TMPDIR"));
        run(cargo.args(["build", "--quiet"]).current_dir(&copy));
        let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join("users/debug");
        Fixture { host: out.join("host"), plugin: out.join("libplugin.so") }
    })
}

/// Runs the program: the library's function `start` gets `path`, then the library is closed.
fn unload(start: &str, path: &Path) {
    let Fixture { host, plugin } = fixture();
    let output = run(Command::new(host).arg(plugin).arg(start).arg(path));
    assert_eq!(output.stdout, "done\n");
}

fn messages(trace: Trace) -> Vec<String> {
    let log = trace.read().expect("read the trace");
    let mut texts: Vec<String> =
        log.entries().map(|entry| entry.values().text(Rendering::Bare)).collect();
    texts.sort();
    texts
}

const EXPECTED: [&str; 4] = ["work 0", "work 1", "work 2", "work 3"];

#[test]
fn a_library_with_a_stream_stays_loaded() {
    let dir = temp_dir_for_sockets();
    let path = dir.path().join("unloaded.pftrace");
    unload("stream", &path);
    assert_eq!(messages(Trace::open(&path).expect("open it")), EXPECTED);
    if let Some(stats) = trace_stats(&path) {
        assert_eq!(stats.to_string(), "", "counters of trace_processor");
    }
}

#[test]
fn a_library_with_a_recording_stays_loaded() {
    let dir = temp_dir_for_sockets();
    let path = dir.path().join("unloaded.rec");
    unload("record", &path);
    let mut trace = Vec::new();
    let bytes = fs::read(&path).expect("read the recording");
    let report = Recording::parse(&bytes).expect("a recording").write(&mut trace).expect("write");
    assert_eq!(report.flaws, []);
    assert_eq!(messages(Trace::from_bytes(trace)), EXPECTED);
}

#[test]
fn a_library_that_listens_to_operators_stays_loaded() {
    let dir = temp_dir_for_sockets();
    unload("listen", &dir.path().join("operators"));
}

#[test]
fn a_library_that_logs_panics_stays_loaded() {
    let dir = temp_dir_for_sockets();
    unload("panics", dir.path());
}
