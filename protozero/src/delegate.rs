//! The memory of a writer.
//!
//! A [`Writer`](crate::Writer) fills one range of memory at a time and asks its delegate for the
//! next. The delegate owns the memory, in pieces of any size from [`MIN_RANGE`] up; the writer
//! reaches it through [`range`](Delegate::range) at every write, so no pointer outlives a borrow
//! and this crate needs no unsafe code.

/// Minimum size of a range from [`Delegate::next_range`]: a size field, and room beside it.
pub const MIN_RANGE: usize = 8;

/// Maximum size of a range, 2 GiB: no protobuf message is longer.
pub const MAX_RANGE: usize = 1 << 31;

/// A provider of memory, range by range.
///
/// # Contract
///
/// The contract does not concern memory safety; a delegate that breaks it gets a wrong message.
/// - `range` returns the same memory, with the bytes written to it, until `next_range` is called.
///   It should be a plain field access, because every setter calls it.
/// - The first range may be empty. Any further one has at least [`MIN_RANGE`] bytes; a smaller one
///   counts as exhausted. None has more than [`MAX_RANGE`].
/// - The writer may store up to 15 meaningless bytes after its position, never outside the range.
pub trait Delegate {
    /// The range that is being written.
    fn range(&mut self) -> &mut [u8];

    /// Ends the current range and makes another one current.
    ///
    /// # Errors
    /// [`Exhausted`] if there is no more memory. The writer then stops writing, counts the bytes
    /// that don't fit, and neither asks again nor sends patches.
    fn next_range(&mut self, ended: Ended) -> Result<(), Exhausted>;

    /// Stores a size field in a range that has ended. Each of [`Ended::open_sizes`] becomes one
    /// call, innermost first, unless memory runs out first or the message is leaked.
    fn patch(&mut self, patch: Patch);
}

impl<D: Delegate + ?Sized> Delegate for &mut D {
    #[inline]
    fn range(&mut self) -> &mut [u8] {
        (**self).range()
    }

    fn next_range(&mut self, ended: Ended) -> Result<(), Exhausted> {
        (**self).next_range(ended)
    }

    fn patch(&mut self, patch: Patch) {
        (**self).patch(patch);
    }
}

/// There is no more memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exhausted;

/// A range that has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ended {
    /// Index of the range: 0 for the first one that the writer saw, then counting up.
    pub range: u32,
    /// Bytes of it that are part of the message, from its start. Up to 3 more bytes are unused if a
    /// size field did not fit.
    pub used: usize,
    /// Size fields in it whose values are not known yet and will come as patches.
    pub open_sizes: u32,
}

/// The value of a size field in a range that has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patch {
    /// Index of the range, as in [`Ended::range`].
    pub range: u32,
    /// Offset in that range, in bytes.
    pub offset: u32,
    /// Offset in the whole message, in bytes: the used parts of all ranges before, plus `offset`.
    pub position: u64,
    /// The bytes to store there.
    pub bytes: [u8; 4],
}

/// A single slice. A message that does not fit is an error, which has the size that was needed.
#[derive(Debug)]
pub struct Fixed<'a> {
    memory: &'a mut [u8],
}

impl<'a> Fixed<'a> {
    /// A delegate that fills `memory`, at most [`MAX_RANGE`] bytes of it.
    pub fn new(memory: &'a mut [u8]) -> Self {
        let len = memory.len().min(MAX_RANGE);
        Self { memory: memory.get_mut(..len).unwrap_or_default() }
    }

    pub(crate) fn into_memory(self) -> &'a mut [u8] {
        self.memory
    }
}

impl Delegate for Fixed<'_> {
    #[inline]
    fn range(&mut self) -> &mut [u8] {
        self.memory
    }

    #[cold]
    fn next_range(&mut self, _: Ended) -> Result<(), Exhausted> {
        Err(Exhausted)
    }

    /// Never called: patches come for ended ranges, and the end of the only one is the end of
    /// writing.
    fn patch(&mut self, _: Patch) {}
}
