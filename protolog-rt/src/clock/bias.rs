//! The load fence before the clock, left out while a single writer logs.
//!
//! Some processors may read their counter before an earlier load has its value. They need a fence
//! in front of the counter. Without it, a thread could give a message an earlier time than a
//! message whose effect it has already seen. The fence takes half as long as the rest of a message.
//! It is needed only where that load may have shown an action of another thread after a message of
//! its own, so not while no other thread logs.
//!
//! One word of the process says which writer the clock is biased to, as a biased lock is to its
//! owner; each message looks at it. The biased writer leaves the fence out; any other writer
//! revokes the bias before it reads the clock. Most programs log from one thread for a while. Where
//! several take turns, all of them fence, back off, and rarely store to the word.
//!
//! ```text
//! message of a writer     busy = 1, [light], word == own? no fence : another's? word = 0; fence … busy = 0
//! its next chunk          word: 0 -> claimed by it
//! the one after that      still claimed? [heavy], is another writer busy? no: claimed -> own, fence; yes: claimed -> 0
//! ```
//!
//! Invariant: *alone*: while the word is a writer's own, all messages that others finished have
//! times from before the bias was granted, and the next message of another writer revokes the bias
//! before it reads the clock. A writer that is within a message when the word is claimed is seen to
//! be busy after the heavy barrier, and one that begins a message later sees the claim. So while a
//! writer still sees the word as its own, it has seen no action of another thread after a message.

use crate::sync::{AtomicU64, Ordering};

/// Set while a writer has claimed the bias but does not have it yet.
const CLAIMED: u64 = 1;

/// The word that names the writer which needs no fence. All threads read it, so it has a cache line
/// (and the adjacent one, which is fetched with it) of its own.
#[derive(Debug)]
#[repr(align(128))]
pub(crate) struct FenceBias(AtomicU64);

/// A writer's part in the bias.
#[derive(Debug)]
pub(crate) struct BiasCandidate {
    /// The word's value while the clock is biased to this writer: even, and no other writer's; 0,
    /// which the word then always is, where no fence is needed.
    own: u64,
    /// True if it had the bias, or a claim, at its last chunk.
    had_claim: bool,
    /// Chunks to take before the next claim.
    chunks_to_wait: u8,
    /// Chunks to wait after the next revocation; grows with each one that comes soon.
    backoff: u8,
}

impl FenceBias {
    /// Creates a word that is biased to no writer.
    pub(crate) const fn new() -> Self {
        Self(AtomicU64::new(0))
    }

    /// Calls `fence`, unless the clock is biased to `candidate`. Revokes the bias or the claim of
    /// another writer first.
    #[inline(always)]
    #[allow(clippy::inline_always)] // Part of every message.
    pub(crate) fn fence_unless_biased(&self, candidate: &BiasCandidate, fence: impl FnOnce()) {
        let word = self.0.load(Ordering::Acquire);
        if word == candidate.own {
            return;
        }
        if word != 0 {
            cold();
            if word != candidate.own | CLAIMED {
                self.0.store(0, Ordering::Release);
            }
        }
        fence();
    }

    /// Returns true if the clock is biased to `candidate`.
    #[cfg(test)]
    pub(crate) fn is_biased_to(&self, candidate: &BiasCandidate) -> bool {
        candidate.own != 0 && self.0.load(Ordering::Acquire) == candidate.own
    }

    /// Claims the bias with one chunk of `candidate`, and acquires it with the next if no other
    /// writer logged in between. `nobody_else` passes the heavy barrier, and then returns true if
    /// no other writer is within a message. Returns true if the caller has acquired the bias with
    /// this call: it must pass a fence before it reads the clock.
    #[must_use]
    pub(crate) fn try_acquire(
        &self,
        candidate: &mut BiasCandidate,
        nobody_else: impl FnOnce() -> bool,
    ) -> bool {
        let (own, claim) = (candidate.own, candidate.own | CLAIMED);
        if own == 0 {
            return false;
        }
        let word = self.0.load(Ordering::Acquire);
        if word == own {
            candidate.backoff /= 2;
        } else if word == claim {
            // A refused claim is withdrawn: another writer may stay within a message for long, and
            // a barrier with each chunk costs too much.
            let next = if nobody_else() { own } else { 0 };
            let (success, failure) = (Ordering::AcqRel, Ordering::Relaxed);
            let moved = self.0.compare_exchange(claim, next, success, failure).is_ok();
            return moved && next == own;
        } else if candidate.must_wait() {
            // Another writer logged a short while ago.
        } else if word == 0 {
            candidate.had_claim = true;
            self.0.store(claim, Ordering::Release);
        }
        false
    }
}

impl BiasCandidate {
    /// A writer that needs no fence.
    pub(crate) const NONE: Self = Self { own: 0, had_claim: false, chunks_to_wait: 0, backoff: 0 };

    /// Creates the `number`th candidate, from 1.
    pub(crate) const fn new(number: u64) -> Self {
        Self { own: number << 1, ..Self::NONE }
    }

    /// Counts a chunk before which other writers logged; returns true if it is too early to claim.
    fn must_wait(&mut self) -> bool {
        if std::mem::take(&mut self.had_claim) {
            self.chunks_to_wait = self.backoff;
            self.backoff = self.backoff.saturating_mul(4).saturating_add(3);
        }
        let must_wait = self.chunks_to_wait > 0;
        self.chunks_to_wait = self.chunks_to_wait.saturating_sub(1);
        must_wait
    }
}

/// Marks the branch that calls it as unlikely, so that its code stands out of line.
#[cold]
fn cold() {}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::cell::Cell;

    /// Takes `steps` and checks the outcome of each.
    ///
    /// A step is a message of writer `a` or `b`, or of `n`, which needs no fence; in capitals, the
    /// writer's next chunk. A second character is the state of the others when the writer asks for
    /// it: `!` another writer is within a message, `b` none is, but `b` logs before the answer
    /// arrives; without it, none is.
    ///
    /// An outcome is the word after the step: `-` for no writer, or a writer, with `?` if it has
    /// only a claim; then `!` if the step asked for the others' state, and `+` if it passed a
    /// fence.
    #[track_caller]
    fn check(steps: &str, expected: &str) {
        let bias = FenceBias::new();
        let mut writers = [BiasCandidate::new(1), BiasCandidate::new(2), BiasCandidate::NONE];
        let found: Vec<String> =
            steps.split_whitespace().map(|step| take(&bias, &mut writers, step)).collect();
        let expected: Vec<&str> = expected.split_whitespace().collect();
        assert_eq!(found, expected, "{steps}");
    }

    fn take(bias: &FenceBias, writers: &mut [BiasCandidate; 3], step: &str) -> String {
        let place = |letter: char| "abn".find(letter.to_ascii_lowercase()).expect("a writer");
        let (mut letters, looked) = (step.chars(), Cell::new(false));
        let (first, meanwhile) = (letters.next().expect("a writer"), letters.next());
        let fenced = if first.is_lowercase() {
            is_fenced(bias, &writers[place(first)])
        } else {
            bias.try_acquire(&mut writers[place(first)], || {
                looked.set(true);
                match meanwhile {
                    Some('b') => is_fenced(bias, &BiasCandidate::new(2)),
                    busy => busy.is_none(),
                }
            })
        };
        let word = match bias.0.load(Ordering::Relaxed) {
            0 => "-",
            2 => "a",
            3 => "a?",
            4 => "b",
            5 => "b?",
            word => panic!("{step}: {word}"),
        };
        let (looked, fenced) = (if looked.get() { "!" } else { "" }, if fenced { "+" } else { "" });
        format!("{word}{looked}{fenced}")
    }

    /// Logs a message; returns true if it passes a fence.
    fn is_fenced(bias: &FenceBias, candidate: &BiasCandidate) -> bool {
        let fenced = Cell::new(false);
        bias.fence_unless_biased(candidate, || fenced.set(true));
        fenced.get()
    }

    #[test]
    fn a_single_writer_is_biased_from_its_second_chunk() {
        check("a a A a a A a a", "-+ -+ a? a?+ a?+ a!+ a a");
        // From then on it asks no more.
        check("A A A a A a", "a? a!+ a a a a");
    }

    #[test]
    fn a_message_of_another_writer_revokes_it() {
        check("A b a", "a? -+ -+");
        check("A A b a b", "a? a!+ -+ -+ -+");
        // Each has it in turn.
        check("A A b B B b a b", "a? a!+ -+ b? b!+ b -+ -+");
    }

    #[test]
    fn a_chunk_of_another_writer_does_not_revoke_it() {
        // Only messages revoke, and one comes with each chunk.
        check("A B A B a B", "a? a? a!+ a a a");
    }

    #[test]
    fn a_writer_within_a_message_keeps_it_from_being_granted() {
        check("A A! a A A a", "a? -! -+ a? a!+ a");
        // While one stays within a message, not every chunk asks.
        check("A A! A A! A A A A A", "a? -! a? -! - - - a? a!+");
    }

    #[test]
    fn a_message_during_the_check_keeps_it_from_being_granted() {
        check("A Ab a", "a? -! -+");
        // Even if that writer then claims it.
        check("A Ab B A B", "a? -! b? b? b!+");
    }

    #[test]
    fn without_a_fence_nothing_is_asked() {
        check("n N n N N n", "- - - - - -");
    }

    #[test]
    fn candidates_do_not_share_a_value() {
        let numbers = 1..100;
        let words = numbers.flat_map(|number| {
            let own = BiasCandidate::new(number).own;
            [own, own | CLAIMED]
        });
        assert!(words.eq(2..200), "each once, and never 0");
    }

    /// Takes chunks, with a message of another writer before each, up to the `count`th claim;
    /// returns the chunks before each claim.
    fn disturbed(bias: &FenceBias, candidate: &mut BiasCandidate, count: usize) -> Vec<usize> {
        let (other, mut chunks, mut tries) = (BiasCandidate::new(u64::MAX >> 1), 0, Vec::new());
        while tries.len() < count {
            is_fenced(bias, &other);
            assert!(!bias.try_acquire(candidate, || panic!("others logged since")));
            chunks += 1;
            assert!(chunks <= 256, "it gave up");
            if bias.0.load(Ordering::Relaxed) == candidate.own | CLAIMED {
                tries.push(std::mem::take(&mut chunks));
            }
        }
        tries
    }

    #[test]
    fn a_disturbed_writer_claims_less_often_but_never_gives_up() {
        let (bias, mut candidate) = (FenceBias::new(), BiasCandidate::new(1));
        let tries = disturbed(&bias, &mut candidate, 10);
        assert_eq!(tries, [1, 1, 4, 16, 64, 256, 256, 256, 256, 256], "chunks");
    }

    #[test]
    fn an_undisturbed_writer_claims_sooner_again() {
        for chunks in 0..12 {
            let (bias, mut candidate) = (FenceBias::new(), BiasCandidate::new(1));
            disturbed(&bias, &mut candidate, 9);
            assert!(bias.try_acquire(&mut candidate, || true));
            for _ in 0..chunks {
                assert!(!bias.try_acquire(&mut candidate, || panic!("it has the bias")));
            }
            let tries = disturbed(&bias, &mut candidate, 1);
            assert_eq!(tries, [(255 >> chunks) + 1], "after {chunks} chunks with the bias");
        }
    }

    #[test]
    fn while_another_writer_claims_nothing_is_asked() {
        let (bias, mut candidate) = (FenceBias::new(), BiasCandidate::new(1));
        let mut other = BiasCandidate::new(2);
        assert!(!bias.try_acquire(&mut other, || false));
        for _ in 0..1_000 {
            assert!(!bias.try_acquire(&mut candidate, || panic!("it is another's")));
        }
        assert!(bias.try_acquire(&mut other, || true), "nobody logged");
        // Nor did that add to its wait.
        assert_eq!(disturbed(&bias, &mut candidate, 2), [1, 1]);
    }
}
