//! A program and libraries with runtimes of their own, built outside this workspace, for tests of
//! how they log together.
#![allow(dead_code)] // Each test program uses a part of it.

use protolog_reader::{Rendering, Trace};
use protolog_testkit::{run, trace_stats, user_cargo, workspace_root};
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::OnceLock;
use std::{env, fs};

/// Paths of the programs and the library.
pub(crate) struct Fixture {
    pub(crate) host: PathBuf,
    pub(crate) bare: PathBuf,
    pub(crate) plugin: PathBuf,
    /// The library with a runtime of another version.
    pub(crate) other: PathBuf,
}

/// The fixture, built once for all tests.
pub(crate) fn fixture() -> &'static Fixture {
    static FIXTURE: OnceLock<Fixture> = OnceLock::new();
    FIXTURE.get_or_init(|| {
        let runtime = Path::new(env!("CARGO_MANIFEST_DIR"));
        let tmp = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let copy = tmp.join("plugins");
        for file in [
            "Cargo.toml",
            "bare/Cargo.toml",
            "bare/src/main.rs",
            "host/Cargo.toml",
            "host/src/main.rs",
            "plugin/Cargo.toml",
            "plugin/src/lib.rs",
        ] {
            let source = runtime.join("tests/fixtures/plugins").join(file);
            let text = fs::read_to_string(source).expect("read the fixture");
            let text = text.replace("PROTOLOG_RT", &runtime.display().to_string());
            let target = copy.join(file);
            fs::create_dir_all(target.parent().expect("a directory")).expect("make a directory");
            if fs::read_to_string(&target).ok().as_ref() != Some(&text) {
                fs::write(target, text).expect("copy the fixture");
            }
        }
        fs::copy(workspace_root().join("Cargo.lock"), copy.join("Cargo.lock")).expect("copy");
        let tmp_text = env!("CARGO_TARGET_TMPDIR");
        run(user_cargo(tmp_text).args(["build", "--quiet"]).current_dir(&copy));
        let other = tmp.join("users-other");
        let mut cargo = user_cargo(tmp_text);
        cargo.args(["build", "--quiet", "-p", "plugin-with-runtime"]).current_dir(&copy);
        cargo.env("CARGO_TARGET_DIR", &other);
        run(cargo.env("RUSTFLAGS", "--cfg protolog_other_interface"));
        let out = tmp.join("users/debug");
        Fixture {
            host: out.join("plugin-host"),
            bare: out.join("bare-host"),
            plugin: out.join("libplugin_with_runtime.so"),
            other: other.join("debug/libplugin_with_runtime.so"),
        }
    })
}

/// The program, which does what it is told.
pub(crate) struct Host {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Host {
    /// Starts it with `$PROTOLOG_RUNTIME_DIR` and the variable `PROTOLOG`.
    pub(crate) fn start(directory: &Path, settings: &str) -> Self {
        Self::start_with(directory, settings, &[])
    }

    /// Likewise, and with these variables.
    pub(crate) fn start_with(
        directory: &Path,
        settings: &str,
        variables: &[(&str, PathBuf)],
    ) -> Self {
        let mut command = Command::new(&fixture().host);
        command.envs(variables.iter().map(|(name, path)| (name, path)));
        command.env("PROTOLOG_RUNTIME_DIR", directory.join("operators"));
        command.env("PROTOLOG_STATE", directory.join("settings")).env("PROTOLOG", settings);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("start the program");
        let input = child.stdin.take().expect("a pipe");
        let output = BufReader::new(child.stdout.take().expect("a pipe"));
        Self { child, input, output }
    }

    /// Returns its answer to a line.
    pub(crate) fn ask(&mut self, line: &str) -> String {
        writeln!(self.input, "{line}").expect("write a line");
        let mut answer = String::new();
        self.output.read_line(&mut answer).expect("read a line");
        answer.trim_end().to_owned()
    }

    /// Has it load the library.
    pub(crate) fn load(&mut self, library: &Path) {
        assert_eq!(self.ask(&format!("load {}", library.display())), "loaded");
    }

    /// Has it record to a file.
    pub(crate) fn record(&mut self, how: &str, path: &Path) {
        assert_eq!(self.ask(&format!("{how} {}", path.display())), "started");
    }

    /// Ends it, and returns what it wrote to standard error.
    pub(crate) fn end(self) -> String {
        drop(self.input);
        let output = self.child.wait_with_output().expect("wait for it");
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stderr).expect("text")
    }
}

/// The texts of a trace, as they were logged.
pub(crate) fn messages(path: &Path) -> Vec<String> {
    if let Some(stats) = trace_stats(path) {
        assert_eq!(stats.to_string(), "", "counters of trace_processor");
    }
    let log = Trace::open(path).expect("open the trace").read().expect("read the trace");
    log.entries().map(|entry| entry.values().text(Rendering::Full)).collect()
}
