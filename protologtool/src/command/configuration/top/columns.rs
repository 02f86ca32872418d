//! The columns of groups: those that a screen has room for, and what stands in them; lines as wide
//! as the screen.
//!
//! Invariant: a terminal obeys nothing in a line.

use super::watch::GroupRow;
use crate::cells::{beginning_of, end_of, width_of};
use protolog_core::control::name::Quoted;
use protolog_reader::printable;
use std::fmt::Write as _;

/// Lines that are no groups or calls.
pub(super) const AROUND: usize = 3;

/// The columns before the group's name: the head, the cells that they take, and whether they are
/// numbers.
const COLUMNS: [(&str, usize, bool); 7] = [
    ("PROGRAM", 10, false),
    ("PID", 7, true),
    ("TEXT", 7, false),
    ("TRACE", 7, false),
    ("MSG/S", 6, true),
    ("LOST/S", 6, true),
    ("LOST", 6, true),
];

/// Those columns that a narrow screen leaves out, the first ones first.
const LEFT_OUT: [usize; 7] = [6, 0, 2, 1, 5, 4, 3];

/// The cells that a group's name has at least, as far as the screen has them.
const LEAST_NAME: usize = 16;

/// The columns that are shown on a screen of this width, and the cells that they take.
fn shown(width: usize) -> ([bool; 7], usize) {
    let (mut shown, mut cells) = ([true; 7], COLUMNS.iter().map(|(_, cells, _)| cells + 1).sum());
    for column in LEFT_OUT {
        if width.saturating_sub(cells) < LEAST_NAME {
            shown[column] = false;
            cells -= COLUMNS[column].1 + 1;
        }
    }
    (shown, cells)
}

fn columns(texts: [&str; 7], last: &str, width: usize) -> String {
    let mut line = String::new();
    for ((text, (_, cells, is_number)), _) in
        texts.iter().zip(COLUMNS).zip(shown(width).0).filter(|(_, is_shown)| *is_shown)
    {
        let gap = " ".repeat(cells.saturating_sub(width_of(text)));
        let _ = if is_number { write!(line, "{gap}{text} ") } else { write!(line, "{text}{gap} ") };
    }
    line + last
}

/// The line above the groups.
pub(super) fn head(width: usize) -> String {
    columns(COLUMNS.map(|(head, ..)| head), "GROUP", width)
}

/// The line of a group, of whose name the last characters are there that fit.
pub(super) fn line(row: &GroupRow, width: usize) -> String {
    let group = match (&*row.group, row.compiled) {
        ("", _) => "(not known)".to_owned(),
        (name, true) if row.has_rules => format!("(rules) {}", Quoted(name)),
        (name, true) => Quoted(name).to_string(),
        (name, false) => format!("(not compiled in) {}", Quoted(name)),
    };
    let group = end_of(&group, width.saturating_sub(shown(width).1));
    let program = beginning_of(&row.process.program, 10);
    let (pid, lost) = (row.process.pid.to_string(), short(row.lost as f64));
    let rates = [row.messages_per_second, row.lost_per_second].map(short);
    columns([program, &pid, row.text, row.trace, &rates[0], &rates[1], &lost], group, width)
}

/// A number in six characters.
fn short(number: f64) -> String {
    match number {
        _ if number < 99_999.5 => format!("{number:.0}"),
        _ if number < 9_999_500.0 => format!("{:.0}k", number / 1e3),
        _ if number < 9_999_500_000.0 => format!("{:.0}M", number / 1e6),
        _ => format!("{:.0}G", number / 1e9),
    }
}

/// Cuts a line where the screen ends. Names of files are in some, which a terminal must not obey.
pub(super) fn cut(line: &str, width: usize) -> String {
    beginning_of(&printable(line), width).to_owned()
}

pub(super) fn inverse(line: &str, width: usize) -> String {
    let line = cut(line, width);
    let gap = " ".repeat(width.saturating_sub(width_of(&line)));
    format!("\x1b[7m{line}{gap}\x1b[0m")
}

#[cfg(test)]
mod tests {
    use super::short;

    #[test]
    fn numbers_are_short() {
        for (number, text) in [
            (0.4, "0"),
            (99_999.4, "99999"),
            (99_999.6, "100k"),
            (12_345_678.0, "12M"),
            (2e10, "20G"),
        ] {
            assert_eq!(short(number), text);
        }
    }
}
