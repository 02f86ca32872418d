//! Messages of one id: ids are hashes, and programs of several versions, or damage, give one id two texts.
//!
//! As in Perfetto's reader from v56 on, the kinds of values decide: an entry belongs to the first message whose template takes values of
//! just these kinds. Where none does, or several do, the first one of the dictionary counts, as in earlier versions; the
//! dictionary counts the contradiction in any case.

use crate::dictionary::{Dictionary, Message};

/// The message with this id that takes values of these kinds.
pub(crate) fn choose(
    dictionary: &Dictionary,
    id: u64,
    counts: impl FnOnce() -> [usize; 4],
) -> Option<&Message> {
    let first = dictionary.message(id)?;
    let others = dictionary.others(id);
    if others.is_empty() {
        return Some(first);
    }
    let counts = counts();
    let mut all = [first].into_iter().chain(others);
    Some(all.find(|message| message.plan().counts == counts).unwrap_or(first))
}
