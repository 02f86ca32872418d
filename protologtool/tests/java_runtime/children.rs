//! Java programs that start other programs while they log: neither has anything of the other.

use super::{classes, messages, tool};
use protolog_testkit::{run_any, temp_dir};
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

#[test]
fn a_child_that_logs_leaves_its_own_trace() {
    let dir = temp_dir();
    let Some(classes) = classes() else { return };
    let (parent, child) = (dir.path().join("parent.pftrace"), dir.path().join("child.pftrace"));
    let mut java = Command::new("java");
    java.arg("-cp").arg(classes).arg("app.Parent").arg(&parent);
    java.args(["java", "-cp"]).arg(classes).arg("app.Surrounded").arg(&child).arg("5000");
    let output = run_any(&mut java);
    assert_eq!((output.code, output.stderr.as_str()), (Some(0), ""));
    assert!(output.stdout.ends_with("\n5000 0\n"), "{}", output.stdout);
    let texts = messages(&parent);
    assert_eq!(texts.first().unwrap(), "INFO Net: starts");
    assert_eq!(texts.last().unwrap(), "INFO Net: the child has ended with 0");
    assert!(texts[1..texts.len() - 1].iter().all(|text| text.starts_with("DEBUG Disk: waits, ")));
    let texts = messages(&child);
    assert_eq!(texts.len(), 5000);
    assert!(texts.iter().all(|text| text.ends_with("of a program that goes on")));
}

/// The child lives on, and nothing says that its parent does.
#[test]
fn what_a_killed_parent_has_logged_is_recovered_while_its_child_lives() {
    let dir = temp_dir();
    let Some(classes) = classes() else { return };
    let trace = dir.path().join("parent.pftrace");
    let mut java = Command::new("java");
    java.arg("-cp").arg(classes).arg("app.Parent").arg(&trace).args(["sleep", "300"]);
    let mut parent = java.stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(parent.stdout.take().unwrap()).read_line(&mut line).unwrap();
    parent.kill().unwrap();
    parent.wait().unwrap();
    let child = line.trim().strip_prefix("child ").unwrap().to_owned();
    tool(&["recover", trace.to_str().unwrap()]);
    assert_eq!(messages(&trace)[0], "INFO Net: starts");
    // It was there all the time.
    assert!(Command::new("kill").arg(&child).status().unwrap().success());
}
