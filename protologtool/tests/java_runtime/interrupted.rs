//! Threads that the application has interrupted: services do so to all of a pool, and go on.

use super::{classes, messages};
use protolog_testkit::{java_25, run_any, temp_dir};
use std::path::Path;
use std::process::Command;

fn check_interrupted(java: &Path) {
    let dir = temp_dir();
    let Some(classes) = classes() else { return };
    let mut java = Command::new(java);
    let output = run_any(java.arg("-cp").arg(classes).arg("app.Interrupted").arg(dir.path()));
    assert_eq!((output.code, output.stderr.as_str()), (Some(0), ""));
    let expected = "stream 3 0\nsegments 3 0\nkeep 3 0\nrecord 3 0\ntext 4 null\n";
    assert_eq!(output.stdout, expected);
    assert_eq!(
        messages(&dir.path().join("stream.pftrace")),
        [
            "INFO Work: a template of an interrupted thread, for stream",
            "INFO x.Y: of a bridge: stream",
            "INFO Work: after all were interrupted",
        ]
    );
}

#[test]
fn an_interrupted_thread_can_do_anything() {
    check_interrupted(Path::new("java"));
    if let Some(java) = java_25() {
        check_interrupted(&java);
    }
}
