//! Which levels of which groups a session wants. The meaning is that of Perfetto's `ProtoLogConfig`.
//!
//! | configured | wanted |
//! |---|---|
//! | nothing | WTF |
//! | everything ([`TracingMode::EnableAll`]) | VERBOSE and up |
//! | a default level | that level and up, whatever the mode |
//! | a group override | for that group its own level and up, higher or lower than the default; or nothing at all |
//!
//! An override names a group by its full name (`app::AppLog::Net`), or by an end of it (`AppLog::Net`, `Net`) that only
//! one group has; or it names all groups below a beginning (`app`, `app::AppLog`), or with `*` all there are. Tags name no
//! groups: several groups may share one. Of several overrides of one group a full name wins, then an end, then the longest
//! beginning; of several ends the one that wants more. `*` with nothing at all is the one way to want less than WTF by default.
//!
//! Invariant: levels are compared by severity, never by their numbers in traces.

use crate::error::Error;
use protolog_core::Level;
use std::collections::BTreeSet;

/// What a session wants by default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TracingMode {
    /// What can't happen: WTF.
    #[default]
    Default,
    /// All levels.
    EnableAll,
}

/// The level from which a session wants one group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupOverride {
    /// The group's full name, or an end of it that only one group has; `*` for all groups without another override.
    pub group: String,
    /// The least severe level that is wanted; none for no level at all.
    pub log_from: Option<Level>,
}

/// Which levels of which groups a session wants.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Config {
    /// What is wanted where nothing else is said.
    pub tracing_mode: TracingMode,
    /// The least severe level that is wanted of groups without an override; wins over the mode.
    pub default_log_from: Option<Level>,
    /// Exceptions.
    pub group_overrides: Vec<GroupOverride>,
    /// Groups whose messages come with the stack trace of the thread that logs them, named as in overrides.
    pub collect_stacktrace: Vec<String>,
}

/// A configuration whose names are checked against the groups known at the start.
#[derive(Clone, Debug, Default)]
pub(crate) struct Filter {
    default: u8,
    /// Full name or, where no group was known by it, an end of one; levels as a set of bits.
    overrides: Vec<(String, bool, u8)>,
    stacks: Vec<String>,
}

impl Filter {
    /// Checks the names of `config` against the full names of groups that are `known`. An override that names none stays,
    /// since its group may come with a library.
    pub(super) fn new(config: &Config, known: &BTreeSet<String>) -> Result<Self, Error> {
        let mode = match config.tracing_mode {
            TracingMode::Default => Level::Wtf,
            TracingMode::EnableAll => Level::Verbose,
        };
        let mut default = levels_from(config.default_log_from.unwrap_or(mode));
        let mut overrides = Vec::new();
        for GroupOverride { group, log_from } in &config.group_overrides {
            let levels = log_from.map_or(0, levels_from);
            if group == "*" {
                default = levels;
                continue;
            }
            if known.contains(group) {
                overrides.push((group.clone(), true, levels));
                continue;
            }
            let mut candidates: Vec<_> =
                known.iter().filter(|full| ends_with(full, group)).collect();
            match candidates.len() {
                0 => overrides.push((group.clone(), false, levels)),
                1 => overrides.extend(candidates.pop().map(|full| (full.clone(), false, levels))),
                _ => {
                    let candidates = candidates.into_iter().cloned().collect();
                    return Err(Error::AmbiguousGroup { name: group.clone(), candidates });
                }
            }
        }
        Ok(Self { default, overrides, stacks: config.collect_stacktrace.clone() })
    }

    /// Whether messages of the group with this full name come with stack traces.
    pub(super) fn collects_stack(&self, full_name: &str) -> bool {
        let names = |name: &String| ends_with(full_name, name) || is_below(full_name, name);
        self.stacks.iter().any(names)
    }

    /// Whether messages of any group do.
    pub(super) fn collects_stacks(&self) -> bool {
        !self.stacks.is_empty()
    }

    /// The levels (bit = [`Level::severity`]) that are wanted of the group with this full name.
    pub(super) fn levels(&self, full_name: &str) -> u8 {
        let of_kind = |in_full: bool| {
            let matching = self.overrides.iter().filter(move |(name, full, _)| {
                *full == in_full && (name == full_name || !full && ends_with(full_name, name))
            });
            // The sets are nested, so the union is the largest.
            matching.map(|(.., levels)| *levels).reduce(|all, levels| all | levels)
        };
        let below = || {
            let above = self.overrides.iter().filter(|(name, ..)| is_below(full_name, name));
            above.max_by_key(|(name, ..)| name.len()).map(|(.., levels)| *levels)
        };
        of_kind(true).or_else(|| of_kind(false)).or_else(below).unwrap_or(self.default)
    }

    /// The levels that are wanted of any group.
    #[cfg(feature = "log")]
    pub(super) fn levels_of_any_group(&self) -> u8 {
        self.overrides.iter().fold(self.default, |all, (.., levels)| all | levels)
    }
}

/// Whether `beginning` is the first segments of `full_name`.
fn is_below(full_name: &str, beginning: &str) -> bool {
    full_name.strip_prefix(beginning).is_some_and(|rest| rest.starts_with("::"))
}

/// Whether `end` is the last segments of `full_name`.
fn ends_with(full_name: &str, end: &str) -> bool {
    full_name.strip_suffix(end).is_some_and(|rest| rest.is_empty() || rest.ends_with("::"))
}

fn levels_from(level: Level) -> u8 {
    Level::ALL
        .into_iter()
        .filter(|other| *other >= level)
        .fold(0, |set, level| set | 1 << level.severity())
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

    /// The letters of the levels that are wanted of `group`, least severe first.
    fn wanted(config: &Config, group: &str) -> String {
        let known = [NET, DISK].map(String::from).into();
        let levels = Filter::new(config, &known).unwrap().levels(group);
        let on = |level: &Level| levels & 1 << level.severity() != 0;
        Level::ALL.iter().filter(|level| on(level)).map(|level| level.letter()).collect()
    }

    #[test]
    fn defaults_are_those_of_protolog() {
        use TracingMode::{Default, EnableAll};
        assert_eq!(wanted(&config(Default, None, &[]), NET), "F");
        assert_eq!(wanted(&config(EnableAll, None, &[]), NET), "VDIWEF");
        assert_eq!(wanted(&config(Default, Some(Level::Warn), &[]), NET), "WEF");
        assert_eq!(wanted(&config(EnableAll, Some(Level::Debug), &[]), NET), "DIWEF");
    }

    #[test]
    fn overrides_win_both_ways() {
        let config = config(
            TracingMode::Default,
            Some(Level::Info),
            &[("Net", Some(Level::Verbose)), ("Log::Disk", None)],
        );
        assert_eq!(wanted(&config, NET), "VDIWEF");
        assert_eq!(wanted(&config, DISK), "");
        assert_eq!(wanted(&config, "app::Log::Ui"), "IWEF");
        assert_eq!(wanted(&config, OTHER_NET), "IWEF", "`Net` meant the one that was known");
    }

    #[test]
    fn a_star_names_the_groups_that_nothing_else_names() {
        use TracingMode::EnableAll;
        let off = config(EnableAll, Some(Level::Info), &[("Net", Some(Level::Warn)), ("*", None)]);
        assert_eq!(wanted(&off, NET), "WEF");
        assert_eq!(wanted(&off, DISK), "", "not even WTF");
        let all = config(TracingMode::Default, None, &[("*", Some(Level::Debug)), ("Disk", None)]);
        assert_eq!(wanted(&all, NET), "DIWEF");
        assert_eq!(wanted(&all, DISK), "");
    }

    #[test]
    fn of_several_overrides_the_full_name_wins_then_the_one_that_wants_more() {
        let all = [
            ("Net", Some(Level::Verbose)),
            (NET, Some(Level::Error)),
            ("Disk", Some(Level::Warn)),
            ("Log::Disk", Some(Level::Info)),
        ];
        let config = config(TracingMode::Default, None, &all);
        assert_eq!(wanted(&config, NET), "EF");
        assert_eq!(wanted(&config, DISK), "IWEF");
    }

    #[test]
    fn a_beginning_names_all_groups_below() {
        let all = [("app", Some(Level::Info)), ("app::Log", Some(Level::Debug)), ("Disk", None)];
        let config = config(TracingMode::Default, None, &all);
        assert_eq!(wanted(&config, NET), "DIWEF");
        assert_eq!(wanted(&config, DISK), "", "an end says more than a beginning");
        assert_eq!(wanted(&config, "app::Other::Net"), "IWEF");
        assert_eq!(wanted(&config, OTHER_NET), "F");
        assert_eq!(wanted(&config, "apple::Log"), "F", "beginnings are whole segments");
    }

    #[test]
    fn names_of_groups_to_come_match_when_they_come() {
        let config = config(
            TracingMode::Default,
            None,
            &[("Gpu", Some(Level::Debug)), ("et", Some(Level::Debug))],
        );
        assert_eq!(wanted(&config, "lib::Log::Gpu"), "DIWEF");
        assert_eq!(wanted(&config, NET), "F", "ends are whole segments");
    }

    #[test]
    fn stacks_are_wanted_of_each_group_that_is_named() {
        let wanted = |names: &[&str]| {
            let mut config = config(TracingMode::Default, None, &[]);
            config.collect_stacktrace = names.iter().map(|&name| name.into()).collect();
            let wanted = Filter::new(&config, &BTreeSet::new()).unwrap();
            let groups = [NET, DISK, OTHER_NET].map(|group| wanted.collects_stack(group));
            (wanted.collects_stacks(), groups)
        };
        assert_eq!(wanted(&[]), (false, [false; 3]));
        assert_eq!(wanted(&["app::Log::Net", "Disk"]), (true, [true, true, false]));
        assert_eq!(wanted(&["lib", "et"]), (true, [false, false, true]));
    }

    #[test]
    fn ambiguous_names_are_refused() {
        let config = config(TracingMode::Default, None, &[("Net", Some(Level::Debug))]);
        let known = [NET, OTHER_NET].map(String::from).into();
        let error = Filter::new(&config, &known).unwrap_err();
        assert_eq!(error.to_string(), "group `Net` is ambiguous: `app::Log::Net`, `lib::Log::Net`");
    }
}
