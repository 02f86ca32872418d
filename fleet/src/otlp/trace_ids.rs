//! Ids of traces and spans among the arguments of a message, for the fields that a `LogRecord` has
//! for them.
//!
//! Invariant: an id is of as many hexadecimal digits as OTLP has bytes for it, and not all zero;
//! anything else stays an argument alone.

use protolog_core::{Arg, ArgumentNames, Piece, Template};

/// The arguments of a template that are ids of a trace and of a span, by their names or as in
/// `trace_id=%s`.
pub(super) fn ids(template: &str, names: ArgumentNames<'_>) -> [Option<usize>; 2] {
    let by_name = |known: [&str; 4]| known.iter().find_map(|name| names.index_of(name));
    let mut ids = [TRACE_ID, SPAN_ID].map(by_name);
    let Ok(template) = Template::parse(template) else { return ids };
    let (mut before, mut index) = ("", 0);
    for piece in template.pieces() {
        match piece {
            Piece::Text(text) => before = text,
            Piece::Percent => before = "",
            Piece::Conversion(_) => {
                for (id, names) in ids.iter_mut().zip([TRACE_ID, SPAN_ID]) {
                    if id.is_none() && names.iter().any(|name| is_named(before, name)) {
                        *id = Some(index);
                    }
                }
                (before, index) = ("", index + 1);
            }
        }
    }
    ids
}

/// The bytes of an id of so many hexadecimal digits. One of zeros says that there is none.
pub(super) fn hex_id(value: &Arg<'_>, digits: usize) -> Option<Vec<u8>> {
    let Arg::Str(text) = value else { return None };
    if text.len() != digits || !text.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return None;
    }
    let byte = |at| u8::from_str_radix(&text[at..at + 2], 16).ok();
    let id: Vec<u8> = (0..digits).step_by(2).map_while(byte).collect();
    Some(id).filter(|id| id.iter().any(|byte| *byte != 0))
}

const TRACE_ID: [&str; 4] = ["trace_id", "traceid", "trace-id", "trace.id"];
const SPAN_ID: [&str; 4] = ["span_id", "spanid", "span-id", "span.id"];

/// Returns whether a text ends with a name, as in `, trace_id=`.
fn is_named(text: &str, name: &str) -> bool {
    let text = text.trim_end_matches(['=', ':', ' ', '"', '\'', '[', '(']).as_bytes();
    let Some(start) = text.len().checked_sub(name.len()) else { return false };
    let is_whole =
        start == 0 || !text[start - 1].is_ascii_alphanumeric() && text[start - 1] != b'_';
    is_whole && text[start..].eq_ignore_ascii_case(name.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_of_traces_and_spans_are_found_by_their_names() {
        let none = ArgumentNames::NONE;
        assert_eq!(ids("done in %d ms, trace_id=%s span_id=%s", none), [Some(1), Some(2)]);
        assert_eq!(ids("[TraceId: %s] 100%% %s", none), [Some(0), None]);
        assert_eq!(ids("mytrace_id=%s, span_id of %d is x%s", none), [None; 2]);
        let named = ArgumentNames::parse(",span_id,trace_id");
        assert_eq!(ids("trace_id=%s of %s in %s", named), [Some(2), Some(1)]);
        let id = "0af7651916cd43dd8448eb211c80319c";
        assert_eq!(hex_id(&Arg::Str(id), 32).unwrap()[..2], [0x0a, 0xf7]);
        assert_eq!(hex_id(&Arg::Str(&id.replace('0', "g")), 32), None);
        assert_eq!(hex_id(&Arg::Str(&"0".repeat(16)), 16), None);
        assert_eq!(hex_id(&Arg::Str("größe ßßßß"), 16), None);
        assert_eq!(hex_id(&Arg::Int(7), 16), None);
    }
}
