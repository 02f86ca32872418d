//! Which thread a writer belongs to, and threads of our own.
#![allow(unsafe_code)] // Asking the system for the thread's id and name, masking signals.

/// Bytes of a thread's name as the kernel keeps it, with the final zero.
const NAME_LEN: usize = 16;

/// A thread, as the system knows it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Thread {
    /// Its id.
    pub(crate) id: u32,
    name: [u8; NAME_LEN],
    /// Bytes of its name; one that was cut in the middle of a character ends before it.
    name_len: usize,
}

impl Thread {
    /// The calling thread. Its name is the kernel's, of at most 15 bytes, which is also what other tools show.
    pub(crate) fn current() -> Self {
        let mut name = [0; NAME_LEN];
        // SAFETY: the kernel writes 16 bytes at most.
        unsafe { libc::prctl(libc::PR_GET_NAME, name.as_mut_ptr()) };
        // SAFETY: no arguments, no effects.
        let id = unsafe { libc::gettid() };
        let end = name.iter().position(|&byte| byte == 0).unwrap_or(NAME_LEN);
        let whole = std::str::from_utf8(name.get(..end).unwrap_or_default());
        let name_len = whole.map_or_else(|error| error.valid_up_to(), str::len);
        Self { id: id as u32, name, name_len }
    }

    /// Its name.
    pub(crate) fn name(&self) -> &str {
        std::str::from_utf8(self.name_bytes()).unwrap_or_default()
    }

    /// Its name, as UTF-8 that is not looked at again.
    pub(crate) fn name_bytes(&self) -> &[u8] {
        self.name.get(..self.name_len).unwrap_or_default()
    }
}

/// Keeps signal handlers off this thread, which is one of ours: they are the program's, and should run on its threads.
pub(crate) fn block_signals() {
    // SAFETY: a set of signals is plain bits, for which zero is a value.
    let mut all: libc::sigset_t = unsafe { std::mem::zeroed() };
    // SAFETY: the pointer is to a set of ours.
    unsafe { libc::sigfillset(&raw mut all) };
    // SAFETY: as above; where the old mask goes may be null.
    unsafe { libc::pthread_sigmask(libc::SIG_BLOCK, &raw const all, std::ptr::null_mut()) };
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
