//! The memory that collected contents take, but for the bytes of packets.

use super::{Collected, MessageRecord};
use crate::bytes::blocks::Span;
use crate::decode::segment::Segment;
use crate::dictionary::Message;
use crate::losses::loss;

impl Collected {
    /// The size of the tables that grow with the trace, in bytes.
    pub(crate) fn table_bytes(&self) -> usize {
        self.records.capacity() * size_of::<MessageRecord>()
            + self.string_refs.capacity() * size_of::<u32>()
            + self.strings.capacity() * size_of::<Span>()
            + self.losses.0.capacity() * size_of::<loss::FoundLoss>()
            + self.passed_over.table_bytes()
            + self.dictionary.messages().size_hint().0 * size_of::<Message>()
            + self.slices.table_bytes()
            + self.requests.table_bytes()
            + self.segments.capacity() * size_of::<Segment>()
            + self.order.table_bytes()
    }
}
