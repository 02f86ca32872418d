//! Who alone logs, and so need not put its reading of the clock in order with what other threads do.
//!
//! A processor that may read the counter before an earlier load has its value needs a fence before it, which takes half as long as
//! the rest of a message. It is needed where the load may have shown what another thread did after a message of its own: so not
//! where no other thread logs. One word says which writer alone logs; every message looks at it. Most programs log from one
//! thread for a while; where several take turns, all go behind the fence, and stores to the word become rare.
//!
//! ```text
//! message of a writer     busy = 1, [light], word == own? no fence : another's? word = 0; fence … busy = 0
//! its next chunk          word: 0 -> claimed by it
//! the one after that      still claimed? [heavy], is another writer busy? no: claimed -> own, fence; yes: claimed -> 0
//! ```
//!
//! Invariant: *alone*: while the word is a writer's own, all messages that others finished have times from before that was
//! said, and the next one of another writer says that it is over before it reads the clock. For whoever is within a message
//! when the word is claimed is seen to be busy after the heavy barrier, and whoever begins one later sees the claim.
//! So what another thread did after a message is never seen by this one while it still sees the word as its own.

use crate::sync::{AtomicU64, Ordering};

/// Set where a writer has asked, and nobody else logged since.
const CLAIMED: u64 = 1;

/// The word; see the module. Everybody reads it, so it has a line (and the one that comes with it) of its own.
#[derive(Debug)]
#[repr(align(128))]
pub(crate) struct Sole(AtomicU64);

/// A writer, as far as it may be the sole one.
#[derive(Debug)]
pub(crate) struct Candidate {
    /// What the word is where this one alone logs: even, and nobody else's; 0, which the word then always is, where no
    /// fence is needed.
    own: u64,
    /// Whether it had the word, or asked for it, at its last chunk.
    hoped: bool,
    /// After how many chunks it asks again.
    left: u8,
    /// … the next time. More the sooner others logged.
    patience: u8,
}

impl Sole {
    /// Nobody.
    pub(crate) const fn new() -> Self {
        Self(AtomicU64::new(0))
    }

    /// Calls `fence`, unless `candidate` alone logs; before that, whoever did is told.
    #[inline(always)]
    #[allow(clippy::inline_always)] // Part of every message.
    pub(crate) fn order(&self, candidate: &Candidate, fence: impl FnOnce()) {
        let word = self.0.load(Ordering::Acquire);
        if word == candidate.own {
            return;
        }
        if word != 0 {
            rarely();
            if word != candidate.own | CLAIMED {
                self.0.store(0, Ordering::Release);
            }
        }
        fence();
    }

    /// Whether `candidate` has the word.
    #[cfg(test)]
    pub(crate) fn is_of(&self, candidate: &Candidate) -> bool {
        candidate.own != 0 && self.0.load(Ordering::Acquire) == candidate.own
    }

    /// Asks for the word with a new chunk, out of line. `nobody_else` passes the heavy barrier and then looks whether another
    /// writer is within a message. True where the caller has the word from now on: it has to pass a fence first.
    #[must_use]
    pub(crate) fn settle(
        &self,
        candidate: &mut Candidate,
        nobody_else: impl FnOnce() -> bool,
    ) -> bool {
        let (own, claim) = (candidate.own, candidate.own | CLAIMED);
        if own == 0 {
            return false;
        }
        let word = self.0.load(Ordering::Acquire);
        if word == own {
            candidate.patience /= 2;
        } else if word == claim {
            // Withdrawn where that can't be: who is within a message may be for long, and a barrier at each chunk is too dear.
            let next = if nobody_else() { own } else { 0 };
            let (success, failure) = (Ordering::AcqRel, Ordering::Relaxed);
            let moved = self.0.compare_exchange(claim, next, success, failure).is_ok();
            return moved && next == own;
        } else if candidate.waits() {
            // Somebody else logs.
        } else if word == 0 {
            candidate.hoped = true;
            self.0.store(claim, Ordering::Release);
        }
        false
    }
}

impl Candidate {
    /// One that has no fence to leave out.
    pub(crate) const NONE: Self = Self { own: 0, hoped: false, left: 0, patience: 0 };

    /// The `number`th one, from 1.
    pub(crate) const fn new(number: u64) -> Self {
        Self { own: number << 1, ..Self::NONE }
    }

    /// At a chunk before which others logged: whether it is too early to ask.
    fn waits(&mut self) -> bool {
        if std::mem::take(&mut self.hoped) {
            self.left = self.patience;
            self.patience = self.patience.saturating_mul(4).saturating_add(3);
        }
        let waits = self.left > 0;
        self.left = self.left.saturating_sub(1);
        waits
    }
}

/// Says that what calls this is seldom done, so that it stands out of the way.
#[cold]
fn rarely() {}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::cell::Cell;

    /// Takes `steps` and checks what each of them does.
    ///
    /// A step is a message of writer `a` or `b`, or `n`, which has no fence to leave out; or, in capitals, its next chunk. After
    /// that comes what is found where it is looked whether another writer is within a message: `!` that one is, `b`
    /// that none is, but that this one logs before the answer is there; without these there is none.
    ///
    /// What it does is the word that it leaves: `-` for nobody, a writer, with `?` where it has only claimed it; then `!`
    /// where it was looked whether another writer is within a message, and `+` where a fence is passed.
    #[track_caller]
    fn check(steps: &str, expected: &str) {
        let sole = Sole::new();
        let mut writers = [Candidate::new(1), Candidate::new(2), Candidate::NONE];
        let found: Vec<String> =
            steps.split_whitespace().map(|step| take(&sole, &mut writers, step)).collect();
        let expected: Vec<&str> = expected.split_whitespace().collect();
        assert_eq!(found, expected, "{steps}");
    }

    fn take(sole: &Sole, writers: &mut [Candidate; 3], step: &str) -> String {
        let place = |letter: char| "abn".find(letter.to_ascii_lowercase()).expect("a writer");
        let (mut letters, looked) = (step.chars(), Cell::new(false));
        let (first, meanwhile) = (letters.next().expect("a writer"), letters.next());
        let fenced = if first.is_lowercase() {
            is_fenced(sole, &writers[place(first)])
        } else {
            sole.settle(&mut writers[place(first)], || {
                looked.set(true);
                match meanwhile {
                    Some('b') => is_fenced(sole, &Candidate::new(2)),
                    busy => busy.is_none(),
                }
            })
        };
        let word = match sole.0.load(Ordering::Relaxed) {
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

    /// A message: whether it passes a fence.
    fn is_fenced(sole: &Sole, candidate: &Candidate) -> bool {
        let fenced = Cell::new(false);
        sole.order(candidate, || fenced.set(true));
        fenced.get()
    }

    #[test]
    fn who_logs_alone_has_the_word_with_its_second_chunk() {
        check("a a A a a A a a", "-+ -+ a? a?+ a?+ a!+ a a");
        // Then nobody is asked any more.
        check("A A A a A a", "a? a!+ a a a a");
    }

    #[test]
    fn a_message_of_another_ends_it() {
        check("A b a", "a? -+ -+");
        check("A A b a b", "a? a!+ -+ -+ -+");
        // Each has it in its turn.
        check("A A b B B b a b", "a? a!+ -+ b? b!+ b -+ -+");
    }

    #[test]
    fn a_chunk_of_another_leaves_it() {
        // Only its messages count, one of which comes with each chunk.
        check("A B A B a B", "a? a? a!+ a a a");
    }

    #[test]
    fn whoever_is_within_a_message_keeps_it_from_being_granted() {
        check("A A! a A A a", "a? -! -+ a? a!+ a");
        // Nor is that asked with each chunk, while one is in a message for long.
        check("A A! A A! A A A A A", "a? -! a? -! - - - a? a!+");
    }

    #[test]
    fn whoever_logs_while_it_is_looked_keeps_it_from_being_granted() {
        check("A Ab a", "a? -! -+");
        // Also where it claims it.
        check("A Ab B A B", "a? -! b? b? b!+");
    }

    #[test]
    fn where_no_fence_is_needed_nothing_is_asked() {
        check("n N n N N n", "- - - - - -");
    }

    #[test]
    fn neighbours_do_not_share_a_word() {
        let numbers = 1..100;
        let words = numbers.flat_map(|number| {
            let own = Candidate::new(number).own;
            [own, own | CLAIMED]
        });
        assert!(words.eq(2..200), "each once, and none of them nobody's");
    }

    /// Takes chunks, after each of which another writer logs, until the `count`th claim; after how many chunks the claims came.
    fn disturbed(sole: &Sole, candidate: &mut Candidate, count: usize) -> Vec<usize> {
        let (other, mut chunks, mut tries) = (Candidate::new(u64::MAX >> 1), 0, Vec::new());
        while tries.len() < count {
            is_fenced(sole, &other);
            assert!(!sole.settle(candidate, || panic!("others logged since")));
            chunks += 1;
            assert!(chunks <= 256, "it gave up");
            if sole.0.load(Ordering::Relaxed) == candidate.own | CLAIMED {
                tries.push(std::mem::take(&mut chunks));
            }
        }
        tries
    }

    #[test]
    fn who_is_disturbed_asks_less_and_less_often_but_never_gives_up() {
        let (sole, mut candidate) = (Sole::new(), Candidate::new(1));
        let tries = disturbed(&sole, &mut candidate, 10);
        assert_eq!(tries, [1, 1, 4, 16, 64, 256, 256, 256, 256, 256], "chunks");
    }

    #[test]
    fn who_is_not_disturbed_asks_sooner_again() {
        for chunks in 0..12 {
            let (sole, mut candidate) = (Sole::new(), Candidate::new(1));
            disturbed(&sole, &mut candidate, 9);
            assert!(sole.settle(&mut candidate, || true));
            for _ in 0..chunks {
                assert!(!sole.settle(&mut candidate, || panic!("it has the word")));
            }
            let tries = disturbed(&sole, &mut candidate, 1);
            assert_eq!(tries, [(255 >> chunks) + 1], "after {chunks} chunks with the word");
        }
    }

    #[test]
    fn while_another_claims_nothing_is_asked() {
        let (sole, mut candidate) = (Sole::new(), Candidate::new(1));
        let mut other = Candidate::new(2);
        assert!(!sole.settle(&mut other, || false));
        for _ in 0..1_000 {
            assert!(!sole.settle(&mut candidate, || panic!("it is another's")));
        }
        assert!(sole.settle(&mut other, || true), "nobody logged");
        // Nor was that a reason to wait.
        assert_eq!(disturbed(&sole, &mut candidate, 2), [1, 1]);
    }
}
