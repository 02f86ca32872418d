//! LTTng's daemons: started for the bench, ended with it.
//!
//! The tracer in a program finds the daemon at a path of the user's, so there can be only one.
//! Where one runs already, it is someone else's, and LTTng is not measured.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use xtask::{Result, shell};

/// The time that the daemon may take to start.
const START_TIMEOUT: Duration = Duration::from_secs(10);

/// A running session daemon.
pub(super) struct Daemon {
    child: Child,
    /// Where the trace goes.
    trace: PathBuf,
}

impl Daemon {
    /// Starts it and waits until it answers.
    pub(super) fn start(dir: &Path) -> Result<Self> {
        if lttng(&["list"]).is_ok() {
            return Err("a session daemon of somebody else runs".to_owned());
        }
        let mut command = Command::new("lttng-sessiond");
        command.args(["--no-kernel", "--quiet"]).stdin(Stdio::null());
        let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        let child = child.map_err(|error| format!("can't start `lttng-sessiond`: {error}"))?;
        let daemon = Self { child, trace: dir.join("lttng-trace") };
        let begun = Instant::now();
        while lttng(&["list"]).is_err() {
            if begun.elapsed() > START_TIMEOUT {
                return Err("the session daemon does not answer".to_owned());
            }
            sleep(Duration::from_millis(50));
        }
        Ok(daemon)
    }

    /// Starts a session that wants all events, with as much memory for a CPU as protolog's session
    /// has: 4 MiB.
    pub(super) fn begin(&self) -> Result<()> {
        let _ = fs::remove_dir_all(&self.trace);
        lttng(&["create", &self.session(), &format!("--output={}", self.trace.display())])?;
        let sizes = ["--subbuf-size=512K", "--num-subbuf=8", "--switch-timer=100000"];
        lttng(&[&["enable-channel", "--userspace"], &sizes[..], &["channel"]].concat())?;
        lttng(&["enable-event", "--userspace", "--channel=channel", "bench:*"])?;
        lttng(&["start"])
    }

    /// Ends the session; all is in the trace then.
    pub(super) fn end(&self) -> Result<()> {
        lttng(&["destroy", &self.session()])
    }

    fn session(&self) -> String {
        format!("bench-{}", self.child.id())
    }

    /// Ids of the daemons, as a program in C++ wants them.
    pub(super) fn helpers(&self) -> String {
        let own = self.child.id();
        let children = fs::read_to_string(format!("/proc/{own}/task/{own}/children"));
        format!("{own} {} {}", children.unwrap_or_default(), self.grandchildren())
    }

    /// The consumer is a child of whichever thread started it.
    fn grandchildren(&self) -> String {
        let tasks = fs::read_dir(format!("/proc/{}/task", self.child.id()));
        let tasks = tasks.into_iter().flatten().flatten();
        let others = tasks.filter(|task| *task.file_name() != *self.child.id().to_string());
        others
            .filter_map(|task| fs::read_to_string(task.path().join("children")).ok())
            .collect::<Vec<_>>()
            .join(" ")
    }

    /// Messages and bytes in the trace.
    pub(super) fn count(&self) -> Result<(f64, f64)> {
        let mut read = Command::new("babeltrace2");
        read.arg(&self.trace).args(["--component", "sink.utils.counter"]);
        let text = shell::read(&mut read)?;
        // It prints sums on the way too.
        let events = text.lines().rfind(|line| line.contains(" Event messages"));
        let number = events.and_then(|line| line.split_whitespace().next()?.parse().ok());
        Ok((number.unwrap_or(0.0), size(&self.trace) as f64))
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        // Asked, so that it ends its consumer too.
        let _ = Command::new("kill").arg(self.child.id().to_string()).status();
        let _ = self.child.wait();
    }
}

fn lttng(args: &[&str]) -> Result<()> {
    // With this set the tool does not start a daemon of its own.
    shell::read(Command::new("lttng").args(["--no-sessiond", "--quiet"]).args(args)).map(drop)
}

/// Bytes of all files below `path`.
fn size(path: &Path) -> u64 {
    let entries = fs::read_dir(path).into_iter().flatten().flatten();
    let sizes = entries.map(|entry| match entry.metadata() {
        Ok(metadata) if metadata.is_dir() => size(&entry.path()),
        Ok(metadata) => metadata.len(),
        Err(_) => 0,
    });
    sizes.sum()
}
