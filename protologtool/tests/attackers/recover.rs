//! Attacks on who completes traces and removes recordings: root names files in directories of
//! others.

use super::{TOOL, directory, run_at_once, shared};
use protolog_rt::{ProtoLogGroup, Session, d};
use protolog_testkit::{Output, Users, role, with_users};
use std::fs;
use std::os::unix::fs::{MetadataExt, chown, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::Duration;

#[derive(ProtoLogGroup)]
enum AppLog {
    Net,
}

/// The directory of recordings.
const MEMORY: &str = "/dev/shm";

/// A program that logs to the file that it is given, until it is killed.
#[test]
fn role_of_a_program_that_is_killed() {
    let Some(trace) = role() else { return };
    let _session = Session::builder().file(trace).enable_all().start().unwrap();
    d!(AppLog::Net, "the last words");
    println!("\nready");
    loop {
        thread::sleep(Duration::from_secs(1));
    }
}

/// Has a program of `user` die, and returns its recording.
fn leave_recording(users: &Users, user: u32, trace: &Path) -> PathBuf {
    let test = "recover::role_of_a_program_that_is_killed";
    drop(users.role(user, test, trace.to_str().unwrap()));
    let entries = fs::read_dir(MEMORY).unwrap().map(|entry| entry.unwrap().path());
    let is_of = |path: &PathBuf| fs::metadata(path).unwrap().uid() == user;
    entries.into_iter().find(is_of).expect("a recording")
}

fn recover(users: &Users, words: &str, place: &Path) -> Output {
    let mut command = Command::new(users.program(Path::new(TOOL)));
    run_at_once(command.arg("recover").args(words.split_whitespace()).arg(place))
}

#[test]
fn a_trace_of_another_user_is_not_opened_to_all() {
    let test = "recover::a_trace_of_another_user_is_not_opened_to_all";
    with_users(test, &[Path::new(TOOL)], |users| {
        let home = directory(&shared().join("victims"), 0o700);
        chown(&home, Some(users.victim), None).unwrap();
        let trace = home.join("app.pftrace");
        let recording = leave_recording(users, users.victim, &trace);
        let before = fs::read(&trace).unwrap();
        let place = directory(&shared().join("intruders"), 0o755);
        // As if the kernel let the intruder link to what is not hers.
        fs::hard_link(&trace, place.join("app.pftrace")).unwrap();
        chown(&place, Some(users.intruder), None).unwrap();
        let output = recover(users, "--mode 644", &place.join("app.pftrace"));
        assert_eq!(output.code, Some(2), "{output:?}");
        assert!(output.stderr.contains("has 2 names (hard links)"), "{output:?}");
        assert_eq!(fs::metadata(&trace).unwrap().mode() & 0o777, 0o600);
        assert!(recording.exists() && fs::read(&trace).unwrap() == before);
        // Its own name is as good as before.
        fs::remove_file(place.join("app.pftrace")).unwrap();
        let output = recover(users, "", &trace);
        assert_eq!(output.code, Some(0), "{output:?}");
        assert!(output.stdout.contains("1 message of"), "{output:?}");
        assert!(!recording.exists() && fs::metadata(&trace).unwrap().uid() == users.victim);
    });
}

#[test]
fn no_link_on_the_way_leads_to_other_recordings() {
    let test = "recover::no_link_on_the_way_leads_to_other_recordings";
    with_users(test, &[Path::new(TOOL)], |users| {
        let private = directory(&shared().join("root-only"), 0o700);
        let trace = private.join("root.pftrace");
        let recording = leave_recording(users, 0, &trace);
        let before = fs::read(&trace).unwrap();
        let place = directory(&shared().join("intruders"), 0o755);
        let links = [("memory", Path::new(MEMORY)), ("private", &private)];
        for (name, target) in links {
            symlink(target, place.join(name)).unwrap();
            std::os::unix::fs::lchown(place.join(name), Some(users.intruder), None).unwrap();
        }
        symlink(&trace, place.join("app.pftrace")).unwrap();
        let link = place.join("app.pftrace");
        std::os::unix::fs::lchown(link, Some(users.intruder), None).unwrap();
        chown(&place, Some(users.intruder), None).unwrap();
        let name = recording.file_name().unwrap();
        let remove = "--prune --older-than 0s";
        for (words, path) in [
            (remove, place.join("memory").join(name)),
            (remove, place.join("memory/.")),
            (remove, place.join("memory/../shm")),
            ("--list", place.join("memory").join(name)),
            ("", place.join("memory").join(name)),
            ("", place.join("private/root.pftrace")),
            ("", place.join("app.pftrace")),
        ] {
            let output = recover(users, words, &path);
            assert_eq!(output.code, Some(2), "{words} {}: {output:?}", path.display());
            assert!(output.stderr.contains("is a link to"), "{words}: {output:?}");
            assert!(output.stderr.contains("help: "), "{words}: {output:?}");
            assert!(recording.exists() && fs::read(&trace).unwrap() == before, "{words}");
        }
        // Links of this user's own are followed.
        symlink(MEMORY, shared().join("own")).unwrap();
        symlink(&trace, shared().join("own.pftrace")).unwrap();
        let output = recover(users, "--list", &shared().join("own").join(name));
        assert!(output.code == Some(0) && output.stdout.contains("dead"), "{output:?}");
        let output = recover(users, "", &shared().join("own.pftrace"));
        assert!(output.code == Some(0) && !recording.exists(), "{output:?}");
    });
}

#[test]
fn only_names_in_the_directory_are_removed() {
    let test = "recover::only_names_in_the_directory_are_removed";
    with_users(test, &[Path::new(TOOL)], |users| {
        let recording = leave_recording(users, 0, &shared().join("root.pftrace"));
        let place = directory(&Path::new(MEMORY).join("intruders"), 0o755);
        let at = |name: &str| place.join(name);
        symlink(&recording, at("protolog-a-1-0.rec")).unwrap();
        fs::hard_link(&recording, at("protolog-b-2-0.rec")).unwrap();
        symlink(MEMORY, at("protolog-c-3-0.rec")).unwrap();
        protolog_testkit::run(Command::new("mkfifo").arg(at("protolog-d-4-0.rec")));
        chown(&place, Some(users.intruder), None).unwrap();
        for words in ["--list", "--prune --older-than 0s --dry-run", "--prune --older-than 0s"] {
            let output = recover(users, words, &place);
            assert_eq!(output.code, Some(0), "{words}: {output:?}");
            assert!(recording.exists(), "{words}");
        }
        let mut left: Vec<_> = fs::read_dir(&place)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        left.sort();
        assert_eq!(left, ["protolog-a-1-0.rec", "protolog-c-3-0.rec", "protolog-d-4-0.rec"]);
    });
}
