//! The filter of entries. Options of different kinds must all match; of one that is repeated, one
//! match is enough.

use crate::args::level::level;
use crate::exit::Failure;
use protolog_core::control::matches_group;
use protolog_core::control::selector::Selector;
use protolog_reader::{
    Group, Item, Level, Log, Loss, Message, Rendering, SpanSlice, Thread, TimePoint, Times,
};
use regex::{Regex, RegexBuilder};

pub(crate) mod argument;
mod in_span;
mod problems;
mod selected;

pub(crate) use problems::unknown;

use argument::argument;
use in_span::span;
use selected::selector;

/// Options that choose entries.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Which entries to show")]
pub(crate) struct Filters {
    /// Of this level or a more severe one; the first letter will do, and so does WARNING, err or
    /// fatal
    #[arg(long, value_name = "LEVEL", value_parser = level(), ignore_case = true)]
    level: Option<Level>,

    /// Of this group: the full name (`demo::AppLog::Net`) or its end (`Net`), in any case, also in
    /// quotation marks; may be repeated
    #[arg(long, value_name = "NAME")]
    group: Vec<String>,

    /// With this tag, in any case; `*` stands for any characters, `?` for one; may be repeated
    #[arg(long, value_name = "TAG")]
    tag: Vec<String>,

    /// With a message that matches this regular expression; `^` and `$` are at the ends of each of
    /// its lines
    #[arg(long, value_name = "REGEX", value_parser = pattern)]
    grep: Option<Regex>,

    /// With a message that `--grep` does not match
    #[arg(long, requires = "grep")]
    invert: bool,

    /// At this time or later; `10m` is ten minutes ago
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    since: Option<String>,

    /// Before this time
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    until: Option<String>,

    /// Of the process with this id; may be repeated
    #[arg(long, value_name = "PID")]
    pid: Vec<u32>,

    /// Of the thread with this id or name; may be repeated
    #[arg(long, value_name = "THREAD")]
    thread: Vec<String>,

    /// From a place in the source that contains this text (`net.rs:12`); may be repeated
    #[arg(long, value_name = "TEXT")]
    location: Vec<String>,

    /// From a call that this selector takes (`net and debug`, `net.rs:120-180`, `"retry %d"`,
    /// `#58f2c41b9a07d36e`, `net and arg1 == 42`); may be repeated
    #[arg(long = "where", value_name = "SELECTOR", value_parser = selector)]
    selectors: Vec<String>,

    /// With this value of an argument, by its name or its number from 0 on (`bytes=42`, `0=42`);
    /// may be repeated
    #[arg(long, value_name = "NAME=VALUE", value_parser = argument)]
    arg: Vec<String>,

    /// Logged in a span of this name, also with this value of a field (`request.id=7`); may be
    /// repeated
    #[arg(long, value_name = "SPAN[.FIELD=VALUE]", value_parser = span)]
    span: Vec<String>,

    /// Of the request with this id; may be repeated
    #[arg(long, value_name = "ID")]
    request: Vec<String>,
}

/// The times of a filter.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TimeLimits {
    since: Option<TimePoint>,
    until: Option<TimePoint>,
}

/// The options, with times that the log gives a meaning.
pub(crate) struct Filter<'a> {
    options: &'a Filters,
    log: &'a Log,
    since: Option<TimePoint>,
    until: Option<TimePoint>,
    admits_all: bool,
    /// Those of the options, parsed.
    selectors: Vec<Selector<'a>>,
}

impl Filters {
    /// The filter that the options mean for `log`; `now` is in nanoseconds since 1970.
    pub(crate) fn resolve<'a>(
        &'a self,
        log: &'a Log,
        times: &Times,
        now: i64,
    ) -> Result<Filter<'a>, Failure> {
        let instant = |text: &Option<String>| match text {
            Some(text) => instant(text, log, times, now).map(Some),
            None => Ok(None),
        };
        Ok(Filter {
            options: self,
            log,
            since: instant(&self.since)?,
            until: instant(&self.until)?,
            admits_all: self.admit_all(),
            selectors: self.selectors(),
        })
    }

    /// Returns whether all entries are shown.
    pub(crate) fn admit_all(&self) -> bool {
        let Self { level, group, tag, grep, invert: _, since, until, pid, .. } = self;
        let Self { arg, thread, location, selectors, span, request, .. } = self;
        let lists = [group, tag, thread, location, selectors, arg, span, request];
        let has_times = since.is_some() || until.is_some();
        let has_texts = level.is_some() || grep.is_some();
        !has_times && !has_texts && pid.is_empty() && lists.iter().all(|list| list.is_empty())
    }

    /// Returns whether entries of a thread are shown.
    pub(crate) fn admit_thread(&self, thread: &Thread) -> bool {
        let is_of_process = thread.pid.is_some_and(|pid| self.pid.contains(&pid));
        (self.pid.is_empty() || is_of_process)
            && admits(&self.thread, |wanted| is_thread(thread, wanted))
    }

    /// The line about entries that were left out since nobody knows their level, group and place;
    /// empty where there are none.
    pub(crate) fn hint_of_unjudged(&self, log: &Log) -> &'static str {
        if self.ask_for_messages() && log.stats().unknown_messages > 0 {
            "help: leave out `--level`, `--group`, `--tag`, `--location` and `--where` to see what is in no dictionary: they can't judge it\n"
        } else {
            ""
        }
    }

    /// Returns whether the dictionary decides which entries are shown.
    fn ask_for_messages(&self) -> bool {
        self.level.is_some()
            || [&self.group, &self.tag, &self.location, &self.selectors]
                .iter()
                .any(|wanted| !wanted.is_empty())
    }
}

impl Filters {
    /// The times that the options mean for a log of which more may come; none if it has no entry
    /// with a date yet.
    pub(crate) fn bounds(&self, log: &Log, times: &Times, now: i64) -> Option<TimeLimits> {
        let point = |text: &Option<String>| match text {
            Some(text) => times.parse(text, log, now).map(Some),
            None => Some(None),
        };
        Some(TimeLimits { since: point(&self.since)?, until: point(&self.until)? })
    }

    /// An error for a text that is no time in any log.
    pub(crate) fn check_times(&self, times: &Times, now: i64) -> Result<(), Failure> {
        let mut texts = [&self.since, &self.until].into_iter().flatten();
        match texts.find(|text| !times.is_time(text, now)) {
            Some(text) => Err(no_time(text)),
            None => Ok(()),
        }
    }
}

fn no_time(text: &str) -> Failure {
    Failure::new(format!("not a time: `{text}`")).help(
        "give seconds since boot (12.5), a date and time (2026-11-20 18:27:01), or a time before now (10m, 2h30m)",
    )
}

/// The time that `text` means, with `now` as nanoseconds since 1970.
fn instant(text: &str, log: &Log, times: &Times, now: i64) -> Result<TimePoint, Failure> {
    let unknown_clock = |what: &str| {
        let message = format!("`{text}` is {what}, and the trace does not know the wall clock");
        Failure::new(message).help("give seconds since boot, such as 12.5")
    };
    let instant = times.parse(text, log, now).ok_or_else(|| {
        // Without a date, a time can't be read where no entry has one.
        if text.contains(':') && log.wall_time(0).is_none() {
            return unknown_clock("a wall clock time");
        }
        no_time(text)
    })?;
    if matches!(instant, TimePoint::Wall(_)) && log.wall_time(0).is_none() {
        let is_date = text.contains([':', '-']) && !text.starts_with('-');
        return Err(unknown_clock(if is_date { "a wall clock time" } else { "relative to now" }));
    }
    Ok(instant)
}

impl Filter<'_> {
    /// The filter of `options` for a page of a log, with times that were read before.
    pub(crate) fn on<'b>(options: &'b Filters, limits: TimeLimits, log: &'b Log) -> Filter<'b> {
        let admits_all = options.admit_all();
        let selectors = options.selectors();
        Filter { options, log, since: limits.since, until: limits.until, admits_all, selectors }
    }

    /// The regular expression whose matches are worth marking.
    pub(crate) fn marked(&self) -> Option<&Regex> {
        self.options.grep.as_ref().filter(|_| !self.options.invert)
    }

    /// The first time that is shown, and the first after it that isn't.
    pub(crate) fn limits(&self) -> TimeLimits {
        TimeLimits { since: self.since, until: self.until }
    }
}

impl TimeLimits {
    /// Returns whether a log has times that can be compared with these.
    pub(crate) fn apply_to(&self, log: &Log) -> bool {
        let is_wall = |point: &Option<TimePoint>| matches!(point, Some(TimePoint::Wall(_)));
        !is_wall(&self.since) && !is_wall(&self.until) || log.wall_time(0).is_some()
    }

    /// A time of the trace before which nothing is shown, in nanoseconds.
    pub(crate) fn earliest(&self, log: &Log) -> Option<i64> {
        Some(match self.since? {
            TimePoint::Trace(ns) => ns,
            TimePoint::Wall(wall) => log.times_at_wall(wall)?.0,
        })
    }

    /// A time of the trace from which on nothing is shown, in nanoseconds.
    pub(crate) fn end(&self, log: &Log) -> Option<i64> {
        Some(match self.until? {
            TimePoint::Trace(ns) => ns,
            TimePoint::Wall(wall) => log.times_at_wall(wall)?.1,
        })
    }
}

impl Filter<'_> {
    /// Returns whether to show the item.
    pub(crate) fn admits(&self, item: &Item<'_>) -> bool {
        if self.admits_all {
            return true;
        }
        match item {
            Item::Loss(loss) => self.admits_loss(loss),
            Item::SpanBegin(slice) => self.admits_span(slice, false),
            Item::SpanEnd(slice) => self.admits_span(slice, true),
            Item::Entry(entry) => {
                if !self.admits_time(entry.time()) || !self.admits_thread(entry.thread()) {
                    return false;
                }
                let is_of = |wanted: &str| entry.request() == Some(wanted);
                if !admits(&self.options.request, is_of) {
                    return false;
                }
                // Values are decoded only where the text is asked for.
                let grep = self.options.grep.as_ref();
                (!self.options.ask_for_messages() || self.admits_message(entry.message()))
                    && self.admits_call(entry)
                    && (self.options.span.is_empty() || self.admits_spans(&entry.spans()))
                    && self.admits_arguments(entry)
                    && grep.is_none_or(|grep| {
                        grep.is_match(&entry.values().text(Rendering::Full)) != self.options.invert
                    })
            }
        }
    }

    fn admits_message(&self, message: Option<&Message>) -> bool {
        let options = self.options;
        let level = message.and_then(|message| message.level);
        options.level.is_none_or(|least| level.is_some_and(|level| level >= least))
            && self.admits_group(message.and_then(|it| self.log.dictionary().group(it.group)))
            && admits(&options.location, |text| {
                message.is_some_and(|message| message.location.contains(text))
            })
    }

    /// A loss is shown unless it is known not to be asked for.
    fn admits_loss(&self, loss: &Loss) -> bool {
        let thread = self.log.thread_of(loss);
        let known_thread = thread.tid.is_some() || thread.name.is_some();
        let group = loss.group.and_then(|id| self.log.dictionary().group(id));
        let pids = &self.options.pid;
        self.admits_time(loss.time)
            && (pids.is_empty() || thread.pid.is_none_or(|pid| pids.contains(&pid)))
            && (!known_thread || self.admits_thread(thread))
            && (group.is_none() || self.admits_group(group))
            && group.is_none_or(|group| self.may_select_of(&group.name))
    }

    /// Returns whether a span is of a thread and a time that are shown, whatever is asked of
    /// messages.
    pub(crate) fn admits_slice(&self, slice: &SpanSlice) -> bool {
        let ends_before = |since| slice.end_time().is_some_and(|end| !self.has_reached(since, end));
        self.admits_thread(self.log.thread_of_slice(slice))
            && !self.since.as_ref().is_some_and(ends_before)
            && !self.until.as_ref().is_some_and(|until| self.has_reached(until, slice.begin))
    }

    /// A begin or end of a span, which has neither level nor location.
    fn admits_span(&self, slice: &SpanSlice, is_end: bool) -> bool {
        let options = self.options;
        let time = slice.end_time().filter(|_| is_end).unwrap_or(slice.begin);
        let grep = options.grep.as_ref();
        self.admits_time(time)
            && self.admits_thread(self.log.thread_of_slice(slice))
            && admits(&options.group, |wanted| matches_group(wanted, &slice.target))
            && admits(&options.tag, |wanted| is_like(self.log.tag_of_slice(slice), wanted))
            && options.location.is_empty()
            && options.selectors.is_empty()
            && options.arg.is_empty()
            && options.request.is_empty()
            && (options.span.is_empty() || self.admits_spans(&self.log.spans_at_slice(slice)))
            && grep.is_none_or(|grep| grep.is_match(&slice.text(is_end)) != options.invert)
    }

    fn admits_time(&self, time: i64) -> bool {
        let reached = |limit: &TimePoint| self.has_reached(limit, time);
        self.since.as_ref().is_none_or(reached) && !self.until.as_ref().is_some_and(reached)
    }

    /// Returns whether a time of the trace is `limit` or later.
    fn has_reached(&self, limit: &TimePoint, time: i64) -> bool {
        match limit {
            TimePoint::Trace(ns) => time >= *ns,
            TimePoint::Wall(ns) => self.log.wall_time(time).is_some_and(|wall| wall >= *ns),
        }
    }

    fn admits_thread(&self, thread: &Thread) -> bool {
        self.options.admit_thread(thread)
    }

    fn admits_group(&self, group: Option<&Group>) -> bool {
        admits(&self.options.group, |wanted| {
            group.is_some_and(|group| matches_group(wanted, &group.name))
        }) && admits(&self.options.tag, |wanted| group.is_some_and(|group| has_tag(group, wanted)))
    }
}

/// Returns whether one of the wanted is met, or none was asked for.
fn admits(wanted: &[String], meets: impl Fn(&str) -> bool) -> bool {
    wanted.is_empty() || wanted.iter().any(|wanted| meets(wanted))
}

/// A regular expression for messages, whose lines are shown as lines of their own.
fn pattern(text: &str) -> Result<Regex, regex::Error> {
    RegexBuilder::new(text).multi_line(true).build()
}

/// Returns whether a group has this tag, or is shown by its name for lack of one.
fn has_tag(group: &Group, wanted: &str) -> bool {
    is_like(if group.tag.is_empty() { &group.name } else { &group.tag }, wanted)
}

/// Returns whether a tag is one that a pattern means, in any case.
fn is_like(tag: &str, pattern: &str) -> bool {
    let [tag, pattern]: [Vec<char>; 2] =
        [tag, pattern].map(|text| text.chars().map(|char| char.to_ascii_lowercase()).collect());
    let (mut at, mut next) = (0, 0);
    // After the last `*` so far, with what it stands for.
    let mut star = None;
    while at < tag.len() {
        match pattern.get(next) {
            Some('*') => {
                star = Some((next + 1, at));
                next += 1;
            }
            Some(&char) if char == '?' || char == tag[at] => (at, next) = (at + 1, next + 1),
            _ => {
                let Some((after, until)) = &mut star else { return false };
                *until += 1;
                (at, next) = (*until, *after);
            }
        }
    }
    pattern[next..].iter().all(|char| *char == '*')
}

/// Returns whether `wanted` is the thread's name or id.
fn is_thread(thread: &Thread, wanted: &str) -> bool {
    thread.name.as_deref() == Some(wanted)
        || thread.tid.is_some_and(|tid| wanted.parse() == Ok(tid))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_like_patterns() {
        for (tag, pattern, expected) in [
            ("Net", "net", true),
            ("Net", "ne", false),
            ("Net", "N*", true),
            ("Net", "*t", true),
            ("Net", "*", true),
            ("", "*", true),
            ("", "?", false),
            ("Net", "n?t", true),
            ("Net", "n?", false),
            ("NetworkNet", "*NET", true),
            ("a*b", "a*b", true),
            ("NetDisk", "*et*sk*", true),
            ("NetDisk", "*x*", false),
        ] {
            assert_eq!(is_like(tag, pattern), expected, "{tag} {pattern}");
        }
    }
}
