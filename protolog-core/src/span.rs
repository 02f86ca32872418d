//! The name that the slices of a span have, as a part of its template.
//!
//! `request %s of %s` has slices of the name `request`: what all spans of a call have in common, so
//! that viewers can add up their times. The values are the slice's arguments.

/// Returns the name of a span with this template: the text before the first conversion, without the
/// `field=` that belongs to it and without spaces and punctuation at the end. Where that is
/// nothing, it is the whole template.
pub fn span_name(template: &str) -> &str {
    let before = template.split('%').next().unwrap_or_default();
    let before = match before.strip_suffix('=') {
        Some(words) if before.len() < template.len() => words.trim_end_matches(is_in_word),
        _ => before,
    };
    let name = before.trim_end_matches(|char: char| !is_in_word(char) && !is_closing(char));
    if name.is_empty() { template } else { name }
}

fn is_in_word(char: char) -> bool {
    char.is_alphanumeric() || char == '_' || char == '-'
}

fn is_closing(char: char) -> bool {
    matches!(char, ')' | ']' | '}' | '!' | '?')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        let table = include_str!("../testdata/span_names.tsv");
        for line in table.lines().skip(1) {
            let (template, name) = line.split_once('\t').expect("two columns");
            assert_eq!(span_name(template), name, "{template}");
        }
    }
}
