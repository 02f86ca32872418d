//! The picture: a head, the groups or the calls of one, and a line of keys; the chosen group, and
//! the actions of keys.
//!
//! Invariants: no line is longer than the screen is wide, and none more than it is high; a terminal
//! obeys nothing in them.

use super::super::process::ProcessName;
use super::super::switch::LevelChange;
use super::columns::{AROUND, cut, head, inverse, line};
use super::keys::Key;
use super::sites::{Pressed, SiteList};
use super::watch::{CallRule, GroupRow, LEVELS, Sample};
use crate::cells::{end_of, width_of};
use protolog_control::Site;
use protolog_core::Level;
use protolog_core::control::name::Quoted;
use protolog_reader::printable;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fmt::Write as _;

const KEYS: &str = "up/down choose  t text  r recording  s calls  p pause  q end";
/// The same for a narrow screen.
const FEW_KEYS: &str = "t text  r recording  s calls  q end";

/// The effect of a key.
pub(super) enum Answer {
    Nothing,
    End,
    Suspend,
    /// The levels of this group change.
    Switch(Box<GroupRow>, LevelChange),
    /// The calls of this group are listed.
    List(Box<GroupRow>),
    /// A call of the group that is listed gets a rule.
    Rule(ProcessName, Box<CallRule>),
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
    /// The calls of a group, which are shown in place of the groups.
    sites: Option<SiteList>,
}

impl Screen {
    pub(super) fn is_paused(&self) -> bool {
        self.is_paused
    }

    /// Shows a text in place of the keys, until the next key.
    pub(super) fn note(&mut self, text: String) {
        self.note = Some(text);
    }

    /// The group whose calls are shown.
    pub(super) fn listed(&self) -> Option<&GroupRow> {
        self.sites.as_ref().map(SiteList::group)
    }

    /// Shows the calls of a group, and how many there are beside these.
    pub(super) fn list(&mut self, row: &GroupRow, (sites, left_out): (Vec<Site>, u64)) {
        let old = self.sites.take().filter(|old| old.group().id() == row.id());
        self.sites = Some(SiteList::new(row.clone(), sites, left_out, old));
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
        if let Some(list) = &mut self.sites {
            match list.press(key) {
                Pressed::Nothing => {}
                Pressed::Leave => self.sites = None,
                Pressed::Note(text) => self.note(text),
                Pressed::Pause => self.is_paused = !self.is_paused,
                Pressed::End => return Answer::End,
                Pressed::Suspend => return Answer::Suspend,
                Pressed::Rule(process, rule) => return Answer::Rule(process, rule),
            }
            return Answer::Nothing;
        }
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
            Key::Char('s') => {
                self.choose_seen(sample);
                match self.chosen_place(sample).and_then(|at| sample.rows.get(at)) {
                    Some(row) => return Answer::List(Box::new(row.clone())),
                    None => self.say_gone(),
                }
            }
            Key::Char('p') => self.is_paused = !self.is_paused,
            Key::PageUp => self.choose(place.saturating_sub(10), sample),
            Key::PageDown => {
                self.choose((place + 10).min(sample.rows.len().saturating_sub(1)), sample);
            }
            Key::Char(_) => {}
        }
        Answer::Nothing
    }

    /// Chooses the line that the user saw, also if lines have moved since.
    fn choose_seen(&mut self, sample: &Sample) {
        let seen = self.drawn.take();
        if seen.is_some() {
            self.chosen = seen;
        } else if self.chosen.is_none() {
            self.choose(0, sample);
        }
    }

    fn ask(&mut self, part: SwitchedPart, sample: &Sample) {
        self.choose_seen(sample);
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
        if let Some(list) = &self.sites {
            let problem = sample.problems.first().map(|problem| format!("warning: {problem}"));
            return list.lines((width, height), self.is_paused, self.note.clone().or(problem));
        }
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
}
