//! `read-log --follow`, of a session that writes meanwhile, and of the one after it.

use protolog_rt::{ProtoLogGroup, Session, d, i};
use protolog_testkit::temp_dir;
use std::fs::OpenOptions;
use std::io::{BufRead, BufReader, Lines, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};

#[derive(ProtoLogGroup)]
enum AppLog {
    Net,
}

/// Held by a test while its session runs: a call goes to all sessions of the process.
static ALONE: Mutex<()> = Mutex::new(());

fn alone() -> MutexGuard<'static, ()> {
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// `read-log --follow` that runs, until this is dropped.
struct Following(Child, Lines<BufReader<ChildStdout>>);

impl Following {
    fn start(trace: &Path, args: &[&str]) -> Self {
        let mut tool = Command::new(env!("CARGO_BIN_EXE_protologtool"));
        tool.args(["read-log", "--columns", "message", "--follow"]).args(args).arg(trace);
        tool.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = tool.spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Self(child, lines)
    }

    /// The text on standard error, after it was stopped or has ended.
    fn errors(&mut self) -> String {
        let mut errors = String::new();
        self.0.stderr.take().unwrap().read_to_string(&mut errors).unwrap();
        errors
    }

    /// The next lines; waits for them.
    #[track_caller]
    fn expect(&mut self, lines: &[&str]) {
        for line in lines {
            assert_eq!(self.1.next().unwrap().unwrap(), *line);
        }
    }
}

impl Drop for Following {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_session_and_the_one_after_it_are_followed() {
    let _alone = alone();
    let dir = temp_dir();
    let trace = dir.path().join("app.pftrace");
    let session = Session::builder().file(&trace).enable_all().start().unwrap();
    for number in 0..5 {
        d!(AppLog::Net, "early %d of %s", number, "a kind");
    }
    session.flush().unwrap();
    let mut all = Following::start(&trace, &[]);
    all.expect(&["early 0 of a kind", "early 1 of a kind"]);
    all.expect(&["early 2 of a kind", "early 3 of a kind", "early 4 of a kind"]);
    let mut last = Following::start(&trace, &["-n", "1", "--grep", "early|%|late"]);
    last.expect(&["early 4 of a kind"]);
    // The same message, with a string that was there before; and a new one.
    d!(AppLog::Net, "early %d of %s", 5, "a kind");
    session.flush().unwrap();
    all.expect(&["early 5 of a kind"]);
    last.expect(&["early 5 of a kind"]);
    i!(AppLog::Net, "late %d", 6);
    session.stop().unwrap();
    all.expect(&["late 6"]);
    last.expect(&["late 6"]);
    let session = Session::builder().file(&trace).enable_all().start().unwrap();
    i!(AppLog::Net, "of the next one");
    session.stop().unwrap();
    all.expect(&["of the next one"]);
    drop(last);
    all.0.kill().unwrap();
    let pid = std::process::id();
    assert_eq!(all.errors(), format!("note: process {pid} began another session\n"));
}

#[test]
fn a_pipe_is_followed_to_its_end() {
    let _alone = alone();
    let dir = temp_dir();
    let path = dir.path().join("app.pftrace");
    let session = Session::builder().file(&path).enable_all().start().unwrap();
    i!(AppLog::Net, "first");
    session.flush().unwrap();
    let begun = std::fs::read(&path).unwrap();
    i!(AppLog::Net, "second");
    session.stop().unwrap();
    let whole = std::fs::read(&path).unwrap();

    let mut piped = Following::start(Path::new("-"), &[]);
    let mut pipe = piped.0.stdin.take().unwrap();
    pipe.write_all(&begun).unwrap();
    piped.expect(&["first"]);
    let (rest, last) = whole[begun.len()..].split_at(whole.len() - begun.len() - 1);
    pipe.write_all(rest).unwrap();
    piped.expect(&["second"]);
    pipe.write_all(last).unwrap();
    drop(pipe);
    assert_eq!(piped.0.wait().unwrap().code(), Some(0));

    let mut cut = Following::start(Path::new("-"), &[]);
    cut.0.stdin.take().unwrap().write_all(&whole[..whole.len() - 1]).unwrap();
    cut.expect(&["first", "second"]);
    assert_eq!(cut.0.wait().unwrap().code(), Some(3));
    assert!(
        cut.errors().starts_with("warning: the trace ends within a packet, of which there are ")
    );

    // As `read-log` says it without `--follow`.
    let cut = vec![0x0a, 0xff, 0xff, 0xff, 0xff, 7, 0, 0];
    for end in [vec![0; 5000], cut, vec![0; 200 << 10]] {
        let mut hole = Following::start(Path::new("-"), &[]);
        hole.0.stdin.take().unwrap().write_all(&[&whole[..], &end].concat()).unwrap();
        hole.expect(&["first", "second"]);
        assert_eq!(hole.0.wait().unwrap().code(), Some(3));
        let errors = hole.errors();
        assert!(errors.contains("the trace ends within a packet"), "{errors}");
    }
    let mut torn = Following::start(Path::new("-"), &[]);
    let bytes = [&whole[..], &[0; 5000], &whole].concat();
    torn.0.stdin.take().unwrap().write_all(&bytes).unwrap();
    let mut lines: Vec<String> = torn.1.by_ref().map(Result::unwrap).collect();
    lines.sort();
    assert_eq!(lines, ["first", "first", "second", "second"]);
    assert_eq!(torn.0.wait().unwrap().code(), Some(3));
    assert!(
        torn.errors().contains("warning: bytes of `-` that are zeros or damaged are skipped\n")
    );
}

#[test]
fn segments_are_followed_one_after_the_other() {
    let _alone = alone();
    let dir = temp_dir();
    let path = dir.path().join("app.pftrace");
    let session = Session::builder().file(&path).enable_all().segment_bytes(64 << 10);
    let session = session.start().unwrap();
    i!(AppLog::Net, "message %d of segments", 0);
    session.flush().unwrap();
    let mut by_set = Following::start(&path, &[]);
    let mut by_directory = Following::start(dir.path(), &[]);
    let mut last = Following::start(&path, &["-n", "1"]);
    for following in [&mut by_set, &mut by_directory, &mut last] {
        following.expect(&["message 0 of segments"]);
    }
    for number in 1..20_000 {
        i!(AppLog::Net, "message %d of segments", number);
        if number % 1_000 == 0 {
            session.flush().unwrap();
        }
    }
    session.stop().unwrap();
    for following in [&mut by_set, &mut by_directory, &mut last] {
        for number in 1..20_000 {
            following.expect(&[&*format!("message {number} of segments")]);
        }
    }
    let segments = std::fs::read_dir(dir.path()).unwrap().count();
    assert!(segments > 2, "{segments}");
    // From one of them on; and the last one of all.
    let mut from = Following::start(&dir.path().join("app.0002.pftrace"), &[]);
    assert_ne!(from.1.next().unwrap().unwrap(), "message 0 of segments");
    let mut last = Following::start(&path, &["-n", "1"]);
    last.expect(&["message 19999 of segments"]);
}

#[test]
fn a_recording_is_followed() {
    let _alone = alone();
    let dir = temp_dir();
    let path = dir.path().join("app.rec");
    let session = Session::builder().record_at(&path).buffer_size(128 << 10).enable_all();
    let session = session.start().unwrap();
    i!(AppLog::Net, "message %d of %s", 0, "a recording");
    let mut following = Following::start(&path, &[]);
    following.expect(&["message 0 of a recording"]);
    for number in 1..10 {
        i!(AppLog::Net, "message %d of %s", number, "a recording");
        following.expect(&[&*format!("message {number} of a recording")]);
    }
    // A message over several chunks; and those of another thread.
    let long = "long-".repeat(600);
    i!(AppLog::Net, "%s", &*long);
    following.expect(&[&*long]);
    std::thread::spawn(|| i!(AppLog::Net, "of a thread")).join().unwrap();
    following.expect(&["of a thread"]);
    // More than the buffer has room for is shown, or said to be lost.
    let last = 200_000;
    for number in 10..=last {
        i!(AppLog::Net, "message %d of %s", number, "a recording");
    }
    let (mut shown, mut lost, mut before) = (0, 0, 9);
    while before < last {
        let line = following.1.next().unwrap().unwrap();
        let mut words = line.split(' ');
        match (words.next().unwrap(), words.next().unwrap().parse::<u64>()) {
            ("message", Ok(number)) => {
                assert!(number > before, "{number} after {before}");
                (shown, before) = (shown + 1, number);
            }
            (count, _) => lost += count.parse::<u64>().unwrap_or_else(|_| panic!("{line}")),
        }
    }
    assert_eq!((shown + lost, lost > 0), (last - 9, true), "{lost} lost");
    session.stop().unwrap();
}

/// The name of a variable with the trace that a program writes until it dies.
const DYING: &str = "PROTOLOG_TEST_DYING";

#[test]
fn what_a_dead_process_did_not_write_is_shown() {
    if let Some(path) = std::env::var_os(DYING) {
        let session = Session::builder().file(path).enable_all().start().unwrap();
        i!(AppLog::Net, "the first message");
        session.flush().unwrap();
        let mut line = String::new();
        std::io::stdin().read_line(&mut line).unwrap();
        i!(AppLog::Net, "the last message");
        // The session may write it before; it is shown once.
        std::process::abort();
    }
    let dir = temp_dir();
    let path = dir.path().join("app\u{7}.pftrace");
    let mut program = Command::new(std::env::current_exe().unwrap());
    program.args(["--exact", "what_a_dead_process_did_not_write_is_shown"]).env(DYING, &path);
    let mut program = program.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    while !std::fs::metadata(&path).is_ok_and(|file| file.len() > 0) {
        std::thread::yield_now();
    }
    let mut following = Following::start(&path, &[]);
    following.expect(&["the first message"]);
    program.stdin.take().unwrap().write_all(b"\n").unwrap();
    program.wait().unwrap();
    following.expect(&["the last message"]);
    // The file has what the recording had then, and nothing is shown again.
    let mut recover = Command::new(env!("CARGO_BIN_EXE_protologtool"));
    assert!(recover.arg("recover").arg(&path).output().unwrap().status.success());
    let mut again = OpenOptions::new().append(true).open(&path).unwrap();
    again.write_all(b"no packet").unwrap();
    assert!(following.1.next().is_none());
    assert_eq!(following.0.wait().unwrap().code(), Some(2));
    let errors = following.errors();
    assert!(
        errors.contains("app\\u{7}.pftrace` died; 1 message more from its recording"),
        "{errors}"
    );
    assert!(errors.contains("damaged, so it can't be followed any further"), "{errors}");
}

#[test]
fn what_can_not_be_followed_is_an_error() {
    let dir = temp_dir();
    let check = |args: &[&str], message: &str| {
        let mut tool = Command::new(env!("CARGO_BIN_EXE_protologtool"));
        let output = tool.arg("read-log").args(args).current_dir(dir.path()).output().unwrap();
        let errors = String::from_utf8(output.stderr).unwrap();
        assert_eq!((output.status.code(), errors.contains(message)), (Some(2), true), "{errors}");
    };
    std::fs::write(dir.path().join("text"), "no trace").unwrap();
    std::fs::write(dir.path().join("gz"), [0x1f, 0x8b, 8, 0]).unwrap();
    check(&["-f", "-", "text"], "can't follow `-` beside others\nhelp: follow ");
    check(&["-f", "none"], "can't read `none`");
    check(&["-f", "text"], "can't follow `text`: not a trace, but text");
    check(&["-f", "gz"], "can't follow `gz`: compressed as a whole");
    check(&["-f", "text", "--stats"], "`--stats`");
}
