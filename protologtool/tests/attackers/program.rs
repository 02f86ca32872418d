//! Attacks on programs that listen: another user renames the directory of their socket, or leads
//! the way to it elsewhere.

use super::{TOOL, directory, renamed::Renamed, run_at_once, shared};
use protolog_testkit::{role, with_users};
use std::fs;
use std::os::unix::fs::chown;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::Duration;

/// A program that listens in the directory that it is given, and ends when the file `end` is
/// beside it.
#[test]
fn role_of_a_program_that_listens() {
    let Some(given) = role() else { return };
    let (run, end) = given.split_once(' ').unwrap();
    let server = protolog_rt::control::serve_in(run).unwrap();
    println!("\nready");
    while !Path::new(end).exists() {
        thread::sleep(Duration::from_millis(5));
    }
    drop(server);
}

/// A program that tries to listen in the directory that it is given.
#[test]
fn role_of_a_program_that_is_refused() {
    let Some(run) = role() else { return };
    let error = protolog_rt::control::serve_in(&run).expect_err("it listens");
    println!("\nready\n{error}");
}

#[test]
fn no_link_on_the_way_has_a_program_listen_elsewhere() {
    let test = "program::no_link_on_the_way_has_a_program_listen_elsewhere";
    with_users(test, &[Path::new(TOOL)], |users| {
        let (home, link) = (directory(&shared().join("home"), 0o700), shared().join("way"));
        chown(&home, Some(users.victim), None).unwrap();
        protolog_testkit::run(users.command(users.intruder, "ln").arg("-s").arg(&home).arg(&link));
        let run = link.join("run");
        let given = run.to_str().unwrap();
        for user in [users.victim, 0] {
            let refused = users.role(user, "program::role_of_a_program_that_is_refused", given);
            let said = format!("`{given}` is not private to this user");
            let lines = refused.finish();
            assert!(lines.contains(&said), "{lines:?}");
            assert_eq!(Renamed::names(&home), [""; 0], "nothing is made there");
        }
        // Nor does an operator look there, and remove what nobody listens on.
        let found = directory(&home.join("run"), 0o700);
        drop(UnixListener::bind(found.join("1-a.sock")).unwrap());
        for path in [&found, &found.join("1-a.sock")] {
            chown(path, Some(users.victim), None).unwrap();
        }
        let mut tool = Command::new(users.program(Path::new(TOOL)));
        tool.args(["configuration", "groups", "list"]).env("PROTOLOG_RUNTIME_DIR", &run);
        let output = run_at_once(&tool);
        assert!(output.stderr.contains("is not looked into"), "{output:?}");
        assert_eq!(Renamed::names(&found), ["1-a.sock"]);
    });
}

#[test]
fn a_program_removes_its_socket_where_it_made_it() {
    let test = "program::a_program_removes_its_socket_where_it_made_it";
    with_users(test, &[], |users| {
        let (place, end) = (Renamed::new(users), shared().join("end"));
        let given = format!("{} {}", place.run.display(), end.display());
        let program = users.role(users.victim, "program::role_of_a_program_that_listens", &given);
        let names = place.swap(users);
        assert_eq!(names.len(), 1, "its socket");
        fs::write(end, "").unwrap();
        program.finish();
        assert_eq!(Renamed::names(&place.other), names, "another file of this name");
        assert_eq!(Renamed::names(&place.moved), [""; 0]);
    });
}
