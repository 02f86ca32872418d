//! Diagnostics as JSON, one object a line.
//!
//! ```json
//! {"severity":"error","code":"unknown-group","message":"…","help":"…","path":"src/A.java",
//!  "start":{"byte":120,"line":12,"column":20},"end":{"byte":124,"line":12,"column":24},
//!  "fixes":[{"title":"write `NET`","certain":false,"text":"NET","start":{…},"end":{…}}]}
//! ```
//!
//! Lines and columns count from 1, columns in characters, bytes from 0; the end is the first one
//! that does not belong to the range any more. A problem without a place has no `path`, `start` and
//! `end`; one without help or fixes has none. A fix puts `text` in the place of its range; one that
//! is not `certain` is for people to choose.

use super::{Diagnostic, Notice, Region};
use crate::source::{Position, Source};
use protolog_reader::printable_json;
use serde::Serialize;
use std::borrow::Cow;
use std::ops::Range;

#[derive(Serialize)]
struct DiagnosticLine<'a> {
    severity: String,
    code: &'static str,
    message: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    help: Option<&'a str>,
    #[serde(flatten)]
    place: Option<JsonPosition<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    fixes: Vec<JsonFix<'a>>,
}

#[derive(Serialize)]
struct JsonFix<'a> {
    title: &'a str,
    certain: bool,
    text: &'a str,
    start: Point,
    end: Point,
}

#[derive(Serialize)]
struct JsonPosition<'a> {
    path: Cow<'a, str>,
    start: Point,
    end: Point,
}

#[derive(Serialize)]
struct Point {
    byte: usize,
    line: usize,
    column: usize,
}

/// The line for a diagnostic, with its line end.
pub(super) fn diagnostic(diagnostic: &Diagnostic, source: &Source) -> String {
    let (start, end) = ends(&diagnostic.range, source);
    let place = JsonPosition { path: source.path().to_string_lossy(), start, end };
    let fixes = diagnostic.fixes.iter().map(|fix| {
        let (start, end) = ends(&fix.range, source);
        JsonFix { title: &fix.title, certain: fix.is_certain, text: &fix.text, start, end }
    });
    line(&DiagnosticLine {
        severity: diagnostic.severity.to_string(),
        code: diagnostic.code.name(),
        message: &diagnostic.message,
        help: diagnostic.help.as_deref(),
        place: Some(place),
        fixes: fixes.collect(),
    })
}

/// The line for a problem that has no place in a source, with its line end.
pub(super) fn notice(notice: &Notice) -> String {
    line(&DiagnosticLine {
        severity: notice.severity.to_string(),
        code: notice.code.name(),
        message: &notice.message,
        help: notice.help.as_deref(),
        place: None,
        fixes: Vec::new(),
    })
}

fn ends(range: &Range<usize>, source: &Source) -> (Point, Point) {
    let region = Region::of(range, source);
    (Point::new(region.bytes.start, region.start), Point::new(region.bytes.end, region.end))
}

fn line(line: &DiagnosticLine<'_>) -> String {
    format!("{}\n", printable_json(&serde_json::to_string(line).unwrap_or_default()))
}

impl Point {
    fn new(byte: usize, Position { line, column }: Position) -> Self {
        Self { byte, line, column }
    }
}
