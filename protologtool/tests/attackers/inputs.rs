//! Attacks on who reads traces: root names directories of others.

use super::{TOOL, directory, run_at_once, shared};
use protolog_rt::{ProtoLogGroup, Session, d};
use protolog_testkit::with_users;
use std::fs;
use std::os::unix::fs::{chown, lchown, symlink};
use std::path::Path;
use std::process::Command;

#[derive(ProtoLogGroup)]
enum AppLog {
    Net,
}

fn log(path: &Path, owner: u32) {
    let session = Session::builder().file(path).enable_all().without_recording().start().unwrap();
    d!(AppLog::Net, "from %s", path.file_name().unwrap().to_str().unwrap());
    session.stop().unwrap();
    chown(path, Some(owner), None).unwrap();
}

#[test]
fn links_in_a_directory_add_no_files_of_others() {
    let test = "inputs::links_in_a_directory_add_no_files_of_others";
    with_users(test, &[Path::new(TOOL)], |users| {
        let private = directory(&shared().join("root-only"), 0o700);
        log(&private.join("root.pftrace"), 0);
        let place = directory(&shared().join("intruders"), 0o777);
        chown(&place, Some(users.intruder), None).unwrap();
        log(&place.join("own.pftrace"), users.intruder);
        for (name, target, owner) in [
            ("theirs.pftrace", private.join("root.pftrace"), users.intruder),
            ("more.pftrace", private.join("root.pftrace"), users.intruder),
            ("same.pftrace", place.join("own.pftrace"), users.intruder),
        ] {
            symlink(target, place.join(name)).unwrap();
            lchown(place.join(name), Some(owner), None).unwrap();
        }
        let out = shared().join("merged.pftrace");
        let run = |words: &[&Path]| {
            let mut command = Command::new(users.program(Path::new(TOOL)));
            run_at_once(command.args(words))
        };
        let merged = run(&[Path::new("merge"), &place, Path::new("-o"), &out]);
        let warning = "more.pftrace` is left out, and 1 more: it is a link of another user";
        assert!(merged.stderr.contains(warning), "{merged:?}");
        for read in [run(&[Path::new("read-log"), &out]), run(&[Path::new("read-log"), &place])] {
            assert!(read.stdout.contains("from own.pftrace"), "{read:?}");
            assert!(!read.stdout.contains("from root.pftrace"), "{read:?}");
        }
        // Root's own link is root's choice.
        fs::remove_file(place.join("theirs.pftrace")).unwrap();
        symlink(private.join("root.pftrace"), place.join("theirs.pftrace")).unwrap();
        let read = run(&[Path::new("read-log"), &place]);
        assert!(read.stdout.contains("from root.pftrace"), "{read:?}");
    });
}
