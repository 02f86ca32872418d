//! Who wants which levels of which groups.
//!
//! Each group enum owns a [`Page`] of switches. An enum makes itself known on the first call of any of its groups (its
//! words start out as wanted and marked new), wherever it was loaded from and whenever; from then on the registry sets
//! its words at each start and stop of a session. Where the program listens to operators ([`share`]), the page is shared
//! with them, and an operator's switch needs nobody here.
//!
//! Invariants: a call takes the registry's lock at most once per enum; a signal handler that interrupts the lock's holder
//! does not wait for it (it finds the enum new, and that no session wants it yet).

mod group;
mod page;
mod shared;

pub(crate) use group::make;
pub use group::{GroupInfo, GroupSet, ProtoLogGroup};
pub(crate) use group::{first_call, test};
pub use page::Page;
pub(crate) use page::call_bits;
pub(crate) use shared::{Shared, Source, Wish};

use crate::sys::fork::{Actions, ForkLock, Order};
use std::cell::Cell;
use std::fs::File;
use std::io;
use std::sync::RwLockWriteGuard;

/// Who is told when sessions or the text side may want something else.
#[cfg(any(feature = "log", feature = "tracing"))]
static FOLLOWERS: ForkLock<Followers> = ForkLock::new(Order::Followers, Vec::new());

#[cfg(any(feature = "log", feature = "tracing"))]
type Followers = Vec<fn()>;

type Levels = Box<dyn Fn(&'static GroupInfo) -> u8 + Send + Sync>;

struct Registry {
    newest: Option<&'static GroupSet>,
    levels: Option<Levels>,
    shared: Option<Shared>,
    /// In the order in which they came; later ones win.
    wishes: Vec<Wish>,
}

static REGISTRY: ForkLock<Registry> = ForkLock::with_actions(
    Order::Levels,
    Registry { newest: None, levels: None, shared: None, wishes: Vec::new() },
    // A signal handler does not wait for the lock while its thread forks, either.
    Actions { before: || !HOLDS.replace(true), in_child: unshare, after: || HOLDS.set(false) },
);

thread_local! {
    /// Whether this thread holds the registry's lock or is about to take it.
    static HOLDS: Cell<bool> = const { Cell::new(false) };
}

/// Makes `levels` the answer to which levels (bit = [`severity`](protolog_core::Level::severity)) sessions want of a group, for
/// the groups known now and those that come. It is called with the registry locked: it must not log or take a lock that is
/// held around this call.
pub(crate) fn set_session_levels(
    levels: impl Fn(&'static GroupInfo) -> u8 + Send + Sync + 'static,
) {
    let Some(mut registry) = Locked::take() else { return };
    for set in sets(registry.guard.newest) {
        apply(set, &levels);
    }
    registry.guard.levels = Some(Box::new(levels));
}

/// Calls `follow` whenever sessions or the text side may want something else, with no lock held.
#[cfg(any(feature = "log", feature = "tracing"))]
pub(crate) fn on_change(follow: fn()) {
    FOLLOWERS.lock().push(follow);
}

/// Tells who follows. No lock may be held.
pub(crate) fn changed() {
    #[cfg(any(feature = "log", feature = "tracing"))]
    {
        let followers = FOLLOWERS.lock().clone();
        for follow in followers {
            follow();
        }
    }
}

/// Makes `levels` what the text side wants of a group.
pub(crate) fn set_text(group: &'static GroupInfo, levels: u8) {
    // Without the lock it is this thread that holds it, outside of what sharing a page may not see.
    let _registry = Locked::take();
    group.set_text(levels);
}

/// Makes the enum of these groups known, as the first call of one would.
pub(crate) fn register_groups(groups: &'static [GroupInfo]) {
    if let Some(group) = groups.first() {
        group.register();
    }
}

/// Shares the pages of all enums, known and to come, with whoever gets the file. Again is the same file.
pub(crate) fn share() -> io::Result<()> {
    let Some(mut registry) = Locked::take() else { return Ok(()) };
    if registry.guard.shared.is_none() {
        registry.guard.shared = Some(Shared::new()?);
        let newest = registry.guard.newest;
        let mut all: Vec<_> = sets(newest).collect();
        all.reverse();
        for set in all {
            registry.guard.share(set);
        }
        drop(registry);
        changed();
    }
    Ok(())
}

/// Whether operators may switch groups without telling anybody here.
#[cfg(any(feature = "log", feature = "tracing"))]
pub(crate) fn is_shared() -> bool {
    // A signal handler that interrupted the lock's holder does not look.
    Locked::take().is_some_and(|registry| registry.guard.shared.is_some())
}

/// The shared pages: the file, how many pages it has, and bytes of a page.
pub(crate) fn shared_file() -> Option<io::Result<(File, u32, u32)>> {
    let registry = Locked::take()?;
    let shared = registry.guard.shared.as_ref()?;
    Some(shared.file().map(|file| (file, shared::PAGES, page::PAGE_SIZE as u32)))
}

/// Adds wishes, for the groups known now and those that come; later ones win over earlier ones.
pub(crate) fn wish(wishes: Vec<Wish>) {
    let Some(mut registry) = Locked::take() else { return };
    for set in sets(registry.guard.newest) {
        shared::fulfil(set, &wishes);
    }
    registry.guard.remember(wishes);
    drop(registry);
    changed();
}

/// Puts the wishes of the configuration file in the place of those that it had before: they are the latest now, and what it wishes
/// no more goes back to what others wish, or else to what the group itself says.
pub(crate) fn wish_of_file(wishes: Vec<Wish>) {
    let Some(mut registry) = Locked::take() else { return };
    let all = std::mem::take(&mut registry.guard.wishes);
    let (old, others) = all.into_iter().partition(|wish| wish.source == Source::File);
    registry.guard.wishes = others;
    registry.guard.remember(wishes);
    for set in sets(registry.guard.newest) {
        shared::replace(set, &old, &registry.guard.wishes);
    }
    drop(registry);
    changed();
}

/// The word that a group will have which has not come up, as far as it is wished; marked new.
pub(crate) fn word_to_be(name: &str) -> u32 {
    let Some(registry) = Locked::take() else { return 0 };
    shared::word_to_be(name, &registry.guard.wishes)
}

/// Calls `f` with each group of each enum that is known, oldest first, its page where it is shared, and its word.
pub(crate) fn for_each_group(mut f: impl FnMut(Option<u32>, &'static GroupInfo, u32)) {
    let Some(registry) = Locked::take() else { return };
    let mut all: Vec<_> = sets(registry.guard.newest).collect();
    drop(registry);
    all.reverse();
    for set in all {
        for group in set.groups() {
            f(set.page_number(), group, group.word());
        }
    }
}

/// The levels (bit = [`severity`](protolog_core::Level::severity)) that the text side wants of any known group.
#[cfg(feature = "log")]
pub(crate) fn text_levels() -> u8 {
    let Some(registry) = Locked::take() else { return 0 };
    sets(registry.guard.newest)
        .flat_map(GroupSet::groups)
        .fold(0, |levels, group| levels | group.text_levels())
}

/// Gives a forked child pages of its own, in which no session wants anything.
fn unshare(registry: &mut Registry) {
    for set in sets(registry.newest) {
        set.unshare();
        apply(set, |_| 0);
    }
    // It speaks of the parent's sessions; forgotten, since dropping it might wait for somebody.
    std::mem::forget(registry.levels.take());
    // The file is the parent's: the child's copy of the descriptor is closed, and that is all.
    registry.shared = None;
}

/// Makes `set` known and sets its words. Where it is known already, somebody else wrote that it is new: no more than to set
/// its words again. Does nothing when this thread was interrupted while it held the lock.
fn register(set: &'static GroupSet) {
    let Some(mut registry) = Locked::take() else { return };
    let is_new = set.next.set(registry.guard.newest).is_ok();
    match &registry.guard.levels {
        Some(levels) => apply(set, levels),
        None => apply(set, |_| 0),
    }
    if is_new {
        registry.guard.newest = Some(set);
        shared::fulfil(set, &registry.guard.wishes);
        registry.guard.share(set);
    }
}

fn apply(set: &GroupSet, levels: impl Fn(&'static GroupInfo) -> u8) {
    for group in set.groups() {
        group.set_trace(levels(group));
    }
}

/// The enums from `newest` on, each of which knows the one before it.
fn sets(newest: Option<&'static GroupSet>) -> impl Iterator<Item = &'static GroupSet> {
    std::iter::successors(newest, |set| set.next.get().copied().flatten())
}

impl Registry {
    /// Shares the page of `set`, where pages are shared and there is one left. What can't be shared is switched by request.
    fn share(&mut self, set: &'static GroupSet) {
        if let Some(shared) = &mut self.shared {
            shared.add(set);
        }
    }

    /// Keeps wishes for enums to come, one for each pattern.
    fn remember(&mut self, wishes: Vec<Wish>) {
        for wish in wishes {
            Wish::merge(&mut self.wishes, wish);
        }
    }
}

/// The registry, locked, and the mark that this thread has it.
struct Locked {
    guard: RwLockWriteGuard<'static, Registry>,
    _mark: Mark,
}

impl Locked {
    /// None where this thread has the lock already: in a signal handler that interrupted it.
    fn take() -> Option<Self> {
        let mark = Mark::set()?;
        Some(Self { guard: REGISTRY.lock(), _mark: mark })
    }
}

struct Mark;

impl Mark {
    fn set() -> Option<Self> {
        let free = HOLDS.with(|holds| !holds.replace(true));
        // Not made where it is not given: dropping it would clear the mark.
        if free { Some(Self) } else { None }
    }
}

impl Drop for Mark {
    fn drop(&mut self) {
        HOLDS.with(|holds| holds.set(false));
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
        let held = Locked::take().expect("the lock");
        assert!(Locked::take().is_none());
        assert!(Locked::take().is_none(), "nor the second one");
        drop(held);
        assert!(Locked::take().is_some());
    }

    #[test]
    fn a_fork_waits_for_who_makes_an_enum_known() {
        let hold = || {
            let (send, locked) = mpsc::channel();
            let holder = thread::spawn(move || {
                let _held = Locked::take().expect("the lock");
                send.send(()).expect("somebody waits");
                thread::sleep(Duration::from_millis(100));
            });
            locked.recv().expect("the lock is held");
            Box::new(move || holder.join().expect("it ends")) as Box<dyn FnOnce()>
        };
        let name = "level::tests::a_fork_waits_for_who_makes_an_enum_known";
        check_child(name, hold, || Locked::take().is_some());
    }
}
