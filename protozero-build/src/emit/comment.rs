//! Comments of a schema as documentation.
//!
//! They were not written for rustdoc: an indented line would be a program that it compiles, a name
//! in brackets a link, and a name in angles a tag of HTML.

/// Returns the lines of a documentation comment: a sentence, and a schema's comment behind it.
pub(super) fn comment(sentence: &str, own: &str) -> Vec<String> {
    let own = own.trim();
    let mut lines = vec![sentence.to_owned()];
    if own.is_empty() {
        return lines;
    }
    lines.push(String::new());
    lines.extend(own.lines().map(plain));
    lines
}

fn plain(line: &str) -> String {
    let line = line.trim_end();
    let text = line.trim_start();
    // Up to three spaces are no program.
    let indent =
        (line.len() - text.len()).min(3).saturating_sub(usize::from(line.starts_with(' ')));
    let mut plain = " ".repeat(indent);
    // A fence would begin a program, a comment's end mark is nothing here.
    for c in text.replace("```", "'''").replace("~~~", "'''").chars() {
        if matches!(c, '[' | ']' | '<' | '>' | '\\' | '*' | '_' | '`' | '#') {
            plain.push('\\');
        }
        // Rust refuses a lone carriage return in a comment, and characters that change the
        // direction of text.
        plain.push(if c.is_control() || is_bidirectional(c) { ' ' } else { c });
    }
    plain
}

fn is_bidirectional(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::comment;

    #[test]
    fn nothing_of_a_comment_is_a_program_or_a_link() {
        let own = " See [Foo] and Vec<T>.\n\n     let x = 1;\n ```\n *a*\r";
        let lines =
            ["Field 1.", "", "See \\[Foo\\] and Vec\\<T\\>.", "", "  let x = 1;", "'''", "\\*a\\*"];
        assert_eq!(comment("Field 1.", own), lines);
    }
}
