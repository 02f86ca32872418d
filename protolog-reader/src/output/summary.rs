//! The summary of everything that went wrong: one line each, empty if nothing did.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use crate::damage::hole;
use crate::damage::resync;
use crate::formatting::printable::printable;
use crate::log::Log;
use crate::losses::loss::{self, LossReason};
use crate::losses::stats::{EndReason, Stats};
use crate::sequences::sessions;
use crate::sequences::thread::ANY;

impl Log {
    /// A summary for people of everything that went wrong; empty if nothing did.
    pub fn summary(&self) -> Summary<'_> {
        Summary(self)
    }
}

/// A summary of a log's gaps and problems, for people. Empty if the log is complete.
#[derive(Clone, Copy, Debug)]
pub struct Summary<'a>(&'a Log);

impl fmt::Display for Summary<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let stats = self.0.stats();
        ended_early(f, stats)?;
        if stats.bytes == 0 {
            writeln!(f, "the trace is empty")?;
        }
        if stats.skipped_bytes > 0 {
            writeln!(f, "{}", hole::describe(stats.skipped_bytes))?;
        }
        if stats.damaged_bytes > 0 {
            writeln!(f, "{}", resync::describe(stats.damaged_bytes))?;
        }
        for refusal in &stats.refusals {
            writeln!(f, "{refusal}")?;
        }
        self.losses(f)?;
        self.claims(f)?;
        for hash in self.0.dictionary().missing() {
            writeln!(
                f,
                "missing dictionary `{hash:016x}`, which holds the texts of a stripped program"
            )?;
        }
        service(f, stats)?;
        for (count, one, many) in sentences(stats) {
            match count {
                0 => {}
                1 => writeln!(f, "1 {one}")?,
                count => writeln!(f, "{count} {many}")?,
            }
        }
        for pid in &stats.unended {
            writeln!(f, "{}", sessions::describe_unended(*pid))?;
        }
        Ok(())
    }
}

impl Summary<'_> {
    /// The losses by process, as the tracing service knows it, and those of which it says none.
    fn losses(self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (mut of_nobody, mut of_processes) = (self.0.stats().lost.clone(), BTreeMap::new());
        for loss in self.0.losses() {
            let thread = self.0.thread_of(loss);
            let (kind, count) = ((loss.reason, loss.group), loss.count.unwrap_or(1));
            if thread.origin == ANY {
                continue;
            }
            if let Some(rest) = of_nobody.get_mut(&kind) {
                *rest = rest.saturating_sub(count);
            }
            let sum: &mut u64 = of_processes.entry((thread.origin, kind)).or_default();
            *sum = sum.saturating_add(count);
        }
        for (kind, count) in of_nobody.into_iter().filter(|(_, count)| *count > 0) {
            self.loss(f, kind, count)?;
            f.write_str("\n")?;
        }
        for ((pid, kind), count) in of_processes {
            self.loss(f, kind, count)?;
            writeln!(f, ", in {}", self.process(pid))?;
        }
        Ok(())
    }

    fn loss(
        self,
        f: &mut fmt::Formatter<'_>,
        (reason, group): (LossReason, Option<u32>),
        count: u64,
    ) -> fmt::Result {
        let counted = reason.is_counted().then_some(count);
        f.write_str(if reason.is_in_log() { "" } else { "lost: " })?;
        loss::describe(f, self.0.dictionary(), reason, group, counted)?;
        if counted.is_none() {
            write!(f, ", at {count} place{}", if count == 1 { "" } else { "s" })?;
        }
        Ok(())
    }

    /// The processes that say they are others, each once.
    fn claims(self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let claims = self.0.threads().iter().filter_map(|it| Some((it.origin, it.claimed?)));
        for (pid, claimed) in claims.collect::<BTreeSet<_>>() {
            let process = self.process(pid);
            writeln!(
                f,
                "{process} says that it is process {claimed}; shown is what the tracing service says"
            )?;
        }
        Ok(())
    }

    /// The pid of a process, and its name.
    fn process(self, pid: u32) -> String {
        match self.0.name_of_pid(pid) {
            Some(name) => format!("process {pid} (`{}`)", printable(name)),
            None => format!("process {pid}"),
        }
    }
}

fn ended_early(f: &mut fmt::Formatter<'_>, stats: &Stats) -> fmt::Result {
    let Some(ended) = stats.ended_early else {
        return Ok(());
    };
    let reason = match ended.reason {
        EndReason::Truncated => "truncated: the trace ends inside a packet",
        EndReason::Corrupt => "corrupt: the following bytes are not a packet",
        EndReason::BrokenStream => "truncated: the compressed trace is cut off or corrupt",
        EndReason::Limit => "too large: a limit was reached",
        EndReason::Expansion => "too large: the compressed trace expands to more than its limit",
        EndReason::Memory => "too large: there is no memory for more",
    };
    if ended.reason == EndReason::Expansion {
        return writeln!(f, "{reason}; {} bytes of its content were read", ended.offset);
    }
    writeln!(f, "{reason}; {} of {} bytes were read", ended.offset, stats.bytes)
}

fn service(f: &mut fmt::Formatter<'_>, stats: &Stats) -> fmt::Result {
    let service = &stats.service;
    for (count, what) in [
        (service.chunks_overwritten, "chunks overwritten before they were read"),
        (service.chunks_discarded, "chunks discarded"),
        (service.packets_lost, "packets lost by writers"),
        (service.patches_failed, "packets left incomplete"),
        (service.invalid_packets, "packets refused"),
    ] {
        if count > 0 {
            writeln!(f, "the tracing service counted: {what}: {count}")?;
        }
    }
    Ok(())
}

/// Counters, with their sentences for one and for several.
fn sentences(stats: &Stats) -> [(u64, &'static str, &'static str); 13] {
    [
        (
            stats.unknown_messages,
            "entry whose message is in no dictionary",
            "entries whose messages are in no dictionary",
        ),
        (
            stats.missing_values,
            "entry with fewer values than its template takes",
            "entries with fewer values than their templates take",
        ),
        (
            stats.extra_values,
            "entry with more values than its template takes",
            "entries with more values than their templates take",
        ),
        (stats.missing_strings, "string that was never defined", "strings that were never defined"),
        (
            stats.redefined_strings,
            "string defined twice with different values",
            "strings defined twice with different values",
        ),
        (
            stats.dictionary_conflicts,
            "dictionary entry that contradicts an earlier one",
            "dictionary entries that contradict earlier ones",
        ),
        (
            stats.malformed_elements,
            "damaged dictionary entry, which was left out",
            "damaged dictionary entries, which were left out",
        ),
        (stats.guessed_times, "entry whose time is a guess", "entries whose times are guesses"),
        (stats.ignored_clocks, "clock too many in a snapshot", "clocks too many in snapshots"),
        (
            stats.broken_bundles,
            "bundle of packets that is cut off or corrupt",
            "bundles of packets that are cut off or corrupt",
        ),
        (
            stats.oversized_bundles,
            "bundle of packets nested too deep",
            "bundles of packets nested too deep",
        ),
        (
            stats.cut_bundles,
            "bundle of packets left out, at least in part: the trace expands to more than its limit",
            "bundles of packets left out, at least in part: the trace expands to more than its limit",
        ),
        (
            stats.cut_texts,
            "text of a message left out: the trace expands to more than its limit",
            "texts of messages left out: the trace expands to more than its limit",
        ),
    ]
}
