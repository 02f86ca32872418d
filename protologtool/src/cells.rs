//! Parts of a text by the cells of a terminal that it takes: two for most characters of East Asia
//! and for emoji, none for combining characters.
//!
//! Invariant: characters are counted one by one. Some terminals draw several of them as one, such
//! as emoji of a family, which takes fewer cells.

use unicode_width::UnicodeWidthChar;

/// The beginning of a text that fits into so many cells.
pub(crate) fn beginning_of(text: &str, cells: usize) -> &str {
    let mut left = cells;
    let over = text.char_indices().find(|(_, character)| !take(&mut left, *character));
    over.map_or(text, |(at, _)| &text[..at])
}

/// The end of a text that fits into so many cells.
pub(crate) fn end_of(text: &str, cells: usize) -> &str {
    let mut left = cells;
    let over = text.char_indices().rev().find(|(_, character)| !take(&mut left, *character));
    let Some((at, character)) = over else { return text };
    // A combining character without a character before it.
    text[at + character.len_utf8()..].trim_start_matches(|it: char| it.width() == Some(0))
}

/// The most cells that a text takes.
pub(crate) fn width_of(text: &str) -> usize {
    text.chars().map(|it| it.width().unwrap_or(0)).sum()
}

fn take(left: &mut usize, character: char) -> bool {
    let fits = left.checked_sub(character.width().unwrap_or(0));
    *left = fits.unwrap_or(*left);
    fits.is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_takes_no_more_cells_than_there_are() {
        for (text, cells, beginning, end) in [
            ("abc", 2, "ab", "bc"),
            ("abc", 9, "abc", "abc"),
            ("abc", 0, "", ""),
            ("日本語", 5, "日本", "本語"),
            ("e\u{301}te\u{301}", 2, "e\u{301}t", "te\u{301}"),
            ("", 3, "", ""),
        ] {
            assert_eq!((beginning_of(text, cells), end_of(text, cells)), (beginning, end));
        }
    }
}
