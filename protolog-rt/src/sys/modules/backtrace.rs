//! Stack traces.

#[cfg(unix)]
use super::lock_list;
#[cfg(unix)]
use std::ffi::{c_int, c_void};

/// The return addresses of a thread's calls, innermost first; of more than `N`, the innermost.
#[derive(Debug)]
pub(crate) struct Backtrace<const N: usize> {
    addresses: [usize; N],
    count: usize,
}

impl<const N: usize> Backtrace<N> {
    /// That of the calling thread. Each address is within the call rather than behind it; the first
    /// is in the caller.
    #[inline(always)]
    #[allow(clippy::inline_always)] // So that the first frame is the caller's.
    pub(crate) fn here() -> Self {
        let mut frames = Self { addresses: [0; N], count: 0 };
        capture(&mut frames);
        frames
    }

    /// The addresses.
    pub(crate) fn addresses(&self) -> &[usize] {
        self.addresses.get(..self.count).unwrap_or_default()
    }
}

#[cfg(unix)]
#[inline(always)]
#[allow(clippy::inline_always)] // So that the first frame is the caller's.
fn capture<const N: usize>(frames: &mut Backtrace<N>) {
    let _list = lock_list();
    // SAFETY: the callback gets the frames that stand here, exclusively, and they live through the
    // call.
    unsafe { _Unwind_Backtrace(step::<N>, std::ptr::from_mut(frames).cast()) };
}

// The standard library unwinds panics with it, so it is linked into every program.
#[cfg(unix)]
unsafe extern "C" {
    fn _Unwind_Backtrace(
        step: unsafe extern "C" fn(context: *mut c_void, data: *mut c_void) -> c_int,
        data: *mut c_void,
    ) -> c_int;
    fn _Unwind_GetIP(context: *mut c_void) -> usize;
}

/// For `_Unwind_Backtrace`: adds a frame.
#[cfg(unix)]
unsafe extern "C" fn step<const N: usize>(context: *mut c_void, data: *mut c_void) -> c_int {
    const GO_ON: c_int = 0;
    const END_OF_STACK: c_int = 5;
    // SAFETY: `capture` passes this, exclusively, and it lives through the callback.
    let frames = unsafe { &mut *data.cast::<Backtrace<N>>() };
    // SAFETY: the unwinder passes its context.
    let address = unsafe { _Unwind_GetIP(context) };
    let Some(slot) = frames.addresses.get_mut(frames.count).filter(|_| address != 0) else {
        return END_OF_STACK;
    };
    // The address is where the call returns to, which may be another line or function.
    *slot = address - 1;
    frames.count += 1;
    GO_ON
}

#[cfg(windows)]
#[inline(always)]
#[allow(clippy::inline_always)] // So that the first frame is the caller's.
fn capture<const N: usize>(frames: &mut Backtrace<N>) {
    #[link(name = "kernel32")]
    unsafe extern "system" {
        fn RtlCaptureStackBackTrace(
            skip: u32,
            count: u32,
            addresses: *mut usize,
            hash: *mut u32,
        ) -> u16;
    }
    let (to, most) = (frames.addresses.as_mut_ptr(), N as u32);
    // SAFETY: the array has room for so many addresses, and none is asked for a hash.
    let count = unsafe { RtlCaptureStackBackTrace(0, most, to, std::ptr::null_mut()) };
    frames.count = usize::from(count).min(N);
    for address in frames.addresses.iter_mut().take(frames.count) {
        // Where a call returns to may be another line or function.
        *address = address.saturating_sub(1);
    }
}

/// A stack that can't be looked at.
#[cfg(target_family = "wasm")]
fn capture<const N: usize>(_: &mut Backtrace<N>) {}
