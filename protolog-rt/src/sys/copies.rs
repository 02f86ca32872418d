//! Copies of this runtime in one process: a program and a library that it loads may each have one
//! inside.
//!
//! Each copy announces itself by an ELF note in its module, which leads to its [`Interface`]:
//! functions of the C ABI by which another copy passes groups and messages on. The loader lists
//! modules in the order in which they came, the program first. The first copy is the *host*; a
//! later one whose interface has the same version joins it, and one of another version stays apart.
//!
//! ```text
//! .note.protolog_rt   12, 8, 1, "protolog-rt\0", version, offset --+
//! .data.rel.ro        address of the interface  <------------------+
//! ```
//!
//! The offset needs no relocation. Linkers put notes of one alignment into one segment, so this
//! note, of alignment 8, is not among the notes of calls: nobody reads their pages to find it.
//!
//! Invariants
//! - *announced*: a note of this name, type and version leads to an [`Interface`], which
//!   lives as long as its module.
//! - *kept*: the host's module is never unloaded, from before its interface is used on.

mod interface;
mod service_state;

pub(crate) use interface::{Handle, Host, Interface, NewGroup, NewTemplate, VERSION, interface};
pub(crate) use service_state::ServiceState;

use super::modules::{self, Module};
use super::pin;
use crate::sync::{AtomicPtr, AtomicU8, Ordering};
use std::ops::ControlFlow;

/// The name in the header of the note.
const NAME: &[u8] = b"protolog-rt\0";
/// The type of the note.
pub(crate) const TYPE: u32 = 1;
/// Its alignment, in bytes.
const ALIGNMENT: usize = 8;

/// The host, if this copy has joined it.
static HOST: AtomicPtr<Interface> = AtomicPtr::new(std::ptr::null_mut());
static STANDING: AtomicU8 = AtomicU8::new(UNKNOWN);
const UNKNOWN: u8 = 0;
const HOST_ITSELF: u8 = 1;
const JOINED: u8 = 2;
const APART: u8 = 3;

/// The directive for a word with the address of the interface. Conditions within `asm!` are younger
/// than the oldest compiler.
#[cfg(target_pointer_width = "64")]
macro_rules! word_of_interface {
    () => {
        ".quad {interface}"
    };
}
#[cfg(not(target_pointer_width = "64"))]
macro_rules! word_of_interface {
    () => {
        ".long {interface}"
    };
}
pub(crate) use word_of_interface;

/// Announces the static `$interface` of this copy by a note. There is none on processors whose
/// assembler is not known here, where copies stay apart without knowing it.
macro_rules! announce {
    ($interface:ident) => {
        #[cfg(all(
            not(any(miri, loom)),
            any(
                target_arch = "x86",
                target_arch = "x86_64",
                target_arch = "arm",
                target_arch = "aarch64",
                target_arch = "riscv64",
            )
        ))]
        #[used]
        static ANNOUNCEMENT: extern "C" fn() = {
            #[allow(unsafe_code)] // Directives of the assembler.
            extern "C" fn announcement() {
                // SAFETY: it adds to two sections, and no instruction.
                unsafe {
                    core::arch::asm!(
                        ".pushsection .note.protolog_rt, \"a\", %note",
                        ".p2align 3",
                        ".long 12",
                        ".long 8",
                        ".long {kind}",
                        ".asciz \"protolog-rt\"",
                        ".long {version}",
                        ".long 2f - .",
                        ".popsection",
                        ".pushsection .data.rel.ro.protolog_rt, \"aw\", %progbits",
                        ".p2align 3",
                        "2:",
                        $crate::sys::copies::word_of_interface!(),
                        ".popsection",
                        kind = const $crate::sys::copies::TYPE,
                        version = const $crate::sys::copies::VERSION,
                        interface = sym $interface,
                        options(nomem, nostack, preserves_flags)
                    );
                }
            }
            announcement
        };
    };
}
pub(crate) use announce;

/// A copy that can't join the host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Apart {
    /// The path of this copy's module.
    pub(crate) own: String,
    /// The path of the host's.
    pub(crate) host: String,
}

/// Finds out whether this copy is the host, and joins that if it is another. Returns the two
/// modules, once, where it can't.
pub(crate) fn look() -> Option<Apart> {
    if STANDING.load(Ordering::Acquire) != UNKNOWN {
        return None;
    }
    // The second time it is known to stay.
    for _ in 0..2 {
        match first_copy() {
            Some(First { address, version: VERSION, .. }) if is_own(address) => break,
            Some(First { address, version: VERSION, .. }) => {
                if HOST.load(Ordering::Relaxed).addr() == address {
                    STANDING.store(JOINED, Ordering::Release);
                    return None;
                }
                pin::keep_loaded(address);
                HOST.store(std::ptr::with_exposed_provenance_mut(address), Ordering::Relaxed);
            }
            Some(first) => {
                HOST.store(std::ptr::null_mut(), Ordering::Relaxed);
                let is_new = STANDING.swap(APART, Ordering::AcqRel) == UNKNOWN;
                let own = modules::find(Interface::own_address());
                let own = own.map(|own| own.name).unwrap_or_default();
                return is_new.then_some(Apart { own, host: first.module });
            }
            None => break,
        }
    }
    HOST.store(std::ptr::null_mut(), Ordering::Relaxed);
    STANDING.store(HOST_ITSELF, Ordering::Release);
    None
}

/// Returns the host that this copy has joined.
#[inline]
pub(crate) fn host() -> Option<&'static Interface> {
    if STANDING.load(Ordering::Acquire) != JOINED {
        return None;
    }
    // SAFETY: *announced*, *kept*: it was found twice, the second time when its module was kept.
    unsafe { HOST.load(Ordering::Relaxed).as_ref() }
}

/// Returns the path of the module that this copy is in if the host is in the same one, as in a
/// program that has two versions of the crate.
pub(crate) fn module_of_both() -> Option<String> {
    let host = std::ptr::from_ref(host()?).expose_provenance();
    let own = modules::find(Interface::own_address())?.name;
    modules::find(host).is_some_and(|its| its.name == own).then_some(own)
}

/// The first copy of the process.
struct First {
    version: u32,
    /// The address of its interface.
    address: usize,
    module: String,
}

fn first_copy() -> Option<First> {
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

/// Returns whether the interface at this address, which is of this version, is that of this copy.
fn is_own(address: usize) -> bool {
    let interface = std::ptr::with_exposed_provenance::<Interface>(address);
    // SAFETY: *announced*: it is in a module that was loaded just now, the program or a library
    // that was loaded before this one's. Who unloads it meanwhile unloads a library in use.
    unsafe { &*interface }.is_own()
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
