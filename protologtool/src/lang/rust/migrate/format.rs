//! The format strings of `std::fmt`, as `log` and `tracing` take them: texts and placeholders.

use std::ops::Range;

/// A part of a format string. Ranges are bytes of its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum FormatPiece {
    /// Text, without any brace.
    Text(Range<usize>),
    /// `{{` or `}}`.
    Brace(Range<usize>),
    /// `{}`, `{0:?}`, `{name:>8}`.
    Placeholder(Placeholder),
}

/// A placeholder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Placeholder {
    pub(super) range: Range<usize>,
    pub(super) argument: ArgumentRef,
    /// The text behind the colon.
    pub(super) spec: String,
    /// Width or precision come from an argument that is no name.
    pub(super) counts_arguments: bool,
    /// The names that width and precision come from.
    pub(super) count_names: Vec<String>,
}

/// The argument of a placeholder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ArgumentRef {
    /// The next one.
    Next,
    /// By its position.
    Index(usize),
    /// By its name, or that of a variable.
    Name(String),
}

/// The pieces of a format string; none if it is not one.
pub(super) fn pieces(text: &str) -> Option<Vec<FormatPiece>> {
    let bytes = text.as_bytes();
    let (mut pieces, mut at) = (Vec::new(), 0);
    while at < bytes.len() {
        let brace = bytes[at];
        if !matches!(brace, b'{' | b'}') {
            let rest = &bytes[at..];
            let length = rest.iter().position(|byte| matches!(byte, b'{' | b'}'));
            let end = length.map_or(bytes.len(), |length| at + length);
            pieces.push(FormatPiece::Text(at..end));
            at = end;
        } else if bytes.get(at + 1) == Some(&brace) {
            pieces.push(FormatPiece::Brace(at..at + 2));
            at += 2;
        } else if brace == b'}' {
            return None;
        } else {
            let found = placeholder(text, at)?;
            at = found.range.end;
            pieces.push(FormatPiece::Placeholder(found));
        }
    }
    Some(pieces)
}

fn placeholder(text: &str, start: usize) -> Option<Placeholder> {
    let inner = &text[start + 1..];
    let name_end = inner.find(|char: char| !is_name_char(char)).unwrap_or(inner.len());
    let name = &inner[..name_end];
    let argument = argument(name)?;
    let (after, spec) = match inner[name_end..].strip_prefix(':') {
        Some(rest) => {
            let spec = spec(rest)?;
            (&rest[spec.text.len()..], spec)
        }
        None => (&inner[name_end..], Spec::default()),
    };
    let rest = after.trim_start().strip_prefix('}')?;
    Some(Placeholder {
        range: start..text.len() - rest.len(),
        argument,
        spec: spec.text.to_owned(),
        counts_arguments: spec.counts_arguments,
        count_names: spec.count_names,
    })
}

fn argument(name: &str) -> Option<ArgumentRef> {
    match name {
        "" => Some(ArgumentRef::Next),
        _ if name.bytes().all(|byte| byte.is_ascii_digit()) => {
            name.parse().ok().map(ArgumentRef::Index)
        }
        _ if name.starts_with(|char: char| char.is_ascii_digit()) => None,
        _ => Some(ArgumentRef::Name(name.to_owned())),
    }
}

fn is_name_char(char: char) -> bool {
    char.is_alphanumeric() || char == '_'
}

#[derive(Default)]
struct Spec<'t> {
    text: &'t str,
    counts_arguments: bool,
    count_names: Vec<String>,
}

/// Reads `[[fill]align][sign]['#']['0'][width]['.' precision][type]`.
fn spec(text: &str) -> Option<Spec<'_>> {
    let mut spec = Spec::default();
    let mut rest = text;
    let mut chars = text.chars();
    let (first, second) = (chars.next(), chars.next());
    let is_align = |char: Option<char>| matches!(char, Some('<' | '^' | '>'));
    if is_align(second) {
        rest = chars.as_str();
    } else if is_align(first) {
        rest = &rest[1..];
    }
    rest = rest.strip_prefix(['+', '-']).unwrap_or(rest);
    rest = rest.strip_prefix('#').unwrap_or(rest);
    if rest.starts_with('0') && !rest[1..].starts_with('$') {
        rest = &rest[1..];
    }
    rest = count(rest, &mut spec);
    if let Some(precision) = rest.strip_prefix('.') {
        rest = match precision.strip_prefix('*') {
            Some(rest) => {
                spec.counts_arguments = true;
                rest
            }
            None => {
                let after = count(precision, &mut spec);
                if after.len() == precision.len() {
                    return None;
                }
                after
            }
        };
    }
    let kinds = ["x?", "X?", "?", "x", "X", "o", "p", "b", "e", "E"];
    let kind = kinds.into_iter().find(|kind| rest.starts_with(kind));
    rest = &rest[kind.map_or(0, str::len)..];
    spec.text = &text[..text.len() - rest.len()];
    Some(spec)
}

/// The text behind a width or a precision, if one stands there.
fn count<'t>(text: &'t str, spec: &mut Spec<'_>) -> &'t str {
    let end = text.find(|char: char| !is_name_char(char)).unwrap_or(text.len());
    let name = &text[..end];
    if let Some(after) = text[end..].strip_prefix('$')
        && !name.is_empty()
    {
        match argument(name) {
            Some(ArgumentRef::Name(name)) => spec.count_names.push(name),
            _ => spec.counts_arguments = true,
        }
        return after;
    }
    text.trim_start_matches(|char: char| char.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The placeholders of a text: argument, `:`, format, and `!` if it counts arguments.
    fn shown(text: &str) -> Option<String> {
        let shown = pieces(text)?.into_iter().filter_map(|piece| match piece {
            FormatPiece::Placeholder(it) => {
                let argument = match it.argument {
                    ArgumentRef::Next => "next".to_owned(),
                    ArgumentRef::Index(index) => index.to_string(),
                    ArgumentRef::Name(name) => name,
                };
                let mark = if it.counts_arguments { "!" } else { "" };
                let names: Vec<String> =
                    it.count_names.iter().map(|name| format!(" {name}")).collect();
                let names = names.concat();
                Some(format!("{argument}:{}{mark}{names}", it.spec))
            }
            _ => None,
        });
        Some(shown.collect::<Vec<_>>().join(", "))
    }

    #[test]
    fn placeholders_are_those_of_the_standard_library() {
        for (text, expected) in [
            ("a {} b {0} {größe}", Some("next:, 0:, größe:")),
            ("{:?} {:#?} {x:>8} {:08.3}", Some("next:?, next:#?, x:>8, next:08.3")),
            ("{:*^8} {:}>3} {:$>5}", Some("next:*^8, next:}>3, next:$>5")),
            ("{:w$} {:.p$} {:w$.p$e}", Some("next:w$ w, next:.p$ p, next:w$.p$e w p")),
            ("{:1$} {:.*} {:0$}", Some("next:1$!, next:.*!, next:0$!")),
            ("{:02x?} {:#010b} { } {x }", Some("next:02x?, next:#010b, next:, x:")),
            ("{{}} {{x}}", Some("")),
            ("{", None),
            ("}", None),
            ("{:.}", None),
            ("{x.y}", None),
            ("{1x}", None),
            ("{:q}", None),
        ] {
            assert_eq!(shown(text).as_deref(), expected, "{text}");
        }
    }
}
