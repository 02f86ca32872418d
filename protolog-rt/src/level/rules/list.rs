//! The list of rules: which of them stay when another one comes.
//!
//! Invariants: at most [`MAX_RULES`], the oldest first; no part of a rule stays that a later one of
//! its source and selector replaces; rules that groups declare go last. A rule that ends others
//! and that a program starts with stays for what a later group declares, but `*=default`, which
//! leaves none. The configuration file takes no rule of others away: what it ends holds again
//! without its line.

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
        let is_of_file = new.source == SettingSource::ConfigFile;
        let is_taken = |old: &Rule| !is_of_file || old.source == new.source;
        if &*new.selector == ALL_CALLS {
            all.retain(|old| !is_taken(old));
        }
        // One that only ends others is no rule to end: it holds after the second request, too.
        let has_ended = all.iter().any(|old| is_same(old) && !is_empty(old));
        all.retain(|old| !is_same(old) || !is_taken(old));
        if is_empty(&new) && has_ended && !all.iter().any(is_same) {
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

/// Drops rules that only end others, where there are none before them and none are to come.
fn drop_idle(all: &mut Vec<Rule>) {
    let has_none = |rule: &Rule| !acts(rule) && (!rule.waits || &*rule.selector == ALL_CALLS);
    let first = all.iter().position(acts).unwrap_or(all.len());
    let mut at = 0;
    all.retain(|rule| {
        at += 1;
        at > first || !has_none(rule)
    });
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

    /// A reset that comes first is for what groups declare that come later.
    #[test]
    fn a_reset_waits_for_what_groups_declare() {
        for words in ["default", "default,text"] {
            let mut all = Vec::new();
            let of_start = Rule { waits: true, ..rule("net", words) };
            for _ in 0..2 {
                add(&mut all, of_start.clone());
                add(&mut all, rule("disk", "default"));
                assert_eq!(all.first(), Some(&of_start));
            }
            add(&mut all, rule("*", "default"));
            assert_eq!(all, []);
        }
        let mut all = Vec::new();
        add(&mut all, rule("net", "default"));
        assert_eq!(all, [], "an operator ends what there is");
    }

    /// The file ends rules of others as long as it says so, and no longer.
    #[test]
    fn a_file_takes_no_rule_of_others_away() {
        let of_file = |selector: &str, words: &str| Rule {
            source: SettingSource::ConfigFile,
            ..rule(selector, words)
        };
        let operators = [rule("net", "on"), rule("disk", "limit:1/s")];
        for (selector, words) in [("*", "default"), ("net", "default"), ("*", "default,text")] {
            let mut all = operators.to_vec();
            add(&mut all, of_file("disk", "off"));
            add(&mut all, of_file(selector, words));
            all.retain(|rule| rule.source != SettingSource::ConfigFile);
            assert_eq!(all, operators, "{selector}={words}");
        }
        let mut all = operators.to_vec();
        add(&mut all, of_file("net", "text"));
        add(&mut all, of_file("net", "default"));
        assert_eq!(all[2..], [of_file("net", "default")]);
        add(&mut all, rule("net", "on"));
        assert_eq!(all.last(), Some(&rule("net", "on")), "an operator's comes last");
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
