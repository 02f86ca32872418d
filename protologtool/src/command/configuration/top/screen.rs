//! The picture: a head, the groups, and a line of keys; what is chosen, and what keys do.
//!
//! Invariants: no line is longer than the screen is wide, and none more than it is high; a terminal obeys
//! nothing in them.

use super::super::switch::LevelChange;
use super::terminal::Key;
use super::watch::{GroupRow, Sample};
use protolog_core::Level;
use protolog_core::control::name::Quoted;
use protolog_reader::printable;
use std::collections::BTreeSet;
use std::fmt::Write as _;

const HEAD: &str = "PROGRAM        PID TEXT    TRACE    MSG/S LOST/S   LOST GROUP";
/// The columns before the group.
const BEFORE_GROUP: usize = 56;
const KEYS: &str = "up/down choose  t text  r recording  p pause  q end";
/// Lines that are no groups.
const AROUND: usize = 3;

/// The effect of a key.
pub(super) enum Answer {
    Nothing,
    End,
    /// The levels of this group change.
    Switch(Box<GroupRow>, LevelChange),
}

/// The part of a group's levels that the next key sets.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SwitchedPart {
    Text,
    Trace,
}

/// The state of the picture.
#[derive(Default)]
pub(super) struct Screen {
    /// The chosen group, by process and name: lines change their places.
    chosen: Option<(u32, String)>,
    asks: Option<SwitchedPart>,
    is_paused: bool,
    note: Option<String>,
}

impl Screen {
    pub(super) fn is_paused(&self) -> bool {
        self.is_paused
    }

    /// Shows a text in place of the keys, until the next key.
    pub(super) fn note(&mut self, text: String) {
        self.note = Some(text);
    }

    /// The line of the chosen group.
    fn place(&self, sample: &Sample) -> usize {
        let is_it = |row: &GroupRow| {
            self.chosen
                .as_ref()
                .is_some_and(|(pid, group)| row.process.pid == *pid && row.group == *group)
        };
        sample.rows.iter().position(is_it).unwrap_or(0)
    }

    fn choose(&mut self, place: usize, sample: &Sample) {
        self.chosen = sample.rows.get(place).map(|row| (row.process.pid, row.group.clone()));
    }

    pub(super) fn press(&mut self, key: Key, sample: &Sample) -> Answer {
        self.note = None;
        let place = self.place(sample);
        if let Some(part) = self.asks.take() {
            return self.level(part, key, sample.rows.get(place));
        }
        match key {
            Key::End | Key::Char('q') => return Answer::End,
            Key::Up | Key::Char('k') => self.choose(place.saturating_sub(1), sample),
            Key::Down | Key::Char('j') => {
                self.choose((place + 1).min(sample.rows.len().saturating_sub(1)), sample);
            }
            Key::Char('t') => self.ask(SwitchedPart::Text, place, sample),
            Key::Char('r') => self.ask(SwitchedPart::Trace, place, sample),
            Key::Char('p') => self.is_paused = !self.is_paused,
            Key::Char(_) | Key::Escape => {}
        }
        Answer::Nothing
    }

    fn ask(&mut self, part: SwitchedPart, place: usize, sample: &Sample) {
        // The choice stays while lines move.
        self.choose(place, sample);
        self.asks = self.chosen.is_some().then_some(part);
    }

    fn level(&mut self, part: SwitchedPart, key: Key, row: Option<&GroupRow>) -> Answer {
        let from = match key {
            Key::End => return Answer::End,
            Key::Char('o') => None,
            Key::Char(letter) => {
                let is_it = |level: &Level| level.letter().eq_ignore_ascii_case(&letter);
                let Some(level) = Level::ALL.into_iter().find(is_it) else {
                    self.note(format!("`{letter}` is no level"));
                    return Answer::Nothing;
                };
                Some(level)
            }
            Key::Up | Key::Down | Key::Escape => return Answer::Nothing,
        };
        let Some(row) = row else { return Answer::Nothing };
        let change = LevelChange::level(
            &Quoted(&row.group).to_string(),
            from,
            part == SwitchedPart::Text,
            part == SwitchedPart::Trace,
        );
        Answer::Switch(Box::new(row.clone()), change)
    }

    /// The lines of a screen of this many columns and rows.
    pub(super) fn lines(&self, sample: &Sample, (width, height): (usize, usize)) -> Vec<String> {
        let room = height.saturating_sub(AROUND);
        let place = self.place(sample);
        let first = place.saturating_sub(room.saturating_sub(1));
        let mut lines = vec![cut(&summary(sample, self.is_paused), width), inverse(HEAD, width)];
        for (at, row) in sample.rows.iter().enumerate().skip(first).take(room) {
            let line = line(row, width);
            lines.push(if at == place { inverse(&line, width) } else { cut(&line, width) });
        }
        lines.resize(height.saturating_sub(1).max(2), String::new());
        let letters = "v d i w e f, o for off, any other key to leave it";
        let last = match (self.asks, &self.note, sample.problems.first()) {
            (Some(SwitchedPart::Text), ..) => format!("print from: {letters}"),
            (Some(SwitchedPart::Trace), ..) => format!("record from: {letters}"),
            (None, Some(note), _) => note.clone(),
            (None, None, Some(problem)) => format!("warning: {problem}"),
            (None, None, None) => KEYS.to_owned(),
        };
        lines.push(cut(&last, width));
        lines.truncate(height);
        lines
    }
}

/// The groups as a table, for files and pipes.
pub(super) fn table(sample: &Sample) -> String {
    let mut text = format!("{HEAD}\n");
    for row in &sample.rows {
        let _ = writeln!(text, "{}", line(row, usize::MAX));
    }
    text
}

fn summary(sample: &Sample, is_paused: bool) -> String {
    let programs: BTreeSet<_> = sample.rows.iter().map(|row| &row.process).collect();
    let others = programs.iter().filter(|process| process.is_other_users).count();
    let others = if others > 0 { format!(" ({others} of other users)") } else { String::new() };
    let total = |of: fn(&GroupRow) -> f64| sample.rows.iter().map(of).sum::<f64>();
    let counted =
        |count: usize, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
    format!(
        "protolog top: {}{others}, {}, {:.0} messages/s, {:.0} lost/s{}",
        counted(programs.len(), "program"),
        counted(sample.rows.len(), "group"),
        total(|row| row.messages_per_second),
        total(|row| row.lost_per_second),
        if is_paused { "  PAUSED" } else { "" }
    )
}

/// The line of a group, of whose name the last characters are there that fit.
fn line(row: &GroupRow, width: usize) -> String {
    let program: String = row.process.program.chars().take(10).collect();
    let group = match (&*row.group, row.compiled) {
        ("", _) => "(not known)".to_owned(),
        (name, true) => Quoted(name).to_string(),
        (name, false) => format!("(not compiled in) {}", Quoted(name)),
    };
    let over = group.chars().count().saturating_sub(width.saturating_sub(BEFORE_GROUP));
    let group: String = group.chars().skip(over).collect();
    format!(
        "{program:<10} {:>7} {:<7} {:<7} {:>6} {:>6} {:>6} {group}",
        row.process.pid,
        row.text,
        row.trace,
        short(row.messages_per_second),
        short(row.lost_per_second),
        short(row.lost as f64)
    )
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
fn cut(line: &str, width: usize) -> String {
    printable(line).chars().take(width).collect()
}

fn inverse(line: &str, width: usize) -> String {
    format!("\x1b[7m{:<width$}\x1b[0m", cut(line, width))
}

#[cfg(test)]
mod tests {
    use super::super::super::process::ProcessName;
    use super::*;

    fn row(group: &str) -> GroupRow {
        GroupRow {
            process: ProcessName {
                program: "a-long-name".into(),
                pid: 4_194_304,
                ..ProcessName::default()
            },
            group: group.into(),
            compiled: true,
            text: "verbose",
            trace: "verbose",
            ..GroupRow::default()
        }
    }

    #[test]
    fn lines_fit() {
        let mut row = row("a_crate::a_module::another::AppLog::Net");
        (row.messages_per_second, row.lost_per_second, row.lost) =
            (99_999.0, 123_456.0, 9_999_400_000);
        let line = line(&row, 80);
        assert_eq!(line.chars().count(), 80, "{line}");
        assert!(line.ends_with(" 99999   123k  9999M le::another::AppLog::Net"), "{line}");
        assert_eq!(HEAD.find("GROUP"), line.find("le::another"));
    }

    #[test]
    fn the_first_line_tells_of_other_users() {
        let mut rows = vec![row("a::Net"), row("a::Disk"), row("b::Net")];
        rows[2].process.pid = 1;
        let first = |rows: &[GroupRow]| summary(&Sample::of(rows.to_vec()), false);
        assert!(first(&rows).starts_with("protolog top: 2 programs, 3 groups"), "{}", first(&rows));
        rows[2].process.is_other_users = true;
        let with_other = "protolog top: 2 programs (1 of other users), 3 groups";
        assert!(first(&rows).starts_with(with_other), "{}", first(&rows));
    }

    #[test]
    fn a_terminal_obeys_no_name() {
        let line = "`/run/\x1b]0;title\x07\u{202e}`: it is silent";
        assert_eq!(cut(line, 60), r"`/run/\u{1b}]0;title\u{7}\u{202e}`: it is silent");
        assert_eq!(cut(line, 10), r"`/run/\u{1");
    }

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
