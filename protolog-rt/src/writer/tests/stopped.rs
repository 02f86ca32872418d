//! A writer that is stopped after each of its instructions. A reader of its memory then finds every
//! acknowledged message, whole and in order, and at most one more: the one that is being written.
//!
//! A child process writes into shared memory, one instruction at a time, under `ptrace`.

use super::*;
use crate::sync::Ordering;
use crate::sys::fork::testing::has_process_of_its_own;
use crate::sys::mapping::Mapping;
use protolog_shmem::Backing as _;
use std::fs::File;
use std::io::Error;
use std::os::fd::FromRawFd;

const PAGES: usize = 4;
/// The size of the file: the buffer, and a page for the acknowledged counts.
const LEN: usize = (PAGES + 1) * PAGE;
const MESSAGES: i64 = 24;
/// The child's exit code if the system does not let it be traced.
const UNTRACED: i32 = 77;

/// A file in memory.
fn file() -> File {
    // SAFETY: the name is a C string.
    let file = unsafe { libc::memfd_create(c"stopped".as_ptr(), libc::MFD_CLOEXEC) };
    assert!(file >= 0, "{}", Error::last_os_error());
    // SAFETY: it was just opened, and nobody else has it.
    let file = unsafe { File::from_raw_fd(file) };
    file.set_len(LEN as u64).expect("set the size");
    file
}

fn buffer(file: &File) -> Buffer {
    let memory = Memory::new(Mapping::shared(file, 0, PAGES * PAGE).expect("map the buffer"));
    Buffer::new(memory, FillPolicy::RingBuffer)
}

fn acknowledged(file: &File) -> Memory {
    Memory::new(Mapping::shared(file, PAGES * PAGE, PAGE).expect("map the page"))
}

/// The child's part; it exits here.
fn child(file: &File) -> ! {
    let acknowledged = acknowledged(file);
    let core = arbiter(buffer(file), 1 << 10);
    let writer = Writer::register(&core);
    // SAFETY: no pointers.
    if unsafe { libc::ptrace(libc::PTRACE_TRACEME, 0, 0, 0) } != 0 {
        // SAFETY: nothing of the test's runs after it.
        unsafe { libc::_exit(UNTRACED) };
    }
    // SAFETY: the parent goes on with it.
    unsafe { libc::raise(libc::SIGSTOP) };
    for number in 0..MESSAGES {
        let text = "x".repeat(number as usize % 5 * 30);
        write(&writer, &(Int(number), (Str(&text), ())));
        acknowledged.u64(0).store(number as u64 + 1, Ordering::Release);
    }
    // SAFETY: nothing of the test's runs after it.
    unsafe { libc::_exit(0) }
}

/// The numbers of the messages that a reader finds now.
fn found(buffer: &Buffer) -> Vec<i64> {
    let mut reader = buffer.reader();
    let mut found = reader.find(true);
    found.sort_by_key(|info| info.chunk_id);
    let mut numbers = Vec::new();
    for info in found {
        let chunk = reader.pin(&info).expect("nobody takes it while the writer is stopped");
        let committed = chunk.committed();
        let mut rest = committed.bytes;
        for _ in 0..committed.count {
            let (size, length) = protozero::wire::decode_varint(rest).expect("a size");
            let (packet, after) = rest[length..].split_at(size as usize);
            numbers.extend(number(packet));
            rest = after;
        }
        assert!(info.is_complete || rest.is_empty());
    }
    numbers
}

#[test]
fn at_every_instruction_what_was_acknowledged_is_there() {
    let name = "writer::tests::stopped::at_every_instruction_what_was_acknowledged_is_there";
    if !has_process_of_its_own(name) {
        return;
    }
    let file = file();
    let (buffer, acknowledged) = (buffer(&file), acknowledged(&file));
    // Not a bare clone, in which the allocator's locks could be held by threads of other tests. The
    // child maps the file itself, as what is mapped here is not shared with it.
    // SAFETY: the child does nothing but what is tested, and ends in `child`.
    let pid = unsafe { libc::fork() };
    if pid == 0 {
        child(&file);
    }
    let mut status = 0;
    let mut wait = || {
        // SAFETY: the pointer is to an integer of ours.
        assert_eq!(unsafe { libc::waitpid(pid, &raw mut status, 0) }, pid);
        status
    };
    let whole = Mapping::shared(&file, 0, LEN).expect("map the file");
    let (mut steps, mut looks, mut most, mut before) = (0u64, 0u64, 0, vec![0u8; LEN]);
    while libc::WIFSTOPPED(wait()) {
        // SAFETY: it is mapped, and the only one who writes there is stopped.
        let now = unsafe { std::slice::from_raw_parts(whole.base().as_ptr(), LEN) };
        if now != before {
            before.copy_from_slice(now);
            looks += 1;
            let done = acknowledged.u64(0).load(Ordering::Acquire) as usize;
            let numbers = found(&buffer);
            assert_eq!(numbers, upto(numbers.len() as i64), "after {steps} steps");
            assert!(numbers.len() >= most && numbers.len() >= done, "after {steps} steps: {done}");
            most = numbers.len();
        }
        steps += 1;
        // SAFETY: no pointers; the child is stopped.
        unsafe { libc::ptrace(libc::PTRACE_SINGLESTEP, pid, 0, 0) };
    }
    if libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == UNTRACED {
        println!(
            "skipped: stopping a writer at each instruction because nothing may be traced here"
        );
        return;
    }
    assert!(libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0, "status {status}");
    assert_eq!(most as i64, MESSAGES);
    println!("{steps} steps, {looks} states of the memory");
}
