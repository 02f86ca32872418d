//! The entrance to the write path for the rest of the crate.

use crate::level::rules::{self, Refused, RuledCall, SiteState, Visit};
use crate::level::{self, GroupInfo};
use crate::note::NoteRef;
use crate::site::{GroupLevel, key};
use crate::writer::arg_slice::ArgSlice;
use crate::writer::fast::few::FewArgs;
use crate::writer::repeats::{self, Seen};
use crate::writer::sampled::Sampled;
use crate::writer::{self, Decision, Head, HeldBack, Recalled, RecalledCall, Sought};
use protolog_core::control::rate::Rate;
use protolog_core::{Arg, Level, MAX_PARAMS};

pub(crate) use crate::writer::args::Args;
pub use crate::writer::fast::FastArgs;

/// Asks for a call whose group has not registered, or has calls with rules. One function for all
/// calls, which pass two addresses.
#[cold]
#[inline(never)]
pub(crate) fn ask(group_level: GroupLevel, note: NoteRef) -> bool {
    // The address of the note stands for the call, also where its rule has another key.
    match writer::recall(group_level, address(note)) {
        Recalled::PassedOver => false,
        Recalled::Unknown => ask_rules(group_level, note),
        Recalled::Known(call) => ask_known(call, group_level, note),
    }
}

/// As [`ask`], for a call without a note.
#[cold]
#[inline(never)]
pub(crate) fn ask_id(group_level: GroupLevel, id: u64) -> bool {
    let decision = match writer::recall(group_level, id) {
        Recalled::PassedOver => Decision::Suppressed,
        Recalled::Unknown => Decision::Ask,
        Recalled::Known(call) => call.decide(group_level),
    };
    match decision {
        Decision::Suppressed => false,
        Decision::Limits(limits) if limits.let_pass() => {
            note_unsampled(|| id);
            true
        }
        _ => ask_by_key(Sought::new(group_level, id), group_level, id),
    }
}

/// Asks for a call that the thread has made before.
#[inline(never)]
fn ask_known(call: RecalledCall<'_>, group_level: GroupLevel, note: NoteRef) -> bool {
    match call.decide(group_level) {
        Decision::Suppressed => false,
        Decision::Limits(limits) if limits.let_pass() => {
            note_unsampled(|| key(note, 0));
            true
        }
        _ => ask_rules(group_level, note),
    }
}

#[inline(never)]
fn ask_rules(group_level: GroupLevel, note: NoteRef) -> bool {
    ask_by_key(Sought::new(group_level, address(note)), group_level, key(note, 0))
}

/// Asks the rules of the call with this key, which was `sought` in the thread's cache.
fn ask_by_key(sought: Sought, group_level: GroupLevel, key: u64) -> bool {
    let (group, level) = group_level.parts();
    let Some(call) = group.ask_call(level, key) else { return false };
    // What an argument decides is decided once it is there.
    if !call.state.is_by_arguments() {
        let Some(passed) = pass(call, level, group, Some(sought)) else { return false };
        rules::note_kept(key, passed.rate, sought.generation());
    }
    sought.remember(call, Refused::NEVER);
    true
}

/// Returns the address of a note, by which the thread's cache knows its call.
#[inline]
fn address(note: NoteRef) -> u64 {
    note.0.addr() as u64
}

/// Notes that a message is kept which is not sampled, where others are about to be written.
#[inline]
fn note_unsampled(key: impl FnOnce() -> u64) {
    if rules::has_kept() {
        rules::note_kept(key(), None, 0);
    }
}

/// Returns what rules make of the call of a message that is about to be written.
pub(crate) fn state(head: Head, note: NoteRef) -> SiteState {
    let key_in_cache = if note.0.is_null() { head.id } else { address(note) };
    let known = writer::known_state(key_in_cache);
    known.unwrap_or_else(|| head.group_level.parts().0.rule_of(key(note, head.id)))
}

/// Returns whether a message of a call with this state may have a rate, or be decided by its
/// arguments: [`pass_asked`] is for those alone.
#[inline]
pub(crate) fn may_be_sampled(state: SiteState) -> bool {
    state.is_by_arguments() || rules::has_kept()
}

/// A message that is to be logged: what rules make of its call, and the rate at which it was
/// sampled.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Passed {
    pub(crate) state: SiteState,
    pub(crate) rate: Option<Rate>,
    /// It says the same as the one before, and was counted for the sessions.
    pub(crate) is_repeat: bool,
}

/// Returns a message that is not passed over by sampling, and passes the limits that rules set;
/// another one is counted, and remembered where it was `sought`.
fn pass(
    call: RuledCall,
    level: Level,
    group: &'static GroupInfo,
    sought: Option<Sought>,
) -> Option<Passed> {
    // Sessions of a host do not hear at which rate; so such a message is kept.
    let is_sampled = call.is_by_chance() && group.at_host().is_none();
    let sampled = if is_sampled {
        sought.and_then(|sought| sought.sample(call)).unwrap_or_else(|| call.sample())
    } else {
        Ok(None)
    };
    let rate = match sampled {
        Ok(rate) => rate,
        Err(rules::NotKept) => return count(call, level, group, HeldBack::PassedOver),
    };
    match call.pass_limits() {
        Ok(()) => Some(Passed { state: call.state, rate, is_repeat: false }),
        Err((now, refused)) => {
            if let Some(sought) = sought {
                sought.remember(call, refused);
            }
            count(call, level, group, HeldBack::Limited { now })
        }
    }
}

/// As [`pass`], for the message with this id and these arguments; one that nobody takes passes.
pub(crate) fn pass_taken(
    call: RuledCall,
    level: Level,
    group: &'static GroupInfo,
    (id, args): (u64, &[Arg<'_>]),
) -> Option<Passed> {
    if !group.takes(level, call.state) {
        Some(Passed { state: call.state, ..Passed::default() })
    } else if call.state.is_by_arguments() {
        let head = Head { id, group_level: GroupLevel::new(group, level) };
        pass_by_arguments(call, head, &|visitor| args.iter().for_each(|arg| visitor(*arg)))
    } else {
        pass(call, level, group, None)
    }
}

/// As [`pass`], for a call with a key whose arguments were evaluated since it was asked for. Its
/// rate is that which was noted then, or its arguments decide. A head without an id is that of a
/// span, which repeats nothing.
pub(crate) fn pass_asked<A: Args>(
    head: Head,
    key: u64,
    state: SiteState,
    args: &A,
) -> Option<Passed> {
    let group = head.group_level.parts().0;
    let rate = rules::take_kept(key, || group.has_rules());
    if rate.is_some() || !state.is_by_arguments() {
        return Some(Passed { state, rate, is_repeat: false });
    }
    let call = rules::ruled_call_of_key(key);
    pass_by_arguments(call, head, &|visitor| args.visit(&mut |arg| visitor(arg)))
}

/// As [`pass`], for a call that is decided by its arguments, which `visit` calls a function with.
#[cold]
fn pass_by_arguments(call: RuledCall, head: Head, visit: Visit<'_>) -> Option<Passed> {
    let (group, level) = head.group_level.parts();
    if call.is_conditional() {
        let call = call.for_arguments(visit);
        return group.takes(level, call.state).then(|| pass_by_arguments(call, head, visit))?;
    }
    if call.merges_repeats() {
        return pass_merged(call, head, visit);
    }
    // As in `pass`.
    let sampled =
        if group.at_host().is_none() { call.sample_by_arguments(visit) } else { Ok(None) };
    let Ok(rate) = sampled else { return count(call, level, group, HeldBack::PassedOver) };
    match call.pass_limits() {
        Ok(()) => Some(Passed { state: call.state, rate, is_repeat: false }),
        Err((now, _)) => count(call, level, group, HeldBack::Limited { now }),
    }
}

/// As [`pass`], for a call whose repeats are merged, which has no rate.
#[cold]
#[inline(never)]
fn pass_merged(call: RuledCall, head: Head, visit: Visit<'_>) -> Option<Passed> {
    let (group, level) = head.group_level.parts();
    let is_merged = head.id != 0 && is_recorded(call, group, level);
    if is_merged && merge(call, head, visit) {
        return Some(Passed { state: call.state, rate: None, is_repeat: true });
    }
    match call.pass_limits() {
        Ok(()) => Some(Passed { state: call.state, ..Passed::default() }),
        Err((now, _)) => {
            if is_merged {
                repeats::forget(head.id);
            }
            count(call, level, group, HeldBack::Limited { now })
        }
    }
}

/// Counts a message that says the same as the one before of its id on this thread, and returns
/// whether it does. Before another one, the sessions get the number of those that did.
fn merge(call: RuledCall, head: Head, visit: Visit<'_>) -> bool {
    let (group, level) = head.group_level.parts();
    match repeats::see(head.group_level, head.id, visit) {
        Seen::Again { now } => {
            count(call, level, group, HeldBack::Repeated { message: head.id, now });
            true
        }
        Seen::Other(ended) => {
            if let Some(ended) = ended {
                writer::report_repeats(ended);
            }
            false
        }
    }
}

/// Returns whether a session of this copy of the runtime alone records a call; those of a host
/// would not hear of a count.
fn is_recorded(call: RuledCall, group: &'static GroupInfo, level: Level) -> bool {
    let is_traced = group.is_trace_enabled(level) && !call.state.is_untraced();
    (is_traced || call.state.is_traced() && level::is_recording()) && group.at_host().is_none()
}

/// Counts a message that does not pass.
fn count(
    call: RuledCall,
    level: Level,
    group: &'static GroupInfo,
    reason: HeldBack,
) -> Option<Passed> {
    let is_traced = group.is_trace_enabled(level) && !call.state.is_untraced();
    if call.state.is_traced() || is_traced {
        let group_level = GroupLevel::new(group, level);
        writer::count_held_back(group_level, call.state.is_traced(), reason);
    }
    None
}

/// Writes a message with `args` to the sessions that record its level.
#[inline]
pub(crate) fn trace<A: Args>(id: u64, level: Level, group: &'static GroupInfo, args: &A) {
    if group.is_trace_enabled(level) {
        let head = Head { id, group_level: GroupLevel::new(group, level) };
        if group.is_watched(level) {
            return trace_watched(head, args);
        }
        writer::write_packet(head, args);
    }
}

/// As [`trace`], for a message that triggers wait for, or that a session pins.
#[cold]
fn trace_watched<A: Args>(head: Head, args: &A) {
    let (group, level) = head.group_level.parts();
    if group.is_pinned(level) {
        writer::write_to_rings(head, args);
    } else {
        writer::write_packet(head, args);
    }
    writer::running::report_watched(head.id, group, level);
}

/// As [`trace`], for a call of which a rule may decide.
pub(crate) fn trace_by_rule<A: Args>(
    id: u64,
    level: Level,
    group: &'static GroupInfo,
    args: &A,
    rule: SiteState,
) {
    if rule.is_traced() {
        if level::is_recording() {
            writer::write_to_all(Head { id, group_level: GroupLevel::new(group, level) }, args);
            // Sessions need not watch the group, nor record it.
            writer::running::report_to_all(id, group, level);
        }
    } else if !rule.is_untraced() {
        trace(id, level, group, args);
    }
}

/// As [`trace_by_rule`], for a message whose rate is known, and whether it was counted.
pub(crate) fn trace_passed(
    id: u64,
    level: Level,
    group: &'static GroupInfo,
    args: &[Arg<'_>],
    passed: Passed,
) {
    if passed.is_repeat {
        return;
    }
    let head = Head { id, group_level: GroupLevel::new(group, level) };
    let is_usual = passed.rate.is_none() && passed.state == SiteState::default();
    if is_usual && head.group_level.is_trace_only() && write_slice(head, args) {
        return;
    }
    let args = &ArgSlice(args);
    match passed.rate {
        None => trace_by_rule(id, level, group, args, passed.state),
        Some(rate) => trace_by_rule(id, level, group, &Sampled { args, rate }, passed.state),
    }
}

/// Writes a message whose group is recorded and not printed, by the fast path; false, and nothing
/// done, where it has more arguments than that takes.
#[inline(never)] // One function of each number for all that have slices.
pub(crate) fn write_slice(head: Head, args: &[Arg<'_>]) -> bool {
    // One of few arguments leaves more room to new strings.
    if let Some(args) = FewArgs::<4>::new(args) {
        writer::write_message::<FewArgs<'_, 4>, _>(head, &args);
    } else if let Some(args) = FewArgs::<9>::new(args) {
        writer::write_message::<FewArgs<'_, 9>, _>(head, &args);
    } else if let Some(args) = FewArgs::<MAX_PARAMS>::new(args) {
        writer::write_message::<FewArgs<'_, MAX_PARAMS>, _>(head, &args);
    } else {
        return false;
    }
    true
}

/// Calls `f` with arguments of any form as a slice, so that what it does is one function for all.
#[cold]
pub(crate) fn with_slice<A: Args, R>(args: &A, f: impl FnOnce(&[Arg<'_>]) -> R) -> R {
    let mut all = [Arg::Bool(false); MAX_PARAMS];
    let (mut slots, mut count) = (all.iter_mut(), 0);
    args.visit(&mut |arg| {
        if let Some(slot) = slots.next() {
            *slot = arg;
            count += 1;
        }
    });
    f(all.get(..count).unwrap_or_default())
}

/// As [`trace`], with the thread's stack trace, whether or not a session asks for those.
pub(crate) fn trace_with_stack<A: Args>(
    id: u64,
    level: Level,
    group: &'static GroupInfo,
    args: &A,
) {
    if group.is_trace_enabled(level) {
        writer::write_with_stack(Head { id, group_level: GroupLevel::new(group, level) }, args);
        report(id, level, group);
    }
}

/// Reports a message that was written to the triggers that wait for it.
#[inline]
fn report(id: u64, level: Level, group: &'static GroupInfo) {
    if group.is_watched(level) {
        writer::running::report_watched(id, group, level);
    }
}
