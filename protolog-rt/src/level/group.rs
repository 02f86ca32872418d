//! Groups: what the derive says about them, and what a program asks of them.
//!
//! A group has three faces. [`GroupDef`] is plain data, for the constants of a call. [`GroupInfo`] stands in a static and
//! knows its switches. [`GroupSet`] is a whole enum, as the registry holds it.

use super::page::{self, Page, call_bits, settled, text_bit, trace_bit};
use crate::note::GroupDef;
use protolog_core::Level;
use std::fs::File;
use std::io;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

/// An enum whose variants are log groups. Derive it:
///
/// ```
/// use protolog_rt::{Level, ProtoLogGroup};
///
/// #[derive(ProtoLogGroup)]
/// enum AppLog {
///     Net,
///     #[protolog(tag = "DISK", log_to_text = true)]
///     Disk,
/// }
///
/// assert_eq!(AppLog::Net.info().tag, "Net");
/// assert!(AppLog::Disk.is_enabled(Level::Info), "printed, though no session runs");
/// assert!(!AppLog::Net.is_enabled(Level::Wtf));
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a log group",
    label = "not a log group",
    note = "add `#[derive(protolog_rt::ProtoLogGroup)]` to the enum `{Self}`"
)]
pub trait ProtoLogGroup {
    /// The enum's groups, in the order of its variants.
    fn groups() -> &'static [GroupInfo];

    /// What is known of this group.
    fn info(&self) -> &'static GroupInfo;

    /// Whether a call at `level` would log: a session or the text side wants it. For work that only a log call needs.
    fn is_enabled(&self, level: Level) -> bool {
        self.info().is_enabled(level)
    }

    #[doc(hidden)]
    fn page() -> &'static Page;

    #[doc(hidden)]
    fn index(&self) -> usize;

    #[doc(hidden)]
    fn is_compiled(&self) -> bool;
}

/// A log group at run time.
#[derive(Debug)]
#[repr(align(32))] // The write path gets a level in the address, where a shift takes its five bits.
pub struct GroupInfo {
    /// Low 32 bits of the XXH3-64 of the full name.
    pub id: u32,
    /// The full name, `crate::Enum::Variant`.
    pub name: &'static str,
    /// What logcat's formats show.
    pub tag: &'static str,
    /// Position in the enum, and of its word in the enum's page.
    pub index: u16,
    /// Whether calls of the group are compiled in; false for `#[protolog(enabled = false)]`.
    pub compiled: bool,
    /// Whether the text side shows the group where nobody says otherwise.
    pub(super) log_to_text: bool,
    page: &'static Page,
    word: &'static AtomicU32,
    set: &'static GroupSet,
}

impl GroupInfo {
    #[doc(hidden)]
    pub const fn new(def: &GroupDef, page: &'static Page, set: &'static GroupSet) -> Self {
        let GroupDef { id, name, tag, index, enabled, log_to_text, .. } = *def;
        let word = page.place(index as usize);
        Self { id, name, tag, index, compiled: enabled, log_to_text, page, word, set }
    }

    /// Whether a call at `level` would log: a session or the text side wants it.
    pub fn is_enabled(&self, level: Level) -> bool {
        test(self.page, usize::from(self.index), call_bits(level), || self.register())
    }

    /// Whether a session wants `level` of this group.
    #[inline]
    pub(crate) fn traced(&self, level: Level) -> bool {
        settled(self.page.word_acquire(usize::from(self.index))) & trace_bit(level) != 0
    }

    /// Whether sessions want the level of this severity of this group, and the text side does not.
    #[inline]
    pub(crate) fn is_only_traced(&self, severity: u8) -> bool {
        page::only_traced(self.word.load(Ordering::Acquire), severity)
    }

    /// Whether the text side wants `level` of this group.
    #[inline]
    pub(crate) fn texted(&self, level: Level) -> bool {
        self.word() & text_bit(level) != 0
    }

    /// Makes `levels` (bit = severity) what sessions want.
    pub(super) fn set_trace(&self, levels: u8) {
        if self.compiled {
            self.page.set_trace(usize::from(self.index), levels);
        }
    }

    /// Makes `levels` (bit = severity) what sessions may have.
    pub(super) fn set_allowed(&self, levels: u8) {
        if self.compiled {
            self.page.set_allowed(usize::from(self.index), levels);
        }
    }

    /// Makes `levels` (bit = severity) what the text side wants. The registry is locked.
    pub(super) fn set_text(&self, levels: u8) {
        if self.compiled {
            self.page.set_text(usize::from(self.index), levels);
        }
    }

    /// The levels (bit = severity) that the text side wants.
    #[cfg(feature = "log")]
    pub(super) fn text_levels(&self) -> u8 {
        protolog_core::control::switch::text_levels(self.word())
    }

    /// Registers the enum, and gives the group's word as it is then.
    pub(super) fn register(&self) -> u32 {
        super::register(self.set);
        settled(self.word())
    }

    /// The group's word of switches.
    #[inline]
    pub(super) fn word(&self) -> u32 {
        self.page.word(usize::from(self.index))
    }
}

/// A group enum, as the registry holds it.
#[derive(Debug)]
pub struct GroupSet {
    page: &'static Page,
    groups: Groups,
    /// The set that registered before this one; filled in under the registry's lock.
    pub(super) next: OnceLock<Option<&'static GroupSet>>,
    /// The page's number in the shared memory, from 1; 0 where it is not shared.
    page_number: AtomicU32,
}

impl GroupSet {
    #[doc(hidden)]
    pub const fn new(page: &'static Page, groups: &'static [GroupInfo]) -> Self {
        Self {
            page,
            groups: Groups::Derived(groups),
            next: OnceLock::new(),
            page_number: AtomicU32::new(0),
        }
    }

    /// Maps page `number` of `file` over the enum's. The registry is locked.
    pub(super) fn share(&self, file: &File, number: u32) -> io::Result<()> {
        self.page.share(file, number)?;
        self.page_number.store(number + 1, Ordering::Relaxed);
        Ok(())
    }

    /// In a forked child: gives the enum a page of its own again. Where there is no memory for it, the page stays shared
    /// with the parent.
    pub(super) fn unshare(&self) {
        if self.page_number.load(Ordering::Relaxed) != 0 && self.page.unshare().is_ok() {
            self.page_number.store(0, Ordering::Relaxed);
        }
    }

    /// Whether it is an enum: groups made at run time have followers, which are to be told of every change.
    pub(super) fn is_derived(&self) -> bool {
        matches!(self.groups, Groups::Derived(_))
    }

    /// Which page of the shared memory is the enum's.
    pub(super) fn page_number(&self) -> Option<u32> {
        self.page_number.load(Ordering::Relaxed).checked_sub(1)
    }

    pub(super) fn groups(&self) -> &'static [GroupInfo] {
        match &self.groups {
            Groups::Derived(groups) => groups,
            Groups::Made(groups) => groups.get().copied().unwrap_or_default(),
        }
    }
}

#[derive(Debug)]
enum Groups {
    Derived(&'static [GroupInfo]),
    /// Filled in before anybody knows of the set: groups and their set refer to each other.
    Made(OnceLock<&'static [GroupInfo]>),
}

/// A group that no enum declares, with a page of its own. It is there for the life of the process.
pub(crate) fn make(name: &str, tag: &str) -> &'static GroupInfo {
    let texts = Box::leak(Box::from([name, tag].concat()));
    let def = GroupDef::new(texts, tag.len(), 0, true, false);
    let page = Box::leak(Box::new(Page::new(&[def])));
    let groups = Groups::Made(OnceLock::new());
    let set = Box::leak(Box::new(GroupSet {
        page,
        groups,
        next: OnceLock::new(),
        page_number: AtomicU32::new(0),
    }));
    let group = Box::leak(Box::new([GroupInfo::new(&def, page, set)]));
    if let Groups::Made(groups) = &set.groups {
        let _ = groups.set(group); // The set is new, so nobody else can have.
    }
    &group[0]
}

/// The test of a log call of group `index`: one load, one branch when nobody wants the call.
#[allow(clippy::inline_always)] // A call that is off must stay one load, at every level of optimisation.
#[inline(always)]
pub(crate) fn test(
    page: &'static Page,
    index: usize,
    bits: u32,
    first_call: impl FnOnce() -> u32,
) -> bool {
    let word = page.word(index);
    word & bits != 0 && (word & page::UNREGISTERED == 0 || first_call() & bits != 0)
}

/// Registers the enum, and gives the word of its group `index` as it is then: not new. One for each enum, so that calls need
/// not say which.
#[cold]
#[inline(never)]
pub(crate) fn first_call<G: ProtoLogGroup>(index: usize) -> u32 {
    G::groups()[index].register()
}
