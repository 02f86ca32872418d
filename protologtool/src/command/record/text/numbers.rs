//! Numbers of the text format: decimal, hexadecimal, octal; floats.

/// An integer of at most 64 bits, without its sign.
pub(super) fn integer(text: &str) -> Option<u64> {
    let hex = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
    let (digits, radix) = match hex {
        Some(digits) => (digits, 16),
        None if text.len() > 1 && text.starts_with('0') => (&text[1..], 8),
        None => (text, 10),
    };
    let are_digits = !digits.is_empty() && digits.chars().all(|char| char.is_digit(radix));
    u64::from_str_radix(digits, radix).ok().filter(|_| are_digits)
}

/// A signed integer from `least` to `most`.
pub(super) fn signed(is_negative: bool, text: &str, least: i64, most: i64) -> Option<i64> {
    let value = i128::from(integer(text)?);
    let value = i64::try_from(if is_negative { -value } else { value }).ok()?;
    (least..=most).contains(&value).then_some(value)
}

/// A float, which may be written as an integer; without its sign.
pub(super) fn float(text: &str) -> Option<f64> {
    if let Some(integer) = integer(text) {
        return Some(integer as f64);
    }
    let digits = text.strip_suffix(['f', 'F']).unwrap_or(text);
    let is_float =
        digits.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'.' | b'e' | b'E' | b'+' | b'-'));
    // Octal digits that are none.
    let is_octal = digits.len() > 1
        && digits.bytes().all(|byte| byte.is_ascii_digit())
        && digits.starts_with('0');
    digits.parse().ok().filter(|_| is_float && !is_octal)
}

/// The names of floats that are no numbers.
pub(super) fn named_float(name: &str) -> Option<f64> {
    match name.to_ascii_lowercase().as_str() {
        "inf" | "infinity" => Some(f64::INFINITY),
        "nan" => Some(f64::NAN),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_the_format() {
        for (text, value) in [
            ("0", Some(0)),
            ("10", Some(10)),
            ("0x1F", Some(31)),
            ("017", Some(15)),
            ("18446744073709551615", Some(u64::MAX)),
            ("18446744073709551616", None),
            ("09", None),
            ("0x", None),
            ("1a", None),
            ("1.5", None),
        ] {
            assert_eq!(integer(text), value, "{text}");
        }
        assert_eq!(signed(true, "9223372036854775808", i64::MIN, i64::MAX), Some(i64::MIN));
        assert_eq!(signed(false, "2147483648", i32::MIN.into(), i32::MAX.into()), None);
        for (text, value) in [
            ("1.5", Some(1.5)),
            ("2e3", Some(2000.0)),
            ("1.5f", Some(1.5)),
            (".5", Some(0.5)),
            ("3", Some(3.0)),
            ("1.2.3", None),
            ("08", None),
        ] {
            assert_eq!(float(text), value, "{text}");
        }
    }
}
