//! The filter of a session: which levels of which groups it records. The meaning is that of
//! Perfetto's `ProtoLogConfig`.
//!
//! | configured | recorded |
//! |---|---|
//! | nothing | WTF |
//! | everything ([`TracingMode::EnableAll`]) | VERBOSE and up |
//! | a default level | that level and up, in every mode |
//! | a group override | for that group its own level and up, higher or lower than the default; or nothing |
//!
//! An override has a [pattern](protolog_core::control::matches_group) of names, as `PROTOLOG` and
//! operators do; an end of names has to mean one group of those that are known at the start, unless
//! it is a beginning of one, too. Tags name no groups, since several groups may share one. If
//! several overrides name a group, a full name wins over an end, and an end over the longest
//! beginning; of several ends the one that records more wins, and of several overrides with one
//! name the last. `*` with no level is the one way to record less than WTF by default.
//!
//! Invariant: levels are compared by severity, never by their numbers in traces.

use crate::error::Error;
use protolog_core::Level;
use protolog_core::control::{Closeness, closeness, levels_at_least, matches_group};
use std::collections::{BTreeSet, HashMap};

/// The levels that a session records by default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TracingMode {
    /// WTF: what can't happen.
    #[default]
    Default,
    /// All levels.
    EnableAll,
}

/// The minimum level of one group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupOverride {
    /// The group's full name, an unambiguous end of it, or a beginning; `*` for all groups without
    /// another override.
    pub group: String,
    /// The least severe level that is recorded; none for no level at all.
    pub log_from: Option<Level>,
}

/// The levels of groups that a session records.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Config {
    /// The default for groups without an override.
    pub tracing_mode: TracingMode,
    /// The least severe level that is recorded of groups without an override; wins over the mode.
    pub default_log_from: Option<Level>,
    /// Exceptions.
    pub group_overrides: Vec<GroupOverride>,
    /// Groups whose messages are recorded with the stack trace of the thread that logs them, named
    /// as in overrides.
    pub collect_stacktrace: Vec<String>,
}

/// A configuration whose names were checked against the groups known at the start.
#[derive(Clone, Debug, Default)]
pub(crate) struct Filter {
    default: u8,
    /// A name, whether it is a full name, and levels as a set of bits.
    overrides: Vec<(String, bool, u8)>,
    stacks: Vec<String>,
    /// Names and levels of overrides as they were written, without `*`.
    written: Vec<(String, u8)>,
}

impl Filter {
    /// Checks the names of `config` against the full names of the `known` groups. An override that
    /// matches none stays, since its group may come with a library.
    pub(in crate::session) fn new(
        config: &Config,
        known: &BTreeSet<String>,
    ) -> Result<Self, Error> {
        Self::checked(config, known, false)
    }

    /// Likewise, for a configuration that many programs get: an end of names may mean several
    /// groups of this one, a full name wins over it nevertheless, and a name that none can have is
    /// left out.
    pub(in crate::session) fn of_many(
        mut config: Config,
        known: &BTreeSet<String>,
    ) -> Result<Self, Error> {
        let is_one = |name: &String| may_name(name) || known.contains(name);
        config.group_overrides.retain(|it| is_one(&it.group));
        config.collect_stacktrace.retain(is_one);
        Self::checked(&config, known, true)
    }

    fn checked(
        config: &Config,
        known: &BTreeSet<String>,
        may_be_several: bool,
    ) -> Result<Self, Error> {
        let overrides = config.group_overrides.iter().map(|it| &it.group);
        let is_none = |name: &&String| !may_name(name) && !known.contains(*name);
        if let Some(name) = overrides.chain(&config.collect_stacktrace).find(is_none) {
            return Err(Error::NoGroupName { name: name.clone() });
        }
        let mode = match config.tracing_mode {
            TracingMode::Default => Level::Wtf,
            TracingMode::EnableAll => Level::Verbose,
        };
        let mut default = levels_at_least(Some(config.default_log_from.unwrap_or(mode)));
        let mut overrides = Vec::new();
        let all = &config.group_overrides;
        let mut written = Vec::new();
        // A service may send thousands of them.
        let last: HashMap<&str, usize> =
            all.iter().enumerate().map(|(index, it)| (&*it.group, index)).collect();
        for (index, GroupOverride { group, log_from }) in all.iter().enumerate() {
            if last.get(&**group) != Some(&index) {
                continue;
            }
            let levels = levels_at_least(*log_from);
            if group == "*" {
                default = levels;
                continue;
            }
            written.push((group.clone(), levels));
            if let Some(full) = full_name(group, known) {
                overrides.push((full.clone(), true, levels));
                continue;
            }
            let ends = |full: &&String| closeness(group, full) >= Some(Closeness::End);
            let candidates: Vec<_> = known.iter().filter(ends).collect();
            let begins =
                |full: &String| matches!(closeness(group, full), Some(Closeness::Beginning(_)));
            let is_beginning = known.iter().any(begins);
            match candidates[..] {
                [] => {}
                [full] => overrides.push((full.clone(), false, levels)),
                // There is no other name for all that begins so: `net` is a crate, even if groups
                // are called `Net`.
                _ if is_beginning || may_be_several => {}
                _ => {
                    let candidates = candidates.into_iter().cloned().collect();
                    return Err(Error::AmbiguousGroup { name: group.clone(), candidates });
                }
            }
            if candidates.is_empty() || is_beginning || candidates.len() > 1 {
                overrides.push((group.clone(), false, levels));
            }
        }
        Ok(Self { default, overrides, stacks: config.collect_stacktrace.clone(), written })
    }

    /// Returns the levels (bit = [`Level::severity`]) of groups that the filter does not name.
    pub(in crate::session) fn default_levels(&self) -> u8 {
        self.default
    }

    /// Iterates over the names and levels of overrides as they were written, without `*`.
    pub(in crate::session) fn written(&self) -> impl Iterator<Item = (&str, u8)> {
        self.written.iter().map(|(name, levels)| (&**name, *levels))
    }

    /// Iterates over the names of groups whose stack traces are recorded.
    pub(in crate::session) fn stacks(&self) -> impl Iterator<Item = &str> {
        self.stacks.iter().map(|name| &**name)
    }

    /// Returns the names that something was to be recorded of and that stand for none of these
    /// groups.
    pub(in crate::session) fn unknown(&self, groups: &[&str]) -> Vec<&str> {
        let enabled = self.written().filter(|(_, levels)| *levels != 0).map(|(name, _)| name);
        let is_unknown = |name: &&str| !groups.iter().any(|group| matches_group(name, group));
        enabled.chain(self.stacks()).filter(is_unknown).collect()
    }

    /// Returns whether messages of the group with this full name are recorded with stack traces.
    pub(in crate::session) fn collects_stack(&self, full_name: &str) -> bool {
        self.stacks.iter().any(|name| name == full_name || matches_group(name, full_name))
    }

    /// Returns whether messages of any group are recorded with stack traces.
    pub(in crate::session) fn collects_stacks(&self) -> bool {
        !self.stacks.is_empty()
    }

    /// Returns the levels (bit = [`Level::severity`]) recorded of the group with this full name.
    pub(in crate::session) fn levels(&self, full_name: &str) -> u8 {
        let kind = |name: &str, in_full: bool| match closeness(name, full_name) {
            _ if name == full_name => Some(Closeness::Whole),
            // It was the full name of another group when the session started.
            Some(Closeness::Whole | Closeness::End) if in_full => None,
            kind => kind,
        };
        let named = self.overrides.iter().filter_map(|(name, in_full, levels)| {
            kind(name, *in_full).map(|kind| ((kind, *in_full), *levels))
        });
        // Of equally close ones, which are ends of the name, the one that records more: the sets
        // are nested.
        let closest = named.max_by_key(|(kind, levels)| (*kind, *levels));
        closest.map_or(self.default, |(_, levels)| levels)
    }

    /// Returns the levels recorded of any group, known or not.
    #[cfg(feature = "log")]
    pub(in crate::session) fn levels_of_any_group(&self) -> u8 {
        self.overrides.iter().fold(self.default, |all, (.., levels)| all | levels)
    }
}

/// Returns the group that has `name` as its full name, as it stands or else in other letters or in
/// quotation marks.
fn full_name<'a>(name: &str, known: &'a BTreeSet<String>) -> Option<&'a String> {
    let is_whole = |full: &&String| closeness(name, full) == Some(Closeness::Whole);
    let mut whole = known.iter().filter(is_whole);
    let only = whole.next().filter(|_| whole.next().is_none());
    known.get(name).or(only)
}

/// Returns whether a name may be one of groups. A filter that can't match anything is a mistake.
fn may_name(name: &str) -> bool {
    name == "*" || !(name.trim().is_empty() || name.contains('*'))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NET: &str = "app::Log::Net";
    const DISK: &str = "app::Log::Disk";
    const OTHER_NET: &str = "lib::Log::Net";

    fn config(
        mode: TracingMode,
        default: Option<Level>,
        overrides: &[(&str, Option<Level>)],
    ) -> Config {
        let group_overrides = overrides
            .iter()
            .map(|&(group, log_from)| GroupOverride { group: group.into(), log_from })
            .collect();
        let collect_stacktrace = Vec::new();
        Config {
            tracing_mode: mode,
            default_log_from: default,
            group_overrides,
            collect_stacktrace,
        }
    }

    /// The letters of the levels that are filter of `group`, least severe first.
    fn recorded(config: &Config, group: &str) -> String {
        let known = [NET, DISK].map(String::from).into();
        let levels = Filter::new(config, &known).unwrap().levels(group);
        let on = |level: &Level| levels & 1 << level.severity() != 0;
        Level::ALL.iter().filter(|level| on(level)).map(|level| level.letter()).collect()
    }

    #[test]
    fn defaults_are_those_of_protolog() {
        use TracingMode::{Default, EnableAll};
        assert_eq!(recorded(&config(Default, None, &[]), NET), "F");
        assert_eq!(recorded(&config(EnableAll, None, &[]), NET), "VDIWEF");
        assert_eq!(recorded(&config(Default, Some(Level::Warn), &[]), NET), "WEF");
        assert_eq!(recorded(&config(EnableAll, Some(Level::Debug), &[]), NET), "DIWEF");
    }

    #[test]
    fn overrides_win_both_ways() {
        let config = config(
            TracingMode::Default,
            Some(Level::Info),
            &[("Net", Some(Level::Verbose)), ("Log::Disk", None)],
        );
        assert_eq!(recorded(&config, NET), "VDIWEF");
        assert_eq!(recorded(&config, DISK), "");
        assert_eq!(recorded(&config, "app::Log::Ui"), "IWEF");
        assert_eq!(recorded(&config, OTHER_NET), "IWEF", "`Net` meant the one that was known");
    }

    #[test]
    fn a_star_names_the_groups_without_another_override() {
        use TracingMode::EnableAll;
        let off = config(EnableAll, Some(Level::Info), &[("Net", Some(Level::Warn)), ("*", None)]);
        assert_eq!(recorded(&off, NET), "WEF");
        assert_eq!(recorded(&off, DISK), "", "not even WTF");
        let all = config(TracingMode::Default, None, &[("*", Some(Level::Debug)), ("Disk", None)]);
        assert_eq!(recorded(&all, NET), "DIWEF");
        assert_eq!(recorded(&all, DISK), "");
    }

    #[test]
    fn names_that_no_group_can_have_are_refused() {
        let known = [NET, DISK].map(String::from).into();
        for name in ["", " ", "**", "*Net", "Log::*"] {
            let named = config(TracingMode::Default, None, &[(name, Some(Level::Info))]);
            let stacks = Config { collect_stacktrace: vec![name.into()], ..Config::default() };
            for config in [named, stacks] {
                let refused = Filter::new(&config, &known);
                let is_it =
                    |error: &Error| matches!(error, Error::NoGroupName { name: it } if it == name);
                assert!(refused.as_ref().is_err_and(is_it), "{name}: {refused:?}");
            }
        }
    }

    #[test]
    fn a_full_name_wins_then_the_suffix_that_records_more() {
        let all = [
            ("Net", Some(Level::Verbose)),
            (NET, Some(Level::Error)),
            ("Disk", Some(Level::Warn)),
            ("Log::Disk", Some(Level::Info)),
        ];
        let config = config(TracingMode::Default, None, &all);
        assert_eq!(recorded(&config, NET), "EF");
        assert_eq!(recorded(&config, DISK), "IWEF");
    }

    #[test]
    fn of_one_name_the_last_override_wins() {
        let all = [("Net", Some(Level::Verbose)), ("Disk", None), ("Net", Some(Level::Warn))];
        let config = config(TracingMode::Default, None, &all);
        assert_eq!(recorded(&config, NET), "WEF");
        assert_eq!(recorded(&config, DISK), "");
    }

    #[test]
    fn names_of_no_group_are_found() {
        let all = [("Nett", Some(Level::Debug)), ("Dsik", None), ("app", Some(Level::Info))];
        let mut config = config(TracingMode::Default, None, &all);
        config.collect_stacktrace = vec!["Disk".into(), "Log".into()];
        let filter = Filter::new(&config, &BTreeSet::new()).unwrap();
        assert_eq!(filter.unknown(&[NET, DISK]), ["Nett", "Log"], "`Dsik` was to be off");
        assert_eq!(filter.unknown(&[]), ["Nett", "app", "Disk", "Log"]);
    }

    #[test]
    fn a_prefix_names_all_groups_under_it() {
        let all = [("app", Some(Level::Info)), ("app::Log", Some(Level::Debug)), ("Disk", None)];
        let config = config(TracingMode::Default, None, &all);
        assert_eq!(recorded(&config, NET), "DIWEF");
        assert_eq!(recorded(&config, DISK), "", "a suffix wins over a prefix");
        assert_eq!(recorded(&config, "app::Other::Net"), "IWEF");
        assert_eq!(recorded(&config, OTHER_NET), "F");
        assert_eq!(recorded(&config, "apple::Log"), "F", "prefixes are whole segments");
    }

    /// The Java runtime reads the same table.
    #[test]
    fn the_closest_name_counts() {
        let level = |name: &str| Level::ALL.into_iter().find(|level| level.name() == name);
        let table = include_str!("../../../protolog-core/testdata/filters.tsv");
        let mut rows = 0;
        for line in table.lines().skip(1) {
            let [names, group, expected] = line.split('\t').collect::<Vec<_>>()[..] else {
                panic!("{line}")
            };
            let named = names.split(' ').filter_map(|it| it.split_once('='));
            let all: Vec<_> = named.map(|(name, from)| (name, level(from))).collect();
            let config = config(TracingMode::Default, Some(Level::Info), &all);
            for known in [BTreeSet::new(), BTreeSet::from([group.to_owned()])] {
                let levels = Filter::new(&config, &known).unwrap().levels(group);
                assert_eq!(levels, levels_at_least(level(expected)), "{line}, known: {known:?}");
            }
            rows += 1;
        }
        assert!(rows > 20);
    }

    #[test]
    fn a_beginning_names_later_groups_beside_an_end_that_is_known() {
        let config = config(TracingMode::Default, None, &[("app", Some(Level::Debug))]);
        let known = [NET, "lib::app"].map(String::from).into();
        let filter = Filter::new(&config, &known).unwrap();
        for group in [NET, "lib::app", DISK] {
            assert_eq!(filter.levels(group), levels_at_least(Some(Level::Debug)), "{group}");
        }
    }

    #[test]
    fn a_beginning_is_no_ambiguous_end() {
        let config = config(TracingMode::Default, None, &[("net", Some(Level::Debug))]);
        let mut known: BTreeSet<String> = ["a::Log::Net", "b::Log::Net"].map(String::from).into();
        assert!(matches!(Filter::new(&config, &known), Err(Error::AmbiguousGroup { .. })));
        known.insert("net::Log::Tcp".to_owned());
        let filter = Filter::new(&config, &known).unwrap();
        for group in ["net::Log::Tcp", "net::Log::Udp", "b::Log::Net"] {
            assert_eq!(filter.levels(group), levels_at_least(Some(Level::Debug)), "{group}");
        }
    }

    /// Of the groups that a name is the end of, one may have it as its full name: in other letters,
    /// or in quotation marks.
    #[test]
    fn an_end_of_several_names_means_all_without_one_of_their_own() {
        let known = ["a::Net", "b::Net", "c::Net"].map(String::from).into();
        let level = |name: &str, level| GroupOverride { group: name.into(), log_from: Some(level) };
        let (all, own) = (level("Net", Level::Verbose), level("b::Net", Level::Error));
        for group_overrides in [vec![all.clone(), own.clone()], vec![own, all]] {
            let config = Config { group_overrides, ..Config::default() };
            assert!(matches!(Filter::new(&config, &known), Err(Error::AmbiguousGroup { .. })));
            let filter = Filter::of_many(config, &known).expect("a filter");
            let levels = ["a::Net", "b::Net", "c::Net", "d::Net", "d::Disk"];
            let levels = levels.map(|name| filter.levels(name));
            assert_eq!(levels, [0b11_1111, 0b11_0000, 0b11_1111, 0b11_1111, 0b10_0000]);
        }
    }

    #[test]
    fn a_full_name_is_no_ambiguous_end() {
        let known = ["net", "a::Log::Net", "b::Log::Net"].map(String::from).into();
        for name in ["net", "NET", "\"net\""] {
            let config = config(TracingMode::Default, None, &[(name, Some(Level::Debug))]);
            let filter = Filter::new(&config, &known).unwrap();
            let levels = ["net", "net::tcp", "b::Log::Net"].map(|group| filter.levels(group));
            let debug = levels_at_least(Some(Level::Debug));
            assert_eq!(levels, [debug, debug, levels_at_least(Some(Level::Wtf))], "{name}");
        }
    }

    #[test]
    fn names_match_groups_that_come_later() {
        let config = config(
            TracingMode::Default,
            None,
            &[("Gpu", Some(Level::Debug)), ("et", Some(Level::Debug))],
        );
        assert_eq!(recorded(&config, "lib::Log::Gpu"), "DIWEF");
        assert_eq!(recorded(&config, NET), "F", "suffixes are whole segments");
    }

    #[test]
    fn stacks_are_collected_for_each_named_group() {
        let filter = |names: &[&str]| {
            let mut config = config(TracingMode::Default, None, &[]);
            config.collect_stacktrace = names.iter().map(|&name| name.into()).collect();
            let filter = Filter::new(&config, &BTreeSet::new()).unwrap();
            let groups = [NET, DISK, OTHER_NET].map(|group| filter.collects_stack(group));
            (filter.collects_stacks(), groups)
        };
        assert_eq!(filter(&[]), (false, [false; 3]));
        assert_eq!(filter(&["app::Log::Net", "Disk"]), (true, [true, true, false]));
        assert_eq!(filter(&["lib", "et"]), (true, [false, false, true]));
    }

    #[test]
    fn ambiguous_names_are_refused() {
        let config = config(TracingMode::Default, None, &[("Net", Some(Level::Debug))]);
        let known = [NET, OTHER_NET].map(String::from).into();
        let error = Filter::new(&config, &known).unwrap_err();
        assert_eq!(error.to_string(), "group `Net` is ambiguous: `app::Log::Net`, `lib::Log::Net`");
    }
}
