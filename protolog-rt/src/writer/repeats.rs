//! The message that each call logged last, so that one which says the same is only counted.
//!
//! ```text
//! message ──> MessageRun { id, arguments, when it began } ──> the same, within a second: counted (crate::loss), with the id
//!                 │ other arguments, a second later, other rules or sessions, another request
//!                 └──> what was counted is reported before the message, which begins a run
//! ```
//!
//! A thread has its own runs, so nobody waits and nothing is shared. A run ends after a second: a
//! call in a loop is in the log once a second, with the number of its repeats, and a message that
//! a count belongs to is never far before it.
//!
//! Invariants
//! - *same*: a message is counted only if its id is that of the run, and all bytes of its arguments
//!   are. Those with more than [`MAX_ARGUMENTS`] bytes are always written.
//! - *written*: a run begins with a message that is written to each session which records the call
//!   until the run ends: sessions that start or stop, rules that change, a group's word and a fork
//!   end it, whose child has other sessions. One that finds no room is forgotten.
//! - Nothing here takes a lock or allocates. A signal handler that interrupts its thread here has
//!   its message written, and no run outlives that.

use super::held_back::EndedRepeats;
use super::request;
use crate::clock;
use crate::level::GroupInfo;
use crate::level::rules::{self, Visit};
use crate::site::GroupLevel;
use crate::sys::process;
use core::sync::atomic::Ordering::Relaxed;
use protolog_core::Arg;
use std::cell::{Cell, RefCell};

/// The time after which a message is written again, in nanoseconds.
const RUN_NANOS: u64 = 1_000_000_000;

/// The most bytes of arguments that are compared: eight of a number, one of its kind, and two
/// beside each string.
pub(crate) const MAX_ARGUMENTS: usize = 224;

/// Runs of a thread; calls share them.
const RUNS: usize = 16;

/// The answer for a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Seen {
    /// It says the same as the one before, and was logged at this time.
    Again {
        /// That time, in nanoseconds of BOOTTIME.
        now: u64,
    },
    /// It is to be written, after the number of the repeats of this message, if there were any.
    Other(Option<EndedRepeats>),
}

/// A message, and those that said the same.
struct MessageRun {
    /// Its id; 0 for none.
    message: u64,
    group: u32,
    versions: RunVersions,
    began: u64,
    /// How often it was repeated, and when first and last.
    count: u64,
    times: (u64, u64),
    len: usize,
    arguments: [u8; MAX_ARGUMENTS],
}

/// The numbers that change with all that a run rests on.
#[derive(Clone, Copy, PartialEq, Eq)]
struct RunVersions {
    process: u32,
    generation: u32,
    word: u32,
    request: u64,
}

struct Runs {
    /// True if a signal handler came within a look at the runs.
    is_disturbed: Cell<bool>,
    looked: RefCell<Looked>,
}

struct Looked {
    clock: clock::Reader,
    all: [MessageRun; RUNS],
}

thread_local! {
    static THREAD_RUNS: Runs = const {
        Runs {
            is_disturbed: Cell::new(false),
            looked: RefCell::new(Looked {
                clock: clock::Reader::NONE,
                all: [const { MessageRun::NONE }; RUNS],
            }),
        }
    };
}

/// Says whether a message repeats the one that its call logged before, and notes it if not; `visit`
/// calls a function with its arguments.
pub(crate) fn see(group_level: GroupLevel, message: u64, visit: Visit<'_>) -> Seen {
    let group = group_level.parts().0;
    THREAD_RUNS.with(|runs| {
        let Ok(mut looked) = runs.looked.try_borrow_mut() else {
            runs.is_disturbed.set(true);
            return Seen::Other(None);
        };
        let seen = looked.see(group, message, visit);
        let is_disturbed = runs.is_disturbed.replace(false);
        if is_disturbed {
            looked.all.iter_mut().for_each(|run| run.message = 0);
            return Seen::Other(None);
        }
        seen
    })
}

/// Forgets the message that was seen last, which was not written.
#[cold]
pub(crate) fn forget(message: u64) {
    THREAD_RUNS.with(|runs| {
        if let Ok(mut looked) = runs.looked.try_borrow_mut() {
            let run = looked.run(message);
            if run.message == message {
                run.message = 0;
            }
        }
    });
}

impl Looked {
    fn run(&mut self, message: u64) -> &mut MessageRun {
        &mut self.all[(message >> (u64::BITS - RUNS.ilog2())) as usize % RUNS]
    }

    fn see(&mut self, group: &'static GroupInfo, message: u64, visit: Visit<'_>) -> Seen {
        // Before all that is looked at.
        let generation = rules::generation_before();
        let word = group.word_ref().load(Relaxed);
        let (process, request) = (process::id(), request::current_number());
        let versions = RunVersions { process, generation, word, request };
        let now = self.clock.now();
        self.see_at(now, group.id, versions, message, visit)
    }

    /// As [`Self::see`], at this time.
    fn see_at(
        &mut self,
        now: u64,
        group: u32,
        versions: RunVersions,
        message: u64,
        visit: Visit<'_>,
    ) -> Seen {
        let run = self.run(message);
        let mut arguments = ComparedArguments { bytes: [0; MAX_ARGUMENTS], len: Some(0) };
        visit(&mut |arg| arguments.add(arg));
        let is_same = run.message == message
            && run.versions == versions
            && now.wrapping_sub(run.began) < RUN_NANOS
            && arguments.taken() == run.arguments.get(..run.len);
        if is_same {
            let first = if run.count == 0 { now } else { run.times.0 };
            (run.count, run.times) = (run.count + 1, (first, now));
            return Seen::Again { now };
        }
        let MessageRun { group: before, message: repeated, count, times, .. } = *run;
        let ended = EndedRepeats { group: before, message: repeated, count, times };
        // A parent's are its own.
        let is_own = run.versions.process == versions.process;
        let ended = Some(ended).filter(|_| is_own && repeated != 0 && count > 0);
        run.message = if arguments.len.is_some() { message } else { 0 };
        (run.group, run.versions, run.began, run.count) = (group, versions, now, 0);
        run.len = arguments.len.unwrap_or_default();
        run.arguments = arguments.bytes;
        Seen::Other(ended)
    }
}

impl MessageRun {
    const NONE: Self = Self {
        message: 0,
        group: 0,
        versions: RunVersions { process: 0, generation: 0, word: 0, request: 0 },
        began: 0,
        count: 0,
        times: (0, 0),
        len: 0,
        arguments: [0; MAX_ARGUMENTS],
    };
}

/// The arguments of a message as bytes, each with its kind; no two messages have the same.
struct ComparedArguments {
    bytes: [u8; MAX_ARGUMENTS],
    /// None if they are more than there is room for.
    len: Option<usize>,
}

impl ComparedArguments {
    fn taken(&self) -> Option<&[u8]> {
        self.bytes.get(..self.len?)
    }

    fn add(&mut self, arg: Arg<'_>) {
        match arg {
            Arg::Int(value) => self.add_parts(0, &value.to_le_bytes()),
            Arg::Uint(value) => self.add_parts(1, &value.to_le_bytes()),
            Arg::Float(value) => self.add_parts(2, &value.to_bits().to_le_bytes()),
            Arg::Bool(value) => self.add_parts(3, &[value.into()]),
            Arg::Str(text) => {
                // Longer ones have no room.
                let len = u16::try_from(text.len()).unwrap_or(u16::MAX);
                self.add_parts(4, &len.to_le_bytes());
                self.append(text.as_bytes());
            }
        }
    }

    fn add_parts(&mut self, kind: u8, value: &[u8]) {
        self.append(&[kind]);
        self.append(value);
    }

    fn append(&mut self, bytes: &[u8]) {
        self.len = self.len.and_then(|len| {
            self.bytes.get_mut(len..len + bytes.len())?.copy_from_slice(bytes);
            Some(len + bytes.len())
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(args: &[Arg<'_>]) -> Option<Vec<u8>> {
        let mut arguments = ComparedArguments { bytes: [0; MAX_ARGUMENTS], len: Some(0) };
        for arg in args {
            arguments.add(*arg);
        }
        arguments.taken().map(<[u8]>::to_vec)
    }

    /// Lists of arguments that differ in a value, a kind or where one string ends differ in bytes.
    #[test]
    fn no_two_messages_have_the_same_bytes() {
        let lists: [&[Arg<'_>]; 12] = [
            &[],
            &[Arg::Int(1)],
            &[Arg::Uint(1)],
            &[Arg::Float(f64::from_bits(1))],
            &[Arg::Bool(true)],
            &[Arg::Bool(false)],
            &[Arg::Str("")],
            &[Arg::Str("\u{1}")],
            &[Arg::Str("a"), Arg::Str("bc")],
            &[Arg::Str("ab"), Arg::Str("c")],
            &[Arg::Float(0.0)],
            &[Arg::Float(-0.0)],
        ];
        let all: std::collections::HashSet<_> =
            lists.iter().map(|list| bytes(list).expect("there is room")).collect();
        assert_eq!(all.len(), lists.len());
    }

    /// An argument as the vectors have it.
    fn argument(word: &str) -> (char, String) {
        let (kind, value) = word.split_at(1);
        let times = |text: &str| text.repeat(value.parse().expect("a number"));
        match kind {
            "x" => ('s', times("x")),
            "e" => ('s', times("é")),
            _ => (kind.chars().next().expect("a kind"), value.to_owned()),
        }
    }

    /// What becomes of a message of the vectors, at the time and with the words.
    fn fate(looked: &mut Looked, words: &[&str]) -> String {
        let (call, request) = words[1].split_once('@').unwrap_or((words[1], "0"));
        let id = |call: &str| {
            let digits = u64::from_str_radix(call, 16).expect("hexadecimal digits");
            digits << (u64::BITS as usize - 4 * call.len())
        };
        let request = request.parse().expect("a number");
        let versions = RunVersions { process: 1, generation: 1, word: 1, request };
        let now = 10_000_000_000 + words[0].parse::<u64>().expect("milliseconds") * 1_000_000;
        let arguments: Vec<_> = words[2..].iter().map(|word| argument(word)).collect();
        let seen = looked.see_at(now, 7, versions, id(call), &|visitor| {
            for (kind, value) in &arguments {
                visitor(match kind {
                    'i' => Arg::Int(value.parse().expect("a number")),
                    'f' => Arg::Float(value.parse().expect("a number")),
                    'b' => Arg::Bool(value == "1"),
                    _ => Arg::Str(value),
                });
            }
        });
        let written = |ended: EndedRepeats| {
            let name = format!("{:x}", ended.message);
            format!("w+{}@{}", ended.count, name.trim_end_matches('0'))
        };
        match seen {
            Seen::Again { .. } => "c".to_owned(),
            Seen::Other(ended) => ended.map_or("w".to_owned(), written),
        }
    }

    #[test]
    fn messages_are_written_or_counted_as_in_java() {
        let vectors = include_str!("../../../protolog-core/testdata/repeats.tsv");
        for row in vectors.lines().skip(1) {
            let (messages, fates) = row.split_once('\t').expect("two columns");
            let mut looked =
                Looked { clock: clock::Reader::NONE, all: [const { MessageRun::NONE }; RUNS] };
            let messages = messages.split(';').map(|one| one.split(' ').collect::<Vec<_>>());
            let found: Vec<_> = messages.map(|words| fate(&mut looked, &words)).collect();
            assert_eq!(found.join(" "), fates, "{row}");
        }
    }

    #[test]
    fn what_has_no_room_is_the_same_as_nothing() {
        let most = "x".repeat(MAX_ARGUMENTS - 3);
        assert!(bytes(&[Arg::Str(&most)]).is_some());
        assert_eq!(bytes(&[Arg::Str(&most), Arg::Bool(true)]), None);
        assert_eq!(bytes(&[Arg::Str(&"x".repeat(1 << 20))]), None);
        assert_eq!(bytes(&[Arg::Str(&"x".repeat(1 << 20)), Arg::Int(1)]), None);
    }
}
