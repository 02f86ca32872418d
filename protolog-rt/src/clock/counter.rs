//! The processor's time stamp counter (TSC): whether there is one to keep time by, and how it is read.
//!
//! Invariant: where there is none, it stands still at 0 and [`invariant_tsc`] is false, so that nobody keeps
//! time by it.
#![allow(unsafe_code)] // Reading the TSC and CPUID.

use crate::sys::once::ForkOnce;

/// Whether it runs at a constant rate in all states of the processor.
#[cfg(all(target_arch = "x86_64", not(miri)))]
#[allow(unused_unsafe)] // `__cpuid` is safe in newer Rust.
pub(super) fn invariant_tsc() -> bool {
    use core::arch::x86_64::__cpuid;
    const POWER: u32 = 0x8000_0007;
    // SAFETY: every x86_64 CPU has the instruction.
    let highest = unsafe { __cpuid(0x8000_0000) }.eax;
    // SAFETY: as above, and the CPU knows the leaf.
    highest >= POWER && unsafe { __cpuid(POWER) }.edx & 1 << 8 != 0
}

/// [`needs_fence`], asked once.
pub(crate) fn is_fenced() -> bool {
    static FENCED: ForkOnce<bool> = ForkOnce::new();
    *FENCED.get_or_make(needs_fence)
}

/// Whether this processor may read the counter before an earlier load has its value. Intel's do: of a token that two threads
/// hand over a million times, some holders had a time before that of the one who gave it. AMD's since Zen never did.
#[cfg(all(target_arch = "x86_64", not(miri)))]
#[allow(unused_unsafe)] // `__cpuid` is safe in newer Rust.
fn needs_fence() -> bool {
    use core::arch::x86_64::__cpuid;
    const ZEN: u32 = 0x17;
    // SAFETY: every x86_64 CPU has the instruction.
    let vendor = unsafe { __cpuid(0) };
    let name = [vendor.ebx, vendor.edx, vendor.ecx].map(u32::to_le_bytes).concat();
    // SAFETY: as above.
    let version = unsafe { __cpuid(1) }.eax;
    // The second part counts where the first one is at its end, as it is in all of AMD's since 2003.
    let family = (version >> 8 & 0xf) + (version >> 20 & 0xff);
    !(name == b"AuthenticAMD" && family >= ZEN)
}

/// The counter, after all that this thread has seen.
pub(super) fn ticks_in_order() -> u64 {
    load_fence();
    ticks()
}

/// Waits until all earlier loads have their values.
#[cfg(all(target_arch = "x86_64", not(miri)))]
#[inline(always)]
#[allow(clippy::inline_always)] // Part of every message.
pub(super) fn load_fence() {
    // SAFETY: every x86_64 CPU has the instruction.
    unsafe { core::arch::x86_64::_mm_lfence() };
}

/// The counter, maybe from before an earlier load had its value.
#[cfg(all(target_arch = "x86_64", not(miri)))]
#[inline(always)]
#[allow(clippy::inline_always)] // Part of every message.
pub(super) fn ticks() -> u64 {
    // SAFETY: every x86_64 CPU has the instruction. A process that forbade it to itself would die of it, as of the kernel's
    // own `clock_gettime`, which uses it where the kernel keeps time by the counter.
    unsafe { core::arch::x86_64::_rdtsc() }
}

#[cfg(any(not(target_arch = "x86_64"), miri))]
pub(super) fn invariant_tsc() -> bool {
    false
}

/// Never within a piece, so that each reading asks the kernel.
#[cfg(any(not(target_arch = "x86_64"), miri))]
#[inline]
pub(super) fn ticks() -> u64 {
    0
}

#[cfg(any(not(target_arch = "x86_64"), miri))]
pub(super) fn load_fence() {}

#[cfg(any(not(target_arch = "x86_64"), miri))]
fn needs_fence() -> bool {
    false
}
