//! Diagnostics as text for people: a line that editors and build logs can jump from, then the
//! snippet in the look of rustc.

use super::{Diagnostic, Severity};
use crate::colors::{BOLD, CYAN, RED, RESET, YELLOW};
use crate::exit::printable_lines;
use crate::source::Source;
use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use protolog_reader::printable;
use std::ops::Range;

/// The options for rendering.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Style {
    /// With ANSI colours.
    pub color: bool,
}

/// The diagnostic as text, with a line end.
pub fn render(diagnostic: &Diagnostic, source: &Source, style: Style) -> String {
    let position = source.position(diagnostic.range.start);
    let paint = |color: &str, text: &str| {
        if style.color { format!("{color}{text}{RESET}") } else { text.to_owned() }
    };
    // Names of files may hold anything, and messages quote them.
    let path = printable(&source.path().to_string_lossy());
    let place = format!("{path}:{}:{}: ", position.line, position.column);
    let severity = format!("{}: ", diagnostic.severity);
    let color = match diagnostic.severity {
        Severity::Error => RED,
        Severity::Warning => YELLOW,
        Severity::Note => CYAN,
    };
    let mut out = paint(BOLD, &place);
    out.push_str(&paint(color, &severity));
    let message = printable_lines(&diagnostic.message);
    out.push_str(&paint(BOLD, &format!("{message} [{}]", diagnostic.code.name())));
    out.push('\n');
    out.push_str(&snippet(diagnostic, source, style));
    out.push('\n');
    out
}

/// The last line of a run with errors or warnings: how many there are, in how many files. Empty
/// without.
pub fn summary(errors: usize, warnings: usize, files: usize) -> String {
    match (errors, counts(errors, warnings, files)) {
        (0, counts) => counts,
        (_, counts) => format!("{}; nothing was written\n", counts.trim_end()),
    }
}

/// The same of a run that has no outputs.
pub(super) fn counts(errors: usize, warnings: usize, files: usize) -> String {
    let count = |count: usize, what: &str| match count {
        0 => None,
        1 => Some(format!("1 {what}")),
        _ => Some(format!("{count} {what}s")),
    };
    let counts = [count(errors, "error"), count(warnings, "warning")];
    let counts = counts.into_iter().flatten().collect::<Vec<_>>().join(" and ");
    let files = count(files, "file").map_or(String::new(), |files| format!(" in {files}"));
    if counts.is_empty() { counts } else { format!("{counts}{files}\n") }
}

/// The lines that the range covers, with carets, and the help.
fn snippet(diagnostic: &Diagnostic, source: &Source, style: Style) -> String {
    let (text, span, first_line) = excerpt(diagnostic, source);
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Note => Level::NOTE,
    };
    let mut group = Group::with_level(level);
    if !text.is_empty() {
        let annotation = AnnotationKind::Primary.span(span);
        group = group.element(Snippet::source(text).line_start(first_line).annotation(annotation));
    }
    if let Some(help) = &diagnostic.help {
        group = group.element(Level::HELP.message(printable_lines(help)));
    }
    let renderer = if style.color { Renderer::styled() } else { Renderer::plain() };
    renderer.render(&[group])
}

/// The lines of the range, as text with `\n` between them, the range within that text, and the
/// number of the first line.
fn excerpt(diagnostic: &Diagnostic, source: &Source) -> (String, Range<usize>, usize) {
    let length = source.bytes().len();
    let (start, end) = (diagnostic.range.start.min(length), diagnostic.range.end.min(length));
    let first = source.line(start);
    let last = source.line(end.saturating_sub(1).max(start));
    let mut text = String::new();
    let mut span = 0..0;
    for line in first..=last {
        let whole = source.line_range(line);
        let from = if line == first { start } else { whole.start };
        let to = if line == last { end } else { whole.end };
        let range = near(whole, from..to.max(from), source);
        let offset = |at: usize| {
            text.len() + source.text(range.start..at.clamp(range.start, range.end)).len()
        };
        if line == first {
            span.start = offset(start);
        }
        if line == last {
            span.end = offset(end).max(span.start);
        }
        text.push_str(&source.text(range));
        if line < last {
            text.push('\n');
        }
    }
    (text, span, first)
}

/// The part of a line around `range` that is enough to show it: the renderer takes its time with
/// very long lines, of which it shows the width of a terminal.
fn near(line: Range<usize>, range: Range<usize>, source: &Source) -> Range<usize> {
    const MARGIN: usize = 1000;
    let start = range.start.saturating_sub(MARGIN);
    let end = range.end.min(range.start + MARGIN) + MARGIN;
    let (start, end) = (not_within(source, start), not_within(source, end));
    let start = line.start.max(start);
    start..line.end.min(end).max(start)
}

/// The first place from `at` on that is not within a character.
fn not_within(source: &Source, mut at: usize) -> usize {
    while source.bytes().get(at).is_some_and(|byte| byte & 0xc0 == 0x80) {
        at += 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostic::Code;

    #[test]
    fn long_lines_are_shown_where_the_problem_is() {
        let text = format!("{}here{}\nnext", "ä ".repeat(100_000), " ö".repeat(100_000));
        let at = text.find("here").unwrap();
        let source = Source::new("A.java", text.into_bytes());
        let shown = |range| {
            let diagnostic = Diagnostic::error(Code::Syntax, range, "message");
            excerpt(&diagnostic, &source)
        };
        let (text, span, line) = shown(at..at + 4);
        assert!(text.len() < 3000 && line == 1, "{}", text.len());
        assert_eq!(&text[span], "here");
        let (text, span, _) = shown(at..source.bytes().len());
        assert!(text.ends_with("\nnext") && text[span].starts_with("here"));
        let (text, span, _) = shown(at..source.line_range(1).end);
        assert!(text.len() < 4000 && text[span].starts_with("here ö"), "{}", text.len());
        assert_eq!(shown(0..2).1, 0..2);
        let diagnostic = Diagnostic::error(Code::Syntax, at..at + 4, "message");
        let rendered = render(&diagnostic, &source, Style::default());
        assert!(rendered.starts_with("A.java:1:200001: error: message [syntax]\n"), "{rendered}");
        assert!(
            rendered.contains("... ä ä here ö ö") || rendered.contains("ä here ö"),
            "{rendered}"
        );
    }

    #[test]
    fn names_and_messages_have_nothing_that_a_terminal_obeys() {
        let source = Source::new("\x1b]0;a\x07/\u{202e}A.java", b"call();".to_vec());
        let mut diagnostic = Diagnostic::error(Code::Syntax, 0..4, "no `\x1b[2J`");
        diagnostic.help = Some("a \x1b[2J help".to_owned());
        let rendered = render(&diagnostic, &source, Style::default());
        let first = "\\u{1b}]0;a\\u{7}/\\u{202e}A.java:1:1: error: no `\\u{1b}[2J` [syntax]\n";
        assert!(rendered.starts_with(first), "{rendered}");
        assert!(!rendered.contains('\x1b'), "{rendered}");
    }
}
