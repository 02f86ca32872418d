//! Two Java programs and one of Rust that pass a token: one trace of all has their messages in the
//! order in which they were logged.

use super::{classes, messages, tool};
use protolog_rt::{ProtoLogGroup, Session, i};
use protolog_testkit::{java, temp_dir};
use std::io::{BufRead, BufReader, Lines, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

/// Messages of each program.
const TURNS: u64 = 2000;

#[derive(ProtoLogGroup)]
enum TokenLog {
    Rust,
}

/// A program that takes the token and gives it back.
struct Peer {
    child: Child,
    to: ChildStdin,
    from: Lines<BufReader<ChildStdout>>,
}

impl Peer {
    fn start(classes: &Path, trace: &str) -> Self {
        let mut java = java().expect("java");
        java.arg("-cp").arg(classes).args(["app.Token", trace]);
        let mut child =
            java.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("start java");
        let to = child.stdin.take().unwrap();
        let from = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { child, to, from }
    }

    fn pass(&mut self, turn: u64) -> u64 {
        writeln!(self.to, "{turn}").unwrap();
        self.from.next().unwrap().unwrap().parse().unwrap()
    }

    fn end(mut self) {
        drop(self.to);
        assert!(self.child.wait().unwrap().success());
    }
}

#[test]
fn one_trace_of_java_and_rust_is_in_order() {
    let dir = temp_dir();
    let Some(classes) = classes() else { return };
    let path = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    let mut one = Peer::start(classes, &path("one.pftrace"));
    let mut two = Peer::start(classes, &path("two.pftrace"));
    let session = Session::builder().file(path("rust.pftrace")).enable_all().start().unwrap();
    let mut turn = 0_u64;
    for _ in 0..TURNS {
        i!(TokenLog::Rust, "turn %d", turn);
        turn = one.pass(turn);
        turn = two.pass(turn) + 1;
    }
    session.stop().unwrap();
    one.end();
    two.end();
    let all = path("all.pftrace");
    let traces = ["one", "rust", "two"].map(|name| path(&format!("{name}.pftrace")));
    tool(&["merge", &traces[0], &traces[1], &traces[2], "-o", &all]);
    let texts = messages(all.as_ref());
    let expected = (0..3 * TURNS).map(|turn| {
        let tag = if turn % 3 == 0 { "Rust" } else { "Net" };
        format!("INFO {tag}: turn {turn}")
    });
    let wrong = texts.iter().zip(expected).find(|(found, expected)| *found != expected);
    assert_eq!((texts.len() as u64, wrong), (3 * TURNS, None));
}
