//! A delegate with ranges of any size, for all tests of writing.
//!
//! [`Scattered`] checks the writer's side of the contract of `Delegate`:
//!
//! - The report of a range must fit the range.
//! - Every open size field must come as a patch.
//! - A patch must hit a size field that still has its reserved value.

use protozero::delegate::{Delegate, Ended, Exhausted, Patch};
use protozero::{Message, WriteError, Writer};

/// The bytes of a size field whose value is not known yet.
const RESERVED: [u8; 4] = [0x80, 0x80, 0x80, 0x00];

/// Memory in ranges whose sizes repeat, filled with a byte that no test writes by chance.
pub(crate) struct Scattered {
    sizes: Vec<usize>,
    ranges: Vec<Vec<u8>>,
    ended: Vec<Ended>,
    /// Start of each ended range in the message, and of the next one.
    starts: Vec<u64>,
    patches: u32,
    limit: usize,
}

impl Scattered {
    /// The first range has `first` bytes, the others have those of `sizes` in turn.
    pub(crate) fn new(first: usize, sizes: &[usize]) -> Self {
        let ranges = vec![vec![0xee; first]];
        Self {
            sizes: sizes.to_vec(),
            ranges,
            ended: Vec::new(),
            starts: vec![0],
            patches: 0,
            limit: usize::MAX,
        }
    }

    /// As [`new`](Self::new), with at most `limit` ranges in all.
    pub(crate) fn limited(first: usize, sizes: &[usize], limit: usize) -> Self {
        Self { limit, ..Self::new(first, sizes) }
    }

    /// The number of ranges that were used.
    pub(crate) fn ranges(&self) -> usize {
        self.ranges.len()
    }

    /// The number of patches.
    pub(crate) fn patches(&self) -> u32 {
        self.patches
    }

    /// Checks that all announced patches have come, and returns the message.
    pub(crate) fn into_message(self, last: Ended, length: u64) -> Vec<u8> {
        let Self { ranges, mut ended, patches, .. } = self;
        assert_eq!(ended.iter().map(|ended| ended.open_sizes).sum::<u32>(), patches);
        assert_eq!(last.open_sizes, 0);
        assert_eq!(last.range as usize, ended.len());
        ended.push(last);
        let bytes = ranges.iter().zip(&ended).flat_map(|(range, ended)| &range[..ended.used]);
        let bytes: Vec<u8> = bytes.copied().collect();
        assert_eq!(bytes.len() as u64, length);
        bytes
    }
}

impl Delegate for Scattered {
    fn range(&mut self) -> &mut [u8] {
        self.ranges.last_mut().expect("there is a first range")
    }

    fn next_range(&mut self, ended: Ended) -> Result<(), Exhausted> {
        assert_eq!(ended.range as usize, self.ended.len());
        let unused = self.range().len() - ended.used;
        assert!(unused < 4, "a range is left with {unused} bytes unused");
        self.ended.push(ended);
        self.starts.push(self.starts[ended.range as usize] + ended.used as u64);
        if self.ranges.len() == self.limit {
            return Err(Exhausted);
        }
        let size = self.sizes[(self.ranges.len() - 1) % self.sizes.len()];
        self.ranges.push(vec![0xee; size]);
        Ok(())
    }

    fn patch(&mut self, patch: Patch) {
        let range = patch.range as usize;
        assert_eq!(patch.position, self.starts[range] + u64::from(patch.offset));
        assert!(self.ended[range].open_sizes > 0, "a patch for a range without open sizes");
        let start = patch.offset as usize;
        let place = &mut self.ranges[range][start..start + 4];
        assert_eq!(place, RESERVED, "a patch beside a size field");
        place.copy_from_slice(&patch.bytes);
        self.patches += 1;
    }
}

/// The delegate type under which one closure can write to all delegates.
pub(crate) type AnyDelegate<'a> = &'a mut dyn Delegate;

/// Writes a message with a delegate whose type is known at run time only; returns the last range
/// and the length.
pub(crate) fn write_with(
    delegate: AnyDelegate<'_>,
    write: impl Fn(&mut Message<'_, AnyDelegate<'_>>),
) -> Result<(Ended, u64), WriteError> {
    let mut writer = Writer::new(delegate);
    write(&mut writer.message());
    writer.finish().map(|finished| (finished.ended, finished.length))
}

/// The bytes of a message that is written over ranges of the given sizes.
pub(crate) fn write_scattered(
    first: usize,
    sizes: &[usize],
    write: impl Fn(&mut Message<'_, AnyDelegate<'_>>),
) -> Vec<u8> {
    let mut scattered = Scattered::new(first, sizes);
    let (ended, length) = write_with(&mut scattered, write).expect("memory without limit");
    scattered.into_message(ended, length)
}
