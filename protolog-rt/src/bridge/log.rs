//! The bridge from the crate `log`: one message `%s` per target, level, file and line.
//!
//! The text is what the call's arguments print, since `log` hands over no template; then ` key=value` for each pair of a
//! structured record. A text longer than [`TEXT`] bytes that is not constant is cut with an ellipsis.

use super::targets;
use crate::dynamic::{Arg, trace_as, trace_text};
use crate::level;
use crate::message_table::NewMessage;
use crate::sys::fork::{ForkLock, Order};
use crate::value::FixedString;
use crate::writer::running;
use ::log::kv::{self, Key, Value, VisitSource};
use ::log::{LevelFilter, Log, Metadata, Record, SetLoggerError};
use protolog_core::{Level, message_id};
use std::fmt;

/// The most bytes of a text that has to be printed.
const TEXT: usize = 4096;

/// The most bytes of `file:line`.
const PLACE: usize = 512;

/// The logger of the crate `log` that makes messages of records. For programs that combine several loggers; others call
/// [`install_log`].
#[derive(Clone, Copy, Debug, Default)]
pub struct Logger;

/// Makes messages of everything that this program and its libraries log through the crate `log`.
///
/// The level up to which `log`'s macros call at all ([`max_level`](::log::max_level)) follows the sessions and the
/// text side from then on; a program must not set it.
///
/// # Errors
/// There is a logger already.
pub fn install_log() -> Result<(), SetLoggerError> {
    ::log::set_logger(&Logger)?;
    level::on_change(follow);
    follow();
    Ok(())
}

/// Makes `log` ask for what somebody may want.
fn follow() {
    static ONE_AT_A_TIME: ForkLock<()> = ForkLock::new(Order::LogBridge, ());
    // What a slower thread has seen would be older, and come last.
    let _turn = ONE_AT_A_TIME.lock();
    let wanted = level::text_levels() | running::levels_of_any_group();
    let wanted = if level::is_shared() { u8::MAX } else { wanted };
    // Of our levels VERBOSE, DEBUG … ERROR are TRACE, DEBUG … ERROR there.
    let filter = [
        (Level::Verbose, LevelFilter::Trace),
        (Level::Debug, LevelFilter::Debug),
        (Level::Info, LevelFilter::Info),
        (Level::Warn, LevelFilter::Warn),
        (Level::Error, LevelFilter::Error),
    ];
    let most = filter.into_iter().find(|(level, _)| wanted & 1 << level.severity() != 0);
    ::log::set_max_level(most.map_or(LevelFilter::Off, |(_, filter)| filter));
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

    /// Does nothing: messages need no flush to be in the trace, and sessions have one of their own.
    fn flush(&self) {}
}

/// A record's text, and what it says besides.
struct WithPairs<'a>(&'a Record<'a>);

impl fmt::Display for WithPairs<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.args().fmt(f)?;
        // One that can't be had ends the list.
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
