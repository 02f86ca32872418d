//! Attacks on programs that listen: another user renames the directory of their socket.

use super::{renamed::Renamed, shared};
use protolog_testkit::{role, with_users};
use std::fs;
use std::path::Path;
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
