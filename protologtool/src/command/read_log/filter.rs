//! The filter of entries. Options of different kinds must all match; of one that is repeated, one match is enough.

use crate::exit::Failure;
use protolog_reader::{Group, Item, Level, Log, Loss, Rendering, Thread, TimePoint, Times};
use regex::Regex;
use std::collections::BTreeSet;

/// Options that choose entries.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Which entries to show")]
pub(super) struct Filters {
    /// Of this level or a more severe one: verbose, debug, info, warn, error, wtf, or the first letter
    #[arg(long, value_name = "LEVEL")]
    level: Option<Level>,

    /// Of this group: the full name (`demo::AppLog::Net`) or its end (`Net`); may be repeated
    #[arg(long, value_name = "NAME")]
    group: Vec<String>,

    /// With this tag; may be repeated
    #[arg(long, value_name = "TAG")]
    tag: Vec<String>,

    /// With a message that matches this regular expression
    #[arg(long, value_name = "REGEX")]
    grep: Option<Regex>,

    /// At this time or later
    #[arg(long, value_name = "TIME")]
    since: Option<String>,

    /// Before this time
    #[arg(long, value_name = "TIME")]
    until: Option<String>,

    /// Of the thread with this id or name; may be repeated
    #[arg(long, value_name = "THREAD")]
    thread: Vec<String>,

    /// From a place in the source that contains this text (`net.rs:12`); may be repeated
    #[arg(long, value_name = "TEXT")]
    location: Vec<String>,
}

/// The options, with times that the log gives a meaning.
pub(super) struct Filter<'a> {
    options: &'a Filters,
    log: &'a Log,
    since: Option<TimePoint>,
    until: Option<TimePoint>,
}

impl Filters {
    /// The filter that the options mean for `log`.
    pub(super) fn resolve<'a>(
        &'a self,
        log: &'a Log,
        times: &Times,
    ) -> Result<Filter<'a>, Failure> {
        let instant = |text: &Option<String>| match text {
            Some(text) => instant(text, log, times).map(Some),
            None => Ok(None),
        };
        Ok(Filter {
            options: self,
            log,
            since: instant(&self.since)?,
            until: instant(&self.until)?,
        })
    }
}

fn instant(text: &str, log: &Log, times: &Times) -> Result<TimePoint, Failure> {
    let help = "give seconds since boot (12.5), or a date and time (2026-11-20 18:27:01)";
    let unknown_clock = || {
        let message =
            format!("`{text}` is a wall clock time, and the trace does not know the wall clock");
        Failure::new(message).help("give seconds since boot, such as 12.5")
    };
    let instant = times.parse(text, log).ok_or_else(|| {
        // Without a date, a time can't be read where no entry has one.
        if text.contains(':') && log.wall_time(0).is_none() {
            return unknown_clock();
        }
        Failure::new(format!("not a time: `{text}`")).help(help)
    })?;
    if matches!(instant, TimePoint::Wall(_)) && log.wall_time(0).is_none() {
        return Err(unknown_clock());
    }
    Ok(instant)
}

/// The most names that are offered in place of one that is not there.
const OFFERED: usize = 8;

impl Filter<'_> {
    /// The values that match nothing in the trace, so that a misspelled one is not taken for silence.
    pub(super) fn problems(&self) -> Vec<String> {
        let groups = || self.log.dictionary().groups();
        let offer = |names: BTreeSet<&str>| match names.len() {
            0 => String::new(),
            1..=OFFERED => {
                let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
                format!("help: use one of {}\n", names.join(", "))
            }
            many => format!(
                "help: use one of the {many} of the trace, such as `{}`\n",
                names.first().unwrap_or(&"")
            ),
        };
        let unknown = |wanted: &[String], what: &str, is_known: &dyn Fn(&str) -> bool, names| {
            let unknown = wanted.iter().filter(|wanted| !is_known(wanted));
            let warning = |wanted| format!("warning: the trace has no {what} `{wanted}`\n");
            let warnings: String = unknown.map(warning).collect();
            if warnings.is_empty() { warnings } else { warnings + &offer(names) }
        };
        let is_group = |wanted: &str| groups().any(|group| is_named(&group.name, wanted));
        let is_tag = |wanted: &str| groups().any(|group| group.tag == wanted);
        let names = groups().map(|group| group.name.as_str()).collect();
        let tags = groups().map(|group| group.tag.as_str()).collect();
        let Filters { group, tag, .. } = self.options;
        vec![unknown(group, "group", &is_group, names), unknown(tag, "tag", &is_tag, tags)]
    }

    /// Returns whether to show the item.
    pub(super) fn admits(&self, item: &Item<'_>) -> bool {
        match item {
            Item::Loss(loss) => self.admits_loss(loss),
            Item::Entry(entry) => {
                if !self.admits_time(entry.time()) || !self.admits_thread(entry.thread()) {
                    return false;
                }
                let options = self.options;
                let values = entry.values();
                let group = values.group(self.log);
                options.level.is_none_or(|least| values.level().is_some_and(|level| level >= least))
                    && self.admits_group(group)
                    && admits(&options.location, |text| {
                        values.message().is_some_and(|message| message.location.contains(text))
                    })
                    && options
                        .grep
                        .as_ref()
                        .is_none_or(|grep| grep.is_match(&values.text(Rendering::Full)))
            }
        }
    }

    /// A loss is shown unless it is known not to be asked for.
    fn admits_loss(&self, loss: &Loss) -> bool {
        let thread = self.log.thread_of(loss);
        let known_thread = thread.tid.is_some() || thread.name.is_some();
        let group = loss.group.and_then(|id| self.log.dictionary().group(id));
        self.admits_time(loss.time)
            && (!known_thread || self.admits_thread(thread))
            && (group.is_none() || self.admits_group(group))
    }

    fn admits_time(&self, time: i64) -> bool {
        let reached = |instant: &TimePoint| match instant {
            TimePoint::Trace(ns) => time >= *ns,
            TimePoint::Wall(ns) => self.log.wall_time(time).is_some_and(|wall| wall >= *ns),
        };
        self.since.as_ref().is_none_or(reached) && !self.until.as_ref().is_some_and(reached)
    }

    fn admits_thread(&self, thread: &Thread) -> bool {
        admits(&self.options.thread, |wanted| {
            thread.name.as_deref() == Some(wanted)
                || thread.tid.is_some_and(|tid| wanted.parse() == Ok(tid))
        })
    }

    fn admits_group(&self, group: Option<&Group>) -> bool {
        admits(&self.options.group, |wanted| {
            group.is_some_and(|group| is_named(&group.name, wanted))
        }) && admits(&self.options.tag, |wanted| group.is_some_and(|group| group.tag == wanted))
    }
}

/// Returns whether one of the wanted is met, or none was asked for.
fn admits(wanted: &[String], meets: impl Fn(&str) -> bool) -> bool {
    wanted.is_empty() || wanted.iter().any(|wanted| meets(wanted))
}

/// Returns whether `wanted` is the name, or its last parts.
fn is_named(name: &str, wanted: &str) -> bool {
    let head = name.strip_suffix(wanted);
    head.is_some_and(|head| head.is_empty() || head.ends_with("::") || head.ends_with('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_named_by_their_end() {
        let named = |wanted| is_named("demo::AppLog::Net", wanted);
        assert!(named("demo::AppLog::Net") && named("AppLog::Net") && named("Net"));
        assert!(!named("et") && !named("AppLog") && !named("x::demo::AppLog::Net"));
        assert!(is_named("com.foo.AppLog.NET", "NET") && is_named("NET", "NET"));
    }
}
