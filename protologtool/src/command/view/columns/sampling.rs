//! Sampling, as a page says of it: the rates of messages that were kept, and how many were not.

use protolog_core::control::rate::Rate;
use protolog_reader::Log;
use serde_json::{Value, json};

/// A rate: its words, and the number of messages that one which was kept stands for.
pub(super) fn rate(rate: &Rate) -> Value {
    json!({"text": rate.to_string(), "weight": rate.weight()})
}

/// The numbers of messages that were passed over, by full name of the group and letter of the
/// level; neither has to be known. They are those of the whole log: no filter knows which of them
/// it would admit.
pub(super) fn passed_over(log: &Log) -> Vec<Value> {
    let all = log.stats().passed_over.iter();
    let line = |((group, level), count): (&(Option<u32>, Option<protolog_core::Level>), &u64)| {
        let group = group.map(|id| log.dictionary().group_name(id));
        let level = level.map(|level| level.letter().to_string());
        json!({"group": group, "level": level, "count": count})
    };
    all.map(line).collect()
}
