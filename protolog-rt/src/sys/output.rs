//! Standard error.

use std::io;

/// Writes `bytes` to standard error, without the lock and the panics of the standard library's. Where they can't be written
/// they are dropped: nobody is there to report that to.
pub(crate) fn write_to_stderr(mut bytes: &[u8]) {
    while !bytes.is_empty() {
        // SAFETY: the pointer and the length are those of a slice.
        let written =
            unsafe { libc::write(libc::STDERR_FILENO, bytes.as_ptr().cast(), bytes.len()) };
        match usize::try_from(written) {
            Ok(written) if written > 0 => bytes = bytes.get(written..).unwrap_or_default(),
            // Interrupted before anything was written: once more.
            _ if io::Error::last_os_error().kind() == io::ErrorKind::Interrupted => {}
            _ => return,
        }
    }
}
