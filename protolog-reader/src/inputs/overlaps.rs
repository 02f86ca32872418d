//! Finds the packets that several inputs have.
//!
//! A message is the same in two inputs if it is of one thread of one process, of one nanosecond,
//! and has one id and equal arguments. The result has it as often as the input that has it most
//! often: a thread may well log the same twice in one nanosecond of a coarse clock.
//!
//! Memory is needed only for messages of the times in which several inputs have messages of one
//! thread. So the survey notes the first and the last time of each thread in each input.
//!
//! Invariant: two processes with one pid are told apart if the traces say that they are different.

use crate::clocks::Moment;
use crate::inputs::thread_ids::{ThreadIds, mix};
use std::collections::{BTreeSet, HashMap, HashSet};

/// The threads and processes of all inputs.
#[derive(Debug, Default)]
pub(crate) struct Overlaps {
    /// Indices of timelines.
    indices: HashMap<Timeline, usize>,
    /// The times of each timeline, by input.
    ranges: Vec<Vec<TimeRange>>,
    /// The timeline of the packet before, with its index: mostly that of the next.
    recent: Option<(Timeline, usize)>,
    /// The processes by pid.
    processes: HashMap<u32, Processes>,
}

/// The processes of one pid.
#[derive(Debug, Default)]
struct Processes {
    /// Their fingerprints, with the input of each.
    known: BTreeSet<(usize, u64)>,
    /// There are different ones among them.
    differ: bool,
}

impl Processes {
    fn add(&mut self, input: usize, process: u64) {
        self.differ |= self.known.first().is_some_and(|(_, first)| *first != process);
        self.known.insert((input, process));
    }

    /// Those of one input, without a look at those of others: a trace may name any number of them,
    /// and is asked about each of its messages.
    fn of(&self, input: usize) -> impl Iterator<Item = u64> {
        self.known.range((input, 0)..=(input, u64::MAX)).map(|(_, process)| *process)
    }
}

/// The messages of a thread in one clock.
type Timeline = (ThreadIds, u32);

/// The times of a thread in an input.
#[derive(Clone, Copy, Debug)]
struct TimeRange {
    input: usize,
    first: i64,
    last: i64,
}

/// The other inputs that may have a message.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Others {
    later: bool,
    /// The fingerprint of its process; 0 if there is nothing to tell apart.
    process: u64,
}

impl Others {
    /// The hash of the thread, with its process and the clock of its time.
    pub(crate) fn thread(&self, origin: ThreadIds, moment: Moment) -> u64 {
        let ThreadIds { pid, tid } = origin;
        let ids = u64::from(pid.unwrap_or(0)) << 32 | u64::from(tid.unwrap_or(u32::MAX));
        mix(ids) ^ self.process.rotate_left(17) ^ u64::from(moment.clock)
    }
}

impl Overlaps {
    /// Notes a time at which a thread has something.
    pub(crate) fn add(&mut self, input: usize, origin: ThreadIds, moment: Moment) {
        let Moment { ns, clock, guessed } = moment;
        if guessed || origin.pid.is_none() {
            return;
        }
        let timeline = (origin, clock);
        let index = match self.recent {
            Some((recent, index)) if recent == timeline => index,
            _ => {
                let next = self.ranges.len();
                let index = *self.indices.entry(timeline).or_insert(next);
                self.ranges.resize_with(self.ranges.len().max(index + 1), Vec::new);
                self.recent = Some((timeline, index));
                index
            }
        };
        let spans = &mut self.ranges[index];
        match spans.last_mut() {
            Some(span) if span.input == input => {
                (span.first, span.last) = (span.first.min(ns), span.last.max(ns));
            }
            _ => spans.push(TimeRange { input, first: ns, last: ns }),
        }
    }

    /// Notes the fingerprint of a process.
    pub(crate) fn add_process(&mut self, input: usize, (pid, process): (u32, u64)) {
        self.processes.entry(pid).or_default().add(input, process);
    }

    /// The inputs that may have anything that another one has.
    pub(crate) fn concerned(&self) -> HashSet<usize> {
        let mut concerned = HashSet::new();
        for spans in self.ranges.iter().filter(|spans| spans.len() > 1) {
            let mut spans: Vec<TimeRange> = spans.clone();
            spans.sort_by_key(|span| span.first);
            // An input that overlaps any earlier one overlaps that which ends last.
            let mut latest = spans[0];
            for span in &spans[1..] {
                if span.first <= latest.last {
                    concerned.extend([span.input, latest.input]);
                }
                if span.last > latest.last {
                    latest = *span;
                }
            }
        }
        concerned
    }

    /// The ids that several processes have.
    pub(crate) fn shared_pids(&self) -> Vec<u32> {
        self.processes.iter().filter(|(_, all)| all.differ).map(|(pid, _)| *pid).collect()
    }

    /// The other inputs that may have what `input` has at this place.
    pub(crate) fn others(
        &mut self,
        input: usize,
        (origin, process): (ThreadIds, Option<u64>),
        moment: Moment,
    ) -> Option<Others> {
        let timeline = (origin, moment.clock);
        let index = match self.recent {
            Some((recent, index)) if recent == timeline => index,
            _ => *self.indices.get(&timeline)?,
        };
        self.recent = Some((timeline, index));
        let spans = &self.ranges[index];
        let with = |span: &&TimeRange| span.first <= moment.ns && moment.ns <= span.last;
        let (mut earlier, mut later) = (false, false);
        for span in spans.iter().filter(with) {
            earlier |= span.input < input;
            later |= span.input > input;
        }
        if !earlier && !later {
            return None;
        }
        let process = self.process(input, origin.pid?, process)?;
        Some(Others { later, process })
    }

    /// Those of these pids that a process of an input has, each with its fingerprint.
    pub(crate) fn processes_of(
        &self,
        input: usize,
        pids: &[u32],
    ) -> impl Iterator<Item = (u32, u64)> {
        pids.iter().filter_map(move |pid| Some((*pid, self.process(input, *pid, None)?)))
    }

    /// The fingerprint of a process among those with its pid, 0 if there is one only; none if it
    /// may be one of several. `named` is that which its thread says.
    fn process(&self, input: usize, pid: u32, named: Option<u64>) -> Option<u64> {
        let Some(known) = self.processes.get(&pid) else { return Some(0) };
        if !known.differ {
            return Some(0);
        }
        if named.is_some() {
            return named;
        }
        let mut own = known.of(input);
        own.next().filter(|_| own.next().is_none())
    }
}

/// The messages that several inputs may have, each with its numbers.
#[derive(Debug, Default)]
pub(crate) struct Occurrences(HashMap<(i64, u64), Occurrence>);

/// One message.
#[derive(Debug)]
struct Occurrence {
    input: u32,
    /// Number of times that `input` has had it so far.
    seen: u32,
    /// Number of times that the result has it.
    kept: u32,
}

impl Occurrences {
    /// Counts `content` of an input, and returns whether the result has it already, from another
    /// input.
    pub(crate) fn has(
        &mut self,
        input: usize,
        origin: ThreadIds,
        moment: Moment,
        others: Others,
        content: u64,
    ) -> bool {
        let key = (moment.ns, mix(content ^ mix(others.thread(origin, moment))));
        let input = input as u32;
        let known = if others.later {
            self.0.entry(key).or_insert(Occurrence { input, seen: 0, kept: 0 })
        } else {
            // Nobody asks for it again.
            let Some(known) = self.0.get_mut(&key) else { return false };
            known
        };
        if known.input != input {
            (known.input, known.seen) = (input, 0);
        }
        known.seen += 1;
        if known.seen <= known.kept {
            return true;
        }
        known.kept = known.seen;
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, Instant};

    #[test]
    fn processes_of_one_pid_are_told_apart_however_many_there_are() {
        const MANY: u64 = 100_000;
        let mut all = Overlaps::default();
        for process in 0..MANY {
            all.add_process(0, (7, process));
            all.add_process(2, (8, 5));
            all.add_process(process as usize, (9, 5));
        }
        all.add_process(1, (7, 3));
        let begun = Instant::now();
        for _ in 0..MANY {
            assert_eq!(all.process(1, 7, None), Some(3));
            assert_eq!(all.process(0, 7, None), None, "one of several");
            assert_eq!(all.process(2, 7, None), None, "none is known");
            assert_eq!(all.process(2, 7, Some(4)), Some(4));
            assert_eq!(all.process(1, 9, Some(4)), Some(0), "there is one only");
        }
        assert!(begun.elapsed() < Duration::from_secs(60), "{:?}", begun.elapsed());
        assert_eq!(all.shared_pids(), [7]);
    }
}
