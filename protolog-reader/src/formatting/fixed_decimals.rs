//! The decimals of times: a fixed number of digits.

/// The most decimals.
const MOST: u8 = 9;

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
