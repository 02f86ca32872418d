//! `recover_previous` among others: processes that look at the recording at the same time, users
//! who put files beside the trace.
//!
//! A death is played by copies: a trace and its recording as they are at one moment are what a
//! process would leave that is killed then.
#![allow(unsafe_code)] // flock.

mod common;

use common::lock_sessions;
use protolog_core::recorder::{TRACE_FILE_AT, TRACE_FILE_SIZE};
use protolog_reader::Trace;
use protolog_rt::{Error, ProtoLogGroup, Session, i, recover_previous};
use protolog_testkit::{TempDir, skip, temp_dir};
use std::fs::{self, File, Permissions};
use std::iter;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

#[derive(ProtoLogGroup)]
enum Log {
    Work,
}

/// A user other than root.
const NOBODY: u32 = 65534;

/// A trace that has 10 messages, and lacks 5.
struct Dead {
    dir: TempDir,
    trace: PathBuf,
    recording: PathBuf,
}

impl Dead {
    fn new() -> Self {
        // The session's thread may have written some of the later messages already; then once more.
        iter::repeat_with(Self::attempt)
            .take(100)
            .flatten()
            .next()
            .expect("a trace that lacks 5 messages")
    }

    fn attempt() -> Option<Self> {
        let (live, dir) = (temp_dir(), temp_dir());
        let path = live.path().join("app.pftrace");
        let session = Session::builder().file(&path).enable_all().start().expect("a session");
        (0..10).for_each(|number| i!(Log::Work, "message %d", number));
        session.flush().expect("flush");
        (10..15).for_each(|number| i!(Log::Work, "message %d", number));
        let recording = dir.path().join("protolog-app-1-0.rec");
        let trace = dir.path().join("app.pftrace");
        fs::copy(session.recording().expect("a recording"), &recording).expect("copy");
        fs::copy(&path, &trace).expect("copy");
        session.stop().expect("stop");
        let dead = Self { dir, trace, recording };
        (dead.messages() == 10).then_some(dead)
    }

    /// Changes the process that recorded.
    fn set_pid(&self, pid: u32) {
        let file = File::options().write(true).open(&self.recording).expect("open");
        file.write_all_at(&pid.to_ne_bytes(), 16).expect("write");
    }

    /// Changes the path that the recording has of the trace.
    fn set_path(&self, path: &Path) {
        let bytes = path.as_os_str().as_bytes();
        let text = [&(bytes.len() as u16).to_ne_bytes(), bytes].concat();
        let file = File::options().write(true).open(&self.recording).expect("open");
        for copy in 0..2 {
            let at = TRACE_FILE_AT + copy * TRACE_FILE_SIZE;
            file.write_all_at(&text, at as u64).expect("write");
        }
    }

    /// Locks the recording, as whoever looks at it does.
    fn lock(&self) -> File {
        let file = File::open(&self.recording).expect("open");
        // SAFETY: takes numbers; the file is open.
        assert_eq!(unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_EX) }, 0);
        file
    }

    /// The number of messages that `recover_previous` adds; none where it finds nothing.
    fn recover(&self) -> Option<u64> {
        let traces = recover_previous(&self.trace).expect("recover");
        assert!(traces.len() < 2);
        traces.first().map(|trace| trace.messages)
    }

    fn messages(&self) -> usize {
        Trace::open(&self.trace).expect("open").read().expect("a trace").entries().count()
    }
}

#[test]
fn a_recording_that_somebody_looks_at_is_waited_for() {
    let _lock = lock_sessions();
    let dead = Dead::new();
    let held = dead.lock();
    let other = thread::spawn(move || {
        thread::sleep(Duration::from_millis(100));
        drop(held);
    });
    assert_eq!(dead.recover(), Some(5));
    other.join().expect("the other one");
    assert_eq!(dead.messages(), 15);
    assert!(!dead.recording.exists());
}

#[test]
fn a_recording_that_somebody_keeps_is_an_error() {
    let _lock = lock_sessions();
    let dead = Dead::new();
    let held = dead.lock();
    let before = fs::read(&dead.trace).expect("the trace");
    let error = recover_previous(&dead.trace).expect_err("the next session would empty the trace");
    assert!(matches!(&error, Error::File { path, .. } if *path == dead.trace), "{error}");
    assert!(error.to_string().contains("another process has its recording"), "{error}");
    assert!(fs::read(&dead.trace).expect("the trace") == before);
    drop(held);
    assert_eq!(dead.recover(), Some(5));
}

#[test]
fn a_process_that_lives_keeps_its_recording() {
    let _lock = lock_sessions();
    let dead = Dead::new();
    let mut child = Command::new("sleep").arg("600").stdin(Stdio::null()).spawn().expect("sleep");
    dead.set_pid(child.id());
    let held = dead.lock();
    assert_eq!(dead.recover(), None);
    child.kill().expect("kill");
    child.wait().expect("wait");
    drop(held);
    assert_eq!(dead.recover(), Some(5));
}

#[test]
fn what_somebody_else_completed_meanwhile_is_left_alone() {
    let _lock = lock_sessions();
    let dead = Dead::new();
    let held = dead.lock();
    let (recording, trace) = (dead.recording.clone(), dead.trace.clone());
    let other = thread::spawn(move || {
        thread::sleep(Duration::from_millis(100));
        fs::write(trace, "the next session's").expect("write");
        fs::remove_file(recording).expect("remove");
        drop(held);
    });
    assert_eq!(dead.recover(), None);
    other.join().expect("the other one");
    assert_eq!(fs::read(&dead.trace).expect("the trace"), b"the next session's");
}

#[test]
fn a_session_of_this_process_keeps_its_lock() {
    let _lock = lock_sessions();
    let dir = temp_dir();
    let path = dir.path().join("app.pftrace");
    let session = Session::builder().file(&path).enable_all().start().expect("a session");
    i!(Log::Work, "a message");
    session.flush().expect("flush");
    let recording = session.recording().expect("a recording").to_path_buf();
    let locks = || {
        use std::os::unix::fs::MetadataExt;
        let inode = format!(":{} ", fs::metadata(&recording).expect("the recording").ino());
        let locks = fs::read_to_string("/proc/locks").expect("the locks");
        locks.lines().filter(|line| line.contains(&inode)).count()
    };
    let before = locks();
    // A copy of its trace has the id of its session.
    let copy = dir.path().join("copy.pftrace");
    fs::copy(&path, &copy).expect("copy");
    assert_eq!(recover_previous(&copy).expect("look for it"), []);
    assert_eq!(locks(), before, "closing a file releases its locks");
    session.stop().expect("stop");
}

#[test]
fn a_segment_of_another_session_is_not_completed() {
    let _lock = lock_sessions();
    let dead = Dead::new();
    let other = Dead::new();
    let segment = dead.dir.path().join("app.0001.pftrace");
    fs::copy(&other.trace, &segment).expect("copy");
    let before = fs::read(&segment).expect("the segment");
    dead.set_path(&dead.dir.path().join("app.0001.pftrace.part"));
    assert_eq!(dead.recover(), None);
    assert!(fs::read(&segment).expect("the segment") == before, "it is of another session");
    assert!(dead.recording.exists());
}

#[test]
fn a_segment_that_can_not_get_its_name_is_where_it_was() {
    let _lock = lock_sessions();
    let dead = Dead::new();
    let path = |name: &str| dead.dir.path().join(name);
    let part = path("app.0001.pftrace.part");
    fs::rename(&dead.trace, &part).expect("rename");
    fs::write(path("app.0001.pftrace"), "another one's").expect("write");
    dead.set_path(&part);
    let recovered = recover_previous(&dead.trace).expect("recover");
    assert_eq!(recovered.len(), 1);
    assert_eq!(recovered[0].path, part);
}

#[test]
fn files_of_other_users_are_no_part_of_it() {
    let _lock = lock_sessions();
    let dead = Dead::new();
    let path = |name: &str| dead.dir.path().join(name);
    // As /tmp is.
    fs::set_permissions(dead.dir.path(), Permissions::from_mode(0o1777)).expect("chmod");
    let victim = path("victim.log");
    fs::copy(&dead.trace, &victim).expect("copy");
    let before = fs::read(&victim).expect("the file");
    dead.set_path(&path("victim.log.part"));
    if [&dead.trace, &dead.recording].iter().any(|it| chown(it, Some(NOBODY), None).is_err()) {
        return skip("files of another user", "only root can make them");
    }
    assert_eq!(dead.recover(), None);
    assert!(fs::read(&victim).expect("the file") == before);
    assert!(dead.recording.exists());
    // The same where everything but the recording, or but the trace, is this user's.
    chown(&dead.trace, Some(0), None).expect("chown");
    assert_eq!(dead.recover(), None);
    chown(&dead.trace, Some(NOBODY), None).expect("chown");
    chown(&dead.recording, Some(0), None).expect("chown");
    assert_eq!(dead.recover(), None);
    assert!(fs::read(&victim).expect("the file") == before);
}

#[test]
fn a_segment_that_somebody_has_just_begun_stays() {
    let _lock = lock_sessions();
    let dead = Dead::new();
    let [part, own] =
        ["app.0002.pftrace.part", "app.0001.pftrace.part"].map(|name| dead.dir.path().join(name));
    let file = File::create_new(&part).expect("create");
    File::create_new(&own).expect("create");
    // A mark on a file that others may open could be anybody's.
    file.set_permissions(Permissions::from_mode(0o600)).expect("chmod");
    file.lock().expect("lock");
    assert_eq!(dead.recover(), Some(5));
    assert!(part.exists(), "somebody has it");
    assert!(!own.exists(), "a process died after it began it");
}

#[test]
fn a_link_is_no_trace() {
    let _lock = lock_sessions();
    let dead = Dead::new();
    let link = dead.dir.path().join("link.pftrace");
    std::os::unix::fs::symlink(&dead.trace, &link).expect("link");
    let before = fs::read(&dead.trace).expect("the trace");
    let error = recover_previous(&link).expect_err("it is a link").to_string();
    let (link, trace) = (link.display(), dead.trace.display());
    assert_eq!(error, format!("can't write `{link}`: it is a link to `{trace}`"));
    assert!(fs::read(&dead.trace).expect("the trace") == before);
    // A link to its directory is one that a session follows, too.
    let way = dead.dir.path().join("way");
    std::os::unix::fs::symlink(dead.dir.path(), &way).expect("link");
    let recovered = recover_previous(way.join("app.pftrace")).expect("recover");
    assert_eq!((recovered.len(), dead.messages()), (1, 15));
}
