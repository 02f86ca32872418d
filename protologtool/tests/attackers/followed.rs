//! Attacks on who follows a log: what one file names, and what is found beside it, while it is
//! read.

use super::{TOOL, content, directory, run_at_once, shared};
use protolog_core::recorder::{TRACE_FILE_AT, TRACE_FILE_SIZE};
use protolog_rt::{ProtoLogGroup, Session, d};
use protolog_testkit::{Output, Users, with_users};
use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, chown, lchown, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

#[derive(ProtoLogGroup)]
enum AppLog {
    Net,
}

/// Follows a log for a moment.
fn follow(users: &Users, path: &Path) -> Output {
    let mut command = Command::new("timeout");
    let tool = users.program(Path::new(TOOL));
    command.arg("3").arg(tool).args(["read-log", "--follow"]).arg(path);
    protolog_testkit::run_any(&mut command)
}

/// Makes a recording at `to` that says that its session writes a trace at `named`.
fn recording_naming(named: &Path, to: &Path, owner: u32) {
    let trace = to.with_extension("trace");
    let session = Session::builder().file(&trace).enable_all().start().unwrap();
    d!(AppLog::Net, "its own");
    session.flush().unwrap();
    fs::copy(session.recording().unwrap(), to).unwrap();
    session.stop().unwrap();
    fs::remove_file(trace).unwrap();
    let bytes = named.as_os_str().as_bytes();
    let text = [&(bytes.len() as u16).to_ne_bytes(), bytes].concat();
    let file = File::options().write(true).open(to).unwrap();
    for copy in 0..2 {
        file.write_all_at(&text, (TRACE_FILE_AT + copy * TRACE_FILE_SIZE) as u64).unwrap();
    }
    chown(to, Some(owner), None).unwrap();
}

/// Makes a trace of root's that nobody else may read.
fn private_trace(name: &str) -> PathBuf {
    let private = directory(&shared().join("root-only"), 0o700);
    let path = private.join(name);
    let session = Session::builder().file(&path).enable_all().without_recording().start().unwrap();
    d!(AppLog::Net, "the secret");
    session.stop().unwrap();
    path
}

#[test]
fn a_recording_leads_to_no_file_of_others() {
    let test = "followed::a_recording_leads_to_no_file_of_others";
    with_users(test, &[Path::new(TOOL)], |users| {
        let secret = private_trace("root.pftrace");
        let place = directory(&shared().join("intruders"), 0o755);
        let pipe = place.join("pipe");
        assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let link = place.join("link.pftrace");
        symlink(&secret, &link).unwrap();
        lchown(&link, Some(users.intruder), None).unwrap();
        chown(&pipe, Some(users.intruder), None).unwrap();
        chown(&place, Some(users.intruder), None).unwrap();
        let recording = place.join("app.rec");
        for named in [&secret, &link, &pipe, &recording, Path::new("/dev/zero"), &place] {
            recording_naming(named, &recording, users.intruder);
            let output = follow(users, &recording);
            assert!(!output.stdout.contains("the secret"), "{}: {output:?}", named.display());
            assert_eq!(output.code, Some(2), "{}: {output:?}", named.display());
            assert!(output.stderr.contains("help: "), "{}: {output:?}", named.display());
        }
    });
}

#[test]
fn links_in_the_place_of_segments_add_no_files_of_others() {
    let test = "followed::links_in_the_place_of_segments_add_no_files_of_others";
    with_users(test, &[Path::new(TOOL)], |users| {
        let secret = private_trace("root.pftrace");
        let place = directory(&shared().join("intruders"), 0o755);
        for name in ["app.0001.pftrace", "app.0002.pftrace.part"] {
            symlink(&secret, place.join(name)).unwrap();
            lchown(place.join(name), Some(users.intruder), None).unwrap();
        }
        chown(&place, Some(users.intruder), None).unwrap();
        let set = place.join("app.pftrace");
        let output = follow(users, &set);
        assert!(!output.stdout.contains("the secret"), "{output:?}");
        let out = shared().join("out.pftrace");
        let mut command = Command::new(users.program(Path::new(TOOL)));
        let output = run_at_once(command.arg("recover").arg(&set).arg("-o").arg(&out));
        assert_eq!(output.code, Some(2), "{output:?}");
        assert!(!output.stdout.contains("the secret") && !out.exists(), "{output:?}");
        assert_eq!(content(secret.parent().unwrap()).len(), 1);
    });
}
