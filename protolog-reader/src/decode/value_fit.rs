//! The fit of an entry's values to the template of its message.

use crate::dictionary::Dictionary;
use crate::dictionary::collision;
use crate::losses::stats::Stats;
use crate::packets::message_fields;
use crate::sequences::sequence_state::Interned;
use crate::sequences::thread::Origin;

/// The messages that the fast path knows: ids with the numbers of values that they take, each at a
/// place that its id chooses.
#[derive(Debug, Default)]
pub(crate) struct KnownFits(Vec<(u64, u32)>);

/// Texts up to this size are short, in bytes.
pub(crate) const SHORT: usize = 256;

/// A power of two. A program has as many messages that it logs often, or fewer.
const FITS: usize = 256;

impl KnownFits {
    /// Collects the indices of the strings of a message that has just the values that its template
    /// takes, all in the usual form. False if it may be another one; then some may be collected.
    #[inline]
    pub(crate) fn take_usual(
        &mut self,
        dictionary: &Dictionary,
        strings: &Interned,
        message: &[u8],
        indices: &mut Vec<u32>,
    ) -> bool {
        let mut missing = false;
        let outline = message_fields::outline(message, |iid| match strings.get(iid) {
            Some(index) => indices.push(index),
            None => missing = true,
        });
        let Some((id, counts)) = outline.filter(|_| !missing) else { return false };
        let place = id as usize % FITS;
        self.0.get(place) == Some(&(id, counts)) || self.learn(dictionary, id, counts)
    }

    /// Forgets all, for another dictionary.
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    #[cold]
    fn learn(&mut self, dictionary: &Dictionary, id: u64, counts: u32) -> bool {
        let message = dictionary.message(id).filter(|_| dictionary.others(id).is_empty());
        // A long template is taken from a budget.
        let message = message.filter(|it| it.template().len() <= SHORT);
        let taken = message.and_then(|it| message_fields::packed(&it.plan().counts));
        if taken != Some(counts) {
            return false;
        }
        // Nothing is of a place that it was not put in.
        self.0.resize(FITS, (0, u32::MAX));
        self.0[id as usize % FITS] = (id, counts);
        true
    }
}

/// Counts an entry that is in no dictionary, or has other values than its template takes. `given`
/// has the number of its values of each kind.
pub(crate) fn count_values(
    stats: &mut Stats,
    dictionary: &Dictionary,
    (id, origin): (u64, Origin),
    given: [usize; 4],
) {
    let Some(message) = collision::choose(dictionary, id, origin, || given) else {
        stats.unknown_messages += 1;
        return;
    };
    if given == message.plan().counts {
        return;
    }
    let pairs = || given.iter().zip(&message.plan().counts);
    stats.missing_values += u64::from(pairs().any(|(given, expected)| given < expected));
    stats.extra_values += u64::from(pairs().any(|(given, expected)| given > expected));
}
