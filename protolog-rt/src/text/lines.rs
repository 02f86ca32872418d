//! Lines in logcat's threadtime form.
//!
//! A line is made in a buffer on the stack and goes out as a whole. A message of several lines repeats the head on each.
//!
//! Invariants: no panic, no allocation; a line has at most [`LINE`] bytes, a longer one is cut and ends in an ellipsis;
//! control characters of a message never go out.

use super::local_time::local_time;
use crate::sys::thread;
use core::fmt::{self, Write};
use protolog_core::Level;

/// The most bytes of a line, its end included: what a pipe takes whole.
pub(super) const LINE: usize = 4096;
/// Shorter tags are padded to this width.
const TAG_WIDTH: usize = 8;
/// Characters of a tag that are shown.
pub(super) const TAG_MAX: usize = 64;
const ELLIPSIS: &str = "…";

/// Where lines go.
pub(crate) trait Output {
    /// Takes a line, with its end, as a whole.
    fn line(&mut self, line: &[u8]);

    /// Whether it shows colours.
    fn has_colors(&self) -> bool {
        false
    }
}

/// A line in the making.
pub(super) struct Lines<'a, O: Output> {
    out: &'a mut O,
    bytes: [u8; LINE],
    length: usize,
    /// Length of what each line begins with.
    head: usize,
    /// Whether the line is cut, so that the rest of it is given up.
    cut: bool,
    /// Whether a line feed came: it ends the line only if something follows.
    ended: bool,
    /// What a line ends with.
    end: &'static str,
}

impl<'a, O: Output> Lines<'a, O> {
    /// No line yet.
    pub(super) fn new(out: &'a mut O) -> Self {
        Self { out, bytes: [0; LINE], length: 0, head: 0, cut: false, ended: false, end: "\n" }
    }

    /// Begins the message: time, process, thread, level, tag.
    pub(super) fn head(&mut self, level: Level, tag: &str) -> fmt::Result {
        let color = level.terminal_color();
        if self.out.has_colors() && !color.is_empty() {
            self.put(color);
            self.end = "\x1b[0m\n";
        }
        let time = local_time();
        let (process, thread) = (std::process::id(), thread::id());
        write!(self, "{time} {process:>5} {thread:>5} {} ", level.letter())?;
        let mut width = 0;
        for char in tag.chars().filter(|char| *char != '\n').take(TAG_MAX) {
            self.write_char(char)?;
            width += 1;
        }
        write!(self, "{:1$}: ", "", TAG_WIDTH.saturating_sub(width))?;
        self.head = self.length;
        Ok(())
    }

    /// Sends the line.
    pub(super) fn end(&mut self) {
        self.put(self.end);
        self.out.line(&self.bytes[..self.length]);
        self.length = self.head;
        self.cut = false;
        self.ended = false;
    }

    /// Appends `text`, which has no control characters, as far as there is room for it, an ellipsis and the line's end.
    fn push(&mut self, text: &str) {
        if self.cut {
            return;
        }
        let room = LINE - self.end.len() - ELLIPSIS.len() - self.length;
        let mut taken = text.len().min(room);
        while !text.is_char_boundary(taken) {
            taken -= 1;
        }
        self.put(&text[..taken]);
        if taken < text.len() {
            self.put(ELLIPSIS);
            self.cut = true;
        }
    }

    fn put(&mut self, text: &str) {
        self.bytes[self.length..self.length + text.len()].copy_from_slice(text.as_bytes());
        self.length += text.len();
    }
}

impl<O: Output> Write for Lines<'_, O> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let is_special = |char: char| char.is_control() && char != '\t';
        let mut rest = text;
        while !rest.is_empty() {
            if self.ended {
                self.end();
            }
            let plain = rest.find(is_special).unwrap_or(rest.len());
            self.push(&rest[..plain]);
            let mut chars = rest[plain..].chars();
            match chars.next() {
                Some('\n') => self.ended = true,
                Some(control) => {
                    let mut escaped = [0; 4];
                    for char in control.escape_default() {
                        self.push(char.encode_utf8(&mut escaped));
                    }
                }
                None => {}
            }
            rest = chars.as_str();
        }
        Ok(())
    }
}
