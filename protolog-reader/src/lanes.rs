//! Lanes of a trace: segments that have no sequence in common with those of other lanes, as the inputs of a merge have.
//!
//! A merged trace has one input after the other, and so its times begin anew with each. Within a lane, segments are read in the order of
//! the file, since the state of a sequence goes from one to the next; lanes are read side by side, in the order of their times.
//!
//! Invariant: a segment is after all earlier ones with which it has a sequence in common.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::segment::Segment;

/// The lanes of the segments so far.
#[derive(Debug, Default)]
pub(crate) struct Lanes {
    /// For each segment an earlier one of its lane, or itself.
    before: Vec<u32>,
    /// Something goes from segment to segment that belongs to no sequence.
    is_one: bool,
}

impl Lanes {
    /// Says that a sequence is in both of two segments.
    pub(crate) fn connect(&mut self, one: u32, other: u32) {
        let (one, other) = (self.first_of(one), self.first_of(other));
        let (early, late) = (one.min(other), one.max(other));
        self.before[late as usize] = early;
    }

    /// Says that all segments are of one lane.
    pub(crate) fn connect_all(&mut self) {
        self.is_one = true;
    }

    /// The order in which to read `segments`: at each step the lane whose rest begins first.
    pub(crate) fn order(&mut self, segments: &[Segment]) -> Vec<usize> {
        if self.is_one {
            return (0..segments.len()).collect();
        }
        let mut lanes: Vec<Lane> = Vec::new();
        let mut lane_of = vec![usize::MAX; segments.len()];
        for index in 0..segments.len() {
            let first = self.first_of(index as u32) as usize;
            if lane_of[first] == usize::MAX {
                lane_of[first] = lanes.len();
                lanes.push(Lane::default());
            }
            lanes[lane_of[first]].segments.push(index);
        }
        for lane in &mut lanes {
            lane.find_begins(segments);
        }
        let mut order = Vec::with_capacity(segments.len());
        let begins = lanes.iter().enumerate().filter_map(|(index, lane)| lane.begin(index));
        let mut next: BinaryHeap<_> = begins.collect();
        while let Some(Reverse((_, index))) = next.pop() {
            let lane = &mut lanes[index];
            order.push(lane.segments[lane.next]);
            lane.next += 1;
            next.extend(lane.begin(index));
        }
        order
    }

    /// The first segment of a segment's lane, as far as it is known.
    fn first_of(&mut self, segment: u32) -> u32 {
        let known = self.before.len() as u32;
        self.before.extend(known..=segment.max(known.saturating_sub(1)));
        let mut first = segment;
        while self.before[first as usize] != first {
            // Halves the way for the next time.
            let up = self.before[first as usize];
            self.before[first as usize] = self.before[up as usize];
            first = up;
        }
        first
    }
}

/// A lane.
#[derive(Default)]
struct Lane {
    segments: Vec<usize>,
    /// For each segment, the first time of it and of those after it.
    begins: Vec<i64>,
    next: usize,
}

impl Lane {
    fn find_begins(&mut self, segments: &[Segment]) {
        let mut least = i64::MAX;
        for index in self.segments.iter().rev() {
            least = segments[*index].span.map_or(least, |(first, _)| first.min(least));
            self.begins.push(least);
        }
        self.begins.reverse();
    }

    /// The first time of its rest, with its own index; none at its end. Segments without entries come last.
    fn begin(&self, index: usize) -> Option<Reverse<(i64, usize)>> {
        self.begins.get(self.next).map(|begin| Reverse((*begin, index)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The order of segments with these first times, of which those of a pair have a sequence in common.
    fn order(times: &[i64], common: &[(u32, u32)]) -> Vec<usize> {
        let segment = |time: &i64| Segment { span: Some((*time, *time + 5)), ..Segment::default() };
        let segments: Vec<Segment> = times.iter().map(segment).collect();
        let mut lanes = Lanes::default();
        for (one, other) in common {
            lanes.connect(*one, *other);
        }
        lanes.order(&segments)
    }

    #[test]
    fn lanes_are_read_side_by_side() {
        // One input after the other.
        assert_eq!(
            order(&[0, 10, 20, 1, 11, 21], &[(0, 1), (1, 2), (3, 4), (4, 5)]),
            [0, 3, 1, 4, 2, 5]
        );
        // One lane stays as it is, also if it is known late.
        assert_eq!(order(&[9, 5, 7, 1], &[(0, 1), (2, 3), (1, 3)]), [0, 1, 2, 3]);
        // A late one in its lane pulls all before it.
        assert_eq!(order(&[8, 9, 1, 7, 6], &[(0, 4), (1, 2)]), [1, 2, 0, 4, 3]);
        assert_eq!(order(&[], &[]), [0; 0]);
        let mut lanes = Lanes::default();
        lanes.connect_all();
        assert_eq!(lanes.order(&vec![Segment::default(); 3]), [0, 1, 2]);
    }
}
