//! Templates as a page puts them together: the texts between the conversions, and what prints each
//! value.

use protolog_core::{Conversion, Piece, Template, Verb};

/// The texts between the conversions of a template, and the conversions.
pub(super) fn take_apart(template: &Template<'_>) -> (Vec<String>, Vec<Conversion>) {
    let (mut pieces, mut conversions) = (vec![String::new()], Vec::new());
    for piece in template.pieces() {
        let last = pieces.last_mut().expect("there is always one");
        match piece {
            Piece::Text(text) => last.push_str(text),
            Piece::Percent => last.push('%'),
            Piece::Conversion(conversion) => {
                conversions.push(conversion);
                pieces.push(String::new());
            }
        }
    }
    (pieces, conversions)
}

/// The letter of a conversion, by which the page knows the numbers that are printed.
pub(super) fn verb_letter(verb: Verb) -> char {
    match verb {
        Verb::Decimal => 'd',
        Verb::Octal => 'o',
        Verb::Hex => 'x',
        Verb::Fixed => 'f',
        Verb::Exponent => 'e',
        Verb::General => 'g',
        Verb::Bool => 'b',
        Verb::Str => 's',
    }
}
