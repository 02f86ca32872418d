//! Limits of the memory and the time that a trace may take.

/// Limits on the contents of a trace beyond its own size. All have generous defaults.
///
/// Apart from these, memory is proportional to the bytes that are read. The trace itself is kept,
/// an entry takes 48 bytes and 4 for each of its strings, an interned string 16 (its characters
/// stay in the trace), a dictionary entry its texts and about 150 bytes. Malicious bytes take up to
/// about fifteen times their number. A trace that the memory has no room for is an error
/// ([`ReadErrorKind::OutOfMemory`](crate::ReadErrorKind)).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Total inflated size of everything that is compressed, in bytes, whatever is nested in what.
    pub inflated_bytes: u64,
    /// Number of packets in compressed parts. A packet takes time and, if it is a message, 48
    /// bytes, however short it is.
    pub inflated_packets: u64,
    /// Total size of the long texts that messages name, interned texts and templates: a text stands
    /// in the trace once, however often it is named.
    pub named_texts: u64,
    /// Depth of nested compressed bundles. Default: 4; Perfetto writes one level.
    pub nesting: u32,
    /// Number of entries. Default: none, since an entry takes some bytes of the trace.
    pub entries: u64,
    /// Number of sequences. Default: 2^20, or a million.
    pub sequences: u64,
    /// Number of rows of a table whose rows have numbers of 32 bits, before a packet adds to it: it
    /// adds less than as many.
    pub(crate) rows: usize,
}

impl Limits {
    /// The number of times its size to which a trace may expand, unless more is asked for. Logs
    /// have ratios of 5 to 30.
    pub const EXPANSION: u64 = 64;

    /// The bytes to which any trace may expand, however small it is.
    pub const LEAST_EXPANDED: u64 = 64 << 20;

    /// The defaults for a trace of `size` bytes.
    pub fn of_size(size: u64) -> Self {
        Self::of_expansion(size, Self::EXPANSION)
    }

    /// The limits for a trace of `size` bytes that may expand to `expansion` times its size, or to
    /// [`LEAST_EXPANDED`](Self::LEAST_EXPANDED) if that is more. Its packets may have 16 bytes on
    /// average, which is less than a message takes.
    pub fn of_expansion(size: u64, expansion: u64) -> Self {
        let inflated_bytes = size.saturating_mul(expansion).max(Self::LEAST_EXPANDED);
        Self {
            inflated_bytes,
            inflated_packets: inflated_bytes / 16,
            named_texts: inflated_bytes,
            nesting: NESTING,
            entries: u64::MAX,
            sequences: 1 << 20,
            rows: 1 << 31,
        }
    }
}

/// The default depth of nested bundles.
pub(crate) const NESTING: u32 = 4;

/// The defaults for a small trace.
impl Default for Limits {
    fn default() -> Self {
        Self::of_size(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::losses::stats::EndReason;
    use crate::traces::whole_trace::Trace;

    /// A message with two strings that are not defined.
    const MESSAGE: [u8; 22] = [
        0x0a, 20, 0x40, 1, 0x50, 1, 0xc2, 0x06, 13, 9, 0x11, 0, 0, 0, 0, 0, 0, 0, 0x10, 1, 0x10, 1,
    ];

    #[test]
    fn numbers_of_rows_do_not_wrap() {
        let limits = Limits { rows: 6, ..Limits::default() };
        let read = |messages: usize| {
            let trace = Trace::from_bytes(MESSAGE.repeat(messages)).with_limits(limits);
            let log = trace.read().unwrap();
            (log.entries().len(), log.stats().ended_early.map(|ended| ended.reason))
        };
        assert_eq!(read(3), (3, None));
        assert_eq!(read(4), (3, Some(EndReason::Limit)));
    }
}
