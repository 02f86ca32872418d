//! The entries of a dictionary: messages and groups.

use crate::Location;
use protolog_core::{Level, Template};
use std::{borrow::Cow, sync::Arc};

/// A message: the common part of all entries with one id.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Message {
    /// The id, as in traces.
    pub id: u64,
    /// The template in full form. Files made elsewhere may hold a text that [`Template::parse`]
    /// refuses.
    pub template: String,
    /// The list of the arguments' names, see [`protolog_core::ArgumentNames`]; empty where none has
    /// a name.
    pub names: String,
    /// Bit `i` is set where argument `i` is an unsigned integer.
    pub unsigned: u32,
    /// The level.
    pub level: Level,
    /// The group's full name.
    pub group: Arc<str>,
    /// The place that the id is computed over, see [`protolog_core::message_id`]. Where a file does
    /// not say, the path of the first location.
    pub place: String,
    /// Where the calls are. In a [`Dictionary`](crate::Dictionary): sorted by path, each path once.
    pub locations: Vec<Location>,
}

/// A group, used or not.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Group {
    /// The id: [`protolog_core::group_id`] of the name, or the value of an Android enum (a negative
    /// one as its 32 bits).
    pub id: u32,
    /// The full name.
    pub name: String,
    /// The tag under which texts of the group are shown.
    pub tag: String,
}

impl Message {
    /// The template in the form that Perfetto's trace_processor understands; the text itself where
    /// it is no template.
    pub fn bare(&self) -> Cow<'_, str> {
        match Template::parse(&self.template) {
            Ok(template) if !template.is_bare() => template.bare().to_string().into(),
            _ => Cow::Borrowed(&self.template),
        }
    }

    /// The place of a message of which nothing but the locations is known.
    pub(crate) fn default_place(locations: &[Location]) -> &str {
        locations.first().map_or("", |location| &location.path)
    }

    /// The place, where it has to be written down.
    pub(crate) fn explicit_place(&self) -> Option<&str> {
        (self.place != Self::default_place(&self.locations)).then_some(&self.place)
    }

    /// The key by which a dictionary's messages are sorted.
    pub(crate) fn order(&self) -> (Option<(&str, Option<u32>)>, u64) {
        let first = self.locations.first();
        (first.map(|location| (location.path.as_str(), location.lines.first().copied())), self.id)
    }
}
