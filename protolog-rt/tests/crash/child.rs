//! The process that dies: this test program, run again with a job in its environment.
//!
//! It reports committed messages on standard error, in frames of 12 bytes: the thread and the
//! number of its last message.

use protolog_rt::{ProtoLogGroup, Session, i};
use std::fs::File;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use std::{env, fs, thread};

#[derive(ProtoLogGroup)]
enum Log {
    Work,
}

/// Number of threads of a busy child.
pub(crate) const THREADS: u32 = 4;

const JOB: &str = "PROTOLOG_TEST_JOB";
const TRACE: &str = "PROTOLOG_TEST_TRACE";

/// A session in a static, which nothing drops.
static SESSION: OnceLock<Session> = OnceLock::new();

/// Starts a child with a job, which writes the trace at `path`.
pub(crate) fn start(job: &str, path: &Path) -> Child {
    spawn(&mut Command::new(env::current_exe().expect("this program")), job, path)
}

/// As [`start`], by a command that starts the command which follows.
pub(crate) fn start_by(mut command: Command, job: &str, path: &Path) -> Child {
    spawn(command.arg(env::current_exe().expect("this program")), job, path)
}

fn spawn(command: &mut Command, job: &str, path: &Path) -> Child {
    command
        .args(["--exact", "child::run", "--nocapture", "--test-threads=1"])
        .env(JOB, job)
        .env(TRACE, path)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("start a child")
}

/// The entry point of a child; does nothing in the test run itself. A job is some words: how it
/// logs, how it dies, and how its session is set up.
#[test]
fn run() {
    let Ok(job) = env::var(JOB) else { return };
    // Whoever runs the tests in the background may ignore some of them, which children inherit.
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
        // SAFETY: takes numbers.
        unsafe { libc::signal(signal, libc::SIG_DFL) };
    }
    let path = PathBuf::from(env::var_os(TRACE).expect("a path"));
    let has = |word: &str| job.split(' ').any(|known| known == word);
    if has("stopping") {
        return end_while_stopping(&path, has("term"));
    }
    let mut builder =
        Session::builder().file(path).enable_all().wait_at_most(Duration::from_secs(60));
    if has("small") {
        builder = builder.buffer_size(128 << 10);
    }
    if has("segments") {
        builder = builder.segment_bytes(1 << 20);
    }
    #[cfg(feature = "compression")]
    if has("compressed") {
        builder = builder.compress(1);
    }
    if has("forked") {
        protolog_rt::stop_on_signals().expect("install handlers");
        exit_with_child();
    }
    if has("interrupted") {
        handle_interrupts(0);
    } else if has("once") {
        handle_interrupts(libc::SA_RESETHAND);
    }
    if has("signals") {
        protolog_rt::stop_on_signals().expect("install handlers");
    }
    SESSION.set(builder.start().expect("start a session")).expect("one session");
    if has("stuck") {
        fill_pipe();
    }
    if has("busy") {
        let work = |thread| move || (0..u64::MAX).for_each(|number| log(thread, number));
        for thread in 1..THREADS {
            thread::spawn(work(thread));
        }
        work(0)();
    }
    for number in 0..60 {
        log(0, number);
        thread::sleep(Duration::from_millis(5));
    }
    match () {
        () if has("exit") => std::process::exit(0),
        () if has("abort") => std::process::abort(),
        () if has("interrupted") => exit_when_interrupted(),
        () if has("once") => kill_after_interrupt(),
        () if has("term") => kill_self(libc::SIGTERM),
        () if has("interrupt") => kill_self(libc::SIGINT),
        () => {}
    }
    thread::sleep(Duration::from_secs(600));
}

/// Number of messages that take a while to write.
pub(crate) const MANY: u32 = 300_000;

/// Exits, or dies of a signal, while another thread is writing the messages that its session has
/// kept.
fn end_while_stopping(path: &Path, by_signal: bool) {
    protolog_rt::stop_on_signals().expect("install handlers");
    let session = Session::builder().file(path).enable_all().keep_newest().buffer_size(64 << 20);
    let session = session.start().expect("start a session");
    (0..MANY).for_each(|number| i!(Log::Work, "%d:%d ", 0, number));
    thread::spawn(|| session.stop());
    let is_begun = || {
        let files = fs::read_dir(path.parent().expect("a directory")).expect("files");
        files
            .map(|file| file.expect("a file"))
            .any(|file| file.metadata().is_ok_and(|it| it.len() > 0))
    };
    while !is_begun() {
        thread::yield_now();
    }
    if by_signal {
        kill_self(libc::SIGTERM);
        thread::sleep(Duration::from_secs(600));
    }
    std::process::exit(0);
}

/// Goes on in a child, and exits as that does: with the number of its signal, or 0 if that is
/// SIGTERM.
fn exit_with_child() {
    // SAFETY: no other thread of this process does anything.
    let pid = unsafe { libc::fork() };
    if pid != 0 {
        let mut status = -1;
        // SAFETY: the pointer is to an integer of ours.
        unsafe { libc::waitpid(pid, &raw mut status, 0) };
        std::process::exit(if libc::WTERMSIG(status) == libc::SIGTERM { 0 } else { status });
    }
}

/// The number of times that the program's own handler of SIGINT ran.
static INTERRUPTS: AtomicU32 = AtomicU32::new(0);

/// Installs a handler of SIGINT with these flags.
fn handle_interrupts(flags: i32) {
    extern "C" fn handler(_: i32) {
        INTERRUPTS.fetch_add(1, Ordering::Relaxed);
    }
    // SAFETY: plain numbers and bits, for which zero is a value.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    action.sa_sigaction = handler as extern "C" fn(i32) as usize;
    action.sa_flags = flags;
    // SAFETY: the pointers are to an action of ours and null.
    unsafe { libc::sigaction(libc::SIGINT, &raw const action, std::ptr::null_mut()) };
}

/// Waits in a call of the system, and exits with 7 when a signal has interrupted it; with 8 if none
/// of many does.
fn exit_when_interrupted() {
    // SAFETY: takes nothing.
    let this = unsafe { libc::pthread_self() };
    thread::spawn(move || {
        for _ in 0..500 {
            thread::sleep(Duration::from_millis(10));
            // SAFETY: the thread runs until the process ends.
            unsafe { libc::pthread_kill(this, libc::SIGINT) };
        }
        std::process::exit(8);
    });
    let mut ends = [0; 2];
    // SAFETY: the kernel writes two descriptors.
    unsafe { libc::pipe(ends.as_mut_ptr()) };
    let mut byte = 0u8;
    // SAFETY: the pointer is to one byte.
    let read = unsafe { libc::read(ends[0], (&raw mut byte).cast(), 1) };
    std::process::exit(if read == -1 { 7 } else { 9 });
}

/// Waits for the program's handler, and sends the signal once more.
fn kill_after_interrupt() {
    while INTERRUPTS.load(Ordering::Relaxed) == 0 {
        thread::sleep(Duration::from_millis(1));
    }
    kill_self(libc::SIGINT);
}

fn kill_self(signal: i32) {
    let this = std::process::id() as i32;
    // SAFETY: takes numbers.
    unsafe { libc::kill(this, signal) };
}

/// Fills the pipe that the trace goes to, so that nothing more can be written.
fn fill_pipe() {
    let path = env::var_os(TRACE).expect("a path");
    let mut pipe = File::options();
    let mut pipe = pipe.write(true).custom_flags(libc::O_NONBLOCK).open(path).expect("the pipe");
    while pipe.write(&[0; 4096]).is_ok() {}
}

/// Logs a message with its thread, its number and filler of varying length, and reports it. One in
/// 5000 spans several chunks, which take less than a quarter of the smallest buffer in all threads.
pub(crate) fn log(thread: u32, number: u64) {
    if number % 1000 == 999 {
        let long = "long ".repeat(if number % 5000 == 999 { 400 } else { 80 });
        i!(Log::Work, "%d:%d %s%s%s%s", thread, number, long, long, long, long);
    } else {
        let filler = &".".repeat(number as usize * 7 % 32);
        i!(Log::Work, "%d:%d %s", thread, number, filler);
    }
    if number % 8 == 7 || number < 60 {
        let frame = [&thread.to_ne_bytes()[..], &number.to_ne_bytes()].concat();
        // In one piece, however many threads write.
        // SAFETY: the pointer and the length are those of the frame.
        unsafe { libc::write(2, frame.as_ptr().cast(), frame.len()) };
    }
}
