//! A process that is stopped at every instruction while it logs. After each change of the recording
//! the test recovers it, as if the process had been killed right there.
//!
//! The ring has wrapped before. The steps cover messages, completed chunks, reused pages, also with
//! another layout, and a message that spans several chunks.

use crate::child::{self, SHORT_THREADS, STEPPED, WARM_UP};
use protolog_core::chunk::{PageLayout, PageWord};
use protolog_core::recorder::read_u32;
use protolog_reader::{Recording, Rendering, Trace};
use protolog_testkit::{skip, temp_dir};
use std::fs::File;
use std::io::Read;
use std::os::fd::AsRawFd;
use std::path::Path;

/// A mapping of the recording.
struct MappedRecording {
    base: *const u8,
    len: usize,
}

impl MappedRecording {
    fn new(path: &Path) -> Self {
        let file = File::open(path).expect("open the recording");
        let len = file.metadata().expect("its size").len() as usize;
        let (flags, fd) = (libc::MAP_SHARED, file.as_raw_fd());
        // SAFETY: a new mapping of a file, for reading.
        let base = unsafe { libc::mmap(std::ptr::null_mut(), len, libc::PROT_READ, flags, fd, 0) };
        assert_ne!(base, libc::MAP_FAILED);
        Self { base: base.cast(), len }
    }

    /// The contents. The only process that writes them is stopped.
    fn bytes(&self) -> &[u8] {
        // SAFETY: the mapping lives as long as `self`, and the only writer is stopped while the
        // reference lives.
        unsafe { std::slice::from_raw_parts(self.base, self.len) }
    }
}

impl Drop for MappedRecording {
    fn drop(&mut self) {
        // SAFETY: mapped by `new`.
        unsafe { libc::munmap(self.base.cast_mut().cast(), self.len) };
    }
}

/// A thread that this process traces with ptrace.
pub(crate) struct TracedThread(pub(crate) libc::pid_t);

impl TracedThread {
    /// Waits until the thread stops. Returns the signal; none if the thread ended.
    pub(crate) fn wait(&self) -> Option<libc::c_int> {
        let mut status = 0;
        // SAFETY: the kernel writes an int to the address.
        let waited = unsafe { libc::waitpid(self.0, &raw mut status, libc::__WALL) };
        (waited == self.0 && libc::WIFSTOPPED(status)).then(|| libc::WSTOPSIG(status))
    }

    /// Runs one instruction of the thread.
    fn step(&self) {
        let none = std::ptr::null_mut::<libc::c_void>();
        // SAFETY: the thread is stopped and this thread traces it.
        unsafe { libc::ptrace(libc::PTRACE_SINGLESTEP, self.0, none, none) };
    }

    /// Continues the thread until it enters or leaves a system call.
    pub(crate) fn continue_to_system_call(&self) {
        let none = std::ptr::null_mut::<libc::c_void>();
        // SAFETY: the thread is stopped and this thread traces it.
        unsafe { libc::ptrace(libc::PTRACE_SYSCALL, self.0, none, none) };
    }

    /// Detaches from the thread.
    pub(crate) fn detach(&self) {
        let none = std::ptr::null_mut::<libc::c_void>();
        // SAFETY: the thread is stopped and this thread traces it.
        unsafe { libc::ptrace(libc::PTRACE_DETACH, self.0, none, none) };
    }

    /// A word of the thread's memory.
    fn word(&self, at: u64) -> u64 {
        let place = std::ptr::without_provenance_mut::<libc::c_void>(at as usize);
        let none = std::ptr::null_mut::<libc::c_void>();
        // SAFETY: the thread is stopped and this thread traces it; the call reads the child's
        // memory, not ours.
        unsafe { libc::ptrace(libc::PTRACE_PEEKDATA, self.0, place, none) as u64 }
    }
}

/// Number of recovered messages and of overwritten ones.
type Counts = (u64, u64);

/// Recovers the recording of a process that logged `done` messages, and maybe the next one.
#[track_caller]
fn check(bytes: &[u8], done: u64, before: Counts) -> Counts {
    let mut trace = Vec::new();
    let report = Recording::parse(bytes).expect("a recording").write(&mut trace).expect("memory");
    assert_eq!(report.flaws, [], "after {done} messages");
    let (kept, all) = (report.messages, report.messages + report.overwritten - SHORT_THREADS);
    assert!(all == done || all == done + 1, "{kept} of {all} are recovered after {done} messages");
    if (kept, report.overwritten) != before {
        let log = Trace::from_bytes(trace).read().expect("a trace");
        let texts = log.entries().map(|entry| entry.values().text(Rendering::Bare));
        let (short, texts) = texts.partition::<Vec<_>, _>(|text| text.starts_with("short "));
        assert!(short.iter().all(|text| text.bytes().skip(6).eq([b's'; 50])));
        let first = all - texts.len() as u64;
        assert!((first..all).map(child::step_text).eq(texts), "after {done} messages");
    }
    (kept, report.overwritten)
}

/// Number of pages with the layout that short-lived threads get.
fn short_pages(recording: &[u8]) -> usize {
    let header = *Recording::parse(recording).expect("a recording").header();
    let ring = &recording[header.ring_at as usize..header.metadata_at as usize];
    let words =
        ring.chunks_exact(header.page as usize).map(|page| PageWord(read_u32(page, 0).unwrap()));
    words.filter(|word| word.layout() == Some(PageLayout::Fourteen)).count()
}

#[test]
fn committed_messages_are_recovered_after_every_instruction() {
    let dir = temp_dir();
    let path = dir.path().join("stepped.rec");
    let mut running = child::start("single_step", &path);
    let mut pipe = running.child.stderr.take().expect("a pipe");
    let mut read_number = || {
        let mut frame = [0; 12];
        pipe.read_exact(&mut frame).expect("a frame");
        u64::from_ne_bytes(frame[4..].try_into().unwrap())
    };
    let (thread, progress) = (TracedThread(read_number() as libc::pid_t), read_number());
    if read_number() != 0 {
        skip("stopping a process at every instruction", "ptrace is not permitted here");
        return running.die(child::Death::Kill);
    }
    assert_eq!(thread.wait(), Some(libc::SIGSTOP));
    let recording = MappedRecording::new(&path);
    let mut last = recording.bytes().to_vec();
    let mut counts = check(&last, WARM_UP, (0, 0));
    let short = short_pages(&last);
    assert!(short >= 2, "{short} pages are of short-lived threads");
    let (mut instructions, mut changes) = (0u64, 0u64);
    loop {
        thread.step();
        match thread.wait() {
            Some(libc::SIGTRAP) => instructions += 1,
            Some(libc::SIGSTOP) => break,
            other => panic!("stopped by {other:?}"),
        }
        if recording.bytes() != last {
            last.copy_from_slice(recording.bytes());
            counts = check(&last, thread.word(progress), counts);
            changes += 1;
        }
    }
    thread.detach();
    assert_eq!(short_pages(&last), 0, "all of them were reused");
    println!("{instructions} instructions, {changes} of which change the recording");
    assert_eq!(counts.0 + counts.1, WARM_UP + STEPPED + SHORT_THREADS);
    assert!(changes > 20 * STEPPED, "{changes} changes are too few to mean anything");
    running.die(child::Death::Kill);
}
