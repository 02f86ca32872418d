//! A Java and a Rust program that pass a token: one trace of both has their messages in the order in which they were logged.

use super::{classes, messages, tool};
use protolog_rt::{ProtoLogGroup, Session, i};
use protolog_testkit::temp_dir;
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

/// Messages of each program.
const TURNS: u64 = 2000;

#[derive(ProtoLogGroup)]
enum TokenLog {
    Rust,
}

#[test]
fn one_trace_of_java_and_rust_is_in_order() {
    let dir = temp_dir();
    let Some(classes) = classes() else { return };
    let path = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    let mut java = Command::new("java");
    java.arg("-cp").arg(classes).arg("app.Token").arg(dir.path());
    let mut child = java.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("start java");
    let mut to = child.stdin.take().unwrap();
    let mut from = BufReader::new(child.stdout.take().unwrap()).lines();
    let session = Session::builder().file(path("rust.pftrace")).enable_all().start().unwrap();
    let mut turn = 0_u64;
    for _ in 0..TURNS {
        i!(TokenLog::Rust, "turn %d", turn);
        writeln!(to, "{turn}").unwrap();
        turn = from.next().unwrap().unwrap().parse::<u64>().unwrap() + 1;
    }
    session.stop().unwrap();
    drop(to);
    assert!(child.wait().unwrap().success());
    let both = path("both.pftrace");
    tool(&["merge", &path("java.pftrace"), &path("rust.pftrace"), "-o", &both]);
    let texts = messages(both.as_ref());
    let expected = (0..2 * TURNS).map(|turn| {
        let tag = if turn % 2 == 0 { "Rust" } else { "Net" };
        format!("INFO {tag}: turn {turn}")
    });
    let wrong = texts.iter().zip(expected).find(|(found, expected)| *found != expected);
    assert_eq!((texts.len() as u64, wrong), (2 * TURNS, None));
}
