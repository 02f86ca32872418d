//! Recordings of sessions that stop normally, run beside others, lose messages or get dynamic
//! templates.

use crate::Recovery;
use crate::limit::{Limit, ran_in_child};
use crate::thread_end::{LAST_ROUND, at_end_of_thread};
use protolog_core::recorder::{Header, METADATA_LOST_AT};
use protolog_reader::{LossCause, LossReason, Recording};
use protolog_rt::dynamic::{self, Arg};
use protolog_rt::{Builder, Error, Level, ProtoLogGroup, Session, d, i};
use protolog_testkit::temp_dir;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::{fs, thread};

#[derive(ProtoLogGroup)]
enum Log {
    Net,
    Other,
}

/// Keeps other tests from starting sessions, since every session gets the messages of all threads.
fn lock_sessions() -> MutexGuard<'static, ()> {
    static SESSIONS: Mutex<()> = Mutex::new(());
    SESSIONS.lock().unwrap_or_else(PoisonError::into_inner)
}

fn net() -> Builder {
    Session::builder().group("Net", Level::Info).group("Other", None)
}

fn recording(session: &Session) -> PathBuf {
    session.recording().expect("a recording").to_path_buf()
}

/// True if this process has the file open, even if the file was deleted.
fn is_held(path: &Path) -> bool {
    let open = fs::read_dir("/proc/self/fd").unwrap().filter_map(Result::ok);
    let mut files = open.filter_map(|open| fs::read_link(open.path()).ok());
    files.any(|file| file.to_str().unwrap().starts_with(path.to_str().unwrap()))
}

#[test]
fn a_recording_is_private_and_deleted_with_its_session() {
    let _lock = lock_sessions();
    let (first, second) = (net().record().start().unwrap(), net().record().start().unwrap());
    let paths = [recording(&first), recording(&second)];
    assert_ne!(paths[0], paths[1]);
    for path in &paths {
        let name = path.to_str().unwrap();
        let pid = format!("-{}-", std::process::id());
        assert!(name.starts_with("/dev/shm/protolog-recorder-") && name.contains(&pid), "{name}");
        let metadata = fs::metadata(path).unwrap();
        assert_eq!(metadata.permissions().mode() & 0o777, 0o600);
        assert!(metadata.blocks() * 512 >= 4 << 20, "the ring is allocated");
    }
    i!(Log::Net, "to both sessions");
    assert_eq!(Recovery::read(&paths[0]).messages(), ["to both sessions"]);
    assert!(is_held(&paths[0]));
    first.stop().unwrap();
    assert!(!paths[0].exists());
    i!(Log::Net, "to one session");
    assert_eq!(Recovery::read(&paths[1]).messages(), ["to both sessions", "to one session"]);
    drop(second);
    assert!(!is_held(&paths[0]), "closed by the next stop after its threads have noticed its own");
    assert!(!paths[1].exists());
}

/// A panic drops the session, so nobody calls `stop`.
#[test]
fn a_session_dropped_by_a_panic_leaves_its_recording() {
    let _lock = lock_sessions();
    let dir = temp_dir();
    let (path, trace) = (dir.path().join("r"), dir.path().join("t"));
    let panics = |session: Builder| {
        let end = std::panic::catch_unwind(|| {
            let _session = session.record_at(&path).start().unwrap();
            i!(Log::Net, "before");
            thread::spawn(|| i!(Log::Net, "on a thread")).join().unwrap();
            panic!("in the middle");
        });
        assert!(end.is_err());
        i!(Log::Net, "after");
    };
    panics(net());
    assert_eq!(Recovery::read(&path).messages(), ["before", "on a thread"]);
    // The next session keeps the recording under another name. A session with a file needs none.
    panics(net().file(&trace));
    assert!(!path.exists() && dir.path().join("r.old").exists());
    let log = protolog_reader::Trace::open(&trace).unwrap().read().unwrap();
    assert_eq!(log.entries().count(), 2);
    // Nor does a session that is stopped.
    let session = net().record_at(&path).start().unwrap();
    session.stop().unwrap();
    assert!(!path.exists());
}

#[test]
fn a_stopped_session_leaves_its_trace_and_no_recording() {
    let _lock = lock_sessions();
    let dir = temp_dir();
    let trace = dir.path().join("app.pftrace");
    let session = net().file(&trace).record_at(dir.path().join("app.rec")).start().unwrap();
    i!(Log::Net, "hello");
    let path = recording(&session);
    let snapshot = session.snapshot(dir.path().join("snapshot.pftrace")).unwrap();
    assert_eq!(snapshot.messages, 1);
    let summary = session.stop().unwrap();
    assert_eq!((summary.messages, summary.lost()), (1, 0));
    assert!(trace.exists() && !path.exists());
}

#[test]
fn a_recording_stays_if_the_trace_can_not_be_written() {
    let _lock = lock_sessions();
    let dir = temp_dir();
    let folder = dir.path().join("folder");
    fs::create_dir(&folder).unwrap();
    let trace = folder.join("app.pftrace");
    let session = net().file(&trace).record_at(dir.path().join("app.rec")).start().unwrap();
    i!(Log::Net, "in the recording only");
    let path = recording(&session);
    fs::remove_dir(&folder).unwrap();
    session.stop().unwrap_err();
    assert_eq!(Recovery::read(&path).messages(), ["in the recording only"]);
}

#[test]
fn a_start_that_fails_leaves_old_recordings_as_they_were() {
    if ran_in_child("sessions::a_start_that_fails_leaves_old_recordings_as_they_were") {
        return;
    }
    let dir = temp_dir();
    let (path, old) = (dir.path().join("app.rec"), dir.path().join("app.rec.old"));
    fs::write(&path, "of the last run").unwrap();
    fs::write(&old, "of the run before").unwrap();
    // As on a full disk.
    let limit = Limit::new(libc::RLIMIT_FSIZE, 64 << 10);
    let refused = net().record_at(&path).start().unwrap_err();
    drop(limit);
    assert!(matches!(refused, Error::File { .. }), "{refused}");
    assert_eq!(fs::read(&path).unwrap(), b"of the last run");
    assert_eq!(fs::read(&old).unwrap(), b"of the run before");
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2, "nothing else");
}

#[test]
fn an_old_recording_is_renamed_unless_it_is_in_use() {
    let _lock = lock_sessions();
    let dir = temp_dir();
    let path = dir.path().join("app.rec");
    fs::write(&path, "of an earlier run").unwrap();
    let session = net().record_at(&path).start().unwrap();
    assert_eq!(fs::read(dir.path().join("app.rec.old")).unwrap(), b"of an earlier run");
    let refused = net().record_at(&path).start().unwrap_err();
    assert!(matches!(refused, Error::FileInUse { .. }), "{refused}");
    drop(session);
    let nowhere = net().record_at(dir.path().join("no/app.rec")).start().unwrap_err();
    assert!(matches!(nowhere, Error::File { .. }), "{nowhere}");
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "nothing else is left");
}

#[test]
fn only_a_regular_file_is_renamed_for_a_recording() {
    let _lock = lock_sessions();
    let dir = temp_dir();
    let folder = dir.path().join("folder");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("precious"), "x").unwrap();
    let error = net().record_at(&folder).start().unwrap_err();
    let shown = folder.display();
    let expected = format!("can't write `{shown}`: is a directory");
    assert_eq!(error.to_string(), expected);
    assert!(folder.join("precious").exists());
    let pipe = dir.path().join("pipe");
    let name = std::ffi::CString::new(pipe.to_str().unwrap()).unwrap();
    // SAFETY: the name is a C string.
    assert_eq!(unsafe { libc::mkfifo(name.as_ptr(), 0o600) }, 0);
    net().record_at(&pipe).start().unwrap_err();
    assert!(fs::symlink_metadata(&pipe).is_ok_and(|metadata| !metadata.is_file()));
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2, "nothing else is left");
}

/// Minor page faults of this thread so far.
fn faults() -> i64 {
    // SAFETY: integers, for which zero is a value.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: the kernel writes to a value of ours.
    assert_eq!(unsafe { libc::getrusage(libc::RUSAGE_THREAD, &raw mut usage) }, 0);
    usage.ru_minflt
}

#[test]
fn pages_of_a_ring_are_mapped_before_they_are_written() {
    const PAGES: usize = 1024;
    let _lock = lock_sessions();
    let dir = temp_dir();
    for builder in [net().record(), net().keep_newest().file(dir.path().join("app.pftrace"))] {
        let session = builder.buffer_size(PAGES * 4096).start().unwrap();
        (0..1_000).for_each(|number| i!(Log::Net, "%d", number));
        let before = faults();
        (0..400_000).for_each(|number| i!(Log::Net, "%d", number));
        let faults = faults() - before;
        assert!(session.summary().buffer.chunks_overwritten > 0, "every page was written");
        assert!(faults < PAGES as i64 / 4, "{faults} page faults");
    }
}

#[test]
fn the_header_identifies_the_process() {
    let _lock = lock_sessions();
    let session = net().record().buffer_size(100_000).start().unwrap();
    let bytes = fs::read(recording(&session)).unwrap();
    let header = *Recording::parse(&bytes).unwrap().header();
    assert_eq!((header.pid, header.page, header.pages), (std::process::id(), 4096, 25));
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap();
    let id = u128::from_be_bytes(header.boot_id);
    assert_eq!(format!("{id:032x}"), boot.trim().replace('-', ""));
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    assert!((now.as_nanos() as u64).abs_diff(header.realtime) < 60_000_000_000);
    assert!(header.monotonic <= header.boottime);
    let program = fs::read(std::env::current_exe().unwrap()).unwrap();
    let id = header.build_id.as_bytes();
    let known = id.is_empty() || program.windows(id.len()).any(|window| window == id);
    assert!(known, "{id:02x?} is in the program, where linkers put it");
    assert!(matches!(Header::parse(&bytes), Ok(parsed) if parsed == header));
}

#[test]
fn dynamic_templates_are_in_the_recording_before_their_messages() {
    let _lock = lock_sessions();
    let before = |number: i64| {
        let template = format!("before number {number}: %d");
        dynamic::log(&Log::Net, Level::Info, &template, &[Arg::Int(number)]);
    };
    before(1);
    let session = net().record().start().unwrap();
    before(1);
    for number in 0..500 {
        let template = format!("number {number}: %d");
        dynamic::log(&Log::Net, Level::Info, &template, &[Arg::Int(number)]);
    }
    let messages = Recovery::read(&recording(&session)).messages();
    assert_eq!(messages[0], "before number 1: 1");
    assert!((0..500).map(|number| format!("number {number}: {number}")).eq(messages[1..].to_vec()));
}

#[test]
fn losses_are_in_the_recording_at_once() {
    let _lock = lock_sessions();
    let session = net().record().max_string_bytes(100).start().unwrap();
    i!(Log::Net, "cut: %s", "x".repeat(200));
    i!(Log::Net, "cut: %s", "x".repeat(300));
    let found = Recovery::read(&recording(&session));
    let id = Log::Net.info().id;
    assert_eq!(found.log.stats().lost[&(LossReason::Reported(LossCause::Truncated), Some(id))], 2);
    assert_eq!((found.report.messages, found.report.lost), (2, 0), "the messages are there");
    // A snapshot reads the losses and leaves them in place.
    let dir = temp_dir();
    session.snapshot(dir.path().join("snapshot")).unwrap();
    let found = Recovery::read(&recording(&session));
    assert_eq!(found.log.stats().lost[&(LossReason::Reported(LossCause::Truncated), Some(id))], 2);
}

#[test]
fn unattributed_losses_are_in_the_recording_at_once() {
    let _lock = lock_sessions();
    let session = net().record().start().unwrap();
    thread::spawn(|| {
        i!(Log::Net, "in the thread");
        at_end_of_thread(|round| {
            if round == LAST_ROUND {
                i!(Log::Net, "after the thread's end");
            }
        });
    })
    .join()
    .unwrap();
    let found = Recovery::read(&recording(&session));
    assert_eq!(found.messages(), ["in the thread"]);
    assert_eq!(
        found.log.stats().lost
            [&(LossReason::Reported(LossCause::ThreadExit), Some(Log::Net.info().id))],
        1
    );
    assert_eq!(found.report.lost, 1);
}

#[test]
fn messages_of_threads_that_are_overwritten_completely_are_counted() {
    let _lock = lock_sessions();
    let session = net().record().buffer_size(64 << 10).start().unwrap();
    // More threads than the session keeps after they end.
    for _ in 0..150 {
        thread::spawn(|| (0..100).for_each(|number| i!(Log::Net, "overwritten %d", number)))
            .join()
            .unwrap();
    }
    (0..50_000).for_each(|number| i!(Log::Net, "stays %d", number));
    let found = Recovery::read(&recording(&session));
    assert!(found.messages().iter().all(|text| text.starts_with("stays ")));
    assert_eq!(found.report.messages + found.report.overwritten, 65_000);
    assert_eq!(found.report.threads, 1);
    d!(Log::Other, "disabled");
    drop(session);
}

#[test]
fn templates_that_do_not_fit_on_the_device_are_counted() {
    let _lock = lock_sessions();
    let session = net().record().start().unwrap();
    let path = recording(&session);
    // Set the counter as a full device would.
    let mut bytes = fs::read(&path).unwrap();
    bytes[METADATA_LOST_AT..][..8].copy_from_slice(&3u64.to_ne_bytes());
    let recording = Recording::parse(&bytes).unwrap();
    let report = recording.write(&mut std::io::sink()).unwrap();
    let flaws: Vec<String> = report.flaws.iter().map(ToString::to_string).collect();
    assert_eq!(flaws, ["3 metadata packets did not fit the device"]);
}
