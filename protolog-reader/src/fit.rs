//! The fit of an entry's values to the template of its message.

use crate::collision;
use crate::dictionary::Dictionary;
use crate::stats::Stats;

/// Counts an entry that is in no dictionary, or has other values than its template takes. `given` has the number of its values of
/// each kind.
pub(crate) fn count_values(stats: &mut Stats, dictionary: &Dictionary, id: u64, given: [usize; 4]) {
    let Some(message) = collision::choose(dictionary, id, || given) else {
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
