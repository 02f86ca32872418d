//! The edits of one file, in order.
//!
//! Log calls nest (a call within a lambda that is an argument of another), so insertions of several calls can meet at one
//! offset, where only one order is right:
//!
//! ```text
//! ProtoLog.d(G, "%b", ProtoLog.isEnabled(G, L))      offset of the inner call
//!                     ^ outer: insert `IMPL.b(`      first, since it wraps the larger stretch
//!                     ^ inner: replace `ProtoLog`    second
//! ```
//!
//! Hence two primitives: [`wrap`](PlanBuilder::wrap) puts text around a stretch, [`replace`](PlanBuilder::replace) puts text
//! in its place. At one offset whatever closes comes before whatever opens, small stretches close before large ones, large
//! ones open before small ones, and of equal stretches the one added first is outside.
//!
//! Invariant: the edits of a [`Plan`] are sorted by start, and none begins before the previous one ends.

use super::Edit;
use std::cmp::Reverse;
use std::{fmt, ops::Range};

/// Sorted, disjoint edits of one file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    edits: Vec<Edit>,
}

impl Plan {
    /// The edits, in order.
    pub fn edits(&self) -> &[Edit] {
        &self.edits
    }

    /// Whether nothing changes.
    pub fn is_empty(&self) -> bool {
        self.edits.is_empty()
    }
}

/// Two replacements of the same bytes: a fault of the language's `emit`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Overlap {
    /// Where the second edit begins, inside the first.
    pub at: usize,
}

impl fmt::Display for Overlap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "two edits overlap at byte {}", self.at)
    }
}

impl std::error::Error for Overlap {}

/// Collects edits in any order.
#[derive(Clone, Debug, Default)]
pub struct PlanBuilder {
    edits: Vec<(Order, Edit)>,
}

/// Where an edit sorts: offset, then what closes (small stretches first), then what opens (large stretches first), then what
/// replaces.
type Order = (usize, Role, usize, (usize, Reverse<usize>));

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Role {
    Close,
    Open,
    Replace,
}

impl PlanBuilder {
    /// Inserts `before` where `range` begins and `after` where it ends.
    pub fn wrap(
        &mut self,
        range: Range<usize>,
        before: impl Into<String>,
        after: impl Into<String>,
    ) {
        let (length, added) = (range.len(), self.edits.len());
        for (role, at, size, text) in [
            (Role::Open, range.start, usize::MAX - length, before.into()),
            (Role::Close, range.end, length, after.into()),
        ] {
            if text.is_empty() {
                continue;
            }
            let tie = match role {
                Role::Close => (0, Reverse(added)),
                _ => (added, Reverse(0)),
            };
            self.edits.push(((at, role, size, tie), Edit { range: at..at, text }));
        }
    }

    /// Puts `text` in the place of `range`.
    pub fn replace(&mut self, range: Range<usize>, text: impl Into<String>) {
        let order = (range.start, Role::Replace, 0, (self.edits.len(), Reverse(0)));
        self.edits.push((order, Edit { range, text: text.into() }));
    }

    /// Sorts the edits and makes sure that they are disjoint.
    pub fn finish(mut self) -> Result<Plan, Overlap> {
        self.edits.sort_by_key(|(order, _)| *order);
        let edits: Vec<Edit> = self.edits.into_iter().map(|(_, edit)| edit).collect();
        match edits.windows(2).find(|pair| pair[1].range.start < pair[0].range.end) {
            Some(pair) => Err(Overlap { at: pair[1].range.start }),
            None => Ok(Plan { edits }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rewrite::apply;

    fn applied(original: &str, build: impl FnOnce(&mut PlanBuilder)) -> String {
        let mut builder = PlanBuilder::default();
        build(&mut builder);
        String::from_utf8(apply(original.as_bytes(), &builder.finish().unwrap())).unwrap()
    }

    #[test]
    fn wraps_nest_whatever_the_order_they_come_in() {
        for outer_first in [true, false] {
            let text = applied("ab", |plan| {
                let wraps = [(0..2, "(", ")"), (0..1, "[", "]"), (1..2, "{", "}")];
                let order: [usize; 3] = if outer_first { [0, 1, 2] } else { [2, 1, 0] };
                for at in order {
                    let (range, before, after) = wraps[at].clone();
                    plan.wrap(range, before, after);
                }
            });
            assert_eq!(text, "([a]{b})");
        }
    }

    #[test]
    fn of_equal_stretches_the_first_is_outside() {
        let text = applied("x", |plan| {
            plan.wrap(0..1, "(", ")");
            plan.wrap(0..1, "[", "]");
            plan.replace(0..1, "y");
        });
        assert_eq!(text, "([y])");
    }

    #[test]
    fn overlapping_replacements_are_refused() {
        let mut builder = PlanBuilder::default();
        builder.replace(0..3, "a");
        builder.replace(2..4, "b");
        assert_eq!(builder.finish(), Err(Overlap { at: 2 }));
    }
}
