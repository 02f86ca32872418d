//! Calls of groups with rules that a thread has made last, so that their next messages are decided
//! without a look at the rules, and counted where they are held back.
//!
//! ```text
//! call ──> CachedCall { key, generation, word, gap or span of refusal, place } ──> counter of the writer's losses
//!              │ not that call, or not that generation or word; the gap is at its end
//!              └──> the rules (crate::log)
//! ```
//!
//! A thread's writer has the cache, so that the counter is at hand, and another session has another
//! cache. It is in use while the thread has the one writer to go to ([`super::thread_state`]).
//!
//! Invariants
//! - *current*: what stands in an entry holds as long as the rules, the running sessions (both in
//!   [`rules::generation`]) and the group's word are those that it was found with. Both numbers are
//!   read before that.
//! - *chance*: an entry's gap is drawn for the entry. It ends with a message that is kept, or is
//!   forgotten because of something that no gap has a part in.
//! - *refused*: within its span an entry's call would find no token ([`rules::Refused`]).
//! - *on*: the session records an entry's call, if rules let it pass.
//! - *busy*, of [`super`]: the cache is touched as the writer's other half is.
#![allow(unsafe_code)] // Access to what belongs to the thread.

use super::held_back::HeldBack;
use super::thread_state::{READY, ThreadState};
use super::{Head, Writer};
use crate::clock;
use crate::level::GroupInfo;
use crate::level::rules::{self, CallLimits, NotKept, Refused, RuledCall, SiteState};
use crate::loss::{Added, LossCause, Unwritten};
use crate::site::GroupLevel;
use core::sync::atomic::AtomicU32;
use core::sync::atomic::Ordering::Relaxed;
use protolog_core::control::rate::Rate;

/// The number of entries; a power of two.
const ENTRIES: usize = 16;

/// A place where no counter is.
const ELSEWHERE: u8 = u8::MAX;

/// The word of no group.
static NO_WORD: AtomicU32 = AtomicU32::new(0);

/// See the module.
#[derive(Debug)]
pub(super) struct CallCache {
    calls: [CachedCall; ENTRIES],
    /// For limits.
    clock: clock::Reader,
}

/// A call of a group with rules.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct CachedCall {
    /// 0 for none.
    key: u64,
    group_word: &'static AtomicU32,
    versions: Versions,
    /// Messages to pass over before one is kept; 0 where it is not sampled.
    gap: u64,
    /// The time in which there is no token.
    refused: Refused,
    /// Where the writer's losses count messages that are held back.
    place: u8,
    is_sampled: bool,
    state: SiteState,
    limits: CallLimits,
}

const _: () = assert!(size_of::<CachedCall>() == 64);

/// The numbers that change with all that an entry rests on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Versions {
    generation: u32,
    word: u32,
}

/// A call as the cache knows it, and the numbers that were read before its rules are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sought {
    group_level: GroupLevel,
    key: u64,
    versions: Versions,
}

/// The answer of a cache for a message.
#[derive(Debug)]
pub(crate) enum Recalled<'a> {
    /// Nothing.
    Unknown,
    /// It is passed over, and was counted.
    PassedOver,
    /// Its call is known.
    Known(RecalledCall<'a>),
}

/// A call that is known, whose thread is within a message to this writer.
#[derive(Debug)]
pub(crate) struct RecalledCall<'a> {
    writer: &'a Writer,
    key: u64,
}

/// The answer of a cache for a message whose call is known.
#[derive(Debug)]
pub(crate) enum Decision {
    /// The rules decide: it is sampled, and its gap is at its end.
    Ask,
    /// It is suppressed, and was counted.
    Suppressed,
    /// Its limits decide, if it has any; it is not sampled.
    Limits(CallLimits),
}

impl CallCache {
    /// An empty cache.
    pub(super) fn new() -> Self {
        // No constant: Rust 1.85 has none with a reference to what changes.
        let none = CachedCall {
            key: 0,
            group_word: &NO_WORD,
            versions: Versions { generation: 0, word: 0 },
            gap: 0,
            refused: Refused::NEVER,
            place: ELSEWHERE,
            is_sampled: false,
            state: SiteState::NONE,
            limits: CallLimits::NONE,
        };
        Self { calls: [none; ENTRIES], clock: clock::Reader::NONE }
    }

    /// Returns the entry that a call may have.
    #[inline(always)]
    #[allow(clippy::inline_always)] // It is a part of every call that is passed over.
    fn entry(&mut self, key: u64) -> &mut CachedCall {
        // Addresses of notes are multiples of four.
        let index = key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (u64::BITS - ENTRIES.ilog2());
        &mut self.calls[index as usize % ENTRIES]
    }
}

impl CachedCall {
    /// Returns whether it is that of a call, and as current as what is known of it.
    fn is(&self, sought: Sought) -> bool {
        (self.key, self.versions) == (sought.key, sought.versions)
    }

    /// Returns whether it is that of the call with this key, and holds now.
    #[inline(always)]
    #[allow(clippy::inline_always)] // As `entry`.
    fn is_current(&self, key: u64) -> bool {
        self.key == key
            && self.versions.generation == rules::generation()
            && self.versions.word == self.group_word.load(Relaxed)
    }
}

impl Sought {
    /// A call by what stands for it in the cache: the address of its note, or its id.
    pub(crate) fn new(group_level: GroupLevel, key: u64) -> Self {
        // First, as *current* says.
        let generation = rules::generation_before();
        let word = group_level.parts().0.word_ref().load(Relaxed);
        Self { group_level, key, versions: Versions { generation, word } }
    }

    /// Calls `f` with the writer of the thread and its cache, if there is the one, and its session
    /// records the call if rules let it pass.
    fn with<R>(
        self,
        call: RuledCall,
        f: impl FnOnce(&Writer, &mut CallCache) -> Option<R>,
    ) -> Option<R> {
        let (_, level) = self.group_level.parts();
        if !GroupInfo::is_recorded_by(self.versions.word, level, call.state) {
            return None;
        }
        ThreadState::with(|thread| {
            if thread.phase() != READY {
                return None;
            }
            thread.begin();
            let result = thread.writer().and_then(|writer| {
                writer.gate.enter();
                // SAFETY: *busy*: this is the writer's thread, and what interrupts it sees the
                // phase.
                let cache = unsafe { &mut *writer.calls.get() };
                // The generation was read before this.
                let result = if writer.is_stale() { None } else { f(writer, cache) };
                writer.gate.exit();
                result
            });
            thread.end();
            result
        })
    }

    /// Decides about a message of a call that is sampled, and notes the gap for the next ones. None
    /// where the thread has no cache in use.
    ///
    /// # Errors
    /// It is passed over. The caller counts it.
    pub(crate) fn sample(self, call: RuledCall) -> Option<Result<Option<Rate>, NotKept>> {
        let (group, level) = self.group_level.parts();
        self.with(call, |writer, cache| {
            let is_current = cache.entry(self.key).is(self) && cache.entry(self.key).is_sampled;
            let mut gap = is_current.then_some(cache.entry(self.key).gap);
            let result = call.sample_by(&mut gap);
            let place = place(writer, group.id, Unwritten::PassedOver(Some(level)));
            if let Some(gap) = gap {
                *cache.entry(self.key) = CachedCall { gap, place, ..self.entry(call) };
            }
            Some(result)
        })
    }

    /// Returns the generation of the rules that the call is decided by, or an older one.
    pub(crate) fn generation(self) -> u32 {
        self.versions.generation
    }

    /// Remembers a call that is not sampled by chance, and that finds no token for a while.
    pub(crate) fn remember(self, call: RuledCall, refused: Refused) {
        if call.is_by_chance() {
            return;
        }
        let (group, _) = self.group_level.parts();
        self.with(call, |writer, cache| {
            let place = match refused {
                Refused::NEVER => ELSEWHERE,
                _ => place(writer, group.id, LossCause::Limited.into()),
            };
            *cache.entry(self.key) = CachedCall { refused, place, ..self.entry(call) };
            Some(())
        });
    }

    /// Returns the entry of a call of which nothing was held back.
    fn entry(self, call: RuledCall) -> CachedCall {
        CachedCall {
            key: self.key,
            group_word: self.group_level.parts().0.word_ref(),
            versions: self.versions,
            gap: 0,
            refused: Refused::NEVER,
            place: ELSEWHERE,
            is_sampled: call.is_by_chance(),
            state: call.state,
            limits: call.limits(),
        }
    }
}

/// Returns where a writer's losses count messages of this group and reason.
fn place(writer: &Writer, group: u32, reason: Unwritten) -> u8 {
    writer.losses.place(group, reason).map_or(ELSEWHERE, |place| place as u8)
}

/// Says whether a message of the call with this key is passed over, if that is known here; then it
/// is counted.
#[inline(always)]
#[allow(clippy::inline_always)] // The exits are to be jumps out of the call's own function.
pub(crate) fn recall<'a>(group_level: GroupLevel, key: u64) -> Recalled<'a> {
    // SAFETY: the state is used on this thread only, and the message that it is used for ends
    // before its caller returns.
    let thread: &'a ThreadState = unsafe { ThreadState::current() };
    if thread.phase() != READY {
        return Recalled::Unknown;
    }
    thread.begin();
    let Some(writer) = thread.writer() else {
        thread.end();
        return Recalled::Unknown;
    };
    writer.gate.enter();
    // SAFETY: *busy*: this is the writer's thread, and what interrupts it sees the phase.
    let entry = unsafe { &mut *writer.calls.get() }.entry(key);
    if !entry.is_current(key) {
        writer.gate.exit();
        thread.end();
        return Recalled::Unknown;
    }
    if entry.gap == 0 {
        return Recalled::Known(RecalledCall { writer, key });
    }
    entry.gap -= 1;
    let added = writer.losses.add_at(entry.place.into(), None);
    if added != Added::Again {
        finish(writer, group_level, added);
        return Recalled::PassedOver;
    }
    writer.gate.exit();
    thread.end();
    Recalled::PassedOver
}

/// The rest for a message that is passed over, and that was not counted with others. The thread is
/// within a message to `writer`.
#[cold]
#[inline(never)]
fn finish(writer: &Writer, group_level: GroupLevel, added: Added) {
    writer.finish_count(Head { id: 0, group_level }, added, HeldBack::PassedOver);
    writer.gate.exit();
    ThreadState::with(ThreadState::end);
}

impl RecalledCall<'_> {
    /// Decides about the message, and ends it.
    #[inline]
    pub(crate) fn decide(self, group_level: GroupLevel) -> Decision {
        let Self { writer, key } = self;
        // SAFETY: *busy*: this is the writer's thread, which is within the message still.
        let cache = unsafe { &mut *writer.calls.get() };
        let CachedCall { refused, place, is_sampled, limits, .. } = *cache.entry(key);
        let mut decision = if is_sampled { Decision::Ask } else { Decision::Limits(limits) };
        // Never where it is sampled.
        if refused != Refused::NEVER {
            let now = cache.clock.now_unordered();
            if refused.holds_at(now) {
                decision = Decision::Suppressed;
                let added = writer.losses.add_at(place.into(), Some(now));
                if added != Added::Again {
                    let head = Head { id: 0, group_level };
                    writer.finish_count(head, added, HeldBack::Limited { now });
                }
            }
        }
        writer.gate.exit();
        ThreadState::with(ThreadState::end);
        decision
    }
}

/// Returns what rules make of the call with this key, if that is known here.
pub(crate) fn known_state(key: u64) -> Option<SiteState> {
    ThreadState::with(|thread| {
        if thread.phase() != READY {
            return None;
        }
        thread.begin();
        let state = thread.writer().and_then(|writer| {
            // SAFETY: *busy*: this is the writer's thread, and what interrupts it sees the phase.
            let entry = unsafe { &mut *writer.calls.get() }.entry(key);
            entry.is_current(key).then_some(entry.state)
        });
        thread.end();
        state
    })
}
