//! The addresses that a call passes: its note, its group and level, and its site.

use protolog_core::note::{HEADER_SIZE, Note, ParsedNote, PrintfNote};
use protolog_rt::foreign::ForeignSite;
use std::slice;
use std::sync::atomic::{AtomicU64, Ordering};

/// `struct protolog__site`: the ids of a call.
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

    /// Stores the id of such a call.
    pub(crate) fn set_direct(self, id: u64) {
        // SAFETY: *call*.
        unsafe { &*self.site }.direct.store(id, Ordering::Relaxed);
    }

    /// Returns the call's id, computed at its first message.
    pub(crate) fn id(self, compute: impl FnOnce() -> u64) -> u64 {
        // SAFETY: *call*.
        let site = unsafe { &*self.site };
        let known = site.id.load(Ordering::Relaxed);
        if known != 0 {
            return known;
        }
        let id = compute();
        site.id.store(id, Ordering::Relaxed);
        id
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

    /// Returns the note; none if its texts are not UTF-8.
    pub(crate) fn note(self) -> Option<PrintfNote<'static>> {
        match Note::parse(self.bytes()) {
            Some((ParsedNote::Printf(note), _)) => Some(note),
            _ => None,
        }
    }
}
