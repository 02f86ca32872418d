//! Limits of the memory that a trace may take.

/// Limits of what a trace can contain beyond its own size. All have generous defaults.
///
/// Apart from these, memory is proportional to the bytes that are read. The trace itself is kept, an entry takes 48 bytes
/// and 4 for each of its strings, an interned string 16 (its characters stay in the trace), a dictionary entry its texts and
/// about 150 bytes. Malicious bytes take up to about fifteen times their number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Total inflated size of everything that is compressed, in bytes. Default: 1 GiB.
    pub inflated_bytes: u64,
    /// Depth of nested compressed bundles. Default: 4; Perfetto writes one level.
    pub nesting: u32,
    /// Number of entries. Default: 2^26, or 67 million.
    pub entries: u64,
    /// Number of sequences. Default: 2^20, or a million.
    pub sequences: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { inflated_bytes: 1 << 30, nesting: 4, entries: 1 << 26, sequences: 1 << 20 }
    }
}
