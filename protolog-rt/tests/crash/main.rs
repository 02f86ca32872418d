//! Sessions that stream to a file, in a process that ends without stopping them: the trace file and
//! the recording of its buffer have each committed message, once.
#![allow(unsafe_code)] // Children report with a bare system call.

mod child;

use protolog_core::chunk::{ChunkState, PageLayout, PageWord};
use protolog_core::recorder::RING_AT;
use protolog_reader::{Log, Rendering, Trace};
use protolog_rt::{Error, Session, recover_previous};
use protolog_testkit::{TempDir, temp_dir, trace_stats};
use std::collections::BTreeMap;
use std::ffi::CString;
use std::fs;
use std::io::Read;
use std::iter;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Held while a session of this process runs.
static SESSIONS: Mutex<()> = Mutex::new(());

/// Number of processes that are killed in each way; `cargo xtask soak` sets a higher one.
fn rounds() -> u64 {
    std::env::var("PROTOLOG_KILL_ROUNDS").ok().and_then(|it| it.parse().ok()).unwrap_or(8)
}

/// The last committed number of each thread, by the frames of a child, until `enough` or its end.
fn read_frames(child: &mut Child, last: &mut BTreeMap<u32, u64>, enough: impl Fn(u64) -> bool) {
    let pipe = child.stderr.as_mut().expect("a pipe");
    let mut frame = [0; 12];
    let mut frames = 0;
    while !enough(frames) && pipe.read_exact(&mut frame).is_ok() {
        frames += 1;
        let (thread, number) = frame.split_at(4);
        let thread = u32::from_ne_bytes(thread.try_into().unwrap());
        assert!(thread < child::THREADS, "not a frame: {}", String::from_utf8_lossy(&frame));
        last.insert(thread, u64::from_ne_bytes(number.try_into().unwrap()));
    }
}

/// Runs a child until it has logged its 60 messages, ends it by `signal` unless it ends by itself,
/// and waits.
fn run(job: &str, path: &Path, signal: Option<i32>) -> ExitStatus {
    let mut child = child::start(job, path);
    let mut last = BTreeMap::new();
    read_frames(&mut child, &mut last, |frames| frames == 60);
    assert_eq!(last, [(0, 59)].into());
    send(&child, signal);
    child.wait().expect("wait for the child")
}

fn send(child: &Child, signal: Option<i32>) {
    if let Some(signal) = signal {
        // SAFETY: takes two numbers; the child has not been waited for.
        assert_eq!(unsafe { libc::kill(child.id() as i32, signal) }, 0);
    }
}

/// The recordings of a process that are there.
fn recordings(pid: u32) -> Vec<PathBuf> {
    let files = fs::read_dir("/dev/shm").expect("a directory").flatten().map(|entry| entry.path());
    let program = std::env::current_exe().expect("this program");
    let program = program.file_name().expect("a name").to_string_lossy().into_owned();
    // Another program of that process id may have left one.
    let mine = format!("protolog-{program}-{pid}-");
    files.filter(|path| path.to_string_lossy().contains(&mine)).collect()
}

fn read(path: &Path) -> Log {
    let log = Trace::open(path).expect("open the trace").read().expect("read the trace");
    assert_eq!(log.summary().to_string(), "", "nothing is missing");
    log
}

/// The numbers of each thread, in the order of the trace.
fn numbers<'a>(logs: impl IntoIterator<Item = &'a Log>) -> BTreeMap<u32, Vec<u64>> {
    let mut numbers: BTreeMap<u32, Vec<u64>> = BTreeMap::new();
    for entry in logs.into_iter().flat_map(Log::entries) {
        let text = entry.values().text(Rendering::Bare);
        let (thread, rest) = text.split_once(':').expect("a thread");
        let number = rest.split(' ').next().expect("a number");
        numbers.entry(thread.parse().unwrap()).or_default().push(number.parse().unwrap());
    }
    numbers
}

fn place() -> (TempDir, PathBuf) {
    let dir = temp_dir();
    let path = dir.path().join("app.pftrace");
    (dir, path)
}

#[test]
fn a_session_that_can_not_start_leaves_no_recording() {
    let (dir, path) = place();
    let _lock = SESSIONS.lock().unwrap_or_else(PoisonError::into_inner);
    let builder = || Session::builder().file(&path).enable_all();
    let first = builder().start().expect("a session");
    let own = |path: &PathBuf| path != first.recording().expect("a recording");
    assert!(matches!(builder().start(), Err(Error::FileInUse { .. })));
    assert!(Session::builder().file(dir.path()).start().is_err(), "a directory");
    let left: Vec<PathBuf> = recordings(std::process::id()).into_iter().filter(own).collect();
    assert_eq!(left, Vec::<PathBuf>::new());
    first.stop().expect("stop");
}

/// Copies of a session's files, as they are at one moment, are what a process leaves that dies
/// then.
#[test]
fn a_process_may_die_between_two_segments() {
    let _lock = SESSIONS.lock().unwrap_or_else(PoisonError::into_inner);
    // The session's thread may have written some of the later messages already; then once more.
    let left = iter::repeat_with(die_between_two_segments).take(100).find(|left| {
        let written = Trace::open(left.path().join("app.0001.pftrace")).expect("open").read();
        written.expect("read").entries().count() == 10
    });
    let left = left.expect("a segment that lacks 5 messages");
    let segment = left.path().join("app.0001.pftrace");
    let recovered = recover_previous(left.path().join("app.pftrace")).expect("recover the trace");
    let found: Vec<_> = recovered.iter().map(|it| (it.path.clone(), it.messages)).collect();
    assert_eq!(found, [(segment.clone(), 5)]);
    let files: Vec<_> = fs::read_dir(left.path()).unwrap().map(|it| it.unwrap().path()).collect();
    assert_eq!(files, [segment]);
    assert_eq!(numbers([&read(&files[0])]), [(0, (0..15).collect())].into());
}

/// The files of a process that has written 10 messages of 15, and begun a segment that has none.
fn die_between_two_segments() -> TempDir {
    let ((dir, path), left) = (place(), temp_dir());
    let session = Session::builder().file(&path).enable_all().segment_bytes(1 << 20).start();
    let session = session.expect("a session");
    let part = dir.path().join("app.0001.pftrace.part");
    fs::copy(&part, left.path().join("app.0002.pftrace.part")).expect("copy");
    (0..10).for_each(|number| child::log(0, number));
    session.flush().expect("flush");
    (10..15).for_each(|number| child::log(0, number));
    let recording = session.recording().expect("a recording");
    fs::copy(recording, left.path().join("protolog-app-1-0.rec")).expect("copy");
    // The one before it was renamed already.
    fs::copy(&part, left.path().join("app.0001.pftrace")).expect("copy");
    session.stop().expect("stop");
    left
}

/// As above, in the moment in which the session's thread has claimed the first chunks of a message
/// and lacks its last one.
#[test]
fn a_process_may_die_while_a_long_message_is_on_its_way() {
    let (dir, path) = place();
    let _lock = SESSIONS.lock().unwrap_or_else(PoisonError::into_inner);
    let left = dir.path().join("left");
    fs::create_dir(&left).expect("a directory");
    // Until the session's thread is not faster.
    let recording = loop {
        let session = Session::builder().file(&path).enable_all().start().expect("a session");
        (997..1000).for_each(|number| child::log(0, number));
        fs::copy(&path, left.join("app.pftrace")).expect("copy");
        let mut recording = fs::read(session.recording().expect("a recording")).expect("read");
        let size = |path: &Path| fs::metadata(path).expect("a file").len();
        // Otherwise the thread has written between the two copies.
        let is_one_moment = size(&path) == size(&left.join("app.pftrace"));
        // Or before them.
        let copy = Trace::open(left.join("app.pftrace")).expect("open").read().expect("a trace");
        let is_one_moment = is_one_moment && copy.entries().len() == 0;
        session.stop().expect("stop");
        if claim_chunks(&mut recording) >= 2 && is_one_moment {
            break recording;
        }
    };
    fs::write(left.join("protolog-app-1-0.rec"), recording).expect("write");
    let recovered = recover_previous(left.join("app.pftrace")).expect("recover the trace");
    assert_eq!((recovered.len(), recovered[0].messages, recovered[0].lost), (1, 3, 0));
    assert_eq!(numbers([&read(&left.join("app.pftrace"))]), [(0, (997..1000).collect())].into());
}

/// Makes the complete chunks of a recording ones that are being read. Returns their number.
fn claim_chunks(recording: &mut [u8]) -> usize {
    let mut claimed = 0;
    for page in recording[RING_AT..].chunks_exact_mut(4096) {
        let (word, _) = page.split_first_chunk_mut().expect("a header");
        let mut header = PageWord(u32::from_ne_bytes(*word));
        for index in 0..header.layout().map_or(0, PageLayout::chunks) {
            if header.state(index) == ChunkState::Complete {
                header = header.with(index, ChunkState::Reading);
                claimed += 1;
            }
        }
        *word = header.0.to_ne_bytes();
    }
    claimed
}

#[test]
fn a_process_that_exits_has_its_trace() {
    let (_dir, path) = place();
    let status = run("exit", &path, None);
    assert_eq!(status.code(), Some(0));
    assert_eq!(numbers([&read(&path)]), [(0, (0..60).collect())].into());
    assert_eq!(recover_previous(&path).expect("look for it"), []);
}

#[test]
fn signals_stop_sessions_and_kill_as_before() {
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
        let (_dir, path) = place();
        let status = run("signals", &path, Some(signal));
        assert_eq!(status.signal(), Some(signal));
        assert_eq!(numbers([&read(&path)]), [(0, (0..60).collect())].into());
        assert_eq!(recover_previous(&path).expect("look for it"), []);
    }
}

/// The first process of a namespace, as that of a container, on which signals of its own have no
/// effect.
#[test]
fn signals_end_the_first_process_of_a_container() {
    let namespaces = ["--user", "--map-root-user", "--pid", "--fork", "--"];
    let Some(unshare) = protolog_testkit::tool("unshare") else { return };
    let mut tried = Command::new(&unshare);
    if protolog_testkit::run_any(tried.args(namespaces).arg("true")).code != Some(0) {
        return protolog_testkit::skip("the first process of a container", "no namespaces");
    }
    for (job, signal) in [("signals term", libc::SIGTERM), ("signals interrupt", libc::SIGINT)] {
        let (_dir, path) = place();
        let mut command = Command::new(&unshare);
        command.args(namespaces);
        let mut child = child::start_by(command, job, &path);
        read_frames(&mut child, &mut BTreeMap::new(), |_| false);
        assert_eq!(child.wait().expect("wait for it").code(), Some(128 + signal));
        assert_eq!(numbers([&read(&path)]), [(0, (0..60).collect())].into());
    }
}

#[test]
fn a_process_that_dies_leaves_what_completes_its_trace() {
    for (job, signal) in [
        ("abort", None),
        ("", Some(libc::SIGKILL)),
        ("", Some(libc::SIGTERM)),
        ("", Some(libc::SIGINT)),
        ("signals", Some(libc::SIGKILL)),
    ] {
        let (_dir, path) = place();
        let status = run(job, &path, signal);
        assert!(status.signal().is_some(), "{status}");
        let recovered = recover_previous(&path).expect("recover the trace");
        assert_eq!(
            (recovered.len(), &recovered[0].path, recovered[0].lost),
            (1, &path, 0),
            "{job}"
        );
        assert_eq!(numbers([&read(&path)]), [(0, (0..60).collect())].into(), "{job} {signal:?}");
        assert_eq!(recover_previous(&path).expect("look for it"), [], "it is complete");
        assert_eq!(trace_stats(&path).map(|stats| stats.to_string()).unwrap_or_default(), "");
    }
}

#[test]
fn a_process_whose_file_is_stuck_exits() {
    let (_dir, path) = place();
    let name = CString::new(path.as_os_str().as_bytes()).expect("a path");
    // SAFETY: the name ends with a zero.
    assert_eq!(unsafe { libc::mkfifo(name.as_ptr(), 0o600) }, 0);
    // Somebody has it open, who does not read.
    let pipe = fs::File::options().read(true).write(true).open(&path).expect("open the pipe");
    let mut child = child::start("stuck exit", &path);
    read_frames(&mut child, &mut BTreeMap::new(), |frames| frames == 60);
    let mut line = String::new();
    child.stderr.take().expect("a pipe").read_to_string(&mut line).expect("text");
    let error = format!("can't write `{}`: it takes too long", path.display());
    assert_eq!(line, format!("protolog: a trace is not complete: {error}\n"));
    assert_eq!(child.wait().expect("wait for the child").code(), Some(0));
    let left = recordings(child.id());
    assert_eq!(left.len(), 1, "what the file lacks");
    fs::remove_file(&left[0]).expect("remove it");
    drop(pipe);
}

#[test]
fn an_end_of_the_process_waits_for_a_stop_on_another_thread() {
    for (job, signal) in [("stopping", None), ("stopping term", Some(libc::SIGTERM))] {
        let (_dir, path) = place();
        let mut child = child::start(job, &path);
        assert_eq!(child.wait().expect("wait for the child").signal(), signal, "{job}");
        let all = (0..u64::from(child::MANY)).collect();
        assert!(numbers([&read(&path)]) == [(0, all)].into(), "{job}");
    }
}

#[test]
fn handlers_of_the_program_keep_what_they_were_installed_with() {
    let (_dir, path) = place();
    // Reading from a pipe ends by the signal, as the handler was installed without SA_RESTART; and
    // so it exits with 7.
    assert_eq!(run("interrupted signals", &path, None).code(), Some(7));
    // With SA_RESETHAND the first signal is the program's, the next one deadly.
    assert_eq!(run("once signals", &path, Some(libc::SIGINT)).signal(), Some(libc::SIGINT));
    assert_eq!(numbers([&read(&path)]), [(0, (0..60).collect())].into());
}

#[test]
fn a_forked_child_may_stop_on_signals_too() {
    let (_dir, path) = place();
    assert_eq!(run("forked signals term", &path, None).code(), Some(0));
    assert_eq!(numbers([&read(&path)]), [(0, (0..60).collect())].into());
    assert_eq!(recover_previous(&path).expect("look for it"), [], "it is complete");
}

#[test]
fn what_was_logged_is_in_the_file_within_a_second() {
    let (_dir, path) = place();
    let mut child = child::start("", &path);
    let mut last = BTreeMap::new();
    read_frames(&mut child, &mut last, |frames| frames == 60);
    // As long as it takes on a busy machine; the test ends with it.
    let written = || {
        let log = Trace::open(&path).expect("open the trace").read();
        log.is_ok_and(|log| numbers([&log]).get(&0).is_some_and(|numbers| numbers.len() == 60))
    };
    while !written() {
        std::thread::sleep(Duration::from_millis(50));
    }
    child.kill().expect("kill the child");
    child.wait().expect("wait for the child");
    assert_eq!(recover_previous(&path).expect("recover the trace")[0].messages, 0);
    assert_eq!(numbers([&read(&path)]), [(0, (0..60).collect())].into());
}

#[test]
fn a_busy_process_that_is_killed_loses_nothing() {
    busy("busy");
}

#[test]
fn a_busy_process_with_a_small_buffer_loses_nothing() {
    busy("busy small");
}

#[test]
fn a_busy_process_with_segments_loses_nothing() {
    busy("busy segments");
}

#[cfg(feature = "compression")]
#[test]
fn a_busy_process_that_compresses_loses_nothing() {
    busy("busy compressed");
}

/// Kills busy processes at random moments.
#[track_caller]
fn busy(job: &str) {
    for round in 0..rounds() {
        let (dir, path) = place();
        let mut child = child::start(job, &path);
        let mut last = BTreeMap::new();
        // Some before the first write, most after many.
        let enough = 500 << (round % 6);
        read_frames(&mut child, &mut last, |frames| frames >= enough);
        child.kill().expect("kill the child");
        read_frames(&mut child, &mut last, |_| false);
        child.wait().expect("wait for the child");
        recover_previous(&path).expect("recover the trace");
        assert_eq!(recordings(child.id()), Vec::<PathBuf>::new(), "they are not needed any more");
        let mut files: Vec<PathBuf> =
            fs::read_dir(dir.path()).unwrap().map(|file| file.unwrap().path()).collect();
        files.sort();
        let logs: Vec<Log> = files.iter().map(|path| read(path)).collect();
        for (thread, found) in numbers(&logs) {
            let expected: Vec<u64> = (0..found.len() as u64).collect();
            let first_wrong = found.iter().zip(&expected).position(|(one, other)| one != other);
            let around =
                first_wrong.map(|at| &found[at.saturating_sub(2)..found.len().min(at + 3)]);
            assert_eq!(around, None, "{job}, round {round}, thread {thread}: in order, each once");
            let reported = last.get(&thread).copied().unwrap_or(0);
            assert!(
                found.len() as u64 > reported,
                "{job}, round {round}, thread {thread}: {reported}"
            );
        }
        if round < 2 {
            for path in &files {
                assert_eq!(
                    trace_stats(path).map(|stats| stats.to_string()).unwrap_or_default(),
                    ""
                );
            }
        }
    }
}
