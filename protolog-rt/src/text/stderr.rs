//! Lines on standard error.

use super::lines::Output;
use crate::sys::environment::variable;
use crate::text_queue::write_line;
use std::io::IsTerminal as _;
use std::sync::atomic::{AtomicU8, Ordering::Relaxed};

/// Standard error, without the lock and the panics of the standard library's, and without waiting
/// for it.
pub(super) struct Stderr;

impl Output for Stderr {
    fn has_colors(&self) -> bool {
        /// True where standard error is a terminal and `NO_COLOR` is not set: 0 not known yet, 1
        /// no, 2 yes.
        static COLORS: AtomicU8 = AtomicU8::new(0);
        match COLORS.load(Relaxed) {
            0 => {
                let wanted = variable("NO_COLOR").is_none_or(|value| value.is_empty());
                let has = wanted && std::io::stderr().is_terminal();
                COLORS.store(1 + u8::from(has), Relaxed);
                has
            }
            known => known == 2,
        }
    }

    fn line(&mut self, line: &[u8]) {
        write_line(line);
    }
}
