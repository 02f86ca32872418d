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
pub(crate) fn id() -> u32 {
    // SAFETY: no arguments, no effects.
    let id = unsafe { libc::gettid() };
    id as u32
}

impl Thread {
    /// The calling thread. Its name is the kernel's, of at most 15 bytes, which is also what other tools show.
    pub(crate) fn current() -> Self {
        let mut name = [0; NAME_LEN];
        // SAFETY: the kernel writes at most 16 bytes, which is the array's size.
        unsafe { libc::prctl(libc::PR_GET_NAME, name.as_mut_ptr()) };
        let end = name.iter().position(|&byte| byte == 0).unwrap_or(NAME_LEN);
        let whole = std::str::from_utf8(name.get(..end).unwrap_or_default());
        let name_len = whole.map_or_else(|error| error.valid_up_to(), str::len);
        Self { id: id(), name, name_len }
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

/// Blocks all signals on this thread, which is one of ours: their handlers are the program's, and should run on its threads.
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

fn all_signals() -> libc::sigset_t {
    // SAFETY: a set of signals is plain bits, for which zero is a value.
    let mut all: libc::sigset_t = unsafe { std::mem::zeroed() };
    // SAFETY: the pointer is to a set of ours.
    unsafe { libc::sigfillset(&raw mut all) };
    all
}

/// Makes `mask` the set of signals that are blocked on this thread, and returns the set before.
fn mask_signals(mask: &libc::sigset_t) -> libc::sigset_t {
    let mut before = *mask;
    // SAFETY: both pointers are to sets of signals that live through the call.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const *mask, &raw mut before) };
    before
}

#[cfg(test)]
mod tests {
    use super::*;

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
