//! Counts that need the dictionary: values that do not fit their templates, and losses by reason and group.

use crate::fit::count_values;
use crate::log::Log;

/// Completes the statistics of a log.
pub(crate) fn complete_stats(log: &mut Log) {
    let mut stats = std::mem::take(log.stats_mut());
    for entry in log.entries() {
        let (id, given) = entry.counts();
        count_values(&mut stats, log.dictionary(), id, given);
    }
    *log.stats_mut() = stats;
    complete_page_stats(log);
}

/// Completes the statistics of a log, of which the values of entries were counted before.
pub(crate) fn complete_page_stats(log: &mut Log) {
    let mut stats = std::mem::take(log.stats_mut());
    for loss in log.losses() {
        let sum = stats.lost.entry((loss.reason, loss.group)).or_default();
        *sum = sum.saturating_add(loss.count.unwrap_or(1));
    }
    stats.entries = log.records().len() as u64;
    stats.dictionary_conflicts = log.dictionary().conflicts();
    stats.malformed_elements = log.dictionary().malformed();
    *log.stats_mut() = stats;
}
