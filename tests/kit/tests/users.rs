//! Users in a namespace: they can't touch each other's files, and nothing of it is seen outside.

use protolog_testkit::{role, run_any, with_users};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// The part of another user: it makes the file that it is given.
#[test]
fn role_that_makes_a_file() {
    let Some(path) = role() else { return };
    fs::write(path, "theirs").expect("write the file");
    println!("\nready");
}

#[test]
fn users_have_files_of_their_own() {
    let name = std::env::temp_dir().join("theirs");
    with_users("users_have_files_of_their_own", &[Path::new("/bin/true")], |users| {
        assert_ne!(users.intruder, users.victim);
        users.role(users.victim, "role_that_makes_a_file", name.to_str().unwrap()).finish();
        assert_eq!(fs::metadata(&name).expect("the file").uid(), users.victim);
        let remove = |user| run_any(users.command(user, "rm").arg(&name)).code;
        assert_eq!((remove(users.intruder), remove(users.victim)), (Some(1), Some(0)));
        fs::write(&name, "root's").expect("write the file");
        assert_eq!(remove(users.victim), Some(1));
        for empty in ["/run/user", "/dev/shm"] {
            assert_eq!(fs::read_dir(empty).expect("a directory").count(), 0, "{empty}");
        }
        let own = users.program(Path::new("/bin/true"));
        assert_eq!(run_any(&mut users.command(users.intruder, own)).code, Some(0));
    });
}
