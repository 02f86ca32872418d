//! Names in the variable that are almost those of the program's groups.
//!
//! A name that is like none of them is no mistake: the variable may be for several programs, and
//! groups come with libraries. One that is a slip of the hand away from a group, and names none,
//! was meant for it.

use crate::level;
use crate::level::rules::Rule;
use crate::session::packets::dictionary::all_groups;
use crate::sys::process::program;
use protolog_core::control::matches_group;
use protolog_core::control::name::{Quoted, characters};
use protolog_core::control::setting::Settings;
use protolog_core::control::site_rule::SiteRules;
use std::collections::BTreeSet;

/// Returns the problems of `text`, from `origin`, each with a help line.
pub(super) fn groups(text: &str, origin: &str) -> Vec<String> {
    let own = program();
    let settings = Settings::new(text).flatten();
    let own = settings.filter(|setting| setting.program.is_none_or(|program| program == own));
    let names: BTreeSet<&str> =
        own.map(|setting| setting.group).filter(|group| *group != "*").collect();
    if names.is_empty() {
        return Vec::new();
    }
    let known = all_groups().unwrap_or_default();
    let problem = |name: &str| {
        let meant = meant(name, &known)?;
        Some(format!("{origin}: no group is named `{name}`\nhelp: write `{}`", Quoted(meant)))
    };
    names.into_iter().filter_map(problem).collect()
}

/// Returns the problems of rules of single calls in `text`, from `origin`: those that take no call
/// of the program, and those whose call has moved. Calls of other loggers are known when they log.
pub(super) fn rules(text: &str, origin: &str) -> Vec<String> {
    let written: BTreeSet<&str> =
        SiteRules::new(text).flatten().map(|rule| rule.selector.text()).collect();
    let is_written = |rule: &Rule| written.contains(&*rule.selector) && !rule.setting.resets;
    let problem = |rule: Rule| match rule.problem {
        Some(problem) => Some(format!("{origin}: {problem}")),
        None if rule.calls == 0 && !level::has_observers() => Some(format!(
            "{origin}: no call of this program is taken by `{}`\nhelp: see `protologtool configuration site list`",
            rule.selector
        )),
        None => None,
    };
    level::rules::rules().into_iter().filter(is_written).filter_map(problem).collect()
}

/// Returns the group that was meant by a name that is almost its name; none if the name is that of
/// a group.
fn meant<'a>(name: &str, known: &'a BTreeSet<String>) -> Option<&'a str> {
    if known.iter().any(|full| matches_group(name, full)) {
        return None;
    }
    let name: String = characters(name).collect();
    let segments = starts(&name).len();
    let slips = |suffix: &str| distance(&name.to_lowercase(), &suffix.to_lowercase());
    let suffixes = known.iter().map(|full| last_segments(full, segments));
    let (slips, suffix) = suffixes.map(|suffix| (slips(suffix), suffix)).min()?;
    (slips <= name.chars().count() / 3).then_some(suffix)
}

/// Returns the last `count` segments of a full name, or all.
fn last_segments(full: &str, count: usize) -> &str {
    let starts = starts(full);
    let start = starts.get(starts.len().saturating_sub(count));
    start.and_then(|start| full.get(*start..)).unwrap_or(full)
}

/// Returns where the segments of a name begin, between which Rust has `::`, and Java a dot.
fn starts(name: &str) -> Vec<usize> {
    let separators = name.match_indices("::").chain(name.match_indices('.'));
    let mut starts: Vec<usize> = separators.map(|(at, separator)| at + separator.len()).collect();
    starts.push(0);
    starts.sort_unstable();
    starts
}

/// Returns the number of characters that were inserted, left out, replaced or swapped with the next
/// one.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows = vec![(0..=b.len()).collect::<Vec<usize>>()];
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let replaced = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut least = replaced.min(rows[i - 1][j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                least = least.min(rows[i - 2][j - 2] + 1);
            }
            row.push(least);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The Java runtime reads the same table.
    #[test]
    fn slips_of_the_hand_are_recognized() {
        let known =
            ["app::AppLog::Net", "app::AppLog::Disk", "com.foo.AppLog.UI", "my logger", "🦀🦀🦀"];
        let known = known.map(str::to_owned).into();
        let vectors = include_str!("../../../protolog-core/testdata/misspelled.tsv");
        for line in vectors.lines().skip(1) {
            let (name, expected) = line.split_once('\t').expect("two cells");
            assert_eq!(meant(name, &known).unwrap_or_default(), expected, "{name}");
        }
        assert_eq!(meant("nett", &BTreeSet::new()), None);
    }
}
