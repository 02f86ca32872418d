//! Limits of the bytes of sessions: set by an operator while the program runs.

use crate::listen;
use protolog_control::{Error, Program};
use protolog_core::FillPolicy;
use protolog_core::control::protocol::{Request, TraceStart};
use protolog_rt::{LossCause, ProtoLogGroup, Session, d};
use protolog_testkit::temp_dir;

#[derive(ProtoLogGroup)]
enum Written {
    Net,
}

fn set(program: &mut Program, setting: &str) {
    program.request(&Request::Set(setting)).unwrap_or_else(|error| panic!("{setting}: {error}"));
}

fn limits(program: &mut Program) -> Vec<String> {
    let sessions = program.sessions().expect("an answer").expect("a list");
    sessions.iter().map(|it| it.limit.map_or("none".into(), |it| it.to_string())).collect()
}

/// Messages of a flood that a session does not record.
fn suppressed(session: &Session) -> u64 {
    let before = session.summary().lost();
    (0..5_000).for_each(|number| d!(Written::Net, "packet %d", number));
    session.summary().lost() - before
}

#[test]
fn a_limit_holds_for_sessions_that_run_and_for_later_ones() {
    let (program, dir) = (listen(), temp_dir());
    let mut operator = program.connect();
    let builder = || Session::builder().keep_newest().buffer_size(1 << 20).enable_all();
    let file = |name: &str| dir.path().join(name);
    let start = |name: &str| builder().file(file(name)).limit_bytes("1GiB/s");
    let session = start("one").start().expect("start");
    assert_eq!(limits(&mut operator), ["1GiB/s"]);
    assert_eq!(suppressed(&session), 0);
    set(&mut operator, "sessions limit:1 KiB/h burst 16 KiB");
    assert!(suppressed(&session) > 3_000);
    // The same once more fills no bucket.
    set(&mut operator, "sessions limit:1KiB/h:16KiB");
    assert_eq!(suppressed(&session), 5_000);
    let later = builder().file(file("two")).start().expect("start");
    assert_eq!(limits(&mut operator), ["1KiB/h:16KiB", "1KiB/h:16KiB"]);
    assert!(suppressed(&later) > 3_000);
    set(&mut operator, "sessions nolimit");
    assert_eq!(limits(&mut operator), ["none", "none"]);
    assert_eq!((suppressed(&session), suppressed(&later)), (0, 0));
    set(&mut operator, "sessions limit:1KiB/h;sessions default");
    assert_eq!(limits(&mut operator), ["1GiB/s", "none"]);
    let refused = match operator.request(&Request::Set("sessions limit:1MB/s")) {
        Err(Error::Refused { message, help }) => format!("{message} / {help}"),
        other => panic!("{other:?}"),
    };
    assert!(refused.starts_with("invalid limit of bytes `1MB/s` / write bytes"), "{refused}");
    for session in [session, later] {
        let summary = session.stop().expect("stop");
        let limited = |it: &&protolog_rt::Loss| it.cause == LossCause::Limited;
        assert!(summary.losses.iter().find(limited).is_some_and(|it| it.count > 3_000));
    }
}

#[test]
fn the_trace_of_an_operator_says_its_limit() {
    let (program, dir) = (listen(), temp_dir());
    let mut operator = program.connect();
    let file = dir.path().join("trace");
    let start = TraceStart {
        fill_policy: FillPolicy::Stream,
        buffer: 0,
        file: file.to_str().expect("a path"),
        settings: "-",
    };
    operator.request(&Request::TraceStart(start)).expect("start");
    set(&mut operator, "sessions limit:1MiB/s");
    for request in [Request::TraceStatus, Request::Stats] {
        let lines = operator.request(&request).expect("an answer");
        let limits: Vec<_> = lines.iter().filter(|line| line.starts_with("limited ")).collect();
        assert_eq!(limits, ["limited 1MiB/s"], "{lines:?}");
    }
    set(&mut operator, "sessions default");
    let lines = operator.request(&Request::Stats).expect("an answer");
    assert!(!lines.iter().any(|line| line.starts_with("limited")), "{lines:?}");
    operator.request(&Request::TraceStop).expect("stop");
}
