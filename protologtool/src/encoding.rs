//! Encodings of Java's sources, as build tools tell javac.
//!
//! Everything else here works on UTF-8: a source is decoded when it is read, and a rewritten one is
//! encoded when it is whole. Kotlin and Rust are always UTF-8.
//!
//! Invariant: decoded text is encoded to the same bytes.

use std::str::FromStr;

/// The encoding of sources.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SourceEncoding {
    /// UTF-8, and so ASCII.
    #[default]
    Utf8,
    /// ISO-8859-1: each byte is the character of its number.
    Latin1,
    /// windows-1252: ISO-8859-1 with printable characters from 0x80 to 0x9f.
    Windows1252,
}

/// The characters of windows-1252 from 0x80 on. Those that it leaves out are controls, as in
/// ISO-8859-1.
const WINDOWS_1252: [char; 32] = [
    '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8d}', 'Ž', '\u{8f}',
    '\u{90}', '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9d}', 'ž', 'Ÿ',
];

impl FromStr for SourceEncoding {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let plain: String = name.chars().filter(char::is_ascii_alphanumeric).collect();
        match plain.to_ascii_lowercase().as_str() {
            "utf8" | "ascii" | "usascii" => Ok(Self::Utf8),
            "iso88591" | "latin1" | "88591" => Ok(Self::Latin1),
            "windows1252" | "cp1252" => Ok(Self::Windows1252),
            _ => Err("neither UTF-8 nor ISO-8859-1 nor windows-1252: convert the sources to UTF-8"
                .to_owned()),
        }
    }
}

impl SourceEncoding {
    /// The text in UTF-8.
    pub fn decode(self, bytes: Vec<u8>) -> Vec<u8> {
        if self == Self::Utf8 || bytes.is_ascii() {
            return bytes;
        }
        bytes.into_iter().map(|byte| self.char(byte)).collect::<String>().into_bytes()
    }

    /// A text in UTF-8 in this encoding. A character that it lacks becomes Java's escape.
    pub fn encode(self, text: Vec<u8>) -> Vec<u8> {
        if self == Self::Utf8 || text.is_ascii() {
            return text;
        }
        let mut encoded = Vec::with_capacity(text.len());
        for char in String::from_utf8_lossy(&text).chars() {
            match self.byte(char) {
                Some(byte) => encoded.push(byte),
                None => {
                    for unit in char.encode_utf16(&mut [0; 2]) {
                        encoded.extend_from_slice(format!("\\u{unit:04x}").as_bytes());
                    }
                }
            }
        }
        encoded
    }

    fn char(self, byte: u8) -> char {
        match (self, byte) {
            (Self::Windows1252, 0x80..=0x9f) => WINDOWS_1252[usize::from(byte - 0x80)],
            _ => char::from(byte),
        }
    }

    fn byte(self, char: char) -> Option<u8> {
        let of_windows = || WINDOWS_1252.iter().position(|it| *it == char);
        match u8::try_from(char) {
            Ok(0x80..=0x9f) | Err(_) if self == Self::Windows1252 => {
                of_windows().map(|at| at as u8 + 0x80)
            }
            byte => byte.ok(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_comes_out_as_it_went_in() {
        let all: Vec<u8> = (0..=255).collect();
        for encoding in [SourceEncoding::Utf8, SourceEncoding::Latin1, SourceEncoding::Windows1252]
        {
            assert_eq!(encoding.encode(encoding.decode(all.clone())), all, "{encoding:?}");
        }
    }

    #[test]
    fn characters_and_names() {
        let encoding: SourceEncoding = "Cp1252".parse().unwrap();
        assert_eq!(encoding.decode(b"\x80 \xe9".to_vec()), "€ é".as_bytes());
        assert_eq!(encoding.encode("€ é 𝄞 λ".into()), b"\x80 \xe9 \\ud834\\udd1e \\u03bb");
        let encoding: SourceEncoding = "ISO_8859-1".parse().unwrap();
        assert_eq!(encoding.decode(b"\x80 \xe9".to_vec()), "\u{80} é".as_bytes());
        assert_eq!(encoding.encode("€ é".into()), b"\\u20ac \xe9");
        assert!("Shift_JIS".parse::<SourceEncoding>().is_err());
    }
}
