//! Libraries that are loaded while a process records, or streams: when it is killed, their messages are there as text.
//!
//! The program and its libraries are built as [`built`] says, so that they share one runtime.

use crate::Found;
use protolog_reader::{Rendering, Trace};
use protolog_testkit::{run, temp_dir, trace_stats, workspace_root};
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::{env, fs};

struct Built {
    host: PathBuf,
    /// Two libraries with a group of the same name.
    plugins: [PathBuf; 2],
    /// Where shared libraries are.
    libraries: String,
}

/// The fixture, built once for all tests.
fn built() -> &'static Built {
    static BUILT: OnceLock<Built> = OnceLock::new();
    BUILT.get_or_init(|| {
        let runtime = Path::new(env!("CARGO_MANIFEST_DIR"));
        let copy = Path::new(env!("CARGO_TARGET_TMPDIR")).join("late");
        for file in ["Cargo.toml", "host/Cargo.toml", "plugin/Cargo.toml", "common/Cargo.toml"] {
            put(runtime, &copy, file);
        }
        for file in ["host/src/main.rs", "plugin/src/lib.rs", "common/src/lib.rs"] {
            put(runtime, &copy, file);
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
        Built { host: copy.join("target/debug/host"), plugins, libraries }
    })
}

/// Copies a file of the fixture, unless it is there as it should be.
fn put(runtime: &Path, copy: &Path, file: &str) {
    let text = fs::read_to_string(runtime.join("tests/fixtures/late").join(file)).expect("read");
    let text = text.replace("PROTOLOG_RT", &runtime.display().to_string());
    let target = copy.join(file);
    fs::create_dir_all(target.parent().expect("a directory")).expect("make a directory");
    if fs::read_to_string(&target).ok().as_ref() != Some(&text) {
        fs::write(target, text).expect("copy the fixture");
    }
}

/// Runs the program until it has logged, and kills it.
fn kill(output: &Path) {
    let Built { host, plugins, libraries } = built();
    let mut host = Command::new(host);
    host.arg(output).args(plugins).env("LD_LIBRARY_PATH", libraries);
    let mut child = host.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("run it");
    let mut line = String::new();
    BufReader::new(child.stdout.take().expect("a pipe")).read_line(&mut line).expect("a line");
    assert_eq!(line, "ready\n");
    child.kill().expect("kill it");
    child.wait().expect("wait for its end");
}

const ALL: [&str; 4] = [
    "the program: 1",
    "the first plugin works: 2",
    "the second plugin works: 3",
    "a plugin in the group of all: 4",
];

#[test]
fn a_recording_has_the_texts_of_libraries_before_their_messages() {
    let dir = temp_dir();
    let path = dir.path().join("late.rec");
    kill(&path);
    assert_eq!(Found::read(&path).texts(), ALL);
}

#[test]
fn a_stream_has_the_texts_of_the_messages_that_it_has() {
    let dir = temp_dir();
    let path = dir.path().join("late.pftrace");
    kill(&path);
    let log = Trace::open(&path).expect("open it").read().expect("read it");
    let texts = log.entries().map(|entry| entry.values().text(Rendering::Bare));
    assert!(ALL.into_iter().eq(texts), "{:?}", log.stats());
    if let Some(stats) = trace_stats(&path) {
        assert_eq!(stats.to_string(), "", "counters of trace_processor");
    }
}
