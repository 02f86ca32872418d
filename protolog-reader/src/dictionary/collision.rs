//! Messages of one id: ids are hashes, and programs of several versions, or damage, give one id two
//! texts; or a program means to.
//!
//! An entry belongs to what its own process says of the id, where the tracing service tells
//! processes apart; of a process that says nothing, to what any does. As in Perfetto's reader from
//! v56 on, the kinds of values decide then: an entry belongs to the first
//! message whose template takes values of just these kinds. Where none does, or several do, the
//! first one of the dictionary counts, as in earlier versions, and the entry says that it is a
//! guess; the dictionary counts the contradiction in any case.

use crate::dictionary::{Dictionary, Message};
use crate::sequences::thread::{ANY, Origin};

/// The message with this id that takes values of these kinds, of a process.
pub(crate) fn choose(
    dictionary: &Dictionary,
    id: u64,
    origin: Origin,
    counts: impl FnOnce() -> [usize; 4],
) -> Option<&Message> {
    choose_or_guess(dictionary, id, origin, counts).map(|(message, _)| message)
}

/// As [`choose`], and whether that is a guess.
pub(crate) fn choose_or_guess(
    dictionary: &Dictionary,
    id: u64,
    origin: Origin,
    counts: impl FnOnce() -> [usize; 4],
) -> Option<(&Message, bool)> {
    let first = dictionary.message(id)?;
    let others = dictionary.others(id);
    if others.is_empty() {
        return Some((first, false));
    }
    let counts = counts();
    let all = || [first].into_iter().chain(others);
    let is_own = |message: &&Message| origin != ANY && dictionary.is_of(id, message, origin);
    let own = all().find(is_own);
    let candidates = all().filter(|message| own.is_none() || is_own(message));
    let mut fitting = candidates.filter(|message| message.plan().counts == counts);
    let found = fitting.next();
    let is_only = own.is_some() && all().filter(is_own).nth(1).is_none();
    let chosen = found.or(own).unwrap_or(first);
    Some((chosen, !is_only && (found.is_none() || fitting.next().is_some())))
}
