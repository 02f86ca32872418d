//! Memory between statics, in programs that are built for AddressSanitizer.
//!
//! The sanitizer puts a red zone of zeros after each static, the notes of log calls included, and
//! ends a program that reads one. Notes are walked as the linker laid them out, red zones and all.
//! So in such a program they are copied first, by instructions that the compiler does not
//! instrument.
//!
//! Invariant: without the sanitizer nothing is copied.

use std::borrow::Cow;

/// Returns `length` bytes from `start` in a form that any code may read.
///
/// # Safety
/// The bytes are readable, and nothing writes them, for as long as `'a`.
pub(super) unsafe fn readable<'a>(start: *const u8, length: usize) -> Cow<'a, [u8]> {
    if is_instrumented() {
        let mut copy = vec![0; length];
        // SAFETY: the caller's bytes are readable, and the copy is as long and new.
        unsafe { copy_uninstrumented(start, copy.as_mut_ptr(), length) };
        return Cow::Owned(copy);
    }
    // SAFETY: the caller's promise is the same.
    Cow::Borrowed(unsafe { std::slice::from_raw_parts(start, length) })
}

/// Returns whether the sanitizer's runtime is part of the program.
#[cfg(target_arch = "x86_64")]
fn is_instrumented() -> bool {
    let address: usize;
    // SAFETY: loads the address of a symbol from the table of them, which has 0 where there is no
    // such symbol.
    unsafe {
        std::arch::asm!(
            ".weak __asan_init",
            "mov {}, qword ptr [rip + __asan_init@GOTPCREL]",
            out(reg) address,
            options(nostack, preserves_flags, pure, readonly)
        );
    }
    address != 0
}

/// On other processors such a program ends as it starts to log, since this is not there yet.
#[cfg(not(target_arch = "x86_64"))]
fn is_instrumented() -> bool {
    false
}

/// Copies bytes.
///
/// # Safety
/// `length` bytes are readable from `from` and writable from `to`, and they do not overlap.
#[cfg(target_arch = "x86_64")]
unsafe fn copy_uninstrumented(from: *const u8, to: *mut u8, length: usize) {
    // SAFETY: the caller's bytes; the direction flag is clear, as the ABI has it.
    unsafe {
        std::arch::asm!(
            "rep movsb",
            inout("rcx") length => _,
            inout("rsi") from => _,
            inout("rdi") to => _,
            options(nostack, preserves_flags)
        );
    }
}

/// Copies bytes: not needed, since nothing is known to be instrumented.
///
/// # Safety
/// `length` bytes are readable from `from` and writable from `to`, and they do not overlap.
#[cfg(not(target_arch = "x86_64"))]
unsafe fn copy_uninstrumented(from: *const u8, to: *mut u8, length: usize) {
    // SAFETY: the caller's promise is the same.
    unsafe { std::ptr::copy_nonoverlapping(from, to, length) };
}
