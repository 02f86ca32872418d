//! Programs that do not end: named with all that they have started and their waits, and ended.
//!
//! A machine that runs the tests for us ends a run that takes too long from outside, and then
//! nothing says where it stood. So a program gets a time that it never needs; one that takes it has
//! failed. A busy machine does not shorten it: it is the program's own time.
//!
//! Invariant: nothing is ended before its time, and with a program end all that it has started, and
//! those have started.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::ops::Range;
use std::process::{self, Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::{Result, shell};

/// The end of a program.
#[derive(Debug)]
pub(crate) enum Ended {
    ByItself(ExitStatus),
    /// It was ended after its time; the report says what it was doing.
    TimeIsOver(String),
}

/// The time between two looks whether a program has ended: short beside the time of a test program.
const LOOK: Duration = Duration::from_millis(10);

/// The longest time between two looks at the processor time of a program.
const SAMPLE: Duration = Duration::from_secs(2);

/// The time that a debugger gets to say where a process stands.
const DEBUGGER_SECONDS: &str = "60";

/// Waits until `child` ends, for `limit` of its own time at most; then it is ended, with all that
/// it has started.
pub(crate) fn wait(child: &mut Child, limit: Duration) -> Result<Ended> {
    let failed = |error: std::io::Error| format!("can't wait for a program: {error}");
    let mut time = OwnTime::new();
    loop {
        if let Some(status) = child.try_wait().map_err(failed)? {
            return Ok(Ended::ByItself(status));
        }
        if time.is_due(limit) {
            let family = family(child.id());
            if time.add(&family, &family) >= limit {
                let report = family.iter().map(|&pid| describe(pid)).collect();
                end(&family);
                child.kill().and_then(|()| child.wait()).map_err(failed)?;
                return Ok(Ended::TimeIsOver(report));
            }
        }
        thread::sleep(LOOK);
    }
}

/// Watches over all that this process starts, until it is dropped.
pub(crate) struct Watch {
    done: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Watch {
    /// Programs that still run after `limit` of their own time are described on standard error, and
    /// ended.
    pub(crate) fn begin(limit: Duration) -> Self {
        let (done, is_done) = mpsc::channel();
        let thread = thread::spawn(move || {
            let mut time = OwnTime::new();
            while is_done.recv_timeout(interval(limit)) == Err(RecvTimeoutError::Timeout) {
                let family = family(process::id());
                let started = &family[1..];
                if time.add(&family, started) >= limit {
                    let report: String = started.iter().map(|&pid| describe(pid)).collect();
                    eprintln!("error: not done after {} s; now ends:\n{report}", limit.as_secs());
                    end(started);
                    return;
                }
            }
        });
        Self { done: Some(done), thread: Some(thread) }
    }
}

/// The time that a family of processes had for itself: while a thread of it could run, the
/// processor time that it got, but no more than has passed; while none could, all that passes. So a
/// program that others keep from running has as much time as ever, and one that waits for an event
/// that never comes does not.
struct OwnTime {
    spent: Duration,
    processor: Duration,
    looked: Instant,
}

impl OwnTime {
    fn new() -> Self {
        Self { spent: Duration::ZERO, processor: Duration::ZERO, looked: Instant::now() }
    }

    /// Returns true if it is time for a look, where `limit` is the time for all.
    fn is_due(&self, limit: Duration) -> bool {
        self.looked.elapsed() >= interval(limit)
    }

    /// Adds the time since the last look, and returns the sum. `family` is asked for its processor
    /// time, `may_run` for threads that could run.
    fn add(&mut self, family: &[u32], may_run: &[u32]) -> Duration {
        let (passed, processor) =
            (self.looked.elapsed(), family.iter().map(|&pid| processor_time(pid)).sum());
        let can_run = may_run.iter().any(|&pid| can_run(pid));
        // The time of a process that went to another parent is no longer in the sum.
        self.spent +=
            own_time(passed, Duration::saturating_sub(processor, self.processor), can_run);
        (self.looked, self.processor) = (Instant::now(), processor);
        self.spent
    }
}

fn own_time(passed: Duration, processor: Duration, can_run: bool) -> Duration {
    if can_run { processor.min(passed) } else { passed }
}

fn interval(limit: Duration) -> Duration {
    (limit / 100).clamp(LOOK, SAMPLE)
}

/// The processor time of a process and of the children that it has waited for.
fn processor_time(pid: u32) -> Duration {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    ticks(&stat, 11..15).unwrap_or_default()
}

/// The sum of some fields of a line of `/proc/PID/stat` (proc_pid_stat(5)) that are times in units
/// of 10 ms, counted from the one behind the program's name, whatever that is.
pub(crate) fn ticks(stat: &str, fields: Range<usize>) -> Option<Duration> {
    let times = fields_of(stat)?.skip(fields.start).take(fields.len());
    let times: Vec<u64> = times.map(|time| time.parse().ok()).collect::<Option<_>>()?;
    let is_whole = times.len() == fields.len();
    is_whole.then(|| Duration::from_millis(times.iter().sum::<u64>() * 10))
}

/// The fields behind the program's name, which stands in parentheses and may have spaces.
fn fields_of(stat: &str) -> Option<impl Iterator<Item = &str>> {
    Some(stat.rsplit_once(')')?.1.split_whitespace())
}

/// Returns true if a thread of the process runs, waits for a processor, or waits for a disk.
fn can_run(pid: u32) -> bool {
    fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten().any(|task| {
        let stat = fs::read_to_string(task.path().join("stat")).unwrap_or_default();
        matches!(fields_of(&stat).and_then(|mut fields| fields.next()), Some("R" | "D"))
    })
}

impl Drop for Watch {
    fn drop(&mut self) {
        drop(self.done.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// A process and all that it has started, by parents; itself alone where there is no `/proc`.
fn family(root: u32) -> Vec<u32> {
    let mut children: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let pid = entry.file_name().to_str().and_then(|name| name.parse().ok());
        let stat = fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
        if let (Some(pid), Some(parent)) = (pid, parent(&stat)) {
            children.entry(parent).or_default().push(pid);
        }
    }
    let mut family = vec![root];
    let mut seen = 0;
    while let Some(pid) = family.get(seen) {
        family.extend(children.remove(pid).unwrap_or_default());
        seen += 1;
    }
    family
}

/// The field `ppid` of a line of `/proc/PID/stat`.
fn parent(stat: &str) -> Option<u32> {
    fields_of(stat)?.nth(1)?.parse().ok()
}

/// The command line of a process, and the state of each of its threads, with its stack where there
/// is a debugger.
fn describe(pid: u32) -> String {
    let words = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let words = String::from_utf8_lossy(&words).replace('\0', " ");
    let mut text = format!("process {pid}: {}\n", words.trim_end());
    for task in fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten() {
        let read = |name| fs::read_to_string(task.path().join(name)).unwrap_or_default();
        let status = read("status");
        let state = status.lines().find_map(|line| line.strip_prefix("State:")).unwrap_or("?");
        let (name, waits) = (read("comm"), read("wchan"));
        let _ = writeln!(text, "  thread `{}`: {}, in `{waits}`", name.trim(), state.trim());
    }
    // It may hang itself, before a process that is being traced, say.
    let mut debugger = Command::new("timeout");
    debugger.args(["--kill-after=1", DEBUGGER_SECONDS, "gdb", "--batch", "--nx"]);
    debugger.args(["-p", &pid.to_string(), "-ex", "thread apply all backtrace"]);
    for line in shell::read(&mut debugger).unwrap_or_default().lines() {
        if line.starts_with(['#', 'T']) {
            let _ = writeln!(text, "  {line}");
        }
    }
    text
}

fn end(family: &[u32]) {
    let pids = family.iter().map(u32::to_string);
    // Some may have ended meanwhile, which `kill` says.
    let _ = Command::new("kill").arg("-KILL").args(pids).stderr(Stdio::null()).status();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_ends_by_itself_is_left_alone() {
        let mut child = Command::new("sh").args(["-c", "exit 3"]).spawn().unwrap();
        match wait(&mut child, Duration::from_secs(600)).unwrap() {
            Ended::ByItself(status) => assert_eq!(status.code(), Some(3)),
            Ended::TimeIsOver(report) => panic!("{report}"),
        }
    }

    #[test]
    fn who_does_not_end_is_described_and_ended_with_its_children() {
        let mut child =
            Command::new("sh").args(["-c", "sleep 86399 & sleep 86398; true"]).spawn().unwrap();
        while family(child.id()).len() < 3 {
            thread::sleep(LOOK);
        }
        let before = family(child.id());
        let Ended::TimeIsOver(report) = wait(&mut child, Duration::ZERO).unwrap() else {
            panic!("it ended by itself");
        };
        assert!(report.contains("sleep 86399") && report.contains("sleep 86398"), "{report}");
        assert!(report.contains("thread `sleep`: S (sleeping)"), "{report}");
        // A process that is killed is gone soon, or waits for its new parent to ask. If it lived,
        // this would not end.
        let lives = |pid: &u32| {
            let state = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
            !state.is_empty() && !state.contains(") Z ")
        };
        while before.iter().any(lives) {
            thread::sleep(LOOK);
        }
    }

    #[test]
    fn a_busy_machine_takes_no_time_away() {
        let seconds = Duration::from_secs;
        assert_eq!(own_time(seconds(10), seconds(2), true), seconds(2));
        // Several threads: no more than has passed.
        assert_eq!(own_time(seconds(10), seconds(15), true), seconds(10));
        // A program that waits for an event that never comes.
        assert_eq!(own_time(seconds(10), Duration::ZERO, false), seconds(10));
    }

    #[test]
    fn a_program_that_only_computes_is_ended() {
        let mut child = Command::new("sh").args(["-c", "while :; do :; done"]).spawn().unwrap();
        let ended = wait(&mut child, Duration::from_millis(50)).unwrap();
        assert!(matches!(ended, Ended::TimeIsOver(_)), "{ended:?}");
    }

    #[test]
    fn the_time_of_this_program_is_found() {
        let mut sum = 0_u64;
        while processor_time(process::id()) < Duration::from_millis(20) {
            sum = std::hint::black_box(sum + 1);
        }
        assert!(can_run(process::id()));
    }

    #[test]
    fn parents_are_found_behind_any_name() {
        assert_eq!(parent("7 (a) b c) S 12 7 7 0"), Some(12));
        assert_eq!(parent("7 (a"), None);
    }

    #[test]
    fn the_time_of_children_is_found_behind_any_name() {
        let stat = "7 (a) b c) S 1 7 7 0 -1 4194304 5 6 0 0 11 12 130 14 20 0 1 0 99";
        assert_eq!(ticks(stat, 13..15), Some(Duration::from_millis(1440)));
        assert_eq!(ticks("7 (a) S 1", 13..15), None);
    }
}
