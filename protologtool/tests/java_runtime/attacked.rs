//! Another user renames the directory in which a Java program listens.

use super::{classes, renamed::Renamed};
use protolog_testkit::{among_users, run, tool, with_users};
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The classes in one file, which each user may read.
fn jar() -> Option<PathBuf> {
    let jar = Path::new(env!("CARGO_TARGET_TMPDIR")).join("java_runtime.jar");
    if !among_users() {
        let mut make = Command::new(tool("jar")?);
        run(make.arg("cf").arg(&jar).arg("-C").arg(classes()?).arg("."));
    }
    Some(jar)
}

#[test]
fn a_program_removes_its_files_where_it_made_them() {
    let Some(jar) = jar() else { return };
    let test = "attacked::a_program_removes_its_files_where_it_made_them";
    with_users(test, &[&jar], |users| {
        let place = Renamed::new(users);
        let mut java = users.command(users.victim, "java");
        java.arg("-cp").arg(users.program(&jar)).arg("app.Switched");
        java.env("PROTOLOG_RUNTIME_DIR", &place.run).env("PROTOLOG_STATE", place.run.join("none"));
        let mut program = java.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(program.stdout.take().unwrap()).lines();
        assert_eq!(lines.next().unwrap().unwrap(), "ready ");
        let names = place.swap(users);
        assert_eq!(names.len(), 2, "socket and switches");
        // It ends when nobody writes to it any more.
        drop(program.stdin.take());
        assert!(program.wait().unwrap().success());
        assert_eq!(Renamed::names(&place.other), names, "other files of these names");
        assert!(names.iter().all(|name| fs::read(place.other.join(name)).unwrap() == b"precious"));
        assert_eq!(Renamed::names(&place.moved), [""; 0]);
    });
}
