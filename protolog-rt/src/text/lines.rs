//! Lines in logcat's threadtime form.
//!
//! A line is built in a buffer on the stack and written as a whole. Each line of a message repeats
//! the header.
//!
//! Invariants: no panic, no allocation; a line has at most [`LINE`] bytes, a longer one is cut and
//! ends in an ellipsis; characters that [`Form::Line`] escapes are never written as they are.

use super::local_time::local_time;
use super::sink::TextLine;
use crate::sys::process::asked_id;
use core::fmt::{self, Write};
use protolog_core::escape::Form;

/// The most bytes of a line, its end included: a pipe takes so many whole.
pub(super) const LINE: usize = 4096;
/// Shorter tags are padded to this width.
const TAG_WIDTH: usize = 8;
/// Characters of a tag that are shown.
pub(super) const TAG_MAX: usize = 64;
const ELLIPSIS: &str = "…";

/// A destination of lines.
pub(crate) trait Output {
    /// Takes a line, with its end, as a whole.
    fn line(&mut self, line: &[u8]);

    /// True where colours are shown.
    fn has_colors(&self) -> bool {
        false
    }
}

/// Prints a message as lines in logcat's threadtime form.
pub(super) fn print(out: &mut impl Output, message: &TextLine<'_>) {
    print_with(out, message, |out| out.write_str(message.text));
}

/// Prints the message that `fill` writes, with the rest of `message`, as such lines.
pub(super) fn print_with(
    out: &mut impl Output,
    message: &TextLine<'_>,
    fill: impl FnOnce(&mut dyn Write) -> fmt::Result,
) {
    let mut lines = Lines::new(out);
    // The buffer drops what does not fit, so writing can't fail.
    let _ = lines.write_header(message);
    let _ = fill(&mut lines);
    lines.end_line();
}

/// A message that is being written as lines.
pub(super) struct Lines<'a, O: Output> {
    out: &'a mut O,
    bytes: [u8; LINE],
    length: usize,
    /// Length of the header of each line.
    header: usize,
    /// True where the line is cut, and the rest of it dropped.
    cut: bool,
    /// True after a line feed, which ends the line only if more follows.
    ended: bool,
    /// The end of a line.
    end: &'static str,
}

impl<'a, O: Output> Lines<'a, O> {
    /// Creates an empty message.
    pub(super) fn new(out: &'a mut O) -> Self {
        Self { out, bytes: [0; LINE], length: 0, header: 0, cut: false, ended: false, end: "\n" }
    }

    /// Writes the header: time, process, thread, level, tag.
    fn write_header(&mut self, message: &TextLine<'_>) -> fmt::Result {
        let color = message.level.terminal_color();
        if self.out.has_colors() && !color.is_empty() {
            self.put(color);
            self.end = "\x1b[0m\n";
        }
        let time = local_time(message.time);
        let (process, thread) = (asked_id(), message.thread);
        write!(self, "{time} {process:>5} {thread:>5} {} ", message.level.letter())?;
        let mut width = 0;
        for char in message.tag.chars().filter(|char| *char != '\n').take(TAG_MAX) {
            self.write_char(char)?;
            width += 1;
        }
        write!(self, "{:1$}: ", "", TAG_WIDTH.saturating_sub(width))?;
        self.header = self.length;
        Ok(())
    }

    /// Writes the line out.
    pub(super) fn end_line(&mut self) {
        self.put(self.end);
        self.out.line(&self.bytes[..self.length]);
        self.length = self.header;
        self.cut = false;
        self.ended = false;
    }

    /// Appends as much of `text`, which has nothing to escape, as fits before an ellipsis and the
    /// line's end.
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
        let is_special = |char: char| Form::Line.escapes(char);
        let mut rest = text;
        while !rest.is_empty() {
            if self.ended {
                self.end_line();
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
