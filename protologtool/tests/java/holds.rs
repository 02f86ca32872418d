//! Properties of every source, whatever its bytes; shared by the tests and the fuzz target.

use protologtool::lang::Language;
use protologtool::pipeline::{Processed, Settings, process_source};
use protologtool::source::{Source, line_ends};
use std::ops::Range;

/// Takes a source through the tool; panics unless what is rewritten keeps its lines, its brackets
/// and all bytes outside of calls, and stays as it is in a second run. What became of it.
pub(crate) fn check(settings: &Settings, path: &str, bytes: &[u8]) -> Processed {
    let source = Source::new(path, bytes.to_vec());
    let processed = process_source(settings, source.clone());
    let Some(after) = &processed.rewritten else { return processed };
    assert!(processed.report.is_none(), "a source with errors is rewritten");
    assert_eq!(line_ends(after).count(), line_ends(bytes).count(), "lines");
    assert_outside_of_calls(settings, &source, after);
    // Escapes can stand for brackets and quotes.
    if !bytes.windows(2).any(|pair| pair == b"\\u") {
        assert_eq!(
            open_brackets(after),
            Some(0),
            "brackets, and before: {:?}",
            open_brackets(bytes)
        );
    }
    let again = process_source(settings, Source::new(path, after.clone()));
    assert!(again.rewritten.is_none() && again.report.is_none(), "a second run");
    processed
}

/// Asserts that what stands between calls is there, in order, and nothing before the first and
/// after the last.
fn assert_outside_of_calls(settings: &Settings, source: &Source, after: &[u8]) {
    let found = settings.java.find(source, &settings.groups, None);
    let calls = found.calls.iter().map(|call| call.range.clone());
    let edits = found.edits.iter().map(|edit| edit.range.clone());
    let mut edited: Vec<Range<usize>> = calls.chain(edits).collect();
    edited.sort_by_key(|range| range.start);
    let (mut from, mut rest) = (0, after);
    for (number, range) in edited.iter().enumerate() {
        if range.end <= from {
            continue; // It is part of an earlier one.
        }
        let kept = source.slice(from..range.start.max(from));
        let at =
            if number == 0 { rest.starts_with(kept).then_some(0) } else { position(rest, kept) };
        rest = &rest[at.expect("bytes before a call are gone") + kept.len()..];
        from = range.end;
    }
    assert!(rest.ends_with(source.slice(from..source.bytes().len())), "bytes after the calls");
}

fn position(text: &[u8], part: &[u8]) -> Option<usize> {
    if part.is_empty() { Some(0) } else { text.windows(part.len()).position(|it| it == part) }
}

/// The number of brackets that are open at the end of a text without `\u` escapes; none where one
/// does not pair.
fn open_brackets(text: &[u8]) -> Option<usize> {
    let (mut at, mut open) = (0, Vec::new());
    while at < text.len() {
        let rest = &text[at..];
        at += match rest[0] {
            b'/' if rest.starts_with(b"//") => {
                rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')).unwrap_or(rest.len())
            }
            b'/' if rest.starts_with(b"/*") => {
                position(&rest[2..], b"*/").map_or(rest.len(), |end| end + 4)
            }
            b'"' if rest.starts_with(b"\"\"\"") => 3 + quoted(&rest[3..], b"\"\"\""),
            b'"' | b'\'' => 1 + quoted(&rest[1..], &rest[..1]),
            bracket @ (b'(' | b'[' | b'{') => {
                open.push(bracket);
                1
            }
            bracket @ (b')' | b']' | b'}') => {
                let opened = open.pop()?;
                if !matches!((opened, bracket), (b'(', b')') | (b'[', b']') | (b'{', b'}')) {
                    return None;
                }
                1
            }
            _ => 1,
        };
    }
    Some(open.len())
}

/// The bytes up to the end of a literal, its last quote included; of an unfinished one those of its
/// line.
fn quoted(rest: &[u8], quote: &[u8]) -> usize {
    let mut at = 0;
    while at < rest.len() {
        match rest[at] {
            _ if rest[at..].starts_with(quote) => return at + quote.len(),
            b'\n' | b'\r' if quote.len() == 1 => return at,
            b'\\' if !matches!(rest.get(at + 1), Some(b'\n' | b'\r')) || quote.len() > 1 => at += 2,
            _ => at += 1,
        }
    }
    rest.len()
}
