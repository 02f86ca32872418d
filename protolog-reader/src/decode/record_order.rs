//! Sorts the records of messages by time.
//!
//! A record has 48 bytes, and a merge sort moves each item several times. So a key with the
//! record's place is sorted, and then each record moves once.
//!
//! Invariant: of one time, the first segment comes first, and of one segment the record that was
//! read first.

use crate::decode::collect::MessageRecord;

/// Time, segment, and the place where the record is.
type Key = (i64, u32, u32);

/// Sorts by time.
pub(crate) fn sort(records: &mut [MessageRecord]) {
    let order = |record: &MessageRecord| (record.moment.ns, record.segment);
    if records.is_sorted_by_key(order) {
        return;
    }
    let Ok(len) = u32::try_from(records.len()) else { return records.sort_by_key(order) };
    let keys = records.iter().zip(0..len);
    let mut keys: Vec<Key> =
        keys.map(|(record, place)| (record.moment.ns, record.segment, place)).collect();
    // Stable, since it finds the runs that each sequence has; nothing is equal.
    keys.sort_by_key(|(ns, segment, _)| (*ns, *segment));
    place(records, &mut keys);
}

/// Moves each record where its key is, one cycle after the other.
fn place(records: &mut [MessageRecord], keys: &mut [Key]) {
    for start in 0..records.len() {
        let first = records[start];
        let mut to = start;
        loop {
            // A key that was followed names its own place.
            let from = std::mem::replace(&mut keys[to].2, to as u32) as usize;
            if from == start {
                records[to] = first;
                break;
            }
            records[to] = records[from];
            to = from;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::bytes::blocks::Span;
    use crate::clocks::Moment;

    fn record((ns, segment, number): (i64, u32, u32)) -> MessageRecord {
        let moment = Moment { ns, ..Moment::UNKNOWN };
        let message = Span { at: 0, len: 0 };
        MessageRecord { moment, message, strings: number, segment, stack_trace: 0, thread: 0 }
    }

    proptest! {
        #[test]
        fn it_is_a_stable_sort(times in prop::collection::vec((0_i64..20, 0_u32..3), 0..200)) {
            let numbered = times.into_iter().zip(0..);
            let mut records: Vec<_> =
                numbered.map(|((ns, segment), number)| record((ns, segment, number))).collect();
            let mut expected = records.clone();
            expected.sort_by_key(|record| (record.moment.ns, record.segment));
            sort(&mut records);
            let numbers = |records: &[MessageRecord]| -> Vec<u32> {
                records.iter().map(|record| record.strings).collect()
            };
            prop_assert_eq!(numbers(&records), numbers(&expected));
        }
    }
}
