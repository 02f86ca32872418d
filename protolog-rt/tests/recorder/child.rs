//! The process that dies: this test program, run again with a job in its environment.
//!
//! It says on standard error which messages it committed, in frames of 12 bytes: the thread and the number of its last
//! message. On standard input it is told how to die.

use protolog_rt::dynamic::{self, Arg};
use protolog_rt::{Builder, Level, ProtoLogGroup, Session, i};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::{env, thread};

#[derive(ProtoLogGroup)]
enum Log {
    Work,
}

/// Threads of a child that works.
pub(crate) const THREADS: u32 = 8;

/// A thread says what it committed after so many messages.
pub(crate) const PERIOD: u64 = 8;

/// Size of the ring of a child that works, in bytes.
pub(crate) const RING: usize = 128 << 10;

const JOB: &str = "PROTOLOG_TEST_JOB";
const RECORDING: &str = "PROTOLOG_TEST_RECORDING";

/// How a child dies.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Death {
    Kill,
    Abort,
    BadAddress,
}

/// A child that runs.
pub(crate) struct Running {
    pub(crate) child: Child,
}

/// Starts a child with a job; its recording is at `path`.
pub(crate) fn start(job: &str, path: &Path) -> Running {
    let program = env::current_exe().expect("this program");
    let child = Command::new(program)
        .args(["--exact", "child::run", "--nocapture", "--test-threads=1"])
        .env(JOB, job)
        .env(RECORDING, path)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("start a child");
    Running { child }
}

impl Running {
    /// Makes the child die, and waits until it has.
    pub(crate) fn die(&mut self, death: Death) {
        let mut tell = |word: &[u8]| {
            let stdin = self.child.stdin.as_mut().expect("a pipe");
            stdin.write_all(word).expect("tell the child");
        };
        match death {
            Death::Kill => self.child.kill().expect("kill the child"),
            Death::Abort => tell(b"a"),
            Death::BadAddress => tell(b"s"),
        }
        let status = self.child.wait().expect("wait for the child");
        assert!(!status.success(), "it died of {death:?}: {status}");
    }
}

/// Not a test of its own: what a child does.
#[test]
fn run() {
    let Ok(job) = env::var(JOB) else { return };
    let recording = PathBuf::from(env::var_os(RECORDING).expect("a path"));
    let builder = Session::builder().enable_all().record_at(recording);
    match job.as_str() {
        "work" => work(builder.buffer_size(RING)),
        "write" => write(builder),
        "fork" => fork(builder, false),
        "clone" => fork(builder, true),
        "step" => step(builder),
        "begin" => begin(builder),
        "exit" => {
            let session = builder.start().expect("start a session");
            i!(Log::Work, "last words");
            std::mem::forget(session);
            std::process::exit(0);
        }
        other => panic!("no job `{other}`"),
    }
}

/// Some threads log until the process dies.
fn work(builder: Builder) {
    let session = builder.start().expect("start a session");
    for thread in 0..THREADS {
        thread::Builder::new()
            .name(format!("worker {thread}"))
            .spawn(move || log_and_say(thread))
            .expect("start a thread");
    }
    await_death();
    drop(session);
}

fn log_and_say(thread: u32) {
    for number in 0..u64::MAX {
        log(thread, number);
        if number % PERIOD == PERIOD - 1 {
            say(thread, number);
        }
    }
}

/// A message that says where it is from, of a length that varies; one in 64 has a text that no tool has seen, one in 1000
/// goes over several chunks.
fn log(thread: u32, number: u64) {
    if number % 64 == 63 && number < 32_768 {
        let template = format!("%d:%d # template {} of thread {thread}", number / 64);
        dynamic::log(
            &Log::Work,
            Level::Info,
            &template,
            &[Arg::Uint(thread.into()), Arg::Uint(number)],
        );
    } else if number % 1000 == 999 {
        let long = "long ".repeat(300);
        i!(Log::Work, "%d:%d %s%s%s%s", thread, number, long, long, long, long);
    } else {
        let filler = &".".repeat(number as usize * 7 % 32);
        i!(Log::Work, "%d:%d %s", thread, number, filler);
    }
}

/// Thread and number of a message of [`log`], which is whole.
#[track_caller]
pub(crate) fn parse(text: &str) -> (u32, u64) {
    let (thread, rest) = text.split_once(':').unwrap_or_else(|| panic!("{text}"));
    let (number, rest) = rest.split_once(' ').unwrap_or_else(|| panic!("{text}"));
    let (thread, number) = (thread.parse().expect("a thread"), number.parse().expect("a number"));
    let expected = if number % 64 == 63 && number < 32_768 {
        format!("# template {} of thread {thread}", number / 64)
    } else if number % 1000 == 999 {
        "long ".repeat(1200)
    } else {
        ".".repeat(number as usize * 7 % 32)
    };
    assert_eq!(rest, expected, "{text}");
    (thread, number)
}

/// One thread logs 10,000 messages, says so, and waits for its death.
fn write(builder: Builder) {
    let session = builder.start().expect("start a session");
    (0..10_000).for_each(|number| log(0, number));
    say(0, 9_999);
    await_death();
    drop(session);
}

/// Logs, forks a child that logs and stops the session, and logs on. A `bare` child runs no handlers.
fn fork(builder: Builder, bare: bool) {
    let session = builder.buffer_size(RING).start().expect("start a session");
    (0..100).for_each(|number| i!(Log::Work, "parent %d", number));
    let child = if bare {
        let flags = libc::SIGCHLD;
        // SAFETY: the child does nothing but log, which is what is tested, and ends; without a stack and flags it is a fork.
        unsafe { libc::syscall(libc::SYS_clone, flags, 0, 0, 0, 0) as libc::pid_t }
    } else {
        // SAFETY: as above.
        unsafe { libc::fork() }
    };
    if child == 0 {
        (0..20_000).for_each(|number| i!(Log::Work, "child %d", number));
        if !bare {
            dynamic::log(&Log::Work, Level::Info, "first seen in the child", &[]);
        }
        drop(session);
        // SAFETY: ends the process at once.
        unsafe { libc::_exit(0) };
    }
    let mut status = 0;
    // SAFETY: the kernel writes an int to the address.
    unsafe { libc::waitpid(child, &raw mut status, 0) };
    assert_eq!(status, 0, "the child ended well");
    (100..200).for_each(|number| i!(Log::Work, "parent %d", number));
    say(0, 199);
    await_death();
    drop(session);
}

/// Messages of a child that is stopped at every instruction, before that begins.
pub(crate) const WARM: u64 = 1_000;

/// Messages that it logs then.
pub(crate) const STEPPED: u64 = 20;

/// Messages of short threads, which share pages, at [`SHORT_AT`]: their pages are taken again while it is stopped.
pub(crate) const SHORT: u64 = 20;
const SHORT_AT: u64 = 852;

/// The text of message `number` of such a child; one goes over several chunks.
pub(crate) fn step_text(number: u64) -> String {
    let length = if number == WARM + 8 { 9_000 } else { 300 + number as usize % 50 };
    format!("{number} {}", "x".repeat(length))
}

/// Logs until the ring has gone round, then says where its progress is, and lets its parent stop it at each instruction.
fn step(builder: Builder) {
    static PROGRESS: AtomicU64 = AtomicU64::new(WARM);
    let session = builder.max_text(10_000).buffer_size(64 << 10).start().expect("start a session");
    let texts: Vec<String> = (0..WARM + STEPPED).map(step_text).collect();
    let log = |number: u64| i!(Log::Work, "%s", texts[number as usize]);
    (0..SHORT_AT).for_each(log);
    for _ in 0..SHORT {
        thread::spawn(|| i!(Log::Work, "short %s", "s".repeat(50))).join().expect("a thread");
    }
    (SHORT_AT..WARM).for_each(log);
    // SAFETY: no arguments, no effects.
    say(0, unsafe { libc::gettid() } as u64);
    say(0, PROGRESS.as_ptr().addr() as u64);
    let none = std::ptr::null_mut::<libc::c_void>();
    // SAFETY: makes the parent the tracer of this thread.
    let refused = unsafe { libc::ptrace(libc::PTRACE_TRACEME, 0, none, none) };
    say(0, u64::from(refused != 0));
    if refused == 0 {
        // SAFETY: stops this thread until the parent lets it go on.
        unsafe { libc::raise(libc::SIGSTOP) };
        for number in WARM..WARM + STEPPED {
            log(number);
            PROGRESS.store(number + 1, Ordering::Relaxed);
        }
        // SAFETY: as above.
        unsafe { libc::raise(libc::SIGSTOP) };
    }
    await_death();
    drop(session);
}

/// Messages with texts of their own that a child logs whose recording is looked at from its beginning.
pub(crate) const NEW: u64 = 5;

/// Starts a session and logs what no tool has seen, while its parent stops it at each system call.
fn begin(builder: Builder) {
    // SAFETY: no arguments, no effects.
    say(0, unsafe { libc::gettid() } as u64);
    let none = std::ptr::null_mut::<libc::c_void>();
    // SAFETY: makes the parent the tracer of this thread.
    let refused = unsafe { libc::ptrace(libc::PTRACE_TRACEME, 0, none, none) };
    say(0, u64::from(refused != 0));
    if refused == 0 {
        // SAFETY: stops this thread until the parent lets it go on.
        unsafe { libc::raise(libc::SIGSTOP) };
    }
    let session = builder.buffer_size(64 << 10).start().expect("start a session");
    for number in 0..NEW {
        let template = format!("number {number} is %d");
        dynamic::log(&Log::Work, Level::Info, &template, &[Arg::Uint(number)]);
    }
    if refused == 0 {
        // SAFETY: as above.
        unsafe { libc::raise(libc::SIGSTOP) };
    }
    await_death();
    drop(session);
}

/// Says that a thread's messages up to this one are committed.
fn say(thread: u32, number: u64) {
    let mut frame = [0; 12];
    frame[..4].copy_from_slice(&thread.to_ne_bytes());
    frame[4..].copy_from_slice(&number.to_ne_bytes());
    // One write, so that threads' frames do not mix.
    let _ = std::io::stderr().write_all(&frame);
}

fn await_death() {
    let mut word = [0];
    // Without a parent there is nobody to log for.
    let told = std::io::stdin().read(&mut word).unwrap_or(0);
    match (told, word) {
        (1, [b's']) => {
            let nowhere = std::ptr::without_provenance_mut::<u8>(8);
            // SAFETY: none: the process is to die of it.
            unsafe { nowhere.write_volatile(1) };
        }
        _ => std::process::abort(),
    }
}
