//! The groups that log calls may name, wherever their definition was read from: the model, and
//! groups from a jar. Those of sources are read by each language of [`crate::lang`].
//!
//! Invariant: names and ids are unique within a [`Groups`].

mod jar;

pub use jar::{JarError, from_jar};

use crate::diagnostic::Diagnostic;
use protolog_core::group_id;
use std::collections::HashMap;

/// One group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// The constant's or field's name, as calls write it.
    pub name: String,
    /// The result of its `name()`: of a constant the same, of another object any text.
    pub own_name: String,
    /// The name in dictionaries. The full name: its class's canonical name, a dot, its own name;
    /// after [`Groups::for_android`] the latter alone.
    pub full_name: String,
    /// The group's id, from its full name.
    pub id: u32,
    /// The result of `getId()`, where the class has it and it is known: the id in Android's
    /// dictionaries.
    pub declared_id: Option<u32>,
    /// False: its calls are compiled out and have no dictionary entry.
    pub enabled: bool,
    /// True if the group prints as text by default.
    pub log_to_text: bool,
    /// The tag before its messages in a text log.
    pub tag: String,
}

/// The groups of one class, and those of Rust enums.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Groups {
    class: String,
    list: Vec<Group>,
    /// The number of the class's own groups; those of Rust enums follow.
    own: usize,
    /// None: ids are made from full names, and dictionaries hold the groups in use.
    numbers: Option<GroupNumbers>,
    /// Why the value of `getId()` is not known, though there is one.
    unknown_ids: Option<Box<Diagnostic>>,
}

/// The ids of groups in Android's dictionaries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupNumbers {
    /// As `getId()` returns them: Android 16 and later.
    Declared,
    /// By their position in the class, from 1: builds between Android 15 and 16.
    Position,
    /// By their first use in the sources, from 1: Android 15. Groups that are not in use come after
    /// those that are.
    FirstUse,
}

/// Two groups whose ids are the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupClash {
    /// Positions of the two in the list that was given.
    pub positions: (usize, usize),
    /// Their full names.
    pub names: (String, String),
    /// The id that both have.
    pub id: u32,
}

impl Groups {
    /// The groups of the class with this canonical name, in its order.
    pub fn new(class: impl Into<String>, list: Vec<Group>) -> Result<Self, GroupClash> {
        check(&list)?;
        let (class, own) = (class.into(), list.len());
        Ok(Self { class, list, own, numbers: None, unknown_ids: None })
    }

    /// With the groups of Rust enums behind those of the class.
    pub fn with_rust(mut self, groups: Vec<Group>) -> Result<Self, GroupClash> {
        self.list.extend(groups);
        check(&self.list)?;
        Ok(self)
    }

    /// The groups as Android's runtime knows them: by what they call themselves alone; ids as
    /// `numbers` says, or counted from 1 where `getId()` is not known. Its dictionaries hold all
    /// groups, used or not, since its reader fails on a group that it does not find.
    pub fn for_android(self, numbers: GroupNumbers) -> Result<Self, GroupClash> {
        let declared = (numbers == GroupNumbers::Declared)
            .then(|| self.list.iter().map(|group| group.declared_id).collect())
            .flatten();
        let ids: Vec<u32> = declared.unwrap_or_else(|| (1..=self.list.len() as u32).collect());
        let known = self.list.into_iter().zip(ids);
        let list =
            known.map(|(group, id)| Group { full_name: group.own_name.clone(), id, ..group });
        let groups = Self::new(self.class, list.collect())?;
        Ok(Self { numbers: Some(numbers), unknown_ids: self.unknown_ids, ..groups })
    }

    /// With a warning for users who want the value of `getId()`.
    #[must_use]
    pub(crate) fn with_unknown_ids(self, why: Option<Diagnostic>) -> Self {
        Self { unknown_ids: why.map(Box::new), ..self }
    }

    /// A warning where ids had to be counted although the class has `getId()`; about the source
    /// that the groups were read from.
    pub fn unknown_ids(&self) -> Option<&Diagnostic> {
        self.unknown_ids.as_deref().filter(|_| self.numbers == Some(GroupNumbers::Declared))
    }

    /// The number of groups, from the first on, that a dictionary holds even if no message uses
    /// them.
    pub fn always_in_dictionary(&self) -> usize {
        if self.numbers.is_some() { self.own } else { 0 }
    }

    /// Returns whether a dictionary holds messages of this group although it is compiled out.
    pub fn is_always_in_dictionary(&self, position: usize) -> bool {
        position < self.always_in_dictionary()
    }

    /// The positions of the groups that a dictionary holds where those of `used` are in use, in
    /// this order, each with its id.
    pub fn in_dictionary(&self, used: &[usize]) -> Vec<(usize, u32)> {
        let mut seen = vec![false; self.list.len()];
        let all = used.iter().copied().chain(0..self.always_in_dictionary());
        let mut positions: Vec<usize> =
            all.filter(|position| !std::mem::replace(&mut seen[*position], true)).collect();
        if self.numbers == Some(GroupNumbers::FirstUse) {
            // Groups of Rust enums keep the ids that their programs know.
            let (java, rust): (Vec<_>, Vec<_>) =
                positions.into_iter().partition(|position| *position < self.own);
            let rust = rust.into_iter().map(|position| (position, self.list[position].id));
            return java.into_iter().zip(1..).chain(rust).collect();
        }
        positions.sort_unstable();
        positions.into_iter().map(|position| (position, self.list[position].id)).collect()
    }

    /// The canonical name of the class that holds the groups.
    pub fn class(&self) -> &str {
        &self.class
    }

    /// The groups, in order.
    pub fn list(&self) -> &[Group] {
        &self.list
    }

    /// The groups of the class, without those of Rust enums.
    pub fn of_class(&self) -> &[Group] {
        &self.list[..self.own]
    }

    /// The names of the groups of the class.
    pub fn names_of_class(&self) -> impl Iterator<Item = &str> {
        self.of_class().iter().map(|group| group.name.as_str())
    }

    /// The position of the group that calls in Java write as `name`.
    pub fn position(&self, name: &str) -> Option<usize> {
        self.list[..self.own].iter().position(|group| group.name == name)
    }

    /// The position of the group of a Rust enum, by its full name.
    pub fn position_of(&self, full_name: &str) -> Option<usize> {
        let rust = self.list[self.own..].iter().position(|group| group.full_name == full_name);
        rust.map(|position| self.own + position)
    }
}

/// Refuses two groups of one id.
fn check(list: &[Group]) -> Result<(), GroupClash> {
    let mut known = HashMap::with_capacity(list.len());
    for (second, group) in list.iter().enumerate() {
        if let Some(first) = known.insert(group.id, second) {
            let names = (list[first].full_name.clone(), group.full_name.clone());
            return Err(GroupClash { positions: (first, second), names, id: group.id });
        }
    }
    Ok(())
}

impl Group {
    /// The group `name` of the class with this canonical name.
    pub fn new(
        class: &str,
        name: &str,
        enabled: bool,
        log_to_text: bool,
        tag: impl Into<String>,
    ) -> Self {
        let full_name = format!("{class}.{name}");
        let id = group_id(&full_name);
        let (name, own_name, tag) = (name.to_owned(), name.to_owned(), tag.into());
        Self { name, own_name, full_name, id, declared_id: None, enabled, log_to_text, tag }
    }

    /// With the name that calls write where it is not what the group calls itself: that of a field.
    #[must_use]
    pub fn written(self, name: &str) -> Self {
        Self { name: name.to_owned(), ..self }
    }

    /// The group `name` of a Rust enum, `crate::Enum`.
    pub(crate) fn of_rust(
        of: &str,
        name: &str,
        enabled: bool,
        log_to_text: bool,
        tag: String,
    ) -> Self {
        let full_name = format!("{of}::{name}");
        let id = group_id(&full_name);
        let (name, own_name) = (name.to_owned(), name.to_owned());
        Self { name, own_name, full_name, id, declared_id: None, enabled, log_to_text, tag }
    }

    /// With the value of `getId()`.
    #[must_use]
    pub fn with_declared_id(self, id: i32) -> Self {
        Self { declared_id: Some(id as u32), ..self }
    }
}
