//! The interface between text output and its sinks.

use crate::sys::thread;
use protolog_core::Level;
use std::sync::Arc;
use std::time::SystemTime;

/// A receiver of the messages of groups that log to text.
///
/// ```
/// use protolog_rt::Level;
/// use protolog_rt::text::{TextLine, TextSink, set_sink};
///
/// struct Shouting;
///
/// impl TextSink for Shouting {
///     fn show(&self, line: &TextLine<'_>) {
///         if line.level >= Level::Error {
///             eprintln!("{}! {}", line.tag, line.text.to_uppercase());
///         }
///     }
/// }
///
/// set_sink(Shouting)?;
/// # Ok::<(), protolog_rt::text::SinkIsSet>(())
/// ```
pub trait TextSink: Send + Sync {
    /// Takes a message, on a thread of protolog's, which may wait. Messages that the sink itself
    /// logs to text go to standard error.
    ///
    /// The thread that logs goes on meanwhile: it waits at most 50 ms for its message, and not at
    /// all while the sink is behind. Messages that come while about 1 MiB of them are queued are
    /// dropped; [`dropped`](super::dropped) counts them, and once the sink takes messages again, it
    /// is shown one that says how many.
    fn show(&self, line: &TextLine<'_>);

    /// Takes a message on the thread that logs it, if that takes no waiting, for a lock, a file or
    /// a peer. False where it does: [`Self::show`] then takes the message.
    fn show_now(&self, line: &TextLine<'_>) -> bool {
        let _ = line;
        false
    }
}

/// A sink that the program keeps a hold of, for example to ask a
/// [`RotatingFile`](super::RotatingFile) for its problem.
impl<T: TextSink + ?Sized> TextSink for Arc<T> {
    fn show(&self, line: &TextLine<'_>) {
        (**self).show(line);
    }

    fn show_now(&self, line: &TextLine<'_>) -> bool {
        (**self).show_now(line)
    }
}

/// A message as text.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct TextLine<'a> {
    /// Its level.
    pub level: Level,
    /// Its group's tag.
    pub tag: &'a str,
    /// The message, of one or more lines; one longer than 4 KiB is cut with an ellipsis.
    pub text: &'a str,
    /// The time at which it was logged.
    pub time: SystemTime,
    /// The system's id of the thread that logged it.
    pub thread: u32,
}

impl<'a> TextLine<'a> {
    /// A message that this thread logs now.
    pub(super) fn new(level: Level, tag: &'a str, text: &'a str) -> Self {
        Self { level, tag, text, time: SystemTime::now(), thread: thread::id() }
    }
}
