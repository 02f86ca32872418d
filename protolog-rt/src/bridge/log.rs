//! The bridge from the crate `log`: one message `%s` per target, level, file and line.
//!
//! `log` passes no template, so the argument of `%s` is the formatted text, followed by
//! ` key=value` for each pair of a structured record.

use super::{record, targets};
use crate::level;
use crate::loss::LossCause;
use crate::sys::fork::{ForkLock, Order};
use crate::sys::pin;
use crate::value::GrowingString;
use crate::writer::{self, running};
use ::log::kv::{self, Key, Value, VisitSource};
use ::log::{LevelFilter, Log, Metadata, Record, SetLoggerError};
use protolog_core::Level;
use std::fmt;

/// Bytes of a text that has to be formatted that need no memory of the heap.
const STACK: usize = 4096;

/// A logger of the crate `log` that turns records into messages. For programs that combine several
/// loggers; others call [`install_log`].
#[derive(Clone, Copy, Debug, Default)]
pub struct Logger;

/// Turns everything that this program and its libraries log through the crate `log` into messages.
///
/// From then on the bridge sets `log`'s [`max_level`](::log::max_level) to the levels that are
/// enabled for sessions and the text output; the program must not set it.
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
    let has_rules = !level::rules::rules().is_empty();
    let levels = if level::is_shared() || has_rules { u8::MAX } else { levels };
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
        // The place is not known yet.
        let level = level_of(metadata.level());
        record::is_enabled(targets::group(metadata.target()), level, ("", None))
    }

    fn log(&self, record: &Record<'_>) {
        let (group, level) = (targets::group(record.target()), level_of(record.level()));
        let place = (record.file().unwrap_or_default(), record.line());
        if !record::is_enabled(group, level, place) {
            return;
        }
        let mut buffer = GrowingString::<STACK>::new();
        let has_pairs = record.key_values().count() > 0;
        let text = match record.args().as_str() {
            Some(text) if !has_pairs => text,
            _ => {
                let text = buffer.append(&WithPairs(record));
                buffer.text(text)
            }
        };
        record::write(group, level, text, place);
        if buffer.lacks_memory() {
            writer::drop_message(group, level, LossCause::Truncated);
        }
    }

    /// Does nothing: messages need no flush to be in the trace;
    /// [`Session::flush`](crate::Session::flush) writes the file.
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
