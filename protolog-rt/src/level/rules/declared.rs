//! The rates that groups declare, as rules before all others; and the groups whose rate finds no
//! place among the rules, which are recorded whole: a line on standard error and an operator's
//! answer say so.

use super::Rule;
use super::list::MAX_RULES;
use crate::level::source::SettingSource;
use crate::sync::{AtomicUsize, Ordering};
use crate::text_queue;
use protolog_core::control::name::Quoted;
use protolog_core::control::rate::Rate;
use protolog_core::control::selector::Selector;
use protolog_core::control::site_rule::SiteSetting;

/// The number of groups whose declared rate found no place among the rules.
static LEFT_OUT: AtomicUsize = AtomicUsize::new(0);

/// Adds the rules that groups declare, by their names. Returns the groups for which there is no
/// place.
pub(super) fn add_all<'a>(all: &mut Vec<Rule>, declared: Vec<(&'a str, Rate)>) -> Vec<&'a str> {
    let left_out = declared.into_iter().filter(|(group, rate)| !add(all, group, *rate));
    left_out.map(|(group, _)| group).collect()
}

/// Says that these groups found no place, if there are any. The caller holds no lock.
pub(super) fn report(left_out: &[&str]) {
    let Some(group) = left_out.first() else { return };
    LEFT_OUT.fetch_add(left_out.len(), Ordering::Relaxed);
    let among = format!(", `{group}` among them");
    let line = format!("protolog: {}\n", not_sampled(left_out.len(), &among));
    text_queue::write_line(line.as_bytes());
}

/// Returns the problem that groups are not sampled as they declare, and a help line; none if all
/// are.
pub(crate) fn left_out() -> Option<String> {
    let count = LEFT_OUT.load(Ordering::Relaxed);
    (count > 0).then(|| not_sampled(count, ""))
}

/// `count` groups, and words about one of them.
fn not_sampled(count: usize, among: &str) -> String {
    let groups = if count == 1 { "1 group is" } else { &format!("{count} groups are") };
    format!(
        "{groups} not sampled as declared{among}: a program keeps {MAX_RULES} rules\n\
         help: take several groups by one rule, as in `site debug=sample:1/100`"
    )
}

/// Adds the rule that a group declares: before all others, whatever else is said of it. Returns
/// false if there is no place for it.
fn add(all: &mut Vec<Rule>, group: &str, rate: Rate) -> bool {
    let selector = format!("group {}", Quoted(group));
    let is_known = |rule: &Rule| rule.source == SettingSource::Group && *rule.selector == *selector;
    let Ok(selector) = Selector::parse(&selector) else { return false };
    if all.iter().any(is_known) {
        return true;
    }
    if all.len() >= MAX_RULES {
        return false;
    }
    let setting = SiteSetting { sample: Some(Some(rate)), ..SiteSetting::default() };
    all.insert(0, Rule::new(&selector, setting, SettingSource::Group));
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_without_a_place_is_said_to_have_none() {
        let rate = Rate::new(1, 2).expect("a rate");
        let mut all = Vec::new();
        let groups: Vec<_> = (0..=MAX_RULES).map(|number| format!("a::G{number}")).collect();
        let added: Vec<_> = groups.iter().map(|group| add(&mut all, group, rate)).collect();
        assert_eq!(added.iter().filter(|added| **added).count(), MAX_RULES);
        assert!(!added[MAX_RULES] && add(&mut all, "a::G0", rate), "one that is known");
        assert_eq!(
            not_sampled(2, ", `a::G256` among them"),
            "2 groups are not sampled as declared, `a::G256` among them: a program keeps 256 \
             rules\nhelp: take several groups by one rule, as in `site debug=sample:1/100`"
        );
    }
}
