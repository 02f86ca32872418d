//! The list of rules: which of them stay when another one comes.
//!
//! Invariants: at most [`MAX_RULES`], the oldest first; no part of a rule stays that a later one of
//! its source and selector replaces; rules that groups declare go last. `*=default`
//! leaves no rule, which it would only have to end, along with what a later group declares.

use super::Rule;
use crate::level::source::SettingSource;
use protolog_core::control::site_rule::SiteSetting;

/// The selector of all calls: a rule that ends others leaves none of them anything to do.
const ALL_CALLS: &str = "*";

/// Maximum number of rules; beyond it, the oldest are dropped.
pub(super) const MAX_RULES: usize = 256;

/// Adds a rule in the place of earlier ones of its source and selector. One that only ends others
/// ends those of its selector; where there are none, it stays, for what other rules do.
pub(super) fn add(all: &mut Vec<Rule>, new: Rule) {
    let is_empty = |rule: &Rule| !acts(rule);
    let is_same = |old: &Rule| old.selector == new.selector;
    if new.setting.resets {
        if &*new.selector == ALL_CALLS {
            all.clear();
        }
        // One that only ends others is no rule to end: it holds after the second request, too.
        let has_ended = all.iter().any(|old| is_same(old) && !is_empty(old));
        all.retain(|old| !is_same(old));
        if is_empty(&new) && has_ended {
            return drop_idle(all);
        }
    }
    for old in all.iter_mut().filter(|old| is_same(old) && old.source == new.source) {
        old.setting = old.setting.before(new.setting);
    }
    all.retain(|rule| rule.setting.resets || !is_empty(rule));
    if all.len() >= MAX_RULES {
        let is_declared = |rule: &Rule| rule.source == SettingSource::Group;
        let oldest = all.iter().position(|rule| !is_declared(rule)).unwrap_or_default();
        all.remove(oldest);
    }
    all.push(new);
    drop_idle(all);
}

/// Returns whether a rule does more than to end others.
fn acts(rule: &Rule) -> bool {
    rule.setting != SiteSetting { resets: rule.setting.resets, ..SiteSetting::default() }
}

/// Drops the rules at the start of the list that only end others.
fn drop_idle(all: &mut Vec<Rule>) {
    let idle = all.iter().take_while(|rule| !acts(rule)).count();
    all.drain(..idle);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::level::rules::tests::rule;

    #[test]
    fn a_rule_of_the_same_selector_takes_the_place_of_the_earlier_one() {
        let mut all = Vec::new();
        for new in [rule("net", "on,text"), rule("disk", "off"), rule("net", "off")] {
            add(&mut all, new);
        }
        assert_eq!(all, [rule("disk", "off"), rule("net", "off")]);
        add(&mut all, rule("disk", "default"));
        assert_eq!(all, [rule("net", "off")]);
        add(&mut all, rule("\"x\"", "default"));
        assert_eq!(all, [rule("net", "off"), rule("\"x\"", "default")]);
        add(&mut all, rule("net", "default"));
        assert_eq!(all, []);
    }

    #[test]
    fn a_reset_of_all_calls_ends_all_rules() {
        let mut all = Vec::new();
        for new in [rule("net", "on"), rule("\"x\"", "default"), rule("disk", "sample:1/2")] {
            add(&mut all, new);
        }
        assert_eq!(all.len(), 3);
        add(&mut all, rule("*", "default,limit:1/s"));
        assert_eq!(all, [rule("*", "default,limit:1/s")]);
        add(&mut all, rule("net", "on"));
        add(&mut all, rule("*", "default"));
        assert_eq!(all, []);
    }

    #[test]
    fn rules_are_bounded() {
        let mut all = Vec::new();
        for number in 0..=MAX_RULES {
            add(&mut all, rule(&format!("g{number}"), "on"));
        }
        assert_eq!((all.len(), &*all[0].selector), (MAX_RULES, "g1"));
    }
}
