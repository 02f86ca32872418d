//! The check that a stored dictionary is still that of the sources.

use super::{cant_read, read_dictionary};
use crate::differences;
use crate::exit::Failure;
use crate::system::System;
use similar::{DiffOp, group_diff_ops};
use std::fmt::Write as _;
use std::ops::Range;
use std::path::Path;
use viewer_config::{Dictionary, Format, Statements};

/// The lines that are shown before and after one that differs.
const CONTEXT: usize = 3;

/// The difference from the dictionary in the file to `current`, as a unified difference of their
/// JSON forms, which hold all that is in any form; none if they are the same. Where JSON is to be
/// that of `aosp`, a file in JSON is compared byte for byte.
pub(crate) fn difference(
    path: &Path,
    current: &Dictionary,
    aosp: Option<&Statements>,
    system: &dyn System,
) -> Result<Option<String>, Failure> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let of_aosp = aosp.filter(|_| Format::of_path(path) == Some(Format::Json));
    let [kept, current] = match of_aosp.and_then(|aosp| aosp.to_bytes(Format::Json)) {
        Some(current) => {
            let kept = system.read(path).map_err(|error| cant_read(path, &error))?;
            [text(&kept), text(&current)]
        }
        None => [&read_dictionary(path, system)?, current]
            .map(|dictionary| text(&dictionary.to_bytes(Format::Json))),
    };
    if kept == current {
        return Ok(None);
    }
    let header = format!("--- {}\n+++ of the sources\n", path.display());
    Ok(Some(header + &unified(&kept, &current)))
}

/// The hunks of a unified difference from `old` to `new`.
fn unified(old: &str, new: &str) -> String {
    let [old, new] = [old, new].map(|text| text.split_inclusive('\n').collect::<Vec<_>>());
    let [before, after] = differences::numbers([&old, &new]);
    let hunks = group_diff_ops(differences::steps(&before, &after, None), CONTEXT);
    let mut text = String::new();
    for hunk in &hunks {
        let [Some(first), Some(last)] = [hunk.first(), hunk.last()] else { continue };
        let removed = lines(first.old_range().start..last.old_range().end);
        let added = lines(first.new_range().start..last.new_range().end);
        let _ = writeln!(text, "@@ -{removed} +{added} @@");
        for step in hunk {
            let (before, after) = (&old[step.old_range()], &new[step.new_range()]);
            if let DiffOp::Equal { .. } = step {
                write_lines(&mut text, ' ', before);
            } else {
                write_lines(&mut text, '-', before);
                write_lines(&mut text, '+', after);
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

fn write_lines(text: &mut String, sign: char, lines: &[&str]) {
    for line in lines {
        let end = if line.ends_with('\n') { "" } else { "\n\\ No newline at end of file\n" };
        let _ = write!(text, "{sign}{line}{end}");
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
            assert_eq!(unified(old, new), expected, "from {old:?} to {new:?}");
        }
    }
}
