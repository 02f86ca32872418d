//! Modules in the Mach-O form, as the dynamic linker of macOS lists them.
//!
//! Invariant: a header is that of a loaded image. One that is unloaded while another thread walks
//! the list would be gone; the linker keeps images that have thread-local values or Objective-C in
//! them, and programs hardly unload others.

use super::{Found, lock_list};
use std::ffi::{CStr, CString, c_char, c_ulong, c_void};
use std::ops::ControlFlow;
use std::ptr;

/// The segment and the section of notes, as the calls name them.
const SEGMENT: &CStr = c"__DATA";
const SECTION: &CStr = c"__protolog";

/// The size of a header of 64 bits, which the commands follow.
const HEADER: usize = 32;
/// The command that has the id of a build.
const UUID: u32 = 0x1b;

unsafe extern "C" {
    fn getsectiondata(
        header: *const c_void,
        segment: *const c_char,
        section: *const c_char,
        size: *mut c_ulong,
    ) -> *mut u8;
    fn _dyld_get_image_header(index: u32) -> *const c_void;
    fn _dyld_image_count() -> u32;
}

/// Calls `f` with the notes of each loaded module. `f` must not load or unload a library.
pub(crate) fn for_each_note_segment(f: &mut dyn FnMut(&[u8])) {
    for_each_note_segment_at(&mut |_, segment| f(segment));
}

/// As [`for_each_note_segment`], with the address of the notes.
pub(crate) fn for_each_note_segment_at(f: &mut dyn FnMut(usize, &[u8])) {
    visit(&mut |header| {
        let mut size: c_ulong = 0;
        let (segment, section) = (SEGMENT.as_ptr(), SECTION.as_ptr());
        // SAFETY: the header is that of a loaded image, the names are C strings.
        let start = unsafe { getsectiondata(header, segment, section, &raw mut size) };
        if !start.is_null() {
            // SAFETY: the section is so long, is loaded, and nothing writes it.
            f(start.addr(), unsafe { std::slice::from_raw_parts(start, size as usize) });
        }
        ControlFlow::Continue(())
    });
}

/// Returns the number of modules that were ever loaded, which is not counted.
pub(crate) fn load_count() -> Option<u64> {
    None
}

/// Returns the id of the program's build.
pub(crate) fn build_id_of_program() -> Option<Vec<u8>> {
    let mut found = None;
    // The program comes first.
    visit(&mut |header| {
        found = build_id(header);
        ControlFlow::Break(())
    });
    found
}

/// Returns the module that has `address`.
pub(crate) fn find(address: usize) -> Option<Found> {
    let _list = lock_list();
    let (base, name) = image_of(address)?;
    let build_id = build_id(base).unwrap_or_default();
    Some(Found { base: base.addr(), name: name.to_string_lossy().into_owned(), build_id })
}

/// Returns the path of the library that has `address`; none if it is the program or no module.
pub(crate) fn path_of_library(address: usize) -> Option<CString> {
    let _list = lock_list();
    let (base, name) = image_of(address)?;
    // SAFETY: the program is always there.
    let program = unsafe { _dyld_get_image_header(0) };
    (base.addr() != program.addr()).then_some(name)
}

fn image_of(address: usize) -> Option<(*const c_void, CString)> {
    // SAFETY: pointers, for which null is a value.
    let mut found: libc::Dl_info = unsafe { std::mem::zeroed() };
    // SAFETY: any address may be asked for, and the answer goes to a value of ours.
    let is_found = unsafe { libc::dladdr(ptr::without_provenance(address), &raw mut found) } != 0;
    if !is_found || found.dli_fname.is_null() {
        return None;
    }
    // SAFETY: the linker's C string is valid while the image is loaded.
    let name = unsafe { CStr::from_ptr(found.dli_fname) };
    Some((found.dli_fbase, name.to_owned()))
}

/// Calls `f` with the header of each loaded image, the program first, until it breaks.
fn visit(f: &mut dyn FnMut(*const c_void) -> ControlFlow<()>) {
    let _list = lock_list();
    // SAFETY: takes nothing, and gives a number.
    let count = unsafe { _dyld_image_count() };
    for index in 0..count {
        // SAFETY: null where the image is gone by now.
        let header = unsafe { _dyld_get_image_header(index) };
        if !header.is_null() && f(header).is_break() {
            return;
        }
    }
}

/// Returns the id in the commands of a header.
fn build_id(header: *const c_void) -> Option<Vec<u8>> {
    let word = |at: usize| {
        // SAFETY: the header of a loaded image, and the commands within the size that it says,
        // which are whole words, are mapped.
        unsafe { header.cast::<u8>().wrapping_add(at).cast::<u32>().read_unaligned() }
    };
    let (count, size) = (word(16), word(20) as usize);
    let mut at = HEADER;
    for _ in 0..count {
        if at + 24 > HEADER + size {
            return None;
        }
        let (command, length) = (word(at), word(at + 4) as usize);
        if command == UUID {
            return Some((0..4).flat_map(|index| word(at + 8 + index * 4).to_ne_bytes()).collect());
        }
        at += length.max(8);
    }
    None
}
