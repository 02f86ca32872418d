//! Numbers in lines: four digits at a time, each from the place that the ones before have.

use protolog_core::FixedDigits;

use crate::formatting::fixed_decimals::PAIRS;
use crate::formatting::line::Line;

/// Four digits.
const FOUR: u32 = 10_000;
/// Eight digits.
const EIGHT: u64 = 100_000_000;

impl Line<'_> {
    /// Appends an integer in decimal.
    #[inline]
    pub(crate) fn push_integer(&mut self, value: i64) {
        if value < 0 {
            self.push_byte(b'-');
        }
        self.push_unsigned(value.unsigned_abs());
    }

    /// Appends an integer in decimal.
    #[inline]
    pub(crate) fn push_unsigned(&mut self, value: u64) {
        if value < u64::from(FOUR) {
            self.push_up_to_four(value as u32);
        } else if value < EIGHT {
            let value = value as u32;
            self.push_up_to_four(value / FOUR);
            self.push_four(value % FOUR);
        } else {
            self.push_long(value);
        }
    }

    /// Appends an integer of more than eight digits.
    fn push_long(&mut self, value: u64) {
        let (high, low) = (value / EIGHT, (value % EIGHT) as u32);
        if high >= EIGHT {
            self.push_up_to_four((high / EIGHT) as u32);
            self.push_eight((high % EIGHT) as u32);
        } else if high >= u64::from(FOUR) {
            let high = high as u32;
            self.push_up_to_four(high / FOUR);
            self.push_four(high % FOUR);
        } else {
            self.push_up_to_four(high as u32);
        }
        self.push_eight(low);
    }

    /// Appends the last eight digits of a number.
    #[inline]
    pub(crate) fn push_eight(&mut self, number: u32) {
        self.push_four(number / FOUR);
        self.push_four(number % FOUR);
    }

    /// Appends the point and the decimals of so many nanoseconds of a second, without the zeros at
    /// their end; nothing if there are none.
    #[inline]
    pub(crate) fn push_nanos(&mut self, ns: u32) {
        if ns == 0 {
            return;
        }
        let (first, rest) = (ns / EIGHT as u32, ns % EIGHT as u32);
        self.push_few([b'.', b'0' + first as u8], 2);
        self.push_eight(rest);
        self.drop_zeros();
    }

    /// Appends an integer in hexadecimal.
    pub(crate) fn push_hex(&mut self, value: u64) {
        let digits = (u64::BITS - (value | 1).leading_zeros()).div_ceil(4);
        for digit in (0..digits).rev() {
            self.push_byte(b"0123456789abcdef"[(value >> (4 * digit)) as usize & 15]);
        }
    }

    /// Appends a float with so many digits after the point; false if that is left to others.
    #[inline]
    pub(crate) fn push_fixed(&mut self, value: f64, precision: u8) -> bool {
        let Some((whole, fraction)) = FixedDigits::parts(value, precision) else { return false };
        if value.is_sign_negative() {
            self.push_byte(b'-');
        }
        self.push_unsigned(whole);
        if precision > 0 {
            self.push_byte(b'.');
            self.push_fraction(fraction, usize::from(precision));
        }
        true
    }

    /// Appends the last `count` digits of a number.
    #[inline]
    fn push_fraction(&mut self, number: u64, count: usize) {
        if count <= 4 {
            self.push_last(number as u32, count);
        } else if count <= 8 {
            let number = number as u32;
            self.push_last(number / FOUR, count - 4);
            self.push_four(number % FOUR);
        } else {
            self.push_long_fraction(number, count);
        }
    }

    fn push_long_fraction(&mut self, number: u64, count: usize) {
        let (high, low) = (number / EIGHT, (number % EIGHT) as u32);
        if count > 16 {
            self.push_last((high / EIGHT) as u32, count - 16);
            self.push_eight((high % EIGHT) as u32);
        } else {
            self.push_fraction_of_high(high as u32, count - 8);
        }
        self.push_eight(low);
    }

    /// Appends the last `count` digits, at most eight, of a number.
    fn push_fraction_of_high(&mut self, number: u32, count: usize) {
        if count > 4 {
            self.push_last(number / FOUR, count - 4);
            self.push_four(number % FOUR);
        } else {
            self.push_last(number, count);
        }
    }

    /// Appends a number below 10,000 without leading zeros.
    #[inline]
    fn push_up_to_four(&mut self, number: u32) {
        let digits = u32::from_le_bytes(four(number));
        // The bits of the zeros before the first other digit, or the last one.
        let zeros = (digits ^ u32::from_le_bytes(*b"0000") | 1 << 24).trailing_zeros() & !7;
        self.push_few((digits >> zeros).to_le_bytes(), 4 - zeros as usize / 8);
    }

    /// Appends the last `count` digits, at most four, of a number below 10,000.
    #[inline]
    fn push_last(&mut self, number: u32, count: usize) {
        let digits = u32::from_le_bytes(four(number)) >> (32 - 8 * count as u32).min(31);
        self.push_few(digits.to_le_bytes(), count);
    }

    /// Appends the four digits of a number below 10,000.
    #[inline]
    fn push_four(&mut self, number: u32) {
        self.push_few(four(number), 4);
    }
}

/// The four digits of a number below 10,000.
#[inline]
fn four(number: u32) -> [u8; 4] {
    let high = number / 100;
    let [[a, b], [c, d]] = [high, number - 100 * high].map(|pair| PAIRS[pair as usize % 128]);
    [a, b, c, d]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formatting::line::LineRoom;

    fn line(push: impl FnOnce(&mut Line<'_>)) -> String {
        let mut room = LineRoom::default();
        let mut line = room.begin();
        push(&mut line);
        String::from_utf8(line.finish().unwrap().to_vec()).unwrap()
    }

    #[test]
    fn integers_of_any_length() {
        for digits in 0..20 {
            let power = 10_u64.pow(digits);
            for number in [power - 1, power, power + 1, power.saturating_mul(9), u64::MAX - power] {
                assert_eq!(line(|it| it.push_unsigned(number)), number.to_string());
                assert_eq!(line(|it| it.push_hex(number)), format!("{number:x}"));
                for value in [number as i64, (number as i64).wrapping_neg()] {
                    assert_eq!(line(|it| it.push_integer(value)), value.to_string());
                }
            }
        }
    }

    #[test]
    fn decimals_of_times() {
        for ns in [0, 1, 10, 999_999_999, 100_000_000, 120_450_000, 12_000, 500_000_001] {
            let all = format!(".{ns:09}");
            let expected = all.trim_end_matches('0').trim_end_matches('.');
            assert_eq!(line(|it| it.push_nanos(ns)), expected);
        }
    }

    #[test]
    fn floats_of_any_precision() {
        let values = [0.0, -0.0, 0.5, 1.5, 0.05, 99.995, 123_456.789, -1e-9, 1e18, 2e19, f64::NAN];
        for value in values {
            for precision in 0..22 {
                let (mut is_done, mut text) = (false, String::new());
                text.push_str(&line(|it| is_done = it.push_fixed(value, precision)));
                let is_easy = value.abs() < 18_446_744_073_709_551_616.0 && precision < 20;
                assert_eq!(is_done, is_easy, "{value} {precision}");
                if is_done {
                    assert_eq!(text, format!("{value:.*}", usize::from(precision)));
                }
            }
        }
    }
}
