//! The difference between two sequences, by Myers' algorithm.
//!
//! Its elements are numbers, and the algorithm is named in code: asked for one by a value, the
//! library compiles all six that it has, for each type of element, which is half a megabyte.

use similar::DiffOp;
use similar::algorithms::{Capture, Compact, Replace, myers};
use std::collections::HashMap;
use std::hash::Hash;
use std::time::Instant;

/// The steps from `old` to `new`; after the deadline, some that are right and more than needed.
pub(crate) fn steps(old: &[usize], new: &[usize], deadline: Option<Instant>) -> Vec<DiffOp> {
    let mut steps = Compact::new(Replace::new(Capture::new()), old, new);
    let (before, after) = (0..old.len(), 0..new.len());
    let Ok(()) = myers::diff_deadline(&mut steps, old, before, new, after, deadline);
    steps.into_inner().into_inner().into_ops()
}

/// Numbers for elements, the same for those that are equal.
pub(crate) fn numbers<T: Eq + Hash + Copy>(elements: [&[T]; 2]) -> [Vec<usize>; 2] {
    let mut numbers = HashMap::new();
    elements.map(|elements| {
        let mut number = |element: &T| {
            let next = numbers.len();
            *numbers.entry(*element).or_insert(next)
        };
        elements.iter().map(&mut number).collect()
    })
}
