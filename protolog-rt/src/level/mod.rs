//! Enabled levels of groups: their switches, and the registry that sets them.
//!
//! Each group enum has a [`SwitchPage`]. An enum registers with the first call of any of its
//! groups, in the program or in a library that is loaded later: its words start out as enabled and
//! marked as unregistered. From then on the registry sets its words whenever a session starts or
//! stops. In a program that listens to operators ([`share`]) the page is shared with them, and an
//! operator switches a group without running any code here.
//!
//! Invariants: a call takes the registry's lock at most once per enum; a signal handler that
//! interrupts the lock's holder does not wait for it (it finds the enum unregistered, and all
//! levels off for sessions).

mod at_host;
mod clash;
mod group;
mod joined;
mod page;
mod pattern;
pub(crate) mod rules;
mod settings;
mod shared;
mod source;

pub(crate) use at_host::AtHost;
pub(crate) use group::create_group;
pub(crate) use group::is_switch_on;
pub use group::{GroupInfo, GroupSet, ProtoLogGroup, declare};
pub(crate) use joined::{look as look_for_host, look_for_session};
pub use page::SwitchPage;
pub(crate) use pattern::GroupPattern;
pub(crate) use settings::PatternSetting;
pub(crate) use source::SettingSource;

use crate::sync::{AtomicBool, Ordering};
use crate::sys::fork::{Actions, ForkLock, Order, is_incomplete};
use crate::sys::pin;
use protolog_core::control::site_rule::SiteSetting;
use shared::SharedPages;
use std::cell::Cell;
use std::fs::File;
use std::io;
use std::sync::RwLockWriteGuard;

/// Functions to call when the enabled levels may have changed.
#[cfg(any(feature = "log", feature = "tracing"))]
static OBSERVERS: ForkLock<Observers> = ForkLock::new(Order::Followers, Vec::new());

#[cfg(any(feature = "log", feature = "tracing"))]
type Observers = Vec<fn()>;

/// Functions of other copies of this runtime to call then, whose groups are registered here.
static GUESTS: ForkLock<Vec<extern "C" fn()>> = ForkLock::new(Order::Guests, Vec::new());

/// The use that sessions make of a group.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SessionUse {
    /// The levels (bit = [`severity`](protolog_core::Level::severity)) that they record.
    pub(crate) recorded: u8,
    /// Those of them at which their triggers may fire, or that they pin.
    pub(crate) watched: u8,
    /// Those of them that they pin.
    pub(crate) pinned: u8,
}

/// True while any session runs, whatever it records.
static IS_RECORDING: AtomicBool = AtomicBool::new(false);

type SessionLevels = Box<dyn Fn(&'static GroupInfo) -> SessionUse + Send + Sync>;

struct Registry {
    newest: Option<&'static GroupSet>,
    levels: Option<SessionLevels>,
    shared: Option<SharedPages>,
    /// Oldest first; later ones win.
    settings: Vec<PatternSetting>,
}

static REGISTRY: ForkLock<Registry> = ForkLock::with_actions(
    Order::Levels,
    Registry { newest: None, levels: None, shared: None, settings: Vec::new() },
    // While its thread forks, a signal handler does not wait for the lock either.
    Actions {
        before: || !HOLDS_REGISTRY.replace(true),
        in_child: unshare,
        after: || HOLDS_REGISTRY.set(false),
    },
);

thread_local! {
    /// True while this thread holds the registry's lock or is about to take it.
    static HOLDS_REGISTRY: Cell<bool> = const { Cell::new(false) };
}

/// Sets the function that returns the levels of a group that sessions record, and applies it to all
/// groups that are registered now or later. It is called with the registry locked: it must not log,
/// or take a lock that is held around this call.
pub(crate) fn set_session_levels(
    levels: impl Fn(&'static GroupInfo) -> SessionUse + Send + Sync + 'static,
) {
    let Some(mut registry) = RegistryGuard::lock() else { return };
    registry.guard.levels = Some(Box::new(levels));
    for set in sets(registry.guard.newest) {
        apply_session_levels(set, registry.guard.levels.as_ref());
    }
}

/// Says whether any session runs.
pub(crate) fn set_recording(is_recording: bool) {
    IS_RECORDING.store(is_recording, Ordering::Release);
}

/// Returns whether any session runs; also while there is a host, whose sessions nobody tells.
pub(crate) fn is_recording() -> bool {
    IS_RECORDING.load(Ordering::Acquire) || crate::sys::copies::host().is_some()
}

/// Marks the groups of which single calls have rules: those for which `ruled` returns the levels
/// (bit = severity) that rules switch on, and whether calls are sampled; and no others.
fn mark_groups(ruled: &dyn Fn(&str) -> Option<(u8, bool)>) {
    let Some(registry) = RegistryGuard::lock() else { return };
    for group in sets(registry.guard.newest).flat_map(GroupSet::groups) {
        let ruled = ruled(group.name);
        group.set_rules(ruled.map(|(levels, _)| levels), ruled.is_some_and(|(_, sampled)| sampled));
    }
}

/// Calls `observer` whenever the enabled levels may have changed, with no lock held.
#[cfg(any(feature = "log", feature = "tracing"))]
pub(crate) fn on_change(observer: fn()) {
    if is_incomplete() {
        return;
    }
    OBSERVERS.lock().push(observer);
}

/// Returns true if somebody follows changes of levels: a bridge, whose groups come with their first
/// message.
pub(crate) fn has_observers() -> bool {
    #[cfg(any(feature = "log", feature = "tracing"))]
    return is_incomplete() || !OBSERVERS.lock().is_empty();
    #[cfg(not(any(feature = "log", feature = "tracing")))]
    false
}

/// Registers a group of another copy of this runtime, which is told by `changed` that a word may
/// have changed.
pub(crate) fn register_guest(
    (name, tag): (&str, &str),
    (compiled, log_to_text): (bool, bool),
    changed: extern "C" fn(),
) -> &'static GroupInfo {
    let group = group::create(name, tag, compiled, log_to_text);
    if is_incomplete() {
        // The group is the guest's own; nobody records or switches it here.
        return group;
    }
    let mut guests = GUESTS.lock();
    if !guests.iter().any(|known| std::ptr::fn_addr_eq(*known, changed)) {
        guests.push(changed);
    }
    drop(guests);
    group.register();
    group
}

/// Sets what sessions may record of a group of another copy of this runtime, and what is printed.
/// Nobody is told: that copy knows it, and may have more groups to switch, or be within a lock of
/// its `tracing`; and no other one has the group.
pub(crate) fn switch_guest(group: &'static GroupInfo, allowed: u8, text: u8) {
    let _registry = RegistryGuard::lock();
    group.set_allowed(allowed);
    group.set_text(text);
}

/// Takes over the settings of the host.
fn follow_host() {
    let Some(registry) = RegistryGuard::lock() else { return };
    for set in sets(registry.guard.newest) {
        apply_session_levels(set, registry.guard.levels.as_ref());
        set.follow_host();
    }
    drop(registry);
    notify_change();
}

/// Has the host take over the settings made here.
fn lead_host() {
    let Some(newest) = RegistryGuard::lock().map(|registry| registry.guard.newest) else { return };
    sets(newest).for_each(GroupSet::lead_host);
}

/// Calls the functions of `on_change`, and those of other copies of this runtime. The caller holds
/// no lock.
pub(crate) fn notify_change() {
    if is_incomplete() {
        return;
    }
    let guests = GUESTS.lock().clone();
    for changed in guests {
        changed();
    }
    #[cfg(any(feature = "log", feature = "tracing"))]
    {
        let observers = OBSERVERS.lock().clone();
        for observer in observers {
            observer();
        }
    }
}

/// Sets the levels of a group that are enabled for the text output.
pub(crate) fn set_text(group: &'static GroupInfo, levels: u8) {
    // If it is this thread that holds the lock, it does not share a page just now: that blocks
    // signals.
    let registry = RegistryGuard::lock();
    group.set_text(levels);
    drop(registry);
    group.lead_host();
}

/// Registers the enum of these groups, as its first call would.
pub fn register_groups(groups: &'static [GroupInfo]) {
    if let Some(group) = groups.first() {
        group.register();
    }
}

/// Shares the pages of all enums, registered now or later, with every process that gets the file.
/// Does nothing the second time.
pub(crate) fn share() -> io::Result<()> {
    let Some(mut registry) = RegistryGuard::lock() else { return Ok(()) };
    if registry.guard.shared.is_none() {
        registry.guard.shared = Some(SharedPages::new()?);
        let newest = registry.guard.newest;
        let mut all: Vec<_> = sets(newest).collect();
        all.reverse();
        for set in all {
            registry.guard.share(set);
        }
        drop(registry);
        notify_change();
    }
    Ok(())
}

/// Returns true if operators may switch groups without running any code here.
#[cfg(any(feature = "log", feature = "tracing"))]
pub(crate) fn is_shared() -> bool {
    // A signal handler that interrupted the lock's holder gets no answer.
    RegistryGuard::lock().is_some_and(|registry| registry.guard.shared.is_some())
}

/// Returns the file of shared pages, their number and their size.
pub(crate) fn shared_file() -> Option<io::Result<(File, u32, u32)>> {
    let registry = RegistryGuard::lock()?;
    let shared = registry.guard.shared.as_ref()?;
    Some(shared.file().map(|file| (file, shared::PAGES, page::PAGE_SIZE as u32)))
}

/// Returns the number of the descriptor of the file of shared pages, their number and their size.
#[cfg(unix)]
pub(crate) fn shared_descriptor() -> Option<(i32, u32, u32)> {
    let registry = RegistryGuard::lock()?;
    let shared = registry.guard.shared.as_ref()?;
    Some((shared.descriptor()?, shared::PAGES, page::PAGE_SIZE as u32))
}

/// Applies settings to all groups that are registered now or later; they win over earlier ones.
pub(crate) fn apply_settings(settings: Vec<PatternSetting>) {
    let Some(mut registry) = RegistryGuard::lock() else { return };
    for set in sets(registry.guard.newest) {
        settings::apply_all(set, &settings);
    }
    registry.guard.merge(settings);
    drop(registry);
    lead_host();
    notify_change();
}

/// Replaces the settings of `RUST_LOG`, and applies them as [`apply_settings`] does.
pub(crate) fn apply_rust_log(settings: Vec<PatternSetting>) {
    if let Some(mut registry) = RegistryGuard::lock() {
        settings::forget_rust_log(&mut registry.guard.settings);
    }
    apply_settings(settings);
}

/// Replaces the settings of the configuration file, and applies the new ones as the latest. A group
/// that only the old ones named goes back to the settings of other sources, or else to its
/// defaults.
pub(crate) fn replace_config_file_settings(settings: Vec<PatternSetting>) {
    let Some(mut registry) = RegistryGuard::lock() else { return };
    let all = std::mem::take(&mut registry.guard.settings);
    let (old, others) = all.into_iter().partition(|it| it.source == SettingSource::ConfigFile);
    registry.guard.settings = others;
    registry.guard.merge(settings);
    for set in sets(registry.guard.newest) {
        settings::reapply(set, &old, &registry.guard.settings);
    }
    drop(registry);
    lead_host();
    notify_change();
}

/// Returns the word that the settings give a group which has not registered yet, with its mark as
/// unregistered.
pub(crate) fn word_before_registration(name: &str) -> u32 {
    let Some(registry) = RegistryGuard::lock() else { return 0 };
    settings::word_before_registration(name, &registry.guard.settings)
}

/// Calls `f` with each registered group, oldest first: the number of its page if that is shared,
/// the group, and its word.
pub(crate) fn for_each_group(mut f: impl FnMut(Option<u32>, &'static GroupInfo, u32)) {
    let Some(registry) = RegistryGuard::lock() else { return };
    let mut all: Vec<_> = sets(registry.guard.newest).collect();
    drop(registry);
    all.reverse();
    for set in all {
        for group in set.groups() {
            f(set.page_number(), group, group.word());
        }
    }
}

/// Returns the levels (bit = [`severity`](protolog_core::Level::severity)) that are enabled for the
/// text output in any group, or will be in one that registers later.
#[cfg(feature = "log")]
pub(crate) fn text_levels() -> u8 {
    let Some(registry) = RegistryGuard::lock() else { return 0 };
    let later = registry.guard.settings.iter().filter_map(PatternSetting::text_of_any);
    sets(registry.guard.newest)
        .flat_map(GroupSet::groups)
        .map(GroupInfo::text_levels)
        .chain(later)
        .fold(0, |all, levels| all | levels)
}

/// Gives a forked child private pages. Its first message that the parent's sessions would record
/// finds out that they are not the child's (`writer/running.rs`), and has all levels switched off
/// for them. Until then a group that registers has the levels that the parent's sessions record,
/// since its message may be the first.
fn unshare(registry: &mut Registry) {
    for set in sets(registry.newest) {
        set.unshare();
    }
    // Closes the child's copy of the descriptor; the file stays the parent's.
    registry.shared = None;
}

/// Registers `set` and sets its words. If it is registered already, an operator has marked its
/// words as unregistered, and only they are set again. Does nothing in a signal handler that
/// interrupted the lock's holder.
fn register(set: &'static GroupSet) {
    if set.next.get().is_none() && !HOLDS_REGISTRY.get() {
        // The registry refers to it from now on.
        pin::keep_loaded(set.page_address());
        // First, so that no message finds out before that its level is off.
        joined::register(set);
    }
    let Some(mut registry) = RegistryGuard::lock() else { return };
    let is_new = set.next.set(registry.guard.newest).is_ok();
    apply_session_levels(set, registry.guard.levels.as_ref());
    if is_new {
        registry.guard.newest = Some(set);
        set.follow_host();
        settings::apply_all(set, &registry.guard.settings);
        registry.guard.share(set);
        let others = sets(registry.guard.newest).skip(1);
        drop(registry);
        set.lead_host();
        let declared = set.groups().iter().filter(|group| group.declared != SiteSetting::NONE);
        rules::on_register(declared.map(|group| (group.name, group.declared)).collect());
        clash::report(set, others);
    }
}

fn apply_session_levels(set: &GroupSet, levels: Option<&SessionLevels>) {
    for group in set.groups() {
        let SessionUse { recorded, watched, pinned } =
            levels.map(|levels| levels(group)).unwrap_or_default();
        group.set_pinned(pinned);
        group.set_watched(watched);
        group.set_trace(recorded | group.host_levels());
    }
}

/// Iterates over the enums from `newest` back to the first.
fn sets(newest: Option<&'static GroupSet>) -> impl Iterator<Item = &'static GroupSet> {
    std::iter::successors(newest, |set| set.next.get().copied().flatten())
}

impl Registry {
    /// Shares the page of `set`, if pages are shared and one is left. Groups of other pages are
    /// switched by request.
    fn share(&mut self, set: &'static GroupSet) {
        if let Some(shared) = &mut self.shared {
            shared.add(set);
        }
    }

    /// Keeps settings for enums that register later.
    fn merge(&mut self, settings: Vec<PatternSetting>) {
        for setting in settings {
            PatternSetting::merge(&mut self.settings, setting);
        }
    }
}

/// The locked registry, and the mark that this thread has locked it.
struct RegistryGuard {
    guard: RwLockWriteGuard<'static, Registry>,
    _mark: HoldMark,
}

impl RegistryGuard {
    /// Locks the registry. None if this thread has the lock already: in a signal handler that
    /// interrupted its holder; and in the child of an incomplete fork, where a thread that is not
    /// there may have it.
    fn lock() -> Option<Self> {
        if is_incomplete() {
            return None;
        }
        let mark = HoldMark::set()?;
        Some(Self { guard: REGISTRY.lock(), _mark: mark })
    }
}

/// Registers the registry's lock; before a lock is taken that is held while levels are set.
pub(crate) fn register_lock() {
    REGISTRY.register();
}

/// The mark in [`HOLDS_REGISTRY`]; dropping it clears it.
struct HoldMark;

impl HoldMark {
    fn set() -> Option<Self> {
        let is_free = !HOLDS_REGISTRY.replace(true);
        // `then_some(Self)` would create a mark even if not free, and dropping that would clear the
        // holder's.
        if is_free { Some(Self) } else { None }
    }
}

impl Drop for HoldMark {
    fn drop(&mut self) {
        HOLDS_REGISTRY.set(false);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::fork::testing::check_child;
    use std::sync::mpsc;
    use std::thread;
    use std::time::Duration;

    #[test]
    fn a_handler_does_not_wait_for_its_own_thread() {
        let held = RegistryGuard::lock().expect("the lock");
        assert!(RegistryGuard::lock().is_none());
        assert!(RegistryGuard::lock().is_none(), "nor the second time");
        drop(held);
        assert!(RegistryGuard::lock().is_some());
    }

    #[test]
    fn a_fork_waits_for_a_registration() {
        let hold = || {
            let (send, locked) = mpsc::channel();
            let holder = thread::spawn(move || {
                let _held = RegistryGuard::lock().expect("the lock");
                send.send(()).expect("somebody waits");
                thread::sleep(Duration::from_millis(100));
            });
            locked.recv().expect("the lock is held");
            Box::new(move || holder.join().expect("it ends")) as Box<dyn FnOnce()>
        };
        let name = "level::tests::a_fork_waits_for_a_registration";
        check_child(name, hold, || RegistryGuard::lock().is_some());
    }
}
