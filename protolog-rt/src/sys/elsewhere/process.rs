//! The process: its id and its user, who is not told apart from others.

use protolog_core::control::program_name;
use std::hash::{BuildHasher, RandomState};

/// Returns the process's id; of WASI, where there is none, 1.
#[inline]
pub(crate) fn id() -> u32 {
    if cfg!(windows) { std::process::id() } else { 1 }
}

/// Returns the same.
#[inline]
pub(crate) fn asked_id() -> u32 {
    id()
}

/// Returns the name of the program.
pub(crate) fn program() -> String {
    let path = std::env::current_exe().ok().or_else(|| std::env::args_os().next().map(Into::into));
    let path = path.unwrap_or_default().to_string_lossy().replace('\\', "/");
    match program_name(&path) {
        "" => "unknown".into(),
        name => name.into(),
    }
}

/// Returns 16 random bytes.
pub(crate) fn random_id() -> [u8; 16] {
    // Their keys are the system's random numbers.
    let random = || RandomState::new().hash_one(id());
    (u128::from(random()) << 64 | u128::from(random())).to_ne_bytes()
}

/// Returns whether there is a process with this id, other than this one.
#[cfg(windows)]
pub(crate) fn is_other_process(id: u32) -> bool {
    use std::ffi::c_void;
    const LIMITED_INFORMATION: u32 = 0x1000;
    const STILL_ACTIVE: u32 = 259;
    const DENIED: i32 = 5;
    #[link(name = "kernel32")]
    unsafe extern "system" {
        fn CloseHandle(handle: *mut c_void) -> i32;
        fn GetExitCodeProcess(process: *mut c_void, code: *mut u32) -> i32;
        fn OpenProcess(access: u32, inherit: i32, id: u32) -> *mut c_void;
    }
    if id == 0 || id == std::process::id() {
        return false;
    }
    // SAFETY: takes numbers.
    let process = unsafe { OpenProcess(LIMITED_INFORMATION, 0, id) };
    if process.is_null() {
        return std::io::Error::last_os_error().raw_os_error() == Some(DENIED);
    }
    let mut code = STILL_ACTIVE;
    // SAFETY: the handle is open, and the answer goes to a number of ours.
    unsafe { GetExitCodeProcess(process, &raw mut code) };
    // SAFETY: the handle is ours, and not used any more.
    unsafe { CloseHandle(process) };
    code == STILL_ACTIVE
}

#[cfg(not(windows))]
pub(crate) fn is_other_process(_: u32) -> bool {
    false
}

/// Returns the id of the user that everything belongs to.
pub(crate) fn user() -> u32 {
    0
}

/// Returns the id of the user that started the process.
pub(crate) fn real_user() -> u32 {
    0
}

/// Returns a number that tells the process apart from others with the same id, which is not made.
pub(crate) fn fingerprint() -> Option<u64> {
    None
}

/// Returns whether files in memory end with the container that the process runs in. Windows has
/// none, so what outlives the process is better beside its trace.
pub(crate) fn has_memory_of_container() -> bool {
    cfg!(windows)
}
