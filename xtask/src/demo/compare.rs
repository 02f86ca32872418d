//! Comparing the output of two runs.

use std::path::Path;

use crate::{Result, workspace};

/// The number of lines of two files that are equal; an error with the first difference where they
/// are not.
pub(super) fn equal_lines(one: &Path, other: &Path) -> Result<usize> {
    let read = |path: &Path| workspace::read_bytes(path);
    let (one_bytes, other_bytes) = (read(one)?, read(other)?);
    match first_difference(&one_bytes, &other_bytes) {
        None => Ok(one_bytes.split_inclusive(|byte| *byte == b'\n').count()),
        Some((number, a, b)) => Err(format!(
            "the two runs differ in line {number}\n  {}: {}\n  {}: {}",
            one.display(),
            a.map_or("(no such line)".into(), |line| String::from_utf8_lossy(line)),
            other.display(),
            b.map_or("(no such line)".into(), |line| String::from_utf8_lossy(line)),
        )),
    }
}

/// Number (from 1) of the first line that differs, and the line in both.
type Difference<'a> = (usize, Option<&'a [u8]>, Option<&'a [u8]>);

fn first_difference<'a>(one: &'a [u8], other: &'a [u8]) -> Option<Difference<'a>> {
    let lines = |bytes: &'a [u8]| bytes.split_inclusive(|byte| *byte == b'\n');
    let (mut a, mut b) = (lines(one), lines(other));
    for number in 1.. {
        match (a.next(), b.next()) {
            (None, None) => break,
            (a, b) if a != b => {
                return Some((
                    number,
                    a.map(<[u8]>::trim_ascii_end),
                    b.map(<[u8]>::trim_ascii_end),
                ));
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::first_difference;

    #[test]
    fn finds_the_first_difference() {
        assert_eq!(first_difference(b"a\nb\n", b"a\nb\n"), None);
        assert_eq!(first_difference(b"", b""), None);
        assert_eq!(
            first_difference(b"a\nb\n", b"a\nc\n"),
            Some((2, Some(&b"b"[..]), Some(&b"c"[..])))
        );
        assert_eq!(first_difference(b"a\nb\n", b"a\n"), Some((2, Some(&b"b"[..]), None)));
        assert_eq!(first_difference(b"a", b"a\n"), Some((1, Some(&b"a"[..]), Some(&b"a"[..]))));
    }
}
