//! Variables of the environment, which a program that runs with more rights than its caller does
//! not believe.
//!
//! Invariant: the caller of a set-user-id program, or of one with capabilities of its own, can't
//! choose by a variable which files it reads, where it listens, or what it logs. The whole runtime
//! reads variables here; the C library treats its own variables likewise.

use std::ffi::OsString;
use std::path::PathBuf;

/// Returns the variable `name`; none in a program with more rights than its caller (`AT_SECURE`).
pub(crate) fn variable(name: &str) -> Option<OsString> {
    if is_secure() { None } else { std::env::var_os(name) }
}

/// Returns the absolute path in the variable `name`, as [`variable`] does.
pub(crate) fn absolute_path(name: &str) -> Option<PathBuf> {
    variable(name).map(PathBuf::from).filter(|path| path.is_absolute())
}

#[cfg(any(target_os = "linux", target_os = "android"))]
fn is_secure() -> bool {
    // SAFETY: takes and gives numbers.
    unsafe { libc::getauxval(libc::AT_SECURE) != 0 }
}

#[cfg(not(unix))]
fn is_secure() -> bool {
    false
}

#[cfg(target_vendor = "apple")]
fn is_secure() -> bool {
    // SAFETY: takes nothing, and gives a number.
    unsafe { issetugid() != 0 }
}

#[cfg(target_vendor = "apple")]
unsafe extern "C" {
    fn issetugid() -> std::ffi::c_int;
}
