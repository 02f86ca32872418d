//! The addresses that a call passes: its note, its group and level, and its site.

use protolog_core::note::{HEADER_SIZE, Note, ParsedNote, PrintfNote, TEXTS_AT};
use protolog_rt::foreign::ForeignSite;
use std::ffi::{CStr, c_char};
use std::slice;
use std::sync::atomic::{AtomicU64, Ordering};

/// `struct protolog__site`: the ids of a call.
///
/// Invariant: *ids*: both are zero until the call's note was parsed, so its texts are UTF-8.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Site {
    /// The id, once the arguments of this call are known to go into the message as they are.
    pub(crate) direct: AtomicU64,
    /// The id, once it is computed.
    pub(crate) id: AtomicU64,
}

/// A call, as its code names it.
///
/// Invariant: *call*: `note` is the address of a whole note of a call, which stays for ever (the
/// module that has the groups is never unloaded); `group_level` is the address of the group's
/// `GroupInfo` plus the level's severity; `site` is that of a static of the call's own.
#[derive(Clone, Copy)]
pub(crate) struct Call {
    pub(crate) note: *const u8,
    pub(crate) group_level: *const u8,
    pub(crate) site: *const Site,
}

impl Call {
    /// Returns the id of a call whose arguments go into the message as they are.
    #[inline]
    pub(crate) fn direct_id(self) -> u64 {
        // SAFETY: *call*.
        unsafe { &*self.site }.direct.load(Ordering::Relaxed)
    }

    /// Returns the id, or 0 where it is not known yet.
    pub(crate) fn known_id(self) -> u64 {
        // SAFETY: *call*.
        unsafe { &*self.site }.id.load(Ordering::Relaxed)
    }

    /// Stores the id of a call whose note was parsed.
    pub(crate) fn set_id(self, id: u64, is_direct: bool) {
        // SAFETY: *call*.
        let site = unsafe { &*self.site };
        if is_direct {
            site.direct.store(id, Ordering::Relaxed);
        }
        site.id.store(id, Ordering::Relaxed);
    }

    /// Returns the format of a call whose id is known.
    pub(crate) fn format(self) -> Option<&'static str> {
        if self.known_id() == 0 {
            return None;
        }
        let place = self.note.wrapping_add(TEXTS_AT).cast::<c_char>();
        // SAFETY: *call*: the texts of a whole note end with zeros; the place is the first.
        let length = unsafe { CStr::from_ptr(place) }.count_bytes();
        // SAFETY: *call*: the format is the second.
        let format = unsafe { CStr::from_ptr(place.wrapping_add(length + 1)) };
        // SAFETY: *ids*: the id is known, so the format was found to be UTF-8.
        Some(unsafe { std::str::from_utf8_unchecked(format.to_bytes()) })
    }

    /// Returns the call with its id, for the runtime.
    #[inline]
    pub(crate) fn with_id(self, id: u64) -> ForeignSite {
        // SAFETY: *call*.
        unsafe { ForeignSite::new(id, self.group_level, self.note) }
    }

    /// Returns the bytes of the note.
    pub(crate) fn bytes(self) -> &'static [u8] {
        // SAFETY: *call*: a whole note begins with its header, whose second word is the size of
        // what follows it.
        let size = unsafe { self.note.wrapping_add(4).cast::<u32>().read_unaligned() };
        // SAFETY: *call*.
        unsafe { slice::from_raw_parts(self.note, HEADER_SIZE + size as usize) }
    }

    /// Returns the types of the arguments, two bits each.
    pub(crate) fn types(self) -> u64 {
        let types = self.bytes().get(TYPES_AT..).and_then(<[u8]>::first_chunk);
        types.map_or(0, |types| u64::from_ne_bytes(*types))
    }

    /// Returns the note; none if its texts are not UTF-8.
    pub(crate) fn note(self) -> Option<PrintfNote<'static>> {
        match Note::parse(self.bytes()) {
            Some((ParsedNote::Printf(note), _)) => Some(note),
            _ => None,
        }
    }
}

/// The offset in a note of the types of the arguments.
const TYPES_AT: usize = HEADER_SIZE + 8;
