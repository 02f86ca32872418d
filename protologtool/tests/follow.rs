//! `read-log --follow`, of a session that writes meanwhile, and of the one after it.

use protolog_rt::{ProtoLogGroup, Session, d, i};
use protolog_testkit::temp_dir;
use std::io::{BufRead, BufReader, Lines, Read};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

#[derive(ProtoLogGroup)]
enum AppLog {
    Net,
}

/// `read-log --follow` that runs, until this is dropped.
struct Following(Child, Lines<BufReader<ChildStdout>>);

impl Following {
    fn start(trace: &Path, args: &[&str]) -> Self {
        let mut tool = Command::new(env!("CARGO_BIN_EXE_protologtool"));
        tool.args(["read-log", "--columns", "message", "--follow"]).args(args).arg(trace);
        let mut child = tool.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Self(child, lines)
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
    let mut errors = String::new();
    all.0.kill().unwrap();
    all.0.stderr.take().unwrap().read_to_string(&mut errors).unwrap();
    assert_eq!(errors, "note: the file was replaced; this is the new one\n");
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
    check(&["-f", "-"], "can't follow `-`: no regular file\nhelp: follow ");
    check(&["-f", "none"], "can't read `none`");
    check(&["-f", "text"], "can't follow `text`: not a trace, but text");
    check(&["-f", "gz"], "can't follow `gz`: compressed as a whole");
    check(&["-f", "text", "--stats"], "`--stats`");
}
