//! The picture: a head, the groups, and a line of keys; the chosen group, and the actions of keys.
//!
//! Invariants: no line is longer than the screen is wide, and none more than it is high; a terminal
//! obeys nothing in them.

use super::super::switch::LevelChange;
use super::keys::Key;
use super::watch::{GroupRow, LEVELS, Sample};
use crate::cells::{beginning_of, end_of, width_of};
use protolog_core::Level;
use protolog_core::control::name::Quoted;
use protolog_reader::printable;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fmt::Write as _;

const KEYS: &str = "up/down choose  t text  r recording  p pause  q end";
/// The same for a narrow screen.
const FEW_KEYS: &str = "t text  r recording  p pause  q end";
/// Lines that are no groups.
const AROUND: usize = 3;

/// The effect of a key.
pub(super) enum Answer {
    Nothing,
    End,
    Suspend,
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
    /// The group that stands out in the last picture.
    drawn: RefCell<Option<(u32, String)>>,
    asks: Option<SwitchedPart>,
    /// The change that the next key confirms.
    unconfirmed: Option<(Box<GroupRow>, LevelChange)>,
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

    /// The line of the chosen group, or the first one if that is not there.
    fn place(&self, sample: &Sample) -> usize {
        self.chosen_place(sample).unwrap_or(0)
    }

    /// The line of the chosen group; none if none was chosen, or its program has ended or does not
    /// name it any more.
    fn chosen_place(&self, sample: &Sample) -> Option<usize> {
        let (pid, group) = self.chosen.as_ref()?;
        sample.rows.iter().position(|row| row.process.pid == *pid && row.group == *group)
    }

    fn choose(&mut self, place: usize, sample: &Sample) {
        self.chosen = sample.rows.get(place).map(GroupRow::id);
        self.drawn.take();
    }

    pub(super) fn press(&mut self, key: Key, sample: &Sample) -> Answer {
        self.note = None;
        let place = self.place(sample);
        let asked = (self.unconfirmed.take(), self.asks.take());
        // A user who asked for one group means no other one.
        let chosen = self.chosen_place(sample);
        match (key, asked) {
            (Key::End, _) => return Answer::End,
            (Key::Suspend, _) => return Answer::Suspend,
            (Key::Char('y'), (Some((row, change)), _)) => return Answer::Switch(row, change),
            (_, (Some(_), _)) => return Answer::Nothing,
            (_, (None, Some(part))) => {
                return self.level(part, key, chosen.and_then(|place| sample.rows.get(place)));
            }
            (_, (None, None)) => {}
        }
        match key {
            Key::End | Key::Suspend | Key::Escape => {}
            Key::Char('q') => return Answer::End,
            Key::Up | Key::Char('k') => self.choose(place.saturating_sub(1), sample),
            Key::Down | Key::Char('j') => {
                self.choose((place + 1).min(sample.rows.len().saturating_sub(1)), sample);
            }
            Key::Char('t') => self.ask(SwitchedPart::Text, sample),
            Key::Char('r') => self.ask(SwitchedPart::Trace, sample),
            Key::Char('p') => self.is_paused = !self.is_paused,
            Key::Char(_) => {}
        }
        Answer::Nothing
    }

    fn ask(&mut self, part: SwitchedPart, sample: &Sample) {
        // The line that the user saw, also if lines have moved since.
        let seen = self.drawn.take();
        if seen.is_some() {
            self.chosen = seen;
        } else if self.chosen.is_none() {
            self.choose(0, sample);
        }
        match self.chosen_place(sample) {
            Some(_) => self.asks = Some(part),
            None => self.say_gone(),
        }
    }

    /// Says that the chosen group is gone, if there is one.
    fn say_gone(&mut self) {
        if let Some((pid, group)) = self.chosen.take() {
            self.note(format!("nothing is switched: {} of pid {pid} is gone", Quoted(&group)));
        }
    }

    fn level(&mut self, part: SwitchedPart, key: Key, row: Option<&GroupRow>) -> Answer {
        let from = match key {
            Key::Char('o') => None,
            Key::Char(letter) => {
                let is_it = |level: &Level| level.letter().eq_ignore_ascii_case(&letter);
                let Some(level) = Level::ALL.into_iter().find(is_it) else {
                    self.note(format!("`{letter}` is no level"));
                    return Answer::Nothing;
                };
                Some(level)
            }
            _ => return Answer::Nothing,
        };
        let Some(row) = row else {
            self.say_gone();
            return Answer::Nothing;
        };
        let change = LevelChange::level(
            &Quoted(&row.group).to_string(),
            from,
            part == SwitchedPart::Text,
            part == SwitchedPart::Trace,
        );
        let row = Box::new(row.clone());
        if part == SwitchedPart::Trace && records_less(&row, from) {
            self.unconfirmed = Some((row, change));
            return Answer::Nothing;
        }
        Answer::Switch(row, change)
    }

    /// The lines of a screen of this many columns and rows.
    pub(super) fn lines(&self, sample: &Sample, (width, height): (usize, usize)) -> Vec<String> {
        let room = height.saturating_sub(AROUND);
        let place = self.place(sample);
        let first = place.saturating_sub(room.saturating_sub(1));
        self.drawn.replace(sample.rows.get(place).map(GroupRow::id));
        let head = inverse(&head(width), width);
        let mut lines = vec![cut(&summary(sample, self.is_paused), width), head];
        for (at, row) in sample.rows.iter().enumerate().skip(first).take(room) {
            let line = line(row, width);
            lines.push(if at == place { inverse(&line, width) } else { cut(&line, width) });
        }
        lines.resize(height.saturating_sub(1).max(2), String::new());
        let letters = "v d i w e f, o for off, any other key to leave it";
        let unconfirmed = self.unconfirmed.as_ref().map(|(row, _)| question(row, width));
        let last = match (self.asks, &self.note, sample.problems.first()) {
            _ if unconfirmed.is_some() => unconfirmed.unwrap_or_default(),
            (Some(SwitchedPart::Text), ..) => format!("print from: {letters}"),
            (Some(SwitchedPart::Trace), ..) => format!("record from: {letters}"),
            (None, Some(note), _) => note.clone(),
            (None, None, Some(problem)) => format!("warning: {problem}"),
            (None, None, None) if width < KEYS.len() => FEW_KEYS.to_owned(),
            (None, None, None) => KEYS.to_owned(),
        };
        lines.push(cut(&last, width));
        lines.truncate(height);
        lines
    }
}

/// The question to confirm, with the group: the chosen line may be another one's by now.
fn question(row: &GroupRow, width: usize) -> String {
    let pid = row.process.pid;
    let line = format!("records less: y to do it, any other key to leave it: pid {pid} ");
    let name = printable(&Quoted(&row.group).to_string());
    let name = end_of(&name, width.saturating_sub(width_of(&line)));
    format!("{line}{name}")
}

/// Returns whether sessions would record less of a group if they recorded it from this level on.
fn records_less(row: &GroupRow, from: Option<Level>) -> bool {
    let rank =
        |level: Option<&str>| level.and_then(|level| LEVELS.iter().position(|it| *it == level));
    let now = rank(Some(row.trace));
    let then = from.map(|level| usize::from(level.severity()));
    now.is_some_and(|now| then.is_none_or(|then| then > now))
}

/// The groups as a table, for files and pipes.
pub(super) fn table(sample: &Sample) -> String {
    let mut text = format!("{}\n", head(usize::MAX));
    for row in &sample.rows {
        let _ = writeln!(text, "{}", line(row, usize::MAX));
    }
    text
}

fn summary(sample: &Sample, is_paused: bool) -> String {
    let programs: BTreeSet<_> = sample.rows.iter().map(|row| &row.process).collect();
    let others = programs.iter().filter(|process| process.is_other_users).count();
    let others = if others > 0 { format!(" ({others} of other users)") } else { String::new() };
    let limited = |row: &&GroupRow| !row.session_limits.is_empty();
    let limited: BTreeSet<_> = sample.rows.iter().filter(limited).map(|row| &row.process).collect();
    let limited =
        if limited.is_empty() { String::new() } else { format!(", {} limited", limited.len()) };
    let total = |of: fn(&GroupRow) -> f64| sample.rows.iter().map(of).sum::<f64>();
    let counted =
        |count: usize, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
    format!(
        "protolog top: {}{others}{limited}, {}, {:.0} messages/s, {:.0} lost/s{}",
        counted(programs.len(), "program"),
        counted(sample.rows.len(), "group"),
        total(|row| row.messages_per_second),
        total(|row| row.lost_per_second),
        if is_paused { "  PAUSED" } else { "" }
    )
}

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

fn head(width: usize) -> String {
    columns(COLUMNS.map(|(head, ..)| head), "GROUP", width)
}

/// The line of a group, of whose name the last characters are there that fit.
fn line(row: &GroupRow, width: usize) -> String {
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
fn cut(line: &str, width: usize) -> String {
    beginning_of(&printable(line), width).to_owned()
}

fn inverse(line: &str, width: usize) -> String {
    let line = cut(line, width);
    let gap = " ".repeat(width.saturating_sub(width_of(&line)));
    format!("\x1b[7m{line}{gap}\x1b[0m")
}

#[cfg(test)]
mod tests {
    use super::super::super::process::ProcessName;
    use super::*;
    use unicode_width::UnicodeWidthStr;

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
        assert_eq!(head(80).find("GROUP"), line.find("le::another"));
        for width in 1..100 {
            let screen = Screen::default();
            let sample = Sample::of(vec![row.clone()]);
            let lines = screen.lines(&sample, (width, 5));
            let name = &lines[2].trim_start_matches("\x1b[7m").trim_end_matches("\x1b[0m");
            assert_eq!(name.width(), width, "{name}");
            let end = "other::AppLog::Net";
            assert!(
                name.trim_end().ends_with(&end[end.len().saturating_sub(width.min(16))..]),
                "{name}"
            );
        }
        let lines = Screen::default().lines(&Sample::of(vec![row]), (40, 5));
        assert_eq!(lines[1], "\x1b[7mTRACE    MSG/S LOST/S GROUP             \x1b[0m");
        assert_eq!(lines[2], "\x1b[7mverbose  99999   123k other::AppLog::Net\x1b[0m");
    }

    #[test]
    fn names_are_as_wide_as_a_terminal_shows_them() {
        let mut row = row("群::组");
        row.process.program = "サーバープロセス".into();
        let line = line(&row, 80);
        assert!(line.starts_with("サーバープ 4194304 "), "{line}");
        assert_eq!(inverse(&line, 80).width(), inverse("", 80).width());
        row.group = "群".repeat(40);
        assert!(super::line(&row, 80).width() <= 80);
        // A terminal may draw each of these by itself, or all as one.
        row.group = "\u{1f468}\u{200d}\u{1f469}\u{200d}\u{1f466}".repeat(9);
        assert_eq!(width_of(&inverse(&super::line(&row, 80), 80)), width_of(&inverse("", 80)));
    }

    #[test]
    fn less_is_recorded_only_if_it_is_confirmed() {
        let mut row = row("a::Net");
        let changes = |row: &GroupRow, keys: &str| {
            let (mut screen, sample) = (Screen::default(), Sample::of(vec![row.clone()]));
            let answers = keys.chars().map(|key| screen.press(Key::Char(key), &sample));
            answers.filter(|answer| matches!(answer, Answer::Switch(..))).count()
        };
        // Of text, nothing is lost that a session records.
        for (keys, expected) in
            [("re", 0), ("rey", 1), ("ro", 0), ("roy", 1), ("rep", 0), ("te", 1)]
        {
            assert_eq!(changes(&row, keys), expected, "{keys}");
        }
        row.trace = "warn";
        for (keys, expected) in [("rd", 1), ("rw", 1), ("re", 0), ("rexy", 0)] {
            assert_eq!(changes(&row, keys), expected, "{keys}");
        }
        row.trace = "off";
        assert_eq!(changes(&row, "rf"), 1);
    }

    #[test]
    fn a_key_switches_the_group_that_was_asked_for_or_none() {
        let mut rows = vec![row("victim::Net"), row("hostile::Net")];
        (rows[0].process.pid, rows[1].process.pid) = (1, 2);
        let [both, one] = [rows.clone(), rows[..1].to_vec()].map(Sample::of);
        for key in ['t', 'r'] {
            let mut screen = Screen::default();
            screen.press(Key::Down, &both);
            screen.press(Key::Char(key), &both);
            // Its program ends, or calls it otherwise, before the level comes.
            let answer = screen.press(Key::Char('o'), &one);
            assert!(matches!(answer, Answer::Nothing), "{key}");
            let said = screen.lines(&one, (80, 5)).pop().unwrap();
            assert_eq!(said, "nothing is switched: hostile::Net of pid 2 is gone");
            assert!(matches!(screen.press(Key::Char('y'), &one), Answer::Nothing), "{key}");
        }
        // The one that stood out, not the one that does by now.
        let mut screen = Screen::default();
        screen.lines(&Sample::of(rows.iter().rev().cloned().collect()), (80, 5));
        screen.press(Key::Char('r'), &both);
        screen.press(Key::Char('o'), &both);
        let asked = screen.lines(&one, (80, 5)).pop().unwrap();
        assert!(asked.ends_with(": pid 2 hostile::Net"), "{asked}");
        let Answer::Switch(row, _) = screen.press(Key::Char('y'), &one) else {
            panic!("it was confirmed")
        };
        assert_eq!(row.process.pid, 2);
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
