//! `%f` by integers: the exact digits of nearly all floats of a log, at a tenth of the cost of the
//! big integers of `core::fmt`.
//!
//! A float is a mantissa of 53 bits times a power of two. The part before the point is an integer
//! of 64 bits, unless the float is very large. The part after it, times a power of ten of 64 bits,
//! takes at most 117 bits, so its digits and the rounded rest are exact.
//!
//! Invariant: the digits are those of `core::fmt`, rounded half to even on the binary value.

/// The most digits after the point: 10^19 is the largest power of ten of 64 bits.
const MOST: usize = 19;

const POWERS_OF_TEN: [u64; MOST + 1] = {
    let mut powers = [1; MOST + 1];
    let mut index = 1;
    while index <= MOST {
        powers[index] = powers[index - 1] * 10;
        index += 1;
    }
    powers
};

/// A sign, the 20 digits of a `u64`, the point, and the digits after it.
const LEN: usize = 1 + 20 + 1 + MOST;

/// `00`, `01` and so on: two digits at a time, since each division waits for the one before.
const PAIRS: [[u8; 2]; 100] = {
    let mut pairs = [[b'0'; 2]; 100];
    let mut pair = 0;
    while pair < 100 {
        pairs[pair] = [b'0' + pair as u8 / 10, b'0' + pair as u8 % 10];
        pair += 1;
    }
    pairs
};

/// A float as `%f` writes it.
///
/// ```
/// use protolog_core::FixedDigits;
/// assert_eq!(FixedDigits::new(-2.5, 0).unwrap().as_str(), "-2");
/// assert_eq!(FixedDigits::new(0.1, 19).unwrap().as_str(), "0.1000000000000000056");
/// assert!(FixedDigits::new(1e20, 3).is_none());
/// ```
#[derive(Clone, Copy, Debug)]
pub struct FixedDigits {
    /// The text is at the end.
    bytes: [u8; LEN],
    start: usize,
}

impl FixedDigits {
    /// Converts `value`, with `precision` digits after the point. `None` for 2^64 and above, for
    /// infinities and NaN, and for more than 19 digits.
    #[inline]
    pub fn new(value: f64, precision: u8) -> Option<Self> {
        let (whole, fraction) = Self::parts(value, precision)?;
        let mut text = Self { bytes: [0; LEN], start: LEN };
        if precision > 0 {
            text.prepend_digits(fraction, usize::from(precision));
            text.prepend(b'.');
        }
        text.prepend_number(whole);
        if value.is_sign_negative() {
            text.prepend(b'-');
        }
        Some(text)
    }

    /// The absolute value, rounded, in the same cases: the integer before the point, and the digits
    /// after it as another one.
    ///
    /// ```
    /// use protolog_core::FixedDigits;
    /// assert_eq!(FixedDigits::parts(-2.0625, 3), Some((2, 62)));
    /// ```
    #[inline]
    pub fn parts(value: f64, precision: u8) -> Option<(u64, u64)> {
        split(value, *POWERS_OF_TEN.get(usize::from(precision))?)
    }

    /// The text.
    #[inline]
    pub fn as_str(&self) -> &str {
        core::str::from_utf8(self.as_bytes()).unwrap_or_default()
    }

    /// The text, which is ASCII.
    #[inline]
    pub fn as_bytes(&self) -> &[u8] {
        self.bytes.get(self.start..).unwrap_or_default()
    }

    /// Prepends a byte. The text is never longer than its room.
    #[inline]
    fn prepend(&mut self, byte: u8) {
        if let Some(place) = self.bytes.get_mut(self.start.wrapping_sub(1)) {
            *place = byte;
            self.start -= 1;
        }
    }

    /// Prepends a number below 100 as two digits.
    #[inline]
    fn prepend_pair(&mut self, pair: u32) {
        let start = self.start.wrapping_sub(2);
        let place = self.bytes.get_mut(start..).and_then(<[u8]>::first_chunk_mut);
        if let (Some(place), Some(digits)) = (place, PAIRS.get(pair as usize)) {
            *place = *digits;
            self.start = start;
        }
    }

    /// Prepends the last `count` digits of a number.
    #[inline]
    fn prepend_digits(&mut self, mut number: u64, mut count: usize) {
        while count > 9 {
            self.prepend_pair((number % 100) as u32);
            (number, count) = (number / 100, count - 2);
        }
        // Divisions of 32 bits take half as long.
        let mut number = (number % 1_000_000_000) as u32;
        while count > 1 {
            self.prepend_pair(number % 100);
            (number, count) = (number / 100, count - 2);
        }
        if count == 1 {
            self.prepend(b'0' + (number % 10) as u8);
        }
    }

    /// Prepends a number without leading zeros.
    #[inline]
    fn prepend_number(&mut self, mut number: u64) {
        while number > u64::from(u32::MAX) {
            self.prepend_pair((number % 100) as u32);
            number /= 100;
        }
        let mut number = number as u32;
        while number >= 100 {
            self.prepend_pair(number % 100);
            number /= 100;
        }
        if number >= 10 {
            self.prepend_pair(number);
        } else {
            self.prepend(b'0' + number as u8);
        }
    }
}

/// The absolute value, rounded: the integer before the point, and the digits after it as another
/// one, below `power`.
#[inline]
fn split(value: f64, power: u64) -> Option<(u64, u64)> {
    let bits = value.to_bits();
    let mantissa = bits & ((1 << 52) - 1);
    let (mantissa, exponent) = match (bits >> 52) as u32 & 0x7ff {
        0 => (mantissa, 1),
        exponent => (mantissa | 1 << 52, exponent),
    };
    // The value is `mantissa / 2^shift`.
    let Some(shift) = 1075_u32.checked_sub(exponent) else {
        // A mantissa of 53 bits has room for 11 more.
        let left = exponent - 1075;
        return (left <= 11).then(|| (mantissa << left, 0));
    };
    let (whole, fraction) = match shift {
        0..=52 => (mantissa >> shift, mantissa & ((1 << shift) - 1)),
        53..=118 => (0, mantissa),
        // The product below is less than 2^117: a quarter at most, and the result is zero.
        _ => return Some((0, 0)),
    };
    if fraction == 0 {
        return Some((whole, 0));
    }
    // Few digits, as most floats are printed with: all is of 64 bits.
    let scaled = if shift < 64 { fraction.checked_mul(power) } else { None };
    let (digits, rest) = match scaled {
        // `fraction` is not zero, so `shift` is not, either.
        Some(scaled) => (scaled >> shift, (scaled & ((1 << shift) - 1)).cmp(&(1 << (shift - 1)))),
        None => {
            let scaled = u128::from(fraction) * u128::from(power);
            let rest = scaled & ((1 << shift) - 1);
            ((scaled >> shift) as u64, rest.cmp(&(1 << (shift - 1))))
        }
    };
    let is_odd = whole.wrapping_mul(power).wrapping_add(digits) & 1 == 1;
    let digits = digits + u64::from(rest.is_gt() || rest.is_eq() && is_odd);
    // Below 2^52, since it has a fraction.
    Some(if digits == power { (whole + 1, 0) } else { (whole, digits) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::format;

    fn check(value: f64, precision: u8) {
        let expected = format!("{value:.*}", usize::from(precision));
        let found = FixedDigits::new(value, precision).expect("a float of this size");
        assert_eq!(found.as_str(), expected, "{value:e} with {precision}");
    }

    #[test]
    fn ties_carries_and_zeros() {
        for precision in 0..=MOST as u8 {
            for value in [
                0.0,
                0.5,
                1.5,
                2.5,
                0.25,
                0.125,
                0.375,
                0.9999999999,
                999.9999999999999,
                9.5,
                99.5,
                1e-9,
                1e-12,
                5e-324,
                2.2250738585072014e-308,
                4503599627370495.5,
                76013.57,
                9007199254740993.0,
                18446744073709549568.0,
                1e19,
            ] {
                check(value, precision);
                check(-value, precision);
            }
        }
    }

    #[test]
    fn too_large_and_too_long() {
        for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 18446744073709551616.0, 1e300] {
            assert!(FixedDigits::new(value, 2).is_none(), "{value}");
        }
        assert!(FixedDigits::new(1.0, MOST as u8 + 1).is_none());
    }

    /// Numbers that repeat after 2^64.
    struct Random(u64);

    impl Random {
        fn next(&mut self) -> u64 {
            self.0 = self.0.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            let mixed = (self.0 ^ self.0 >> 33).wrapping_mul(0xff51_afd7_ed55_8ccd);
            mixed ^ mixed >> 33
        }
    }

    #[test]
    fn any_float() {
        let mut random = Random(1);
        for _ in 0..300_000 {
            let (precision, form) = (random.next() % 20, random.next());
            let integer = random.next() as i64 >> (random.next() % 64);
            let value = match form % 4 {
                // Exponents from 2^-130 to 2^63, and any mantissa.
                0 => f64::from_bits(random.next() & !(0x7ff << 52) | (893 + form % 194) << 52),
                // The usual case: few digits.
                1 => integer as f64 / POWERS_OF_TEN[(form >> 8) as usize % 13] as f64,
                // Ties.
                2 => integer as f64 / (1_u64 << ((form >> 8) % 40)) as f64,
                _ => f64::from_bits(random.next()),
            };
            if value.abs() < 18446744073709551616.0 {
                check(value, precision as u8);
            }
        }
    }
}
