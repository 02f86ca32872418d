//! The buffer of a stream takes memory as it is needed: a short program takes little, a burst finds
//! all, and where there is no more the rest is lost and counted.

#[path = "common/pipe.rs"]
mod pipe;
#[path = "common/refuse.rs"]
mod refuse;

use pipe::Pipe;
use protolog_reader::{Rendering, Trace};
use protolog_rt::{LossCause, ProtoLogGroup, RecordingPlace, Session, i};
use protolog_testkit::temp_dir;
use refuse::refuse;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

#[derive(ProtoLogGroup)]
enum Log {
    Net,
}

/// One session at a time.
static SESSIONS: Mutex<()> = Mutex::new(());

/// The default size of the buffer.
const BUFFER: u64 = 16 << 20;

fn bytes_on_disk(path: &Path) -> u64 {
    std::fs::metadata(path).expect("a recording").blocks() * 512
}

#[test]
fn a_short_program_takes_little() {
    let _lock = SESSIONS.lock().unwrap_or_else(PoisonError::into_inner);
    let dir = temp_dir();
    let session = Session::builder().file(dir.path().join("a.pftrace")).enable_all();
    let session = session.start().expect("start a session");
    let recording = session.recording().expect("a recording").to_path_buf();
    i!(Log::Net, "message %d", 1);
    assert!(std::fs::metadata(&recording).expect("a recording").len() > BUFFER);
    assert!(bytes_on_disk(&recording) < 6 << 20, "{} bytes", bytes_on_disk(&recording));
    assert_eq!(session.stop().expect("stop").messages, 1);
}

#[test]
fn a_message_finds_memory_that_was_not_there() {
    let _lock = SESSIONS.lock().unwrap_or_else(PoisonError::into_inner);
    let dir = temp_dir();
    let path = dir.path().join("a.pftrace");
    let session = Session::builder().file(&path).enable_all().max_string_bytes(8 << 20);
    let session = session.start().expect("start a session");
    let recording = session.recording().expect("a recording").to_path_buf();
    let text = "0123456789abcdef".repeat(7 << 16);
    i!(Log::Net, "long %s", &text);
    assert!(bytes_on_disk(&recording) > 5 << 20, "{} bytes", bytes_on_disk(&recording));
    let summary = session.stop().expect("stop");
    assert_eq!((summary.messages, summary.lost()), (1, 0), "{summary:?}");
    let log = Trace::open(&path).expect("open the trace").read().expect("read the trace");
    let texts: Vec<_> = log.entries().map(|it| it.values().text(Rendering::Bare)).collect();
    assert!(texts == [format!("long {text}")], "it is whole");
}

/// Writers find memory though the session's thread, which sees to that, is stuck.
#[test]
fn a_burst_finds_memory_while_the_session_is_stuck() {
    const MESSAGES: u64 = 1_500;
    let _lock = SESSIONS.lock().unwrap_or_else(PoisonError::into_inner);
    let pipe = Pipe::stalled();
    let session = Session::builder().file(&pipe.path).enable_all().start();
    let session = session.expect("start a session");
    let text = "x".repeat(4_000);
    (0..MESSAGES).for_each(|number| i!(Log::Net, "message %d %s", number, &text));
    pipe.read(Duration::ZERO);
    let summary = session.stop().expect("stop");
    assert_eq!((summary.lost(), summary.messages), (0, MESSAGES), "{summary:?}");
    assert!(summary.buffer.high_water > 4 << 20, "{:?}", summary.buffer);
    pipe.finish();
}

/// A file system of its own, in memory, of so many bytes; none without the rights.
struct Mounted(PathBuf);

impl Mounted {
    fn new(at: PathBuf, bytes: u64) -> Option<Self> {
        std::fs::create_dir(&at).expect("make a directory");
        let size = format!("size={bytes}");
        let mut mount = Command::new("mount");
        let output = mount.args(["-t", "tmpfs", "-o", &size, "tmpfs"]).arg(&at).output();
        output.is_ok_and(|it| it.status.success()).then_some(Self(at))
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        // This thread has the recording mapped for as long as it runs.
        let _ = Command::new("umount").arg("-l").arg(&self.0).output();
    }
}

/// A store where the disk has no room would end the program (`SIGBUS`).
#[test]
fn a_burst_on_a_full_disk_is_counted() {
    const MESSAGES: u64 = 6_000;
    let _lock = SESSIONS.lock().unwrap_or_else(PoisonError::into_inner);
    let dir = temp_dir();
    let Some(disk) = Mounted::new(dir.path().join("disk"), 2 * BUFFER) else { return };
    let builder = Session::builder().file(disk.0.join("a.pftrace")).enable_all();
    let builder = builder.recording_in(RecordingPlace::BesideTrace);
    let session = builder.start().expect("start a session");
    let recording = session.recording().expect("a recording").to_path_buf();
    assert!(recording.starts_with(&disk.0) && bytes_on_disk(&recording) < 6 << 20);
    let rest = std::fs::write(disk.0.join("ballast"), vec![1; 2 * BUFFER as usize]);
    assert!(rest.is_err(), "the disk is full");
    let text = "x".repeat(4_000);
    (0..MESSAGES).for_each(|number| i!(Log::Net, "message %d %s", number, &text));
    std::fs::remove_file(disk.0.join("ballast")).expect("make room");
    let summary = session.stop().expect("stop");
    let causes: Vec<_> = summary.losses.iter().map(|lost| lost.cause).collect();
    assert_eq!(summary.messages + summary.lost(), MESSAGES, "{summary:?}");
    assert!(causes.contains(&LossCause::BufferFull), "{summary:?}");
}

/// The pieces of a message that finds no room are given back, also where the buffer can't grow.
#[test]
fn a_long_message_on_a_full_disk_leaves_room_for_others() {
    let _lock = SESSIONS.lock().unwrap_or_else(PoisonError::into_inner);
    let dir = temp_dir();
    let Some(disk) = Mounted::new(dir.path().join("disk"), 2 * BUFFER) else { return };
    let builder = Session::builder().file(disk.0.join("a.pftrace")).enable_all();
    let builder = builder.recording_in(RecordingPlace::BesideTrace).max_string_bytes(8 << 20);
    let session = builder.start().expect("start a session");
    let ballast = disk.0.join("ballast");
    let rest = std::fs::write(&ballast, vec![1; 2 * BUFFER as usize]);
    assert!(rest.is_err(), "the disk is full");
    // Room for the trace, and none for the buffer.
    let size = std::fs::metadata(&ballast).expect("the ballast").len();
    let file = std::fs::File::options().write(true).open(&ballast).expect("open the ballast");
    file.set_len(size - (128 << 10)).expect("make room");
    i!(Log::Net, "long %s", &"0123456789abcdef".repeat(7 << 16));
    session.flush().expect("flush");
    i!(Log::Net, "short %d", 1);
    session.flush().expect("flush");
    let other = || i!(Log::Net, "other %d", 1);
    thread::spawn(other).join().expect("a thread that logs");
    let summary = session.stop().expect("stop");
    assert_eq!((summary.messages, summary.lost()), (2, 1), "{summary:?}");
}

/// Bytes of a mapped file that are resident in this process.
fn resident_of(path: &Path) -> u64 {
    let all = std::fs::read_to_string("/proc/self/smaps").expect("the mappings");
    let path = path.to_str().expect("UTF-8");
    let of_file = all.split("\nVmFlags:").filter(|it| it.contains(path));
    let sizes = of_file.map(|it| {
        let size = it.lines().find_map(|line| line.strip_prefix("Rss:")).expect("a size");
        size.trim().trim_end_matches(" kB").parse::<u64>().expect("a number") << 10
    });
    sizes.sum()
}

/// A session of a thread to which a system call is refused: its recording's bytes on the disk and
/// in memory. None where nothing can be refused.
fn in_sandbox(
    call: libc::c_long,
    third: Option<libc::c_int>,
    error: libc::c_int,
) -> Option<(u64, u64)> {
    let _lock = SESSIONS.lock().unwrap_or_else(PoisonError::into_inner);
    let sizes = thread::spawn(move || {
        if !refuse(call, third, error) {
            protolog_testkit::skip("a sandbox", "seccomp filters are not permitted here");
            return None;
        }
        let dir = temp_dir();
        let session = Session::builder().file(dir.path().join("a.pftrace")).enable_all();
        let session = session.start().expect("start a session");
        let recording = session.recording().expect("a recording").to_path_buf();
        i!(Log::Net, "message %d", 1);
        let sizes = (bytes_on_disk(&recording), resident_of(&recording));
        assert_eq!(session.stop().expect("stop").messages, 1);
        Some(sizes)
    });
    sizes.join().expect("a session")
}

/// A recording that is not there loses all at a kill.
#[test]
fn a_sandbox_that_refuses_to_allocate_has_a_recording() {
    for error in [libc::ENOSYS, libc::EPERM, libc::EOPNOTSUPP] {
        let Some((on_disk, _)) = in_sandbox(libc::SYS_fallocate, None, error) else { return };
        assert!(on_disk > BUFFER, "error {error}: {on_disk} bytes");
    }
}

#[test]
fn a_sandbox_that_refuses_to_populate_has_its_memory() {
    for error in [libc::ENOSYS, libc::EPERM, libc::EINVAL] {
        let populate = Some(libc::MADV_POPULATE_WRITE);
        let Some((_, resident)) = in_sandbox(libc::SYS_madvise, populate, error) else { return };
        assert!(resident >= 4 << 20, "error {error}: {resident} bytes");
    }
}
