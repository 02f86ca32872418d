//! Rust source as tokens: words and punctuation with their lines, without comments and literals.

use super::super::mask::is_word;

/// A word, `::`, or one character of punctuation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Token<'a> {
    pub(super) text: &'a str,
    /// Line from 1.
    pub(super) line: usize,
}

/// The tokens of masked code (see [`code_of`](super::super::mask::code_of)). A raw identifier stands without its `r#`.
pub(super) fn tokens(code: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    for (index, text) in code.lines().enumerate() {
        let line = index + 1;
        let mut rest = text.trim_start();
        while let Some(first) = rest.chars().next() {
            rest = rest.strip_prefix("r#").unwrap_or(rest);
            let length = if is_word(first) {
                rest.find(|c| !is_word(c)).unwrap_or(rest.len())
            } else if rest.starts_with("::") {
                2
            } else {
                first.len_utf8()
            };
            tokens.push(Token { text: &rest[..length], line });
            rest = rest[length..].trim_start();
        }
    }
    tokens
}

/// The index of the token that closes the bracket at `open`; the last token where none does.
pub(super) fn close_of(tokens: &[Token], open: usize) -> usize {
    let mut depth = 0;
    for (index, token) in tokens.iter().enumerate().skip(open) {
        match token.text {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return index;
        }
    }
    tokens.len().saturating_sub(1)
}

#[cfg(test)]
mod tests {
    use super::tokens;

    #[test]
    fn splits_words_and_punctuation() {
        let found: Vec<_> =
            tokens("use a::r#b;\n<'x> {}").iter().map(|it| (it.line, it.text)).collect();
        let first = ["use", "a", "::", "b", ";"].map(|text| (1, text));
        let second = ["<", "'", "x", ">", "{", "}"].map(|text| (2, text));
        assert_eq!(found, [&first[..], &second].concat());
    }
}
