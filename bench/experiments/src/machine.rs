//! Abilities of the machine that Rust does not offer: its counter, and fetching a line before it is
//! written.
#![allow(unsafe_code)] // Two instructions.

/// The time stamp counter; 0 where there is none.
#[inline]
pub(crate) fn ticks() -> u64 {
    #[cfg(target_arch = "x86_64")]
    {
        // SAFETY: every x86_64 CPU has the instruction.
        unsafe { core::arch::x86_64::_rdtsc() }
    }
    #[cfg(not(target_arch = "x86_64"))]
    0
}

/// Asks for the line of `memory[at]`, to be written soon.
#[inline]
pub(crate) fn prefetch(memory: &[u8], at: usize) {
    #[cfg(target_arch = "x86_64")]
    if let Some(byte) = memory.get(at) {
        use core::arch::x86_64::{_MM_HINT_ET0, _mm_prefetch};
        // SAFETY: a prefetch has no effect that a program can see, whatever the address.
        unsafe { _mm_prefetch::<_MM_HINT_ET0>(std::ptr::from_ref(byte).cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (memory, at);
}
