//! The bridge from the crate `log`: one message `%s` per target, level, file and line.
//!
//! `log` passes no template, so the argument of `%s` is the formatted text, followed by ` key=value` for each pair of a structured
//! record. A text of more than [`TEXT`] bytes that is not constant is cut, with an ellipsis.

use super::targets;
use crate::dynamic::{Arg, trace_as, trace_text};
use crate::level;
use crate::message_table::NewMessage;
use crate::sys::fork::{ForkLock, Order};
use crate::sys::pin;
use crate::value::FixedString;
use crate::writer::running;
use ::log::kv::{self, Key, Value, VisitSource};
use ::log::{LevelFilter, Log, Metadata, Record, SetLoggerError};
use protolog_core::{Level, message_id};
use std::fmt;

/// Maximum bytes of a text that has to be formatted.
const TEXT: usize = 4096;

/// Maximum bytes of `file:line`.
const PLACE: usize = 512;

/// A logger of the crate `log` that turns records into messages. For programs that combine several loggers; others call
/// [`install_log`].
#[derive(Clone, Copy, Debug, Default)]
pub struct Logger;

/// Turns everything that this program and its libraries log through the crate `log` into messages.
///
/// From then on the bridge sets `log`'s [`max_level`](::log::max_level) to the levels that are enabled for sessions and the text
/// output; the program must not set it.
///
/// # Errors
/// Another logger is installed already.
pub fn install_log() -> Result<(), SetLoggerError> {
    pin::keep_runtime_loaded();
    ::log::set_logger(&Logger)?;
    level::on_change(update_max_level);
    update_max_level();
    Ok(())
}

/// Sets `log`'s maximum level to the enabled levels.
fn update_max_level() {
    static ONE_AT_A_TIME: ForkLock<()> = ForkLock::new(Order::LogBridge, ());
    // Otherwise a slower thread could store older levels last.
    let _turn = ONE_AT_A_TIME.lock();
    let levels = level::text_levels() | running::levels_of_any_group();
    let levels = if level::is_shared() { u8::MAX } else { levels };
    let filters = [
        (Level::Verbose, LevelFilter::Trace),
        (Level::Debug, LevelFilter::Debug),
        (Level::Info, LevelFilter::Info),
        (Level::Warn, LevelFilter::Warn),
        (Level::Error, LevelFilter::Error),
    ];
    let lowest = filters.into_iter().find(|(level, _)| levels & 1 << level.severity() != 0);
    ::log::set_max_level(lowest.map_or(LevelFilter::Off, |(_, filter)| filter));
}

impl Log for Logger {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        targets::group(metadata.target()).is_enabled(level_of(metadata.level()))
    }

    fn log(&self, record: &Record<'_>) {
        let (group, level) = (targets::group(record.target()), level_of(record.level()));
        if !group.is_enabled(level) {
            return;
        }
        let mut buffer = FixedString::<TEXT>::new();
        let has_pairs = record.key_values().count() > 0;
        let text = match record.args().as_str() {
            Some(text) if !has_pairs => text,
            _ => buffer.print(&WithPairs(record)),
        };
        if group.is_text_enabled(level) {
            crate::text::emit_dynamic(level, group.tag, "%s", &[Arg::Str(text)]);
        }
        if !group.is_trace_enabled(level) {
            return;
        }
        let (file, line) = (record.file().unwrap_or_default(), record.line().unwrap_or_default());
        let mut place = FixedString::<PLACE>::new();
        let place = place.print(&format_args!("{file}:{line}"));
        let id = message_id(place, "%s", level, group.name);
        let at = Some((file, line)).filter(|(file, _)| !file.is_empty());
        let message = NewMessage { id, template: "%s", level, group, place, at };
        if !trace_as(message, &[Arg::Str(text)]) {
            trace_text(group, level, text);
        }
    }

    /// Does nothing: messages need no flush to be in the trace; [`Session::flush`](crate::Session::flush) writes the file.
    fn flush(&self) {}
}

/// A record's text and its key-value pairs.
struct WithPairs<'a>(&'a Record<'a>);

impl fmt::Display for WithPairs<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.args().fmt(f)?;
        // A pair that fails ends the list.
        let _ = self.0.key_values().visit(&mut Pairs(f));
        Ok(())
    }
}

struct Pairs<'a, 'f>(&'a mut fmt::Formatter<'f>);

impl<'v> VisitSource<'v> for Pairs<'_, '_> {
    fn visit_pair(&mut self, key: Key<'v>, value: Value<'v>) -> Result<(), kv::Error> {
        Ok(write!(self.0, " {key}={value}")?)
    }
}

fn level_of(level: ::log::Level) -> Level {
    match level {
        ::log::Level::Trace => Level::Verbose,
        ::log::Level::Debug => Level::Debug,
        ::log::Level::Info => Level::Info,
        ::log::Level::Warn => Level::Warn,
        ::log::Level::Error => Level::Error,
    }
}
