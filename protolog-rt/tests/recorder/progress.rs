//! Threads that log without a pause, and say in a shared file how far they are.

use protolog_rt::{Builder, ProtoLogGroup, Session, i};
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::{env, fs, thread};

#[derive(ProtoLogGroup)]
enum Newest {
    Work,
}

/// Number of threads that log.
pub(crate) const THREADS: usize = 8;

/// Messages from one note of the time to the next: more than a chunk has.
pub(crate) const NOTED: u64 = 256;

/// Notes of a thread.
const NOTES: usize = 1 << 17;

/// Size of the ring in bytes, for the child.
pub(crate) const RING: &str = "PROTOLOG_TEST_RING";

/// The progress of the threads, in a file that outlives the child.
pub(crate) struct Progress(*const AtomicU64);

// SAFETY: it is the address of atomics that are never taken away.
unsafe impl Send for Progress {}

/// Words of a thread: its last message, then the times.
const WORDS: usize = 8 + NOTES;

impl Progress {
    pub(crate) fn open(path: &Path) -> Self {
        let mut options = fs::OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        let file = options.open(path).expect("the file of the progress");
        let bytes = THREADS * WORDS * 8;
        file.set_len(bytes as u64).expect("room for the progress");
        let (null, access) = (std::ptr::null_mut(), libc::PROT_READ | libc::PROT_WRITE);
        // SAFETY: a new mapping of a file that has so many bytes.
        let at = unsafe { libc::mmap(null, bytes, access, libc::MAP_SHARED, file.as_raw_fd(), 0) };
        assert_ne!(at, libc::MAP_FAILED, "map the progress");
        Self(at.cast())
    }

    fn word(&self, thread: usize, word: usize) -> &AtomicU64 {
        assert!(thread < THREADS && word < WORDS, "word {word} of thread {thread}");
        // SAFETY: the mapping has so many words.
        let at = unsafe { self.0.add(thread * WORDS + word) };
        // SAFETY: the mapping is never taken away, and others access its words as atomics too.
        unsafe { &*at }
    }

    /// Notes that a message was logged.
    fn note(&self, thread: usize, number: u64) {
        if number % NOTED == 0 {
            let note = 8 + (number / NOTED) as usize % NOTES;
            self.word(thread, note).store(now(), Ordering::Relaxed);
        }
        self.word(thread, 0).store(number + 1, Ordering::Release);
    }

    /// The number of messages that a thread logged.
    pub(crate) fn messages(&self, thread: usize) -> u64 {
        self.word(thread, 0).load(Ordering::Acquire)
    }

    /// A time not after message `number`, which was logged.
    pub(crate) fn time_before(&self, thread: usize, number: u64) -> u64 {
        let note = 8 + (number / NOTED) as usize % NOTES;
        self.word(thread, note).load(Ordering::Relaxed)
    }
}

/// BOOTTIME in nanoseconds.
fn now() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the kernel writes a time to the address.
    unsafe { libc::clock_gettime(libc::CLOCK_BOOTTIME, &raw mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// The file of the progress of the child that records at `recording`.
pub(crate) fn progress_of(recording: &Path) -> PathBuf {
    recording.with_extension("progress")
}

/// The job of the child: logs in all threads until the process dies.
pub(crate) fn log(builder: Builder, recording: &Path) -> Session {
    let ring = env::var(RING).expect("the size of the ring").parse().expect("a number");
    let session = builder.buffer_size(ring).start().expect("start a session");
    for thread in 0..THREADS {
        let progress = Progress::open(&progress_of(recording));
        thread::spawn(move || {
            for number in 0_u64.. {
                i!(Newest::Work, "%d:%d", thread, number);
                progress.note(thread, number);
            }
        });
    }
    session
}
