//! Selectors: the one language for "which calls". Settings of single calls, commands, triggers and
//! the filters of readers take it.
//!
//! ```text
//! net                        calls of a group or of a module: its full name, its last or first segments
//! group "my logger"          of a group only, by a name with any characters
//! module app::net            of a module only
//! net.rs:120-180             in these lines of a file; `net.rs:120` is one line, `net.rs` the file
//! "retry %d"                 with this text in the template
//! #58f2c41b9a07d36e          with this id
//! debug                      of this level and more severe ones
//! verbose-debug              from one level to another
//! arg1 == 42                 whose first argument is this integer: messages, not calls
//! net and "retry" and debug  all of it
//! ```
//!
//! A group or module is named as [`matches_group`] has it, a file by the end of its path. Text
//! between quotation marks has the escapes of [`super::name`].
//!
//! Invariants: parsing is total and borrows; a selector has at least one condition. What is not
//! known of a call meets no condition. `testdata/selectors.tsv` has selectors and what they mean,
//! errors included; `testdata/selected.tsv` has calls and whether a selector takes them.

mod argument;
mod error;
mod parser;

pub use argument::{ArgumentCondition, Comparison, VisitArguments};
pub use error::{SelectorError, SelectorProblem};

use super::matches_group;
use super::name::{characters, literal};
use super::switch::ALL_LEVELS;
use crate::Level;
use core::fmt::{self, Write as _};
use parser::Parser;

/// The most conditions of a selector.
pub const MAX_CONDITIONS: usize = 8;
/// The longest selector, in bytes.
pub const MAX_LENGTH: usize = 2048;

/// A selector: conditions that must all hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Selector<'a> {
    text: &'a str,
    conditions: [Condition<'a>; MAX_CONDITIONS],
    count: usize,
}

/// A condition on a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition<'a> {
    /// Its group or its module has this name.
    Name(&'a str),
    /// Its group has this name.
    Group(&'a str),
    /// Its module has this name.
    Module(&'a str),
    /// It is in these lines of the file whose path ends so.
    File {
        /// The path or its last segments.
        path: &'a str,
        /// The first line, from 1.
        first: u32,
        /// The last line.
        last: u32,
    },
    /// Its template has this text, which is in quotation marks.
    Template(&'a str),
    /// It has this id.
    Id(u64),
    /// It has one of these levels (bit = [`Level::severity`]).
    Levels(u8),
    /// The argument has such a value. Of a call, that its template has an integer there.
    Argument(ArgumentCondition),
}

/// The known facts about a call. Empty is unknown.
#[derive(Clone, Copy, Debug, Default)]
pub struct Call<'a> {
    /// The message's id.
    pub id: Option<u64>,
    /// The level.
    pub level: Option<Level>,
    /// The full name of the group.
    pub group: &'a str,
    /// The path of the module.
    pub module: &'a str,
    /// The path of the file.
    pub file: &'a str,
    /// The lines, since one message may be at several.
    pub lines: &'a [u32],
    /// The template.
    pub template: &'a str,
}

impl<'a> Selector<'a> {
    /// Parses a selector.
    ///
    /// # Errors
    /// The first problem, with its column.
    pub fn parse(text: &'a str) -> Result<Self, SelectorError<'a>> {
        let mut parser = Parser { text, rest: text };
        if text.len() > MAX_LENGTH {
            return Err(parser.error("", SelectorProblem::TooLong));
        }
        let mut selector = Self {
            text: text.trim_matches([' ', '\t']),
            conditions: [Condition::Levels(0); MAX_CONDITIONS],
            count: 0,
        };
        loop {
            let condition = parser.condition(selector.count > 0)?;
            let Some(place) = selector.conditions.get_mut(selector.count) else {
                return Err(parser.error("", SelectorProblem::TooMany));
            };
            *place = condition;
            selector.count += 1;
            if !parser.and()? {
                return Ok(selector);
            }
        }
    }

    /// Returns the text, as it was written, without spaces around it.
    pub const fn text(&self) -> &'a str {
        self.text
    }

    /// Returns the conditions, at least one.
    pub fn conditions(&self) -> &[Condition<'a>] {
        self.conditions.get(..self.count).unwrap_or_default()
    }

    /// Returns the conditions on arguments. A message is taken if its call is, and these hold.
    pub fn argument_conditions(&self) -> impl Iterator<Item = ArgumentCondition> {
        self.conditions().iter().filter_map(|condition| match condition {
            Condition::Argument(condition) => Some(*condition),
            _ => None,
        })
    }

    /// Returns whether it has conditions on arguments, so that it may take one message of a call
    /// and not another.
    pub fn is_by_arguments(&self) -> bool {
        self.argument_conditions().next().is_some()
    }

    /// Returns whether its conditions on arguments hold, if it has any. `visit` calls a function
    /// with each argument of a message.
    pub fn takes_arguments(&self, visit: VisitArguments<'_>) -> bool {
        self.argument_conditions().all(|condition| condition.holds(visit))
    }

    /// Returns whether it would take a call, but for its conditions on arguments.
    pub fn takes_without_arguments(&self, call: &Call<'_>) -> bool {
        let is_on_argument = |it: &Condition<'_>| matches!(it, Condition::Argument(_));
        self.conditions().iter().all(|it| is_on_argument(it) || it.holds(call))
    }

    /// Returns whether it takes a call: at least some of its messages, where it has conditions on
    /// arguments.
    pub fn takes(&self, call: &Call<'_>) -> bool {
        self.conditions().iter().all(|condition| condition.holds(call))
    }

    /// Returns whether it may take a call of which more is known later: what is unknown now meets
    /// every condition.
    pub fn may_take(&self, call: &Call<'_>) -> bool {
        self.conditions().iter().all(|condition| {
            condition.holds(call)
                || match condition {
                    Condition::Name(_) => call.group.is_empty() || call.module.is_empty(),
                    Condition::Group(_) => call.group.is_empty(),
                    Condition::Module(_) => call.module.is_empty(),
                    Condition::File { .. } => call.file.is_empty(),
                    Condition::Template(_) | Condition::Argument(_) => call.template.is_empty(),
                    Condition::Id(_) => call.id.is_none(),
                    Condition::Levels(_) => call.level.is_none(),
                }
        })
    }

    /// Returns whether it names this level: it asks for levels, and takes this one not only as more
    /// severe than all that it asks for. So `warn` and `debug-warn` name WARN, `debug` does not.
    pub fn names_level(&self, level: Level) -> bool {
        self.conditions().iter().any(|condition| {
            let Condition::Levels(levels) = *condition else { return false };
            let is_open = levels & 1 << Level::Wtf.severity() != 0;
            let least = levels.trailing_zeros() as u8;
            levels & 1 << level.severity() != 0
                && (!is_open || level.severity() == least || least >= Level::Warn.severity())
        })
    }

    /// Returns whether calls that it names may move: it asks for an id and for a place.
    pub fn may_move(&self) -> bool {
        let has = |is_it: fn(&Condition<'_>) -> bool| self.conditions().iter().any(is_it);
        has(|it| matches!(it, Condition::Id(_))) && has(|it| matches!(it, Condition::File { .. }))
    }

    /// Returns whether it would take a call if that were still at its lines: it has the id that the
    /// selector asks for, and only the place is another.
    pub fn takes_moved(&self, call: &Call<'_>) -> bool {
        let is_place = |it: &&Condition<'_>| matches!(it, Condition::File { .. });
        let has_id = self.conditions().contains(&Condition::Id(call.id.unwrap_or_default()));
        let mut others = self.conditions().iter().filter(|it| !is_place(it));
        call.id.is_some() && has_id && others.all(|it| it.holds(call)) && !self.takes(call)
    }
}

impl Condition<'_> {
    /// Returns whether it holds for a call.
    pub fn holds(&self, call: &Call<'_>) -> bool {
        match *self {
            Self::Name(name) => is_named(name, call.group) || is_named(name, call.module),
            Self::Group(name) => is_named(name, call.group),
            Self::Module(name) => is_named(name, call.module),
            Self::File { path, first, last } => {
                let is_whole = (first, last) == WHOLE;
                ends_path(call.file, path)
                    && (is_whole || call.lines.iter().any(|line| (first..=last).contains(line)))
            }
            Self::Template(text) => contains(call.template, text),
            Self::Id(id) => call.id == Some(id),
            Self::Levels(levels) => {
                call.level.is_some_and(|level| levels & 1 << level.severity() != 0)
            }
            Self::Argument(condition) => condition.may_hold(call.template),
        }
    }
}

/// All lines of a file.
const WHOLE: (u32, u32) = (1, u32::MAX);

fn is_named(pattern: &str, name: &str) -> bool {
    !name.is_empty() && matches_group(pattern, name)
}

/// Returns whether a path has these last segments.
fn ends_path(path: &str, end: &str) -> bool {
    if let Some(before) = literal(end).map(|end| path.strip_suffix(end)) {
        return before.is_some_and(is_whole_path);
    }
    let length: usize = characters(end).map(char::len_utf8).sum();
    let parts = path.len().checked_sub(length).and_then(|at| path.split_at_checked(at));
    parts.is_some_and(|(before, rest)| characters(end).eq(rest.chars()) && is_whole_path(before))
}

/// Returns whether a path that ends so is one of whole names.
fn is_whole_path(before: &str) -> bool {
    before.is_empty() || before.ends_with(['/', '\\'])
}

/// Returns whether a template has a text that is in quotation marks.
fn contains(template: &str, text: &str) -> bool {
    if let Some(text) = literal(text) {
        return template.contains(text);
    }
    // Once: that looks for the end of the text.
    let wanted = characters(text);
    let starts = |at: usize| {
        let mut rest = template.get(at..).unwrap_or_default().chars();
        wanted.clone().all(|char| rest.next() == Some(char))
    };
    template.char_indices().any(|(at, _)| starts(at))
}

impl fmt::Display for Selector<'_> {
    /// Writes the conditions in full, each by its keyword.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, condition) in self.conditions().iter().enumerate() {
            if index > 0 {
                f.write_str(" and ")?;
            }
            condition.fmt(f)?;
        }
        Ok(())
    }
}

impl fmt::Display for Condition<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Name(name) => f.write_str(name),
            Self::Group(name) => write!(f, "group {name}"),
            Self::Module(name) => write!(f, "module {name}"),
            Self::Template(text) => f.write_str(text),
            Self::Id(id) => write!(f, "#{id:016x}"),
            Self::File { path, first, last } if (first, last) == WHOLE => write!(f, "file {path}"),
            Self::File { path, first, last } if first == last => write!(f, "file {path}:{first}"),
            Self::File { path, first, last } => write!(f, "file {path}:{first}-{last}"),
            Self::Levels(levels) => {
                let levels = u32::from(levels) & ALL_LEVELS;
                let name = |bit: u32| Level::from_severity(bit as u8).map_or("", Level::name);
                let (first, last) = (levels.trailing_zeros(), levels.checked_ilog2().unwrap_or(0));
                write_lower(name(first), f)?;
                f.write_str("-")?;
                write_lower(name(last), f)
            }
            Self::Argument(condition) => condition.fmt(f),
        }
    }
}

fn write_lower(name: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    name.chars().try_for_each(|char| f.write_char(char.to_ascii_lowercase()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::format;
    use std::string::ToString;
    use std::vec::Vec;

    #[test]
    fn selectors_are_read_as_the_vectors_say() {
        let mut rows = 0;
        for line in include_str!("../../testdata/selectors.tsv").lines().skip(1) {
            let (text, expected) = line.split_once('\t').expect("two cells");
            let text = text.replace("\\t", "\t").replace("\\x", &"x".repeat(MAX_LENGTH));
            let found = match Selector::parse(&text) {
                Ok(selector) => selector.to_string(),
                Err(error) => format!("{error} / {}", error.help()),
            };
            assert_eq!(found, expected, "{text:?}");
            rows += 1;
        }
        assert!(rows > 40);
    }

    /// The displayed text is a selector that means the same.
    #[test]
    fn the_displayed_form_is_a_selector() {
        for line in include_str!("../../testdata/selectors.tsv").lines().skip(1) {
            let text = line.split('\t').next().unwrap_or_default();
            let Ok(selector) = Selector::parse(text) else { continue };
            let displayed = selector.to_string();
            let again = Selector::parse(&displayed).map(|again| again.to_string());
            assert_eq!(again.as_deref(), Ok(&*displayed), "{text}");
        }
    }

    #[test]
    fn levels_are_named_or_only_more_severe() {
        for (text, named) in [
            ("net", ""),
            ("debug", "D"),
            ("net and warn", "WEF"),
            ("debug-warn", "DIW"),
            ("error and net", "EF"),
            ("verbose-wtf", "V"),
        ] {
            let selector = Selector::parse(text).expect("a selector");
            let names = |level: &Level| selector.names_level(*level);
            let found: std::string::String =
                Level::ALL.into_iter().filter(names).map(Level::letter).collect();
            assert_eq!(found, named, "{text}");
        }
    }

    #[test]
    fn calls_are_taken_as_the_vectors_say() {
        let mut rows = 0;
        for line in include_str!("../../testdata/selected.tsv").lines().skip(1) {
            let cells: Vec<&str> = line.split('\t').collect();
            let [selector, id, level, group, module, file, lines, template, expected] = cells[..]
            else {
                panic!("nine cells: {line}")
            };
            let lines: Vec<u32> = lines.split(',').filter_map(|line| line.parse().ok()).collect();
            let call = Call {
                id: u64::from_str_radix(id, 16).ok(),
                level: level.parse().ok(),
                group,
                module,
                file,
                lines: &lines,
                template,
            };
            let selector = Selector::parse(selector).expect("a selector");
            assert_eq!(selector.takes(&call), expected == "yes", "{line}");
            rows += 1;
        }
        assert!(rows > 30);
    }

    #[test]
    fn what_is_not_known_yet_may_be_taken() {
        let call = Call { group: "app::Log::Net", level: Some(Level::Debug), ..Call::default() };
        for (text, expected) in [
            ("Net", true),
            ("group Net and debug", true),
            ("#7", true),
            ("group Disk", false),
            ("Disk", true),
            ("Net and net.rs:1-9 and \"x\"", true),
            ("info", false),
        ] {
            let selector = Selector::parse(text).expect("a selector");
            assert_eq!(selector.may_take(&call), expected, "{text}");
        }
    }

    #[test]
    fn a_call_that_moved_is_known_by_its_id() {
        let selector = Selector::parse("#7 and net.rs:120 and debug").expect("a selector");
        let call = |id, line: &'static [u32]| Call {
            id: Some(id),
            level: Some(Level::Debug),
            file: "src/net.rs",
            lines: line,
            ..Call::default()
        };
        assert!(selector.takes(&call(7, &[120])) && !selector.takes_moved(&call(7, &[120])));
        assert!(selector.takes_moved(&call(7, &[131])) && !selector.takes_moved(&call(8, &[131])));
    }

    #[test]
    fn any_text_is_parsed() {
        for text in ["\"", "\"\\", "#", ":", "a:", ":1", "::1", "fn \"", "é\"é", "and and and"] {
            for end in (0..=text.len()).filter(|end| text.is_char_boundary(*end)) {
                let _ = Selector::parse(&text[..end]).map_err(|error| error.to_string());
            }
        }
    }
}
