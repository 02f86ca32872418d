//! Text outputs that stop taking text: the program goes on, each dropped message is counted, and
//! the count is shown once the output takes text again.
//!
//! Each case is a process of its own, since a process has one sink and one standard error. It logs
//! more than its queue holds while nobody takes its text, says so, and goes on when it is told that
//! somebody does. A call that waited for its output would never say so; a limit of time ends such a
//! process.
#![allow(unsafe_code)] // A named pipe, a pseudoterminal.

use protolog_rt::text::{Journald, RotatingFile, Syslog, TextLine, TextSink, flush, set_sink};
use protolog_rt::{Level, ProtoLogGroup, Session, i, print_group, text};
use protolog_testkit::temp_dir_for_sockets;
use std::ffi::CString;
use std::fs::{File, OpenOptions};
use std::io::{BufRead as _, BufReader, Read, Write as _, stdin};
use std::os::fd::{AsRawFd as _, FromRawFd as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Mutex, MutexGuard};
use std::thread;
use std::time::Duration;

#[derive(ProtoLogGroup)]
enum Log {
    Net,
}

/// The environment variables that make the child process one: the output, and a path.
const OUTPUT: &str = "PROTOLOG_STALL_OUTPUT";
const PATH: &str = "PROTOLOG_STALL_PATH";

/// Messages that are logged while nobody takes them: some 2 MB of lines.
const MESSAGES: usize = 20_000;

/// Longer than anything here takes.
const LIMIT: Duration = Duration::from_secs(60);

/// Runs in the child.
fn child(output: &str) {
    if output == "abort" {
        print_group(&Log::Net, Some(Level::Info));
        i!(Log::Net, "the last one");
        std::process::abort();
    }
    static GATE: Mutex<()> = Mutex::new(());
    struct Gated;
    impl TextSink for Gated {
        fn show(&self, line: &TextLine<'_>) {
            let _gate = GATE.lock().unwrap();
            assert_ne!(line.thread, 0);
            println!("{} {:?} : {}", line.tag, line.level, line.text);
        }
    }
    let mut gate: Option<MutexGuard<'_, ()>> = None;
    let path = std::env::var_os(PATH).map(PathBuf::from).unwrap_or_default();
    match output {
        "file" => set_sink(RotatingFile::open(path, u64::MAX, 1).expect("open it")).unwrap(),
        "syslog" => set_sink(Syslog::connect_to(path).expect("connect")).unwrap(),
        "journal" => set_sink(Journald::connect_to(path).expect("connect")).unwrap(),
        "sink" => {
            gate = Some(GATE.lock().unwrap());
            set_sink(Gated).unwrap();
        }
        _ => {}
    }
    let dir = temp_dir_for_sockets();
    let trace = dir.path().join("a.pftrace");
    let session = Session::builder().file(trace).enable_all().start().expect("start");
    print_group(&Log::Net, Some(Level::Info));
    for number in 0..MESSAGES {
        i!(Log::Net, "message %d %s", number, "x".repeat(60));
    }
    let summary = session.stop().expect("stop");
    assert_eq!(summary.messages as usize, MESSAGES);
    println!("\nlogged");
    if output == "exit" {
        return;
    }
    stdin().read_line(&mut String::new()).expect("a word");
    drop(gate);
    assert!(flush(LIMIT), "somebody takes it");
    i!(Log::Net, "the last one");
    assert!(flush(LIMIT), "somebody takes it");
    println!("dropped {}", text::dropped());
}

/// The child process, as its parent sees it.
struct Stalled {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
}

impl Stalled {
    /// Starts the process with this standard error, and waits until it has logged all.
    fn start(test: &str, output: &str, path: &Path, stderr: Stdio) -> Self {
        let program = std::env::current_exe().expect("the test itself");
        let mut command = Command::new(program);
        command.args(["--exact", test, "--nocapture"]).env(OUTPUT, output).env(PATH, path);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(stderr);
        let mut child = command.spawn().expect("run the test itself");
        let id = child.id() as libc::pid_t;
        thread::spawn(move || {
            thread::sleep(LIMIT);
            // SAFETY: a signal to a process of ours; if its id is another's by now, this test is
            // over.
            unsafe { libc::kill(id, libc::SIGKILL) };
        });
        let (stdin, stdout) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let mut stalled = Self { child, stdin, stdout: BufReader::new(stdout) };
        stalled.read_until("logged");
        stalled
    }

    /// Reads lines up to one that begins with `word`; returns that, and all before it.
    fn read_until(&mut self, word: &str) -> (String, Vec<String>) {
        let mut lines = Vec::new();
        loop {
            let mut line = String::new();
            let length = self.stdout.read_line(&mut line).expect("read");
            assert!(length > 0, "the process went on although nobody took its text: {lines:?}");
            if line.starts_with(word) {
                return (line, lines);
            }
            lines.push(line);
        }
    }

    /// Tells the process that its text is taken. Returns the number of messages that it dropped,
    /// and what it printed itself.
    fn finish(mut self) -> (usize, Vec<String>) {
        self.stdin.write_all(b"go\n").expect("tell it");
        let (line, lines) = self.read_until("dropped ");
        let status = self.child.wait().expect("wait");
        assert!(status.success(), "{status}");
        (line.trim().rsplit(' ').next().unwrap().parse().expect("a number"), lines)
    }
}

/// Checks that the messages that were shown are the first ones, that the others are counted, and
/// that the count is shown.
fn check<S: AsRef<str>>(lines: &[S], dropped: usize) {
    let mut next = 0;
    let mut reported = 0;
    for line in lines {
        let line = line.as_ref();
        if let Some((_, message)) = line.split_once("message ") {
            let number: usize = message.split(' ').next().unwrap().parse().expect(line);
            assert!(number >= next, "{number} after {next}");
            next = number + 1;
        } else if let Some((before, _)) = line.split_once(" dropped: ") {
            // `… 7 lines of text were`, or `… 7 messages were`
            let words: Vec<&str> = before.split(' ').collect();
            let named = words
                .iter()
                .rposition(|word| word.starts_with("line") || word.starts_with("message"));
            reported += words[named.expect(line) - 1].parse::<usize>().expect(line);
        }
    }
    let shown = lines.iter().filter(|line| line.as_ref().contains("message ")).count();
    assert!(dropped > 0 && shown > 1_000, "{shown} shown, {dropped} dropped");
    assert_eq!((shown + dropped, reported), (MESSAGES, dropped));
    assert!(lines.last().unwrap().as_ref().contains("the last one"), "all that fits is shown");
}

fn is_child() -> bool {
    let output = std::env::var(OUTPUT).ok();
    output.map(|output| child(&output)).is_some()
}

#[test]
fn standard_error_is_a_pipe() {
    if is_child() {
        return;
    }
    let mut stalled =
        Stalled::start("standard_error_is_a_pipe", "stderr", Path::new(""), Stdio::piped());
    let lines = lines_of(stalled.child.stderr.take().unwrap());
    let (dropped, _) = stalled.finish();
    check(&lines.join().unwrap(), dropped);
}

/// Reads lines to the end, on another thread.
fn lines_of(mut from: impl Read + Send + 'static) -> thread::JoinHandle<Vec<String>> {
    thread::spawn(move || {
        let mut all = String::new();
        // A terminal whose program has ended is an error.
        let _ = from.read_to_string(&mut all);
        all.lines().map(str::to_owned).collect()
    })
}

#[test]
fn a_process_ends_though_its_pipe_is_stuck() {
    if is_child() {
        return;
    }
    let test = "a_process_ends_though_its_pipe_is_stuck";
    let mut stalled = Stalled::start(test, "exit", Path::new(""), Stdio::piped());
    assert!(stalled.child.wait().expect("wait").success());
}

#[test]
fn the_last_line_before_an_abort_is_kept() {
    if is_child() {
        return;
    }
    let dir = temp_dir_for_sockets();
    let path = dir.path().join("err");
    let program = std::env::current_exe().expect("the test itself");
    let mut command = Command::new(program);
    command.args(["--exact", "the_last_line_before_an_abort_is_kept", "--nocapture"]);
    command.env(OUTPUT, "abort").stdout(Stdio::null());
    let is_kept = |text: &[u8]| text.ends_with(b" I Net     : the last one\n");
    let output = command.stderr(Stdio::piped()).output().expect("run the test itself");
    assert!(is_kept(&output.stderr) && !output.status.success(), "{output:?}");
    // A file's line is written by another thread, which may get no time on a busy machine.
    let tries = (0..10).map(|_| {
        command
            .stderr(File::create(&path).expect("create it"))
            .status()
            .expect("run the test itself");
        std::fs::read(&path).expect("read it")
    });
    assert!(tries.into_iter().any(|text| is_kept(&text)));
}

#[test]
fn standard_error_is_a_terminal() {
    if is_child() {
        return;
    }
    // SAFETY: no pointers.
    let master = unsafe { libc::posix_openpt(libc::O_RDWR | libc::O_NOCTTY) };
    assert!(master >= 0);
    // SAFETY: the descriptor is ours alone from here on.
    let master = unsafe { File::from_raw_fd(master) };
    // SAFETY: no pointers.
    assert_eq!(unsafe { libc::unlockpt(master.as_raw_fd()) }, 0);
    let mut name = [0; 64];
    // SAFETY: the buffer is as long as it says.
    let named =
        unsafe { libc::ptsname_r(master.as_raw_fd(), name.as_mut_ptr().cast(), name.len()) };
    assert_eq!(named, 0);
    let end = name.iter().position(|byte| *byte == 0).unwrap();
    let path = std::str::from_utf8(&name[..end]).expect("a path");
    let open = || OpenOptions::new().read(true).write(true).open(path).expect("open it");
    // The other end stays open, so that reading is no error before all is read.
    let kept = open();
    let stalled =
        Stalled::start("standard_error_is_a_terminal", "stderr", Path::new(""), open().into());
    let lines = lines_of(master);
    let (dropped, _) = stalled.finish();
    drop(kept);
    check(&lines.join().unwrap(), dropped);
}

#[test]
fn a_file_whose_disk_hangs() {
    if is_child() {
        return;
    }
    let dir = temp_dir_for_sockets();
    let path = dir.path().join("pipe");
    let name = CString::new(path.as_os_str().as_bytes()).expect("a path");
    // SAFETY: the name is a C string.
    assert_eq!(unsafe { libc::mkfifo(name.as_ptr(), 0o600) }, 0);
    // A file as far as the sink knows.
    let ours = OpenOptions::new().read(true).write(true).open(&path).expect("open it");
    let stalled = Stalled::start("a_file_whose_disk_hangs", "file", &path, Stdio::null());
    let reader = File::open(&path).expect("open it");
    drop(ours);
    let lines = lines_of(reader);
    let (dropped, _) = stalled.finish();
    check(&lines.join().unwrap(), dropped);
}

#[test]
fn a_sink_of_the_programs_own_waits() {
    if is_child() {
        return;
    }
    let test = "a_sink_of_the_programs_own_waits";
    let (dropped, lines) = Stalled::start(test, "sink", Path::new(""), Stdio::null()).finish();
    check(&lines, dropped);
}

/// The test of a daemon that does not receive.
fn daemon(test: &str, output: &str) {
    if is_child() {
        return;
    }
    let dir = temp_dir_for_sockets();
    let path = dir.path().join("log");
    let socket = UnixDatagram::bind(&path).expect("bind");
    let stalled = Stalled::start(test, output, &path, Stdio::null());
    let receiver = thread::spawn(move || {
        let mut buffer = vec![0; 1 << 16];
        let mut all = Vec::new();
        while all.last().is_none_or(|last: &String| !last.contains("the last one")) {
            let length = socket.recv(&mut buffer).expect("receive");
            all.push(
                String::from_utf8_lossy(&buffer[..length])
                    .replace(|char: char| char.is_control(), " "),
            );
        }
        all
    });
    let (dropped, _) = stalled.finish();
    let lines = receiver.join().unwrap();
    check(&lines, dropped);
}

#[test]
fn syslog_does_not_receive() {
    daemon("syslog_does_not_receive", "syslog");
}

#[test]
fn the_journal_does_not_receive() {
    daemon("the_journal_does_not_receive", "journal");
}
