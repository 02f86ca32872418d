//! The calls that each rule takes: their number, and what is wrong with a rule that takes another
//! call than it says, or none for want of an argument.

use super::Rule;
use protolog_core::control::selector::{Call, Selector};

/// See the module. Of each rule, by its index.
#[derive(Debug)]
pub(super) struct TakenCalls {
    counts: Vec<u64>,
    problems: Vec<Option<Problem>>,
}

/// The problem of a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Problem {
    /// Its call is at this place by now.
    Moved(String),
    /// It would take a call if that had such an argument.
    Argument,
    /// The program has had too many conditions for this one to hold.
    TooMany,
}

impl TakenCalls {
    /// None, of so many rules.
    pub(super) fn new(rules: usize) -> Self {
        Self { counts: vec![0; rules], problems: vec![None; rules] }
    }

    /// Returns whether a rule takes a call, also if that is elsewhere by now. `is_there`: a call is
    /// at the place that the rule names, or it names none.
    pub(super) fn takes(
        &mut self,
        index: usize,
        selector: &Selector<'_>,
        call: &Call<'_>,
        is_there: bool,
    ) -> bool {
        let is_moved = !is_there && selector.takes_moved(call);
        let is_taken = is_moved || selector.takes(call);
        let problem = if is_moved {
            let place = call.lines.first().map(|line| format!("{}:{line}", call.file));
            Some(Problem::Moved(place.unwrap_or_default()))
        } else if !is_taken && selector.is_by_arguments() && selector.takes_without_arguments(call)
        {
            Some(Problem::Argument)
        } else {
            None
        };
        let is_first = |found: &Option<Problem>| !matches!(found, Some(Problem::Moved(_)));
        if let Some(found) = self.problems.get_mut(index).filter(|found| is_first(found)) {
            *found = problem.or(found.take());
        }
        if let Some(count) = self.counts.get_mut(index) {
            *count += u64::from(is_taken);
        }
        is_taken
    }

    /// Has rules with conditions say that these do not hold, and returns the number of none.
    pub(super) fn lose_conditions(&mut self, selectors: &[Selector<'_>]) -> u16 {
        for (problem, selector) in self.problems.iter_mut().zip(selectors) {
            if selector.is_by_arguments() {
                *problem = Some(Problem::TooMany);
            }
        }
        0
    }

    /// Notes all that in the rules.
    pub(super) fn note(self, rules: &mut [Rule]) {
        for ((rule, calls), problem) in rules.iter_mut().zip(self.counts).zip(self.problems) {
            rule.calls = calls;
            rule.problem = match problem {
                Some(Problem::Moved(place)) => Some(format!(
                    "the call of `{}` is at `{place}` now\nhelp: write that place",
                    rule.selector
                )),
                Some(Problem::Argument) if calls == 0 => Some(format!(
                    "no call that `{}` is about has such an integer among its arguments\nhelp: count arguments from 1, and ask for one of `%d`, `%x` or `%o`",
                    rule.selector
                )),
                Some(Problem::TooMany) => Some(format!(
                    "the program has had too many conditions for `{}` to hold\nhelp: start it again",
                    rule.selector
                )),
                _ => None,
            };
        }
    }
}
