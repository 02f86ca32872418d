//! Stretches of a text that were looked at for assignments and switches, which few arguments hold.
//!
//! Calls stand in the arguments of others, so that a question about one argument is soon asked of a
//! part of it: no byte is looked at twice as long as the questions come in source order.

use std::ops::Range;

/// The places that a stretch of a text has.
#[derive(Clone, Debug, Default)]
pub(crate) struct Marks {
    stretch: Range<usize>,
    assignments: Vec<usize>,
    switches: Vec<usize>,
}

/// The kinds of code that may stand in a stretch, by its text alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Holds {
    pub(crate) assignment: bool,
    pub(crate) switch: bool,
}

impl Marks {
    /// Says which of them may stand in `range`.
    pub(crate) fn in_range(&mut self, text: &[u8], range: Range<usize>) -> Holds {
        if !(self.stretch.start..=self.stretch.end).contains(&range.start) {
            *self = Self { stretch: range.start..range.start, ..Self::default() };
        }
        for at in self.stretch.end..range.end {
            self.look(text, at);
        }
        self.stretch.end = self.stretch.end.max(range.end);
        let holds = |places: &[usize]| {
            let first = places.partition_point(|at| *at < range.start);
            places.get(first).is_some_and(|at| *at < range.end)
        };
        Holds { assignment: holds(&self.assignments), switch: holds(&self.switches) }
    }

    fn look(&mut self, text: &[u8], at: usize) {
        let next = text.get(at + 1);
        let is_assignment = match text[at] {
            byte @ (b'+' | b'-') => next == Some(&byte),
            b'=' => {
                let before = at.checked_sub(1).map(|before| text[before]);
                next != Some(&b'=') && !matches!(before, Some(b'=' | b'!'))
            }
            b's' => {
                if text[at..].starts_with(b"switch") {
                    self.switches.push(at);
                }
                false
            }
            _ => false,
        };
        if is_assignment {
            self.assignments.push(at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stretches_in_any_order_and_within_each_other() {
        let text = b"a = 1; b == 2; c != 3; d++; e += 4; switch (f) { } --g; h + i; x <= 1; sw";
        let at = |part: &str| {
            let start = std::str::from_utf8(text).unwrap().find(part).unwrap();
            start..start + part.len()
        };
        let mut marks = Marks::default();
        for (part, assignment, switch) in [
            ("c != 3; d++; e += 4; switch (f)", true, true),
            ("c != 3;", false, false),
            ("d++", true, false),
            ("e += 4; switch", true, true),
            ("witch (f) { }", false, false),
            ("a = 1; b == 2", true, false),
            ("b == 2; c", false, false),
            ("--g", true, false),
            ("h + i", false, false),
            ("x <= 1; sw", true, false),
            ("1; sw", false, false),
        ] {
            let expected = Holds { assignment, switch };
            assert_eq!(marks.in_range(text, at(part)), expected, "{part}");
        }
    }
}
