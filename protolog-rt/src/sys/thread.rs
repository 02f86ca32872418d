//! Threads: id, name, and the signals that they handle.

/// Bytes of a thread's name as the kernel keeps it, with the final zero.
const NAME_LEN: usize = 16;

/// A thread of the process, as the system names it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Thread {
    /// Its id.
    pub(crate) id: u32,
    name: [u8; NAME_LEN],
    /// Bytes of its name; one that was cut in the middle of a character ends before it.
    name_len: usize,
}

/// Returns the id of the calling thread.
#[cfg(any(target_os = "linux", target_os = "android"))]
pub(crate) fn id() -> u32 {
    // SAFETY: no arguments, no effects.
    let id = unsafe { libc::gettid() };
    id as u32
}

/// The same: its lower half, which no two threads of a process share for long.
#[cfg(target_vendor = "apple")]
pub(crate) fn id() -> u32 {
    let mut id = 0;
    // SAFETY: 0 is the calling thread; the pointer is to a number of ours.
    unsafe { libc::pthread_threadid_np(0, &raw mut id) };
    id as u32
}

/// Writes the name of the calling thread, which ends by a zero.
fn copy_name(name: &mut [u8; NAME_LEN]) {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    // SAFETY: the kernel writes at most 16 bytes, which is the array's size.
    unsafe {
        libc::prctl(libc::PR_GET_NAME, name.as_mut_ptr());
    }
    #[cfg(target_vendor = "apple")]
    {
        // SAFETY: takes nothing, and gives a number.
        let this = unsafe { libc::pthread_self() };
        // SAFETY: the C library writes a C string of at most this size.
        unsafe { libc::pthread_getname_np(this, name.as_mut_ptr().cast(), NAME_LEN) };
    }
}

/// Gives the calling thread a name.
fn set_name(name: &std::ffi::CStr) {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    // SAFETY: the name is a C string.
    unsafe {
        libc::prctl(libc::PR_SET_NAME, name.as_ptr());
    }
    #[cfg(target_vendor = "apple")]
    // SAFETY: the name is a C string.
    unsafe {
        libc::pthread_setname_np(name.as_ptr());
    }
}

impl Thread {
    /// No thread.
    pub(crate) const NONE: Self = Self { id: 0, name: [0; NAME_LEN], name_len: 0 };

    /// The calling thread. Its name is the kernel's, of at most 15 bytes, which other tools show,
    /// too.
    pub(crate) fn current() -> Self {
        let mut name = [0; NAME_LEN];
        copy_name(&mut name);
        let end = name.iter().position(|&byte| byte == 0).unwrap_or(NAME_LEN);
        let whole = std::str::from_utf8(name.get(..end).unwrap_or_default());
        let name_len = whole.map_or_else(|error| error.valid_up_to(), str::len);
        Self { id: id(), name, name_len }
    }

    /// A thread of this id and name.
    #[cfg(all(test, not(loom)))]
    pub(crate) fn named(id: u32, name: &str) -> Self {
        let mut thread = Self { id, name_len: name.len(), ..Self::NONE };
        thread.name[..name.len()].copy_from_slice(name.as_bytes());
        thread
    }

    /// Its name.
    pub(crate) fn name(&self) -> &str {
        std::str::from_utf8(self.name_bytes()).unwrap_or_default()
    }

    /// Its name, valid UTF-8.
    pub(crate) fn name_bytes(&self) -> &[u8] {
        self.name.get(..self.name_len).unwrap_or_default()
    }
}

/// Starts a thread of ours that runs `run`, with all signals blocked. False where the system has
/// none left.
///
/// Not one of the standard library's: starting that takes locks which a forked child may find held.
pub(crate) fn start(name: &'static std::ffi::CStr, run: fn()) -> bool {
    /// As that of the standard library's threads.
    const STACK: usize = 2 << 20;
    struct Start(&'static std::ffi::CStr, fn());
    extern "C" fn begin(start: *mut libc::c_void) -> *mut libc::c_void {
        // SAFETY: the box that is leaked below, of which this thread is the owner.
        let Start(name, run) = *unsafe { Box::from_raw(start.cast::<Start>()) };
        set_name(name);
        run();
        std::ptr::null_mut()
    }
    let start = Box::into_raw(Box::new(Start(name, run)));
    without_signals(|| {
        // SAFETY: zeros are a value that the next call replaces.
        let mut attributes: libc::pthread_attr_t = unsafe { std::mem::zeroed() };
        // SAFETY: the pointer is to attributes of ours.
        unsafe { libc::pthread_attr_init(&raw mut attributes) };
        // SAFETY: as before; a size that the system does not have leaves its own.
        unsafe { libc::pthread_attr_setstacksize(&raw mut attributes, STACK) };
        let detached = libc::PTHREAD_CREATE_DETACHED;
        // SAFETY: as before.
        unsafe { libc::pthread_attr_setdetachstate(&raw mut attributes, detached) };
        // SAFETY: zeros are a value of an id, a number or a pointer, that nobody uses.
        let mut id: libc::pthread_t = unsafe { std::mem::zeroed() };
        // SAFETY: the pointers are to values of ours; the function takes the box over.
        let error = unsafe {
            libc::pthread_create(&raw mut id, &raw const attributes, begin, start.cast())
        };
        // SAFETY: initialized above.
        unsafe { libc::pthread_attr_destroy(&raw mut attributes) };
        if error != 0 {
            // SAFETY: no thread has it.
            drop(unsafe { Box::from_raw(start) });
        }
        error == 0
    })
}

/// Blocks all signals on this thread, which is one of ours: their handlers are the program's, and
/// should run on its threads.
pub(crate) fn block_signals() {
    let _ = mask_signals(&all_signals());
}

/// Runs `f` with all signals blocked on this thread.
pub(crate) fn without_signals<T>(f: impl FnOnce() -> T) -> T {
    let before = mask_signals(&all_signals());
    let result = f();
    mask_signals(&before);
    result
}

/// Runs `write`, which writes to a file, so that its error says that the file would be too large
/// (`ulimit -f`) or that nobody reads the pipe: not a signal, which by default ends the program.
/// Changes nothing for other threads.
pub(crate) fn without_write_signals<T>(
    write: impl FnOnce() -> std::io::Result<T>,
) -> std::io::Result<T> {
    let signals = set_of(&[libc::SIGXFSZ, libc::SIGPIPE]);
    let before = change_mask(libc::SIG_BLOCK, &signals);
    let pending_before = pending();
    let result = write();
    let code = result.as_ref().err().and_then(std::io::Error::raw_os_error);
    let signal = match code {
        Some(libc::EFBIG) => Some(libc::SIGXFSZ),
        Some(libc::EPIPE) => Some(libc::SIGPIPE),
        _ => None,
    };
    // The one that came of it; one that the program has blocked, and that came before, is the
    // program's.
    if let Some(signal) = signal.filter(|signal| !has(&pending_before, *signal)) {
        take_pending(signal);
    }
    change_mask(libc::SIG_SETMASK, &before);
    result
}

/// Takes a pending signal of this thread away, if there is one.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn take_pending(signal: libc::c_int) {
    let (set, none) = (set_of(&[signal]), libc::timespec { tv_sec: 0, tv_nsec: 0 });
    // SAFETY: the pointers are to a set and a time of ours, and null.
    unsafe { libc::sigtimedwait(&raw const set, std::ptr::null_mut(), &raw const none) };
}

/// The same where a wait has no limit: only if it is there.
#[cfg(target_vendor = "apple")]
fn take_pending(signal: libc::c_int) {
    if has(&pending(), signal) {
        let (set, mut taken) = (set_of(&[signal]), 0);
        // SAFETY: the pointers are to a set and a number of ours.
        unsafe { libc::sigwait(&raw const set, &raw mut taken) };
    }
}

/// Returns the signals that wait for this thread.
fn pending() -> libc::sigset_t {
    let mut pending = set_of(&[]);
    // SAFETY: the pointer is to a set of ours.
    unsafe { libc::sigpending(&raw mut pending) };
    pending
}

fn has(set: &libc::sigset_t, signal: libc::c_int) -> bool {
    // SAFETY: the pointer is to a set of the caller's.
    unsafe { libc::sigismember(std::ptr::from_ref(set), signal) == 1 }
}

fn set_of(signals: &[libc::c_int]) -> libc::sigset_t {
    // SAFETY: a set of signals is plain bits, for which zero is a value.
    let mut set: libc::sigset_t = unsafe { std::mem::zeroed() };
    for &signal in signals {
        // SAFETY: the pointer is to a set of ours.
        unsafe { libc::sigaddset(&raw mut set, signal) };
    }
    set
}

fn all_signals() -> libc::sigset_t {
    // SAFETY: a set of signals is plain bits, for which zero is a value.
    let mut all: libc::sigset_t = unsafe { std::mem::zeroed() };
    // SAFETY: the pointer is to a set of ours.
    unsafe { libc::sigfillset(&raw mut all) };
    all
}

/// Makes `mask` the set of signals that are blocked on this thread, and returns the set before.
fn mask_signals(mask: &libc::sigset_t) -> libc::sigset_t {
    change_mask(libc::SIG_SETMASK, mask)
}

/// Changes the set of signals that are blocked on this thread, and returns the set before.
fn change_mask(how: libc::c_int, mask: &libc::sigset_t) -> libc::sigset_t {
    let mut before = *mask;
    // SAFETY: both pointers are to sets of signals that live through the call.
    unsafe { libc::pthread_sigmask(how, &raw const *mask, &raw mut before) };
    before
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pipe_without_a_reader_is_an_error_and_no_signal() {
        use std::io::Write;
        // SAFETY: the handler is the default one, which ends the process; a thread of its own
        // writes.
        let ignored = unsafe { libc::signal(libc::SIGPIPE, libc::SIG_DFL) };
        for is_blocked in [false, true] {
            let (reader, mut writer) = std::io::pipe().unwrap();
            drop(reader);
            let write = move || {
                let before = change_mask(libc::SIG_BLOCK, &set_of(&[libc::SIGPIPE]));
                if !is_blocked {
                    change_mask(libc::SIG_SETMASK, &before);
                }
                let error = without_write_signals(|| writer.write_all(b"nobody")).unwrap_err();
                let is_pending = has(&pending(), libc::SIGPIPE);
                change_mask(libc::SIG_SETMASK, &before);
                (error.raw_os_error(), is_pending)
            };
            let result = std::thread::spawn(write).join().unwrap();
            assert_eq!(result, (Some(libc::EPIPE), false));
        }
        // SAFETY: what it was before.
        unsafe { libc::signal(libc::SIGPIPE, ignored) };
    }

    #[test]
    fn a_thread_knows_its_name() {
        let named = |name: &str| {
            std::thread::Builder::new()
                .name(name.into())
                .spawn(Thread::current)
                .unwrap()
                .join()
                .unwrap()
        };
        assert_eq!(named("worker").name(), "worker");
        assert_eq!(named("a-name-that-is-too-long").name(), "a-name-that-is-");
        assert_eq!(named("fourteen bytes\u{e9}").name(), "fourteen bytes");
        assert_ne!(named("worker").id, Thread::current().id);
    }
}
