//! Text output: messages as lines on standard error or, on Android, in `logcat`, unless the program
//! sets another sink.
//!
//! ```text
//! 11-20 18:27:01.123  1234  1240 D Net     : sent 512 bytes to localhost
//! ```
//!
//! A group declares its text output (`#[protolog(log_to_text = true)]`); [`print_group`] and
//! operators switch it. The program chooses the sink: [`set_sink`] takes a [`RotatingFile`],
//! [`Syslog`], [`Journald`], [`Logd`], or any other [`TextSink`].
//!
//! # Slow outputs
//!
//! A reader of the text holds up no log call. Where the system can be asked for a write
//! that does not wait, as for pipes and sockets, the text is written before the call returns. All
//! else, such as terminals, files and sinks, goes through a queue of about 1 MiB to a thread that
//! this library starts then. Meanwhile a call waits for its own text, for at most 50 ms, so that a
//! crash keeps the text before it; and not at all while the output is behind. Text that finds the
//! queue full is dropped. [`dropped`] counts it, and a line says so once the output takes text
//! again.
//!
//! The end of a session, a panic ([`log_panics`](crate::log_panics)) and the exit of the process
//! wait for queued text, for at most a second. Text that is still queued when the process is killed
//! or aborts is lost; traces do not depend on it. [`flush`] waits.
//!
//! Invariants: text is rendered on the calling thread; a wrong template or a sink that panics never
//! hurts the program; text that the system takes at once is written to standard error without an
//! allocation.

mod datagram;
mod dispatch;
mod file;
mod lines;
mod local_time;
mod logd;
mod sink;
mod stderr;
mod test_output;

pub use datagram::{Journald, Syslog};
pub(crate) use dispatch::show_for_guest;
pub use dispatch::{SinkIsSet, set_sink};
pub use file::RotatingFile;
pub use logd::Logd;
pub use sink::{TextLine, TextSink};
pub use test_output::TestOutput;

use crate::dictionary::template;
use crate::level::{GroupInfo, ProtoLogGroup};
use crate::log::Args;
use crate::text_queue;
use crate::value::FixedString;
use core::fmt::{self, Write};
use lines::LINE;
use protolog_core::note::{Note, ParsedNote};
use protolog_core::printf;
use protolog_core::{Arg, Level, MAX_PARAMS, Template, render};
use std::time::Duration;

/// Prints the messages of `group` from `level` on; `None` prints none. The initial state is that of
/// `#[protolog(log_to_text = …)]`.
///
/// ```
/// # use protolog_rt::{Level, ProtoLogGroup, print_group};
/// # #[derive(ProtoLogGroup)]
/// # enum AppLog { Net }
/// print_group(&AppLog::Net, Some(Level::Warn));
/// assert!(AppLog::Net.is_enabled(Level::Error) && !AppLog::Net.is_enabled(Level::Info));
/// ```
pub fn print_group(group: &impl ProtoLogGroup, level: Option<Level>) {
    print_info(group.info(), level);
}

/// As [`print_group`], for a group that is known by its address.
pub(crate) fn print_info(group: &'static GroupInfo, level: Option<Level>) {
    let levels = level.map_or(0, |from| {
        Level::ALL
            .into_iter()
            .filter(|level| *level >= from)
            .fold(0, |set, level| set | 1 << level.severity())
    });
    crate::level::set_text(group, levels);
    crate::level::notify_change();
}

/// Waits until all text that was logged before is written, for at most `limit`. False if some is
/// not.
pub fn flush(limit: Duration) -> bool {
    text_queue::flush(limit)
}

/// Returns the number of lines and messages that were dropped since the process started, since they
/// could not be written or too many waited for that.
pub fn dropped() -> u64 {
    text_queue::dropped()
}

/// Shows the message that `note` describes, with `args`. Without a note, as in rewritten code, a
/// dictionary that is loaded knows the text; where none does, the id stands for it.
#[cold]
pub(crate) fn emit_text<A: Args>(id: u64, level: Level, tag: &str, note: &[u8], args: &A) {
    let mut all = [Arg::Bool(false); MAX_PARAMS];
    let mut count = 0;
    args.visit(&mut |arg| {
        if let Some(slot) = all.get_mut(count) {
            *slot = arg;
            count += 1;
        }
    });
    let args = &all[..count];
    match Note::parse(note) {
        Some((ParsedNote::Note(note), _)) => return emit_dynamic(level, tag, note.template, args),
        Some((ParsedNote::Printf(note), _)) => {
            let mut template = FixedString::<LINE>::new();
            let template = template.print(&printf::template(note.format));
            return emit_dynamic(level, tag, template, args);
        }
        _ => {}
    }
    match template(id, &mut [0; LINE]) {
        Some(template) => emit_dynamic(level, tag, template, args),
        None => dispatch::show(level, tag, |out| unknown(out, id, args)),
    }
}

/// Shows a message whose template is known at run time only.
#[cold]
pub(crate) fn emit_dynamic(level: Level, tag: &str, template: &str, args: &[Arg<'_>]) {
    dispatch::show(level, tag, |out| known(out, template, args));
}

/// Writes a message. Text that is not a template is written unchanged; arguments without a
/// conversion follow it.
pub(crate) fn known(out: &mut dyn Write, template: &str, args: &[Arg<'_>]) -> fmt::Result {
    let mut args = args.iter().copied();
    match Template::parse(template) {
        Ok(template) => render(out, &template, |_| args.next()),
        Err(_) => out.write_str(template),
    }?;
    args.try_for_each(|arg| {
        out.write_char(' ')?;
        plain(out, arg)
    })
}

/// Writes a message whose template is not known: `#123 (1500, example.org)`.
fn unknown(out: &mut dyn Write, id: u64, args: &[Arg<'_>]) -> fmt::Result {
    write!(out, "#{} (", id as i64)?;
    for (index, arg) in args.iter().enumerate() {
        out.write_str(if index > 0 { ", " } else { "" })?;
        plain(out, *arg)?;
    }
    out.write_char(')')
}

/// Writes an argument without a conversion.
fn plain(out: &mut dyn Write, arg: Arg<'_>) -> fmt::Result {
    match arg {
        Arg::Str(text) => out.write_str(text),
        Arg::Int(number) => write!(out, "{number}"),
        Arg::Uint(number) => write!(out, "{number}"),
        Arg::Float(number) => write!(out, "{number}"),
        Arg::Bool(value) => write!(out, "{value}"),
    }
}

#[cfg(test)]
mod tests;
