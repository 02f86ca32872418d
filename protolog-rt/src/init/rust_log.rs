//! The variable `RUST_LOG`: levels of targets, in the part of its grammar that `env_logger` and the
//! `EnvFilter` of `tracing-subscriber` have in common.
//!
//! ```text
//! warn                        all targets, from WARN on
//! my_crate=debug              targets that begin with `my_crate`, from DEBUG on; others are off
//! info,my_crate::net=trace    the longest target counts
//! my_crate,other=off          all levels; none
//! ```
//!
//! Levels are written in any case, and a target twice has the later one. The name of a group has
//! its crate, but no module below that, so a target `my_crate::net` takes none of an enum; the last
//! part of a group's name does, too. Neither crate takes all
//! that the other does: `[span{field=value}]` is `EnvFilter`'s alone, `/pattern` `env_logger`'s.
//!
//! Invariant: no text is an error; what is left out is reported, once in a process.

use super::{VARIABLE, warn};
use crate::level::{self, GroupPattern, PatternSetting, SettingSource};
use crate::session::packets::dictionary::all_groups;
use crate::sys::environment::variable;
use protolog_core::Level;
use protolog_core::control::levels_at_least;
use protolog_core::control::setting::Setting;
use protolog_core::escape::{Escaped, Form};
use std::collections::BTreeSet;
use std::fmt::Display;
use std::sync::atomic::{AtomicBool, Ordering};

/// The environment variable.
const RUST_LOG: &str = "RUST_LOG";

/// Names of levels, and the least severe one that each enables.
const LEVELS: [(&str, Option<Level>); 6] = [
    ("off", None),
    ("error", Some(Level::Error)),
    ("warn", Some(Level::Warn)),
    ("info", Some(Level::Info)),
    ("debug", Some(Level::Debug)),
    ("trace", Some(Level::Verbose)),
];

/// The levels of the variable.
#[derive(Debug, Default)]
struct Directives {
    /// Targets with their levels (bit = severity), shorter ones first. The empty one is for all
    /// targets.
    levels: Vec<(Box<str>, u8)>,
    /// The directives that are left out, each with a help line.
    problems: Vec<String>,
}

/// Applies the variable if it is set, and reports what is left out of it.
pub(super) fn apply() {
    static IS_REPORTED: AtomicBool = AtomicBool::new(false);
    let Some(text) = variable(RUST_LOG) else { return };
    let mut directives = Directives::read(&text.to_string_lossy());
    if !level::has_observers() {
        directives.report_modules(&all_groups().unwrap_or_default());
    }
    if !directives.problems.is_empty() && !IS_REPORTED.swap(true, Ordering::Relaxed) {
        warn(&directives.problems);
    }
    level::apply_rust_log(directives.settings());
}

impl Directives {
    fn read(text: &str) -> Self {
        let mut directives = Self::default();
        let (levels, pattern) = match find_outside(text, '/') {
            Some(at) => (&text[..at], &text[at..]),
            None => (text, ""),
        };
        if !pattern.is_empty() {
            let help = format!("search with `protologtool read-log --grep`, or use {VARIABLE}");
            directives.leave_out("a pattern of texts", pattern, &help);
        }
        let mut rest = levels;
        while !rest.is_empty() {
            let end = find_outside(rest, ',').unwrap_or(rest.len());
            directives.add(rest[..end].trim());
            rest = rest.get(end + 1..).unwrap_or_default();
        }
        // Stable, and no target is there twice.
        directives.levels.sort_by_key(|(target, _)| target.len());
        directives
    }

    /// Adds one part between commas, or reports it.
    fn add(&mut self, part: &str) {
        if part.is_empty() {
            return;
        }
        if part.contains(['[', ']', '{', '}']) {
            let help = format!("filter by `protologtool read-log --span`, or use {VARIABLE}");
            return self.leave_out("a filter of spans or fields", part, &help);
        }
        let (target, levels) = match part.split_once('=') {
            None => match level(part) {
                Some(levels) => ("", levels),
                None => (part, levels_at_least(Some(Level::Verbose))),
            },
            Some((target, word)) => match level(word.trim()) {
                Some(levels) => (target.trim(), levels),
                None if word.trim().is_empty() => {
                    (target.trim(), levels_at_least(Some(Level::Verbose)))
                }
                None => {
                    let help = "use off, error, warn, info, debug or trace";
                    return self.leave_out("an unknown level", part, &help);
                }
            },
        };
        let is_target = |text: &str| {
            let first = text.chars().next();
            first.is_some_and(|first| first.is_alphanumeric() || matches!(first, '_' | ':' | '-'))
                && !text.chars().all(|char| char.is_ascii_digit())
        };
        if (!target.is_empty() || part.contains('=')) && !is_target(target) {
            let help = "write TARGET=LEVEL, as in `my_crate=debug`, or a level, as in `info`";
            return self.leave_out("an invalid target", part, &help);
        }
        match self.levels.iter_mut().find(|(known, _)| **known == *target) {
            Some((_, known)) => *known = levels,
            None => self.levels.push((target.into(), levels)),
        }
    }

    /// Reports targets that are modules of a crate whose groups, of all names in `known`, none of
    /// them takes. Without a bridge, there is nothing else that they could mean.
    fn report_modules(&mut self, known: &BTreeSet<String>) {
        let takes_none = |target: &str| {
            let of_target = |group: &&String| {
                GroupPattern::Target(target.into()).matches(group, true)
                    || GroupPattern::LastSegments(target.into()).matches(group, true)
            };
            let own = target.split_once("::").map(|(own, _)| format!("{own}::"));
            own.is_some_and(|own| known.iter().any(|group| group.starts_with(&own)))
                && !known.iter().any(|group| of_target(&group))
        };
        for (target, _) in self.levels.iter().filter(|(target, _)| takes_none(target)) {
            let target = Escaped(Form::Json, target);
            self.problems.push(format!(
                "{RUST_LOG}: no group is taken by `{target}`\n\
                 help: name a crate or a group, or the module's calls in {VARIABLE}: `site module {target}=on`"
            ));
        }
    }

    fn leave_out(&mut self, what: &str, part: &str, help: &dyn Display) {
        let part = Escaped(Form::Json, part);
        self.problems.push(format!("{RUST_LOG}: {what} is left out: `{part}`\nhelp: {help}"));
    }

    /// Returns the settings that give each group its levels, later ones winning. All groups that no
    /// target takes are off.
    fn settings(self) -> Vec<PatternSetting> {
        let Some((first, _)) = self.levels.first() else { return Vec::new() };
        let others = (!first.is_empty()).then(|| (Box::from(""), 0));
        let ends = self.levels.iter().filter(|(target, _)| !target.is_empty()).cloned();
        let ends: Vec<_> = ends.map(|(end, it)| (GroupPattern::LastSegments(end), it)).collect();
        let targets = others.into_iter().chain(self.levels);
        let targets = targets.map(|(target, levels)| (GroupPattern::Target(target), levels));
        let setting = |(pattern, levels)| PatternSetting {
            pattern,
            setting: Setting { trace: Some(levels), text: Some(levels) },
            source: SettingSource::Other,
        };
        targets.chain(ends).map(setting).collect()
    }
}

/// Returns where `wanted` is first, outside brackets.
fn find_outside(text: &str, wanted: char) -> Option<usize> {
    let mut depth = 0_usize;
    text.char_indices().find_map(|(at, char)| {
        match char {
            '[' | '{' => depth += 1,
            ']' | '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        (char == wanted && depth == 0).then_some(at)
    })
}

/// Returns the levels (bit = severity) that the name of a level enables.
fn level(word: &str) -> Option<u8> {
    let named = LEVELS.iter().find(|(name, _)| word.eq_ignore_ascii_case(name));
    named.map(|(_, least)| levels_at_least(*least))
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use tracing_subscriber::EnvFilter;
    use tracing_subscriber::prelude::*;

    /// Names of groups as the bridges make them of targets.
    const TARGETS: [&str; 7] =
        ["app", "app::net", "app::net::tcp", "app::network", "application", "other", "APP"];

    /// Returns the levels of a target.
    fn levels_of(settings: &[PatternSetting], target: &str) -> u8 {
        let all = levels_at_least(Some(Level::Verbose));
        settings.iter().fold(all, |levels, setting| {
            let matches = setting.pattern.matches(target, false);
            setting.setting.trace.filter(|_| matches).unwrap_or(levels)
        })
    }

    /// Returns the levels that `EnvFilter` passes of each of [`TARGETS`].
    fn levels_of_env_filter(text: &str) -> [u8; 7] {
        macro_rules! levels {
            ($($target:literal),*) => { [$( {
                let passed = [
                    (Level::Error, tracing::enabled!(target: $target, tracing::Level::ERROR)),
                    (Level::Wtf, tracing::enabled!(target: $target, tracing::Level::ERROR)),
                    (Level::Warn, tracing::enabled!(target: $target, tracing::Level::WARN)),
                    (Level::Info, tracing::enabled!(target: $target, tracing::Level::INFO)),
                    (Level::Debug, tracing::enabled!(target: $target, tracing::Level::DEBUG)),
                    (Level::Verbose, tracing::enabled!(target: $target, tracing::Level::TRACE)),
                ];
                let bit = |(level, is_on): (Level, bool)| u8::from(is_on) << level.severity();
                passed.into_iter().map(bit).sum()
            } ),*] };
        }
        let filter = EnvFilter::builder().parse(text).expect("a filter");
        let subscriber = tracing_subscriber::registry().with(filter);
        tracing::subscriber::with_default(subscriber, || {
            levels![
                "app",
                "app::net",
                "app::net::tcp",
                "app::network",
                "application",
                "other",
                "APP"
            ]
        })
    }

    #[test]
    fn targets_have_the_levels_that_env_filter_gives_them() {
        for text in [
            "warn",
            "off",
            "ERROR",
            "Trace",
            "app",
            "app=",
            "app=debug",
            "app::net=trace,info",
            "app::net=trace,app=off,warn",
            "app=info,app::net=off,app::net::tcp=debug",
            "info,app=warn,app=debug",
            "info,warn",
            ",,app=error,,",
            "app::net::tcp,other=InFo",
            "app::n=debug,off",
            "_x=info,APP=warn",
        ] {
            let directives = Directives::read(text);
            assert!(directives.problems.is_empty(), "{text}: {:?}", directives.problems);
            let settings = directives.settings();
            let levels = TARGETS.map(|target| levels_of(&settings, target));
            assert_eq!(levels, levels_of_env_filter(text), "{text}");
        }
    }

    /// As `env_logger` does; `EnvFilter` looks for targets with the blanks.
    #[test]
    fn blanks_around_parts_are_left_out() {
        let [blank, plain] = [" info , app = debug ", "info,app=debug"].map(Directives::read);
        assert!(blank.problems.is_empty(), "{:?}", blank.problems);
        assert_eq!(blank.settings(), plain.settings());
    }

    #[test]
    fn parts_that_only_one_of_the_crates_takes_are_left_out() {
        let rest = |text: &str, left_out: &[&str]| {
            let directives = Directives::read(text);
            let problems: Vec<_> = directives.problems.iter().map(String::as_str).collect();
            let named = |(problem, part): (&&str, &&str)| {
                problem.contains(&format!("left out: `{part}`\nhelp: "))
            };
            assert_eq!(problems.len(), left_out.len(), "{text}: {problems:?}");
            assert!(problems.iter().zip(left_out).all(named), "{text}: {problems:?}");
            let levels = directives.levels.iter().map(|(target, _)| &**target);
            levels.collect::<Vec<_>>().join(",")
        };
        assert_eq!(
            rest("app=info,[span{a=1,b=\"/\"}]=debug", &["[span{a=1,b=\\\"/\\\"}]=debug"]),
            "app"
        );
        assert_eq!(rest("app[span]=info,other", &["app[span]=info"]), "other");
        assert_eq!(rest("app=info/refused,b", &["/refused,b"]), "app");
        assert_eq!(rest("app=info=warn,b=loud,c", &["app=info=warn", "b=loud"]), "c");
        assert_eq!(rest("3,=info,app=2", &["3", "=info", "app=2"]), "");
        assert_eq!(rest("]},{,*=info,\u{1b}[31m", &["]}", "{,*=info,\\u001b[31m"]), "");
        assert_eq!(rest(" , ,", &[]), "");
        assert!(Directives::read("app=loud").settings().is_empty(), "nothing is switched off");
    }

    #[test]
    fn modules_that_name_no_group_are_reported() {
        let known = ["app::AppLog::Net", "lib::Log::Disk"].map(str::to_owned).into();
        let mut directives =
            Directives::read("app::net=info,app::App=warn,lib,AppLog::Net,hyper::h1");
        directives.report_modules(&known);
        let expected = "RUST_LOG: no group is taken by `app::net`\nhelp: name a crate or a group, \
                        or the module's calls in PROTOLOG: `site module app::net=on`";
        assert_eq!(directives.problems, [expected]);
    }

    #[test]
    fn the_last_part_of_a_groups_name_counts_most() {
        let settings = Directives::read("Net=debug,app::log=warn").settings();
        let levels = |name: &str| {
            let taken = settings.iter().filter(|it| it.pattern.matches(name, true));
            taken.filter_map(|it| it.setting.trace).next_back()
        };
        assert_eq!(levels("app::log::AppLog::Net"), Some(levels_at_least(Some(Level::Debug))));
        assert_eq!(levels("app::log::AppLog::Disk"), Some(levels_at_least(Some(Level::Warn))));
        assert_eq!(levels("lib::Log::Disk"), Some(0));
    }
}
