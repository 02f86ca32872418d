//! Traces of processes that died: `read-log` and `recover` complete them with the recordings of
//! their sessions.
//!
//! A death is played by copies: a trace and its recording as they are at one moment are what a
//! process would leave that is killed then.

use protolog_core::recorder::{TRACE_FILE_AT, TRACE_FILE_SIZE};
use protolog_reader::Trace;
use protolog_rt::{ProtoLogGroup, Session, i};
use protolog_testkit::{TempDir, skip, temp_dir};
use std::fs::{self, File, Permissions};
use std::iter;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, MetadataExt, PermissionsExt, chown, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// A user other than root.
const NOBODY: u32 = 65534;

#[derive(ProtoLogGroup)]
enum Log {
    Work,
}

/// Held while a session runs: what one test logs would be in the others' sessions.
static SESSIONS: Mutex<()> = Mutex::new(());

fn lock() -> MutexGuard<'static, ()> {
    SESSIONS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A trace that has 10 messages or more, and lacks 5.
struct Dead {
    dir: TempDir,
    trace: PathBuf,
    recording: PathBuf,
}

impl Dead {
    fn new() -> Self {
        Self::with_messages(10)
    }

    /// A trace that has so many messages.
    fn with_messages(count: usize) -> Self {
        // The session's thread may have written some of the later messages already; then once more.
        iter::repeat_with(|| Self::attempt(count))
            .take(100)
            .flatten()
            .next()
            .expect("a trace that lacks 5 messages")
    }

    fn attempt(count: usize) -> Option<Self> {
        let dir = temp_dir();
        let (live, copies) = (dir.path().join("live.pftrace"), dir.path().join("copies"));
        fs::create_dir(&copies).unwrap();
        let _lock = lock();
        let session = Session::builder().file(&live).enable_all().start().expect("a session");
        for number in 0..count {
            i!(Log::Work, "message %d", number);
        }
        session.flush().expect("flush");
        for number in count..count + 5 {
            i!(Log::Work, "message %d", number);
        }
        let (trace, recording) = (copies.join("app.pftrace"), copies.join("protolog-app-1-0.rec"));
        fs::copy(session.recording().expect("a recording"), &recording).unwrap();
        fs::copy(&live, &trace).unwrap();
        session.stop().expect("stop");
        let written = Trace::open(&trace).unwrap().read().unwrap().entries().count();
        (written == count).then_some(Self { dir, trace, recording })
    }

    fn run(&self, arguments: &[&str]) -> (Option<i32>, String, String) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_protologtool"));
        let Output { status, stdout, stderr } =
            command.args(arguments).current_dir(self.dir.path().join("copies")).output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (status.code(), text(stdout), text(stderr))
    }

    /// Changes bytes of the recording.
    fn patch(&self, at: usize, bytes: &[u8]) {
        let file = File::options().write(true).open(&self.recording).unwrap();
        file.write_all_at(bytes, at as u64).unwrap();
    }

    /// Changes the path that the recording has of the trace.
    fn set_path(&self, path: &Path) {
        let bytes = path.as_os_str().as_bytes();
        let text = [&(bytes.len() as u16).to_ne_bytes(), bytes].concat();
        for copy in 0..2 {
            self.patch(TRACE_FILE_AT + copy * TRACE_FILE_SIZE, &text);
        }
    }

    /// Runs `recover` with these arguments, which must end soon.
    fn recover_soon(&self, arguments: &[&str]) -> (Option<i32>, String) {
        let mut child = Command::new(env!("CARGO_BIN_EXE_protologtool"))
            .arg("recover")
            .args(arguments)
            .current_dir(self.dir.path().join("copies"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let end = Instant::now() + Duration::from_secs(60);
        while child.try_wait().unwrap().is_none() {
            if Instant::now() > end {
                child.kill().unwrap();
                panic!("it hangs");
            }
            thread::sleep(Duration::from_millis(5));
        }
        let output = child.wait_with_output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    }

    /// The numbers of the messages that `read-log` shows.
    fn numbers(&self, trace: &str) -> Vec<u32> {
        let (code, out, _) = self.run(&["read-log", trace]);
        assert_eq!(code, Some(0));
        out.lines().map(|line| line.rsplit(' ').next().unwrap().parse().unwrap()).collect()
    }
}

#[test]
fn a_log_is_read_to_its_end() {
    let dead = Dead::new();
    let (code, out, errors) = dead.run(&["read-log", "app.pftrace"]);
    assert_eq!((code, out.lines().count()), (Some(0), 15), "{errors}");
    assert!(
        errors.starts_with(
            "note: the process of `app.pftrace` died; 5 messages more come from `./protolog-app-1-0.rec`"
        ) && errors
            .contains("help: make them a part of it with `protologtool recover app.pftrace`"),
        "{errors}"
    );
    assert!(dead.recording.exists(), "reading changes nothing");
}

#[test]
fn a_recording_is_read_as_the_trace_that_it_completes() {
    let dead = Dead::new();
    let (code, out, errors) = dead.run(&["read-log", "protolog-app-1-0.rec"]);
    assert_eq!((code, out.lines().count()), (Some(0), 15), "{errors}");
    assert!(errors.starts_with("note: recovered in memory: protolog-app-1-0.rec: process "));
    assert!(
        errors.contains("help: keep it with `protologtool recover protolog-app-1-0.rec`\n"),
        "{errors}"
    );
    assert!(dead.recording.exists(), "reading changes nothing");
}

#[test]
fn a_recording_that_is_written_says_so() {
    let dir = temp_dir();
    let (trace, ring) = (dir.path().join("live.pftrace"), dir.path().join("ring.rec"));
    let _lock = lock();
    let stream = Session::builder().file(&trace).enable_all().start().expect("a session");
    let session = Session::builder().record_at(&ring).enable_all().start().expect("a session");
    i!(Log::Work, "alive");
    stream.flush().expect("flush");
    let read = |path: &Path| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_protologtool"));
        let Output { status, stdout, stderr } =
            command.arg("read-log").arg(path).output().expect("run the tool");
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (status.code(), text(stdout), text(stderr))
    };
    let (code, out, errors) = read(&ring);
    assert_eq!((code, out.lines().count()), (Some(0), 1), "{errors}");
    let warning = format!("warning: `{}` is in use: what its process writes", ring.display());
    assert!(errors.contains(&warning), "{errors}");
    // That of a session that streams is not the whole of its messages: the trace is.
    let (code, out, errors) = read(stream.recording().expect("a recording"));
    assert_eq!((code, out.as_str()), (Some(2), ""));
    let shown = trace.display();
    let expected = format!(
        "error: `{shown}` is still being written\n\
         help: wait until its process has ended; `protologtool read-log {shown}` shows what is there\n"
    );
    assert_eq!(errors, expected);
    drop(session);
    stream.stop().expect("stop");
}

#[test]
fn a_trace_is_completed_in_place_once() {
    let dead = Dead::new();
    let (code, out, errors) = dead.run(&["recover", "app.pftrace"]);
    assert_eq!((code, errors.as_str()), (Some(0), ""));
    assert!(out.ends_with(": 5 messages of 1 thread\n"), "{out}");
    assert!(!dead.recording.exists(), "not needed any more");
    assert_eq!(dead.numbers("app.pftrace"), (0..15).collect::<Vec<_>>());
    let (code, _, errors) = dead.run(&["recover", "app.pftrace"]);
    assert_eq!(code, Some(2));
    assert!(errors.contains("nothing is left that completes `app.pftrace`"), "{errors}");
}

/// As where the file system of one of them is full.
#[test]
fn a_trace_that_can_t_be_written_keeps_no_other_from_being_completed() {
    let (large, small) = (Dead::with_messages(20_000), Dead::new());
    let [large_path, small_path] = [&large, &small].map(|dead| dead.trace.to_str().unwrap());
    let recover = |traces: &[&str]| {
        // A write beyond the limit fails, since the signal is ignored.
        let script = "trap '' XFSZ; ulimit -f 100; exec \"$@\"";
        let mut shell = Command::new("sh");
        shell.args(["-c", script, "sh", env!("CARGO_BIN_EXE_protologtool"), "recover"]);
        let output = shell.args(traces).output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let failure = format!("error: can't write `{large_path}`: file too large\n");
    assert_eq!(recover(&[large_path, small_path]), (Some(3), failure.clone()));
    assert!(!small.recording.exists(), "not needed any more");
    assert_eq!(small.numbers("app.pftrace"), (0..15).collect::<Vec<_>>());
    // Alone, it is the failure of the command; and it can be completed where there is room.
    assert_eq!(recover(&[large_path]), (Some(2), failure));
    assert_eq!(large.run(&["recover", "app.pftrace"]).0, Some(0));
    assert_eq!(large.numbers("app.pftrace"), (0..20_005).collect::<Vec<_>>());
}

#[test]
fn with_an_output_everything_stays() {
    let dead = Dead::new();
    let before = fs::read(&dead.trace).unwrap();
    for input in ["app.pftrace", "protolog-app-1-0.rec"] {
        let (code, _, errors) = dead.run(&["recover", input, "-o", "out.pftrace"]);
        assert_eq!((code, errors.as_str()), (Some(0), ""), "{input}");
        // Of the recording it is the session's own trace, which ended meanwhile.
        assert_eq!(dead.numbers("out.pftrace"), (0..15).collect::<Vec<_>>(), "{input}");
        assert!(dead.recording.exists() && fs::read(&dead.trace).unwrap() == before);
    }
}

#[test]
fn a_running_session_is_left_alone() {
    let dir = temp_dir();
    let path = dir.path().join("live.pftrace");
    let _lock = lock();
    let session = Session::builder().file(&path).enable_all().start().expect("a session");
    i!(Log::Work, "alive");
    let recover = Command::new(env!("CARGO_BIN_EXE_protologtool"))
        .arg("recover")
        .arg(&path)
        .output()
        .expect("run the tool");
    assert_eq!(recover.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&recover.stderr).contains("is still being written"));
    assert_eq!(session.stop().expect("stop").messages, 1);
}

#[test]
fn a_completed_file_keeps_its_owner_and_permissions() {
    let dead = Dead::new();
    let link = dead.trace.with_file_name("link.pftrace");
    symlink(&dead.trace, &link).unwrap();
    fs::set_permissions(&dead.trace, Permissions::from_mode(0o640)).unwrap();
    let is_root = [&dead.trace, &dead.recording]
        .iter()
        .all(|path| chown(path, Some(NOBODY), Some(NOBODY)).is_ok());
    if !is_root {
        skip("files of another user", "only root can make them");
    }
    let before = fs::metadata(&dead.trace).unwrap();
    let (code, _, errors) = dead.run(&["recover", "link.pftrace"]);
    assert_eq!((code, errors.as_str()), (Some(0), ""));
    let shape = |found: fs::Metadata| (found.ino(), found.mode(), found.uid(), found.gid());
    assert_eq!(shape(fs::metadata(&dead.trace).unwrap()), shape(before));
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(dead.numbers("app.pftrace"), (0..15).collect::<Vec<_>>());
    assert!(!dead.recording.exists());
}

#[test]
fn a_completed_file_gets_the_permissions_that_are_asked_for() {
    let dead = Dead::new();
    fs::set_permissions(&dead.trace, Permissions::from_mode(0o640)).unwrap();
    assert_eq!(dead.run(&["recover", "app.pftrace", "--mode", "604"]).0, Some(0));
    assert_eq!(fs::metadata(&dead.trace).unwrap().mode() & 0o777, 0o604);
}

#[test]
fn a_trace_that_a_session_writes_is_left_alone() {
    let dead = Dead::new();
    let saved = dead.trace.with_file_name("saved");
    fs::copy(&dead.trace, &saved).unwrap();
    dead.set_path(&dead.trace);
    let _lock = lock();
    let session =
        Session::builder().file(&dead.trace).truncate().enable_all().start().expect("a session");
    // As between the tool's looks at trace and recording: the session has just begun. In another
    // process, since closing the file would release the session's lock.
    assert!(Command::new("cp").arg(&saved).arg(&dead.trace).status().unwrap().success());
    let before = fs::metadata(&dead.trace).unwrap().ino();
    for named in ["app.pftrace", "protolog-app-1-0.rec"] {
        let (code, _, errors) = dead.run(&["recover", named]);
        assert_eq!(code, Some(2), "{errors}");
        assert!(errors.contains("app.pftrace` is still being written"), "{errors}");
    }
    assert_eq!(fs::metadata(&dead.trace).unwrap().ino(), before);
    assert!(dead.recording.exists());
    session.stop().expect("stop");
}

#[test]
fn a_session_does_not_start_while_its_trace_is_completed() {
    let dead = Dead::new();
    dead.set_path(&dead.trace);
    let before = fs::read(&dead.trace).unwrap();
    // As the tool holds it.
    let held = File::open(&dead.trace).unwrap();
    held.lock().unwrap();
    let _lock = lock();
    assert!(Session::builder().file(&dead.trace).start().is_err());
    let (code, _, errors) = dead.run(&["recover", "app.pftrace"]);
    assert_eq!(code, Some(2), "{errors}");
    assert!(errors.contains("is still being written"), "{errors}");
    assert!(fs::read(&dead.trace).unwrap() == before);
    drop(held);
    assert_eq!(dead.run(&["recover", "protolog-app-1-0.rec"]).0, Some(0));
    assert_eq!(dead.numbers("app.pftrace"), (0..15).collect::<Vec<_>>());
}

#[test]
fn a_recording_that_somebody_looks_at_is_waited_for() {
    let dead = Dead::new();
    // No process has this id.
    dead.patch(16, &u32::MAX.to_ne_bytes());
    let held = File::open(&dead.recording).unwrap();
    held.lock().unwrap();
    let other = thread::spawn(move || {
        thread::sleep(Duration::from_millis(200));
        drop(held);
    });
    let (code, _, errors) = dead.run(&["recover", "app.pftrace"]);
    assert_eq!((code, errors.as_str()), (Some(0), ""));
    other.join().unwrap();
}

#[test]
fn paths_in_recordings_lead_to_files_of_the_same_user_only() {
    let dead = Dead::new();
    let path = |name: &str| dead.trace.with_file_name(name);
    let named = "protolog-app-1-0.rec";
    let has_no_trace = || {
        let out = fs::read(path("out")).unwrap();
        out.windows(26).any(|part| part == b"protolog recording started")
    };
    // A pipe that nobody writes to.
    assert!(Command::new("mkfifo").arg(path("pipe")).status().unwrap().success());
    dead.set_path(&path("pipe"));
    assert_eq!(dead.recover_soon(&[named, "-o", "out"]).0, Some(0));
    assert!(has_no_trace());
    let (code, errors) = dead.recover_soon(&[named]);
    assert_eq!(code, Some(2));
    assert!(errors.contains("completes no trace file that is there"), "{errors}");
    // A link.
    symlink(&dead.trace, path("link")).unwrap();
    dead.set_path(&path("link"));
    let before = fs::read(&dead.trace).unwrap();
    let (code, errors) = dead.recover_soon(&[named]);
    assert_eq!(code, Some(2), "{errors}");
    assert!(fs::symlink_metadata(path("link")).unwrap().is_symlink());
    assert_eq!(dead.recover_soon(&[named, "-o", "out"]).0, Some(0));
    assert!(has_no_trace(), "what it has itself");
    // Of another user.
    dead.set_path(&dead.trace);
    if chown(&dead.recording, Some(NOBODY), None).is_err() {
        return skip("recordings of another user", "only root can make them");
    }
    let (code, errors) = dead.recover_soon(&[named]);
    assert_eq!(code, Some(2));
    assert!(errors.contains("belongs to another user"), "{errors}");
    assert_eq!(dead.recover_soon(&[named, "-o", "out"]).0, Some(0));
    assert!(has_no_trace(), "what it has itself");
    chown(&dead.trace, Some(NOBODY), None).unwrap();
    assert_eq!(dead.recover_soon(&[named]).0, Some(2));
    assert!(fs::read(&dead.trace).unwrap() == before);
    assert_eq!(dead.recover_soon(&[named, "-o", "out"]).0, Some(0));
    assert_eq!(dead.numbers("out"), (0..15).collect::<Vec<_>>());
}
