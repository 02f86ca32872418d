//! The processor's time stamp counter (TSC).
//!
//! Invariant: on a platform without one, [`ticks`] is always 0 and [`has_constant_rate`] returns
//! false, so that no time is computed from it.
#![allow(unsafe_code)] // Reading the TSC and CPUID.

/// Returns true if the counter runs at a constant rate in all states of the processor.
#[cfg(all(target_arch = "x86_64", not(miri)))]
#[allow(unused_unsafe)] // `__cpuid` is safe in newer Rust.
pub(super) fn has_constant_rate() -> bool {
    use core::arch::x86_64::__cpuid;
    const POWER: u32 = 0x8000_0007;
    // SAFETY: every x86_64 CPU has the instruction.
    let highest = unsafe { __cpuid(0x8000_0000) }.eax;
    // SAFETY: every x86_64 CPU has the instruction, and `highest` says that this one has the leaf.
    highest >= POWER && unsafe { __cpuid(POWER) }.edx & 1 << 8 != 0
}

/// True if the processor may read the counter before an earlier load has its value. Neither Intel
/// nor AMD promises otherwise: of a token that two threads pass to each other, some receivers read
/// an earlier time than the sender, on Intel's and on AMD's Zen 5.
pub(crate) const IS_FENCED: bool = cfg!(all(target_arch = "x86_64", not(miri)));

/// Reads the counter, after everything that this thread has seen.
pub(super) fn ticks_in_order() -> u64 {
    load_fence();
    ticks()
}

/// A fence that waits until all earlier loads have their values.
#[cfg(all(target_arch = "x86_64", not(miri)))]
#[inline(always)]
#[allow(clippy::inline_always)] // Part of every message.
pub(super) fn load_fence() {
    // SAFETY: every x86_64 CPU has the instruction.
    unsafe { core::arch::x86_64::_mm_lfence() };
}

/// Reads the counter, maybe before an earlier load has its value.
#[cfg(all(target_arch = "x86_64", not(miri)))]
#[inline(always)]
#[allow(clippy::inline_always)] // Part of every message.
pub(super) fn ticks() -> u64 {
    // SAFETY: every x86_64 CPU has the instruction. It faults if the process has forbidden it to
    // itself (`PR_SET_TSC`) since `is_tsc_reliable` was asked, and so does `clock_gettime` in the
    // vDSO then; a fault is not undefined behaviour.
    unsafe { core::arch::x86_64::_rdtsc() }
}

#[cfg(any(not(target_arch = "x86_64"), miri))]
pub(super) fn has_constant_rate() -> bool {
    false
}

/// Returns 0, which is never within a piece, so each reading asks the kernel.
#[cfg(any(not(target_arch = "x86_64"), miri))]
#[inline]
pub(super) fn ticks() -> u64 {
    0
}

#[cfg(any(not(target_arch = "x86_64"), miri))]
pub(super) fn load_fence() {}
