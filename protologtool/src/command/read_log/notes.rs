//! The lines about a log that was read to its end, on standard error: why it is empty, what is
//! missing, what may help.

use super::args::ReadLogArgs;
use crate::system::System;
use protolog_reader::{Log, Stats, printable};
use std::fmt::Write as _;

/// Reports the notes about a log.
pub(super) fn report(log: &Log, args: &ReadLogArgs, system: &dyn System) {
    explain(log, args.has_spans(), system);
    if args.has_spans() && log.slices().is_empty() && log.slices_without_begin() == 0 {
        system.print_error("note: the trace has no spans\n");
    }
    system.print_error(&spans_without_begin(log));
    if args.stats {
        system.print_error(&statistics(log.stats()));
    }
    system.print_error(&passed_over(log, args.form.estimate));
    system.print_error(&left_out(log.stats()));
    for line in log.summary().to_string().lines() {
        system.print_error(&format!("warning: {line}\n"));
    }
    system.print_error(&args.expansion.hint(log.stats()));
    system.print_error(hint_of_content(log));
    system.print_error(hint_of_dictionary(log));
    system.print_error(args.filters.hint_of_unjudged(log));
}

/// The line about spans of which only the end is known; empty if there is none.
pub(super) fn spans_without_begin(log: &Log) -> String {
    match log.slices_without_begin() {
        0 => String::new(),
        1 => "note: 1 span began before the trace, or its begin was lost, and is not shown\n"
            .to_owned(),
        count => format!(
            "note: {count} spans began before the trace, or their begins were lost, and are not shown\n"
        ),
    }
}

/// The lines about messages that sampling passed over; empty if there are none.
pub(super) fn passed_over(log: &Log, is_estimated: bool) -> String {
    let mut text = String::new();
    let all = &log.stats().passed_over;
    for ((group, level), count) in all {
        let group = group.map(|id| log.dictionary().group_name(id));
        let group = group.map_or(String::new(), |name| format!(" of {}", printable(&name)));
        let level = level.map_or(String::new(), |level| format!(" at {}", level.name()));
        let verb = if *count == 1 { "message was" } else { "messages were" };
        let _ = writeln!(text, "note: {count} {verb} passed over by sampling{group}{level}");
    }
    if !all.is_empty() && !is_estimated {
        text += "help: see how many were logged by `--count-by template --estimate`\n";
    }
    text
}

/// The line about messages that a trace of some requests leaves out; empty for any other trace.
pub(super) fn left_out(stats: &Stats) -> String {
    match stats.left_out {
        None => String::new(),
        Some(1) => "note: the trace leaves out 1 message of other requests\n".to_owned(),
        Some(count) => format!("note: the trace leaves out {count} messages of other requests\n"),
    }
}

/// Says why the trace has no message, or which names in the filter of its session no group has.
fn explain(log: &Log, are_spans_shown: bool, system: &dyn System) {
    // Of a trace of other programs, something else is said.
    let are_ours = hint_of_content(log).is_empty();
    if log.stats().entries == 0 && log.has_spans() && are_ours && !are_spans_shown {
        system
            .print_error("0 messages: the trace has spans alone\nhelp: show them with `--spans`\n");
    }
    if let Some((reason, help)) = log.why_empty() {
        system.print_error(&format!("0 messages: {reason}\nhelp: {help}\n"));
        return;
    }
    for sentence in log.unknown_groups() {
        system.print_error(&format!("note: {}\n", printable(&sentence)));
    }
}

/// The line for a trace whose texts are in a dictionary elsewhere; empty for any other. One that is
/// damaged, cut off or short of messages, as that of a process that died, may have lost its own.
fn hint_of_dictionary(log: &Log) -> &'static str {
    let is_whole = log.is_complete() && !log.stats().has_losses();
    if log.dictionary().missing().next().is_some() {
        "help: name it, or a directory that holds it, by `--viewer-config`\n"
    } else if log.stats().unknown_messages > 0 && log.dictionary().is_empty() && is_whole {
        "help: name the dictionary that the tool wrote for the program by `--viewer-config`\n"
    } else {
        ""
    }
}

/// The lines for a file in which there is nothing that could be shown; empty for any other.
fn hint_of_content(log: &Log) -> &'static str {
    let stats = log.stats();
    let dictionary = log.dictionary();
    let is_ours = stats.buffer.is_some() || !stats.unended.is_empty();
    let has_data = stats.entries > 0
        || !log.losses().is_empty()
        || !dictionary.is_empty()
        || dictionary.groups().next().is_some();
    if stats.bytes == 0 {
        "help: look again when its session has written to it, or give another file\n"
    } else if !is_ours && !has_data && stats.packets > 0 {
        "warning: the trace has no data of ProtoLog, only of other data sources\n\
         help: give the file of a session, or record with the data source `android.protolog`\n"
    } else {
        ""
    }
}

/// The amount that was read; and the buffer, where the trace has statistics of one.
fn statistics(stats: &Stats) -> String {
    let Stats { bytes, inflated_bytes, packets, entries, .. } = stats;
    let inflated = match inflated_bytes {
        0 => String::new(),
        inflated => format!(", {inflated} when inflated"),
    };
    let buffer = stats.buffer.map(|buffer| buffer.to_string()).unwrap_or_default();
    format!("trace: {bytes} bytes{inflated}, {packets} packets, {entries} entries\n{buffer}")
}
