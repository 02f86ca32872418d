//! Conditions on one integer argument: `arg1 == 42`.
//!
//! Arguments have numbers, from 1, as in rates ([`super::super::rate`]). Values are those of `i64`
//! and `u64`, in decimal or hexadecimal digits (`0x2a`).
//!
//! Invariant: what is no integer, or is not there, meets no condition.

use super::SelectorProblem;
use crate::control::rate::MAX_BY;
use crate::{Arg, ParamKind, Template};
use core::fmt;

/// A condition on an argument of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArgumentCondition {
    /// The number of the argument, from 1.
    number: u8,
    comparison: Comparison,
    value: i128,
}

/// Calls a function with each argument of a message.
pub type VisitArguments<'a> = &'a dyn Fn(&mut dyn FnMut(Arg<'_>));

/// The ways to compare an argument with a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// `==`
    Equal,
    /// `!=`
    NotEqual,
    /// `<=`
    AtMost,
    /// `>=`
    AtLeast,
    /// `<`
    Less,
    /// `>`
    More,
}

impl Comparison {
    /// All, those first that begin with another one.
    const ALL: [Self; 6] =
        [Self::Equal, Self::NotEqual, Self::AtMost, Self::AtLeast, Self::Less, Self::More];

    /// The characters.
    pub const fn text(self) -> &'static str {
        match self {
            Self::Equal => "==",
            Self::NotEqual => "!=",
            Self::AtMost => "<=",
            Self::AtLeast => ">=",
            Self::Less => "<",
            Self::More => ">",
        }
    }

    const fn holds(self, found: i128, value: i128) -> bool {
        match self {
            Self::Equal => found == value,
            Self::NotEqual => found != value,
            Self::AtMost => found <= value,
            Self::AtLeast => found >= value,
            Self::Less => found < value,
            Self::More => found > value,
        }
    }
}

impl ArgumentCondition {
    /// Returns whether calls of this template may meet it: they have an integer there.
    pub(super) fn may_hold(self, template: &str) -> bool {
        let index = usize::from(self.number) - 1;
        Template::parse(template).is_ok_and(|template| {
            let conversion = template.conversions().nth(index);
            conversion.is_some_and(|conversion| conversion.verb.kind() == ParamKind::Int)
        })
    }

    /// Returns whether it holds for a message, with whose arguments `visit` calls a function.
    pub fn holds(self, visit: VisitArguments<'_>) -> bool {
        let (mut left, mut holds) = (self.number, false);
        visit(&mut |arg| {
            if left == 1 {
                let found = match arg {
                    Arg::Int(number) => Some(i128::from(number)),
                    Arg::Uint(number) => Some(i128::from(number)),
                    _ => None,
                };
                holds = found.is_some_and(|found| self.comparison.holds(found, self.value));
            }
            left = left.saturating_sub(1);
        });
        holds
    }
}

/// Takes a condition from the start of a text, and returns it with the rest; none where no
/// comparison follows `arg` and a number.
///
/// # Errors
/// It is wrong, up to the rest.
pub(super) fn parse(text: &str) -> Option<(Result<ArgumentCondition, SelectorProblem>, &str)> {
    let rest = text.strip_prefix("arg")?;
    let (digits, rest) = rest.split_at(end_of(rest, |char| char.is_ascii_digit()));
    let rest = rest.trim_start_matches([' ', '\t']);
    if digits.is_empty() || !rest.starts_with(['=', '!', '<', '>']) {
        return None;
    }
    let (comparison, rest) = rest.split_at(end_of(rest, |char| "=!<>".contains(char)));
    let rest = rest.trim_start_matches([' ', '\t']);
    let (value, rest) = rest.split_at(end_of(rest, |char| !" \t\"".contains(char)));
    let number = digits.parse().ok().filter(|number| (1..=MAX_BY).contains(number));
    let comparison = Comparison::ALL.into_iter().find(|it| it.text() == comparison);
    let read = number.zip(comparison).zip(integer(value));
    let condition =
        read.map(|((number, comparison), value)| ArgumentCondition { number, comparison, value });
    Some((condition.ok_or(SelectorProblem::BadArgument), rest))
}

/// The number of bytes at the start of a text whose characters are such.
fn end_of(text: &str, is_it: impl Fn(char) -> bool) -> usize {
    text.find(|char| !is_it(char)).unwrap_or(text.len())
}

/// An integer that an argument may have.
fn integer(text: &str) -> Option<i128> {
    let (is_negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text),
    };
    let (digits, radix) = digits.strip_prefix("0x").map_or((digits, 10), |digits| (digits, 16));
    let is_number = !digits.is_empty() && digits.chars().all(|char| char.is_digit(radix));
    let number = i128::from_str_radix(digits, radix).ok().filter(|_| is_number)?;
    let number = if is_negative { -number } else { number };
    (i128::from(i64::MIN)..=i128::from(u64::MAX)).contains(&number).then_some(number)
}

impl fmt::Display for ArgumentCondition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "arg{} {} {}", self.number, self.comparison.text(), self.value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::String;
    use std::vec::Vec;

    /// The arguments of a vector: `5 -5 "text" 0.5 true`.
    fn arguments(cell: &str) -> Vec<Arg<'_>> {
        let argument = |text| match text {
            "true" => Arg::Bool(true),
            "0.5" => Arg::Float(0.5),
            _ => match (text.parse(), text.parse()) {
                (Ok(number), _) => Arg::Int(number),
                (_, Ok(number)) => Arg::Uint(number),
                _ => Arg::Str(text),
            },
        };
        cell.split_whitespace().map(argument).collect()
    }

    /// Java's tests read the same table.
    #[test]
    fn messages_are_taken_as_the_vectors_say() {
        let mut rows = 0;
        for line in include_str!("../../../testdata/argument_conditions.tsv").lines().skip(1) {
            let cells: Vec<&str> = line.split('\t').collect();
            let [selector, template, values, call, message] = cells[..] else {
                panic!("five cells: {line}")
            };
            let selector = crate::control::selector::Selector::parse(selector).expect("a selector");
            let of = super::super::Call { template, group: "net", ..super::super::Call::default() };
            assert_eq!(selector.takes(&of), call == "yes", "{line}");
            let values = arguments(values);
            let visit = |visitor: &mut dyn FnMut(Arg<'_>)| values.iter().copied().for_each(visitor);
            let is_taken = selector.takes(&of) && selector.takes_arguments(&visit);
            assert_eq!(is_taken, message == "yes", "{line}");
            rows += 1;
        }
        assert!(rows > 20);
    }

    #[test]
    fn comparisons_are_told_apart_from_names() {
        let read = |text| parse(text).map(|(read, rest)| (read.map(|it| it.number), rest));
        assert_eq!(read("arg1"), None);
        assert_eq!(read("arg1 and net"), None);
        assert_eq!(read("args == 1"), None);
        assert_eq!(read("arg == 1"), None);
        assert_eq!(read("arg15==-0x8 and"), Some((Ok(15), " and")));
        assert_eq!(read("arg16 == 1"), Some((Err(SelectorProblem::BadArgument), "")));
        assert_eq!(read("arg1 =< 1"), Some((Err(SelectorProblem::BadArgument), "")));
        let longest: String = std::iter::repeat_n('9', 99).collect();
        assert!(integer(&longest).is_none() && integer("+1").is_none());
    }
}
