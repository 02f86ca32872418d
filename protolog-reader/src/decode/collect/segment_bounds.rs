//! Where the segments of a trace end while it is surveyed, so that each of them can be read by
//! itself later.
//!
//! A segment has few sequences, since its reader needs the state of each of them, and is neither
//! much smaller nor much larger than `Collected::least_segment` without a reason.
//!
//! Invariant: a segment ends between packets of the file, and never within a bundle.

use std::mem;

use super::Collected;
use crate::decode::segment::Segment;
use crate::sequences::sequence_state::SequenceState;

impl Collected {
    /// Notes that a sequence is in the segment that is surveyed. If it is new to it, another
    /// segment begins, so that each has few sequences: always if it is new to the trace, since with
    /// it an input of a merge may begin.
    #[inline]
    pub(super) fn bind(&mut self, sequence: &mut SequenceState) {
        let is_same_bundle = self.bound_at.replace(self.packet_at) == Some(self.packet_at);
        if sequence.last_segment != Some(self.segment.index) {
            self.bind_anew(sequence, is_same_bundle);
        }
    }

    fn bind_anew(&mut self, sequence: &mut SequenceState, is_same_bundle: bool) {
        let size = self.packet_at - self.segment.offset;
        let is_large = size >= self.least_segment
            || size >= self.least_segment / 8 && self.segment.is_long_after(sequence.last)
            || sequence.last_segment.is_none();
        if is_large && !is_same_bundle {
            self.begin_segment(self.packet_at);
        }
        if let Some(last) = sequence.last_segment {
            self.order.follow(self.segment.index, last);
        }
        sequence.last_segment = Some(self.segment.index);
    }

    /// Ends the segment that is surveyed, if anything is in it, and begins the next one at this
    /// offset in the file.
    pub(crate) fn begin_segment(&mut self, offset: u64) {
        if offset > self.segment.offset {
            self.segment.len = (offset - self.segment.offset) as usize;
            let next = Segment { index: self.segment.index + 1, offset, ..Segment::default() };
            self.segments.push(mem::replace(&mut self.segment, next));
        }
    }
}
