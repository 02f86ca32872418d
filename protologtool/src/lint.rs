//! Calls that are right but hardly meant so: warnings, for all languages.
//!
//! The rules are those of Android's lint for ProtoLog that can be told without types.

use crate::call::Call;
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Source;
use protolog_core::{Piece, Template};

/// The warnings about a call that is otherwise right.
pub fn lint<S>(call: &Call<S>, template: &Template<'_>, source: &Source) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    if !template.is_empty() && !has_words(template) {
        let message = format!("nothing but conversions in the template `{}`", template.text());
        found.push(
            Diagnostic::warning(Code::NoContext, call.template_range.clone(), message)
                .help("say in the template what the values are"),
        );
    }
    for range in call.args.iter().filter(|range| is_literal(source.slice((*range).clone()))) {
        let message = format!("the argument `{}` is a literal", source.text(range.clone()));
        found.push(
            Diagnostic::warning(Code::LiteralArgument, range.clone(), message)
                .help("write it into the template, where it costs nothing"),
        );
    }
    found
}

fn has_words(template: &Template<'_>) -> bool {
    template.pieces().any(|piece| match piece {
        Piece::Text(text) => text.contains(char::is_alphanumeric),
        _ => false,
    })
}

/// Returns whether an expression is one literal: a number, with or without a sign, a text, a
/// character, or a word for one value.
fn is_literal(expression: &[u8]) -> bool {
    match expression {
        b"true" | b"false" | b"null" => true,
        [quote @ (b'"' | b'\''), rest @ ..] => closes_at_end(*quote, rest),
        [b'-' | b'+', rest @ ..] => is_number(rest.trim_ascii_start()),
        _ => is_number(expression),
    }
}

/// Returns whether the first `quote` that is not escaped is the last byte.
fn closes_at_end(quote: u8, rest: &[u8]) -> bool {
    if quote == b'"' && rest.starts_with(b"\"\"") && rest.len() >= 5 {
        return rest.ends_with(b"\"\"\"") && memchr::memmem::find_iter(rest, "\"\"\"").count() == 1;
    }
    let mut at = 0;
    while let Some(byte) = rest.get(at) {
        match byte {
            b'\\' => at += 1,
            byte if *byte == quote => return at + 1 == rest.len(),
            _ => {}
        }
        at += 1;
    }
    false
}

fn is_number(text: &[u8]) -> bool {
    let starts = match text {
        [b'.', digit, ..] | [digit, ..] => digit.is_ascii_digit(),
        [] => false,
    };
    let mut before = b' ';
    starts
        && text.iter().all(|byte| {
            let exponent = matches!(before, b'e' | b'E' | b'p' | b'P');
            before = *byte;
            byte.is_ascii_alphanumeric()
                || matches!(byte, b'.' | b'_')
                || exponent && matches!(byte, b'+' | b'-')
        })
}

#[cfg(test)]
mod tests {
    use super::is_literal;

    #[test]
    fn literals() {
        for literal in [
            "1",
            "-1",
            "+ 1",
            "0x1F",
            "1_000L",
            "1.5f",
            ".5",
            "1e-3",
            "0x1p+3",
            "'a'",
            "'\\''",
            "\"\"",
            "\"a\"",
            "\"a\\\"b\"",
            "true",
            "null",
            "\"\"\"\n a\"\"\"",
        ] {
            assert!(is_literal(literal.as_bytes()), "{literal}");
        }
        for other in [
            "",
            "a",
            "MAX",
            "-a",
            "1 + a",
            "1+a",
            "a1",
            "\"a\" + b",
            "\"a\" + \"b\"",
            "nullable",
            "f(1)",
            "\"",
            ".",
            "-",
            "\"\"\"\n a\"\"\" + \"\"\"\nb\"\"\"",
        ] {
            assert!(!is_literal(other.as_bytes()), "{other}");
        }
    }
}
