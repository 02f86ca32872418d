//! Arguments that differ between any two runs of a program: ids of processes and threads,
//! addresses, times, durations.
//!
//! The kind of an argument shows in its template (`took %d ms`, `pid=%d`, `0x%x`) or its value
//! (`0x7ffd5e8a1c40`, the id of the thread that logged it). Where neither does, it is compared like
//! any other.

use protolog_core::{Piece, Template};

/// The way an argument is compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum ArgKind {
    /// By its values.
    #[default]
    Value,
    /// Not at all: it is an id, an address or a time.
    Identity,
    /// A duration, which is another one only if it is more than twice as long, or less than half.
    Duration,
}

/// Words before an argument that is an id, an address or a time.
const IDENTITIES: [&str; 14] = [
    "pid",
    "ppid",
    "tid",
    "process",
    "thread",
    "ptr",
    "pointer",
    "addr",
    "address",
    "uuid",
    "time",
    "timestamp",
    "ts",
    "date",
];
/// Words before a duration.
const DURATIONS: [&str; 8] =
    ["took", "elapsed", "duration", "latency", "waited", "delay", "uptime", "runtime"];
/// Units of time, behind a number.
const UNITS: [&str; 15] = [
    "ns",
    "us",
    "µs",
    "ms",
    "s",
    "sec",
    "secs",
    "second",
    "seconds",
    "min",
    "minutes",
    "milliseconds",
    "microseconds",
    "nanoseconds",
    "millis",
];

/// The kinds of the arguments of a template.
pub(super) fn kinds(template: &str) -> Vec<ArgKind> {
    let Ok(template) = Template::parse(template) else { return Vec::new() };
    let pieces: Vec<Piece<'_>> = template.pieces().collect();
    let text = |index: Option<usize>| match index.and_then(|index| pieces.get(index)) {
        Some(Piece::Text(text)) => *text,
        _ => "",
    };
    let conversions = pieces.iter().enumerate();
    let conversions = conversions.filter(|(_, piece)| matches!(piece, Piece::Conversion(_)));
    conversions.map(|(at, _)| kind(text(at.checked_sub(1)), text(Some(at + 1)))).collect()
}

/// The kind of an argument between these texts.
fn kind(before: &str, after: &str) -> ArgKind {
    let is_word = |char: char| char.is_alphanumeric();
    let head = before.trim_end_matches(|char: char| !is_word(char));
    let word = head.rsplit(|char| !is_word(char)).next().unwrap_or_default().to_lowercase();
    let unit = after.trim_start().split(|char| !is_word(char)).next().unwrap_or_default();
    if UNITS.contains(&unit) || DURATIONS.contains(&&*word) {
        ArgKind::Duration
    } else if before.ends_with("0x") || IDENTITIES.contains(&&*word) {
        ArgKind::Identity
    } else {
        ArgKind::Value
    }
}

/// The least number that is taken for an id of the thread that logs it.
const LEAST_ID: u64 = 300;

/// Returns whether a number is the id of the process or thread that logs it.
pub(super) fn is_own_id(number: u64, ids: [Option<u32>; 2]) -> bool {
    number >= LEAST_ID && ids.into_iter().flatten().any(|id| u64::from(id) == number)
}

/// A text without the digits of addresses.
pub(super) fn without_addresses(text: &str) -> String {
    let mut parts = text.split("0x");
    let mut kept = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let digits = part.bytes().take_while(u8::is_ascii_hexdigit).count();
        kept.push_str("0x");
        kept.push_str(if digits >= 6 { "…" } else { &part[..digits] });
        kept.push_str(&part[digits..]);
    }
    kept
}

/// The name of a thread without its numbers.
pub(super) fn without_numbers(name: &str) -> String {
    let mut kept = String::with_capacity(name.len());
    for char in name.chars() {
        if !char.is_ascii_digit() {
            kept.push(char);
        } else if !kept.ends_with('#') {
            kept.push('#');
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates_say_what_their_arguments_are() {
        use ArgKind::{Duration, Identity, Value};
        for (template, expected) in [
            ("sent %d bytes in %.1f ms", &[Value, Duration][..]),
            ("%d items, %d s", &[Value, Duration]),
            ("%d%s", &[Value, Value]),
            ("child pid=%d, at 0x%x", &[Identity, Identity]),
            ("thread: %s took %d", &[Identity, Duration]),
            ("%d msgs", &[Value]),
            ("no argument", &[]),
        ] {
            assert_eq!(kinds(template), expected, "{template}");
        }
    }

    #[test]
    fn addresses_and_numbers_are_left_out() {
        assert_eq!(without_addresses("at 0x7ffd5e8a1c40, flags 0x1f"), "at 0x…, flags 0x1f");
        assert_eq!(without_addresses("none"), "none");
        assert_eq!(without_numbers("pool-12-thread-3"), "pool-#-thread-#");
    }
}
