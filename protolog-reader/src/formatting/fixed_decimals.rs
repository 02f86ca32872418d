//! Floats with a fixed number of decimals, exactly rounded, by integers: most floats of a log are small and have few decimals.
//!
//! Invariant: the digits are those of the standard library, which takes several times as long.

/// The most decimals.
const MOST: u8 = 9;

/// Appends `value` with so many decimals. False, and nothing is appended, if it is too large or too small for that, or no number.
pub(crate) fn push(out: &mut Vec<u8>, value: f64, decimals: u8) -> bool {
    let Some((whole, fraction)) = split(value.abs(), decimals) else { return false };
    if value.is_sign_negative() {
        out.push(b'-');
    }
    out.extend_from_slice(itoa::Buffer::new().format(whole).as_bytes());
    if decimals > 0 {
        out.push(b'.');
        push_digits(out, fraction, decimals);
    }
    true
}

/// Appends the last `count` digits of a number, at most nine.
pub(crate) fn push_digits(out: &mut Vec<u8>, mut number: u32, count: u8) {
    let mut digits = [b'0'; MOST as usize];
    let digits = &mut digits[..usize::from(count.min(MOST))];
    // Two at a time, since each takes the remainder of the one before.
    let (first, pairs) = digits.as_rchunks_mut();
    for [tens, ones] in pairs.iter_mut().rev() {
        let pair = number % 100;
        number /= 100;
        (*tens, *ones) = (b'0' + (pair / 10) as u8, b'0' + (pair % 10) as u8);
    }
    if let [digit] = first {
        *digit = b'0' + (number % 10) as u8;
    }
    out.extend_from_slice(digits);
}

/// The digits before and after the point.
fn split(value: f64, decimals: u8) -> Option<(u64, u32)> {
    let bits = value.to_bits();
    let exponent = (bits >> 52) as u32;
    if decimals > MOST {
        return None;
    }
    if bits == 0 {
        return Some((0, 0));
    }
    // Of a normal number that is `mantissa / 2^shift`. The product below takes 83 bits.
    let shift = 1075_u32.checked_sub(exponent)?;
    if exponent == 0 || !(1..=120).contains(&shift) {
        return None;
    }
    let mantissa = bits & ((1 << 52) - 1) | 1 << 52;
    let power = 10_u64.pow(u32::from(decimals));
    let scaled = u128::from(mantissa) * u128::from(power);
    let (mut quotient, rest) = (scaled >> shift, scaled & ((1 << shift) - 1));
    let half = 1 << (shift - 1);
    // Half of the last digit goes to the even one.
    quotient += u128::from(rest > half || rest == half && quotient & 1 == 1);
    let quotient = u64::try_from(quotient).ok()?;
    Some((quotient / power, (quotient % power) as u32))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(value: f64, decimals: u8) -> bool {
        let mut out = Vec::new();
        let is_done = push(&mut out, value, decimals);
        let expected =
            if is_done { format!("{value:.*}", usize::from(decimals)) } else { String::new() };
        assert_eq!(String::from_utf8(out).unwrap(), expected, "{value:e} with {decimals}");
        is_done
    }

    #[test]
    fn ties_zeros_and_limits() {
        for decimals in 0..=MOST {
            for value in
                [0.0, -0.0, 0.5, 1.5, 2.5, -0.25, 0.125, 0.375, 0.999_999_999_9, 1e-9, -1e-12]
            {
                assert!(check(value, decimals), "{value} with {decimals}");
            }
        }
        assert!(check(76013.57, 2) && check(4_503_599_627_370_495.5, 3));
        for value in [f64::NAN, f64::INFINITY, 1e300, 1e-300, 5e-324] {
            assert!(!check(value, 2));
        }
        assert!(!check(1.0, MOST + 1));
    }

    proptest! {
        #[test]
        fn any_float(bits: u64, decimals in 0..=MOST) {
            check(f64::from_bits(bits), decimals);
        }

        #[test]
        fn usual_floats(whole in -1_000_000_000_i64..1_000_000_000, scale in 0..12_i32, decimals in 0..=MOST) {
            check(whole as f64 / 10_f64.powi(scale), decimals);
            check(whole as f64 / 2_f64.powi(scale), decimals);
        }
    }
}
