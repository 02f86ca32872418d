//! The sequences that change colours on a terminal, which obeys no others in text printed for
//! people.

pub(crate) const RESET: &str = "\x1b[0m";
pub(crate) const BOLD: &str = "\x1b[1m";
pub(crate) const RED: &str = "\x1b[1;31m";
pub(crate) const YELLOW: &str = "\x1b[1;33m";
pub(crate) const CYAN: &str = "\x1b[1;36m";

/// All of them.
pub(crate) const COLORS: [&str; 5] = [RESET, BOLD, RED, YELLOW, CYAN];
