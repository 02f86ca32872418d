//! Sorts the records of messages by time.
//!
//! A record has 48 bytes, and a merge sort moves each item several times. So an order of their
//! places is found first, and then each record moves once. The records of a thread stand in the
//! order of time, in as many runs as its chunks. So the runs are dealt to a few piles that are
//! sorted, about one for each thread, and the piles are merged: a thread that logs alone for a
//! while is taken run by run. Records in another order are sorted by keys.
//!
//! Invariant: of one time, the first segment comes first, and of one segment the record that was
//! read first.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::decode::collect::MessageRecord;

/// Time, segment, and the place where the record is. No two are equal.
type Key = (i64, u32, u32);

/// Piles that are looked at for a record, at most, on an average of all records.
const LOOKS: usize = 4;

/// Sorts by time.
pub(crate) fn sort(records: &mut [MessageRecord]) {
    let order = |record: &MessageRecord| (record.moment.ns, record.segment);
    let Ok(len) = u32::try_from(records.len()) else { return records.sort_by_key(order) };
    let Some(runs) = Runs::deal(records, len) else { return sort_by_keys(records) };
    if runs.all.len() > 1 {
        place(records, &mut runs.merge(records));
    }
}

/// Runs of records that are sorted, each with the next one of its pile.
struct Runs {
    all: Vec<Run>,
    /// The first run of each pile.
    piles: Vec<u32>,
}

struct Run {
    begin: u32,
    end: u32,
    next: Option<u32>,
}

impl Runs {
    /// Finds the runs, and puts each on the pile whose last record is the latest one before it.
    /// None if that takes too long, since the order is another one.
    fn deal(records: &[MessageRecord], len: u32) -> Option<Self> {
        let mut runs = Self { all: Vec::new(), piles: Vec::new() };
        // The last record of each pile, and its run.
        let mut tops: Vec<(Key, u32)> = Vec::new();
        let (mut begin, mut looks) = (0, LOOKS * records.len());
        while begin < len {
            let first = key(records, begin);
            let (mut end, mut last) = (begin + 1, first);
            while end < len && key(records, end) > last {
                last = key(records, end);
                end += 1;
            }
            looks = looks.checked_sub(tops.len())?;
            let number = runs.all.len() as u32;
            let fitting = tops.iter_mut().filter(|(top, _)| *top < first);
            match fitting.max_by_key(|(top, _)| *top) {
                Some(top) => {
                    runs.all[top.1 as usize].next = Some(number);
                    *top = (last, number);
                }
                None => {
                    runs.piles.push(number);
                    tops.push((last, number));
                }
            }
            runs.all.push(Run { begin, end, next: None });
            begin = end;
        }
        Some(runs)
    }

    /// The places of the records in their order.
    fn merge(&self, records: &[MessageRecord]) -> Vec<u32> {
        let mut order = Vec::with_capacity(records.len());
        let first = |run: u32| Reverse((key(records, self.all[run as usize].begin), run));
        let mut nexts: BinaryHeap<_> = self.piles.iter().map(|run| first(*run)).collect();
        while let Some(Reverse(((_, _, mut at), mut run))) = nexts.pop() {
            let limit = nexts.peek().map_or((i64::MAX, u32::MAX, u32::MAX), |next| next.0.0);
            loop {
                let Run { end, next, .. } = self.all[run as usize];
                let begin = at;
                while at < end && key(records, at) <= limit {
                    at += 1;
                }
                order.extend(begin..at);
                if at < end {
                    nexts.push(Reverse((key(records, at), run)));
                    break;
                }
                let Some(next) = next else { break };
                (run, at) = (next, self.all[next as usize].begin);
            }
        }
        order
    }
}

#[inline]
fn key(records: &[MessageRecord], place: u32) -> Key {
    let record = &records[place as usize];
    (record.moment.ns, record.segment, place)
}

fn sort_by_keys(records: &mut [MessageRecord]) {
    let keys = records.iter().zip(0..);
    let mut keys: Vec<Key> =
        keys.map(|(record, place)| (record.moment.ns, record.segment, place)).collect();
    // Stable, since it finds runs; nothing is equal.
    keys.sort_by_key(|(ns, segment, _)| (*ns, *segment));
    place(records, &mut keys.into_iter().map(|(_, _, place)| place).collect::<Vec<_>>());
}

/// Moves each record where its place stands in the order, one cycle after the other.
fn place(records: &mut [MessageRecord], order: &mut [u32]) {
    for start in 0..records.len() {
        if order[start] as usize == start {
            continue;
        }
        let first = records[start];
        let mut to = start;
        loop {
            // A place that was followed names itself.
            let from = std::mem::replace(&mut order[to], to as u32) as usize;
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

    fn check(times: impl IntoIterator<Item = (i64, u32)>) {
        let numbered = times.into_iter().zip(0..);
        let mut records: Vec<_> =
            numbered.map(|((ns, segment), number)| record((ns, segment, number))).collect();
        let mut expected = records.clone();
        expected.sort_by_key(|record| (record.moment.ns, record.segment));
        sort(&mut records);
        let numbers = |records: &[MessageRecord]| -> Vec<u32> {
            records.iter().map(|record| record.strings).collect()
        };
        assert_eq!(numbers(&records), numbers(&expected));
    }

    proptest! {
        #[test]
        fn it_is_a_stable_sort(times in prop::collection::vec((0_i64..20, 0_u32..3), 0..200)) {
            check(times);
        }

        /// As the chunks of threads, which stand one after the other, some in several segments.
        #[test]
        fn chunks_of_threads_are_merged(
            chunks in prop::collection::vec(
                (0_usize..6, prop::collection::vec(0_i64..9, 1..20), 0_u32..2),
                0..30,
            ),
            ends in any::<[bool; 2]>(),
        ) {
            let (mut now, mut segment, mut times) = ([0; 6], 0, Vec::new());
            times.extend(ends[0].then_some((i64::MIN, 0)));
            for (thread, steps, next_segment) in chunks {
                segment += next_segment;
                times.extend(steps.into_iter().map(|step| {
                    now[thread] += step;
                    (now[thread], segment)
                }));
            }
            times.extend(ends[1].then_some((i64::MAX, u32::MAX)));
            check(times);
        }
    }

    #[test]
    fn threads_find_their_piles_and_any_other_order_gives_up() {
        let records = |times: &mut dyn Iterator<Item = i64>| -> Vec<_> {
            times.map(|ns| record((ns, 0, 0))).collect()
        };
        let mut chunks = (0..9 * 8 * 50).map(|at| (at / 400) * 50 + at % 50);
        let chunks = records(&mut chunks);
        let runs = Runs::deal(&chunks, chunks.len() as u32).expect("few piles");
        // The last run of each turn goes on in the first one of the next.
        assert_eq!((runs.all.len(), runs.piles.len()), (9 * 8 - 8, 8));
        let reversed = records(&mut (0..1000).rev());
        assert!(Runs::deal(&reversed, 1000).is_none());
    }
}
