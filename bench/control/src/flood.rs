//! A program that logs without a pause while operators leave it alone, hold connections, and ask
//! without a pause.

use crate::listen::{BenchLog, init, say};
use crate::toggle::{Started, figure, socket_of};
use protolog_control::Program;
use protolog_core::control::protocol::Request;
use protolog_rt::{Level, Session, i};
use std::fs;
use std::io::{BufRead, BufReader, Write, stdin};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

/// Name of the thread that logs.
const LOGS: &str = "logs";
/// Name of the thread that listens to operators, as far as the kernel keeps it.
const LISTENS: &str = "protolog-contro";
/// The time for which each state is measured.
const TIME: Duration = Duration::from_secs(2);
/// Operators that ask.
const OPERATORS: usize = 8;
/// Connections that ask nothing, as many as are held at a time.
const IDLE: usize = 64;

/// Logs until its input ends, and says for each line of it how many messages that were.
pub(crate) fn log() {
    init();
    let file = std::env::temp_dir().join(format!("protolog-flood-{}", std::process::id()));
    let session = Session::builder().file(&file).group("Net", Level::Info).keep_newest();
    let session = session.buffer_size(1 << 20).start().expect("a session");
    let (over, messages) = (AtomicBool::new(false), AtomicU64::new(0));
    thread::scope(|scope| {
        let logs = || {
            while !over.load(Relaxed) {
                (0..1000).for_each(|number| i!(BenchLog::Net, "sent %d bytes in %d ms", number, 7));
                messages.fetch_add(1000, Relaxed);
            }
        };
        thread::Builder::new().name(LOGS.into()).spawn_scoped(scope, logs).expect("a thread");
        say("ready");
        for _ in stdin().lock().lines() {
            say(&messages.load(Relaxed).to_string());
        }
        over.store(true, Relaxed);
    });
    session.stop().expect("a trace");
    let _ = fs::remove_file(file);
}

/// See the crate.
pub(crate) fn run() {
    let mut program = Started::new(&["log"]).ready();
    let socket = socket_of(program.child.id());
    let answers = AtomicU64::new(0);
    let mut measure = |name: &str, while_it_logs: &dyn Fn(Instant)| {
        let before = Seen::of(&mut program);
        while_it_logs(Instant::now() + TIME);
        Seen::of(&mut program).tell_since(&before, name);
    };
    let quiet = |until: Instant| thread::sleep(until.saturating_duration_since(Instant::now()));
    // Pages that were never touched are no message's usual cost.
    quiet(Instant::now() + TIME / 4);
    measure("quiet", &quiet);
    measure("idle", &|until| {
        let connect = |_| UnixStream::connect(&socket).expect("connect");
        let idle: Vec<_> = (0..IDLE).map(connect).collect();
        quiet(until);
        drop(idle);
    });
    measure("flood", &|until| {
        thread::scope(|scope| {
            for _ in 0..OPERATORS {
                scope.spawn(|| answers.fetch_add(ask(&socket, until), Relaxed));
            }
        });
    });
    figure("flood_answers", answers.into_inner());
    program.end();
}

/// Asks all there is to ask, until then. How many answers came.
fn ask(socket: &Path, until: Instant) -> u64 {
    let mut program = Program::connect(socket).expect("connect");
    let mut answers = 0;
    while Instant::now() < until {
        for request in [Request::Groups, Request::Set("other=text"), Request::Stats] {
            program.request(&request).expect("an answer");
        }
        program.pages().expect("pages");
        answers += 4;
    }
    answers
}

/// Observations of a program that logs.
struct Seen {
    messages: u64,
    at: Instant,
    logs: Thread,
    listens: Thread,
}

/// The kernel's counts of a thread.
struct Thread {
    /// Time on a processor, in nanoseconds.
    time: u64,
    /// The number of times that it went to sleep.
    sleeps: u64,
}

impl Seen {
    fn of(program: &mut Started) -> Self {
        let input = program.child.stdin.as_mut().expect("its input");
        input.write_all(b"\n").expect("it reads");
        let pid = program.child.id();
        let mut line = String::new();
        BufReader::with_capacity(1, &mut program.out).read_line(&mut line).expect("an answer");
        let messages = line.trim().parse().expect("a number");
        let (logs, listens) = (Thread::of(pid, LOGS), Thread::of(pid, LISTENS));
        Self { messages, at: Instant::now(), logs, listens }
    }

    fn tell_since(&self, before: &Self, name: &str) {
        let messages = (self.messages - before.messages).max(1);
        let time = self.at.duration_since(before.at).as_nanos() as u64;
        let busy = self.listens.time - before.listens.time;
        figure(
            &format!("{name}_message_ps"),
            (self.logs.time - before.logs.time) * 1000 / messages,
        );
        figure(&format!("{name}_sleeps"), self.logs.sleeps - before.logs.sleeps);
        figure(&format!("{name}_listens_per_mille"), busy * 1000 / time);
    }
}

impl Thread {
    fn of(pid: u32, name: &str) -> Self {
        let tasks = fs::read_dir(format!("/proc/{pid}/task")).expect("its threads");
        let is_it = |path: &PathBuf| {
            fs::read_to_string(path.join("comm")).is_ok_and(|comm| comm.trim_end() == name)
        };
        let path = tasks.flatten().map(|task| task.path()).find(is_it).expect("the thread");
        let read = |file| fs::read_to_string(path.join(file)).expect("what the kernel counts");
        let (schedstat, status) = (read("schedstat"), read("status"));
        let time = schedstat.split(' ').next().and_then(|time| time.parse().ok());
        let sleeps = status.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"));
        let sleeps = sleeps.and_then(|sleeps| sleeps.trim().parse().ok());
        Self { time: time.expect("a time"), sleeps: sleeps.expect("a number") }
    }
}
