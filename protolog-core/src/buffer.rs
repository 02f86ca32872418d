//! The buffer of a session as its owner sees it: its fill policy, and statistics of the data that
//! went through it.
//!
//! Invariant: nothing here depends on how a buffer is laid out in memory; [`crate::chunk`] has
//! that.

use core::fmt;

/// The policy for packets in a session's buffer, and for a full buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FillPolicy {
    /// A thread moves complete chunks to a file all the time; messages are dropped while the buffer
    /// is full.
    Stream,
    /// The buffer keeps the newest messages: a new chunk overwrites the oldest one.
    RingBuffer,
    /// The buffer keeps the first messages: once it is full, new ones are dropped.
    Discard,
}

impl FillPolicy {
    const NAMES: [(Self, &'static str); 3] =
        [(Self::Stream, "stream"), (Self::RingBuffer, "ring-buffer"), (Self::Discard, "discard")];

    /// The name in the control protocol and in JSON.
    pub fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(policy, _)| *policy == self).map_or("", |(_, name)| name)
    }

    /// The fill policy with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::NAMES.iter().find(|(_, known)| *known == name).map(|(policy, _)| *policy)
    }
}

/// Statistics of a session's buffer since the session started, counted in whole chunks. A thread
/// fills one chunk after the other: its first has 292 bytes, its second 1,020, all later ones
/// 4,088.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct BufferStats {
    /// Size of the buffer, in bytes.
    pub size: u64,
    /// Chunks that threads completed.
    pub chunks_written: u64,
    /// Bytes in them.
    pub bytes_written: u64,
    /// Chunks that moved to the file while the session ran, if it streams to one.
    pub chunks_read: u64,
    /// Bytes in them.
    pub bytes_read: u64,
    /// Chunks of a ring buffer that newer ones overwrote.
    pub chunks_overwritten: u64,
    /// Bytes in them.
    pub bytes_overwritten: u64,
    /// Chunks that were discarded because the file could not be written.
    pub chunks_discarded: u64,
    /// The most bytes that were waiting in the buffer at any one time.
    pub high_water: u64,
}

impl fmt::Display for BufferStats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { size, high_water, .. } = self;
        writeln!(f, "buffer: {size} bytes, of which at most {high_water} were waiting")?;
        for (what, chunks, bytes) in [
            ("written", self.chunks_written, Some(self.bytes_written)),
            ("read", self.chunks_read, Some(self.bytes_read)),
            ("overwritten", self.chunks_overwritten, Some(self.bytes_overwritten)),
            ("discarded", self.chunks_discarded, None),
        ] {
            match bytes {
                Some(bytes) => writeln!(f, "{what}: {chunks} chunks, {bytes} bytes")?,
                None => writeln!(f, "{what}: {chunks} chunks")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn policies_have_names() {
        for policy in [FillPolicy::Stream, FillPolicy::RingBuffer, FillPolicy::Discard] {
            assert_eq!(FillPolicy::from_name(policy.name()), Some(policy));
        }
        assert_eq!(FillPolicy::from_name("Stream"), None);
    }
}
