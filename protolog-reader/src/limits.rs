//! Limits of the memory that a trace may take.

/// Limits of what a trace can contain beyond its own size. All have generous defaults.
///
/// Apart from these, memory is proportional to the bytes that are read. The trace itself is kept, an entry takes 48 bytes
/// and 4 for each of its strings, an interned string 16 (its characters stay in the trace), a dictionary entry its texts and
/// about 150 bytes. Malicious bytes take up to about fifteen times their number. A trace that the memory has no room for is an error
/// ([`ReadErrorKind::OutOfMemory`](crate::ReadErrorKind)).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Total inflated size of everything that is compressed, in bytes. Default: 1 GiB, or 64 times the size of the trace if that
    /// is more.
    pub inflated_bytes: u64,
    /// Depth of nested compressed bundles. Default: 4; Perfetto writes one level.
    pub nesting: u32,
    /// Number of entries. Default: none, since an entry takes some bytes of the trace.
    pub entries: u64,
    /// Number of entries in what was compressed. Default: 2^26, or 67 million; or one for 16 of `inflated_bytes` if that is more.
    pub inflated_entries: u64,
    /// Number of sequences. Default: 2^20, or a million.
    pub sequences: u64,
}

impl Limits {
    /// The defaults for a trace of `size` bytes.
    pub fn of_size(size: u64) -> Self {
        let inflated_bytes = size.saturating_mul(64).max(1 << 30);
        Self {
            inflated_bytes,
            nesting: NESTING,
            entries: u64::MAX,
            inflated_entries: inflated_bytes / 16,
            sequences: 1 << 20,
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
