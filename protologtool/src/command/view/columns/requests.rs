//! The column of requests: for each item 0, or the number of its request in a list of ids, from 1.
//!
//! Invariant: the column is empty where no message belongs to a request.

use super::values::varint;
use std::collections::HashMap;

/// See the module.
#[derive(Default)]
pub(super) struct RequestColumn<'a> {
    column: Vec<u8>,
    ids: Vec<&'a str>,
    numbers: HashMap<&'a str, u64>,
}

impl<'a> RequestColumn<'a> {
    /// Adds an item that so many come before.
    pub(super) fn push(&mut self, before: u64, id: Option<&'a str>) {
        let Some(id) = id else {
            if !self.ids.is_empty() {
                varint(&mut self.column, 0);
            }
            return;
        };
        if self.ids.is_empty() {
            self.column.resize(before as usize, 0);
        }
        let next = self.ids.len() as u64 + 1;
        let number = *self.numbers.entry(id).or_insert(next);
        if number == next {
            self.ids.push(id);
        }
        varint(&mut self.column, number);
    }

    /// The ids.
    pub(super) fn ids(&self) -> &[&'a str] {
        &self.ids
    }

    /// The column.
    pub(super) fn bytes(&self) -> &Vec<u8> {
        &self.column
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_before_the_first_request_are_in_none() {
        let mut column = RequestColumn::default();
        column.push(0, None);
        column.push(1, None);
        assert!(column.bytes().is_empty() && column.ids().is_empty());
        for (before, id) in (2..).zip([Some("a"), None, Some("b"), Some("a")]) {
            column.push(before, id);
        }
        assert_eq!(*column.bytes(), [0, 0, 1, 0, 2, 1]);
        assert_eq!(column.ids(), ["a", "b"]);
    }
}
