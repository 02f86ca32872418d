//! Limits of the memory that a trace may take.

/// How much memory a trace may take, which says nothing of its own accord. All have generous defaults.
///
/// Beside these, memory grows with the bytes that are read: the trace is kept as it is, an entry takes 48 bytes and 4 for
/// each of its texts, an interned text 16 (its characters stay where they are in the trace), an entry of the dictionary its
/// texts and about 150. Bytes made up to do harm take up to about fifteen times their number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Bytes that all that is compressed may have when it is inflated. Default: 1 GiB.
    pub inflated_bytes: u64,
    /// How deep compressed bundles of packets may be nested. Default: 4, of which Perfetto uses one.
    pub nesting: u32,
    /// Default: 2^26, or 67 million.
    pub entries: u64,
    /// Default: 2^20, or a million.
    pub sequences: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { inflated_bytes: 1 << 30, nesting: 4, entries: 1 << 26, sequences: 1 << 20 }
    }
}
