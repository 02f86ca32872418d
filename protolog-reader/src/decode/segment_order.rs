//! The order in which segments are read: by time, as far as the states of sequences allow.
//!
//! A trace has much of one thread after the other, as its writer found their chunks full, and a
//! merged one has one input after the other. In the order of the file, everything later than the
//! rest would have to be held back; by time, nearly nothing is.
//!
//! Invariant: a segment is after all earlier ones with which it has a sequence in common, since the
//! state of a sequence goes from one to the next.

use std::collections::BTreeSet;

use crate::decode::segment::Segment;

/// The relations of segments that decide about their order.
#[derive(Debug, Default)]
pub(crate) struct SegmentOrder {
    /// Pairs of a segment and an earlier one that has to be read before it, by the former.
    after: Pairs,
    /// Pairs of a segment and an earlier one in which the state of its entries was set up.
    states: Pairs,
    /// Something goes from segment to segment that belongs to no sequence.
    is_of_file: bool,
}

impl SegmentOrder {
    /// Says that a segment has a sequence that was in an earlier one last.
    pub(crate) fn follow(&mut self, segment: u32, earlier: u32) {
        self.after.add(segment, earlier);
    }

    /// Says that the state of a segment's entry was set up in a segment, perhaps its own.
    #[inline]
    pub(crate) fn need_state(&mut self, segment: u32, begun_in: u32) {
        if begun_in != segment {
            self.states.add(segment, begun_in);
        }
    }

    /// Says that segments are to be read in the order of the file.
    pub(crate) fn keep_order_of_file(&mut self) {
        self.is_of_file = true;
    }

    /// The memory that it takes, in bytes.
    pub(crate) fn table_bytes(&self) -> usize {
        self.after.table_bytes() + self.states.table_bytes()
    }

    /// The segments in the order in which they are read, each with the place of the first one that
    /// it needs.
    pub(crate) fn arrange(self, segments: Vec<Segment>) -> Vec<Segment> {
        let mut order: Vec<usize> = (0..segments.len()).collect();
        if !self.is_of_file {
            let begins = self.begins(&segments);
            // A segment begins no later than those that have to be after it, and stands before them
            // in the file.
            order.sort_by_key(|index| begins[*index]);
        }
        let mut places = vec![0; segments.len()];
        for (place, index) in order.iter().enumerate() {
            places[*index] = place as u32;
        }
        let mut needed = places.clone();
        for (segment, begun_in) in self.states.done.into_iter().chain(self.states.last) {
            let least = needed[segment as usize].min(places[begun_in as usize]);
            needed[segment as usize] = least;
        }
        let mut segments: Vec<Option<Segment>> = segments.into_iter().map(Some).collect();
        let ordered = order.into_iter().filter_map(|index| {
            let segment = segments[index].take()?;
            Some(Segment { begins_in: needed[index], ..segment })
        });
        ordered.collect()
    }

    /// For each segment, the first time of it and of those that have to be after it.
    fn begins(&self, segments: &[Segment]) -> Vec<i64> {
        let first = |segment: &Segment| segment.span.map_or(i64::MAX, |(first, _)| first);
        let mut begins: Vec<i64> = segments.iter().map(first).collect();
        // Those that come later in the file are known by then.
        for (segment, earlier) in self.after.last.iter().chain(self.after.done.iter().rev()) {
            begins[*earlier as usize] = begins[*earlier as usize].min(begins[*segment as usize]);
        }
        begins
    }
}

/// Pairs of segments, each once; the first of each is that of the pair before, or a later one.
#[derive(Debug, Default)]
struct Pairs {
    done: Vec<(u32, u32)>,
    /// Those of the last segment.
    last: BTreeSet<(u32, u32)>,
    newest: Option<(u32, u32)>,
}

impl Pairs {
    #[inline]
    fn add(&mut self, segment: u32, earlier: u32) {
        if self.newest != Some((segment, earlier)) {
            self.add_other(segment, earlier);
        }
    }

    fn add_other(&mut self, segment: u32, earlier: u32) {
        if self.newest.is_some_and(|(newest, _)| newest != segment) {
            self.done.extend(std::mem::take(&mut self.last));
        }
        self.newest = Some((segment, earlier));
        self.last.insert((segment, earlier));
    }

    fn table_bytes(&self) -> usize {
        (self.done.capacity() + self.last.len()) * size_of::<(u32, u32)>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The order of segments with these first times, of which the second of each pair has to be
    /// after the first.
    fn order(times: &[i64], after: &[(u32, u32)]) -> Vec<u32> {
        let segment = |(index, time): (usize, &i64)| Segment {
            index: index as u32,
            span: Some((*time, *time + 5)),
            ..Segment::default()
        };
        let segments: Vec<Segment> = times.iter().enumerate().map(segment).collect();
        let mut order = SegmentOrder::default();
        for (earlier, segment) in after {
            order.follow(*segment, *earlier);
        }
        order.arrange(segments).iter().map(|segment| segment.index).collect()
    }

    #[test]
    fn segments_are_read_by_time() {
        // One input after the other.
        let inputs = [(0, 1), (1, 2), (3, 4), (4, 5)];
        assert_eq!(order(&[0, 10, 20, 1, 11, 21], &inputs), [0, 3, 1, 4, 2, 5]);
        // Two sequences, of which the fourth segment has both.
        assert_eq!(order(&[0, 20, 5, 25, 30], &[(0, 1), (1, 3), (2, 3), (3, 4)]), [0, 2, 1, 3, 4]);
        // A sequence that is not in order stays as it is, and a late one pulls all that it needs.
        assert_eq!(order(&[9, 5, 7, 1], &[(0, 1), (1, 2), (2, 3)]), [0, 1, 2, 3]);
        assert_eq!(order(&[8, 9, 1, 7, 6], &[(1, 2), (0, 4)]), [1, 2, 0, 4, 3]);
        // Of one time, the first in the file is first.
        assert_eq!(order(&[3, 3, 3], &[(0, 2)]), [0, 1, 2]);
        assert_eq!(order(&[], &[]), [0; 0]);
    }

    #[test]
    fn the_order_of_the_file_may_be_kept() {
        let mut order = SegmentOrder::default();
        order.keep_order_of_file();
        let segments =
            [7, 3].map(|time| Segment { span: Some((time, time)), ..Segment::default() });
        let spans: Vec<_> =
            order.arrange(segments.to_vec()).iter().map(|it| it.span.unwrap().0).collect();
        assert_eq!(spans, [7, 3]);
    }

    #[test]
    fn the_place_of_the_first_segment_with_state_is_known() {
        let segment = |time| Segment { span: Some((time, time)), ..Segment::default() };
        let mut order = SegmentOrder::default();
        // Segments 0 and 2 are of one sequence, 1 and 3 of another one, and 4 has both.
        for (segment, earlier) in [(2, 0), (3, 1), (4, 2), (4, 3)] {
            order.follow(segment, earlier);
            order.follow(segment, earlier);
        }
        for (segment, begun_in) in [(2, 0), (3, 3), (4, 2), (4, 2), (4, 3), (4, 2)] {
            order.need_state(segment, begun_in);
        }
        assert_eq!((order.after.done.len(), order.after.last.len()), (2, 2), "each pair once");
        let ordered = order.arrange([5, 1, 6, 2, 9].map(segment).to_vec());
        let places: Vec<_> = ordered.iter().map(|it| (it.span.unwrap().0, it.begins_in)).collect();
        assert_eq!(places, [(1, 0), (2, 1), (5, 2), (6, 2), (9, 1)]);
    }
}
