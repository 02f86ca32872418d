//! Limits on finding the values of constants, for Java and Kotlin, which may name each other's.
//!
//! ```text
//! const val A20 = A19 + A19        twenty of them stand for a million characters
//! static final String B = C;       and C = B, or a Kotlin constant that needs B
//! ```
//!
//! Invariants: time and memory are in proportion to the length of the file that asks; whether a
//! constant has a value does not depend on earlier questions, since the remembered value has its
//! height and its steps.

use std::cell::Cell;
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// The nesting limit of expressions, together with those of the constants that they name, over all
/// files.
pub(crate) const MAX_DEPTH: usize = 400;

/// Steps that any file may take, and those for each of its bytes.
const STEPS: (usize, usize) = (100_000, 64);

/// The work done for the constants that one file asks for.
#[derive(Debug)]
pub(crate) struct ConstantEffort {
    all: Cell<usize>,
    left: Cell<usize>,
    deepest: Cell<usize>,
    is_over: Cell<bool>,
}

/// The depth that was reached for a constant, the steps, and whether a limit was met.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EffortTaken {
    steps: usize,
    deepest: usize,
    is_over: bool,
}

impl ConstantEffort {
    /// For a file of this length.
    pub(crate) fn of_file(length: usize) -> Self {
        let all = STEPS.0 + STEPS.1 * length;
        let (deepest, is_over) = Default::default();
        Self { all: Cell::new(all), left: Cell::new(all), deepest, is_over }
    }

    /// Takes no more than this, before anything is asked: the steps that the asker has left.
    /// Returns whether that is less than before.
    pub(crate) fn limit(&self, most: usize) -> bool {
        let is_less = most < self.left.get();
        let all = self.left.get().min(most);
        self.all.set(all);
        self.left.set(all);
        is_less
    }

    /// Begins with another question of the file.
    pub(crate) fn begin(&self) {
        self.is_over.set(self.left.get() == 0);
        self.deepest.set(0);
    }

    /// Returns whether a limit was met, so that nothing more need be asked.
    pub(crate) fn is_over(&self) -> bool {
        self.is_over.get()
    }

    /// Goes on at this depth. Returns false where that is too deep.
    pub(crate) fn reach(&self, depth: usize) -> bool {
        self.deepest.set(self.deepest.get().max(depth));
        self.is_over.set(self.is_over.get() || depth > MAX_DEPTH);
        depth <= MAX_DEPTH
    }

    /// The effort that the question took.
    pub(crate) fn taken(&self) -> EffortTaken {
        let steps = self.all.get() - self.left.get();
        EffortTaken { deepest: self.deepest.get(), steps, is_over: self.is_over() }
    }

    /// Takes so many steps. Returns false where they are more than the file may take.
    pub(crate) fn spend(&self, steps: usize) -> bool {
        let left = self.left.get().checked_sub(steps);
        self.left.set(left.unwrap_or(0));
        self.is_over.set(self.is_over.get() || left.is_none());
        left.is_some()
    }
}

/// The constants of other files that were looked at, by canonical name.
#[derive(Debug, Default)]
pub(crate) struct KnownConstants(Mutex<HashMap<String, KnownConstant>>);

/// The text of a constant, if it has a value; how deep in it others stand, and the steps that it
/// takes to find it.
#[derive(Clone, Debug)]
struct KnownConstant {
    text: Option<String>,
    height: usize,
    steps: usize,
}

impl KnownConstants {
    /// The value of the constant `canonical`, which is asked for at `depth`. `find` gives it with
    /// the effort of its own file, which is to be [limited](ConstantEffort::limit) to the steps
    /// left here.
    ///
    /// The asker pays for all steps, also if others have asked before.
    pub(crate) fn get(
        &self,
        canonical: &str,
        depth: usize,
        effort: &ConstantEffort,
        find: impl FnOnce(usize) -> Option<FoundConstant>,
    ) -> Option<String> {
        // Each question is a step by itself.
        if !effort.reach(depth) || !effort.spend(1) {
            return None;
        }
        let known = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let remembered = known().get(canonical).cloned();
        let value = match remembered {
            Some(value) => value,
            None => {
                let FoundConstant { text, taken, is_limited } = find(effort.left.get())?;
                let height = taken.deepest.saturating_sub(depth);
                let value = KnownConstant { text, height, steps: taken.steps };
                effort.is_over.set(effort.is_over() || taken.is_over);
                // At a depth it may have no value just for that, and so for who has few steps left.
                let is_own = !taken.is_over || depth == 0 && !is_limited;
                if value.text.is_some() || is_own {
                    known().insert(canonical.to_owned(), value.clone());
                }
                value
            }
        };
        let length = value.text.as_ref().map_or(0, String::len);
        let is_paid = effort.spend(value.steps.max(length));
        let text = value.text?;
        (is_paid && effort.reach(depth + value.height)).then_some(text)
    }
}

/// The findings about a constant.
#[derive(Debug)]
pub(crate) struct FoundConstant {
    pub(crate) text: Option<String>,
    pub(crate) taken: EffortTaken,
    /// Its file may take more steps.
    pub(crate) is_limited: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_there_or_not_whatever_was_asked_before() {
        let values = KnownConstants::default();
        let ask = |depth, height| {
            let effort = ConstantEffort::of_file(0);
            let found = values.get("A", depth, &effort, |most| {
                let own = ConstantEffort::of_file(0);
                let is_limited = own.limit(most);
                let text = own.reach(depth + height).then(|| "a".to_owned());
                Some(FoundConstant { text, taken: own.taken(), is_limited })
            });
            (found.is_some(), effort.is_over())
        };
        assert_eq!(ask(MAX_DEPTH - 4, 5), (false, true));
        assert_eq!(ask(0, 5), (true, false));
        assert_eq!(ask(MAX_DEPTH - 4, 5), (false, true), "remembered, and as deep");
        assert_eq!(ask(MAX_DEPTH - 5, 5), (true, false));
    }

    #[test]
    fn texts_are_in_proportion_to_the_file() {
        let (values, effort) = (KnownConstants::default(), ConstantEffort::of_file(1000));
        let mut found = 0;
        while values
            .get("A", 0, &effort, |_| {
                let taken = ConstantEffort::of_file(0).taken();
                Some(FoundConstant { text: Some("a".repeat(999)), taken, is_limited: false })
            })
            .is_some()
        {
            found += 1;
        }
        assert_eq!(found, 164);
        assert!(effort.is_over());
        effort.begin();
        assert!(!effort.spend(1), "the file has none left");
    }

    #[test]
    fn whoever_asks_pays_for_the_steps_of_others() {
        for (is_found, is_deep) in [(true, false), (false, false), (false, true)] {
            let (values, mut evaluated) = (KnownConstants::default(), 0);
            let effort = ConstantEffort::of_file(0);
            let mut asked = 0;
            while effort.left.get() > 0 {
                asked += 1;
                effort.begin();
                values.get("A", 1, &effort, |most| {
                    evaluated += 1;
                    // A large file.
                    let own = ConstantEffort::of_file(1 << 20);
                    let is_limited = own.limit(most);
                    let _ = own.spend(9_999) && is_deep && own.reach(MAX_DEPTH + 1);
                    let text = is_found.then(|| "a".to_owned());
                    Some(FoundConstant { text, taken: own.taken(), is_limited })
                });
            }
            assert_eq!((asked, evaluated), (10, if is_deep { 10 } else { 1 }));
        }
    }
}
