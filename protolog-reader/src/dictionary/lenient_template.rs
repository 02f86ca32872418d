//! Texts as trace_processor parses them: everything but a bare conversion is literal.

use protolog_core::{Conversion, Piece, Verb};

/// Iterator over the pieces of a text as trace_processor parses it.
pub(crate) struct LenientPieces<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> LenientPieces<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }
}

impl<'a> Iterator for LenientPieces<'a> {
    type Item = Piece<'a>;

    fn next(&mut self) -> Option<Piece<'a>> {
        let rest = &self.text[self.at..];
        let start = self.at;
        let (piece, len) = match (rest.find('%'), rest.as_bytes()) {
            (_, []) => return None,
            (Some(0), [_, b'%', ..]) => (Piece::Percent, 2),
            (Some(0), [_, letter, ..]) if verb(*letter).is_some() => {
                let (verb, end) = (verb(*letter)?, start + 2);
                let conversion =
                    Conversion { verb, zero_pad: false, width: 0, precision: None, start, end };
                (Piece::Conversion(conversion), 2)
            }
            (Some(0), _) => {
                let len = rest[1..].find('%').map_or(rest.len(), |next| next + 1);
                (Piece::Text(&rest[..len]), len)
            }
            (percent, _) => {
                let len = percent.unwrap_or(rest.len());
                (Piece::Text(&rest[..len]), len)
            }
        };
        self.at += len;
        Some(piece)
    }
}

fn verb(letter: u8) -> Option<Verb> {
    use Verb::{Bool, Decimal, Exponent, Fixed, General, Hex, Octal, Str};
    let verbs = [Decimal, Octal, Hex, Fixed, Exponent, General, Bool, Str];
    verbs.into_iter().find(|verb| verb.letter() == char::from(letter))
}
