//! Reading a trace while it is being written: each added part becomes a log of its own.
//!
//! The state of sequences, the dictionary, the clocks, the strings and the open spans stay from one
//! part to the next, so a part reads as it would in the whole trace. Within a part, items are in
//! the order of time; a part may begin before the last one ended, since threads hand over their
//! messages at different times.
//!
//! Invariant: each message is in one part; a packet that is not whole yet is left for the next one.

use std::sync::Arc;

use crate::bytes::inflate;
use crate::bytes::looks::Looks;
use crate::damage::limits::Limits;
use crate::decode::collect::Collected;
use crate::decode::compact;
use crate::decode::decoder::Decoder;
use crate::log::Log;
use crate::losses::stats::EndReason;
use crate::traces::read_error::{ReadError, ReadErrorKind};

/// The first byte of every trace.
const PACKET: u8 = 0x0a;

/// Reads a growing trace, part by part. Of earlier parts, only the dictionary, the strings that may
/// be used again, the open spans and the losses are kept.
#[derive(Debug)]
pub struct Follower {
    decoder: Decoder,
    dictionaries: Vec<viewer_config::Dictionary>,
    /// Losses that were in earlier parts.
    known_losses: usize,
    has_begun: bool,
    expansion: u64,
}

impl Follower {
    /// A reader of a trace from its beginning, with dictionaries for messages that its own lacks.
    pub fn new(dictionaries: Vec<viewer_config::Dictionary>) -> Self {
        Self {
            decoder: Decoder::new(Limits::default(), false),
            dictionaries,
            known_losses: 0,
            has_begun: false,
            expansion: Limits::EXPANSION,
        }
    }

    /// Sets the number of times its size to which the trace may expand; see
    /// [`Limits::of_expansion`].
    #[must_use]
    pub fn with_expansion(mut self, expansion: u64) -> Self {
        self.expansion = expansion;
        self
    }

    /// Reads the spans that threads were in, too: one that is open at the end of a part is in the
    /// log of that part, and again in that of the part with its end.
    #[must_use]
    pub fn with_slices(mut self) -> Self {
        self.decoder.collected_mut().slices.follow();
        self
    }

    /// Returns whether the program has not ended the session of the trace; none if there is no
    /// session in it.
    pub fn is_unended(&self) -> Option<bool> {
        self.decoder.collected().sessions.is_unended()
    }

    /// Goes on with another trace of the same process, such as the next segment of its session:
    /// spans that are open may end there.
    pub fn next_trace(&mut self) {
        let mut decoder = Decoder::new(Limits::default(), false);
        let (before, next) = (self.decoder.collected_mut(), decoder.collected_mut());
        next.threads = Arc::clone(&before.threads);
        next.slices = before.slices.next_trace();
        (self.decoder, self.known_losses, self.has_begun) = (decoder, 0, false);
    }

    /// Reads the next bytes, and calls `show` with their log. `find` supplies dictionaries that the
    /// trace names by their hash. Returns the number of bytes that were taken: all, but for a
    /// packet that is not whole. The next part begins behind them.
    ///
    /// # Errors
    ///
    /// If the bytes are no trace, or damaged: from there on there is nothing to follow.
    pub fn read(
        &mut self,
        bytes: &[u8],
        find: impl FnMut(u64) -> Option<viewer_config::Dictionary>,
        show: impl FnOnce(&Log),
    ) -> Result<usize, ReadError> {
        if !self.has_begun && !bytes.is_empty() {
            self.has_begun = true;
            let looks = Looks::of(bytes);
            if inflate::is_compressed(bytes) {
                return Err(ReadErrorKind::Compressed.into());
            }
            if bytes[0] != PACKET || looks == Looks::Dictionary {
                return Err(ReadErrorKind::NotATrace(looks).into());
            }
        }
        self.decoder.raise(self.limits_after(bytes.len()));
        let ended = self.decoder.add(bytes);
        let taken = match ended {
            Some(ended) if ended.reason != EndReason::Truncated => {
                return Err(ReadErrorKind::Damaged(ended.offset).into());
            }
            Some(ended) => ended.offset as usize,
            None => bytes.len(),
        };
        let mut collected = self.decoder.take();
        let (relations, losses) = (collected.relations.clone(), collected.losses.clone());
        collected.losses.0.drain(..self.known_losses);
        self.known_losses = losses.0.len();
        let log = Log::new(collected, &self.dictionaries, find);
        show(&log);
        let mut collected = log.into_collected();
        collected.relations = relations;
        let end = collected.records.len();
        let mut shown = collected.take_page(Collected::default());
        (collected.losses, collected.stats) = (losses, shown.stats.clone());
        compact::compact(&mut shown, end, &mut collected, self.decoder.sequences());
        // What is lost next is a loss of its own, since this one was shown.
        collected.end_malformed_run();
        self.decoder.put_back(collected);
        self.decoder.sequences().for_each(|sequence| sequence.stateless = None);
        Ok(taken)
    }

    /// The limits of the trace with so many bytes more.
    fn limits_after(&self, more: usize) -> Limits {
        let size = self.decoder.collected().stats.bytes + more as u64;
        Limits::of_expansion(size, self.expansion)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `string(1, "text")`, a message of it, and sequence 2.
    const PACKET: [u8; 33] = [
        0x0a, 31, 0x68, 1, 0x62, 10, 0xaa, 2, 7, 8, 1, 18, 3, b'o', b'n', b'e', 0xc2, 6, 11, 9, 1,
        0, 0, 0, 0, 0, 0, 0, 0x10, 1, 0x50, 2, 0x40,
    ];

    #[test]
    fn what_was_shown_is_not_kept() {
        let mut packet = PACKET.to_vec();
        packet.push(5);
        packet[1] = packet.len() as u8 - 2;
        let (mut follower, mut entries) = (Follower::new(Vec::new()), 0);
        for _ in 0..1000 {
            let taken =
                follower.read(&packet, |_| None, |log| entries += log.entries().len()).unwrap();
            assert_eq!(taken, packet.len());
        }
        assert_eq!(entries, 1000);
        assert!(follower.decoder.collected().blocks.size() < 100);
    }
}
