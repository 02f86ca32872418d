//! The input of `tests/it/codegen.rs`: setters in a caller's code, over memory in chunks.
//!
//! Each function has constant field numbers, as in generated or hand-written encoders.

use protozero::delegate::{Delegate, Ended, Exhausted, Patch};
use protozero::{DecodeError, Message, Reader, Writer};

/// Chunks of 4 KiB, one after the other.
pub struct Chunks<'a> {
    current: &'a mut [u8],
    later: &'a mut [u8],
}

impl Delegate for Chunks<'_> {
    #[inline]
    fn range(&mut self) -> &mut [u8] {
        self.current
    }

    fn next_range(&mut self, _: Ended) -> Result<(), Exhausted> {
        let (next, later) = core::mem::take(&mut self.later).split_at_mut_checked(4096).ok_or(Exhausted)?;
        (self.current, self.later) = (next, later);
        Ok(())
    }

    fn patch(&mut self, _: Patch) {}
}

#[inline(never)]
pub fn set_fixed64(message: &mut Message<'_, Chunks<'_>>, value: u64) {
    message.fixed64(1, value);
}

#[inline(never)]
pub fn set_uint32(message: &mut Message<'_, Chunks<'_>>, value: u32) {
    message.uint32(1, value);
}

#[inline(never)]
pub fn set_sint64(message: &mut Message<'_, Chunks<'_>>, value: i64) {
    message.sint64(1, value);
}

#[inline(never)]
pub fn set_bool(message: &mut Message<'_, Chunks<'_>>, value: bool) {
    message.bool(1, value);
}

#[inline(never)]
pub fn set_bytes(message: &mut Message<'_, Chunks<'_>>, value: &[u8; 32]) {
    message.bytes(1, value);
}

#[inline(never)]
pub fn set_nested(message: &mut Message<'_, Chunks<'_>>, value: u64) {
    message.nested(104).fixed64(1, value);
}

#[inline(never)]
pub fn set_any(message: &mut Message<'_, Chunks<'_>>, field: u32, value: &[u8]) {
    message.bytes(field, value).nested_exact(field, value.len()).raw(value);
}

#[inline(never)]
pub fn finish(writer: Writer<Chunks<'_>>) -> Option<u64> {
    writer.finish().ok().map(|finished| finished.length)
}

#[inline(never)]
pub fn read(fields: Reader<'_>) -> Result<u64, DecodeError> {
    let mut sum = 0_u64;
    for field in fields {
        let field = field?;
        sum = sum.wrapping_add(match field.number {
            1 => field.as_str()?.len() as u64,
            2 => field.as_message()?.count() as u64,
            _ => field.as_u64()?,
        });
    }
    Ok(sum)
}
