//! Sessions without a message: the summary, the trace and standard error say why.

use protolog_reader::Trace;
use protolog_rt::{Builder, Level, ProtoLogGroup, Session, Summary, d, w};
use protolog_testkit::{run_any, temp_dir};
use std::path::Path;
use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};

#[derive(ProtoLogGroup)]
enum AppLog {
    Net,
    Disk,
}

/// Groups of this program: those that have a log call.
const GROUPS: &str = "(groups of this program: Disk, Net)";

/// The variable that makes this process the program of a test.
const ROLE: &str = "PROTOLOG_TEST_ROLE";

/// The beginning of the sentence for a name that no group has. With bridges, groups may come with
/// their first message.
fn unknown(name: &str) -> String {
    let is_open = cfg!(any(feature = "log", feature = "tracing"));
    let what = if is_open { "nothing was logged to a group" } else { "no group is" };
    format!("{what} named `{name}` {GROUPS}")
}

/// One test at a time, since the levels of a group belong to all sessions of the process.
fn lock() -> MutexGuard<'static, ()> {
    static LOCK: Mutex<()> = Mutex::new(());
    LOCK.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs a session, and returns its summary, the reader's reason, and the reader's sentences about
/// names.
fn run(
    configure: impl FnOnce(Builder) -> Builder,
) -> (Summary, Option<(String, &'static str)>, Vec<String>) {
    let _lock = lock();
    let dir = temp_dir();
    let path = dir.path().join("app.pftrace");
    let builder = configure(Session::builder()).report_losses(false).file(&path);
    let session = builder.start().expect("start a session");
    d!(AppLog::Net, "sent %d bytes", 1500);
    w!(AppLog::Disk, "full");
    let summary = session.stop().expect("stop the session");
    let log = Trace::open(&path).expect("open the trace").read().expect("read the trace");
    (summary, log.why_empty(), log.unknown_groups())
}

#[test]
fn a_session_that_enabled_nothing_says_so() {
    let (summary, reason, names) = run(|builder| builder);
    let text = "no group was enabled (a session records WTF unless told otherwise)";
    assert_eq!((summary.messages, summary.why_empty.as_deref()), (0, Some(text)));
    let help = "call `enable_all` or `log_from` of the session's builder (in Java `enableAll` or `logFrom`), or `group`";
    assert_eq!(reason, Some((text.into(), help)));
    assert!(names.is_empty());
    let (summary, reason, _) = run(|builder| builder.group("*", None).keep_newest());
    assert_eq!(summary.why_empty.as_deref(), Some("no group was enabled"));
    assert_eq!(reason, Some(("no group was enabled".into(), help)));
}

#[test]
fn a_name_that_no_group_has_is_reported() {
    for ring in [false, true] {
        let configure = |builder: Builder| if ring { builder.keep_first() } else { builder };
        let (summary, reason, names) =
            run(|builder| configure(builder.group("Nett", Level::Debug).group("Dsik", None)));
        assert_eq!(summary.messages, 0);
        assert_eq!(summary.unknown_groups, ["Nett"]);
        assert_eq!(summary.why_empty, Some(unknown("Nett")));
        assert_eq!(reason.map(|(text, _)| text), Some(unknown("Nett")));
        assert_eq!(names, [unknown("Nett")]);
    }
    // Other groups have messages.
    let (summary, reason, names) = run(|builder| {
        builder.log_from(Level::Warn).group("Nett", Level::Debug).collect_stacktrace("Disc")
    });
    assert_eq!((summary.messages, summary.why_empty, reason), (1, None, None));
    assert_eq!(summary.unknown_groups, ["Nett", "Disc"]);
    assert_eq!(names, ["Nett", "Disc"].map(unknown));
    // All of these are names of groups.
    let (summary, _, names) = run(|builder| {
        builder.group("Net", Level::Debug).group("empty::AppLog::Disk", None).group("empty", None)
    });
    assert_eq!((summary.messages, summary.unknown_groups, names), (1, vec![], vec![]));
}

#[test]
fn a_session_that_nothing_was_logged_to_says_how_long_it_ran() {
    let _lock = lock();
    let dir = temp_dir();
    let path = dir.path().join("app.pftrace");
    let _ = Session::builder().file(&path).enable_all().start().expect("start a session");
    d!(AppLog::Net, "after the session");
    let log = Trace::open(&path).expect("open the trace").read().expect("read the trace");
    let (text, help) = log.why_empty().expect("a reason");
    let (before, after) =
        ("nothing was logged at an enabled level in the ", " s that the session ran");
    let seconds = text.strip_prefix(before).and_then(|rest| rest.strip_suffix(after));
    assert!(seconds.is_some_and(|seconds| seconds.parse::<f64>().is_ok()), "{text}");
    let expected =
        "keep the session open while the program logs: it ends when it is dropped (in Java closed)";
    assert_eq!(help, expected);
}

#[test]
fn of_all_groups_the_later_call_wins() {
    let all = |configure: fn(Builder) -> Builder| run(configure).0.messages;
    assert_eq!(all(|builder| builder.log_from(Level::Info).enable_all()), 2);
    assert_eq!(all(|builder| builder.enable_all().log_from(Level::Info)), 1);
    assert_eq!(all(|builder| builder.enable_all().group("*", None)), 0);
    assert_eq!(all(|builder| builder.group("*", None).enable_all()), 2);
    assert_eq!(all(|builder| builder.group("*", None).log_from(Level::Warn)), 1);
    // A group that is named keeps its level, in any order.
    assert_eq!(all(|builder| builder.group("Net", None).log_from(Level::Info).enable_all()), 1);
    assert_eq!(
        all(|builder| builder.enable_all().log_from(Level::Wtf).group("Net", Level::Debug)),
        1
    );
    assert_eq!(all(|builder| builder.group("Net", Level::Debug).log_from(Level::Wtf)), 1);
    // Of one name the last call counts.
    assert_eq!(all(|builder| builder.group("Net", Level::Debug).group("Net", Level::Warn)), 0);
}

#[test]
fn role_of_a_program_that_misspells() {
    if std::env::var_os(ROLE).is_some() {
        for report in [true, false] {
            let builder = Session::builder().file("app.pftrace").group("Nett", Level::Debug);
            let session = builder.report_losses(report).start().expect("start a session");
            d!(AppLog::Net, "sent %d bytes", 1500);
            session.stop().expect("stop the session");
        }
    }
}

#[test]
fn a_line_on_standard_error_names_what_no_group_is_called() {
    let dir = temp_dir();
    let mut again = Command::new(std::env::current_exe().expect("this program"));
    again.args(["--exact", "role_of_a_program_that_misspells", "--nocapture"]);
    let output = run_any(again.current_dir(dir.path()).env(ROLE, "yes"));
    let path = Path::new(&dir.path().canonicalize().expect("the directory")).join("app.pftrace");
    let line = format!("protolog: `{}`: {}\n", path.display(), unknown("Nett"));
    assert_eq!((output.code, output.stderr), (Some(0), line));
}
