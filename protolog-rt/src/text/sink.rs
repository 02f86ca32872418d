//! The interface between text output and its sinks.

use protolog_core::Level;

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
    /// Takes a message, on the thread that logs it. Messages that the sink itself logs to text go to standard error.
    fn show(&self, line: &TextLine<'_>);
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
}
