//! The log: all entries and losses of a trace in the order of time, with what is needed to show them.

use std::collections::{BTreeSet, HashMap};

use protolog_core::schema::clock_id;

use crate::blocks::Blocks;
use crate::clock::Moment;
use crate::clock::relations::{Route, Routes};
use crate::collect::{Collected, MessageRecord};
use crate::dictionary::Dictionary;
use crate::loss::Loss;
use crate::stats::Stats;
use crate::thread::Thread;

/// What a trace says, read whole.
#[derive(Debug)]
pub struct Log {
    /// Times are nanoseconds of the trace's clock; sorted by time, packets' order where times are equal.
    collected: Collected,
    losses: Vec<Loss>,
    /// To the wall clock, where the trace relates it to its own.
    wall: Option<Route>,
    /// Stack traces that were given names, by the index of their text.
    named: HashMap<u32, String>,
}

impl Log {
    /// Puts everything into the order of time and applies the dictionary.
    pub(crate) fn new(
        mut collected: Collected,
        files: &[viewer_config::Dictionary],
        find: impl FnMut(u64) -> Option<viewer_config::Dictionary>,
    ) -> Self {
        for file in files {
            collected.dictionary.fill_from(file);
        }
        let missing: Vec<u64> = collected.dictionary.missing().collect();
        for file in missing.into_iter().filter_map(find) {
            collected.dictionary.fill_from(&file);
        }
        let relations = std::mem::take(&mut collected.relations);
        let mut routes = relations.routes(relations.trace_clock());
        for record in &mut collected.records {
            settle(&mut record.moment, &mut routes);
            collected.stats.guessed_times += u64::from(record.moment.guessed);
        }
        collected.records.sort_by_key(|record| record.moment.ns);
        let mut losses = Vec::with_capacity(collected.losses.0.len());
        for mut found in std::mem::take(&mut collected.losses).0 {
            settle(&mut found.moment, &mut routes);
            let Moment { ns: time, guessed, .. } = found.moment;
            losses.push(Loss { time, guessed, ..found.loss });
        }
        losses.sort_by_key(|loss| (loss.time, loss.guessed));
        let wall = routes.back_to(clock_id::REALTIME);
        Self { collected, losses, wall, named: HashMap::new() }
    }

    /// All losses, by time.
    pub fn losses(&self) -> &[Loss] {
        &self.losses
    }

    /// Counts of what was read and of all that went wrong.
    pub fn stats(&self) -> &Stats {
        &self.collected.stats
    }

    /// The texts of the messages.
    pub fn dictionary(&self) -> &Dictionary {
        &self.collected.dictionary
    }

    /// The thread whose messages were lost.
    pub fn thread_of(&self, loss: &Loss) -> &Thread {
        self.thread(loss.thread)
    }

    /// The name of a process, where the trace says it.
    pub fn process_name(&self, pid: u32) -> Option<&str> {
        self.collected.processes.get(&pid).map(String::as_str).filter(|name| !name.is_empty())
    }

    /// Nanoseconds since 1970 (UTC) at a time of the trace, where the trace relates its clock to the wall clock.
    pub fn wall_time(&self, time: i64) -> Option<i64> {
        self.wall.as_ref().map(|wall| wall.convert(time))
    }

    /// All messages, by time.
    pub(crate) fn records(&self) -> &[MessageRecord] {
        &self.collected.records
    }

    pub(crate) fn stats_mut(&mut self) -> &mut Stats {
        &mut self.collected.stats
    }

    pub(crate) fn blocks(&self) -> &Blocks {
        &self.collected.blocks
    }

    pub(crate) fn thread(&self, index: u32) -> &Thread {
        self.collected.threads.get(index)
    }

    /// The text with this index, nothing for the two that stand for none.
    pub(crate) fn interned(&self, index: u32) -> Option<&str> {
        let span = self.collected.texts.get(index as usize)?;
        Some(self.collected.blocks.text(*span))
    }

    /// Puts what `name` makes of it in place of each stack trace, for those that come as addresses.
    pub fn name_frames(&mut self, mut name: impl FnMut(&str) -> String) {
        let traces: BTreeSet<u32> =
            self.collected.records.iter().map(|record| record.stack_trace).collect();
        for index in traces {
            if let Some(named) = self.interned(index).map(&mut name) {
                self.named.insert(index, named);
            }
        }
    }

    /// The stack trace with this index.
    pub(crate) fn stack_trace(&self, index: u32) -> Option<&str> {
        self.named.get(&index).map(String::as_str).or_else(|| self.interned(index))
    }

    /// Indices of the strings of a message, beginning with its first.
    pub(crate) fn strings_from(&self, first: usize) -> &[u32] {
        self.collected.strings.get(first..).unwrap_or_default()
    }
}

/// Turns a moment of any clock into one of the trace's.
fn settle(moment: &mut Moment, routes: &mut Routes<'_>) {
    match routes.settle(moment.clock, moment.ns) {
        Some(ns) => moment.ns = ns,
        None => moment.guessed = true,
    }
}
