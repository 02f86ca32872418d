//! Limits on finding the values of constants, for Java and Kotlin, which may name each other's.
//!
//! ```text
//! const val A20 = A19 + A19        twenty of them stand for a million characters
//! static final String B = C;       and C = B, or a Kotlin constant that needs B
//! ```
//!
//! Invariants: time and memory are in proportion to the length of the file that asks; whether a constant has a value does not depend on
//! what was asked before, since what is remembered of it has its height.

use std::cell::Cell;
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// The nesting limit of expressions, together with those of the constants that they name, over all files.
pub(crate) const MAX_DEPTH: usize = 400;

/// Steps that any file may take, and those for each of its bytes.
const STEPS: (usize, usize) = (100_000, 64);

/// What was done for the constants that one file asks for.
#[derive(Debug)]
pub(crate) struct ConstantEffort {
    left: Cell<usize>,
    deepest: Cell<usize>,
    is_over: Cell<bool>,
}

/// The depth that was reached for a constant, and whether a limit was met.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EffortTaken {
    deepest: usize,
    is_over: bool,
}

impl ConstantEffort {
    /// For a file of this length.
    pub(crate) fn of_file(length: usize) -> Self {
        let left = Cell::new(STEPS.0 + STEPS.1 * length);
        Self { left, deepest: Cell::new(0), is_over: Cell::new(false) }
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

    /// What the question took.
    pub(crate) fn taken(&self) -> EffortTaken {
        EffortTaken { deepest: self.deepest.get(), is_over: self.is_over() }
    }

    /// Takes so many steps. Returns false where they are more than the file may take.
    pub(crate) fn spend(&self, steps: usize) -> bool {
        let left = self.left.get().checked_sub(steps);
        self.left.set(left.unwrap_or(0));
        self.is_over.set(self.is_over.get() || left.is_none());
        left.is_some()
    }
}

/// The constants of other files whose values were found, by canonical name.
#[derive(Debug, Default)]
pub(crate) struct KnownConstants(Mutex<HashMap<String, Option<KnownConstant>>>);

/// The text of a constant, and how deep in it others stand.
#[derive(Clone, Debug)]
struct KnownConstant {
    text: String,
    height: usize,
}

impl KnownConstants {
    /// The value of the constant `canonical`, which is asked for at `depth`; `find` gives it with what that took of its own file.
    pub(crate) fn get(
        &self,
        canonical: &str,
        depth: usize,
        effort: &ConstantEffort,
        find: impl FnOnce() -> Option<(Option<String>, EffortTaken)>,
    ) -> Option<String> {
        if !effort.reach(depth) {
            return None;
        }
        let known = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let remembered = known().get(canonical).cloned();
        let value = match remembered {
            Some(value) => value,
            None => {
                let (text, own) = find()?;
                let height = own.deepest.saturating_sub(depth);
                let value = text.map(|text| KnownConstant { text, height });
                effort.is_over.set(effort.is_over() || own.is_over);
                // At a depth it may have no value just for that.
                if value.is_some() || depth == 0 || !own.is_over {
                    known().insert(canonical.to_owned(), value.clone());
                }
                value
            }
        }?;
        let fits = effort.reach(depth + value.height) && effort.spend(1 + value.text.len());
        fits.then_some(value.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_there_or_not_whatever_was_asked_before() {
        let values = KnownConstants::default();
        let ask = |depth, height| {
            let effort = ConstantEffort::of_file(0);
            let found = values.get("A", depth, &effort, || {
                let own = ConstantEffort::of_file(0);
                Some((own.reach(depth + height).then(|| "a".to_owned()), own.taken()))
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
            .get("A", 0, &effort, || {
                Some((Some("a".repeat(999)), ConstantEffort::of_file(0).taken()))
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
}
