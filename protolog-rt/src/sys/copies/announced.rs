//! The copies that announce themselves by ELF notes.

use super::interface::{self, Interface};
use super::{TYPE, VERSION};
use crate::sys::modules::{self, Module};
use std::ops::ControlFlow;

/// The name in the header of the note.
const NAME: &[u8] = b"protolog-rt\0";
/// Its alignment, in bytes.
const ALIGNMENT: usize = 8;

/// The first copy of the process.
pub(super) struct First {
    pub(super) version: u32,
    /// The address of its interface.
    pub(super) address: usize,
    pub(super) module: String,
}

pub(super) fn first_copy() -> Option<First> {
    let mut first = None;
    modules::visit(&mut |module| {
        first = announcement_in(module).and_then(|(version, slot)| {
            // The target of another version's note is of a form unknown here.
            let address = if version == VERSION { interface_at(module, slot)? } else { 0 };
            Some(First { version, address, module: module.name() })
        });
        if first.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    first
}

/// Returns the paths of the modules that have another version of the runtime inside, which this one
/// knows nothing of.
pub(crate) fn modules_apart() -> Vec<String> {
    let mut all = Vec::new();
    modules::visit(&mut |module| {
        if is_apart(module) {
            all.push(module.name());
        }
        ControlFlow::Continue(())
    });
    all
}

/// As [`modules::for_each_note_segment`], without the modules of [`modules_apart`].
pub(crate) fn for_each_reached_note_segment(f: &mut dyn FnMut(&[u8])) {
    modules::visit(&mut |module| {
        if !is_apart(module) {
            module.note_segments_at(1).for_each(|(_, segment)| f(&segment));
        }
        ControlFlow::Continue(())
    });
}

fn is_apart(module: &Module<'_>) -> bool {
    announcement_in(module).is_some_and(|(version, _)| version != VERSION)
}

/// Returns the version and the address of the pointer to the interface, as the first announcement
/// of a module has them.
fn announcement_in(module: &Module<'_>) -> Option<(u32, usize)> {
    module.note_segments_at(ALIGNMENT).find_map(|(start, segment)| {
        let (at, description) = modules::description(&segment, NAME, TYPE)?;
        let (version, offset) = description.split_first_chunk::<4>()?;
        let offset = i32::from_ne_bytes(*offset.first_chunk()?);
        let field = start + at + 4;
        Some((u32::from_ne_bytes(*version), field.wrapping_add_signed(offset as isize)))
    })
}

/// Returns the address of the interface that the word at this address has; none if there is no
/// interface, as where a tool that changed the module has moved its notes. Such a module is taken
/// for one without a copy.
fn interface_at(module: &Module<'_>, slot: usize) -> Option<usize> {
    let address = word_at(module, slot)?;
    // The mark of the copy comes first.
    let mark = word_at(module, address)?;
    let last = address.checked_add(size_of::<Interface>() - 1)?;
    let end = mark.checked_add(interface::MARK.len() - 1)?;
    if !module.has(last) || !module.has(mark) || !module.has(end) {
        return None;
    }
    let mark = std::ptr::with_exposed_provenance::<[u8; interface::MARK.len()]>(mark);
    // SAFETY: all of it is within the module, which the caller visits, and bytes are never
    // unaligned.
    let mark = unsafe { mark.read_volatile() };
    (mark == interface::MARK).then_some(address)
}

/// Returns the word at an address; none if that is not in the module.
fn word_at(module: &Module<'_>, address: usize) -> Option<usize> {
    let end = address.checked_add(size_of::<usize>() - 1)?;
    if address % align_of::<usize>() != 0 || !module.has(address) || !module.has(end) {
        return None;
    }
    let word = std::ptr::with_exposed_provenance::<usize>(address);
    // SAFETY: it is aligned, and within the module, which the caller visits.
    Some(unsafe { word.read_volatile() })
}

#[cfg(all(test, not(any(miri, loom))))]
mod tests {
    use super::*;

    #[test]
    fn a_note_that_was_moved_leads_to_no_interface() {
        let (mut slot, mut count) = (0, 0);
        modules::visit(&mut |module| {
            slot = announcement_in(module).map_or(0, |(_, slot)| slot);
            let far = [0, 1, 8, usize::MAX - 7, usize::MAX];
            for place in (slot.saturating_sub(4096)..slot + 4096).chain(far) {
                let found = interface_at(module, place);
                assert_eq!(found.is_some(), place == slot && slot != 0, "{place:x} of {slot:x}");
                count += usize::from(found.is_some());
            }
            ControlFlow::Break(())
        });
        assert_eq!(count, usize::from(slot != 0));
    }
}
