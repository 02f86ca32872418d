//! Selectors among the options of a filter, and the calls that a trace knows.
//!
//! Invariant: an option holds a selector that was parsed, and asks for nothing that no trace has.

use super::{Filter, Filters};
use protolog_core::control::selector::{Call, Condition, Selector};
use protolog_reader::Entry;

/// The most lines of a message that are looked at.
const LINES: usize = 16;

/// Parses an option of the command line.
pub(super) fn selector(text: &str) -> Result<String, String> {
    let selector =
        Selector::parse(text).map_err(|error| format!("{error}\nhelp: {}", error.help()))?;
    let has = |is_it: fn(&Condition<'_>) -> bool| selector.conditions().iter().any(is_it);
    if has(|it| matches!(it, Condition::Module(_))) {
        let help = "name the file, as in `net.rs:120-180`";
        return Err(format!("a trace knows no modules of its calls\nhelp: {help}"));
    }
    Ok(text.to_owned())
}

impl Filters {
    /// The selectors, of which one has to take a call.
    pub(super) fn selectors(&self) -> Vec<Selector<'_>> {
        self.selectors.iter().filter_map(|text| Selector::parse(text).ok()).collect()
    }
}

impl Filter<'_> {
    /// Returns whether a selector takes an entry, or there is none.
    pub(super) fn admits_call(&self, entry: &Entry<'_>) -> bool {
        if self.selectors.is_empty() {
            return true;
        }
        let mut lines = [0; LINES];
        let mut call = Call { id: Some(entry.message_id()), ..Call::default() };
        if let Some(message) = entry.message() {
            let (file, listed) =
                message.location.rsplit_once(':').unwrap_or((&message.location, ""));
            let numbers = listed.split(',').filter_map(|line| line.parse().ok());
            let count = lines.iter_mut().zip(numbers).map(|(to, line)| *to = line).count();
            call.lines = lines.get(..count).unwrap_or_default();
            call.file = file;
            call.level = message.level;
            call.template = message.template.as_deref().unwrap_or(&message.bare);
            call.group = self.log.dictionary().group(message.group).map_or("", |group| &group.name);
        }
        // Values are decoded only where one is asked for.
        let has_arguments = |selector: &Selector<'_>| {
            !selector.is_by_arguments() || {
                let values = entry.values();
                selector.takes_arguments(&|visitor| {
                    values.args().iter().for_each(|value| visitor(*value));
                })
            }
        };
        self.selectors.iter().any(|selector| selector.takes(&call) && has_arguments(selector))
    }

    /// Returns whether a selector may take calls of a group, or there is none.
    pub(super) fn may_select_of(&self, group: &str) -> bool {
        let is_of_it = |condition: &Condition<'_>| match condition {
            Condition::Name(_) | Condition::Group(_) => {
                condition.holds(&Call { group, ..Call::default() })
            }
            _ => true,
        };
        let may = |selector: &Selector<'_>| selector.conditions().iter().all(is_of_it);
        self.selectors.is_empty() || self.selectors.iter().any(may)
    }
}
