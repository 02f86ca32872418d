//! Lines as `logcat -v threadtime` prints them:
//!
//! ```text
//! 11-20 18:27:01.123  1234  1240 D Net     : sent 512 bytes to localhost
//! 11-20 18:27:01.130  1234  1240 ! LOST    : 3 messages of demo::AppLog::Disk: the buffer was full
//! ```
//!
//! A thread that enters a span (`>`) or leaves it (`<`) has a line of the same form. Each line of a multi-line message, and of its stack trace, repeats the head. Without a wall clock, or on request, the time
//! is seconds since boot. A `~` marks a guessed time, a `?` an unknown value.
//!
//! Invariant: characters of a message that control a terminal, or change the direction of a line, are escaped, as in
//! `\u{1b}`.

use std::fmt;
use std::ops::Range;

use foldhash::HashMap;
use protolog_core::Level;

use crate::entry::Entry;
use crate::items::Item;
use crate::log::Log;
use crate::loss::{self, Loss};
use crate::printable::{is_plain, printable, push_printable};
use crate::render::{self, Rendering};
use crate::slices::SpanSlice;
use crate::thread::Thread;
use crate::time_writer::{TimeFormat, TimeWriter};
use crate::times::Times;

/// Writes items as lines of text.
#[derive(Debug)]
pub struct TextWriter<'a> {
    log: &'a Log,
    times: TimeWriter,
    color: bool,
    rendering: Rendering,
    head: String,
    body: String,
    /// Process and thread, by the index of the thread.
    threads: Vec<String>,
    /// Levels and tags, by level and group.
    tags: HashMap<(Option<Level>, Option<u32>), String>,
    marks: Option<Marks<'a>>,
    links: Option<Links<'a>>,
}

/// Finds the parts of a line to mark, as ranges of bytes.
type FindMarks<'a> = dyn Fn(&str) -> Vec<Range<usize>> + 'a;

/// The parts of lines to mark.
struct Marks<'a>(Box<FindMarks<'a>>);

impl Marks<'_> {
    /// Appends a line with its marked parts in reverse video, whatever its color is.
    fn push(&self, out: &mut String, line: &str) {
        let mut at = 0;
        for Range { start, end } in (self.0)(line) {
            let parts = line.get(at..start).zip(line.get(start..end).filter(|it| !it.is_empty()));
            let Some((before, marked)) = parts else { continue };
            push_printable(out, before);
            out.push_str("\x1b[7m");
            push_printable(out, marked);
            out.push_str("\x1b[27m");
            at = end;
        }
        push_printable(out, &line[at..]);
    }
}

/// The addresses of locations.
struct Links<'a>(Box<FindAddress<'a>>);

/// Finds the address of a location, if it has one.
type FindAddress<'a> = dyn Fn(&str) -> Option<String> + 'a;

impl fmt::Debug for Links<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Links")
    }
}

impl fmt::Debug for Marks<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Marks")
    }
}

impl<'a> TextWriter<'a> {
    /// A writer for the items of `log`.
    pub fn new(log: &'a Log, times: Times) -> Self {
        Self {
            log,
            times: TimeWriter::new(times),
            color: false,
            rendering: Rendering::Full,
            head: String::new(),
            body: String::new(),
            threads: Vec::new(),
            tags: HashMap::default(),
            marks: None,
            links: None,
        }
    }

    /// Enables or disables colors by level, with the escape sequences of terminals.
    #[must_use]
    pub fn with_color(mut self, color: bool) -> Self {
        self.color = color;
        self
    }

    /// Sets the form of times.
    #[must_use]
    pub fn with_time_format(mut self, format: TimeFormat) -> Self {
        self.times = self.times.with_format(format);
        self
    }

    /// Sets the rendering of messages.
    #[must_use]
    pub fn with_rendering(mut self, rendering: Rendering) -> Self {
        self.rendering = rendering;
        self
    }

    /// Marks parts of messages, where lines have colors: those in the ranges of bytes, ascending, that `find` returns for a line.
    #[must_use]
    pub fn with_marks(mut self, find: impl Fn(&str) -> Vec<Range<usize>> + 'a) -> Self {
        self.marks = Some(Marks(Box::new(find)));
        self
    }

    /// Makes tags links of terminals (OSC 8), to the address that `find` returns for a message's location, which may have no control characters.
    #[must_use]
    pub fn with_links(mut self, find: impl Fn(&str) -> Option<String> + 'a) -> Self {
        self.links = Some(Links(Box::new(find)));
        self
    }

    /// Appends the lines of `item` to `out`, each with its line end.
    pub fn write(&mut self, item: &Item<'_>, out: &mut String) {
        let done = match item {
            Item::Entry(entry) => self.entry(entry, out),
            Item::Loss(loss) => self.loss(loss, out),
            Item::SpanBegin(slice) => self.span(slice, false, out),
            Item::SpanEnd(slice) => self.span(slice, true, out),
        };
        done.expect("a string takes every write");
    }

    fn entry(&mut self, entry: &Entry<'_>, out: &mut String) -> fmt::Result {
        let values = entry.values();
        let level = values.level();
        self.start(entry.time(), entry.time_is_guess(), entry.thread_index())?;
        let start = self.head.len();
        self.push_tag(level, values.message().map(|message| message.group));
        if let Some(Links(find)) = &self.links
            && let Some(address) = values.message().and_then(|message| find(&message.location))
        {
            link_tag(&mut self.head, start, &address);
        }
        self.body.clear();
        render::write(&mut self.body, self.rendering, &values)?;
        if let Some(stack_trace) = entry.stack_trace() {
            self.body.push('\n');
            self.body.push_str(stack_trace);
        }
        self.lines(level.map_or("", Level::terminal_color), self.marks.as_ref(), out);
        Ok(())
    }

    fn loss(&mut self, loss: &Loss, out: &mut String) -> fmt::Result {
        self.start(loss.time, loss.guessed, loss.thread)?;
        self.head.push_str(&level_and_tag('!', "LOST"));
        self.body.clear();
        loss::describe(&mut self.body, self.log.dictionary(), loss.reason, loss.group, loss.count)?;
        self.lines("\x1b[35m", None, out);
        Ok(())
    }

    fn span(&mut self, slice: &SpanSlice, is_end: bool, out: &mut String) -> fmt::Result {
        let (time, mark) = if is_end { (slice.end, '<') } else { (Some(slice.begin), '>') };
        self.start(time.unwrap_or(slice.begin), false, slice.thread_index())?;
        self.head.push_str(&level_and_tag(mark, self.log.tag_of_slice(slice)));
        self.body.clear();
        self.body.push_str(&slice.text(is_end));
        self.lines("\x1b[34m", None, out);
        Ok(())
    }

    /// Starts the head: time, process and thread.
    fn start(&mut self, time: i64, guessed: bool, thread: u32) -> fmt::Result {
        self.head.clear();
        if guessed {
            self.head.push('~');
        }
        self.times.write(self.log, time, &mut self.head)?;
        let index = thread as usize;
        if self.threads.len() <= index {
            self.threads.resize(index + 1, String::new());
        }
        if self.threads[index].is_empty() {
            self.threads[index] = process_and_thread(self.log.thread(thread));
        }
        self.head.push_str(&self.threads[index]);
        Ok(())
    }

    fn push_tag(&mut self, level: Option<Level>, group: Option<u32>) {
        let text = self.tags.entry((level, group)).or_insert_with(|| {
            let group = group.and_then(|id| self.log.dictionary().group(id));
            let tag = group.map_or("?", |group| match &*group.tag {
                "" => &group.name,
                tag => tag,
            });
            level_and_tag(level.map_or('?', Level::letter), tag)
        });
        self.head.push_str(text);
    }

    /// Appends the lines of the body, each with the head.
    fn lines(&self, color: &str, marks: Option<&Marks<'_>>, out: &mut String) {
        if !self.color && is_plain(&self.body) {
            out.extend([&self.head, &self.body, "\n"]);
            return;
        }
        let body = self.body.strip_suffix('\n').unwrap_or(&self.body);
        for line in body.split('\n') {
            if self.color {
                out.push_str(color);
            }
            out.push_str(&self.head);
            match marks {
                Some(marks) if self.color => marks.push(out, line),
                _ => push_printable(out, line),
            }
            if self.color && !color.is_empty() {
                out.push_str("\x1b[0m");
            }
            out.push('\n');
        }
    }
}

/// Shorter tags are padded to this width.
const TAG_WIDTH: usize = 8;

/// ` 1234  1240`
fn process_and_thread(thread: &Thread) -> String {
    let id = |id: Option<u32>| id.map_or("     ?".to_owned(), |id| format!(" {id:>5}"));
    id(thread.pid) + &id(thread.tid)
}

/// Makes the tag in ` D Net     : `, from `start` on in `head`, a link.
fn link_tag(head: &mut String, start: usize, address: &str) {
    // A space, the level, and another space.
    let tag = start + 3;
    let end = head[..head.len() - 2].trim_end().len().max(tag);
    head.insert_str(end, "\x1b]8;;\x1b\\");
    head.insert_str(tag, &format!("\x1b]8;;{address}\x1b\\"));
}

/// ` D Net     : `
fn level_and_tag(level: char, tag: &str) -> String {
    let tag = printable(tag);
    let missing = TAG_WIDTH.saturating_sub(tag.chars().count());
    format!(" {level} {tag}{:missing$}: ", "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_escaped() {
        let mut out = String::new();
        push_printable(&mut out, "a\x1b[31m\tb\rc\u{9b}é\u{202e}גד\u{2069}");
        assert_eq!(out, "a\\u{1b}[31m\tb\\rc\\u{9b}é\\u{202e}גד\\u{2069}");
    }
}
