//! What rules make of single messages of a call, by values of its arguments: `arg1 == 42`.
//!
//! A call that such a rule takes asks where any of its messages may be taken. Once its arguments
//! are evaluated, its rules are gone through again, those without a condition as well: a later one
//! wins.
//!
//! Invariants: what a call was decided by stays for as long as the program runs, once for all calls
//! that are decided alike, so that nothing is locked or freed while a message is decided. What a
//! call may be is at least what each of its messages is.

use super::site_state::SiteState;
use crate::sys::once::ForkOnce;
use protolog_core::control::selector::{ArgumentCondition, Selector, VisitArguments as Visit};
use protolog_core::control::site_rule::SiteSetting;
use std::collections::BTreeMap;

/// Rows of 1, 2, 4, … places; each is made when it is needed first.
static ROWS: [ForkOnce<ByArgumentsRow>; 16] = [const { ForkOnce::new() }; 16];

/// The most rules that are kept for all numbers together: some megabytes, however many rules take
/// a call, and however often they change.
const MAX_STEPS: usize = 1 << 16;

type ByArgumentsRow = Box<[ForkOnce<ByArguments>]>;

/// The rules of a call, some of them with conditions on arguments.
#[derive(Clone, Debug, Default)]
pub(super) struct ByArguments {
    /// After the rules before the first with a condition.
    start: SiteState,
    /// The first has a condition.
    steps: Vec<RuleStep>,
}

/// A rule.
#[derive(Clone, Debug)]
struct RuleStep {
    conditions: Box<[ArgumentCondition]>,
    setting: SiteSetting,
}

/// Numbers of what calls are decided by, from 1.
#[derive(Debug)]
pub(super) struct Numbers {
    numbers: BTreeMap<String, u16>,
    /// The rules of all of them.
    steps: usize,
}

impl Numbers {
    /// None.
    pub(super) const fn new() -> Self {
        Self { numbers: BTreeMap::new(), steps: 0 }
    }

    /// Returns the number of what a call is decided by; 0 for one whose arguments decide nothing.
    ///
    /// # Errors
    /// There are too many.
    pub(super) fn get_or_add(&mut self, call: &ByArguments) -> Result<u16, ()> {
        if call.steps.is_empty() {
            return Ok(0);
        }
        let key = format!("{call:?}");
        if let Some(known) = self.numbers.get(&key) {
            return Ok(*known);
        }
        let number = u16::try_from(self.numbers.len() + 1).map_err(drop)?;
        let (row, index) = place(number).ok_or(())?;
        let steps = self.steps + call.steps.len();
        if steps > MAX_STEPS {
            return Err(());
        }
        let make = || (0..1_usize << row).map(|_| ForkOnce::new()).collect();
        let _ = ROWS[row].get_or_make(make)[index].set(call.clone());
        self.numbers.insert(key, number);
        self.steps = steps;
        Ok(number)
    }
}

/// Returns the state of a message, with whose arguments `visit` calls a function, of a call with
/// this number.
#[cold]
pub(super) fn state(number: u16, visit: Visit<'_>) -> Option<SiteState> {
    let (row, index) = place(number)?;
    Some(ROWS.get(row)?.get()?.get(index)?.get()?.state(visit))
}

/// Returns the row and the index of a number.
fn place(number: u16) -> Option<(usize, usize)> {
    let row = number.checked_ilog2()?;
    Some((row as usize, usize::from(number) - (1 << row)))
}

impl ByArguments {
    /// Adds a rule that takes the call.
    pub(super) fn add(&mut self, selector: &Selector<'_>, setting: SiteSetting) {
        let conditions: Box<[_]> = selector.argument_conditions().collect();
        if self.steps.is_empty() && conditions.is_empty() {
            self.start = self.start.after(setting);
        } else {
            self.steps.push(RuleStep { conditions, setting });
        }
    }

    /// Returns what the call is by its rules without conditions.
    pub(super) fn without_conditions(&self) -> SiteState {
        let unconditional = self.steps.iter().filter(|step| step.conditions.is_empty());
        unconditional.fold(self.start, |state, step| state.after(step.setting))
    }

    /// Returns what a message may be: on or printed if one may be, off only if each is.
    pub(super) fn may_be(&self) -> SiteState {
        self.steps.iter().fold(self.start, |state, RuleStep { conditions, setting }| {
            let after = state.after(*setting);
            if conditions.is_empty() { after } else { state.or(after) }
        })
    }

    fn state(&self, visit: Visit<'_>) -> SiteState {
        self.steps.iter().fold(self.start, |state, RuleStep { conditions, setting }| {
            let holds = conditions.iter().all(|condition| condition.holds(visit));
            if holds { state.after(*setting) } else { state }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use protolog_core::Arg;

    fn call(rules: &[(&str, &str)]) -> ByArguments {
        let mut call = ByArguments::default();
        for (selector, words) in rules {
            let selector = Selector::parse(selector).expect("a selector");
            call.add(&selector, SiteSetting::parse(words).expect("words"));
        }
        call
    }

    fn of(call: &ByArguments, value: i64) -> String {
        call.state(&|visitor| visitor(Arg::Int(value))).setting().to_string()
    }

    #[test]
    fn later_rules_win_where_their_conditions_hold() {
        let call = call(&[
            ("net", "off"),
            ("net and arg1 == 42", "on,text"),
            ("arg1 > 40", "notext"),
            ("net and arg1 == 50", "default"),
            ("net and arg1 == 60", "default"),
            ("\"x\"", "text"),
        ]);
        for (value, expected) in
            [(1, "off,text"), (42, "on,text"), (43, "off,text"), (50, "text"), (60, "text")]
        {
            assert_eq!(of(&call, value), expected, "{value}");
        }
        assert_eq!(call.may_be().setting().to_string(), "on,text");
    }

    /// What a call may be covers what each of its messages is, whatever the rules are.
    #[test]
    fn a_call_asks_for_all_that_a_message_may_be() {
        let words = ["on", "off", "text", "notext", "notrace", "default", "on,text", "default,on"];
        let selectors = ["net", "arg1 == 1", "arg1 >= 1"];
        let pick = |number: usize| (selectors[number % 3], words[number / 3 % words.len()]);
        let each = selectors.len() * words.len();
        for number in 0..each * each * each {
            let rules = [pick(number), pick(number / each), pick(number / each / each)];
            let call = call(&rules);
            let may = call.may_be();
            for value in 0..3 {
                let is = call.state(&|visitor| visitor(Arg::Int(value)));
                for group in [false, true] {
                    assert!(may.is_printed(group) || !is.is_printed(group), "{rules:?} {value}");
                    let records = |state: SiteState| group && !state.is_untraced();
                    let is_on = is.is_traced() || records(is);
                    assert!(may.is_traced() || records(may) || !is_on, "{rules:?} {value}");
                }
            }
        }
    }

    #[test]
    fn calls_that_are_decided_alike_have_one_number() {
        let mut numbers = Numbers::new();
        let (one, other) = (call(&[("arg1 == 1", "on")]), call(&[("arg1 == 2", "on")]));
        let first = numbers.get_or_add(&one).expect("a number");
        let second = numbers.get_or_add(&other).expect("a number");
        assert_eq!(numbers.get_or_add(&one), Ok(first));
        assert_ne!(first, second);
        assert_eq!(numbers.get_or_add(&call(&[("net", "on")])), Ok(0));
        let visit: Visit<'_> = &|visitor| visitor(Arg::Int(2));
        let states =
            [first, second].map(|number| state(number, visit).map(|it| it.setting().to_string()));
        assert_eq!(states, [Some(String::new()), Some("on".to_owned())]);
        assert_eq!(state(0, visit), None);
    }

    /// Rules that change for ever, as those of a script that follows ids of requests, stop having a
    /// memory of their own.
    #[test]
    fn numbers_and_their_rules_come_to_an_end() {
        let mut numbers = Numbers::new();
        let of = |value: usize| {
            let selector = format!("arg1 == {value}");
            call(&vec![(&*selector, "on"); MAX_STEPS / 16])
        };
        let all: Vec<_> = (0..20).map(|value| numbers.get_or_add(&of(value))).collect();
        assert_eq!(all.iter().filter(|number| number.is_ok()).count(), 16);
        assert_eq!(
            all[..16],
            [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15].map(|it| Ok(it + 1))
        );
        assert_eq!(numbers.get_or_add(&of(15)), Ok(16));
        assert_eq!(numbers.numbers.len(), 16);
    }
}
