//! The thread's error number. A program of C looks at it after a call that failed, and may log in
//! between.

/// The number as it was, which is set again when this is dropped.
#[derive(Debug)]
pub(crate) struct KeptErrno(libc::c_int);

impl KeptErrno {
    /// Notes the number.
    pub(crate) fn new() -> Self {
        // SAFETY: the address is valid for this thread.
        Self(unsafe { place().read() })
    }
}

impl Drop for KeptErrno {
    fn drop(&mut self) {
        // SAFETY: the address is valid for this thread.
        unsafe { place().write(self.0) };
    }
}

/// Returns the address of this thread's number.
pub(super) fn place() -> *mut libc::c_int {
    #[cfg(target_os = "android")]
    // SAFETY: takes nothing, and gives an address.
    return unsafe { libc::__errno() };
    #[cfg(target_vendor = "apple")]
    // SAFETY: takes nothing, and gives an address.
    return unsafe { libc::__error() };
    #[cfg(not(any(target_os = "android", target_vendor = "apple")))]
    // SAFETY: takes nothing, and gives an address.
    return unsafe { libc::__errno_location() };
}
