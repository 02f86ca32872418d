//! Edits of a text: an [`Edit`] is a value, a [`Plan`] is a sorted and disjoint list of them,
//! [`Plan::apply`] is a pure function, and a [`PositionMap`] translates offsets between the
//! original and the output.
//!
//! No tree is ever printed back, so every byte outside an edit stays as it is. The languages keep
//! the line ends and comments of the text that they replace, so that no line moves;
//! [`Plan::keeps_lines`] checks it.
//!
//! Log calls nest (a call within a lambda that is an argument of another), so insertions of several
//! calls can meet at one offset, where only one order is right:
//!
//! ```text
//! ProtoLog.d(G, "%b", ProtoLog.isEnabled(G, L))      offset of the inner call
//!                     ^ outer: insert `IMPL.b(`      first, since it wraps the larger range
//!                     ^ inner: replace `ProtoLog`    second
//! ```
//!
//! Hence two primitives: [`wrap`](PlanBuilder::wrap) inserts text around a range,
//! [`replace`](PlanBuilder::replace) substitutes a range. [`SortKey`] states the order at one
//! offset.
//!
//! Invariant: the edits of a [`Plan`] are sorted by start, and none begins before the previous one
//! ends.

use crate::source::line_ends;
use std::cmp::Reverse;
use std::{fmt, ops::Range};

/// A replacement of a range of the original by new text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// Byte range of the original. An empty range inserts.
    pub range: Range<usize>,
    /// The text that replaces it.
    pub text: String,
}

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

    /// Reports that nothing changes.
    pub fn is_empty(&self) -> bool {
        self.edits.is_empty()
    }

    /// The original with the edits made. A plan made for another text is cut to this one's length
    /// rather than panicking.
    pub fn apply(&self, original: &[u8]) -> Vec<u8> {
        let growth: usize = self.edits.iter().map(|edit| edit.text.len()).sum();
        let mut output = Vec::with_capacity(original.len() + growth);
        let mut copied = 0;
        for edit in &self.edits {
            let start = edit.range.start.min(original.len());
            output.extend_from_slice(&original[copied..start]);
            output.extend_from_slice(edit.text.as_bytes());
            copied = edit.range.end.min(original.len());
        }
        output.extend_from_slice(&original[copied..]);
        output
    }

    /// The plan with a space wherever it would make one line end of two: a carriage return that an
    /// edit moves next to a line feed.
    #[must_use]
    pub fn with_line_ends_parted(mut self, original: &[u8]) -> Self {
        let stands_at = |offset: usize, byte: u8| original.get(offset) == Some(&byte);
        let (mut copied, mut last_is_return) = (0, false);
        for at in 0..self.edits.len() {
            let next_start = self.edits.get(at + 1).map_or(original.len(), |next| next.range.start);
            let Edit { range, text } = &mut self.edits[at];
            if range.start > copied {
                last_is_return = stands_at(range.start - 1, b'\r');
            }
            let was_one = last_is_return && stands_at(range.start, b'\n');
            if last_is_return && text.starts_with('\n') && !was_one {
                text.insert(0, ' ');
            }
            last_is_return = if text.is_empty() { last_is_return } else { text.ends_with('\r') };
            let was_one = range.end > 0 && stands_at(range.end - 1, b'\r');
            let is_copied = range.end < next_start;
            if is_copied && last_is_return && stands_at(range.end, b'\n') && !was_one {
                text.push(' ');
            }
            copied = range.end;
        }
        self
    }

    /// The map between offsets of the original and offsets of the output.
    pub fn map(&self) -> PositionMap {
        let mut spans = Vec::with_capacity(self.edits.len());
        let (mut original_end, mut output_end) = (0, 0);
        for Edit { range, text } in &self.edits {
            let start = output_end + (range.start - original_end);
            (original_end, output_end) = (range.end, start + text.len());
            spans.push(Span { original: range.clone(), output: start..output_end });
        }
        PositionMap { spans }
    }

    /// Checks that no line number moves outside `calls`: each line end of the output is the
    /// original's of the same number, or stands in the text that replaced it, or both stand in one
    /// call.
    pub fn keeps_lines(&self, original: &[u8], output: &[u8], calls: &[Range<usize>]) -> bool {
        let map = self.map();
        let is_same =
            |old: usize, new: usize| map.to_output(old) <= new && map.to_original(new) <= old;
        let is_in_one_call = |old: usize, new: usize| {
            let new = map.to_original(new);
            calls.iter().any(|call| call.contains(&old) && call.contains(&new))
        };
        let (mut old, mut new) = (line_ends(original), line_ends(output));
        loop {
            match (old.next(), new.next()) {
                (None, None) => return true,
                (Some(old), Some(new)) => {
                    let (old, new) = (old.start, new.start);
                    if !is_same(old, new) && !is_in_one_call(old, new) {
                        return false;
                    }
                }
                _ => return false,
            }
        }
    }
}

/// Translates offsets between an original and the output of its [`Plan`].
///
/// An offset stands for the byte that begins there, the length of a text for its end. Both
/// directions are monotonic, and a byte outside every edit comes back to itself.
///
/// ```
/// use protologtool::rewrite::PlanBuilder;
///
/// let mut plan = PlanBuilder::default();
/// plan.wrap(2..5, "<", ">");
/// plan.replace(6..7, "two");
/// let plan = plan.finish().unwrap();
/// assert_eq!(plan.apply(b"a bcd 2."), b"a <bcd> two.");
/// let map = plan.map();
/// assert_eq!((map.to_output(2), map.to_output(7)), (3, 11)); // `b` and the full stop
/// assert_eq!((map.to_original(2), map.to_original(10)), (2, 6)); // `<`, and `o` within `two`
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PositionMap {
    spans: Vec<Span>,
}

/// One edit: the bytes that it takes from the original, and the bytes that it gives the output.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Span {
    original: Range<usize>,
    output: Range<usize>,
}

impl PositionMap {
    /// The offset in the output of the byte at `offset` of the original. A byte that is replaced is
    /// where the text in its place begins; text inserted at `offset` stands before its byte.
    pub fn to_output(&self, offset: usize) -> usize {
        let index = self.spans.partition_point(|span| span.original.end <= offset);
        match self.spans.get(index) {
            Some(span) if span.original.contains(&offset) => span.output.start,
            _ => match index.checked_sub(1).map(|last| &self.spans[last]) {
                Some(span) => span.output.end + (offset - span.original.end),
                None => offset,
            },
        }
    }

    /// The offset in the original of the byte at `offset` of the output. A byte of inserted text is
    /// where it was inserted, a byte of replacing text where the replaced range begins.
    pub fn to_original(&self, offset: usize) -> usize {
        let index = self.spans.partition_point(|span| span.output.end <= offset);
        match self.spans.get(index) {
            Some(span) if span.output.contains(&offset) => span.original.start,
            _ => match index.checked_sub(1).map(|last| &self.spans[last]) {
                Some(span) => span.original.end + (offset - span.output.end),
                None => offset,
            },
        }
    }
}

/// Two replacements of the same bytes: a defect of the language's `emit`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Overlap {
    /// The start of the second edit, inside the first.
    pub offset: usize,
}

impl fmt::Display for Overlap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "two edits overlap at byte {}", self.offset)
    }
}

impl std::error::Error for Overlap {}

/// Collects edits in any order.
#[derive(Clone, Debug, Default)]
pub struct PlanBuilder {
    edits: Vec<(SortKey, Edit)>,
}

/// The order of edits: by offset, and at one offset by role, in the order of the variants and of
/// their fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct SortKey {
    offset: usize,
    role: Role,
}

/// The side of its range on which an edit inserts, if it only inserts. Short ranges close before
/// long ones, long ones open before short ones, and of equal ranges the one added first is outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Role {
    Close { length: usize, added: Reverse<usize> },
    Open { length: Reverse<usize>, added: usize },
    Replace { added: usize },
}

impl Extend<Edit> for PlanBuilder {
    fn extend<I: IntoIterator<Item = Edit>>(&mut self, edits: I) {
        for Edit { range, text } in edits {
            self.replace(range, text);
        }
    }
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
        self.insert(range.start, Role::Open { length: Reverse(length), added }, before.into());
        self.insert(range.end, Role::Close { length, added: Reverse(added) }, after.into());
    }

    fn insert(&mut self, offset: usize, role: Role, text: String) {
        if !text.is_empty() {
            self.edits.push((SortKey { offset, role }, Edit { range: offset..offset, text }));
        }
    }

    /// Replaces `range` by `text`.
    pub fn replace(&mut self, range: Range<usize>, text: impl Into<String>) {
        let key = SortKey { offset: range.start, role: Role::Replace { added: self.edits.len() } };
        self.edits.push((key, Edit { range, text: text.into() }));
    }

    /// Sorts the edits and checks that they are disjoint.
    pub fn finish(mut self) -> Result<Plan, Overlap> {
        self.edits.sort_by_key(|(key, _)| *key);
        let edits: Vec<Edit> = self.edits.into_iter().map(|(_, edit)| edit).collect();
        match edits.windows(2).find(|pair| pair[1].range.start < pair[0].range.end) {
            Some(pair) => Err(Overlap { offset: pair[1].range.start }),
            None => Ok(Plan { edits }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn plan(build: impl FnOnce(&mut PlanBuilder)) -> Plan {
        let mut builder = PlanBuilder::default();
        build(&mut builder);
        builder.finish().unwrap()
    }

    fn applied(original: &str, build: impl FnOnce(&mut PlanBuilder)) -> String {
        String::from_utf8(plan(build).apply(original.as_bytes())).unwrap()
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
    fn of_equal_ranges_the_first_is_outside() {
        let text = applied("x", |plan| {
            plan.wrap(0..1, "(", ")");
            plan.wrap(0..1, "[", "]");
            plan.replace(0..1, "y");
        });
        assert_eq!(text, "([y])");
    }

    #[test]
    fn no_edit_makes_one_line_end_of_two() {
        // The original with the edited part in brackets, its new text, and what comes out.
        let cases = [
            ("a[b]\nc", "\r", "a\r \nc"),
            ("a\r[b]c", "\n", "a\r \nc"),
            ("a\r[b]\nc", "", "a\r \nc"),
            ("a[\r]\nb", "x\r", "ax\r\nb"),
            ("a\r[\n]b", "\nx", "a\r\nxb"),
            ("a[b]\r\nc", "\r", "a\r\r\nc"),
            ("a[b]\rc", "\r", "a\r\rc"),
        ];
        for (marked, text, expected) in cases {
            let (start, end) = (marked.find('[').unwrap(), marked.find(']').unwrap() - 1);
            let original = marked.replace(['[', ']'], "");
            let plan = plan(|plan| plan.replace(start..end, text));
            let plan = plan.with_line_ends_parted(original.as_bytes());
            assert_eq!(plan.apply(original.as_bytes()), expected.as_bytes(), "{marked:?}");
        }
        let plan = plan(|plan| {
            plan.replace(1..2, "\r");
            plan.replace(2..3, "\n");
        });
        assert_eq!(plan.with_line_ends_parted(b"abcd").apply(b"abcd"), b"a\r \nd");
    }

    #[test]
    fn overlapping_replacements_are_refused() {
        let mut builder = PlanBuilder::default();
        builder.replace(0..3, "a");
        builder.replace(2..4, "b");
        assert_eq!(builder.finish(), Err(Overlap { offset: 2 }));
    }

    /// Marks, in both texts, the places of each other: `^` below a byte of the original points at
    /// its place in the output.
    #[test]
    fn offsets_in_pairs() {
        // Inserted before `b`, `cd` replaced by one byte, `e` removed, inserted at the end.
        let plan = plan(|plan| {
            plan.wrap(1..1, "12", "");
            plan.replace(2..4, "X");
            plan.replace(4..5, "");
            plan.wrap(6..6, "34", "");
        });
        let (original, output) = (b"abcdef", b"a12bXf34");
        assert_eq!(plan.apply(original), output);
        let map = plan.map();
        let to_output: Vec<usize> = (0..=original.len()).map(|at| map.to_output(at)).collect();
        assert_eq!(to_output, [0, 3, 4, 4, 5, 5, 8]);
        let to_original: Vec<usize> = (0..=output.len()).map(|at| map.to_original(at)).collect();
        assert_eq!(to_original, [0, 1, 1, 1, 2, 5, 6, 6, 6]);
    }

    #[test]
    fn lines_are_kept_or_not() {
        let original = "a\nb(\"c\\\n\nd\")\ne";
        for (range, text, expected) in [
            (0..0, "x", true),
            (0..0, "x\n", false),
            (1..2, "\r\n", true),
            (1..2, "", false),
            (4..11, "id\n\n", true),
            (4..11, "\n\nid", true),
            (4..11, "id\n", false),
        ] {
            let plan = plan(|plan| plan.replace(range.clone(), text));
            let output = plan.apply(original.as_bytes());
            let keeps = plan.keeps_lines(original.as_bytes(), &output, &[]);
            assert_eq!(keeps, expected, "{range:?} by {text:?}");
        }
        // As many lines as before, but another one is cut in two.
        let moved = plan(|plan| {
            plan.replace(1..2, " ");
            plan.wrap(12..12, "\n", "");
        });
        let output = moved.apply(original.as_bytes());
        for (call, expected) in [(1..13, true), (1..12, false), (2..13, false)] {
            let keeps =
                moved.keeps_lines(original.as_bytes(), &output, std::slice::from_ref(&call));
            assert_eq!(keeps, expected, "{call:?}");
        }
    }

    /// A byte of the output, and where it comes from.
    #[derive(Clone, Copy)]
    enum Origin {
        Kept(usize),
        Edited { original: usize },
    }

    /// The origins of all bytes of the output, one by one.
    fn origins(plan: &Plan, length: usize) -> Vec<Origin> {
        let (mut origins, mut copied) = (Vec::new(), 0);
        for edit in plan.edits() {
            origins.extend((copied..edit.range.start).map(Origin::Kept));
            let original = edit.range.start;
            origins.extend(edit.text.bytes().map(|_| Origin::Edited { original }));
            copied = edit.range.end;
        }
        origins.extend((copied..length).map(Origin::Kept));
        origins
    }

    /// Disjoint replacements, empty ones among them, and insertions around each.
    fn plans() -> impl Strategy<Value = (usize, Plan)> {
        let step = (0..4_usize, 0..4_usize, "[a-c]{0,3}", "[x-z]{0,2}", "[0-2]{0,2}");
        (prop::collection::vec(step, 0..8), 0..4_usize).prop_map(|(steps, rest)| {
            let (mut builder, mut at) = (PlanBuilder::default(), 0);
            for (skip, length, text, before, after) in steps {
                let range = at + skip..at + skip + length;
                at = range.end;
                builder.wrap(range.clone(), before, after);
                if !range.is_empty() {
                    builder.replace(range, text);
                }
            }
            (at + rest, builder.finish().unwrap())
        })
    }

    proptest! {
        #[test]
        fn offsets_are_those_of_a_walk_over_all_bytes((length, plan) in plans()) {
            let (map, origins) = (plan.map(), origins(&plan, length));
            for (at, origin) in origins.iter().enumerate() {
                let (Origin::Kept(original) | Origin::Edited { original }) = *origin;
                prop_assert_eq!(map.to_original(at), original);
                if matches!(origin, Origin::Kept(_)) {
                    prop_assert_eq!(map.to_output(original), at);
                }
            }
            prop_assert_eq!(map.to_original(origins.len()), length);
            prop_assert_eq!(map.to_output(length), origins.len());
            for edit in plan.edits() {
                // The bytes of the output before the text of the edit, counted one by one.
                let before = |other: &&Edit| other.range.end <= edit.range.start && **other != *edit;
                let removed: usize = plan.edits().iter().filter(before).map(|e| e.range.len()).sum();
                let inserted: usize = plan.edits().iter().filter(before).map(|e| e.text.len()).sum();
                for replaced in edit.range.clone() {
                    prop_assert_eq!(map.to_output(replaced), edit.range.start - removed + inserted);
                }
            }
            let outputs: Vec<usize> = (0..=length).map(|at| map.to_output(at)).collect();
            prop_assert!(outputs.is_sorted());
            let originals: Vec<usize> = (0..=origins.len()).map(|at| map.to_original(at)).collect();
            prop_assert!(originals.is_sorted());
        }
    }
}
