//! Modules in the PE form, as Windows lists them.
//!
//! Invariant: *kept*: a module is looked at only while this process has a count on it, so it is not
//! unloaded meanwhile.

use super::Found;
use std::ffi::{OsString, c_void};
use std::os::windows::ffi::OsStringExt;
use std::ptr;

/// The name of the section of notes. The calls name it with a `$` and more behind, which the linker
/// takes off.
const SECTION: &[u8; 8] = b".plog\0\0\0";

/// The most modules that are looked at.
const MODULES: usize = 1024;

/// Flags of `GetModuleHandleExW`.
const BY_ADDRESS: u32 = 4;

#[link(name = "kernel32")]
unsafe extern "system" {
    fn FreeLibrary(module: *mut c_void) -> i32;
    fn GetCurrentProcess() -> *mut c_void;
    fn GetModuleFileNameW(module: *mut c_void, path: *mut u16, size: u32) -> u32;
    fn GetModuleHandleExW(flags: u32, address: *const c_void, module: *mut *mut c_void) -> i32;
    fn K32EnumProcessModules(
        process: *mut c_void,
        modules: *mut *mut c_void,
        size: u32,
        needed: *mut u32,
    ) -> i32;
}

/// A module, with a count on it until it is dropped.
struct Module(*mut c_void);

impl Module {
    /// The one that has `address`.
    fn of(address: *const c_void) -> Option<Self> {
        let mut module = ptr::null_mut();
        // SAFETY: any address may be asked for, and the answer goes to a pointer of ours.
        let found = unsafe { GetModuleHandleExW(BY_ADDRESS, address, &raw mut module) };
        (found != 0).then_some(Self(module))
    }

    fn word(&self, at: usize) -> u32 {
        // SAFETY: *kept*; the headers of a loaded module are mapped, and say where they end.
        unsafe { self.0.cast::<u8>().wrapping_add(at).cast::<u32>().read_unaligned() }
    }

    /// The bytes of the section of notes; empty where there is none.
    fn notes(&self) -> &[u8] {
        let head = self.word(0x3c) as usize;
        if self.word(head) != u32::from_le_bytes(*b"PE\0\0") {
            return &[];
        }
        let count = (self.word(head + 4) >> 16) as usize;
        let table = head + 24 + (self.word(head + 20) & 0xffff) as usize;
        for section in (0..count).map(|index| table + index * 40) {
            let name = [self.word(section).to_le_bytes(), self.word(section + 4).to_le_bytes()];
            if name.concat() == SECTION {
                let (size, at) = (self.word(section + 8), self.word(section + 12));
                let start = self.0.cast::<u8>().wrapping_add(at as usize);
                // SAFETY: *kept*; the section has so many bytes, which nothing writes.
                return unsafe { std::slice::from_raw_parts(start, size as usize) };
            }
        }
        &[]
    }

    fn path(&self) -> String {
        let mut path = vec![0; 32 << 10];
        // SAFETY: *kept*; the vector has room for so many units.
        let length = unsafe { GetModuleFileNameW(self.0, path.as_mut_ptr(), path.len() as u32) };
        path.truncate(length as usize);
        OsString::from_wide(&path).to_string_lossy().into_owned()
    }
}

impl Drop for Module {
    fn drop(&mut self) {
        // SAFETY: *kept*: it takes back the count that `of` took.
        unsafe { FreeLibrary(self.0) };
    }
}

/// Calls `f` with the notes of each loaded module. `f` must not load or unload a library.
pub(crate) fn for_each_note_segment(f: &mut dyn FnMut(&[u8])) {
    for_each_note_segment_at(&mut |_, segment| f(segment));
}

/// As [`for_each_note_segment`], with the address of the notes.
pub(crate) fn for_each_note_segment_at(f: &mut dyn FnMut(usize, &[u8])) {
    for module in all() {
        let notes = module.notes();
        if !notes.is_empty() {
            f(notes.as_ptr().addr(), notes);
        }
    }
}

fn all() -> Vec<Module> {
    let (mut modules, mut needed) = (vec![ptr::null_mut(); MODULES], 0);
    let size = size_of_val(modules.as_slice()) as u32;
    // SAFETY: takes nothing, and gives a handle that is not closed.
    let process = unsafe { GetCurrentProcess() };
    let (to, needed_at) = (modules.as_mut_ptr(), &raw mut needed);
    // SAFETY: the vector has so many bytes, the number is ours.
    if unsafe { K32EnumProcessModules(process, to, size, needed_at) } == 0 {
        return Vec::new();
    }
    modules.truncate(needed as usize / size_of::<*mut c_void>());
    modules.into_iter().filter_map(|module| Module::of(module)).collect()
}

/// Returns the number of modules that were ever loaded, which is not counted.
pub(crate) fn load_count() -> Option<u64> {
    None
}

/// Returns the id of the program's build, which is not looked for.
pub(crate) fn build_id_of_program() -> Option<Vec<u8>> {
    None
}

/// Returns the module that has `address`.
pub(crate) fn find(address: usize) -> Option<Found> {
    let module = Module::of(ptr::without_provenance(address))?;
    Some(Found { base: module.0.addr(), name: module.path(), build_id: Vec::new() })
}
