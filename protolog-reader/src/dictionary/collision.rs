//! Messages of one id: ids are hashes, and programs of several versions, or damage, give one id two
//! texts.
//!
//! As in Perfetto's reader from v56 on, the kinds of values decide: an entry belongs to the first
//! message whose template takes values of just these kinds. Where none does, or several do, the
//! first one of the dictionary counts, as in earlier versions, and the entry says that it is a
//! guess; the dictionary counts the contradiction in any case.

use crate::dictionary::{Dictionary, Message};

/// The message with this id that takes values of these kinds.
pub(crate) fn choose(
    dictionary: &Dictionary,
    id: u64,
    counts: impl FnOnce() -> [usize; 4],
) -> Option<&Message> {
    choose_or_guess(dictionary, id, counts).map(|(message, _)| message)
}

/// As [`choose`], and whether that is a guess.
pub(crate) fn choose_or_guess(
    dictionary: &Dictionary,
    id: u64,
    counts: impl FnOnce() -> [usize; 4],
) -> Option<(&Message, bool)> {
    let first = dictionary.message(id)?;
    let others = dictionary.others(id);
    if others.is_empty() {
        return Some((first, false));
    }
    let counts = counts();
    let all = [first].into_iter().chain(others);
    let mut fitting = all.filter(|message| message.plan().counts == counts);
    let found = fitting.next();
    Some((found.unwrap_or(first), found.is_none() || fitting.next().is_some()))
}
