//! Settings of groups that come from outside: from operators, the state file, the variable and the
//! configuration file.
//!
//! A setting names groups by a pattern, so it also holds for groups that register later. Later
//! settings win over earlier ones.
//!
//! `RUST_LOG` gives levels to all groups, each target those of its own. They limit what sessions
//! record, and what is printed of groups that print by their declaration; no other group prints
//! for it.
//!
//! Invariant: the list is bounded, and has at most one setting for each source, pattern and part:
//! what is recorded, and what is printed. They are in the order in which they came.

use super::group::{GroupInfo, GroupSet};
use super::pattern::GroupPattern;
use super::source::SettingSource;
use protolog_core::control::setting::Setting;
use protolog_core::control::switch::{ALL_LEVELS, ALLOWED_SHIFT, TEXT_SHIFT, UNREGISTERED};

/// A setting of the groups that a pattern names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PatternSetting {
    pub(crate) pattern: GroupPattern,
    pub(crate) setting: Setting,
    pub(crate) source: SettingSource,
}

/// Maximum number of settings that are kept for groups that register later; beyond it, the oldest
/// are dropped.
const MAX_SETTINGS: usize = 4096;

impl PatternSetting {
    /// Adds `new` to `all`. It replaces the same parts of earlier settings of its source and
    /// pattern. A part that it leaves out stays in its place: later settings of other patterns
    /// still win over that.
    pub(super) fn merge(all: &mut Vec<Self>, new: Self) {
        for old in all.iter_mut() {
            if old.source == new.source && old.pattern == new.pattern {
                old.setting.trace = old.setting.trace.filter(|_| new.setting.trace.is_none());
                old.setting.text = old.setting.text.filter(|_| new.setting.text.is_none());
            }
        }
        all.retain(|old| old.setting != Setting::default());
        if all.len() >= MAX_SETTINGS {
            all.remove(0);
        }
        all.push(new);
    }

    /// Returns the levels that groups print, whatever they declare.
    #[cfg(feature = "log")]
    pub(super) fn text_of_any(&self) -> Option<u8> {
        self.setting.text.filter(|_| !self.pattern.is_of_rust_log())
    }

    fn apply(&self, group: &'static GroupInfo) {
        if let Some(levels) = self.trace_of(group) {
            group.set_allowed(levels);
        }
        if let Some(levels) = self.text_of(group) {
            group.set_text(levels);
        }
    }

    fn trace_of(&self, group: &GroupInfo) -> Option<u8> {
        self.setting.trace.filter(|_| self.is_for(group))
    }

    fn text_of(&self, group: &GroupInfo) -> Option<u8> {
        let applies = !self.pattern.is_of_rust_log() || group.log_to_text;
        self.setting.text.filter(|_| applies && self.is_for(group))
    }

    fn is_for(&self, group: &GroupInfo) -> bool {
        // The bridges make groups whose tag is their name.
        self.pattern.matches(group.name, group.tag != group.name)
    }
}

/// Takes the settings of `RUST_LOG` out, which is about to be read again.
pub(super) fn forget_rust_log(all: &mut Vec<PatternSetting>) {
    all.retain(|setting| !setting.pattern.is_of_rust_log());
}

/// Applies settings to the groups of `set`.
pub(super) fn apply_all(set: &GroupSet, settings: &[PatternSetting]) {
    for group in set.groups() {
        for setting in settings {
            setting.apply(group);
        }
    }
}

/// Applies `all` to those groups of `set` that a setting of the configuration file names, in its
/// `old` content or in the new one. Without any setting in `all`, a group goes back to its default.
pub(super) fn reapply(set: &GroupSet, old: &[PatternSetting], all: &[PatternSetting]) {
    let is_of_file = |setting: &&PatternSetting| setting.source == SettingSource::ConfigFile;
    for group in set.groups() {
        // None if no setting of the file concerns this part; `Some(None)` if none of `all` does any
        // more.
        let current = |part: fn(&PatternSetting, &GroupInfo) -> Option<u8>| {
            let levels = |it: &PatternSetting| part(it, group);
            let concerned = old.iter().chain(all.iter().filter(is_of_file)).find_map(levels);
            concerned.map(|_| all.iter().rev().find_map(levels))
        };
        if let Some(levels) = current(PatternSetting::trace_of) {
            group.set_allowed(levels.unwrap_or(ALL_LEVELS as u8));
        }
        if let Some(levels) = current(PatternSetting::text_of) {
            group.set_text(levels.unwrap_or(if group.log_to_text { ALL_LEVELS as u8 } else { 0 }));
        }
    }
}

/// Returns the switch word that `settings` give a group which has not registered yet.
pub(super) fn word_before_registration(name: &str, settings: &[PatternSetting]) -> u32 {
    let (mut allowed, mut text) = (ALL_LEVELS as u8, 0);
    for it in settings.iter().filter(|it| it.pattern.matches(name, true)) {
        allowed = it.setting.trace.unwrap_or(allowed);
        text = it.setting.text.filter(|_| !it.pattern.is_of_rust_log()).unwrap_or(text);
    }
    UNREGISTERED | u32::from(text) << TEXT_SHIFT | u32::from(allowed) << ALLOWED_SHIFT
}

#[cfg(test)]
mod tests {
    use super::*;

    fn setting(pattern: &str, trace: Option<u8>, text: Option<u8>) -> PatternSetting {
        let source = SettingSource::Other;
        PatternSetting { pattern: pattern.into(), setting: Setting { trace, text }, source }
    }

    #[test]
    fn parts_of_one_pattern_are_replaced_where_they_are() {
        let mut all = Vec::new();
        for new in [
            setting("a", Some(1), Some(2)),
            setting("*", Some(4), None),
            setting("a", Some(8), None),
        ] {
            PatternSetting::merge(&mut all, new);
        }
        let text = setting("a", None, Some(2));
        let [every, trace] = [setting("*", Some(4), None), setting("a", Some(8), None)];
        assert_eq!(all, [text, every.clone(), trace.clone()]);
        PatternSetting::merge(&mut all, setting("a", None, Some(1)));
        assert_eq!(all, [every, trace, setting("a", None, Some(1))]);
    }

    #[test]
    fn a_group_that_comes_later_has_what_was_said_last() {
        let mut all = Vec::new();
        for new in [
            setting("Net", None, Some(2)),
            setting("*", None, Some(0)),
            setting("Net", Some(8), None),
        ] {
            PatternSetting::merge(&mut all, new);
        }
        let word = word_before_registration("app::Log::Net", &all);
        assert_eq!(word, UNREGISTERED | 8 << ALLOWED_SHIFT, "nothing is printed");
    }

    #[test]
    fn settings_of_two_sources_stay_apart() {
        let mut all = Vec::new();
        let of_file = |it| PatternSetting { source: SettingSource::ConfigFile, ..it };
        PatternSetting::merge(&mut all, setting("a", Some(1), None));
        PatternSetting::merge(&mut all, of_file(setting("a", Some(2), None)));
        assert_eq!(all, [setting("a", Some(1), None), of_file(setting("a", Some(2), None))]);
    }

    #[test]
    fn settings_are_bounded() {
        let mut all = Vec::new();
        for number in 0..=MAX_SETTINGS {
            PatternSetting::merge(&mut all, setting(&format!("g{number}"), Some(0), None));
        }
        assert_eq!(all.len(), MAX_SETTINGS);
        assert_eq!(all[0].pattern, "g1".into());
    }
}
