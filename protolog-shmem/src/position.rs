//! The place where the next search for a page begins: in a ring, the page in turn.
//!
//! Invariant: in a ring a position only moves on, from page to page, and then to the next lap.

/// See the module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Position(pub(crate) u64);

impl Position {
    /// The first page in the first lap. No page was visited in lap 0.
    pub(crate) const FIRST: Self = Self(1 << 32);

    /// The page `page` in the same lap.
    pub(crate) fn at(self, page: usize) -> Self {
        Self(self.0 >> 32 << 32 | page as u64)
    }

    /// The page.
    pub(crate) fn page(self) -> usize {
        self.0 as u32 as usize
    }

    /// The lap. It wraps.
    pub(crate) fn lap(self) -> u32 {
        (self.0 >> 32) as u32
    }

    /// The next position in a buffer of so many pages.
    pub(crate) fn next(self, pages: usize) -> Self {
        if self.page() + 1 < pages { Self(self.0 + 1) } else { Self(((self.0 >> 32) + 1) << 32) }
    }

    /// The number of turns from `earlier` until this one; negative where it is later.
    pub(crate) fn since(self, earlier: Self, pages: usize) -> i64 {
        let laps = i64::from(self.lap().wrapping_sub(earlier.lap()) as i32);
        laps * pages as i64 + self.page() as i64 - earlier.page() as i64
    }
}
