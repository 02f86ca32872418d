//! Libraries that are loaded while a process records or streams: when it is killed, the trace has
//! their templates.
//!
//! The program and its libraries are linked to one shared runtime, see [`fixture`].

use crate::Recovery;
use protolog_reader::{Rendering, Trace};
use protolog_testkit::{run, temp_dir, trace_stats, workspace_root};
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::{env, fs};

struct Fixture {
    host: PathBuf,
    /// Paths of two libraries with a group of the same name.
    plugins: [PathBuf; 2],
    /// The search path of shared libraries.
    libraries: String,
}

/// The fixture, built once for all tests.
fn fixture() -> &'static Fixture {
    static FIXTURE: OnceLock<Fixture> = OnceLock::new();
    FIXTURE.get_or_init(|| {
        let runtime = Path::new(env!("CARGO_MANIFEST_DIR"));
        let copy = Path::new(env!("CARGO_TARGET_TMPDIR")).join("late");
        for file in ["Cargo.toml", "host/Cargo.toml", "plugin/Cargo.toml", "common/Cargo.toml"] {
            copy_file(runtime, &copy, file);
        }
        for file in ["host/src/main.rs", "plugin/src/lib.rs", "common/src/lib.rs"] {
            copy_file(runtime, &copy, file);
        }
        fs::copy(workspace_root().join("Cargo.lock"), copy.join("Cargo.lock")).expect("copy");
        let out = copy.join("target/debug");
        let cargo = |args: &[&str]| {
            let mut cargo = Command::new(env!("CARGO"));
            cargo.args(["build", "--quiet", "--offline"]).args(args).current_dir(&copy);
            cargo.env("CARGO_TARGET_DIR", copy.join("target")).env("RUSTFLAGS", "-Cprefer-dynamic");
            run(&mut cargo);
        };
        cargo(&["--package=host"]);
        let plugins = [(0, ""), (1, "second")].map(|(number, feature)| {
            cargo(&["--package=plugin", "--features", feature]);
            let plugin = copy.join(format!("plugin{number}.so"));
            fs::copy(out.join("libplugin.so"), &plugin).expect("copy the plugin");
            plugin
        });
        let std = run(Command::new("rustc").args(["--print", "target-libdir"])).stdout;
        let out = out.display();
        let libraries = format!("{out}:{out}/deps:{}", std.trim());
        Fixture { host: copy.join("target/debug/host"), plugins, libraries }
    })
}

/// Copies a file of the fixture, unless the copy is up to date.
fn copy_file(runtime: &Path, copy: &Path, file: &str) {
    let text =
        fs::read_to_string(runtime.join("tests/fixtures/late_libraries").join(file)).expect("read");
    let text = text.replace("PROTOLOG_RT", &runtime.display().to_string());
    let target = copy.join(file);
    fs::create_dir_all(target.parent().expect("a directory")).expect("make a directory");
    if fs::read_to_string(&target).ok().as_ref() != Some(&text) {
        fs::write(target, text).expect("copy the fixture");
    }
}

/// Runs the program until it has logged, then kills it.
fn kill(output: &Path, options: &[&str]) {
    let Fixture { host, plugins, libraries } = fixture();
    let mut host = Command::new(host);
    host.arg(output).args(plugins).args(options).env("LD_LIBRARY_PATH", libraries);
    let mut child = host.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("run it");
    let mut line = String::new();
    BufReader::new(child.stdout.take().expect("a pipe")).read_line(&mut line).expect("a line");
    assert_eq!(line, "ready\n");
    child.kill().expect("kill it");
    child.wait().expect("wait for its end");
}

const EXPECTED: [&str; 4] = [
    "the program: 1",
    "the first plugin works: 2",
    "the second plugin works: 3",
    "a plugin in the group of all: 4",
];

#[test]
fn a_recording_has_the_templates_of_late_libraries() {
    let dir = temp_dir();
    let path = dir.path().join("late.rec");
    kill(&path, &[]);
    assert_eq!(Recovery::read(&path).messages(), EXPECTED);
}

#[test]
fn a_stream_has_the_templates_of_late_libraries() {
    let dir = temp_dir();
    let path = dir.path().join("late.pftrace");
    kill(&path, &[]);
    let log = Trace::open(&path).expect("open it").read().expect("read it");
    let messages = log.entries().map(|entry| entry.values().text(Rendering::Bare));
    assert!(EXPECTED.into_iter().eq(messages), "{:?}", log.stats());
    if let Some(stats) = trace_stats(&path) {
        assert_eq!(stats.to_string(), "", "counters of trace_processor");
    }
}

#[test]
fn a_library_with_groups_stays_loaded() {
    let dir = temp_dir();
    let path = dir.path().join("late.pftrace");
    kill(&path, &["unload"]);
    let log = Trace::open(&path).expect("open it").read().expect("read it");
    let messages = log.entries().map(|entry| entry.values().text(Rendering::Bare));
    assert!(EXPECTED.into_iter().eq(messages), "{:?}", log.stats());
}
