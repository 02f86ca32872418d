//! Texts of arguments, made for one message.
//!
//! Invariant: *within*: a [`Printed`] is a range of the stack's bytes, or of one of the heap's
//! strings, and was made by the same [`Texts`]; what stands there is UTF-8.

use super::STACK;
use crate::text;
use protolog_core::printf::{Count, Directive};
use std::ffi::{c_char, c_int, c_longlong, c_void};
use std::fmt::{self, Display, Write};
use std::ops::Range;

/// The most bytes of one argument; sessions cut longer texts, and count them.
const MOST: usize = 1 << 16;

/// The texts of one message.
pub(crate) struct Texts {
    stack: [u8; STACK],
    used: usize,
    heap: Vec<String>,
    errno: c_int,
}

/// A text among them: a place in the stack's bytes, or a string.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Printed {
    Stack(usize, usize),
    Heap(usize),
}

impl Texts {
    /// Creates no texts. `errno` is what `%m` prints.
    pub(crate) fn new(errno: c_int) -> Self {
        Self { stack: [0; STACK], used: 0, heap: Vec::new(), errno }
    }

    /// Returns a text.
    pub(crate) fn text(&self, printed: Printed) -> &str {
        match printed {
            Printed::Stack(start, end) => {
                let bytes = self.stack.get(start..end).unwrap_or_default();
                text::utf8(bytes).unwrap_or_default()
            }
            Printed::Heap(at) => self.heap.get(at).map_or("", |text| text),
        }
    }

    /// Adds what `value` prints.
    pub(crate) fn print(&mut self, value: &dyn Display) -> Printed {
        let start = self.used;
        let mut rest = Rest { texts: self };
        if write!(rest, "{value}").is_ok() {
            return Printed::Stack(start, self.used);
        }
        self.used = start;
        self.push(value.to_string())
    }

    /// Adds a text of C, with a replacement for what is not UTF-8.
    pub(crate) fn lossy(&mut self, bytes: &[u8]) -> Printed {
        let bytes = &bytes[..bytes.len().min(MOST)];
        let Some(text) = text::utf8(bytes) else { return self.print(&Lossy(bytes)) };
        let start = self.used;
        match (Rest { texts: self }).write_str(text) {
            Ok(()) => Printed::Stack(start, self.used),
            Err(fmt::Error) => self.push(text.to_owned()),
        }
    }

    /// Adds what `snprintf` prints of an argument.
    pub(crate) fn printf(
        &mut self,
        directive: &Directive<'_>,
        stars: [c_int; 2],
        value: u64,
    ) -> Printed {
        let mut format = [0; 32];
        if format_of(directive, &mut format).is_none() {
            return self.lossy(directive.text.as_bytes());
        }
        let call = Snprintf { format, directive, stars, value };
        set_errno(self.errno);
        let mut buffer = [0; 256];
        let length = call.print(&mut buffer);
        if length < buffer.len() {
            return self.lossy(&buffer[..length]);
        }
        let mut large = vec![0; length.min(MOST) + 1];
        let length = call.print(&mut large).min(large.len() - 1);
        self.lossy(&large[..length])
    }

    fn push(&mut self, text: String) -> Printed {
        self.heap.push(text);
        Printed::Heap(self.heap.len() - 1)
    }
}

/// The rest of the stack's bytes; writing more is an error.
struct Rest<'a> {
    texts: &'a mut Texts,
}

impl Write for Rest<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let place: Range<usize> = self.texts.used..self.texts.used + text.len();
        let end = place.end;
        self.texts.stack.get_mut(place).ok_or(fmt::Error)?.copy_from_slice(text.as_bytes());
        self.texts.used = end;
        Ok(())
    }
}

/// Bytes that may not be UTF-8.
struct Lossy<'a>(&'a [u8]);

impl Display for Lossy<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.utf8_chunks().try_for_each(|chunk| {
            f.write_str(chunk.valid())?;
            f.write_str(if chunk.invalid().is_empty() { "" } else { "\u{fffd}" })
        })
    }
}

/// A call of `snprintf` for one argument.
struct Snprintf<'a> {
    /// The conversion, with its terminating zero.
    format: [c_char; 32],
    directive: &'a Directive<'a>,
    stars: [c_int; 2],
    value: u64,
}

impl Snprintf<'_> {
    /// Prints into a buffer, as far as there is room, and returns the whole length.
    fn print(&self, to: &mut [u8]) -> usize {
        let is_star = |count: &Option<Count>| count.is_some_and(|it| it.number().is_none());
        let counts = [self.directive.width, self.directive.precision];
        let stars = counts.iter().filter(|count| is_star(count)).count();
        let (at, size, format) = (to.as_mut_ptr().cast(), to.len(), self.format.as_ptr());
        let [first, second] = self.stars;
        macro_rules! call {
            ($value:expr) => {
                match stars {
                    // SAFETY: the buffer has `size` bytes; the format has one conversion, of an
                    // argument of this type; a text is one that `printf` would read.
                    0 => unsafe { libc::snprintf(at, size, format, $value) },
                    // SAFETY: as before, and one width or precision.
                    1 => unsafe { libc::snprintf(at, size, format, first, $value) },
                    // SAFETY: as before, and a width and a precision.
                    _ => unsafe { libc::snprintf(at, size, format, first, second, $value) },
                }
            };
        }
        let length = match self.directive.letter {
            b'f' | b'F' | b'e' | b'E' | b'g' | b'G' | b'a' | b'A' => {
                call!(f64::from_bits(self.value))
            }
            b's' | b'S' | b'p' => {
                call!(std::ptr::with_exposed_provenance::<c_void>(self.value as usize))
            }
            _ if self.directive.bits > c_int::BITS => call!(self.value as c_longlong),
            _ => call!(self.value as c_int),
        };
        usize::try_from(length).unwrap_or_default()
    }
}

/// Writes a conversion without its positions, and without the length of a long double, which
/// arrives as a double. None if it does not fit.
fn format_of(directive: &Directive<'_>, to: &mut [c_char; 32]) -> Option<()> {
    let position = directive.position.and_then(|_| directive.text.find('$'));
    let rest = directive.text.get(position.map_or(1, |at| at + 1)..)?;
    let is_float = b"fFeEgGaA".contains(&directive.letter);
    let mut after_star = false;
    let kept = rest.bytes().filter(|byte| {
        let is_position = after_star && matches!(byte, b'0'..=b'9' | b'$');
        after_star = *byte == b'*' || is_position && *byte != b'$';
        !(is_position || is_float && *byte == b'L')
    });
    for (at, byte) in std::iter::once(b'%').chain(kept).enumerate() {
        // The last byte stays zero.
        *to[..31].get_mut(at)? = byte as c_char;
    }
    Some(())
}

/// Returns this thread's `errno`.
pub(crate) fn errno() -> c_int {
    // SAFETY: the address is valid for this thread.
    unsafe { *errno_place() }
}

/// Sets this thread's `errno`.
pub(crate) fn set_errno(value: c_int) {
    // SAFETY: the address is valid for this thread.
    unsafe { *errno_place() = value };
}

fn errno_place() -> *mut c_int {
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
