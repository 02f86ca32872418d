//! Libraries that stay loaded: `dlclose` unmaps a library whose code or statics this runtime still
//! uses.
//!
//! A library may have the runtime inside, or share it with the program and have groups of its own.
//! Threads and hooks would run code that is gone, and the registry would walk through groups that
//! are gone. So the library is marked as one that is never unloaded. The program itself is none,
//! and musl unloads nothing.
//!
//! Invariant: no lock of this library is held while the loader is asked to mark a library: another
//! thread may hold the loader's lock while a library's constructor logs.

use super::modules;
use crate::sync::{AtomicBool, Ordering};
use std::ffi::CStr;

/// Keeps the library that has the runtime inside loaded until the process ends. Everything calls it
/// before it starts a thread or installs a hook. Has no effect where the loader does not find the
/// library under the name that it had.
pub(crate) fn keep_runtime_loaded() {
    static IS_KEPT: AtomicBool = AtomicBool::new(false);
    if !IS_KEPT.load(Ordering::Relaxed) {
        keep_loaded((&raw const IS_KEPT).addr());
        IS_KEPT.store(true, Ordering::Relaxed);
    }
}

/// Keeps the library that `address` is in loaded, as [`keep_runtime_loaded`] does.
pub(crate) fn keep_loaded(address: usize) {
    if let Some(path) = modules::path_of_library(address) {
        mark(&path);
    }
}

/// Marks a loaded library as one that is not unloaded.
#[cfg(not(any(target_env = "musl", target_feature = "crt-static")))]
fn mark(path: &CStr) {
    const FLAGS: libc::c_int = libc::RTLD_NOW | libc::RTLD_NOLOAD | libc::RTLD_NODELETE;
    // SAFETY: the path is a C string. The library is loaded already, so no code of it runs; nobody
    // closes what is returned, so that counts as a user of the library.
    unsafe { libc::dlopen(path.as_ptr(), FLAGS) };
}

/// There `dlclose` does nothing, or no library is loaded.
#[cfg(any(target_env = "musl", target_feature = "crt-static"))]
fn mark(_: &CStr) {}
