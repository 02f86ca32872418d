//! A model of the fence bias (`clock/bias.rs`): the runtime's own word and gate, with fences in
//! place of `membarrier`.
//!
//! The clock is a counter that each reading increments. Like the processor's it orders nothing by
//! itself: a reading behind a fence returns the counter's present value, a reading without one may
//! return any value since the reader's last fence. So a message has two times, the earliest and the
//! latest that it may get. A writer that has seen an effect of another writer's message needs an
//! earliest time that is above that message's latest.

#[path = "../../src/clock/bias.rs"]
mod source;

use crate::gate::Gate;
use crate::sync::{AtomicUsize, Ordering, fence, in_turn};
use loom::sync::Arc;
use loom::thread;
use source::{BiasCandidate, FenceBias};
use std::cell::Cell;
use std::sync::atomic::AtomicBool;

/// The state that all writers share.
struct Shared {
    bias: FenceBias,
    clock: AtomicUsize,
    writers: Vec<Public>,
}

/// The part of a writer that the others see.
struct Public {
    gate: Gate,
    /// The effect that follows a message: the message's latest time and, in the lowest bits, the
    /// number of its writer.
    token: AtomicUsize,
}

const OWNER_BITS: u32 = 2;
const OWNER: usize = (1 << OWNER_BITS) - 1;

/// A thread's writer.
struct Writer {
    shared: Arc<Shared>,
    number: usize,
    /// True if others ask whether it is within a message. A gate is a full fence here, which it is
    /// not in the runtime: where no other writer asks, that fence must not stand in for the
    /// barrier.
    is_asked: bool,
    candidate: BiasCandidate,
    /// True if it acquired the bias since it last passed a fence.
    has_bias: bool,
    /// Time of its last fence.
    fenced: usize,
    covered: &'static Covered,
}

/// A step of a writer.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Step {
    Message,
    /// A message that takes a chunk first.
    Chunk,
    /// No message, but the effect that follows one, after it has seen the effects of the others.
    PassOn,
}
use Step::{Chunk, Message, PassOn};

/// Events that happened in at least one run, to show that the model reaches them.
#[derive(Debug, Default)]
struct Covered {
    /// A writer acquired the bias.
    granted: AtomicBool,
    /// A claim was refused because another writer was within a message.
    refused: AtomicBool,
    /// A biased writer found its bias revoked.
    ended: AtomicBool,
    /// A writer left out the fence though it had seen the effect of another writer's message.
    left_out: AtomicBool,
}

impl Covered {
    fn mark(of: &AtomicBool) {
        of.store(true, Ordering::Relaxed);
    }

    #[track_caller]
    fn check_all(&self) {
        let all = [&self.granted, &self.refused, &self.ended, &self.left_out];
        assert!(all.iter().all(|it| it.load(Ordering::Relaxed)), "{self:?}");
    }
}

impl Writer {
    fn new(shared: &Arc<Shared>, number: usize, is_asked: bool, covered: &'static Covered) -> Self {
        Self {
            shared: Arc::clone(shared),
            number,
            is_asked,
            candidate: BiasCandidate::new(number as u64 + 1),
            has_bias: false,
            fenced: 0,
            covered,
        }
    }

    fn run(mut self, steps: &[Step]) {
        for step in steps {
            self.log(*step);
            // The others' turn.
            thread::yield_now();
        }
    }

    /// Logs a message and has its effect.
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
            self.try_acquire_bias();
        }
        let is_fenced = Cell::new(false);
        shared.bias.fence_unless_biased(&self.candidate, || is_fenced.set(true));
        let latest = self.read();
        if is_fenced.get() {
            self.fenced = latest;
            if std::mem::take(&mut self.has_bias) {
                Covered::mark(&self.covered.ended);
            }
        } else if token > 0 {
            Covered::mark(&self.covered.left_out);
        }
        if self.is_asked {
            own.gate.exit();
        }
        assert!(self.fenced > before, "as early as {}, after one of {before}", self.fenced);
        own.token.store(latest << OWNER_BITS | self.number, Ordering::Release);
    }

    /// `Reader::try_skip_fence`, with `running::is_alone`.
    fn try_acquire_bias(&mut self) {
        let shared = Arc::clone(&self.shared);
        let (number, covered) = (self.number, self.covered);
        let nobody_else = || {
            fence(Ordering::SeqCst);
            let alone = others(&shared, number).all(|other| !other.gate.is_busy());
            if !alone {
                Covered::mark(&covered.refused);
            }
            alone
        };
        if shared.bias.try_acquire(&mut self.candidate, nobody_else) {
            Covered::mark(&self.covered.granted);
            self.has_bias = true;
            self.fenced = self.read();
        }
    }

    /// The token with the latest time of those that this writer sees and that are not its own.
    fn look(&self) -> usize {
        let tokens = others(&self.shared, self.number).map(|it| it.token.load(Ordering::Acquire));
        // Its own messages are in order anyway.
        tokens.filter(|token| token & OWNER != self.number).max().unwrap_or(0)
    }

    /// Reads the clock.
    fn read(&self) -> usize {
        self.shared.clock.fetch_add(1, Ordering::Relaxed)
    }
}

fn others(shared: &Shared, number: usize) -> impl Iterator<Item = &Public> {
    shared.writers.iter().enumerate().filter(move |it| it.0 != number).map(|it| it.1)
}

/// Runs one writer per script, each on its own thread.
fn run<const COUNT: usize>(scripts: [&'static [Step]; COUNT]) {
    let covered: &'static Covered = Box::leak(Box::default());
    in_turn();
    let claims = |script: &&&[Step]| script.contains(&Chunk);
    let claimants = scripts.iter().filter(claims).count();
    crate::check(move || {
        let public = |_| Public { gate: Gate::new(), token: AtomicUsize::new(0) };
        let writers = scripts.iter().map(public).collect();
        let shared =
            Arc::new(Shared { bias: FenceBias::new(), clock: AtomicUsize::new(1), writers });
        // The bias exists before a second thread does.
        let _ = format!("{:?}", shared.bias);
        let mut scripts = scripts.into_iter().enumerate().map(|(number, script)| {
            // A writer with a claim asks all others.
            let is_asked = claimants > usize::from(script.contains(&Chunk));
            let writer = Writer::new(&shared, number, is_asked, covered);
            move || writer.run(script)
        });
        let first = scripts.next().expect("a writer");
        scripts.map(thread::spawn).for_each(drop);
        first();
    });
    covered.check_all();
}

#[test]
fn a_message_at_any_time_revokes_the_bias() {
    run([&[Chunk, Chunk, Message], &[Message]]);
}

#[test]
fn a_writer_can_acquire_the_bias_again() {
    run([&[Chunk, Chunk, Message, Chunk, Chunk, Message], &[Message, Message]]);
}

#[test]
fn of_two_claims_one_gives_way() {
    run([&[Chunk, Chunk, Message], &[Chunk, Chunk, Message]]);
}

#[test]
fn two_other_writers_revoke_it() {
    run([&[Chunk, Chunk, Message], &[Message], &[Message]]);
}

#[test]
fn an_effect_that_a_third_writer_passes_on_counts() {
    run([&[Chunk, Chunk, Message], &[Message], &[PassOn]]);
}
