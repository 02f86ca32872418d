//! The reason why a trace has no message, or none of a group that its session was to record.
//!
//! Invariant: nothing is said of a trace whose sessions have different filters, nor of groups where
//! a part of the dictionary is missing.

use protolog_core::filter::{NoMessages, UnknownGroup};

use crate::log::Log;

impl Log {
    /// A sentence for each name in the filter of the session that no group of the program has.
    pub fn unknown_groups(&self) -> Vec<String> {
        let groups = self.group_names();
        let Some(filter) = self.filter().one().filter(|_| self.has_whole_dictionary()) else {
            return Vec::new();
        };
        let sentence =
            |name| UnknownGroup { name, groups: &groups, is_open: filter.is_open }.to_string();
        filter.unknown(&groups).map(sentence).collect()
    }

    /// The reason why the trace has no message, and a help line; none if it has or has lost one, or
    /// has spans, and if the reason is not known.
    pub fn why_empty(&self) -> Option<(String, &'static str)> {
        let stats = self.stats();
        if stats.entries > 0 || !stats.lost.is_empty() || self.has_spans() {
            return None;
        }
        let filter = self.filter().one()?;
        let groups = self.group_names();
        let unknown = filter.unknown(&groups).next().filter(|_| self.has_whole_dictionary());
        let reason = match unknown {
            Some(name) => NoMessages::UnknownGroup(UnknownGroup {
                name,
                groups: &groups,
                is_open: filter.is_open,
            }),
            None => {
                let named = filter.groups.iter().filter_map(|(_, levels)| *levels);
                NoMessages::without_unknown(filter.default_levels, named, self.session_duration())
            }
        };
        // Without an end, further messages may have been logged.
        let is_certain =
            stats.unended.is_empty() || !matches!(reason, NoMessages::NothingLogged(_));
        is_certain.then(|| (reason.to_string(), reason.help()))
    }

    fn group_names(&self) -> Vec<&str> {
        let mut names: Vec<&str> =
            self.dictionary().groups().map(|group| group.name.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    fn has_whole_dictionary(&self) -> bool {
        self.dictionary().missing().next().is_none()
    }
}
