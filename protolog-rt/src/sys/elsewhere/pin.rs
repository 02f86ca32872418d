//! Libraries that stay loaded.

#[cfg(windows)]
use std::ffi::c_void;
#[cfg(windows)]
use std::ptr;

/// Keeps the library that has the runtime inside loaded until the process ends.
pub(crate) fn keep_runtime_loaded() {
    static HERE: u8 = 0;
    keep_loaded((&raw const HERE).addr());
}

/// Keeps the library that `address` is in loaded.
#[cfg(windows)]
pub(crate) fn keep_loaded(address: usize) {
    const PIN: u32 = 1;
    const BY_ADDRESS: u32 = 4;
    #[link(name = "kernel32")]
    unsafe extern "system" {
        fn GetModuleHandleExW(flags: u32, address: *const c_void, module: *mut *mut c_void) -> i32;
    }
    let (address, mut module) = (ptr::without_provenance(address), ptr::null_mut());
    // SAFETY: any address may be asked for, and the answer goes to a pointer of ours.
    unsafe { GetModuleHandleExW(PIN | BY_ADDRESS, address, &raw mut module) };
}

/// Nothing is ever unloaded.
#[cfg(not(windows))]
pub(crate) fn keep_loaded(_: usize) {}
