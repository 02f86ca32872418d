//! Log groups at run time.
//!
//! A group has three forms. [`GroupDef`] is plain data, for the constants of a call. [`GroupInfo`]
//! is in a static and knows its switch word. [`GroupSet`] is a whole enum, as the registry holds
//! it.

mod pinned;

use self::pinned::PinnedLevels;
use super::at_host::AtHost;
use super::page::{
    self, PathWord, SwitchPage, UNREGISTERED, call_bits, effective, text_bit, trace_bit,
};
use super::rules::{self, RuledCall, SiteState};
use crate::compiled::is_level_compiled;
use crate::note::GroupDef;
use crate::sys::once::ForkOnce;
use protolog_core::Level;
use protolog_core::control::site_rule::SiteSetting;
use protolog_core::control::switch::{self, SITE_RULES};
use std::fs::File;
use std::io;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, Ordering, fence};

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
    note = "name a variant of an enum with `#[derive(protolog_rt::ProtoLogGroup)]`"
)]
pub trait ProtoLogGroup {
    /// Returns the enum's groups, in the order of its variants.
    fn groups() -> &'static [GroupInfo];

    /// Returns the group at run time.
    fn info(&self) -> &'static GroupInfo;

    /// Returns true if a call at `level` would log: the level is enabled for a session or the text
    /// output. For work that only a log call needs. Constantly false for a level that is not
    /// [compiled in](crate::STATIC_MAX_LEVEL).
    #[inline]
    fn is_enabled(&self, level: Level) -> bool {
        self.info().is_enabled(level)
    }

    #[doc(hidden)]
    fn page() -> &'static SwitchPage;

    #[doc(hidden)]
    fn index(&self) -> usize;

    #[doc(hidden)]
    fn is_compiled(&self) -> bool;
}

/// A log group at run time.
#[derive(Debug)]
#[repr(align(32))] // The write path gets a level in the low five bits of the address, for which a shift needs no mask.
pub struct GroupInfo {
    /// Low 32 bits of the XXH3-64 of the full name.
    pub id: u32,
    /// The full name, `crate::Enum::Variant`.
    pub name: &'static str,
    /// The tag in logcat's formats.
    pub tag: &'static str,
    /// Position in the enum, and of the group's word in the enum's page.
    pub index: u16,
    /// True if calls of the group are compiled in; false for `#[protolog(enabled = false)]`.
    pub compiled: bool,
    /// True if the group goes to the text output by default.
    pub(super) log_to_text: bool,
    page: &'static SwitchPage,
    path: PathWord,
    pinned: PinnedLevels,
    /// The levels (bit = severity) at which rules switch single calls on.
    ruled: AtomicU8,
    /// Calls of the group were sampled once, so one that is about to log may have a rate.
    was_sampled: AtomicBool,
    /// The rate and the limit that it declares.
    pub(super) declared: SiteSetting,
    set: &'static GroupSet,
}

impl GroupInfo {
    #[doc(hidden)]
    pub const fn new(def: &GroupDef, page: &'static SwitchPage, set: &'static GroupSet) -> Self {
        let GroupDef { id, name, tag, index, enabled, log_to_text, declared, .. } = *def;
        let path = PathWord::new(page.word_ref(index as usize));
        let ruled = AtomicU8::new(0);
        let compiled = enabled;
        let was_sampled = AtomicBool::new(false);
        Self {
            id,
            name,
            tag,
            index,
            compiled,
            log_to_text,
            page,
            path,
            pinned: PinnedLevels::none(),
            ruled,
            was_sampled,
            declared,
            set,
        }
    }

    /// Returns true if a call at `level` would log: the level is compiled in, and enabled for a
    /// session or the text output.
    #[inline]
    pub fn is_enabled(&self, level: Level) -> bool {
        is_level_compiled(level) && self.is_on(level)
    }

    /// Returns true if the level is enabled for a session or the text output, also for messages
    /// that are no calls of this crate, of which the features for levels say nothing.
    pub(crate) fn is_on(&self, level: Level) -> bool {
        let word = self.word();
        word & (call_bits(level) | SITE_RULES) != 0
            && (word & (UNREGISTERED | SITE_RULES) == 0 || self.ask(level))
    }

    /// Asks for a level of a group that has not registered, or has calls with rules: then one of
    /// them may be on.
    #[cold]
    fn ask(&self, level: Level) -> bool {
        let word = self.registered_word();
        let is_ruled = word & SITE_RULES != 0
            && self.ruled.load(Ordering::Relaxed) & 1 << level.severity() != 0;
        word & call_bits(level) != 0 || is_ruled
    }

    /// Asks for the call with this key ([`rules`]) and level, of a group that has not registered,
    /// or has calls with rules. Returns none if it is off.
    pub(crate) fn ask_call(&self, level: Level, key: u64) -> Option<RuledCall> {
        let word = self.registered_word();
        if word & SITE_RULES == 0 {
            return (word & call_bits(level) != 0).then(RuledCall::default);
        }
        // All that was stored before the mark is seen.
        fence(Ordering::Acquire);
        let call = rules::ruled_call_of_key(key);
        let is_traced = word & trace_bit(level) != 0 && !call.state.is_untraced();
        let is_on = is_traced
            || call.state.is_printed(word & text_bit(level) != 0)
            || call.state.is_traced() && super::is_recording();
        is_on.then_some(call)
    }

    /// Returns whether calls of the group ask the rules.
    #[inline]
    pub(crate) fn has_rules(&self) -> bool {
        self.word() & SITE_RULES != 0
    }

    /// Returns whether a message of a call with this state is recorded or printed.
    pub(crate) fn takes(&self, level: Level, state: SiteState) -> bool {
        self.is_trace_enabled(level) && !state.is_untraced()
            || state.is_printed(self.is_text_enabled(level))
            || state.is_traced() && super::is_recording()
    }

    /// Returns whether sessions record a call with this state, by the word of its group.
    pub(crate) fn is_recorded_by(word: u32, level: Level, state: SiteState) -> bool {
        let is_traced = word & trace_bit(level) != 0 && !state.is_untraced();
        word & UNREGISTERED == 0 && (is_traced || state.is_traced())
    }

    /// Returns what rules make of the call with this key.
    pub(crate) fn rule_of(&self, key: u64) -> SiteState {
        if self.word() & SITE_RULES == 0 {
            return SiteState::default();
        }
        fence(Ordering::Acquire);
        rules::ruled_call_of_key(key).state
    }

    /// Sets the levels (bit = severity) at which rules switch single calls on; none where no call
    /// has a rule. Some calls may be sampled: from then on all of the group take the slow path,
    /// which finds the rate of a message. The registry is locked.
    pub(super) fn set_rules(&self, ruled: Option<u8>, are_sampled: bool) {
        let (index, has_rules) = (usize::from(self.index), ruled.is_some());
        if !self.compiled || !has_rules && self.word() & SITE_RULES == 0 {
            return;
        }
        self.ruled.store(ruled.unwrap_or_default(), Ordering::Relaxed);
        self.was_sampled.fetch_or(are_sampled, Ordering::Relaxed);
        let is_slow = has_rules || self.was_sampled.load(Ordering::Relaxed);
        let set_path = || {
            let word = self.page.word_ref(index);
            self.path.set_slow(self.path.slow_levels(), is_slow, word);
        };
        // A call that finds the mark takes the slow path.
        if has_rules {
            set_path();
        }
        self.page.set_rules(index, has_rules);
        if !has_rules {
            set_path();
        }
    }

    /// Registers the enum if it has not, and returns the word.
    fn registered_word(&self) -> u32 {
        let word = self.word();
        if word & UNREGISTERED == 0 { word } else { self.register() }
    }

    /// Returns true if `level` is enabled for a session.
    #[inline]
    pub(crate) fn is_trace_enabled(&self, level: Level) -> bool {
        effective(self.page.word_acquire(usize::from(self.index))) & trace_bit(level) != 0
    }

    /// Returns true if the level of this severity is enabled for sessions, and neither for the text
    /// output nor watched by a trigger.
    #[inline]
    pub(crate) fn is_trace_only(&self, severity: u8) -> bool {
        page::is_trace_only(self.path.get().load(Ordering::Acquire), severity)
    }

    /// Returns true if a trigger may wait for messages of this level.
    #[inline]
    pub(crate) fn is_watched(&self, level: Level) -> bool {
        self.path.slow_levels() & 1 << level.severity() != 0
            || page::is_watched(self.word(), level.severity())
    }

    /// Sets the levels (bit = severity) at which triggers wait for messages. The registry is
    /// locked.
    pub(super) fn set_watched(&self, levels: u8) {
        if self.compiled {
            let index = usize::from(self.index);
            self.page.set_watched(index, levels);
            let slow = if levels & !page::FREE_TO_WATCH == 0 { 0 } else { levels };
            let is_slow = self.word() & SITE_RULES != 0 || self.was_sampled.load(Ordering::Relaxed);
            self.path.set_slow(slow, is_slow, self.page.word_ref(index));
        }
    }

    /// Returns true if `level` is enabled for the text output.
    #[inline]
    pub(crate) fn is_text_enabled(&self, level: Level) -> bool {
        self.word() & text_bit(level) != 0
    }

    /// Sets the levels (bit = severity) that are enabled for sessions.
    pub(super) fn set_trace(&self, levels: u8) {
        if self.compiled {
            self.page.set_trace(usize::from(self.index), levels);
        }
    }

    /// Sets the levels (bit = severity) that sessions are allowed to record.
    pub(super) fn set_allowed(&self, levels: u8) {
        if self.compiled {
            self.page.set_allowed(usize::from(self.index), levels);
        }
    }

    /// Sets the levels (bit = severity) that are enabled for the text output. The registry is
    /// locked.
    pub(super) fn set_text(&self, levels: u8) {
        if self.compiled {
            self.page.set_text(usize::from(self.index), levels);
        }
    }

    /// Returns the levels (bit = severity) that are enabled for the text output.
    #[cfg(feature = "log")]
    pub(super) fn text_levels(&self) -> u8 {
        switch::text_levels(self.word())
    }

    /// Returns the enum's description of the group, in words.
    pub(super) fn declaration(&self) -> String {
        let [off, text] = [(!self.compiled, ", compiled out"), (self.log_to_text, ", printed")]
            .map(|(is, words)| if is { words } else { "" });
        format!("with the tag `{}`{off}{text}", self.tag)
    }

    /// Returns the group at the host, if this copy of the runtime has joined one.
    #[inline]
    pub(crate) fn at_host(&self) -> Option<&'static AtHost> {
        self.set.at_host.get()?.get(usize::from(self.index))
    }

    /// Returns the levels (bit = severity) that sessions of the host record.
    pub(super) fn host_levels(&self) -> u8 {
        self.at_host().map_or(0, |at_host| switch::session_levels(at_host.word()))
    }

    /// Returns the word, for another copy of this runtime whose group it is.
    pub(crate) fn word_ref(&self) -> &'static AtomicU32 {
        self.page.word_ref(usize::from(self.index))
    }

    /// Has the host take over what is allowed and printed here. No lock is held.
    pub(super) fn lead_host(&self) {
        if let Some(at_host) = self.at_host() {
            at_host.switch(self.word());
        }
    }

    /// Registers the enum, and returns the group's word.
    pub(super) fn register(&self) -> u32 {
        super::register(self.set);
        effective(self.word())
    }

    /// Returns the group's switch word.
    #[inline]
    pub(super) fn word(&self) -> u32 {
        self.page.word(usize::from(self.index))
    }
}

/// A group enum, as the registry holds it.
#[derive(Debug)]
pub struct GroupSet {
    page: &'static SwitchPage,
    groups: Groups,
    /// The set that registered before this one; filled in under the registry's lock.
    pub(super) next: OnceLock<Option<&'static GroupSet>>,
    /// The page's number in the shared memory, from 1; 0 if it is not shared.
    page_number: AtomicU32,
    /// True from when a thread registers the groups with the host on.
    pub(super) is_joining: AtomicBool,
    /// The groups at the host that this copy of the runtime has joined.
    pub(super) at_host: ForkOnce<Box<[AtHost]>>,
}

impl GroupSet {
    #[doc(hidden)]
    pub const fn new(page: &'static SwitchPage, groups: &'static [GroupInfo]) -> Self {
        Self::of(page, Groups::Derived(groups))
    }

    const fn of(page: &'static SwitchPage, groups: Groups) -> Self {
        Self {
            page,
            groups,
            next: OnceLock::new(),
            page_number: AtomicU32::new(0),
            is_joining: AtomicBool::new(false),
            at_host: ForkOnce::new(),
        }
    }

    /// Maps page `number` of `file` over the enum's. The registry is locked.
    pub(super) fn share(&self, file: &File, number: u32) -> io::Result<()> {
        self.page.share(file, number)?;
        self.page_number.store(number + 1, Ordering::Relaxed);
        Ok(())
    }

    /// Returns the address of the page, which is in the module that has the enum.
    pub(super) fn page_address(&self) -> usize {
        std::ptr::from_ref(self.page).addr()
    }

    /// Gives the enum a private page again, in a forked child. Without memory for it, the page
    /// stays shared with the parent.
    pub(super) fn unshare(&self) {
        if self.page_number.load(Ordering::Relaxed) != 0 && self.page.unshare().is_ok() {
            self.page_number.store(0, Ordering::Relaxed);
        }
    }

    /// Returns true for an enum. Groups created at run time are switched by request, since the
    /// bridge that created them, or the library that has them, must hear of every change.
    pub(super) fn is_derived(&self) -> bool {
        matches!(self.groups, Groups::Derived(_) | Groups::Declared(_))
    }

    /// Returns whether the host has these groups, too, and must hear of every change.
    pub(super) fn has_joined(&self) -> bool {
        self.at_host.get().is_some()
    }

    /// Takes over what the host allows and prints. The registry is locked.
    pub(super) fn follow_host(&self) {
        for (group, at_host) in self.joined_groups() {
            let word = at_host.word();
            group.set_allowed(switch::allowed_levels(word));
            group.set_text(switch::text_levels(word));
        }
    }

    /// Has the host take over what is allowed and printed here. No lock is held.
    pub(super) fn lead_host(&self) {
        for (group, at_host) in self.joined_groups() {
            at_host.switch(group.word());
        }
    }

    fn joined_groups(&self) -> impl Iterator<Item = (&'static GroupInfo, &AtHost)> {
        let at_host = self.at_host.get().map_or(&[][..], |all| all);
        self.groups().iter().zip(at_host).filter(|(group, _)| group.compiled)
    }

    /// Returns the number of the enum's page in the shared memory.
    pub(super) fn page_number(&self) -> Option<u32> {
        self.page_number.load(Ordering::Relaxed).checked_sub(1)
    }

    pub(super) fn groups(&self) -> &'static [GroupInfo] {
        match &self.groups {
            Groups::Derived(groups) => groups,
            Groups::Created(groups) | Groups::Declared(groups) => {
                groups.get().copied().unwrap_or_default()
            }
        }
    }
}

#[derive(Debug)]
enum Groups {
    Derived(&'static [GroupInfo]),
    /// Filled in before the set is published: groups and their set refer to each other.
    Created(OnceLock<&'static [GroupInfo]>),
    /// As `Created`, for an enum of another language, whose calls test the page as those of Rust.
    Declared(OnceLock<&'static [GroupInfo]>),
}

/// Creates the groups of an enum that another language declares, each by its full name and its tag.
/// Calls test the words of `page`, which begin as those of [`SwitchPage::new`]. They live as long
/// as the process.
pub fn declare(page: &'static SwitchPage, groups: &[(&str, &str)]) -> &'static [GroupInfo] {
    let set = Box::leak(Box::new(GroupSet::of(page, Groups::Declared(OnceLock::new()))));
    let set: &'static GroupSet = set;
    let infos = groups.iter().zip(0..).map(|((name, tag), index)| {
        let texts = Box::leak(Box::from([*name, *tag].concat()));
        GroupInfo::new(&GroupDef::new(texts, tag.len(), index, true, false), page, set)
    });
    let infos = Box::leak(infos.collect());
    if let Groups::Declared(groups) = &set.groups {
        let _ = groups.set(infos); // The set is new, so no other thread can have set it.
    }
    infos
}

/// Creates a group that no enum declares, with a page of its own. It lives as long as the process.
pub(crate) fn create_group(name: &str, tag: &str) -> &'static GroupInfo {
    create(name, tag, true, false)
}

/// As [`create_group`], for one that an enum of another copy of this runtime declares so.
pub(super) fn create(
    name: &str,
    tag: &str,
    compiled: bool,
    log_to_text: bool,
) -> &'static GroupInfo {
    let texts = Box::leak(Box::from([name, tag].concat()));
    let def = GroupDef::new(texts, tag.len(), 0, compiled, log_to_text);
    let page = Box::leak(Box::new(SwitchPage::new(&[def])));
    let set = Box::leak(Box::new(GroupSet::of(page, Groups::Created(OnceLock::new()))));
    let group = Box::leak(Box::new([GroupInfo::new(&def, page, set)]));
    if let Groups::Created(groups) = &set.groups {
        let _ = groups.set(group); // The set is new, so no other thread can have set it.
    }
    &group[0]
}

/// The test of a log call of group `index`: one load, and one branch if the level is off; if calls
/// of the group have rules, also a test of the call's word of the filter ([`rules`]), which is off
/// as the group is for most calls without one. `ask` decides about all others of these.
#[allow(clippy::inline_always)] // A call that is off must stay one load, at every level of optimisation.
#[inline(always)]
pub(crate) fn is_switch_on(
    page: &'static SwitchPage,
    index: usize,
    (id, level): (u64, Level),
    ask: impl FnOnce() -> bool,
) -> bool {
    let word = page.word(index);
    word & (call_bits(level) | SITE_RULES) != 0
        && (word & (UNREGISTERED | SITE_RULES) == 0
            || word as u16 & rules::filter(id, level).load(Ordering::Relaxed) != 0 && ask())
}
