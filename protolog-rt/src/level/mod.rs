//! Who wants which levels of which groups.
//!
//! Each group enum owns a [`Page`] of switches. An enum makes itself known on the first call of any of its groups (its
//! words start out as wanted and marked new), wherever it was loaded from and whenever; from then on the registry sets
//! its words at each start and stop of a session.
//!
//! Invariants: a call takes the registry's lock at most once per enum; a signal handler that interrupts the lock's holder
//! does not wait for it (it finds the enum new, and that no session wants it yet).

mod group;
mod page;

#[cfg(any(feature = "log", feature = "tracing"))]
pub(crate) use group::make;
pub use group::{GroupDef, GroupInfo, GroupSet, ProtoLogGroup};
pub use page::Page;
pub(crate) use page::call_bits;

use crate::site::Test;
use std::cell::Cell;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Who is told when sessions or the text side may want something else.
#[cfg(any(feature = "log", feature = "tracing"))]
static FOLLOWERS: Mutex<Vec<fn()>> = Mutex::new(Vec::new());

type Levels = Box<dyn Fn(&'static GroupInfo) -> u8 + Send + Sync>;

struct Registry {
    newest: Option<&'static GroupSet>,
    levels: Option<Levels>,
}

static REGISTRY: Mutex<Registry> = Mutex::new(Registry { newest: None, levels: None });

thread_local! {
    /// Whether this thread holds the registry's lock or is about to take it.
    static HOLDS: Cell<bool> = const { Cell::new(false) };
}

/// The test of a log call: the group, where a session or the text side wants the call. Inlined at every level of
/// optimisation: with its arguments known, it is one load, one test and one branch.
#[allow(clippy::inline_always)] // A call that is off must stay one load, at every level of optimisation.
#[inline(always)]
pub fn wanted<G: ProtoLogGroup>(group: &G, test: Test) -> Option<&'static GroupInfo> {
    let index = usize::from(test.group_index);
    group::test(G::page(), index, test.bits, || group.info().set()).then(|| group.info())
}

/// Makes `levels` the answer to which levels (bit = [`Level::severity`]) sessions want of a group, for the groups known
/// now and those that come. It is called with the registry locked: it must not log or take a lock that is held around
/// this call.
pub(crate) fn set_session_levels(
    levels: impl Fn(&'static GroupInfo) -> u8 + Send + Sync + 'static,
) {
    let Some(mut registry) = Locked::take() else { return };
    let mut set = registry.guard.newest;
    while let Some(known) = set {
        apply(known, &levels);
        set = known.next.get().copied().flatten();
    }
    registry.guard.levels = Some(Box::new(levels));
}

/// Calls `follow` whenever sessions or the text side may want something else, with no lock held.
#[cfg(any(feature = "log", feature = "tracing"))]
pub(crate) fn on_change(follow: fn()) {
    FOLLOWERS.lock().unwrap_or_else(PoisonError::into_inner).push(follow);
}

/// Tells who follows. No lock may be held.
pub(crate) fn changed() {
    #[cfg(any(feature = "log", feature = "tracing"))]
    {
        let followers = FOLLOWERS.lock().unwrap_or_else(PoisonError::into_inner).clone();
        for follow in followers {
            follow();
        }
    }
}

/// The levels (bit = [`Level::severity`]) that the text side wants of any known group.
#[cfg(feature = "log")]
pub(crate) fn text_levels() -> u8 {
    let Some(registry) = Locked::take() else { return 0 };
    let next = |set: &&'static GroupSet| set.next.get().copied().flatten();
    let sets = std::iter::successors(registry.guard.newest, next);
    sets.flat_map(GroupSet::groups).fold(0, |levels, group| levels | group.text_levels())
}

/// Makes `set` known and sets its words. Does nothing where it is known already, or when this thread was interrupted
/// while it held the lock.
fn register(set: &'static GroupSet) {
    let Some(mut registry) = Locked::take() else { return };
    if set.next.set(registry.guard.newest).is_ok() {
        registry.guard.newest = Some(set);
        match &registry.guard.levels {
            Some(levels) => apply(set, levels),
            None => apply(set, |_| 0),
        }
    }
}

fn apply(set: &GroupSet, levels: impl Fn(&'static GroupInfo) -> u8) {
    for group in set.groups() {
        group.set_trace(levels(group));
    }
}

/// The registry, locked, and the mark that this thread has it.
struct Locked {
    guard: MutexGuard<'static, Registry>,
    _mark: Mark,
}

impl Locked {
    /// None where this thread has the lock already: in a signal handler that interrupted it.
    fn take() -> Option<Self> {
        let mark = Mark::set()?;
        let guard = REGISTRY.lock().unwrap_or_else(PoisonError::into_inner);
        Some(Self { guard, _mark: mark })
    }
}

struct Mark;

impl Mark {
    fn set() -> Option<Self> {
        HOLDS.with(|holds| !holds.replace(true)).then_some(Self)
    }
}

impl Drop for Mark {
    fn drop(&mut self) {
        HOLDS.with(|holds| holds.set(false));
    }
}
