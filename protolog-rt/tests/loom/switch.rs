//! The two sides of a group's word at once: a session that starts or stops, and an operator.

use crate::check;
use loom::sync::Arc;
use loom::sync::atomic::{AtomicU32, Ordering};
use loom::thread;
use protolog_core::control::switch::{self, SwitchWord};

/// A word as loom has it.
struct Modelled(AtomicU32);

impl SwitchWord for Modelled {
    fn load_word(&self) -> u32 {
        self.0.load(Ordering::Acquire)
    }

    fn set_bits(&self, bits: u32) {
        self.0.fetch_or(bits, Ordering::Release);
    }

    fn clear_bits(&self, bits: u32) {
        self.0.fetch_and(!bits, Ordering::Release);
    }
}

/// The program goes through `wanted` and the operator through `allowed`, from a word that both had
/// settled; what both leave alone stays on all the time.
fn both(start: (u8, u8), wanted: &'static [u8], allowed: &'static [u8]) {
    check(move || {
        let word = Arc::new(Modelled(AtomicU32::new(0)));
        switch::set_session_levels(&*word, start.0);
        switch::set_allowed_levels(&*word, start.1);
        let always = |start: u8, all: &[u8]| all.iter().fold(start, |stays, one| stays & one);
        let stays = u32::from(always(start.0, wanted) & always(start.1, allowed));
        let operator = {
            let word = Arc::clone(&word);
            thread::spawn(move || {
                for levels in allowed {
                    switch::set_allowed_levels(&*word, *levels);
                    assert_eq!(word.load_word() & stays, stays);
                }
            })
        };
        for levels in wanted {
            switch::set_session_levels(&*word, *levels);
            assert_eq!(word.load_word() & stays, stays);
        }
        operator.join().unwrap();
        let now = word.load_word();
        assert_eq!(now & switch::TRACE_BYTE, u32::from(switch::trace_levels(now)), "{now:08x}");
        let last = |all: &[u8], start| all.last().copied().unwrap_or(start);
        assert_eq!(switch::session_levels(now), last(wanted, start.0));
        assert_eq!(switch::allowed_levels(now), last(allowed, start.1));
    });
}

#[test]
fn a_session_starts_while_the_operator_takes_levels() {
    both((0b000, 0b111), &[0b110], &[0b100]);
}

#[test]
fn a_session_stops_while_the_operator_gives_levels_back() {
    both((0b110, 0b100), &[0b000], &[0b111]);
}

#[test]
fn sessions_and_the_operator_change_their_minds() {
    both((0b001, 0b011), &[0b111, 0b001], &[0b101, 0b011]);
}

#[test]
fn two_operators_and_text_do_not_meet() {
    check(|| {
        let word = Arc::new(Modelled(AtomicU32::new(0)));
        switch::set_session_levels(&*word, 0b11);
        let operator = {
            let word = Arc::clone(&word);
            thread::spawn(move || switch::set_allowed_levels(&*word, 0b01))
        };
        switch::set_text_levels(&*word, 0b10);
        operator.join().unwrap();
        assert_eq!(word.load_word(), 0b11 << 24 | 0b01 << 16 | 0b10 << 8 | 0b01);
    });
}
