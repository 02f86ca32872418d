//! Rust source with everything that is not code blanked, so that rules can look for words and braces.
//!
//! Comments and the insides of string and character literals become spaces; line breaks stay. So the result has the same
//! lines, and a column in it is a column of the source (counted in characters).

/// The text with comments and literals blanked.
pub(super) fn code_of(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    while at < chars.len() {
        let end = end_of_blank(&chars, at);
        if end == at {
            out.push(chars[at]);
            at += 1;
        } else {
            out.extend(chars[at..end].iter().map(|c| if *c == '\n' { '\n' } else { ' ' }));
            at = end;
        }
    }
    out
}

/// Where the comment or literal that starts at `at` ends; `at` if none starts there.
fn end_of_blank(chars: &[char], at: usize) -> usize {
    let next = chars.get(at + 1).copied();
    match chars[at] {
        '/' if next == Some('/') => find(chars, at, |c| c == '\n'),
        '/' if next == Some('*') => end_of_block_comment(chars, at),
        '"' => end_of_quoted(chars, at, '"'),
        '\'' if is_char_literal(chars, at) => end_of_quoted(chars, at, '\''),
        'r' | 'b' | 'c' if at == 0 || !is_word(chars[at - 1]) => end_of_prefixed(chars, at),
        _ => at,
    }
}

/// `r"…"`, `br#"…"#`, `b"…"`, `b'x'`, `c"…"` and the like; `at` if it is just a word.
fn end_of_prefixed(chars: &[char], at: usize) -> usize {
    let start = find(chars, at, |c| !matches!(c, 'r' | 'b' | 'c'));
    let prefix: String = chars[at..start].iter().collect();
    if prefix.ends_with('r') && prefix.len() <= 2 {
        let quote = find(chars, start, |c| c != '#');
        if chars.get(quote) == Some(&'"') {
            return end_of_raw(chars, quote, quote - start);
        }
        return at;
    }
    match chars.get(start) {
        Some('"') if prefix.len() == 1 => end_of_quoted(chars, start, '"'),
        Some('\'') if prefix == "b" => end_of_quoted(chars, start, '\''),
        _ => at,
    }
}

fn end_of_raw(chars: &[char], quote: usize, hashes: usize) -> usize {
    let closes = |at: usize| {
        chars[at] == '"'
            && chars[at + 1..].iter().take(hashes).filter(|c| **c == '#').count() == hashes
    };
    (quote + 1..chars.len()).find(|at| closes(*at)).map_or(chars.len(), |at| at + 1 + hashes)
}

fn end_of_quoted(chars: &[char], start: usize, quote: char) -> usize {
    let mut at = start + 1;
    while at < chars.len() && chars[at] != quote {
        at += if chars[at] == '\\' { 2 } else { 1 };
    }
    (at + 1).min(chars.len())
}

fn end_of_block_comment(chars: &[char], start: usize) -> usize {
    let mut depth = 0;
    let mut at = start;
    while at < chars.len() {
        match (chars[at], chars.get(at + 1)) {
            ('/', Some('*')) => (depth, at) = (depth + 1, at + 2),
            ('*', Some('/')) => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
        if depth == 0 {
            break;
        }
    }
    at
}

/// Tells `'a'` and `'\n'` from the lifetime `'a`.
fn is_char_literal(chars: &[char], at: usize) -> bool {
    chars.get(at + 1) == Some(&'\\') || chars.get(at + 2) == Some(&'\'')
}

fn find(chars: &[char], from: usize, wanted: impl Fn(char) -> bool) -> usize {
    (from..chars.len()).find(|at| wanted(chars[*at])).unwrap_or(chars.len())
}

/// Returns true if the character can be part of an identifier.
pub(super) fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests {
    use super::code_of;

    #[track_caller]
    fn check(source: &str, code: &str) {
        assert_eq!(code_of(source), code);
    }

    #[test]
    fn blanks_comments() {
        check("a // b\nc", "a     \nc");
        check("a /* b /* c */ \n d */ e", "a              \n      e");
    }

    #[test]
    fn blanks_literals() {
        check(r#"f("a\"b{", x)"#, "f(       , x)");
        check(r##"f(r#"a"b"#, br"\", b'{', c"z")"##, "f(        ,      ,     ,     )");
        check("let q = '\"'; let b = '\\''; x", "let q =    ; let b =     ; x");
    }

    #[test]
    fn keeps_lifetimes_and_words() {
        check("fn f<'a>(r: &'a str, b: br, cr: u8) {}", "fn f<'a>(r: &'a str, b: br, cr: u8) {}");
        check("for r#type in x {}", "for r#type in x {}");
    }

    #[test]
    fn unclosed_literals_end_with_the_text() {
        check("a \"b", "a   ");
        check("a r#\"b\"", "a      ");
        check("a /* b", "a     ");
    }
}
