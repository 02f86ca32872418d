//! Files with log content are their owner's only, and never written by way of another user's links.
#![allow(unsafe_code)] // umask, lchown, flock.

mod common;

use common::lock_sessions;
use protolog_rt::text::{RotatingFile, set_sink};
use protolog_rt::{Builder, Error, Level, ProtoLogGroup, Session, i, print_group};
use protolog_testkit::{TempDir, run, skip, temp_dir};
use std::ffi::CString;
use std::fs::{self, File, Permissions};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;

#[derive(ProtoLogGroup)]
enum Log {
    Work,
}

/// A user other than root.
const NOBODY: u32 = 65534;

fn session() -> Builder {
    Session::builder().log_from(Level::Info).buffer_size(64 << 10)
}

/// The permissions of a file.
#[track_caller]
fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).expect("the file").mode() & 0o7777
}

/// Lets others read what programs create, as most systems do.
fn usual_umask() {
    // SAFETY: takes a number.
    unsafe { libc::umask(0o022) };
}

/// Writes a file of each kind with `settings` in `dir`, and checks their permissions.
fn check_modes(dir: &TempDir, settings: fn(Builder) -> Builder, expected: u32) {
    let path = |name: &str| dir.path().join(name);
    let stream = settings(session()).file(path("stream")).start().expect("stream");
    i!(Log::Work, "a message");
    assert_eq!(mode(&path("stream")), expected);
    stream.stop().expect("stop");
    let kept = settings(session()).file(path("kept")).keep_newest().start().expect("keep");
    kept.snapshot(path("snapshot")).expect("snapshot");
    kept.stop().expect("stop");
    let segments = settings(session()).file(path("s")).segment_bytes(1 << 20).start();
    let segments = segments.expect("segments");
    assert_eq!(mode(&path("s.0001.part")), expected);
    segments.stop().expect("stop");
    let record = settings(session()).record_at(path("recording")).start().expect("record");
    assert_eq!(mode(&path("recording")), 0o600);
    record.stop().expect("stop");
    for name in ["stream", "kept", "snapshot", "s.0001"] {
        assert_eq!(mode(&path(name)), expected, "{name}");
    }
}

#[test]
fn new_files_are_private_unless_the_program_wants_otherwise() {
    let _lock = lock_sessions();
    usual_umask();
    check_modes(&temp_dir(), |builder| builder, 0o600);
    check_modes(&temp_dir(), |builder| builder.file_mode(0o640), 0o640);
    let memory = session().record().start().expect("record");
    assert_eq!(mode(memory.recording().expect("a path")), 0o600);
    memory.stop().expect("stop");
}

#[test]
fn text_files_are_private_unless_the_program_wants_otherwise() {
    const CHILD: &str = "PROTOLOG_PRIVATE_FILES";
    // A program has one sink, so each file has a process of its own.
    if let Some(path) = std::env::var_os(CHILD) {
        usual_umask();
        let file = match Path::new(&path).file_name().and_then(|name| name.to_str()) {
            Some("b.log") => RotatingFile::open_with_mode(&path, 40, 1, 0o640),
            _ => RotatingFile::open(&path, 40, 1),
        };
        set_sink(file.expect("open")).expect("no sink yet");
        print_group(&Log::Work, Some(Level::Info));
        for number in 0..2 {
            i!(Log::Work, "line %d is long enough to rotate", number);
        }
        return;
    }
    let dir = temp_dir();
    for (name, expected) in [("a.log", 0o600), ("b.log", 0o640)] {
        let path = dir.path().join(name);
        let mut own = Command::new(std::env::current_exe().expect("the test itself"));
        own.args(["--exact", "text_files_are_private_unless_the_program_wants_otherwise"]);
        run(own.env(CHILD, &path));
        assert_eq!((mode(&path), mode(&path.with_extension("log.1"))), (expected, expected));
    }
}

#[test]
fn an_existing_file_gets_the_permissions_of_a_new_one() {
    let _lock = lock_sessions();
    usual_umask();
    let dir = temp_dir();
    let path = dir.path().join("trace");
    fs::write(&path, "before").expect("write");
    fs::set_permissions(&path, Permissions::from_mode(0o644)).expect("chmod");
    for mode_asked in [0o600, 0o640] {
        let emptied = session().file(&path).file_mode(mode_asked).truncate().start();
        emptied.expect("start").stop().expect("stop");
        assert_eq!(mode(&path), mode_asked);
    }
    let inode = |path: &Path| fs::metadata(path).expect("the file").ino();
    let before = inode(&path);
    session().file(&path).file_mode(0o640).truncate().start().expect("start").stop().expect("stop");
    assert_eq!(inode(&path), before, "whoever has it open can read on");
    fs::write(&path, "").expect("write");
    session().file(&path).start().expect("start").stop().expect("stop");
    assert_eq!(mode(&path), 0o600);
    fs::set_permissions(&path, Permissions::from_mode(0o644)).expect("chmod");
    session().file(&path).keep_newest().start().expect("start").stop().expect("stop");
    assert_eq!(mode(&path), 0o600);
}

#[test]
fn links_at_names_that_temporary_files_might_have_are_not_followed() {
    let _lock = lock_sessions();
    let dir = temp_dir();
    let (path, victim) = (dir.path().join("trace"), dir.path().join("victim"));
    fs::write(&victim, "precious").expect("write");
    for number in 0..64 {
        let name = format!("trace.{}-{number}.part", std::process::id());
        symlink(&victim, dir.path().join(name)).expect("link");
    }
    let session = session().file(&path).keep_newest().start().expect("start");
    i!(Log::Work, "a message");
    session.snapshot(&path).expect("snapshot");
    session.stop().expect("stop");
    assert_eq!(fs::read_to_string(&victim).expect("read"), "precious");
}

/// Gives what is at `path` to another user; false where this is not permitted.
fn give_away(path: &Path) -> bool {
    let name = CString::new(path.to_str().expect("a name")).expect("no zero");
    // SAFETY: the name is a C string.
    let is_given = unsafe { libc::lchown(name.as_ptr(), NOBODY, NOBODY) } == 0;
    if !is_given {
        skip("files of another user", "only root can make them");
    }
    is_given
}

#[test]
fn what_another_user_put_into_a_shared_directory_is_refused() {
    let _lock = lock_sessions();
    let dir = temp_dir();
    fs::set_permissions(dir.path(), Permissions::from_mode(0o1777)).expect("chmod");
    let private = temp_dir();
    let victim = private.path().join("victim");
    fs::write(&victim, "precious").expect("write");
    let (link, file) = (dir.path().join("link"), dir.path().join("file"));
    let dangling = dir.path().join("dangling");
    let absent = private.path().join("absent");
    symlink(&victim, &link).expect("link");
    symlink(&absent, &dangling).expect("link");
    fs::write(&file, "bait").expect("write");
    if ![&link, &file, &dangling].into_iter().all(|path| give_away(path)) {
        return;
    }
    let kept = session().record().start().expect("record");
    for (path, reason) in [
        (&link, format!("it is a link to `{}`", victim.display())),
        (&file, "it belongs to another user".to_owned()),
        (&dangling, format!("it is a link to `{}`", absent.display())),
    ] {
        let expected = format!("can't write `{}`: {reason}", path.display());
        let stream = session().file(path).start().map(drop);
        let newest = session().file(path).keep_newest().start().map(drop);
        for refused in [stream, newest, kept.snapshot(path).map(drop)] {
            assert_eq!(refused.expect_err("it is another user's").to_string(), expected);
        }
        let error = RotatingFile::open(path, 1000, 1).expect_err("it is another user's");
        assert_eq!(error.to_string(), reason);
        assert_eq!(error.kind(), std::io::ErrorKind::PermissionDenied);
    }
    assert_eq!(fs::read_to_string(&victim).expect("read"), "precious");
    assert_eq!(fs::read_to_string(&file).expect("read"), "bait");
    assert!(!absent.exists());
}

#[test]
fn temporary_files_of_dead_processes_are_removed() {
    let _lock = lock_sessions();
    let dir = temp_dir();
    let path = |name: &str| dir.path().join(name);
    for name in [
        "trace.0123456789abcdef.part",
        "trace.fedcba9876543210.part",
        "trace.0123456789abcdeX.part",
        "other.0123456789abcdef.part",
    ] {
        fs::write(path(name), "x").expect("write");
    }
    let alive = File::open(path("trace.fedcba9876543210.part")).expect("open");
    // SAFETY: the file is open; no memory is involved.
    assert_eq!(unsafe { libc::flock(alive.as_raw_fd(), libc::LOCK_EX) }, 0);
    symlink(path("other.0123456789abcdef.part"), path("trace.00000000000000ff.part"))
        .expect("link");
    let session = session().file(path("trace")).keep_newest().start().expect("start");
    session.stop().expect("stop");
    let mut names: Vec<_> = fs::read_dir(dir.path())
        .expect("list")
        .map(|entry| entry.expect("an entry").file_name().into_string().expect("a name"))
        .collect();
    names.sort();
    assert_eq!(
        names,
        [
            "other.0123456789abcdef.part",
            "trace",
            "trace.00000000000000ff.part",
            "trace.0123456789abcdeX.part",
            "trace.fedcba9876543210.part",
        ]
    );
}

#[test]
fn a_snapshot_that_fails_leaves_nothing() {
    let _lock = lock_sessions();
    let dir = temp_dir();
    let kept = session().record().start().expect("record");
    let error = kept.snapshot(dir.path().join("missing/file")).expect_err("no directory");
    assert!(matches!(error, Error::File { .. }), "{error}");
    assert_eq!(fs::read_dir(dir.path()).expect("list").count(), 0);
}
