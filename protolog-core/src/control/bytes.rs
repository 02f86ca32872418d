//! Numbers of bytes in settings: `512KiB`, `1 MiB`, `1000B`.
//!
//! Invariant: a number that is shown is read as the same one.

use core::fmt;

/// The number of bytes in `512KiB` or `512 KiB`; none in another text.
pub(super) const fn bytes(text: &[u8]) -> Option<u64> {
    let (mut at, mut number) = (0, 0_u64);
    while at < text.len() && text[at].is_ascii_digit() && at < 10 {
        number = number * 10 + (text[at] - b'0') as u64;
        at += 1;
    }
    let unit = text.split_at(at).1.trim_ascii_start();
    let shift = match unit {
        [b'b' | b'B'] => 0,
        [b'k' | b'K', b'i' | b'I', b'b' | b'B'] => 10,
        [b'm' | b'M', b'i' | b'I', b'b' | b'B'] => 20,
        [b'g' | b'G', b'i' | b'I', b'b' | b'B'] => 30,
        _ => return None,
    };
    if at == 0 { None } else { Some(number << shift) }
}

/// Writes a number of bytes in the largest unit of which it is a multiple.
pub(super) fn write_bytes(f: &mut fmt::Formatter<'_>, bytes: u64) -> fmt::Result {
    match bytes.trailing_zeros() {
        ..10 => write!(f, "{bytes}B"),
        10..20 => write!(f, "{}KiB", bytes >> 10),
        20..30 => write!(f, "{}MiB", bytes >> 20),
        _ => write!(f, "{}GiB", bytes >> 30),
    }
}
