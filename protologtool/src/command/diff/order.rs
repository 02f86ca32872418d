//! The places where the order of messages on a thread differs.

use super::tally::MessageKey;
use crate::differences;
use similar::DiffOp;
use std::collections::HashMap;
use std::rc::Rc;
use std::time::{Duration, Instant};

/// The longest that the shortest way from one order to the other is looked for; after it, a longer
/// way will do.
const DEADLINE: Duration = Duration::from_secs(10);

/// A place where two orders differ.
#[derive(Debug, PartialEq)]
pub(super) struct Place<'a> {
    /// The number of messages of the thread before it, in the first and in the second run.
    pub(super) at: [usize; 2],
    /// The message before it, which both have.
    pub(super) after: Option<&'a Rc<MessageKey>>,
    /// Messages that only the first run has here.
    pub(super) removed: &'a [Rc<MessageKey>],
    /// Messages that only the second run has here.
    pub(super) added: &'a [Rc<MessageKey>],
}

/// Finds the places where the orders of two runs differ.
pub(super) fn places<'a>(
    before: &'a [Rc<MessageKey>],
    after: &'a [Rc<MessageKey>],
) -> Vec<Place<'a>> {
    let mut numbers = HashMap::new();
    let mut number_all = |keys: &'a [Rc<MessageKey>]| -> Vec<usize> {
        // A key may be long: it is looked at once.
        let mut known: HashMap<*const MessageKey, usize> = HashMap::new();
        let mut number = |key: &'a Rc<MessageKey>| {
            let next = numbers.len();
            *known.entry(Rc::as_ptr(key)).or_insert_with(|| *numbers.entry(key).or_insert(next))
        };
        keys.iter().map(&mut number).collect()
    };
    let (old, new) = (number_all(before), number_all(after));
    let deadline = Instant::now() + DEADLINE;
    let steps = differences::steps(&old, &new, Some(deadline));
    let differing = steps.iter().filter(|step| !matches!(step, DiffOp::Equal { .. }));
    let place = |step: &DiffOp| {
        let (old, new) = (step.old_range(), step.new_range());
        Place {
            at: [old.start, new.start],
            after: old.start.checked_sub(1).map(|last| &before[last]),
            removed: &before[old],
            added: &after[new],
        }
    };
    differing.map(place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(letters: &str) -> Vec<Rc<MessageKey>> {
        let key = |letter: char| MessageKey {
            group: String::new(),
            level: None,
            template: letter.to_string(),
        };
        letters.chars().map(key).map(Rc::new).collect()
    }

    fn shown(before: &str, after: &str) -> Vec<String> {
        let text =
            |keys: &[Rc<MessageKey>]| keys.iter().map(|key| &*key.template).collect::<String>();
        let (before, after) = (keys(before), keys(after));
        let show = |place: Place<'_>| {
            format!("{:?} -{} +{}", place.at, text(place.removed), text(place.added))
        };
        places(&before, &after).into_iter().map(show).collect()
    }

    #[test]
    fn only_what_differs_is_a_place() {
        assert!(shown("abcabc", "abcabc").is_empty());
        assert_eq!(shown("abcd", "abxcd"), ["[2, 2] - +x"]);
        assert_eq!(shown("abcd", "acd"), ["[1, 1] -b +"]);
        assert_eq!(shown("abcd", "aXYd"), ["[1, 1] -bc +XY"]);
        assert_eq!(shown("", "a"), ["[0, 0] - +a"]);
    }
}
