//! A named pipe as a session's file, whose reader sets the speed of the sink, and a helper that
//! waits until writers are stalled by it.
#![allow(dead_code)] // Each test binary uses a part.
#![allow(unsafe_code)] // mkfifo.

use protolog_testkit::{TempDir, temp_dir};
use std::ffi::CString;
use std::io::{Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// A pipe whose reader does not start before [`Pipe::read`].
pub(crate) struct Pipe {
    /// The session's file.
    pub(crate) path: PathBuf,
    /// A regular file with the bytes that came through the pipe.
    pub(crate) copy: PathBuf,
    dir: TempDir,
    go: Sender<Duration>,
    reader: JoinHandle<()>,
}

impl Pipe {
    /// Creates a pipe that nobody reads yet.
    pub(crate) fn stalled() -> Self {
        let dir = temp_dir();
        let (path, copy) = (dir.path().join("pipe"), dir.path().join("copy.pftrace"));
        let name = CString::new(path.as_os_str().as_bytes()).expect("a path");
        // SAFETY: the name is a C string.
        assert_eq!(unsafe { libc::mkfifo(name.as_ptr(), 0o600) }, 0);
        let (go, started) = channel();
        let (from, to) = (path.clone(), copy.clone());
        let reader = thread::spawn(move || {
            let mut from = std::fs::File::open(from).expect("open the pipe");
            let mut to = std::fs::File::create(to).expect("create a copy");
            let pause: Duration = started.recv().expect("`Pipe::read` is called");
            let mut bytes = vec![0; 32 << 10];
            loop {
                let length = from.read(&mut bytes).expect("read the pipe");
                if length == 0 {
                    return;
                }
                to.write_all(&bytes[..length]).expect("write the copy");
                thread::sleep(pause);
            }
        });
        Self { path, copy, dir, go, reader }
    }

    /// Starts the reader, which pauses after every 32 KiB.
    pub(crate) fn read(&self, pause: Duration) {
        self.go.send(pause).expect("a reader");
    }

    /// Waits for the end of the pipe. Returns the directory that holds the copy.
    pub(crate) fn finish(self) -> TempDir {
        self.reader.join().expect("the reader does not panic");
        self.dir
    }
}

/// Waits until the threads that count their messages in `sent` are stalled: several times in a row
/// every other thread of the process sleeps and the count has not changed. An unchanged count alone
/// could mean that they were not scheduled.
pub(crate) fn wait_until_stalled(sent: &AtomicU64) {
    let begun = Instant::now();
    let (mut last, mut still) = (0, 0);
    while still < 5 {
        assert!(begun.elapsed() < Duration::from_secs(60), "not stalled: {last} sent");
        thread::sleep(Duration::from_millis(5));
        let now = sent.load(Ordering::Relaxed);
        still = if now == last && now > 100 && all_others_sleep() { still + 1 } else { 0 };
        last = now;
    }
}

/// True if all threads of the process but this one sleep.
fn all_others_sleep() -> bool {
    // SAFETY: no arguments, no effects.
    let own = unsafe { libc::gettid() }.to_string();
    let mut tasks = std::fs::read_dir("/proc/self/task").expect("tasks").map(|task| task.unwrap());
    tasks.all(|task| {
        let status = std::fs::read_to_string(task.path().join("status")).unwrap_or_default();
        // A thread that ended meanwhile has no state.
        let state = status.lines().find_map(|line| line.strip_prefix("State:\t"));
        task.file_name() == *own || state.is_none_or(|state| state.starts_with('S'))
    })
}
