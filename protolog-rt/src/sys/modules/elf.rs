//! Modules in the ELF form, as the C library's loader lists them.
//!
//! Invariant: *loaded*: a [`Module`] lives only within the loader's callback, during which the
//! module can't be unloaded.

use super::{Found, lock_list};
use crate::sys::sanitizer;
use protolog_core::control::without_mark;
use std::borrow::Cow;
use std::ffi::{CStr, CString, OsStr, c_int, c_void};
use std::ops::ControlFlow;
use std::os::unix::ffi::OsStrExt as _;

#[cfg(target_pointer_width = "32")]
use libc::Elf32_Phdr as Header;
#[cfg(target_pointer_width = "64")]
use libc::Elf64_Phdr as Header;

/// A loaded module.
pub(in crate::sys) struct Module<'a> {
    info: &'a libc::dl_phdr_info,
    headers: &'a [Header],
}

/// Calls `f` with each segment of notes of each loaded module, while the module can't be unloaded.
/// `f` must not load or unload a library.
pub(crate) fn for_each_note_segment(f: &mut dyn FnMut(&[u8])) {
    visit(&mut |module| {
        module.note_segments().for_each(|segment| f(&segment));
        ControlFlow::Continue(())
    });
}

/// As [`for_each_note_segment`], with the address of each segment; the bytes may be a copy.
pub(crate) fn for_each_note_segment_at(f: &mut dyn FnMut(usize, &[u8])) {
    visit(&mut |module| {
        module.note_segments_at(1).for_each(|(address, segment)| f(address, &segment));
        ControlFlow::Continue(())
    });
}

/// Returns the number of modules that were ever loaded; none where the system does not count them.
pub(crate) fn load_count() -> Option<u64> {
    unsafe extern "C" fn first(
        info: *mut libc::dl_phdr_info,
        size: libc::size_t,
        data: *mut c_void,
    ) -> c_int {
        let end = core::mem::offset_of!(libc::dl_phdr_info, dlpi_adds) + size_of::<u64>();
        if size >= end {
            // SAFETY: dl_iterate_phdr passes a module that is valid during the callback, with so
            // many bytes.
            let adds = unsafe { (*info).dlpi_adds };
            // SAFETY: `load_count` passes this, exclusively, and it lives through the callback.
            unsafe { *data.cast::<Option<u64>>() = Some(adds) };
        }
        1 // All modules have the same count.
    }
    let mut count = None::<u64>;
    let _list = lock_list();
    // SAFETY: the callback gets the pointer that stands here and uses it as what it is; it lives
    // through the call.
    unsafe { libc::dl_iterate_phdr(Some(first), (&raw mut count).cast()) };
    count
}

/// Returns the build id of the program, which linkers put into a note.
pub(crate) fn build_id_of_program() -> Option<Vec<u8>> {
    let mut found = None;
    // The program comes first.
    visit(&mut |program| {
        found = program.build_id();
        ControlFlow::Break(())
    });
    found
}

/// Returns the module that has `address`.
pub(crate) fn find(address: usize) -> Option<Found> {
    let mut found = None;
    visit(&mut |module| {
        if !module.has(address) {
            return ControlFlow::Continue(());
        }
        let build_id = module.build_id().unwrap_or_default();
        found = Some(Found { base: module.base(), name: module.name(), build_id });
        ControlFlow::Break(())
    });
    found
}

/// Returns a path of the loader's list, or that of the program where the list has none: glibc's is
/// empty, and musl's is a link that leads every process to its own program.
fn name_of(path: &OsStr) -> String {
    let is_program = path.is_empty() || path == OsStr::new("/proc/self/exe");
    if is_program {
        let program = std::env::current_exe().unwrap_or_default();
        return without_mark(&program.to_string_lossy()).into();
    }
    path.to_string_lossy().into_owned()
}

/// Returns the path under which the loader knows the library that has `address`; none if it is the
/// program or no module.
pub(crate) fn path_of_library(address: usize) -> Option<CString> {
    let mut path = None;
    let mut is_program = true; // It comes first.
    visit(&mut |module| {
        if module.has(address) {
            path = (!is_program).then(|| module.path().to_owned());
            return ControlFlow::Break(());
        }
        is_program = false;
        ControlFlow::Continue(())
    });
    path.filter(|path| !path.is_empty())
}

impl<'a> Module<'a> {
    fn base(&self) -> usize {
        self.info.dlpi_addr as usize
    }

    /// The path in the loader's list, where that of the program is empty.
    fn path(&self) -> &'a CStr {
        if self.info.dlpi_name.is_null() {
            return c"";
        }
        // SAFETY: *loaded*: the loader's C string is valid.
        unsafe { CStr::from_ptr(self.info.dlpi_name) }
    }

    /// The path, also of the program.
    pub(in crate::sys) fn name(&self) -> String {
        name_of(OsStr::from_bytes(self.path().to_bytes()))
    }

    fn of_type(&self, kind: u32) -> impl Iterator<Item = &'a Header> + use<'a> {
        self.headers.iter().filter(move |header| header.p_type == kind)
    }

    pub(in crate::sys) fn has(&self, address: usize) -> bool {
        let within = address.wrapping_sub(self.base());
        self.of_type(libc::PT_LOAD)
            .any(|load| within.wrapping_sub(load.p_vaddr as usize) < load.p_memsz as usize)
    }

    /// The bytes of each segment of notes.
    fn note_segments(&self) -> impl Iterator<Item = Cow<'a, [u8]>> + use<'a, '_> {
        self.note_segments_at(1).map(|(_, bytes)| bytes)
    }

    /// The address and the bytes of each segment of notes that is aligned to so many bytes at
    /// least.
    pub(in crate::sys) fn note_segments_at(
        &self,
        alignment: usize,
    ) -> impl Iterator<Item = (usize, Cow<'a, [u8]>)> + use<'a, '_> {
        /// `PF_R` of elf.h: the segment can be read. The libc crate does not have it for Android.
        const READABLE: u32 = 1 << 2;
        // Notes that are not loaded have an address too.
        let is_loaded = |notes: &&Header| {
            let end = notes.p_vaddr.checked_add(notes.p_memsz);
            self.of_type(libc::PT_LOAD).any(|load| {
                load.p_flags & READABLE != 0
                    && load.p_vaddr <= notes.p_vaddr
                    && end.is_some_and(|end| end <= load.p_vaddr.saturating_add(load.p_filesz))
            })
        };
        let is_aligned = move |notes: &&Header| notes.p_align as usize >= alignment;
        self.of_type(libc::PT_NOTE).filter(is_aligned).filter(is_loaded).map(|notes| {
            let address = self.base().wrapping_add(notes.p_vaddr as usize);
            let start = std::ptr::with_exposed_provenance::<u8>(address);
            let length = notes.p_memsz as usize;
            // SAFETY: *loaded*: the bytes are part of a readable segment, which nothing writes.
            (address, unsafe { sanitizer::readable(start, length) })
        })
    }

    fn build_id(&self) -> Option<Vec<u8>> {
        self.note_segments().find_map(|notes| build_id(&notes).map(<[u8]>::to_vec))
    }
}

/// Calls `f` with each loaded module, the program first, until it breaks.
pub(in crate::sys) fn visit(f: &mut dyn FnMut(&Module<'_>) -> ControlFlow<()>) {
    unsafe extern "C" fn one(
        info: *mut libc::dl_phdr_info,
        _size: libc::size_t,
        data: *mut c_void,
    ) -> c_int {
        // SAFETY: dl_iterate_phdr passes a module that is valid during the callback.
        let info = unsafe { &*info };
        // SAFETY: `visit` passes this, exclusively, and it lives through the callback.
        let f = unsafe { &mut *data.cast::<&mut dyn FnMut(&Module<'_>) -> ControlFlow<()>>() };
        let headers = if info.dlpi_phdr.is_null() {
            &[]
        } else {
            // SAFETY: the module says that so many program headers stand there.
            unsafe { std::slice::from_raw_parts(info.dlpi_phdr, usize::from(info.dlpi_phnum)) }
        };
        c_int::from(f(&Module { info, headers }).is_break())
    }
    let mut f = f;
    let _list = lock_list();
    // SAFETY: the callback gets the pointer that stands here and uses it as what it is; it lives
    // through the call.
    unsafe { libc::dl_iterate_phdr(Some(one), (&raw mut f).cast()) };
}

/// The build id among ELF notes.
fn build_id(notes: &[u8]) -> Option<&[u8]> {
    const TYPE: u32 = 3; // NT_GNU_BUILD_ID
    description(notes, b"GNU\0", TYPE).map(|(_, id)| id)
}

/// Returns the description of the first of these ELF notes that has the name and the type, and its
/// offset. A note is the sizes of name and description, type, name, description, each padded to 4
/// bytes.
pub(in crate::sys) fn description<'a>(
    all: &'a [u8],
    wanted: &[u8],
    wanted_type: u32,
) -> Option<(usize, &'a [u8])> {
    let mut notes = all;
    loop {
        let (name_size, rest) = notes.split_first_chunk()?;
        if *name_size == [0; 4] {
            // Between the notes of a program that is built for AddressSanitizer.
            notes = rest;
            continue;
        }
        let (size, rest) = rest.split_first_chunk()?;
        let (kind, rest) = rest.split_first_chunk()?;
        let (name_size, size) =
            (u32::from_ne_bytes(*name_size) as usize, u32::from_ne_bytes(*size) as usize);
        let name = rest.get(..name_size)?;
        let rest = rest.get(name_size.checked_next_multiple_of(4)?..)?;
        let description = rest.get(..size)?;
        if u32::from_ne_bytes(*kind) == wanted_type && name == wanted {
            return Some((all.len() - rest.len(), description));
        }
        notes = rest.get(size.checked_next_multiple_of(4)?..)?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::modules::Backtrace;

    #[test]
    fn a_build_id_is_found_among_other_notes() {
        let note = |name: &[u8], kind: u32, description: &[u8]| {
            let mut bytes = (name.len() as u32).to_ne_bytes().to_vec();
            bytes.extend((description.len() as u32).to_ne_bytes());
            bytes.extend(kind.to_ne_bytes());
            for part in [name, description] {
                bytes.extend(part);
                bytes.resize(bytes.len().next_multiple_of(4), 0);
            }
            bytes
        };
        let (abi, id) = (note(b"GNU\0", 1, &[1; 16]), note(b"GNU\0", 3, &[7; 20]));
        let other = note(b"Go\0", 3, &[5; 9]);
        assert_eq!(build_id(&[&abi[..], &other, &id].concat()), Some(&[7; 20][..]));
        assert_eq!(build_id(&[&abi[..], &other].concat()), None);
        assert_eq!(build_id(&id[..id.len() - 1]), None, "cut");
        assert_eq!(build_id(&[0xff; 64]), None);
    }

    #[test]
    fn this_function_is_in_the_program() {
        let here = Backtrace::<8>::here();
        let found = find(here.addresses()[0]).expect("the module of this test");
        let program = std::env::current_exe().unwrap();
        assert_eq!(Some(found.name.as_ref()), program.to_str());
        // As glibc and musl have it.
        for path in ["", "/proc/self/exe"] {
            assert_eq!(Some(name_of(path.as_ref()).as_ref()), program.to_str());
        }
        assert_eq!(name_of("/usr/lib/libc.so.6".as_ref()), "/usr/lib/libc.so.6");
        assert_eq!(build_id_of_program().unwrap_or_default(), found.build_id);
        assert!(find(0).is_none());
    }
}
