//! A column of what few items have, a request or a rate: for each item 0, or the number of its
//! value in a list, from 1.
//!
//! Invariant: the column is empty where no item has a value.

use super::values::varint;
use std::collections::HashMap;
use std::hash::Hash;

/// See the module.
pub(super) struct NumberedColumn<V> {
    column: Vec<u8>,
    values: Vec<V>,
    numbers: HashMap<V, u64>,
}

impl<V> Default for NumberedColumn<V> {
    fn default() -> Self {
        Self { column: Vec::new(), values: Vec::new(), numbers: HashMap::new() }
    }
}

impl<V: Copy + Eq + Hash> NumberedColumn<V> {
    /// Adds an item that so many come before.
    pub(super) fn push(&mut self, before: u64, value: Option<V>) {
        let Some(value) = value else {
            if !self.values.is_empty() {
                varint(&mut self.column, 0);
            }
            return;
        };
        if self.values.is_empty() {
            self.column.resize(before as usize, 0);
        }
        let next = self.values.len() as u64 + 1;
        let number = *self.numbers.entry(value).or_insert(next);
        if number == next {
            self.values.push(value);
        }
        varint(&mut self.column, number);
    }

    /// The values.
    pub(super) fn values(&self) -> &[V] {
        &self.values
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
    fn items_before_the_first_value_have_none() {
        let mut column = NumberedColumn::default();
        column.push(0, None);
        column.push(1, None);
        assert!(column.bytes().is_empty() && column.values().is_empty());
        for (before, id) in (2..).zip([Some("a"), None, Some("b"), Some("a")]) {
            column.push(before, id);
        }
        assert_eq!(*column.bytes(), [0, 0, 1, 0, 2, 1]);
        assert_eq!(column.values(), ["a", "b"]);
    }
}
