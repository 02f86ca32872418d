//! The programs that log: see `app/Connected.java`.

use protolog_testkit::{compile_java, java, java_sources, tool, workspace_root};
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::LazyLock;

/// A child, and the way to talk to it.
pub(crate) struct RunningChild {
    pub(crate) process: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    logged: PathBuf,
}

/// The programs and the runtime, compiled once; none without javac.
pub(crate) fn classes() -> Option<&'static Path> {
    static CLASSES: LazyLock<Option<PathBuf>> = LazyLock::new(|| {
        let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("java_producer");
        let _ = fs::remove_dir_all(&dir);
        fs::create_dir_all(&dir).expect("make a directory");
        let app = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/java_producer/app");
        let all = [java_sources(&workspace_root().join("java/src")), java_sources(&app)].concat();
        let output = compile_java(&dir, &all, &[])?;
        assert_eq!((output.code, output.stderr.as_str()), (Some(0), ""));
        Some(dir)
    });
    CLASSES.as_deref()
}

impl RunningChild {
    /// Starts a child that connects to the service at `socket`, and waits until it runs; none
    /// without Java.
    pub(crate) fn start(socket: &str, job: &str, logged: &Path) -> Option<Self> {
        Self::start_with(socket, &[], job, logged)
    }

    /// Likewise, with options for the JVM.
    pub(crate) fn start_with(
        socket: &str,
        options: &[&str],
        job: &str,
        logged: &Path,
    ) -> Option<Self> {
        // A job that says how many threads there are has the code that users get.
        let is_busy = job.contains("threads=");
        let java = if is_busy { Command::new(tool("java")?) } else { java()? };
        Self::start_by(java, socket, options, job, logged)
    }

    /// Likewise, by a command that ends with `java`.
    pub(crate) fn start_by(
        mut java: Command,
        socket: &str,
        options: &[&str],
        job: &str,
        logged: &Path,
    ) -> Option<Self> {
        java.args(["-enableassertions", "-Xshare:auto"]).args(options);
        java.arg("-classpath").arg(classes()?).arg("app.Connected").arg(logged).arg(job);
        java.env("PERFETTO_PRODUCER_SOCK_NAME", socket);
        let errors = fs::File::create(errors(logged)).expect("a file for errors");
        java.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(errors);
        let mut process = java.spawn().expect("start a child");
        let input = process.stdin.take();
        let output = BufReader::new(process.stdout.take().expect("a pipe"));
        let mut child = Self { process, input, output, logged: logged.to_owned() };
        child.expect("ready");
        Some(child)
    }

    /// Sends a line, and waits until it is done.
    pub(crate) fn tell(&mut self, line: &str) -> String {
        self.ask(line);
        self.expect("done")
    }

    /// Sends a line.
    pub(crate) fn ask(&mut self, line: &str) {
        writeln!(self.input.as_mut().expect("a pipe"), "{line}").expect("write to the child");
    }

    /// Waits for a line that begins so, and returns the rest.
    pub(crate) fn expect(&mut self, word: &str) -> String {
        let mut line = String::new();
        let count = self.output.read_line(&mut line).expect("read from the child");
        assert!(count > 0, "the child ended before it said `{word}`: {}", self.errors());
        let rest = line.trim().strip_prefix(&format!("@{word}"));
        rest.unwrap_or_else(|| panic!("`{line}` instead of `{word}`")).trim().to_owned()
    }

    /// Its messages.
    pub(crate) fn logged(&self) -> Vec<String> {
        let text = fs::read_to_string(&self.logged).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    /// Its standard error.
    pub(crate) fn errors(&self) -> String {
        fs::read_to_string(errors(&self.logged)).unwrap_or_default()
    }

    /// Lets it exit, and waits for that. Returns what it logged.
    pub(crate) fn end(mut self) -> Vec<String> {
        self.exit()
    }

    /// Likewise, where more is to be asked of it.
    pub(crate) fn exit(&mut self) -> Vec<String> {
        self.input = None;
        let status = self.process.wait().expect("wait for the child");
        assert!(status.success(), "{status}: {}", self.errors());
        self.logged()
    }

    /// Kills it, and returns what it logged.
    pub(crate) fn kill(mut self) -> Vec<String> {
        self.process.kill().expect("kill the child");
        self.process.wait().expect("wait for the child");
        self.logged()
    }
}

impl Drop for RunningChild {
    fn drop(&mut self) {
        // Of a test that failed.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The file with the standard error of the child that logs to `logged`.
fn errors(logged: &Path) -> PathBuf {
    logged.with_extension("err")
}
