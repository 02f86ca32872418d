//! Times that count back from now: `10m`, `2h30m`, `90s ago`, as other tools for logs take them.

/// Units with their nanoseconds; of those that begin alike, the longer ones come first.
const UNITS: [(&[&str], i64); 6] = [
    (&["weeks", "week", "w"], 7 * 86_400_000_000_000),
    (&["days", "day", "d"], 86_400_000_000_000),
    (&["hours", "hour", "hr", "h"], 3_600_000_000_000),
    (&["msec", "ms"], 1_000_000),
    (&["minutes", "minute", "mins", "min", "m"], 60_000_000_000),
    (&["seconds", "second", "secs", "sec", "s"], 1_000_000_000),
];

/// Parses a span of time, and returns its nanoseconds: numbers with their units, `-` before or
/// `ago` after them.
pub(crate) fn parse(text: &str) -> Option<i64> {
    let text = text.trim();
    let text = text.strip_prefix('-').unwrap_or(text);
    let mut rest = text.strip_suffix("ago").unwrap_or(text).trim();
    let mut sum: i64 = 0;
    loop {
        let digits = rest.find(|char: char| !char.is_ascii_digit())?;
        let (number, after) = rest.split_at(digits);
        let after = after.trim_start();
        let end = after.find(|char: char| !char.is_ascii_alphabetic()).unwrap_or(after.len());
        let (unit, more) = after.split_at(end);
        let (_, one) = UNITS.iter().find(|(names, _)| names.contains(&unit))?;
        sum = sum.checked_add(number.parse::<i64>().ok()?.checked_mul(*one)?)?;
        rest = more.trim_start();
        if rest.is_empty() {
            return Some(sum);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_have_units() {
        for (text, seconds) in [
            ("90s", 90),
            ("10m", 600),
            ("-10m", 600),
            ("2h30m", 9000),
            ("2h 30m ago", 9000),
            ("10 min ago", 600),
            ("1 day", 86_400),
            ("1w1d", 8 * 86_400),
            ("0s", 0),
        ] {
            assert_eq!(parse(text), Some(seconds * 1_000_000_000), "{text}");
        }
        assert_eq!(parse("250ms"), Some(250_000_000));
        for bad in
            ["", "m", "10", "10x", "10m5", "--10m", "1.5h", "ago", "10mm", "99999999999w", "ä"]
        {
            assert_eq!(parse(bad), None, "{bad}");
        }
    }
}
