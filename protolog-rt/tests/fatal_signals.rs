//! Signals by which a fault ends a process: what came before is in a file of its own, and the
//! process ends as it would without us.
//!
//! The process is this program, run again: each case with and without a session that waits for the
//! signal. Some are what other crash handlers got wrong: an exit by another signal than the fault's
//! (rust-lang/rust#26458), a stack that has overflowed without a word (xroche/httrack#866), a
//! signal that somebody sends (rust-lang/rust#140662), handlers below ours that need their
//! alternate stack (dotnet/corert#7491) or repair the fault (getsentry/sentry-native#1912).
#![allow(unsafe_code)] // sigaction, mmap, faults.

use protolog_reader::{Recording, Rendering, Trace};
use protolog_rt::{ProtoLogGroup, Session, Triggers, d};
use protolog_testkit::temp_dir;
use std::hint::black_box;
use std::io::Read;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use std::{env, fs, mem, ptr, thread};

#[derive(ProtoLogGroup)]
enum Log {
    Work,
}

/// The directory of the process that ends, how it ends, and whether a session waits for that.
const DIRECTORY: &str = "PROTOLOG_TEST_FATAL";
const CASE: &str = "PROTOLOG_TEST_FATAL_CASE";
const WAITS: &str = "PROTOLOG_TEST_FATAL_WAITS";

fn triggers(dir: &Path) -> Triggers {
    Triggers::to(dir.join("app.pftrace")).keep_files(3)
}

fn start(dir: &Path) -> Session {
    let asks = env::var(WAITS).map_or(true, |value| value == "by itself");
    let triggers = if asks { triggers(dir).on_fatal_signals() } else { triggers(dir) };
    let builder = Session::builder().enable_all().triggers(triggers);
    builder.record_at(dir.join("ring.rec")).start().expect("start a session")
}

/// Not a test of its own: the process that ends.
#[test]
fn child() {
    let Some(dir) = env::var_os(DIRECTORY).map(PathBuf::from) else { return };
    // SAFETY: zeros are a limit.
    let mut core: libc::rlimit = unsafe { mem::zeroed() };
    // SAFETY: the kernel writes a limit to a place of ours.
    unsafe { libc::getrlimit(libc::RLIMIT_CORE, &raw mut core) };
    core.rlim_cur = core.rlim_max;
    // SAFETY: the limit is ours.
    unsafe { libc::setrlimit(libc::RLIMIT_CORE, &raw const core) };
    let case = env::var(CASE).expect("a case");
    before(&case);
    let session = env::var_os(WAITS).is_some().then(|| start(&dir));
    for number in 0..1000u64 {
        d!(Log::Work, "message %d", number);
    }
    end(&case, session);
}

/// A handler, in the one form or the other.
macro_rules! handler {
    ($handler:ident) => {
        $handler as *const () as usize
    };
}

/// Installs the handlers that a case has before the session.
fn before(case: &str) {
    match case {
        "handled and given up" => {
            handle(libc::SIGSEGV, libc::SA_SIGINFO | libc::SA_ONSTACK, handler!(give_up));
        }
        "handled and exits" => handle(libc::SIGFPE, libc::SA_RESTART, handler!(exits)),
        "handled once" => {
            handle(libc::SIGFPE, libc::SA_RESETHAND | libc::SA_NODEFER, handler!(says));
        }
        "raised again by its handler" => {
            handle(libc::SIGBUS, libc::SA_SIGINFO, handler!(raise_again));
        }
        "repaired" => handle(libc::SIGSEGV, libc::SA_SIGINFO, handler!(repair)),
        "ignored" => handle(libc::SIGFPE, 0, libc::SIG_IGN),
        _ => {}
    }
}

fn end(case: &str, session: Option<Session>) {
    match case {
        "main thread" => {
            // Tests have threads of their own; the exit is on the main one.
            mem::forget(session);
            // SAFETY: a function that lives as long as the program.
            unsafe { libc::atexit(fault_at_exit) };
            return;
        }
        "other thread" | "handled and given up" => {
            thread::spawn(fault).join().expect("it is not reached");
        }
        "overflow" => drop(thread::spawn(|| overflow(1)).join()),
        "abort of a panic" => drop(Panics(Panics(()))),
        "bus error" => bus_error(),
        "illegal instruction" => illegal(),
        "handled and exits" | "handled once" | "division" => {
            raise(libc::SIGFPE);
            raise(libc::SIGFPE);
        }
        "raised again by its handler" => raise(libc::SIGBUS),
        "ignored" => {
            raise(libc::SIGFPE);
            raise(libc::SIGKILL);
        }
        "repaired" => {
            let page = page(libc::PROT_NONE);
            PAGE.store(page.expose_provenance(), Ordering::Relaxed);
            // SAFETY: the handler makes it writable.
            unsafe { page.write_volatile(1) };
            d!(Log::Work, "repaired");
            raise(libc::SIGKILL);
        }
        "sent" => {
            println!("ready");
            thread::sleep(Duration::from_secs(60));
        }
        "stopped" => {
            if let Some(session) = session {
                session.stop().expect("stop");
            }
            return fault();
        }
        "fork" => {
            // SAFETY: the child only faults.
            let pid = unsafe { libc::fork() };
            if pid == 0 {
                raise(libc::SIGFPE);
            }
            // SAFETY: a child of ours; its status is of no interest.
            unsafe { libc::waitpid(pid, ptr::null_mut(), 0) };
            raise(libc::SIGKILL);
        }
        _ => unreachable!("{case}"),
    }
    drop(session);
    unreachable!("{case} ends it");
}

fn fault() {
    // SAFETY: none: it is to fault.
    unsafe { black_box(ptr::without_provenance_mut::<u8>(8)).write_volatile(1) };
}

extern "C" fn fault_at_exit() {
    // SAFETY: no arguments.
    if unsafe { libc::gettid() } as u32 == std::process::id() {
        fault();
    }
}

#[allow(unconditional_recursion)] // That is the point.
fn overflow(depth: u64) -> u64 {
    black_box([depth; 64]).iter().sum::<u64>() + overflow(black_box(depth) + 1)
}

struct Panics<T>(T);

impl<T> Drop for Panics<T> {
    fn drop(&mut self) {
        panic!("while it is dropped");
    }
}

static PAGE: AtomicUsize = AtomicUsize::new(0);

fn page(protection: libc::c_int) -> *mut u8 {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
    // SAFETY: a new mapping.
    unsafe { libc::mmap(ptr::null_mut(), 4096, protection, flags, -1, 0) }.cast()
}

fn bus_error() {
    let path = Path::new("mapped");
    fs::write(path, "").expect("write");
    let file = fs::File::options().read(true).write(true).open(path).expect("open");
    file.set_len(4096).expect("make it longer");
    let (both, fd) = (libc::PROT_READ | libc::PROT_WRITE, std::os::fd::AsRawFd::as_raw_fd(&file));
    // SAFETY: a new mapping.
    let page = unsafe { libc::mmap(ptr::null_mut(), 4096, both, libc::MAP_SHARED, fd, 0) };
    file.set_len(0).expect("empty it");
    // SAFETY: none: the file is gone.
    unsafe { page.cast::<u8>().write_volatile(1) };
}

fn illegal() {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: none: it is to end the process.
    unsafe {
        std::arch::asm!("ud2");
    };
    #[cfg(not(target_arch = "x86_64"))]
    raise(libc::SIGILL);
}

fn raise(signal: libc::c_int) {
    // SAFETY: takes a number.
    unsafe { libc::raise(signal) };
}

fn handle(signal: libc::c_int, flags: libc::c_int, handler: usize) {
    // SAFETY: zeros are an action.
    let mut action: libc::sigaction = unsafe { mem::zeroed() };
    (action.sa_flags, action.sa_sigaction) = (flags, handler);
    // SAFETY: an action of ours.
    assert_eq!(unsafe { libc::sigaction(signal, &raw const action, ptr::null_mut()) }, 0);
}

fn say(text: &str) {
    // SAFETY: the bytes are ours.
    unsafe { libc::write(2, text.as_ptr().cast(), text.len()) };
}

extern "C" fn says(_: libc::c_int) {
    say("handled\n");
}

extern "C" fn exits(_: libc::c_int) {
    say("handled\n");
    // SAFETY: takes a number.
    unsafe { libc::_exit(42) };
}

extern "C" fn give_up(signal: libc::c_int, info: *mut libc::siginfo_t, _: *mut libc::c_void) {
    // SAFETY: the kernel has passed it.
    let info = unsafe { &*info };
    // SAFETY: the kernel has set the address of a fault.
    let address = unsafe { info.si_addr() }.addr();
    // SAFETY: zeros are a stack.
    let mut stack: libc::stack_t = unsafe { mem::zeroed() };
    // SAFETY: the kernel writes a stack to a place of ours.
    unsafe { libc::sigaltstack(ptr::null(), &raw mut stack) };
    let is_on_it = stack.ss_flags & libc::SS_ONSTACK != 0;
    say(if address == 8 && is_on_it { "handled\n" } else { "not as it should be\n" });
    handle(signal, 0, libc::SIG_DFL);
}

extern "C" fn raise_again(signal: libc::c_int, _: *mut libc::siginfo_t, _: *mut libc::c_void) {
    say("handled\n");
    handle(signal, 0, libc::SIG_DFL);
    raise(signal);
}

extern "C" fn repair(_: libc::c_int, _: *mut libc::siginfo_t, _: *mut libc::c_void) {
    say("handled\n");
    let page = ptr::with_exposed_provenance_mut(PAGE.load(Ordering::Relaxed));
    // SAFETY: a mapping of ours.
    unsafe { libc::mprotect(page, 4096, libc::PROT_READ | libc::PROT_WRITE) };
}

fn spawn(dir: &Path, case: &str, waits: bool) -> Child {
    let mut command = Command::new(env::current_exe().expect("this program"));
    command.args(["--exact", "child", "--nocapture"]).env(DIRECTORY, dir);
    command.env(CASE, case).current_dir(dir).stdout(Stdio::piped()).stderr(Stdio::piped());
    if waits {
        command.env(WAITS, "by itself");
    }
    command.spawn().expect("start a process")
}

/// Runs a case; returns its status and standard error.
fn run(dir: &Path, case: &str, waits: bool) -> (ExitStatus, String) {
    let output = spawn(dir, case, waits).wait_with_output().expect("wait for it");
    (output.status, String::from_utf8_lossy(&output.stderr).into_owned())
}

/// Returns the texts of a recovered recording about signals, and the number of others.
fn recovered(path: &Path) -> (Vec<String>, usize) {
    let bytes = fs::read(path).expect("the recording");
    let mut trace = Vec::new();
    let report = Recording::parse(&bytes).expect("a recording").write(&mut trace);
    assert_eq!(report.expect("memory").flaws, []);
    texts(Trace::from_bytes(trace))
}

fn texts(trace: Trace) -> (Vec<String>, usize) {
    let log = trace.read().expect("read");
    let texts = log.entries().map(|it| it.values().text(Rendering::Bare));
    let (signals, others): (Vec<_>, Vec<_>) = texts.partition(|it| it.starts_with("trigger: "));
    (signals, others.len())
}

/// What a case leaves, with and without a session that waits for the signal.
#[track_caller]
fn check(case: &str, signal: Option<i32>, expected: &[&str]) {
    let dir = temp_dir();
    let (without, said_without) = run(dir.path(), case, false);
    let (with, said) = run(dir.path(), case, true);
    // The core dump is a part of it.
    assert_eq!(with.into_raw(), without.into_raw(), "{case}: {with} and {without}\n{said}");
    assert_eq!(with.signal(), signal, "{case}: {with}\n{said}");
    let count = |said: &str| said.matches("handled\n").count();
    assert_eq!(count(&said), count(&said_without), "{case}: {said}");
    assert_eq!(case.contains("handle"), said.contains("handled\n"), "{case}: {said}");
    assert!(!said.contains("not as it should be"), "{case}: {said}");
    let (texts, others) = recovered(&dir.path().join("ring.rec"));
    assert_eq!(texts, expected, "{case}");
    assert!(others >= 1000, "{case}: {others}");
}

#[test]
fn a_fault_is_marked_and_ends_the_process_as_before() {
    let segv = Some(libc::SIGSEGV);
    check("main thread", segv, &["trigger: SIGSEGV at address 0x8"]);
    check("other thread", segv, &["trigger: SIGSEGV at address 0x8"]);
    check("abort of a panic", Some(libc::SIGABRT), &["trigger: SIGABRT"]);
    check("division", Some(libc::SIGFPE), &["trigger: SIGFPE"]);
}

/// The variable decides, whatever the program asks for.
#[test]
fn the_environment_decides() {
    for (asks, variable, expected) in [
        ("not", Some("on"), &["trigger: SIGSEGV at address 0x8"][..]),
        ("by itself", Some("off"), &[]),
        ("not", None, &[]),
        ("not", Some(""), &[]),
        ("by itself", Some(""), &["trigger: SIGSEGV at address 0x8"]),
        ("by itself", Some("maybe"), &["trigger: SIGSEGV at address 0x8"]),
    ] {
        let dir = temp_dir();
        let mut command = Command::new(env::current_exe().expect("this program"));
        command.args(["--exact", "child", "--nocapture"]).env(DIRECTORY, dir.path());
        command.env(CASE, "main thread").env(WAITS, asks).current_dir(dir.path());
        command.envs(variable.map(|value| ("PROTOLOG_FATAL_SIGNALS", value)));
        let output = command.output().expect("run it");
        assert_eq!(output.status.signal(), Some(libc::SIGSEGV), "{variable:?}");
        let (texts, others) = recovered(&dir.path().join("ring.rec"));
        assert_eq!(texts, expected, "{asks} {variable:?}");
        assert!(others >= 1000, "{asks} {variable:?}: {others}");
        let said = String::from_utf8_lossy(&output.stderr);
        let is_wrong = variable == Some("maybe");
        let warning = "SIGNALS is `maybe`, which is neither `on` nor `off`\n";
        assert_eq!(said.contains(warning), is_wrong, "{said}");
        assert_eq!(said.contains("FATAL_SIGNALS"), is_wrong, "{said}");
    }
}

#[test]
fn faults_of_all_kinds_are_marked() {
    for (case, signal, name) in
        [("bus error", libc::SIGBUS, "SIGBUS"), ("illegal instruction", libc::SIGILL, "SIGILL")]
    {
        let dir = temp_dir();
        let (without, _) = run(dir.path(), case, false);
        let (with, said) = run(dir.path(), case, true);
        assert_eq!(with.into_raw(), without.into_raw(), "{case}: {with} and {without}\n{said}");
        assert_eq!(with.signal(), Some(signal), "{case}\n{said}");
        let (texts, _) = recovered(&dir.path().join("ring.rec"));
        assert!(texts.len() == 1 && texts[0].contains(name), "{case}: {texts:?}");
    }
}

#[test]
fn an_overflow_of_the_stack_is_reported_and_marked() {
    let dir = temp_dir();
    let (without, _) = run(dir.path(), "overflow", false);
    let (with, said) = run(dir.path(), "overflow", true);
    assert!(said.contains("has overflowed its stack"), "{said}");
    assert_eq!(with.into_raw(), without.into_raw());
    let (texts, _) = recovered(&dir.path().join("ring.rec"));
    assert_eq!(texts.len(), 1, "{texts:?}");
    assert!(texts[0].starts_with("trigger: SIGSEGV at"), "{texts:?}");
    drop(start(dir.path()));
    assert_eq!(causes(dir.path()), ["sigsegv"]);
}

#[test]
fn handlers_that_were_there_are_called_as_before() {
    let segv = "trigger: SIGSEGV at address 0x8";
    check("handled and given up", Some(libc::SIGSEGV), &[segv]);
    check("handled and exits", None, &["trigger: SIGFPE"]);
    check("handled once", Some(libc::SIGFPE), &["trigger: SIGFPE"]);
    check("raised again by its handler", Some(libc::SIGBUS), &["trigger: SIGBUS"]);
}

#[test]
fn a_process_that_lives_on_has_no_mark() {
    for case in ["repaired", "ignored", "fork"] {
        let dir = temp_dir();
        let (with, said) = run(dir.path(), case, true);
        assert_eq!(with.signal(), Some(libc::SIGKILL), "{case}: {with}\n{said}");
        let (texts, others) = recovered(&dir.path().join("ring.rec"));
        assert_eq!(texts, [""; 0], "{case}");
        assert_eq!(others, if case == "repaired" { 1001 } else { 1000 }, "{case}");
        drop(start(dir.path()));
        assert_eq!(causes(dir.path()), [""; 0], "{case}");
    }
}

/// The standard library's handler lets the process live on after the first one that is sent.
#[test]
fn a_signal_that_is_sent_does_what_it_did() {
    let statuses = [false, true].map(|waits| {
        let dir = temp_dir();
        let mut child = spawn(dir.path(), "sent", waits);
        let mut said = Vec::new();
        let mut byte = [0];
        let stdout = child.stdout.as_mut().expect("a pipe");
        while !said.ends_with(b"ready\n") {
            stdout.read_exact(&mut byte).expect("read");
            said.push(byte[0]);
        }
        let mut sent = 0;
        while child.try_wait().expect("look").is_none() {
            // SAFETY: a child of ours.
            unsafe { libc::kill(child.id() as i32, libc::SIGSEGV) };
            sent += 1;
            thread::sleep(Duration::from_millis(100));
        }
        if waits {
            let (texts, _) = recovered(&dir.path().join("ring.rec"));
            assert_eq!(texts, [format!("trigger: SIGSEGV from process {}", std::process::id())]);
        }
        (child.wait().expect("wait").into_raw(), sent)
    });
    assert_eq!(statuses[0], statuses[1]);
}

#[test]
fn a_session_that_was_stopped_is_no_concern_of_signals() {
    let dir = temp_dir();
    let (with, said) = run(dir.path(), "stopped", true);
    assert_eq!(with.signal(), Some(libc::SIGSEGV), "{said}");
    assert!(!dir.path().join("ring.rec").exists());
}

/// The causes in the names of files, sorted.
fn causes(dir: &Path) -> Vec<String> {
    let names = fs::read_dir(dir).expect("list").map(|it| it.expect("an entry").file_name());
    let names = names.filter_map(|name| name.into_string().ok());
    let mut causes: Vec<_> = names
        .filter_map(|name| Some(name.strip_prefix("app.")?.split_once('.')?.0.to_owned()))
        .collect();
    causes.sort();
    causes
}

#[test]
fn the_next_start_makes_the_file() {
    let dir = temp_dir();
    run(dir.path(), "main thread", true);
    drop(start(dir.path()));
    assert_eq!(causes(dir.path()), ["sigsegv"]);
    assert!(!dir.path().join("ring.rec").exists() && !dir.path().join("ring.rec.old").exists());
    let entries = fs::read_dir(dir.path()).expect("list").map(|it| it.expect("an entry").path());
    let mut entries = entries.filter(|it| it.extension().is_some_and(|it| it == "pftrace"));
    let file = entries.next();
    let (signals, others) = texts(Trace::open(file.expect("the file")).expect("open"));
    assert_eq!((signals.len(), others), (1, 1000));
    drop(start(dir.path()));
    assert_eq!(causes(dir.path()), ["sigsegv"], "once");
    // The recording says nothing of a session with another path.
    run(dir.path(), "division", true);
    let other = Triggers::to(dir.path().join("other.pftrace")).on_fatal_signals();
    let builder = Session::builder().enable_all().triggers(other);
    drop(builder.record_at(dir.path().join("ring.rec")).start().expect("start"));
    assert_eq!(causes(dir.path()), ["sigsegv"]);
    assert!(dir.path().join("ring.rec.old").exists());
}

#[test]
fn a_program_that_crashes_at_each_start_keeps_some_files() {
    let dir = temp_dir();
    for case in ["division", "main thread", "main thread", "main thread", "main thread"] {
        let (_, said) = run(dir.path(), case, true);
        assert!(
            case == "division" || said.contains("protolog: the last run ended by SIG"),
            "{said}"
        );
    }
    assert_eq!(causes(dir.path()), ["sigsegv"; 3]);
    fs::write(dir.path().join("app.sigsegv.notes.pftrace"), "somebody's").expect("write");
    drop(start(dir.path()));
    assert_eq!(causes(dir.path()), ["sigsegv"; 4], "three, and one of somebody else");
}

/// Without `record`, the recording is there for signals alone, and goes with the session.
#[test]
fn a_recording_for_signals_is_gone_after_an_exit() {
    let triggers = |dir: &Path| triggers(dir).on_fatal_signals();
    let dir = temp_dir();
    let builder = Session::builder().enable_all().triggers(triggers(dir.path()));
    let session = builder.start().expect("start");
    let path = session.recording().expect("a recording").to_path_buf();
    assert!(path.exists());
    session.stop().expect("stop");
    assert!(!path.exists());
}
