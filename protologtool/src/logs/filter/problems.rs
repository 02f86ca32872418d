//! Values of filters that match nothing in the trace, so that a misspelled one is not taken for
//! silence.

use super::{Filter, Filters, has_tag, is_thread};
use crate::suggest::{did_you_mean, did_you_mean_group, list, name_forms};
use protolog_core::control::matches_group;
use protolog_reader::{Log, Thread, Times};
use std::collections::BTreeSet;

impl Filter<'_> {
    /// The warnings, each with the help line that follows it.
    pub(crate) fn problems(&self, times: &Times) -> Vec<String> {
        let log = self.log;
        let Filters { group, tag, thread, location, arg, span, request, .. } = self.options;
        let groups = || log.dictionary().groups();
        let is_group = |wanted: &str| groups().any(|group| matches_group(wanted, &group.name));
        let is_tag = |wanted: &str| groups().any(|group| has_tag(group, wanted));
        let is_known = |wanted: &str| log.threads().iter().any(|it| is_thread(it, wanted));
        let is_location = |wanted: &str| {
            log.dictionary().messages().any(|message| message.location.contains(wanted))
        };
        let is_span = |wanted: &str| log.slices().iter().any(|it| Filters::is_span(wanted, it));
        let same = |wanted: &str, names: &BTreeSet<String>| did_you_mean(wanted, names);
        vec![
            unknown(group, "group", is_group, did_you_mean_group, || {
                name_forms(groups().map(|group| &*group.name))
            }),
            unknown(tag, "tag", is_tag, same, || groups().map(|group| group.tag.clone()).collect()),
            unknown(thread, "thread", is_known, same, || threads(log)),
            unknown(location, "location", is_location, similar_file, || files(log)),
            unknown(
                arg,
                "arg",
                |it| Filters::is_argument(it, log),
                same,
                || Filters::argument_names(log),
            ),
            unknown(span, "span", is_span, same, || spans(log)),
            unknown(
                request,
                "request",
                |it| log.requests().any(|id| id == it),
                same,
                || log.requests().map(str::to_owned).collect(),
            ),
            self.options.times_in_gaps(log, times),
            self.missed_span(times),
        ]
    }

    /// A warning if all of the trace is before `--since`, or none of it before `--until`.
    fn missed_span(&self, times: &Times) -> String {
        let Some((first, last)) = self.log.span() else { return String::new() };
        let show = |time| times.display(time, self.log);
        // Where the wall clock was set, the last time need not have the last date.
        let limits = self.limits();
        let what = if limits.earliest(self.log).is_some_and(|earliest| last < earliest) {
            let since = self.options.since.as_deref().unwrap_or_default();
            format!("the trace ends at {}, before `--since {since}`", show(last))
        } else if limits.end(self.log).is_some_and(|end| first >= end) {
            let until = self.options.until.as_deref().unwrap_or_default();
            format!("the trace begins at {}, not before `--until {until}`", show(first))
        } else {
            return String::new();
        };
        let help = format!("give a time from `{}` to `{}`", show(first), show(last));
        format!("warning: {what}\nhelp: {help}\n")
    }
}

impl Filters {
    /// Notes of times that no clock of the zone has shown, as those that it was put forward over.
    pub(crate) fn times_in_gaps(&self, log: &Log, times: &Times) -> String {
        let options = [("--since", &self.since), ("--until", &self.until)];
        let note = |(option, text): (&str, &Option<String>)| {
            let text = text.as_deref()?;
            let meant = times.after_gap(text, log)?;
            Some(format!(
                "note: there is no `{text}` in this time zone, since the clocks went over it: `{option}` is {meant}\n"
            ))
        };
        options.into_iter().filter_map(note).collect()
    }
}

/// Warnings of the values that are not known, with the names that are there; `similar` words the
/// one that was meant.
pub(crate) fn unknown(
    wanted: &[String],
    what: &str,
    is_known: impl Fn(&str) -> bool,
    similar: impl Fn(&str, &BTreeSet<String>) -> String,
    names: impl FnOnce() -> BTreeSet<String>,
) -> String {
    let unknown: Vec<&String> = wanted.iter().filter(|wanted| !is_known(wanted)).collect();
    if unknown.is_empty() {
        return String::new();
    }
    let names = names();
    let warning = |wanted: &String| {
        format!("warning: the trace has no {what} `{wanted}`{}\n", similar(wanted, &names))
    };
    let warnings: String = unknown.into_iter().map(warning).collect();
    warnings + &list(&names, "of the trace")
}

/// The names of threads, and the ids of those that have none.
fn threads(log: &Log) -> BTreeSet<String> {
    let name = |thread: &Thread| thread.name.clone().or_else(|| Some(thread.tid?.to_string()));
    log.threads().iter().filter_map(name).collect()
}

/// The names of spans; those of stripped programs have none.
fn spans(log: &Log) -> BTreeSet<String> {
    let names = log.slices().iter().map(|slice| slice.name.to_string());
    names.filter(|name| !name.is_empty()).collect()
}

/// The files of all messages.
fn files(log: &Log) -> BTreeSet<String> {
    let locations = log.dictionary().messages().map(|message| file(&message.location));
    locations.filter(|file| !file.is_empty()).map(str::to_owned).collect()
}

/// A location without its lines.
fn file(location: &str) -> &str {
    location.rsplit_once(':').map_or(location, |(file, _)| file)
}

/// The file that was meant: by name alone where no directory is given.
fn similar_file(wanted: &str, files: &BTreeSet<String>) -> String {
    let last = |file: &String| file.rsplit('/').next().unwrap_or(file).to_owned();
    if wanted.contains('/') {
        did_you_mean(file(wanted), files)
    } else {
        did_you_mean(file(wanted), &files.iter().map(last).collect::<BTreeSet<_>>())
    }
}
