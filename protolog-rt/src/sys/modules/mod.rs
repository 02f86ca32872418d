//! Loaded modules: the program and the libraries that it has loaded, with their notes and build
//! ids; stack traces.
//!
//! The loader keeps the list of modules under a lock, which not every C library makes free in a
//! forked child. So this library asks the loader, or the unwinder, which asks it too, only while it
//! holds the *module list lock*, a [`ForkLock`].
//!
//! | module | notes are in |
//! |---|---|
//! | `elf` | segments of ELF notes: Linux, Android |
//! | `macho` | the section `__DATA,__protolog`: macOS |
//! | `pe` | the section `.plog`: Windows |
//! | `listed` | a list that each call joins before `main`: WebAssembly, whose sections are not in memory |
//!
//! Each has the same functions.

mod backtrace;
#[cfg(any(target_os = "linux", target_os = "android"))]
mod elf;
#[cfg(target_family = "wasm")]
mod listed;
#[cfg(target_vendor = "apple")]
mod macho;
#[cfg(windows)]
mod pe;

pub(crate) use backtrace::Backtrace;
#[cfg(any(target_os = "linux", target_os = "android"))]
pub(super) use elf::{Module, description, visit};
#[cfg(any(target_os = "linux", target_os = "android"))]
pub(crate) use elf::{
    build_id_of_program, find, for_each_note_segment, for_each_note_segment_at, load_count,
    path_of_library,
};
#[cfg(target_family = "wasm")]
pub use listed::ListedNote;
#[cfg(target_family = "wasm")]
pub(crate) use listed::{
    build_id_of_program, find, for_each_note_segment, for_each_note_segment_at, load_count,
};
#[cfg(target_vendor = "apple")]
pub(crate) use macho::{
    build_id_of_program, find, for_each_note_segment, for_each_note_segment_at, load_count,
    path_of_library,
};
#[cfg(windows)]
pub(crate) use pe::{
    build_id_of_program, find, for_each_note_segment, for_each_note_segment_at, load_count,
};

use super::fork::{ForkLock, Order};
use std::sync::RwLockWriteGuard;

/// The module list lock.
static LIST: ForkLock<()> = ForkLock::new(Order::Modules, ());

/// Takes the module list lock. A signal handler that interrupted its holder goes on without.
fn lock_list() -> Option<RwLockWriteGuard<'static, ()>> {
    LIST.lock_within_limit()
}

/// The module that an address belongs to.
#[derive(Debug)]
pub(crate) struct Found {
    /// The address that its own addresses are relative to.
    pub(crate) base: usize,
    /// Its path.
    pub(crate) name: String,
    /// Its build id; empty where it has none.
    pub(crate) build_id: Vec<u8>,
}
