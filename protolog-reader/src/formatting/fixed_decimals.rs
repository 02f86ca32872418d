//! The decimals of times: a fixed number of digits.

/// The most decimals.
const MOST: usize = 9;

/// The numbers below 100, each in two digits; further places make that an index of seven bits is
/// always in there.
pub(super) const PAIRS: [[u8; 2]; 128] = {
    let (mut pairs, mut number) = ([[0; 2]; 128], 0);
    while number < 100 {
        pairs[number] = [b'0' + number as u8 / 10, b'0' + number as u8 % 10];
        number += 1;
    }
    pairs
};

/// Appends the last `count` digits of a number, at most nine.
pub(crate) fn push_digits(out: &mut Vec<u8>, number: u32, count: u8) {
    let left_out = MOST.saturating_sub(usize::from(count));
    out.extend_from_slice(&last_digits(number)[left_out..]);
}

/// Appends the point and the decimals of so many nanoseconds of a second, without the zeros at
/// their end; nothing if there are none.
#[inline]
pub(crate) fn push_nanos(out: &mut Vec<u8>, ns: u32) {
    if ns == 0 {
        return;
    }
    out.push(b'.');
    out.extend_from_slice(&last_digits(ns));
    while out.pop_if(|digit| *digit == b'0').is_some() {}
}

/// The last nine digits of a number.
#[inline]
fn last_digits(mut number: u32) -> [u8; MOST] {
    let mut digits = [0; MOST];
    // Two at a time, since each takes the remainder of the one before.
    let (first, pairs) = digits.as_rchunks_mut();
    for pair in pairs.iter_mut().rev() {
        *pair = PAIRS[(number % 100) as usize];
        number /= 100;
    }
    first[0] = b'0' + (number % 10) as u8;
    digits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_of_any_number() {
        for number in [0, 7, 10, 99, 100, 1_000_000, 120_450_000, 123_456_789, u32::MAX] {
            let all = format!("{:09}", number % 1_000_000_000);
            for count in 0..=9 {
                let mut out = b"0".to_vec();
                push_digits(&mut out, number, count);
                assert_eq!(out[1..], all.as_bytes()[9 - usize::from(count)..], "{number}");
            }
            let mut out = Vec::new();
            push_nanos(&mut out, number % 1_000_000_000);
            let expected = format!(".{}", all.trim_end_matches('0'));
            assert_eq!(String::from_utf8(out).unwrap(), expected.trim_end_matches('.'));
        }
    }
}
