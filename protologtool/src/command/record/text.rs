//! Configurations in protobuf's text format, as `perfetto --txt -c` takes them, to their encoding.
//!
//! The names of fields are those of Perfetto's official schema ([`schema`]). What the format has
//! beside messages, lists and values (extensions, `Any`) no configuration uses, and it is refused.
//!
//! ```text
//! buffers { size_kb: 64 }                     a message; `:` before it is optional, `<>` too
//! data_sources: { config { name: "a" 'b' } }  texts side by side are one
//! ftrace_events: ["sched/*", "power/*"],      a list; fields may be separated by , or ;
//! ```
//!
//! Invariants: any text is taken without a panic; what is encoded is what protobuf's own parser
//! makes of the text, and what that refuses is refused.

mod encode;
mod numbers;
mod schema;
#[cfg(test)]
mod tests;
mod tokens;

use self::encode::Encoder;
use self::schema::Schema;
use std::fmt;

/// The schema's message that a configuration is.
const ROOT: &str = "TraceConfig";

/// A problem of a text, and its place.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Problem {
    /// From 1.
    line: usize,
    /// From 1, in characters.
    column: usize,
    what: String,
}

/// Returns whether these bytes are text rather than an encoded message with a data source, whose
/// tag is a control character.
pub(super) fn is_text(bytes: &[u8]) -> bool {
    let is_control = |byte: &u8| *byte < b' ' && !byte.is_ascii_whitespace() || *byte == 0x7f;
    !bytes.is_empty() && !bytes.iter().any(is_control)
}

/// Encodes a `TraceConfig`.
pub(super) fn encode(text: &[u8]) -> Result<Vec<u8>, Problem> {
    let text = match str::from_utf8(text) {
        Ok(text) => text,
        Err(error) => {
            let before = String::from_utf8_lossy(&text[..error.valid_up_to()]).into_owned();
            return Err(Problem::at(&before, before.len(), "this is no UTF-8".into()));
        }
    };
    let schema = Schema::parse();
    Encoder::new(text, &schema).encode(ROOT)
}

impl Problem {
    /// At this byte of `text`.
    fn at(text: &str, offset: usize, what: String) -> Self {
        let before = text.get(..offset).unwrap_or(text);
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        let line = before.matches('\n').count() + 1;
        Self { line, column: before[line_start..].chars().count() + 1, what }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, self.what)
    }
}
