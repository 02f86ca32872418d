//! Texts of C: bytes up to a zero, in whatever encoding.

use std::ffi::{CStr, c_char};

/// The text that `printf` prints for a null pointer.
pub(crate) const NULL: &str = "(null)";

/// Returns the text at `address`; none if it is not UTF-8.
///
/// # Safety
/// The address is null or that of bytes up to a zero, which nobody changes while the result is
/// used.
#[inline]
pub(crate) unsafe fn text<'a>(address: *const c_char) -> Option<&'a str> {
    if address.is_null() {
        return Some(NULL);
    }
    // SAFETY: the caller's promise.
    let bytes = unsafe { CStr::from_ptr(address) }.to_bytes();
    utf8(bytes)
}

/// As [`text`], of at most `limit` bytes, which need no zero then.
///
/// # Safety
/// As for [`text`], of at least as many bytes.
pub(crate) unsafe fn bytes<'a>(address: *const c_char, limit: Option<u32>) -> &'a [u8] {
    if address.is_null() {
        let limit = limit.map_or(NULL.len(), |limit| limit as usize);
        return if limit < NULL.len() { b"" } else { NULL.as_bytes() };
    }
    let Some(limit) = limit else {
        // SAFETY: the caller's promise.
        return unsafe { CStr::from_ptr(address) }.to_bytes();
    };
    // SAFETY: the caller's promise: `limit` bytes can be read, or those up to a zero.
    let length = unsafe { libc::strnlen(address, limit as usize) };
    // SAFETY: so many bytes were just read.
    unsafe { std::slice::from_raw_parts(address.cast(), length) }
}

/// Returns bytes as a text; none if they are not UTF-8. Most texts are short and ASCII, so that is
/// asked first.
#[inline]
pub(crate) fn utf8(bytes: &[u8]) -> Option<&str> {
    if is_ascii(bytes) {
        // SAFETY: ASCII is UTF-8.
        return Some(unsafe { std::str::from_utf8_unchecked(bytes) });
    }
    slow_utf8(bytes)
}

#[cold]
fn slow_utf8(bytes: &[u8]) -> Option<&str> {
    std::str::from_utf8(bytes).ok()
}

/// Returns whether all bytes are ASCII, by words that may overlap.
#[inline]
fn is_ascii(bytes: &[u8]) -> bool {
    const HIGH: u64 = 0x8080_8080_8080_8080;
    if let Some(last) = bytes.last_chunk::<8>() {
        let (words, _) = bytes.as_chunks_8();
        let all = u64::from_ne_bytes(*last);
        return words.iter().fold(all, |all, word| all | u64::from_ne_bytes(*word)) & HIGH == 0;
    }
    if let (Some(first), Some(last)) = (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
        return (u32::from_ne_bytes(*first) | u32::from_ne_bytes(*last)) & HIGH as u32 == 0;
    }
    match bytes {
        [] => true,
        // At most three, which these are.
        [first, .., last] => (first | bytes[bytes.len() / 2] | last) < 0x80,
        [only] => *only < 0x80,
    }
}

/// `as_chunks`, which the oldest Rust does not have.
trait Chunks {
    fn as_chunks_8(&self) -> (&[[u8; 8]], &[u8]);
}

impl Chunks for [u8] {
    #[inline]
    fn as_chunks_8(&self) -> (&[[u8; 8]], &[u8]) {
        let (start, rest) = self.split_at(self.len() & !7);
        // SAFETY: as many whole arrays are in `start`, and an array of bytes has no alignment.
        (unsafe { std::slice::from_raw_parts(start.as_ptr().cast(), start.len() / 8) }, rest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_every_length_are_found_to_be_utf8_or_not() {
        for length in 0..70 {
            let ascii = vec![b'a'; length];
            assert_eq!(utf8(&ascii).map(str::len), Some(length));
            for at in 0..length {
                let mut bytes = ascii.clone();
                bytes[at] = 0xe9;
                assert_eq!(utf8(&bytes), std::str::from_utf8(&bytes).ok(), "{length} {at}");
                assert!(!is_ascii(&bytes), "{length} {at}");
            }
        }
        assert_eq!(utf8("größe €".as_bytes()), Some("größe €"));
    }

    #[test]
    fn a_limit_ends_a_text_without_a_zero() {
        let text = [b'a' as c_char, b'b' as c_char, b'c' as c_char];
        // SAFETY: there are three bytes.
        assert_eq!(unsafe { bytes(text.as_ptr(), Some(2)) }, b"ab");
        // SAFETY: null is a text.
        assert_eq!(unsafe { bytes(std::ptr::null(), Some(6)) }, b"(null)");
        // SAFETY: null is a text.
        assert_eq!(unsafe { bytes(std::ptr::null(), Some(5)) }, b"");
    }
}
