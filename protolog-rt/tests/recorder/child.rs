//! The process that is killed: this test program, run again with a job in its environment.
//!
//! It reports committed messages on standard error, in frames of 12 bytes: the thread and the
//! number of its last message. Standard input tells it how to crash.

use crate::progress;
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

/// Number of threads of the job `work`.
pub(crate) const THREADS: u32 = 8;

/// Number of messages between two reports of a thread.
pub(crate) const PERIOD: u64 = 8;

/// Size of the ring of the job `work` in bytes.
pub(crate) const RING: usize = 128 << 10;

const JOB: &str = "PROTOLOG_TEST_JOB";
const RECORDING: &str = "PROTOLOG_TEST_RECORDING";

/// The cause of a child's death.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Death {
    Kill,
    Abort,
    BadAddress,
}

/// A running child.
pub(crate) struct RunningChild {
    pub(crate) child: Child,
}

/// Starts a child with a job. Its recording is at `path`.
pub(crate) fn start(job: &str, path: &Path) -> RunningChild {
    start_with(job, path, &[])
}

/// Likewise, with more variables in its environment.
pub(crate) fn start_with(job: &str, path: &Path, more: &[(&str, String)]) -> RunningChild {
    let program = env::current_exe().expect("this program");
    let child = Command::new(program)
        .args(["--exact", "child::run", "--nocapture", "--test-threads=1"])
        .env(JOB, job)
        .env(RECORDING, path)
        .envs(more.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("start a child");
    RunningChild { child }
}

impl RunningChild {
    /// Ends the child with `death` and waits for it.
    pub(crate) fn die(&mut self, death: Death) {
        let mut send = |word: &[u8]| {
            let stdin = self.child.stdin.as_mut().expect("a pipe");
            stdin.write_all(word).expect("write to the child");
        };
        match death {
            Death::Kill => self.child.kill().expect("kill the child"),
            Death::Abort => send(b"a"),
            Death::BadAddress => send(b"s"),
        }
        let status = self.child.wait().expect("wait for the child");
        assert!(!status.success(), "it died of {death:?}: {status}");
    }
}

/// The entry point of a child; does nothing in the test run itself.
#[test]
fn run() {
    let Ok(job) = env::var(JOB) else { return };
    let recording = PathBuf::from(env::var_os(RECORDING).expect("a path"));
    let builder = Session::builder().enable_all().record_at(recording.clone());
    match job.as_str() {
        "work" => work(builder.buffer_size(RING)),
        "newest" => {
            let session = progress::log(builder, &recording);
            await_death();
            drop(session);
        }
        "write" => write(builder),
        "fork" => fork(builder, false),
        "clone" => fork(builder, true),
        "single_step" => single_step(builder),
        "startup" => startup(builder),
        "exit" => {
            let session = builder.start().expect("start a session");
            i!(Log::Work, "last words");
            std::mem::forget(session);
            std::process::exit(0);
        }
        other => panic!("no job `{other}`"),
    }
}

/// Logs in several threads until the process dies.
fn work(builder: Builder) {
    let session = builder.start().expect("start a session");
    for thread in 0..THREADS {
        thread::Builder::new()
            .name(format!("worker {thread}"))
            .spawn(move || log_and_report(thread))
            .expect("start a thread");
    }
    await_death();
    drop(session);
}

fn log_and_report(thread: u32) {
    for number in 0..u64::MAX {
        log(thread, number);
        if number % PERIOD == PERIOD - 1 {
            report(thread, number);
        }
    }
}

/// Logs a message with its thread, its number and filler of varying length. One in 64 has a dynamic
/// template, one in 1000 spans several chunks.
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

/// Thread and number of a message of [`log`]. Checks that it is complete.
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

/// Logs 10,000 messages in one thread, reports them, and waits for its death.
fn write(builder: Builder) {
    let session = builder.start().expect("start a session");
    (0..10_000).for_each(|number| log(0, number));
    report(0, 9_999);
    await_death();
    drop(session);
}

/// Logs, forks a child that logs and stops the session, and continues to log. A `bare` child runs
/// no fork handlers.
fn fork(builder: Builder, bare: bool) {
    // The child would say that it records nothing, where frames are expected.
    let builder = builder.buffer_size(RING).report_losses(false);
    let session = builder.start().expect("start a session");
    (0..100).for_each(|number| i!(Log::Work, "parent %d", number));
    let child = if bare {
        let flags = libc::SIGCHLD;
        // SAFETY: the child does nothing but log, which is what is tested, and ends; without a
        // stack and flags it is a fork.
        unsafe { libc::syscall(libc::SYS_clone, flags, 0, 0, 0, 0) as libc::pid_t }
    } else {
        // SAFETY: the child does nothing but log, which is what is tested, and ends with `_exit`.
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
    report(0, 199);
    await_death();
    drop(session);
}

/// Number of messages of the job `single_step` before its parent stops it at every instruction.
pub(crate) const WARM_UP: u64 = 1_000;

/// Number of messages that it logs after that.
pub(crate) const STEPPED: u64 = 20;

/// Number of short-lived threads with one message each, started after message [`SHORT_THREADS_AT`].
/// They share pages, which the single-stepped messages overwrite.
pub(crate) const SHORT_THREADS: u64 = 20;
const SHORT_THREADS_AT: u64 = 852;

/// The text of message `number` of the job `single_step`; one spans several chunks.
pub(crate) fn step_text(number: u64) -> String {
    let length = if number == WARM_UP + 8 { 9_000 } else { 300 + number as usize % 50 };
    format!("{number} {}", "x".repeat(length))
}

/// Logs until the ring has wrapped, then reports the address of its progress and lets its parent
/// stop it at each instruction.
fn single_step(builder: Builder) {
    static PROGRESS: AtomicU64 = AtomicU64::new(WARM_UP);
    let session =
        builder.max_string_bytes(10_000).buffer_size(64 << 10).start().expect("start a session");
    let texts: Vec<String> = (0..WARM_UP + STEPPED).map(step_text).collect();
    let log = |number: u64| i!(Log::Work, "%s", texts[number as usize]);
    (0..SHORT_THREADS_AT).for_each(log);
    for _ in 0..SHORT_THREADS {
        thread::spawn(|| i!(Log::Work, "short %s", "s".repeat(50))).join().expect("a thread");
    }
    (SHORT_THREADS_AT..WARM_UP).for_each(log);
    // SAFETY: no arguments, no effects.
    report(0, unsafe { libc::gettid() } as u64);
    report(0, PROGRESS.as_ptr().addr() as u64);
    let none = std::ptr::null_mut::<libc::c_void>();
    // SAFETY: makes the parent the tracer of this thread.
    let refused = unsafe { libc::ptrace(libc::PTRACE_TRACEME, 0, none, none) };
    report(0, u64::from(refused != 0));
    if refused == 0 {
        // SAFETY: stops this thread until the parent lets it go on.
        unsafe { libc::raise(libc::SIGSTOP) };
        for number in WARM_UP..WARM_UP + STEPPED {
            log(number);
            PROGRESS.store(number + 1, Ordering::Relaxed);
        }
        // SAFETY: stops this thread until the parent lets it go on.
        unsafe { libc::raise(libc::SIGSTOP) };
    }
    await_death();
    drop(session);
}

/// Number of messages with dynamic templates that the job `startup` logs.
pub(crate) const DYNAMIC_MESSAGES: u64 = 5;

/// Starts a session and logs messages with dynamic templates, while its parent stops it at each
/// system call.
fn startup(builder: Builder) {
    // SAFETY: no arguments, no effects.
    report(0, unsafe { libc::gettid() } as u64);
    let none = std::ptr::null_mut::<libc::c_void>();
    // SAFETY: makes the parent the tracer of this thread.
    let refused = unsafe { libc::ptrace(libc::PTRACE_TRACEME, 0, none, none) };
    report(0, u64::from(refused != 0));
    if refused == 0 {
        // SAFETY: stops this thread until the parent lets it go on.
        unsafe { libc::raise(libc::SIGSTOP) };
    }
    let session = builder.buffer_size(64 << 10).start().expect("start a session");
    for number in 0..DYNAMIC_MESSAGES {
        let template = format!("number {number} is %d");
        dynamic::log(&Log::Work, Level::Info, &template, &[Arg::Uint(number)]);
    }
    if refused == 0 {
        // SAFETY: stops this thread until the parent lets it go on.
        unsafe { libc::raise(libc::SIGSTOP) };
    }
    await_death();
    drop(session);
}

/// Reports that a thread's messages up to this one are committed.
fn report(thread: u32, number: u64) {
    let mut frame = [0; 12];
    frame[..4].copy_from_slice(&thread.to_ne_bytes());
    frame[4..].copy_from_slice(&number.to_ne_bytes());
    // One write, so that frames of threads do not interleave.
    let _ = std::io::stderr().write_all(&frame);
}

pub(crate) fn await_death() {
    let mut word = [0];
    // The end of the input means that the parent has ended.
    let length = std::io::stdin().read(&mut word).unwrap_or(0);
    match (length, word) {
        (1, [b's']) => {
            let nowhere = std::ptr::without_provenance_mut::<u8>(8);
            // SAFETY: this is undefined behaviour on purpose: the process must die of the page
            // fault.
            unsafe { nowhere.write_volatile(1) };
        }
        _ => std::process::abort(),
    }
}
