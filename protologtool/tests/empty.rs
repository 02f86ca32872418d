//! Traces without messages, in the words of `read-log`.

use protolog_rt::{Level, ProtoLogGroup, Session, d};
use protolog_testkit::temp_dir;
use std::path::Path;
use std::process::Command;

#[derive(ProtoLogGroup)]
enum AppLog {
    Net,
}

/// Standard error of `read-log`, which prints no entry.
fn errors(trace: &Path) -> String {
    let mut tool = Command::new(env!("CARGO_BIN_EXE_protologtool"));
    let output = tool.arg("read-log").arg(trace).output().unwrap();
    assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(0), &[][..]));
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn an_empty_trace_explains_itself() {
    let dir = temp_dir();
    let path = dir.path().join("app.pftrace");
    let session = Session::builder().file(&path).start().unwrap();
    d!(AppLog::Net, "nobody records this");
    session.stop().unwrap();
    assert_eq!(
        errors(&path),
        "0 messages: no group was enabled (a session records WTF unless told otherwise)\n\
         help: call `enable_all` or `log_from` of the session's builder (in Java `enableAll` or `logFrom`), or `group`\n"
    );
    let builder = Session::builder().file(&path).group("Nett", Level::Debug);
    let session = builder.report_losses(false).start().unwrap();
    d!(AppLog::Net, "nor this");
    session.stop().unwrap();
    let errors = errors(&path);
    assert!(errors.starts_with("0 messages: "), "{errors}");
    assert!(errors.contains("named `Nett` (groups of this program: Net)\nhelp: "), "{errors}");
}

#[test]
fn the_recording_of_a_dead_process_explains_itself() {
    let dir = temp_dir();
    let (path, recording) = (dir.path().join("app.pftrace"), dir.path().join("app.rec"));
    let session =
        Session::builder().record_at(&recording).group("Nett", Level::Debug).start().unwrap();
    d!(AppLog::Net, "nobody records this either");
    let copy = dir.path().join("copy.rec");
    std::fs::copy(&recording, &copy).unwrap();
    drop(session);
    let mut tool = Command::new(env!("CARGO_BIN_EXE_protologtool"));
    let output = tool.arg("recover").arg(&copy).arg("-o").arg(&path).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let errors = errors(&path);
    assert!(errors.starts_with("0 messages: "), "{errors}");
    assert!(errors.contains("named `Nett` (groups of this program: Net)\nhelp: "), "{errors}");
}
