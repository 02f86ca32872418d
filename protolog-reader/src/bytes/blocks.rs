//! The bytes behind a log, and references into them.
//!
//! A log refers to several blocks: the trace itself, each inflated bundle of packets, and repaired
//! strings. They share one address space, so a reference is an address and a length, whichever
//! block it points into.
//!
//! Invariants: blocks don't overlap and don't move; a [`Span`] made from a block's bytes lies
//! within that block. Any other span would read as empty.

/// A range of bytes in the blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) at: u64,
    pub(crate) len: u32,
}

/// All blocks of a log.
#[derive(Debug, Default)]
pub(crate) struct Blocks {
    /// Sorted by address.
    sorted: Vec<Block>,
    /// First free address.
    end: u64,
    repaired: Vec<u8>,
}

#[derive(Debug)]
struct Block {
    at: u64,
    bytes: Vec<u8>,
}

impl Block {
    /// The bytes of a span that is in this block.
    fn get(&self, span: Span) -> Option<&[u8]> {
        let start = usize::try_from(span.at.checked_sub(self.at)?).ok()?;
        self.bytes.get(start..start.checked_add(span.len as usize)?)
    }
}

/// The block in which something was found.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct BlockHint(usize);

/// Address of the repaired strings: far beyond any trace.
const REPAIRED: u64 = 1 << 62;

impl Blocks {
    /// Reserves the addresses of a block of `len` bytes; [`put`](Self::put) supplies its bytes
    /// later.
    pub(crate) fn reserve(&mut self, len: usize) -> u64 {
        let at = self.end;
        self.end += len as u64;
        at
    }

    /// The size of all blocks, in bytes.
    pub(crate) fn size(&self) -> usize {
        self.sorted.iter().map(|block| block.bytes.len()).sum()
    }

    /// Drops all blocks; their addresses are not used again.
    pub(crate) fn clear(&mut self) {
        self.sorted.clear();
        self.repaired.clear();
    }

    /// Supplies the bytes of the block that was reserved at `at`.
    pub(crate) fn put(&mut self, at: u64, bytes: Vec<u8>) {
        if bytes.is_empty() {
            // Two blocks at one address could not be told apart.
            return;
        }
        let index = self.sorted.partition_point(|block| block.at < at);
        self.sorted.insert(index, Block { at, bytes });
    }

    /// Adds `text`, the repaired form of bytes that are not UTF-8.
    ///
    /// That may be three times as long, and so have more bytes than a span: the rest is left out.
    pub(crate) fn add_repaired(&mut self, text: &str) -> Span {
        self.add_repaired_within(text, u32::MAX)
    }

    fn add_repaired_within(&mut self, text: &str, most: u32) -> Span {
        let at = REPAIRED + self.repaired.len() as u64;
        let mut end = text.len().min(most as usize);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        let text = &text[..end];
        self.repaired.extend_from_slice(text.as_bytes());
        Span { at, len: text.len() as u32 }
    }

    /// The bytes of a span.
    pub(crate) fn bytes(&self, span: Span) -> &[u8] {
        let (at, bytes) = if span.at >= REPAIRED {
            (REPAIRED, self.repaired.as_slice())
        } else {
            let index = self.sorted.partition_point(|block| block.at <= span.at);
            match index.checked_sub(1).and_then(|index| self.sorted.get(index)) {
                Some(block) => (block.at, block.bytes.as_slice()),
                None => return &[],
            }
        };
        let start = (span.at - at) as usize;
        bytes.get(start..start + span.len as usize).unwrap_or_default()
    }

    /// As [`bytes`](Self::bytes), looking first where the last ones were.
    #[inline]
    pub(crate) fn bytes_near(&self, span: Span, hint: &mut BlockHint) -> &[u8] {
        match self.sorted.get(hint.0).and_then(|block| block.get(span)) {
            Some(bytes) => bytes,
            None => self.bytes_elsewhere(span, hint),
        }
    }

    #[cold]
    fn bytes_elsewhere(&self, span: Span, hint: &mut BlockHint) -> &[u8] {
        let index = self.sorted.partition_point(|block| block.at <= span.at).saturating_sub(1);
        *hint = BlockHint(index);
        match self.sorted.get(index).and_then(|block| block.get(span)) {
            Some(bytes) => bytes,
            None => self.bytes(span),
        }
    }

    /// As [`bytes_near`](Self::bytes_near), with the rest of the block.
    #[inline]
    pub(crate) fn window_near(&self, span: Span, hint: &mut BlockHint) -> &[u8] {
        let block = self.sorted.get(hint.0);
        let window = block.and_then(|block| Some((block.get(span)?, block)));
        match window {
            Some((_, block)) => &block.bytes[(span.at - block.at) as usize..],
            None => self.bytes_near(span, hint),
        }
    }

    /// The string in a span that was made from one.
    pub(crate) fn text(&self, span: Span) -> &str {
        str::from_utf8(self.bytes(span)).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repaired_text_is_no_longer_than_a_span_can_be() {
        let mut blocks = Blocks::default();
        let cut = blocks.add_repaired_within("né\u{fffd}", 3);
        let (short, next) = (blocks.add_repaired_within("é", 1), blocks.add_repaired("next"));
        assert_eq!([cut, short, next].map(|span| blocks.text(span)), ["né", "", "next"]);
    }

    #[test]
    fn spans_find_their_bytes_whatever_the_order_of_blocks() {
        let mut blocks = Blocks::default();
        let (empty, first, second) = (blocks.reserve(0), blocks.reserve(3), blocks.reserve(2));
        let repaired = blocks.add_repaired("é");
        blocks.put(second, b"de".to_vec());
        blocks.put(first, b"abc".to_vec());
        blocks.put(empty, Vec::new());
        let text = |at, len| blocks.text(Span { at, len });
        assert_eq!((text(1, 2), text(3, 2), text(4, 1), text(5, 1)), ("bc", "de", "e", ""));
        assert_eq!(blocks.text(repaired), "é");
        let mut hint = BlockHint::default();
        for (at, len, expected) in
            [(1, 2, "bc"), (0, 3, "abc"), (4, 1, "e"), (3, 2, "de"), (5, 1, "")]
        {
            assert_eq!(blocks.bytes_near(Span { at, len }, &mut hint), expected.as_bytes());
        }
        assert_eq!(blocks.bytes_near(repaired, &mut hint), "é".as_bytes());
    }
}
