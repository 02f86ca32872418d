//! An operator.

use crate::now;
use protolog_control::{Group, Pages, Program, Whose, find_sockets};
use std::fs;
use std::hint::black_box;
use std::io::{BufRead, BufReader, Read};
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Switches that are measured.
const SWITCHES: usize = 500;
/// Time between them: any thread has had its turn meanwhile.
const PAUSE: Duration = Duration::from_millis(5);

/// A program that was started, and is ended by closing its input.
pub(crate) struct Started {
    pub(crate) child: Child,
    pub(crate) out: BufReader<ChildStdout>,
}

impl Started {
    pub(crate) fn new(words: &[&str]) -> Self {
        let own = std::env::current_exe().expect("own path");
        let mut command = Command::new(own);
        command.args(words).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("start a program");
        let out = BufReader::new(child.stdout.take().expect("its output"));
        Self { child, out }
    }

    pub(crate) fn ready(mut self) -> Self {
        let mut line = String::new();
        self.out.read_line(&mut line).expect("it says that it is ready");
        assert_eq!(line, "ready\n");
        self
    }

    /// Its output at the end.
    pub(crate) fn end(mut self) -> String {
        drop(self.child.stdin.take());
        let mut rest = String::new();
        self.out.read_to_string(&mut rest).expect("its output");
        self.child.wait().expect("its end");
        rest
    }
}

/// The socket of a program.
pub(crate) fn socket_of(pid: u32) -> PathBuf {
    let own = format!("{pid}-");
    let is_own = |path: &PathBuf| {
        path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(&own))
    };
    let all = find_sockets(Whose::All).sockets.into_iter();
    all.map(|socket| socket.path().to_owned()).find(is_own).expect("a socket")
}

fn map(pid: u32) -> (Pages, Group, u64) {
    let path = socket_of(pid);
    let begun = Instant::now();
    let mut program = Program::connect(&path).expect("connect");
    let groups = program.groups().expect("groups");
    let pages = program.pages().expect("pages");
    let time = begun.elapsed().as_nanos() as u64;
    let net = groups.into_iter().find(|group| group.name.ends_with("Net")).expect("the group");
    (pages, net, time)
}

/// See the crate.
pub(crate) fn run(threads: usize) {
    let program = Started::new(&["listen", &threads.to_string()]).ready();
    let pid = program.child.id();
    let (pages, net, time) = map(program.child.id());
    figure("map_ns", time);
    // Until whatever went with it is over.
    sleep(Duration::from_millis(50));
    let before = Io::of(pid);
    let mut at = Vec::with_capacity(SWITCHES);
    for number in 0..SWITCHES {
        at.push(now());
        pages.set_text_levels(&net, if number % 2 == 0 { 0x3f } else { 0 });
        sleep(PAUSE);
    }
    let after = Io::of(pid);
    let calls = strace(pid, || {
        for number in 0..SWITCHES {
            pages.set_text_levels(&net, if number % 2 == 0 { 0x3f } else { 0 });
            sleep(Duration::from_millis(1));
        }
    });
    let output = program.end();
    let threads: Vec<Vec<u64>> = output
        .lines()
        .map(|line| line.split(' ').filter_map(|time| time.parse().ok()).collect())
        .collect();
    let (mut last, mut missed) = (Vec::new(), 0);
    for (number, begun) in at.iter().enumerate() {
        let next = at.get(number + 1).copied().unwrap_or(begun + PAUSE.as_nanos() as u64);
        let obeyed = |seen: &Vec<u64>| {
            seen.iter().find(|time| (*begun..next).contains(*time)).map(|time| time - begun)
        };
        // A thread that had no processor until the next switch says nothing of this one.
        match threads.iter().map(obeyed).collect::<Option<Vec<_>>>() {
            Some(times) => last.extend(times.into_iter().max()),
            None => missed += 1,
        }
    }
    figure("without_a_processor", missed);
    figure("switches", SWITCHES as u64);
    figure("syscalls_by_counters", after.calls - before.calls);
    figure("bytes_by_counters", after.bytes - before.bytes);
    figure("control_thread_wakeups", after.wakeups - before.wakeups);
    if let Some(calls) = calls {
        figure("syscalls_by_strace", calls);
    }
    percentiles("last_thread_ns", &mut last);
}

/// The kernel's counts of a process.
struct Io {
    /// Calls that read or write.
    calls: u64,
    /// Bytes of them.
    bytes: u64,
    /// The number of times that the thread for operators went to sleep again.
    wakeups: u64,
}

impl Io {
    fn of(pid: u32) -> Self {
        let io = fs::read_to_string(format!("/proc/{pid}/io")).unwrap_or_default();
        let sum = |names: &[&str]| {
            let lines = io.lines().filter_map(|line| line.split_once(": "));
            lines
                .filter(|(name, _)| names.contains(name))
                .filter_map(|(_, value)| value.parse::<u64>().ok())
                .sum()
        };
        let tasks = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
        let wakeups = tasks
            .filter_map(|task| fs::read_to_string(task.path().join("status")).ok())
            .filter(|status| status.starts_with("Name:\tprotolog-contro"))
            .filter_map(|status| {
                let line =
                    status.lines().find(|line| line.starts_with("voluntary_ctxt_switches:"))?;
                line.split_whitespace().last()?.parse::<u64>().ok()
            })
            .sum();
        Self { calls: sum(&["syscr", "syscw"]), bytes: sum(&["rchar", "wchar"]), wakeups }
    }
}

/// System calls of a process while `f` runs; none where there is no strace, or it may not.
fn strace(pid: u32, f: impl FnOnce()) -> Option<u64> {
    let dir = tempfile::tempdir().ok()?;
    let out = dir.path().join("calls");
    let mut strace = Command::new("strace");
    strace.args(["-f", "-q", "-o"]).arg(&out).args(["-p", &pid.to_string()]);
    let mut child = strace.stderr(Stdio::null()).spawn().ok()?;
    sleep(Duration::from_millis(500));
    if child.try_wait().ok()?.is_some() {
        return None;
    }
    // A call that a thread sleeps in is reported when strace comes.
    let before = fs::read_to_string(&out).ok()?.lines().count();
    f();
    let after = fs::read_to_string(&out).ok()?.lines().count();
    Command::new("kill").args(["-INT", &child.id().to_string()]).status().ok()?;
    child.wait().ok()?;
    Some((after - before) as u64)
}

/// See the crate.
pub(crate) fn store() {
    let program = Started::new(&["sit"]).ready();
    let (pages, net, _) = map(program.child.id());
    const TURNS: u64 = 1_000_000;
    let begun = Instant::now();
    for number in 0..TURNS {
        pages.set_text_levels(black_box(&net), if number % 2 == 0 { 0x3f } else { 0 });
    }
    figure("store_ps", begun.elapsed().as_nanos() as u64 * 1000 / TURNS);
    program.end();
}

/// See the crate.
pub(crate) fn start(number: usize) {
    let all: Vec<_> = (0..number).map(|_| Started::new(&["sit"])).collect();
    let all: Vec<_> = all.into_iter().map(Started::ready).collect();
    println!("ready");
    let _ = std::io::stdin().read(&mut [0]);
    // All inputs first, so that they end at once.
    let mut all = all;
    for one in &mut all {
        drop(one.child.stdin.take());
    }
    for one in all {
        one.end();
    }
}

pub(crate) fn figure(name: &str, value: u64) {
    println!("{name} {value}");
}

fn percentiles(name: &str, times: &mut [u64]) {
    times.sort_unstable();
    if times.is_empty() {
        return;
    }
    for (part, per_mille) in [("median", 500), ("p90", 900), ("p99", 990)] {
        figure(&format!("{name}_{part}"), times[(times.len() - 1) * per_mille / 1000]);
    }
}
