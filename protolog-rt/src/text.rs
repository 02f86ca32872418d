//! The text side: messages as lines on standard error, in logcat's threadtime form.
//!
//! ```text
//! 11-20 18:27:01.123  1234  1240 D Net     : sent 512 bytes to localhost
//! ```
//!
//! A line is made on the calling thread, in a buffer on its stack, and goes out with one write, so that lines of several
//! threads do not mix. A message of several lines repeats the head on each.
//!
//! Invariants: no panic, no allocation, no lock of ours; a line has at most [`LINE`] bytes, a longer one is cut and ends in
//! an ellipsis; control characters never reach the terminal; what can't be written is given up.

mod os;

use crate::dictionary::template;
use crate::level::ProtoLogGroup;
use crate::log::Values;
use core::fmt::{self, Write};
use protolog_core::note::{Note, Parsed};
use protolog_core::{Arg, Level, MAX_PARAMS, Template, render};

/// The most bytes of a line, its end included: what a pipe takes whole.
const LINE: usize = 4096;
/// Shorter tags are padded to this width.
const TAG_WIDTH: usize = 8;
/// Characters of a tag that are shown.
const TAG_MAX: usize = 64;
const ELLIPSIS: &str = "…";

/// Prints the messages of `group` from `level` on; none where there is no level. What `#[protolog(log_to_text = …)]` says
/// is the state at the start.
///
/// ```
/// # use protolog_rt::{Level, ProtoLogGroup, print_group};
/// # #[derive(ProtoLogGroup)]
/// # enum AppLog { Net }
/// print_group(&AppLog::Net, Some(Level::Warn));
/// assert!(AppLog::Net.is_enabled(Level::Error) && !AppLog::Net.is_enabled(Level::Info));
/// ```
pub fn print_group(group: &impl ProtoLogGroup, level: Option<Level>) {
    let levels = level.map_or(0, |from| {
        Level::ALL
            .into_iter()
            .filter(|level| *level >= from)
            .fold(0, |set, level| set | 1 << level.severity())
    });
    crate::level::set_text(group.info(), levels);
    crate::level::changed();
}

/// Prints the message that `note` describes, with `values`. Without a note, as in rewritten code, a dictionary that is loaded
/// knows the text; where none does, the id stands for it.
#[cold]
pub(crate) fn emit_text<V: Values>(id: u64, level: Level, tag: &str, note: &[u8], values: &V) {
    let mut args = [Arg::Bool(false); MAX_PARAMS];
    let mut count = 0;
    values.for_each(&mut |arg| {
        if let Some(slot) = args.get_mut(count) {
            *slot = arg;
            count += 1;
        }
    });
    let args = &args[..count];
    if let Some((Parsed::Note(note), _)) = Note::parse(note) {
        return print(&mut os::Stderr, level, tag, note.template, args);
    }
    match template(id, &mut [0; LINE]) {
        Some(template) => print(&mut os::Stderr, level, tag, template, args),
        None => print_unknown(&mut os::Stderr, level, tag, id, args),
    }
}

/// Prints a message whose template is known at run time only.
#[cold]
pub(crate) fn emit_dynamic(level: Level, tag: &str, template: &str, args: &[Arg<'_>]) {
    print(&mut os::Stderr, level, tag, template, args);
}

/// Prints a message. A text that is no template is printed as it stands.
pub(crate) fn print(
    out: &mut impl Output,
    level: Level,
    tag: &str,
    template: &str,
    args: &[Arg<'_>],
) {
    let mut lines = Lines::new(out);
    // Writing to a buffer that gives up what does not fit can't fail.
    let _ = lines.head(level, tag);
    let mut args = args.iter().copied();
    let _ = match Template::parse(template) {
        Ok(template) => render(&mut lines, &template, |_| args.next()),
        Err(_) => lines.write_str(template),
    };
    lines.end();
}

/// Prints a message whose text nobody knows: `#123 (1500, example.org)`.
pub(crate) fn print_unknown(
    out: &mut impl Output,
    level: Level,
    tag: &str,
    id: u64,
    args: &[Arg<'_>],
) {
    let mut lines = Lines::new(out);
    // Writing to a buffer that gives up what does not fit can't fail.
    let _ = lines.head(level, tag);
    let _ = write!(lines, "#{} (", id as i64);
    for (index, arg) in args.iter().enumerate() {
        let _ = lines.write_str(if index > 0 { ", " } else { "" });
        let _ = match arg {
            Arg::Str(text) => lines.write_str(text),
            Arg::Int(number) => write!(lines, "{number}"),
            Arg::Uint(number) => write!(lines, "{number}"),
            Arg::Float(number) => write!(lines, "{number}"),
            Arg::Bool(value) => write!(lines, "{value}"),
        };
    }
    let _ = lines.write_char(')');
    lines.end();
}

/// Where lines go.
pub(crate) trait Output {
    /// Takes a line, with its end, as a whole.
    fn line(&mut self, line: &[u8]);
}

/// A line in the making.
struct Lines<'a, O: Output> {
    out: &'a mut O,
    bytes: [u8; LINE],
    length: usize,
    /// Length of what each line begins with.
    head: usize,
    /// Whether the line is cut, so that the rest of it is given up.
    cut: bool,
    /// Whether a line feed came: it ends the line only if something follows.
    ended: bool,
}

impl<'a, O: Output> Lines<'a, O> {
    fn new(out: &'a mut O) -> Self {
        Self { out, bytes: [0; LINE], length: 0, head: 0, cut: false, ended: false }
    }

    fn head(&mut self, level: Level, tag: &str) -> fmt::Result {
        let time = os::local_time();
        let (process, thread) = (std::process::id(), os::thread_id());
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
    fn end(&mut self) {
        self.bytes[self.length] = b'\n';
        self.out.line(&self.bytes[..=self.length]);
        self.length = self.head;
        self.cut = false;
        self.ended = false;
    }

    /// Appends `text`, which has no control characters, as far as there is room for it, an ellipsis and the line's end.
    fn push(&mut self, text: &str) {
        if self.cut {
            return;
        }
        let room = LINE - 1 - ELLIPSIS.len() - self.length;
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

#[cfg(test)]
mod tests;
