//! Who alone logs and so leaves out the fence before the clock: the runtime's own word and gate, with fences in place of the
//! barrier that the system makes threads pass.
//!
//! The clock is a counter that each reading moves on. It puts nothing in order by itself, as the processor's does not: a
//! reading behind a fence shows what the counter is at, one without a fence maybe what it was at the reader's last fence.
//! So a message has two times, the earliest and the latest that it may have. Who saw what another one did after a message
//! needs an earliest time after that message's latest.

#[path = "../../src/clock/sole.rs"]
mod source;

use crate::gate::Gate;
use crate::sync::{AtomicUsize, Ordering, fence, in_turn};
use loom::sync::Arc;
use loom::thread;
use source::{Candidate, Sole};
use std::cell::Cell;
use std::sync::atomic::AtomicBool;

/// What the writers share.
struct Shared {
    sole: Sole,
    clock: AtomicUsize,
    writers: Vec<Public>,
}

/// What the others see of a writer.
struct Public {
    gate: Gate,
    /// What it does after a message: it says which time that has at the latest, and, in the lowest bits, whose it is.
    token: AtomicUsize,
}

const OWNER_BITS: u32 = 2;
const OWNER: usize = (1 << OWNER_BITS) - 1;

/// A thread's writer.
struct Writer {
    shared: Arc<Shared>,
    number: usize,
    /// Whether others ask whether it is within a message. A gate is a whole fence here, which it is not in the runtime: where
    /// nobody asks, that must not stand in for the barrier.
    is_asked: bool,
    candidate: Candidate,
    /// Whether it was given the word since it last passed a fence.
    has_word: bool,
    /// When it last passed a fence.
    fenced: usize,
    seen: &'static Seen,
}

/// What a writer does.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Step {
    Message,
    /// A message that takes a chunk first.
    Chunk,
    /// No message: it does what it does after one, having seen what the others did.
    PassOn,
}
use Step::{Chunk, Message, PassOn};

/// What happened in any of the runs, so that nothing is left out unnoticed.
#[derive(Debug, Default)]
struct Seen {
    /// A writer got the word.
    granted: AtomicBool,
    /// It did not, since another one was within a message.
    refused: AtomicBool,
    /// One that had the word saw that another one logged.
    ended: AtomicBool,
    /// One left out the fence that had seen what another one did after a message.
    left_out: AtomicBool,
}

impl Seen {
    fn note(of: &AtomicBool) {
        of.store(true, Ordering::Relaxed);
    }

    #[track_caller]
    fn check_all(&self) {
        let all = [&self.granted, &self.refused, &self.ended, &self.left_out];
        assert!(all.iter().all(|it| it.load(Ordering::Relaxed)), "{self:?}");
    }
}

impl Writer {
    fn new(shared: &Arc<Shared>, number: usize, is_asked: bool, seen: &'static Seen) -> Self {
        Self {
            shared: Arc::clone(shared),
            number,
            is_asked,
            candidate: Candidate::new(number as u64 + 1),
            has_word: false,
            fenced: 0,
            seen,
        }
    }

    fn run(mut self, steps: &[Step]) {
        for step in steps {
            self.log(*step);
            // The others' turn.
            thread::yield_now();
        }
    }

    /// A message, and what is done after it.
    fn log(&mut self, step: Step) {
        let shared = Arc::clone(&self.shared);
        let own = &shared.writers[self.number];
        let token = self.look();
        if step == PassOn {
            return own.token.store(token, Ordering::Release);
        }
        let before = token >> OWNER_BITS;
        if self.is_asked {
            own.gate.enter();
        }
        if step == Chunk {
            self.settle();
        }
        let is_fenced = Cell::new(false);
        shared.sole.order(&self.candidate, || is_fenced.set(true));
        let latest = self.read();
        if is_fenced.get() {
            self.fenced = latest;
            if std::mem::take(&mut self.has_word) {
                Seen::note(&self.seen.ended);
            }
        } else if token > 0 {
            Seen::note(&self.seen.left_out);
        }
        if self.is_asked {
            own.gate.exit();
        }
        assert!(self.fenced > before, "as early as {}, after one of {before}", self.fenced);
        own.token.store(latest << OWNER_BITS | self.number, Ordering::Release);
    }

    /// `Reader::settle`, with `running::is_alone`.
    fn settle(&mut self) {
        let shared = Arc::clone(&self.shared);
        let (number, seen) = (self.number, self.seen);
        let nobody_else = || {
            fence(Ordering::SeqCst);
            let alone = others(&shared, number).all(|other| !other.gate.is_busy());
            if !alone {
                Seen::note(&seen.refused);
            }
            alone
        };
        if shared.sole.settle(&mut self.candidate, nobody_else) {
            Seen::note(&self.seen.granted);
            self.has_word = true;
            self.fenced = self.read();
        }
    }

    /// The token of the latest message of others after which somebody did what this one sees.
    fn look(&self) -> usize {
        let tokens = others(&self.shared, self.number).map(|it| it.token.load(Ordering::Acquire));
        // Its own messages are in order anyway.
        tokens.filter(|token| token & OWNER != self.number).max().unwrap_or(0)
    }

    /// What the clock shows.
    fn read(&self) -> usize {
        self.shared.clock.fetch_add(1, Ordering::Relaxed)
    }
}

fn others(shared: &Shared, number: usize) -> impl Iterator<Item = &Public> {
    shared.writers.iter().enumerate().filter(move |it| it.0 != number).map(|it| it.1)
}

/// Writers that do these steps, each on a thread of its own.
fn run<const COUNT: usize>(scripts: [&'static [Step]; COUNT]) {
    let seen: &'static Seen = Box::leak(Box::default());
    in_turn();
    let claims = |script: &&&[Step]| script.contains(&Chunk);
    let claimants = scripts.iter().filter(claims).count();
    crate::check(move || {
        let public = |_| Public { gate: Gate::new(), token: AtomicUsize::new(0) };
        let writers = scripts.iter().map(public).collect();
        let shared = Arc::new(Shared { sole: Sole::new(), clock: AtomicUsize::new(1), writers });
        // The word exists before a second thread does.
        let _ = format!("{:?}", shared.sole);
        let mut scripts = scripts.into_iter().enumerate().map(|(number, script)| {
            // Whoever claims the word asks all others.
            let is_asked = claimants > usize::from(script.contains(&Chunk));
            let writer = Writer::new(&shared, number, is_asked, seen);
            move || writer.run(script)
        });
        let first = scripts.next().expect("a writer");
        scripts.map(thread::spawn).for_each(drop);
        first();
    });
    seen.check_all();
}

#[test]
fn a_message_that_comes_at_any_time_ends_it() {
    run([&[Chunk, Chunk, Message], &[Message]]);
}

#[test]
fn a_writer_that_was_disturbed_is_alone_again() {
    run([&[Chunk, Chunk, Message, Chunk, Chunk, Message], &[Message, Message]]);
}

#[test]
fn of_two_that_claim_one_gives_way() {
    run([&[Chunk, Chunk, Message], &[Chunk, Chunk, Message]]);
}

#[test]
fn two_others_end_it() {
    run([&[Chunk, Chunk, Message], &[Message], &[Message]]);
}

#[test]
fn what_a_third_one_passes_on_counts() {
    run([&[Chunk, Chunk, Message], &[Message], &[PassOn]]);
}
