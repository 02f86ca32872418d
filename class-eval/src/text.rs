//! Java's strings: UTF-16 code units, how they are written in class files, and the form of numbers
//! in them.

use std::rc::Rc;

/// The content of a Java string: UTF-16, where surrogates may be unpaired.
pub(crate) type Text = Rc<[u16]>;

/// Decodes the modified UTF-8 of class files: one to three bytes a code unit. Bytes that are not of
/// that form become U+FFFD.
pub(crate) fn from_modified_utf8(bytes: &[u8]) -> Vec<u16> {
    let mut units = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let [first, tail @ ..] = rest {
        let (unit, used) = match (first, tail) {
            (0..=0x7f, _) => (u16::from(*first), 1),
            (0xc0..=0xdf, [second, ..]) => (u16::from(first & 0x1f) << 6 | low(*second), 2),
            (0xe0..=0xef, [second, third, ..]) => {
                (u16::from(first & 0x0f) << 12 | low(*second) << 6 | low(*third), 3)
            }
            _ => (0xfffd, 1),
        };
        units.push(unit);
        rest = &rest[used..];
    }
    units
}

fn low(byte: u8) -> u16 {
    u16::from(byte & 0x3f)
}

pub(crate) fn from_str(text: &str) -> Text {
    text.encode_utf16().collect()
}

/// For people and for results; unpaired surrogates become U+FFFD.
pub(crate) fn to_string(units: &[u16]) -> String {
    String::from_utf16_lossy(units)
}

/// `String.hashCode()`.
pub(crate) fn hash(units: &[u16]) -> i32 {
    units.iter().fold(0i32, |hash, unit| hash.wrapping_mul(31).wrapping_add(i32::from(*unit)))
}

/// The character sets that `getBytes` is called with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Charset {
    Utf8,
    Latin1,
    Ascii,
}

impl Charset {
    /// The character set with this name, in either case.
    pub(crate) fn named(name: &str) -> Option<Self> {
        match name.to_ascii_uppercase().as_str() {
            "UTF-8" | "UTF8" | "UTF_8" => Some(Self::Utf8),
            "ISO-8859-1" | "ISO_8859_1" | "LATIN1" => Some(Self::Latin1),
            "US-ASCII" | "US_ASCII" | "ASCII" => Some(Self::Ascii),
            _ => None,
        }
    }

    /// The result of `getBytes`: `?` for characters that the character set lacks.
    pub(crate) fn encode(self, units: &[u16]) -> Vec<u8> {
        let chars = char::decode_utf16(units.iter().copied()).map(|char| char.unwrap_or('?'));
        let limit = match self {
            Self::Utf8 => return chars.collect::<String>().into_bytes(),
            Self::Latin1 => 0x100,
            Self::Ascii => 0x80,
        };
        chars
            .map(|char| if u32::from(char) < limit { u32::from(char) as u8 } else { b'?' })
            .collect()
    }
}

/// `Double.toString` of JDK 19 and later; earlier ones give more digits than needed for some
/// values.
pub(crate) fn double(value: f64) -> String {
    decimal(value.abs(), value, &format!("{value}"), &format!("{value:e}"))
}

/// `Float.toString`, likewise.
pub(crate) fn float(value: f32) -> String {
    decimal(f64::from(value.abs()), f64::from(value), &format!("{value}"), &format!("{value:e}"))
}

/// Plain from 10^-3 up to below 10^7, in scientific notation elsewhere, with a digit after the
/// point always.
fn decimal(size: f64, value: f64, plain: &str, scientific: &str) -> String {
    if value.is_nan() {
        return "NaN".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "Infinity" } else { "-Infinity" }.to_owned();
    }
    let pointed = |digits: &str| {
        if digits.contains('.') { digits.to_owned() } else { format!("{digits}.0") }
    };
    if size == 0.0 || (1e-3..1e7).contains(&size) {
        return pointed(plain);
    }
    let (digits, exponent) = scientific.split_once('e').unwrap_or((scientific, "0"));
    format!("{}E{exponent}", pointed(digits))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_look_as_java_writes_them() {
        for (value, text) in [
            (0.0, "0.0"),
            (-0.0, "-0.0"),
            (1.0, "1.0"),
            (0.001, "0.001"),
            (0.00099, "9.9E-4"),
            (9999999.0, "9999999.0"),
            (1e7, "1.0E7"),
            (-1.25e-9, "-1.25E-9"),
            (f64::NAN, "NaN"),
            (f64::NEG_INFINITY, "-Infinity"),
        ] {
            assert_eq!(double(value), text);
        }
        assert_eq!((float(0.1).as_str(), float(3.4e38).as_str()), ("0.1", "3.4E38"));
    }

    #[test]
    fn modified_utf8_has_two_bytes_for_nul_and_pairs_of_surrogates() {
        let bytes = [b'a', 0xc0, 0x80, 0xe2, 0x82, 0xac, 0xed, 0xa0, 0xbd, 0xed, 0xb8, 0x80];
        let units = from_modified_utf8(&bytes);
        assert_eq!(to_string(&units), "a\0€😀");
        assert_eq!(from_modified_utf8(&[0xe2, 0x82]), [0xfffd, 0xfffd]);
    }

    #[test]
    fn get_bytes_replaces_what_the_character_set_lacks() {
        let units: Vec<u16> = "aé€".encode_utf16().chain([0xd800]).collect();
        assert_eq!(Charset::Utf8.encode(&units), "aé€?".as_bytes());
        assert_eq!(Charset::Latin1.encode(&units), [b'a', 0xe9, b'?', b'?']);
        assert_eq!(Charset::Ascii.encode(&units), b"a???");
    }
}
