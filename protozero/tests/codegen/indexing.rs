//! The control of `tests/it/codegen.rs`: code that can panic.

#[inline(never)]
pub fn index(bytes: &[u8], index: usize) -> u8 {
    bytes[index]
}

#[inline(never)]
pub fn copy(to: &mut [u8], from: &[u8]) {
    to.copy_from_slice(from);
}
