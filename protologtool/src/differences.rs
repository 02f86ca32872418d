//! The difference between two sequences, by Myers' algorithm.
//!
//! Its elements are numbers, and the algorithm is named in code: asked for one by a value, the
//! library compiles all six that it has, for each type of element, which is half a megabyte.

use similar::algorithms::{Capture, Compact, Replace, myers};
use similar::{DiffOp, group_diff_ops};
use std::collections::HashMap;
use std::hash::Hash;
use std::ops::Range;
use std::time::Instant;

/// The lines that are shown before and after one that differs.
const CONTEXT: usize = 3;

/// The steps from `old` to `new`; after the deadline, some that are right and more than needed.
pub(crate) fn steps(old: &[usize], new: &[usize], deadline: Option<Instant>) -> Vec<DiffOp> {
    let mut steps = Compact::new(Replace::new(Capture::new()), old, new);
    let (before, after) = (0..old.len(), 0..new.len());
    let Ok(()) = myers::diff_deadline(&mut steps, old, before, new, after, deadline);
    steps.into_inner().into_inner().into_ops()
}

/// Numbers for elements, the same for those that are equal.
pub(crate) fn numbers<T: Eq + Hash + Copy>(elements: [&[T]; 2]) -> [Vec<usize>; 2] {
    let mut numbers = HashMap::new();
    elements.map(|elements| {
        let mut number = |element: &T| {
            let next = numbers.len();
            *numbers.entry(*element).or_insert(next)
        };
        elements.iter().map(&mut number).collect()
    })
}

/// The hunks of a unified difference from `old` to `new`.
pub(crate) fn unified(old: &[u8], new: &[u8]) -> Vec<u8> {
    let is_end = |byte: &u8| *byte == b'\n';
    let [old, new] = [old, new].map(|text| text.split_inclusive(is_end).collect::<Vec<_>>());
    let [before, after] = numbers([&old, &new]);
    let hunks = group_diff_ops(steps(&before, &after, None), CONTEXT);
    let mut text = Vec::new();
    for hunk in &hunks {
        let [Some(first), Some(last)] = [hunk.first(), hunk.last()] else { continue };
        let removed = lines(first.old_range().start..last.old_range().end);
        let added = lines(first.new_range().start..last.new_range().end);
        text.extend_from_slice(format!("@@ -{removed} +{added} @@\n").as_bytes());
        for step in hunk {
            let (before, after) = (&old[step.old_range()], &new[step.new_range()]);
            if let DiffOp::Equal { .. } = step {
                write_lines(&mut text, b' ', before);
            } else {
                write_lines(&mut text, b'-', before);
                write_lines(&mut text, b'+', after);
            }
        }
    }
    text
}

/// The lines of a hunk as its header names them: the first, and their number unless it is one.
fn lines(range: Range<usize>) -> String {
    match range.len() {
        0 => format!("{},0", range.start),
        1 => (range.start + 1).to_string(),
        count => format!("{},{count}", range.start + 1),
    }
}

fn write_lines(text: &mut Vec<u8>, sign: u8, lines: &[&[u8]]) {
    for line in lines {
        text.push(sign);
        text.extend_from_slice(line);
        if !line.ends_with(b"\n") {
            text.extend_from_slice(b"\n\\ No newline at end of file\n");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each pair of texts, and the difference that GNU diff prints of them.
    const PAIRS: [(&str, &str, &str); 4] = [
        ("a\nb\n", "a\nb\n", ""),
        ("", "a\n", "@@ -0,0 +1 @@\n+a\n"),
        (
            "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n",
            "1\nii\n3\n4\n5\n6\n7\n8\n9\n10\n11\nxii\n",
            "@@ -1,5 +1,5 @@\n 1\n-2\n+ii\n 3\n 4\n 5\n@@ -9,4 +9,4 @@\n 9\n 10\n 11\n-12\n+xii\n",
        ),
        ("a\nb", "b\n", "@@ -1,2 +1 @@\n-a\n-b\n\\ No newline at end of file\n+b\n"),
    ];

    #[test]
    fn differences_are_those_of_diff() {
        for (old, new, expected) in PAIRS {
            let found = unified(old.as_bytes(), new.as_bytes());
            assert_eq!(found, expected.as_bytes(), "from {old:?} to {new:?}");
        }
    }
}
