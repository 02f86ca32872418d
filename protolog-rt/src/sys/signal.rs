//! Signals that end the process: a thread of ours hears of them, and then they take their previous
//! effect.
//!
//! ```text
//! handler     one byte into a pipe; calls the handler that was there before, if there was one
//! thread      reads the byte, runs what was registered; dies of the signal if nothing had handled it before
//! ```
//!
//! Invariants
//! - The handler does nothing that a handler may not do: it reads atomics, writes to the pipe,
//!   calls the one before it.
//! - In a forked child, whose parent has the thread, the handler leaves the signal to the previous
//!   action.

use super::checked;
use super::errno::place as errno;
use super::file::id_of_descriptor;
use super::own_file::OwnFile;
use super::thread::block_signals;
use crate::sync::{AtomicI32, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::fs::File;
use std::io::{self, Read};
use std::mem;
use std::os::fd::FromRawFd;
use std::ptr;

/// The signals that ask a process to end.
const SIGNALS: [libc::c_int; 3] = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP];

/// The effect that a signal has besides ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    /// The process dies.
    Dies,
    /// A handler of the program runs.
    Handled,
}

/// The descriptor that the handler writes to.
static PIPE: AtomicI32 = AtomicI32::new(-1);
/// What it stands for, unless the program has closed it: see [`super::own_file`].
static PIPE_ID: [AtomicU64; 2] = [const { AtomicU64::new(0) }; 2];
/// The process that has the thread.
static OWNER: AtomicU32 = AtomicU32::new(0);
/// The handler of each signal before ours; `SIG_DFL` if there was none.
static BEFORE: [AtomicUsize; SIGNALS.len()] = [const { AtomicUsize::new(libc::SIG_DFL) }; 3];
/// Its flags.
static FLAGS: [AtomicI32; SIGNALS.len()] = [const { AtomicI32::new(0) }; 3];
/// The number of times that a signal without a handler came.
static DEADLY: AtomicU32 = AtomicU32::new(0);

/// Installs handlers for SIGINT, SIGTERM and SIGHUP, except for those that are ignored, and starts
/// the thread that calls `on_signal` with the effect that the signal has otherwise. Called once in
/// a process; a forked child may have a thread of its own.
pub(crate) fn handle(on_signal: fn(Effect)) -> io::Result<()> {
    let mut ends = [0; 2];
    pipe(&mut ends)?;
    // SAFETY: the descriptor is new, and nobody else has it.
    let read = OwnFile::new(unsafe { File::from_raw_fd(ends[0]) });
    // A handler never waits for a full pipe.
    // SAFETY: takes numbers.
    checked(unsafe { libc::fcntl(ends[1], libc::F_SETFL, libc::O_NONBLOCK) })?;
    let thread = std::thread::Builder::new().name("protolog signals".into());
    thread.spawn(move || run(read, on_signal))?;
    DEADLY.store(0, Ordering::Relaxed);
    let (device, inode) = id_of_descriptor(ends[1]).unwrap_or_default();
    PIPE_ID[0].store(device, Ordering::Relaxed);
    PIPE_ID[1].store(inode, Ordering::Relaxed);
    PIPE.store(ends[1], Ordering::Release);
    OWNER.store(std::process::id(), Ordering::Release);
    SIGNALS.iter().enumerate().try_for_each(|(index, &signal)| install(index, signal))
}

/// Makes a pipe that other programs do not inherit.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn pipe(ends: &mut [libc::c_int; 2]) -> io::Result<()> {
    // SAFETY: the kernel writes two descriptors to the array.
    checked(unsafe { libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) }).map(drop)
}

/// The same in two steps, between which a fork of another thread may inherit it.
#[cfg(target_vendor = "apple")]
fn pipe(ends: &mut [libc::c_int; 2]) -> io::Result<()> {
    // SAFETY: the kernel writes two descriptors to the array.
    checked(unsafe { libc::pipe(ends.as_mut_ptr()) })?;
    for end in ends {
        // SAFETY: takes numbers.
        checked(unsafe { libc::fcntl(*end, libc::F_SETFD, libc::FD_CLOEXEC) })?;
    }
    Ok(())
}

/// Puts our handler before the one of `signal`.
fn install(index: usize, signal: libc::c_int) -> io::Result<()> {
    let before = action(signal, None)?;
    let ours = on_signal as extern "C" fn(_, _, _) as usize;
    // In a forked child ours is there already.
    if [libc::SIG_IGN, ours].contains(&before.sa_sigaction) {
        return Ok(());
    }
    FLAGS[index].store(before.sa_flags, Ordering::Relaxed);
    BEFORE[index].store(before.sa_sigaction, Ordering::Release);
    // SAFETY: plain numbers and bits, for which zero is a value.
    let mut new: libc::sigaction = unsafe { mem::zeroed() };
    new.sa_sigaction = ours;
    // As the program wanted it: whether calls of the system go on after its handler, on which stack
    // it runs, and within itself.
    const KEPT: libc::c_int = libc::SA_RESTART | libc::SA_ONSTACK | libc::SA_NODEFER;
    let is_handled = before.sa_sigaction != libc::SIG_DFL;
    new.sa_flags = libc::SA_SIGINFO
        | if is_handled { before.sa_flags & KEPT } else { libc::SA_RESTART | libc::SA_ONSTACK };
    new.sa_mask = before.sa_mask;
    action(signal, Some(&new)).map(drop)
}

/// Returns the action of a signal, and sets it to `new`, if given.
fn action(signal: libc::c_int, new: Option<&libc::sigaction>) -> io::Result<libc::sigaction> {
    // SAFETY: plain numbers and bits, for which zero is a value.
    let mut before: libc::sigaction = unsafe { mem::zeroed() };
    let new = new.map_or(ptr::null(), ptr::from_ref);
    // SAFETY: null or an action of ours, whose handler lives as long as the process; the old one
    // goes to a place of ours.
    checked(unsafe { libc::sigaction(signal, new, &raw mut before) })?;
    Ok(before)
}

/// The handler.
extern "C" fn on_signal(
    signal: libc::c_int,
    info: *mut libc::siginfo_t,
    context: *mut libc::c_void,
) {
    let Some(index) = SIGNALS.iter().position(|&known| known == signal) else { return };
    let before = BEFORE[index].load(Ordering::Acquire);
    let is_owner = std::process::id() == OWNER.load(Ordering::Acquire);
    if before == libc::SIG_DFL {
        // A second signal means: don't wait.
        if !is_owner || DEADLY.fetch_add(1, Ordering::Relaxed) > 0 || !send(signal) {
            die(signal);
        }
        return;
    }
    if is_owner {
        // The program decides; that it is not flushed first is no reason to stop it.
        let _ = send(-signal);
    }
    let flags = FLAGS[index].load(Ordering::Relaxed);
    if flags & libc::SA_RESETHAND != 0 {
        BEFORE[index].store(libc::SIG_DFL, Ordering::Release);
    }
    if flags & libc::SA_SIGINFO != 0 {
        type Handler = extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void);
        // SAFETY: the program installed it as such a handler.
        let handler = unsafe { mem::transmute::<usize, Handler>(before) };
        handler(signal, info, context);
    } else {
        // SAFETY: the program installed it as such a handler.
        let handler = unsafe { mem::transmute::<usize, extern "C" fn(libc::c_int)>(before) };
        handler(signal);
    }
}

/// Tells the thread of a signal; false where it can't be told. Leaves `errno` as it was.
fn send(word: libc::c_int) -> bool {
    let byte = word as i8;
    let errno = errno();
    // SAFETY: the address is valid for this thread.
    let before = unsafe { errno.read() };
    let pipe = PIPE.load(Ordering::Acquire);
    let id = (PIPE_ID[0].load(Ordering::Relaxed), PIPE_ID[1].load(Ordering::Relaxed));
    // SAFETY: the pointer is to one byte.
    let write = || unsafe { libc::write(pipe, (&raw const byte).cast(), 1) } == 1;
    let sent = id_of_descriptor(pipe).unwrap_or_default() == id && write();
    // SAFETY: as above, the address is valid for this thread.
    unsafe { errno.write(before) };
    sent
}

/// Ends the process by `signal`, as if nothing had handled it; with the exit code that shells give
/// to that where it can't die of it.
fn die(signal: libc::c_int) -> ! {
    // SAFETY: takes numbers.
    unsafe { libc::signal(signal, libc::SIG_DFL) };
    // SAFETY: a set of signals is plain bits, for which zero is a value.
    let mut set: libc::sigset_t = unsafe { mem::zeroed() };
    // SAFETY: the pointer is to a set of ours.
    unsafe { libc::sigaddset(&raw mut set, signal) };
    // SAFETY: the pointer is to a set of ours.
    unsafe { libc::pthread_sigmask(libc::SIG_UNBLOCK, &raw const set, ptr::null_mut()) };
    // SAFETY: takes a number.
    unsafe { libc::raise(signal) };
    // The kernel keeps the first process of a namespace, as that of a container, from dying of a
    // signal of its own. SAFETY: takes a number.
    unsafe { libc::_exit(128 + signal) };
}

/// The thread.
fn run(mut pipe: OwnFile, on_signal: fn(Effect)) {
    block_signals();
    let mut byte = [0];
    while pipe.get_mut().and_then(|pipe| pipe.read_exact(&mut byte)).is_ok() {
        let word = libc::c_int::from(byte[0] as i8);
        on_signal(if word > 0 { Effect::Dies } else { Effect::Handled });
        if word > 0 {
            die(word);
        }
    }
}
