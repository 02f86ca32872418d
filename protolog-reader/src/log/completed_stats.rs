//! Counts that need the dictionary: values that do not fit their templates, and losses by reason
//! and group.

use crate::decode::value_fit::SHORT;
use crate::decode::value_fit::count_values;
use crate::dictionary::Message;
use crate::log::Log;

/// Completes the statistics of a log.
pub(crate) fn complete_stats(log: &mut Log) {
    let mut stats = std::mem::take(log.stats_mut());
    let is_long = |message: &Message| message.template().len() > SHORT;
    let has_long = log.dictionary().conflicts() > 0 || log.dictionary().messages().any(is_long);
    let mut ids = Vec::new();
    for entry in log.entries() {
        let (id, given) = entry.counts();
        count_values(&mut stats, log.dictionary(), (id, entry.thread().origin), given);
        ids.extend(has_long.then_some(id));
    }
    *log.stats_mut() = stats;
    log.collected_mut().take_templates(&ids);
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
