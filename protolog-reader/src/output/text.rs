//! Lines as `logcat -v threadtime` prints them:
//!
//! ```text
//! 11-20 18:27:01.123  1234  1240 D Net     : sent 512 bytes to localhost
//! 11-20 18:27:01.130  1234  1240 ! LOST    : 3 messages of demo::AppLog::Disk: the buffer was full
//! ```
//!
//! A thread that enters a span (`>`) or leaves it (`<`) has a line of the same form. On request,
//! the spans that a message was logged in stand before it: `net:request{id=7}: sent 512 bytes`.
//!
//! Each line of a multi-line message, and of its stack trace, repeats the head. Without a wall
//! clock, or on request, the time is seconds since boot. A `~` marks a guessed time, a `?` an
//! unknown value.
//!
//! Invariant: characters of a message that control a terminal, or change the direction of a line,
//! are escaped, as in `\u{1b}`.

use std::fmt;
use std::ops::Range;

use foldhash::HashMap;
use protolog_core::Level;

use crate::dictionary::message_plan::Part;
use crate::dictionary::{Dictionary, Message};
use crate::formatting::line::{LineRoom, ROOM};
use crate::formatting::printable::{is_plain, printable, push_printable};
use crate::formatting::snippet::Snippet;
use crate::log::Log;
use crate::log::entry::Entry;
use crate::log::fast_values::{BlockHints, Prepared};
use crate::log::line_plan::LinePlan;
use crate::log::log_items::Item;
use crate::log::render::{self, Rendering};
use crate::losses::loss::Loss;
use crate::sequences::thread::Thread;
use crate::spans::around::spans_text;
use crate::spans::span_slice::SpanSlice;
use crate::times::Times;
use crate::times::time_writer::{LastTime, TimeFormat, TimeWriter};
use unicode_width::UnicodeWidthStr;

/// Writes items as lines of text.
#[derive(Debug)]
pub struct TextWriter<'a> {
    log: &'a Log,
    times: TimeWriter,
    last_time: LastTime,
    color: bool,
    rendering: Rendering,
    head: String,
    body: String,
    /// Lines of the slow path.
    slow_lines: String,
    /// True if the spans around a message stand before it.
    has_spans_around: bool,
    /// True if all lines take the slow path: with colors, links or spans, and for a comparison of
    /// both.
    is_slow: bool,
    /// The lines of messages from the level on, and where to look for their values.
    messages: Prepared<LinePlan>,
    hints: BlockHints,
    room: LineRoom,
    /// Process and thread, by the index of the thread.
    threads: Vec<Option<Snippet>>,
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
            last_time: LastTime::default(),
            color: false,
            rendering: Rendering::Full,
            head: String::new(),
            body: String::new(),
            slow_lines: String::new(),
            has_spans_around: false,
            is_slow: false,
            messages: Prepared::default(),
            hints: BlockHints::default(),
            room: LineRoom::default(),
            threads: Vec::new(),
            tags: HashMap::default(),
            marks: None,
            links: None,
        }
    }

    /// Enables or disables colors by level, with the escape sequences of terminals.
    #[must_use]
    pub fn with_color(mut self, color: bool) -> Self {
        (self.color, self.is_slow) = (color, self.is_slow || color);
        self
    }

    /// Sets the form of times.
    #[must_use]
    pub fn with_time_format(mut self, format: TimeFormat) -> Self {
        (self.times, self.last_time) = (self.times.with_format(format), LastTime::default());
        self
    }

    /// Sets the rendering of messages.
    #[must_use]
    pub fn with_rendering(mut self, rendering: Rendering) -> Self {
        self.rendering = rendering;
        self.is_slow |= rendering != Rendering::Full;
        self
    }

    /// Writes the spans that a message was logged in before it, if the log was read with spans.
    #[must_use]
    pub fn with_spans_around(mut self, wanted: bool) -> Self {
        self.has_spans_around = wanted && self.log.has_spans_around();
        self.is_slow |= self.has_spans_around;
        self
    }

    /// Makes all lines take the slow path, which are the same.
    #[doc(hidden)]
    #[must_use]
    pub fn with_slow_path(mut self) -> Self {
        self.is_slow = true;
        self
    }

    /// Marks parts of messages, where lines have colors: those in the ranges of bytes, ascending,
    /// that `find` returns for a line.
    #[must_use]
    pub fn with_marks(mut self, find: impl Fn(&str) -> Vec<Range<usize>> + 'a) -> Self {
        self.marks = Some(Marks(Box::new(find)));
        self
    }

    /// Makes tags links of terminals (OSC 8), to the address that `find` returns for a message's
    /// location, which may have no control characters.
    #[must_use]
    pub fn with_links(mut self, find: impl Fn(&str) -> Option<String> + 'a) -> Self {
        (self.links, self.is_slow) = (Some(Links(Box::new(find))), true);
        self
    }

    /// Appends the lines of `item` to `out`, each with its line end; they are UTF-8.
    pub fn write(&mut self, item: &Item<'_>, out: &mut Vec<u8>) {
        if let Item::Entry(entry) = item
            && !self.is_slow
            && self.fast_entry(entry, out).is_some()
        {
            return;
        }
        let mut lines = std::mem::take(&mut self.slow_lines);
        lines.clear();
        let done = match item {
            Item::Entry(entry) => self.entry(entry, &mut lines),
            Item::Loss(loss) => self.loss(loss, &mut lines),
            Item::SpanBegin(slice) => self.span(slice, false, &mut lines),
            Item::SpanEnd(slice) => self.span(slice, true, &mut lines),
        };
        done.expect("a string takes every write");
        out.extend_from_slice(lines.as_bytes());
        self.slow_lines = lines;
    }

    /// Appends the line of an entry by the fast path; none if that is left to the slow one.
    fn fast_entry(&mut self, entry: &Entry<'_>, out: &mut Vec<u8>) -> Option<()> {
        let (id, mut values) = entry.fast_values(&mut self.hints)?;
        let dictionary = self.log.dictionary();
        let plan = self.messages.get(dictionary, id, |message| line_plan(dictionary, message))?;
        let mut line = self.room.begin();
        if entry.time_is_guess() {
            line.push_byte(b'~');
        }
        self.times.push_again(&mut self.last_time, self.log, entry.time(), &mut line);
        process_and_thread_of(&mut self.threads, self.log, entry.thread_index()).push(&mut line);
        plan.push(&mut values, &mut line)?;
        out.extend_from_slice(line.finish()?);
        Some(())
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
        if self.has_spans_around {
            let spans = spans_text(&entry.spans());
            self.body.extend([&*spans, if spans.is_empty() { "" } else { ": " }]);
        }
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
        self.head.push_str(&level_and_tag('!', loss.reason.tag()));
        self.body.clear();
        self.body.push_str(&self.log.describe(loss));
        if let Some(from) = loss.from {
            self.body.push_str(", since ");
            self.times.write(self.log, from, &mut self.body)?;
        }
        self.lines("\x1b[35m", None, out);
        Ok(())
    }

    fn span(&mut self, slice: &SpanSlice, is_end: bool, out: &mut String) -> fmt::Result {
        let (time, mark) = if is_end { (slice.end_time(), '<') } else { (Some(slice.begin), '>') };
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
        self.head.push_str(process_and_thread_of(&mut self.threads, self.log, thread).as_str());
        Ok(())
    }

    fn push_tag(&mut self, level: Option<Level>, group: Option<u32>) {
        let tags = self.tags.entry((level, group));
        let text = tags.or_insert_with(|| level_and_tag_of(self.log.dictionary(), level, group));
        self.head.push_str(text);
    }

    /// Appends the lines of the body, each with the head.
    fn lines(&self, color: &str, marks: Option<&Marks<'_>>, out: &mut String) {
        if !self.color && is_plain(self.body.as_bytes()) {
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

/// Of longer tags the first characters are shown, so many. Android's have up to 23.
const MAX_TAG: usize = 128;

/// Shorter tags are padded to this width.
const TAG_WIDTH: usize = 8;

/// Process and thread of the thread with this index, as it is known from an earlier line.
#[inline]
fn process_and_thread_of<'t>(
    known: &'t mut Vec<Option<Snippet>>,
    log: &Log,
    index: u32,
) -> &'t Snippet {
    let place = index as usize;
    if !matches!(known.get(place), Some(Some(_))) {
        learn_thread(known, log, index);
    }
    known[place].as_ref().expect("it was learned")
}

#[cold]
fn learn_thread(known: &mut Vec<Option<Snippet>>, log: &Log, index: u32) {
    let place = index as usize;
    known.resize(known.len().max(place + 1), None);
    known[place] = Some(Snippet::new(process_and_thread(log.thread(index))));
}

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

/// The plan of a message's lines from the level on; none if there are characters that do not stand
/// for themselves, or no line has room for the tag.
fn line_plan(dictionary: &Dictionary, message: &Message) -> Option<LinePlan> {
    let is_plain = |part: &Part| match part {
        Part::Text(text) => is_plain(text.as_bytes()),
        Part::Conversion(..) => true,
    };
    let tag = level_and_tag_of(dictionary, message.level, Some(message.group));
    if tag.len() > ROOM {
        // One name may belong to any number of messages.
        return None;
    }
    let plan = || LinePlan::new(message, (tag, "\n"), str::to_owned);
    message.plan().parts().iter().all(is_plain).then(plan)
}

/// Level and tag of a group.
fn level_and_tag_of(dictionary: &Dictionary, level: Option<Level>, group: Option<u32>) -> String {
    let group = group.and_then(|id| dictionary.group(id));
    let tag = group.map_or("?", |group| match &*group.tag {
        "" => &group.name,
        tag => tag,
    });
    level_and_tag(level.map_or('?', Level::letter), tag)
}

/// ` D Net     : `
fn level_and_tag(level: char, tag: &str) -> String {
    // Each line of a message repeats it.
    let end = tag.char_indices().nth(MAX_TAG).map_or(tag.len(), |(end, _)| end);
    let tag = printable(&tag[..end]) + if end < tag.len() { "…" } else { "" };
    let missing = TAG_WIDTH.saturating_sub(tag.width());
    format!(" {level} {tag}{:missing$}: ", "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_of_wide_characters_end_where_others_do() {
        assert_eq!(level_and_tag('D', "Net"), " D Net     : ");
        assert_eq!(level_and_tag('D', "網絡"), " D 網絡    : ");
    }

    #[test]
    fn control_characters_are_escaped() {
        let mut out = String::new();
        push_printable(&mut out, "a\x1b[31m\tb\rc\u{9b}é\u{202e}גד\u{2069}");
        assert_eq!(out, "a\\u{1b}[31m\tb\\rc\\u{9b}é\\u{202e}גד\\u{2069}");
    }
}
