//! The numbers of log calls that a run reports.

use std::fmt;
use std::ops::AddAssign;

/// Numbers of log calls, by what becomes of them. Each call is one of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CallCounts {
    /// Those that are rewritten, if nothing else is wrong.
    pub rewritten: usize,
    /// Those with an error.
    pub refused: usize,
    /// Those that stay as they are, which a note or a warning says.
    pub listed: usize,
}

impl CallCounts {
    /// The number of all.
    pub fn found(self) -> usize {
        self.rewritten + self.refused + self.listed
    }

    /// Returns whether none is refused and none stays.
    pub fn are_all_rewritten(self) -> bool {
        self.refused + self.listed == 0
    }
}

impl AddAssign for CallCounts {
    fn add_assign(&mut self, other: Self) {
        self.rewritten += other.rewritten;
        self.refused += other.refused;
        self.listed += other.listed;
    }
}

impl fmt::Display for CallCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { rewritten, refused, listed } = self;
        let found = self.found();
        write!(
            f,
            "log calls: {found} found = {rewritten} rewritten + {refused} refused + {listed} listed"
        )
    }
}
