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

#[cfg(not(any(target_os = "linux", target_os = "android")))]
mod alone;
#[cfg(any(target_os = "linux", target_os = "android"))]
mod announced;
mod interface;
mod service_state;

#[cfg(not(any(target_os = "linux", target_os = "android")))]
use alone::{First, first_copy};
#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub(crate) use alone::{for_each_reached_note_segment, modules_apart};
#[cfg(any(target_os = "linux", target_os = "android"))]
use announced::{First, first_copy};
#[cfg(any(target_os = "linux", target_os = "android"))]
pub(crate) use announced::{for_each_reached_note_segment, modules_apart};

pub(crate) use interface::{Handle, Host, Interface, NewGroup, NewTemplate, VERSION, interface};
pub(crate) use service_state::ServiceState;

use super::{modules, pin};
use crate::sync::{AtomicPtr, AtomicU8, Ordering};

/// The type of the note.
#[cfg(any(target_os = "linux", target_os = "android"))]
pub(crate) const TYPE: u32 = 1;

/// The host, if this copy has joined it.
static HOST: AtomicPtr<Interface> = AtomicPtr::new(std::ptr::null_mut());
static STANDING: AtomicU8 = AtomicU8::new(UNKNOWN);
const UNKNOWN: u8 = 0;
const HOST_ITSELF: u8 = 1;
const JOINED: u8 = 2;
const APART: u8 = 3;

/// On systems where no other copy finds this one.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
macro_rules! announce {
    ($interface:ident) => {
        const _: &$crate::sys::copies::Interface = &$interface;
    };
}

/// The directive for a word with the address of the interface. Conditions within `asm!` are younger
/// than the oldest compiler.
#[cfg(all(target_pointer_width = "64", any(target_os = "linux", target_os = "android")))]
macro_rules! word_of_interface {
    () => {
        ".quad {interface}"
    };
}
#[cfg(all(not(target_pointer_width = "64"), any(target_os = "linux", target_os = "android")))]
macro_rules! word_of_interface {
    () => {
        ".long {interface}"
    };
}
#[cfg(any(target_os = "linux", target_os = "android"))]
pub(crate) use word_of_interface;

/// Announces the static `$interface` of this copy by a note. There is none on systems
/// and processors whose assembler is not known here, where copies stay apart without knowing it.
#[cfg(any(target_os = "linux", target_os = "android"))]
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

/// Returns whether the interface at this address, which is of this version, is that of this copy.
fn is_own(address: usize) -> bool {
    let interface = std::ptr::with_exposed_provenance::<Interface>(address);
    // SAFETY: *announced*: it is in a module that was loaded just now, the program or a library
    // that was loaded before this one's. Who unloads it meanwhile unloads a library in use.
    unsafe { &*interface }.is_own()
}
