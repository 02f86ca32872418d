//! Threads: id and name. There are no signals to handle.

/// Bytes of a thread's name that are kept.
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
#[cfg(windows)]
pub(crate) fn id() -> u32 {
    #[link(name = "kernel32")]
    unsafe extern "system" {
        fn GetCurrentThreadId() -> u32;
    }
    // SAFETY: no arguments, no effects.
    unsafe { GetCurrentThreadId() }
}

#[cfg(not(windows))]
pub(crate) fn id() -> u32 {
    1
}

impl Thread {
    /// No thread.
    pub(crate) const NONE: Self = Self { id: 0, name: [0; NAME_LEN], name_len: 0 };

    /// The calling thread. Its name is Rust's, of at most 16 bytes.
    pub(crate) fn current() -> Self {
        let mut name = [0; NAME_LEN];
        let current = std::thread::current();
        let text = current.name().unwrap_or_default();
        let name_len = (0..=NAME_LEN.min(text.len())).rfind(|at| text.is_char_boundary(*at));
        let name_len = name_len.unwrap_or(0);
        let (to, from) = (name.get_mut(..name_len), text.as_bytes().get(..name_len));
        if let (Some(to), Some(from)) = (to, from) {
            to.copy_from_slice(from);
        }
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

/// Starts a thread of ours that runs `run`. False where the system has none left.
pub(crate) fn start(name: &'static std::ffi::CStr, run: fn()) -> bool {
    let name = name.to_string_lossy().into_owned();
    std::thread::Builder::new().name(name).spawn(run).is_ok()
}

/// Blocks all signals on this thread.
pub(crate) fn block_signals() {}

/// Runs `f` with all signals blocked on this thread.
pub(crate) fn without_signals<T>(f: impl FnOnce() -> T) -> T {
    f()
}

/// Runs `write`, whose error is no signal.
pub(crate) fn without_write_signals<T>(
    write: impl FnOnce() -> std::io::Result<T>,
) -> std::io::Result<T> {
    write()
}
