//! The rates and limits that groups declare, as rules before all others; and the groups whose rule
//! finds no place among the others, which are recorded whole: a line on standard error and an
//! operator's answer say so.
//!
//! Invariant: each group's rule comes once. One that an operator has ended stays ended, though the
//! group is seen again, as that of a library which is loaded twice.

use super::Rule;
use super::list::MAX_RULES;
use crate::level::source::SettingSource;
use crate::sync::{AtomicUsize, Ordering};
use crate::text_queue;
use protolog_core::control::name::Quoted;
use protolog_core::control::selector::Selector;
use protolog_core::control::site_rule::SiteSetting;
use std::collections::BTreeSet;

/// The number of groups whose rule found no place among the others.
static LEFT_OUT: AtomicUsize = AtomicUsize::new(0);

/// Adds the rules that groups declare, by their names, but of those that are `known`. Returns the
/// groups for which there is no place.
pub(super) fn add_all(
    all: &mut Vec<Rule>,
    known: &mut BTreeSet<&'static str>,
    declared: Vec<(&'static str, SiteSetting)>,
) -> Vec<&'static str> {
    let mut left_out = Vec::new();
    for (group, setting) in declared {
        if !known.contains(group) {
            if add(all, group, setting) {
                known.insert(group);
            } else {
                left_out.push(group);
            }
        }
    }
    left_out
}

/// Says that these groups found no place, if there are any. The caller holds no lock.
pub(super) fn report(left_out: &[&str]) {
    let Some(group) = left_out.first() else { return };
    LEFT_OUT.fetch_add(left_out.len(), Ordering::Relaxed);
    let among = format!(", `{group}` among them");
    let line = format!("protolog: {}\n", not_as_declared(left_out.len(), &among));
    text_queue::write_line(line.as_bytes());
}

/// Returns the problem that groups are not sampled or limited as they declare, and a help line;
/// none if all are.
pub(crate) fn left_out() -> Option<String> {
    let count = LEFT_OUT.load(Ordering::Relaxed);
    (count > 0).then(|| not_as_declared(count, ""))
}

/// `count` groups, and words about one of them.
fn not_as_declared(count: usize, among: &str) -> String {
    let groups = if count == 1 { "1 group is" } else { &format!("{count} groups are") };
    format!(
        "{groups} not sampled or limited as declared{among}: a program keeps {MAX_RULES} rules\n\
         help: take several groups by one rule, as in `site debug=sample:1/100`"
    )
}

/// Adds the rule that a group declares: before all others, whatever else is said of it. Returns
/// false if there is no place for it.
fn add(all: &mut Vec<Rule>, group: &str, setting: SiteSetting) -> bool {
    let selector = format!("group {}", Quoted(group));
    let Ok(selector) = Selector::parse(&selector) else { return false };
    if all.len() >= MAX_RULES {
        return false;
    }
    all.insert(0, Rule::new(&selector, setting, SettingSource::Group));
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sampled() -> SiteSetting {
        SiteSetting::parse("sample:1/2").expect("words")
    }

    #[test]
    fn a_rule_without_a_place_is_said_to_have_none() {
        let (mut all, mut known) = (Vec::new(), BTreeSet::new());
        let groups = (0..=MAX_RULES).map(|number| &*format!("a::G{number}").leak());
        let declared: Vec<_> = groups.map(|group| (group, sampled())).collect();
        let left_out = add_all(&mut all, &mut known, declared.clone());
        assert_eq!((all.len(), &left_out[..]), (MAX_RULES, &[declared[MAX_RULES].0][..]));
        assert!(add_all(&mut all, &mut known, vec![declared[0]]).is_empty(), "one that is known");
        assert_eq!(
            not_as_declared(2, ", `a::G256` among them"),
            "2 groups are not sampled or limited as declared, `a::G256` among them: a program keeps \
             256 rules\nhelp: take several groups by one rule, as in `site debug=sample:1/100`"
        );
    }

    #[test]
    fn a_rule_that_was_ended_does_not_come_again() {
        let (mut all, mut known) = (Vec::new(), BTreeSet::new());
        assert!(add_all(&mut all, &mut known, vec![("a::G", sampled())]).is_empty());
        assert_eq!(all.len(), 1);
        all.clear();
        assert!(add_all(&mut all, &mut known, vec![("a::G", sampled())]).is_empty());
        assert_eq!(all, []);
    }
}
