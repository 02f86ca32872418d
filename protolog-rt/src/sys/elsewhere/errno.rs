//! The thread's error number. A program looks at it after a call that failed, and may log in
//! between.

/// The number as it was, which is set again when this is dropped.
#[derive(Debug)]
pub(crate) struct KeptErrno {
    #[cfg(windows)]
    number: u32,
}

#[cfg(windows)]
#[link(name = "kernel32")]
unsafe extern "system" {
    fn GetLastError() -> u32;
    fn SetLastError(number: u32);
}

impl KeptErrno {
    /// Notes the number.
    pub(crate) fn new() -> Self {
        Self {
            #[cfg(windows)]
            // SAFETY: takes nothing, and gives a number.
            number: unsafe { GetLastError() },
        }
    }
}

impl Drop for KeptErrno {
    fn drop(&mut self) {
        #[cfg(windows)]
        // SAFETY: takes a number.
        unsafe {
            SetLastError(self.number);
        }
    }
}
