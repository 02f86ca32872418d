//! Counts that need the whole log: values that do not fit their templates, and losses by reason and group.

use foldhash::HashMap;

use crate::collision;
use crate::log::Log;

/// Completes the statistics of `log`.
pub(crate) fn complete_stats(log: &mut Log) {
    let (mut unknown, mut missing, mut extra) = (0, 0, 0);
    let mut expected = HashMap::default();
    for entry in log.entries() {
        let (id, given) = entry.counts();
        // Once per message: templates can be long, and entries many.
        let is_alone = log.dictionary().others(id).is_empty();
        let message = expected.entry((id, if is_alone { [0; 4] } else { given }));
        let message = message.or_insert_with(|| {
            collision::choose(log.dictionary(), id, || given).map(|message| message.plan().counts)
        });
        let Some(expected) = message else {
            unknown += 1;
            continue;
        };
        missing +=
            u64::from(given.iter().zip(&*expected).any(|(given, expected)| given < expected));
        extra += u64::from(given.iter().zip(&*expected).any(|(given, expected)| given > expected));
    }
    let (entries, conflicts) = (log.records().len() as u64, log.dictionary().conflicts());
    let malformed = log.dictionary().malformed();
    let mut lost = std::mem::take(&mut log.stats_mut().lost);
    for loss in log.losses() {
        let sum = lost.entry((loss.reason, loss.group)).or_default();
        *sum = sum.saturating_add(loss.count.unwrap_or(1));
    }
    let stats = log.stats_mut();
    (stats.entries, stats.lost, stats.dictionary_conflicts) = (entries, lost, conflicts);
    stats.malformed_elements = malformed;
    (stats.unknown_messages, stats.missing_values, stats.extra_values) = (unknown, missing, extra);
}
