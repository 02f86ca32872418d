//! Options of reading a trace page by page.

use crate::damage::limits::Limits;
use crate::decode::decoder::Decoder;
use crate::losses::stats::{EndReason, EndedEarly, Stats};

/// See [`Pages::survey_with`](crate::Pages::survey_with).
#[derive(Clone, Copy, Debug)]
pub struct PageOptions {
    /// Reads the spans that threads were in, too, all of which are kept in memory.
    pub has_slices: bool,
    /// The number of times its size to which the trace may expand; see [`Limits::of_expansion`].
    pub expansion: u64,
    /// Set if the trace was compressed as a whole.
    pub compressed: Option<Decompressed>,
    /// The sizes of a segment and a page, in bytes.
    #[doc(hidden)]
    pub sizes: (usize, usize),
}

/// A trace that was compressed as a whole, and no longer is.
#[derive(Clone, Copy, Debug)]
pub struct Decompressed {
    /// The size that it had compressed, in bytes.
    pub size: u64,
    /// It expands to more than its limit: the rest is left out.
    pub is_cut: bool,
}

/// The size of a segment, in bytes; less at the end, more if a packet is larger.
const SEGMENT: usize = 64 << 10;

/// The least size of the segments of a page, in bytes.
const PAGE: usize = 1 << 20;

impl Default for PageOptions {
    fn default() -> Self {
        Self {
            has_slices: false,
            expansion: Limits::EXPANSION,
            compressed: None,
            sizes: (SEGMENT, PAGE),
        }
    }
}

impl PageOptions {
    /// A decoder for the survey of a trace with so many bytes.
    pub(crate) fn decoder(&self, bytes: u64) -> Decoder {
        let size = self.compressed.map_or(bytes, |it| it.size);
        let limits = Limits::of_expansion(size, self.expansion);
        let mut decoder = Decoder::new(limits, self.compressed.is_some());
        if self.compressed.is_some() {
            decoder.take_inflated(bytes);
        }
        decoder.collected_mut().slices.are_wanted = self.has_slices;
        decoder
    }

    /// Completes the statistics of the survey.
    pub(crate) fn add_sizes(&self, bytes: u64, stats: &mut Stats) {
        let Some(Decompressed { size, is_cut }) = self.compressed else {
            stats.bytes = bytes;
            return;
        };
        stats.bytes = size;
        stats.inflated_bytes += bytes;
        if is_cut && stats.ended_early.is_none_or(|it| it.reason == EndReason::Truncated) {
            stats.ended_early = Some(EndedEarly { reason: EndReason::Expansion, offset: bytes });
        }
    }
}
