//! The bridge from `tracing`: events become messages, and spans become slices on the tracks of the
//! threads that enter them.
//!
//! An event's template consists of its fields' names: `info!(bytes = n, %host, "sent")` becomes
//! `%s bytes=%d host=%s`, and the arguments have the names of the fields. It is created with the
//! first event of a callsite and cached with it. Records of the crate `log` that `tracing_log`
//! turns into events, as `tracing_subscriber`'s `init` makes it do, become messages of their own
//! target and place.
//!
//! Invariants: a callsite whose level is off is disabled in `tracing` itself, and enabled again
//! with its level; other layers of the same subscriber are unaffected, since this happens in a
//! filter of this layer alone.

mod fields;
mod interest;
mod sites;
mod span_fields;
mod spans;

use super::{record, targets};
use crate::dynamic::{trace_as, trace_rendered};
use crate::level::rules::{self, RuledCall};
use crate::level::{self, GroupInfo};
use crate::log;
use crate::loss::LossCause;
use crate::message_table::{NewMessage, Signature};
use crate::value::FixedString;
use crate::writer;
use fields::EventFields;
use protolog_core::control::selector::Call;
use protolog_core::{Arg, Level, MAX_PARAMS, message_id};
use sites::{Callsite, EventMessage};
use std::sync::atomic::{AtomicBool, Ordering};
use tracing_core::span::{Attributes, Id, Record};
use tracing_core::subscriber::Interest;
use tracing_core::{Event, Metadata, Subscriber};
use tracing_subscriber::filter::Filtered;
use tracing_subscriber::layer::{Context, Filter, Layer};
use tracing_subscriber::registry::LookupSpan;

/// The target of the events that `tracing_log` makes of records.
const LOG_TARGET: &str = "log";

/// Maximum bytes of `file:line`.
const PLACE: usize = 512;

/// A layer that turns events into messages and spans into slices. [`tracing_layer`] returns it with
/// its filter.
#[derive(Clone, Copy, Debug)]
pub struct TracingLayer {
    /// Tells layers apart.
    number: u32,
}

impl Default for TracingLayer {
    fn default() -> Self {
        Self { number: spans::next_layer() }
    }
}

/// The filter of [`TracingLayer`]: passes events and spans whose level is enabled for the group of
/// their target.
#[derive(Clone, Copy, Debug, Default)]
pub struct EnabledLevels {
    _private: (),
}

/// Returns a layer that turns events of `tracing` into messages, and spans into slices.
///
/// A slice begins and ends when a thread enters and exits the span, so a task that awaits has
/// several slices. The span's fields are the slice's arguments, including those that are recorded
/// while the thread is in the span.
///
/// ```
/// use protolog_rt::{Level, Session, bridge};
/// use tracing_subscriber::layer::SubscriberExt as _;
///
/// # fn main() -> Result<(), protolog_rt::Error> {
/// # let path = std::env::temp_dir().join(format!("protolog-layer-{}.pftrace", std::process::id()));
/// let subscriber = tracing_subscriber::registry().with(bridge::tracing_layer());
/// let session = Session::builder().file(&path).log_from(Level::Info).start()?;
/// tracing::subscriber::with_default(subscriber, || {
///     tracing::info!(bytes = 1500, host = "example.org", "sent");
///     tracing::debug!("off");
/// });
/// assert_eq!(session.stop()?.messages, 1);
/// # std::fs::remove_file(path).ok();
/// # Ok(())
/// # }
/// ```
pub fn tracing_layer<S>() -> Filtered<TracingLayer, EnabledLevels, S>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    static IS_OBSERVER: AtomicBool = AtomicBool::new(false);
    if !IS_OBSERVER.swap(true, Ordering::Relaxed) {
        level::on_change(interest::rebuild);
    }
    TracingLayer::default().with_filter(EnabledLevels::default())
}

impl<S> Filter<S> for EnabledLevels {
    fn enabled(&self, metadata: &Metadata<'_>, _: &Context<'_, S>) -> bool {
        sites::is_enabled(metadata)
    }

    fn callsite_enabled(&self, metadata: &'static Metadata<'static>) -> Interest {
        // Operators switch groups without notice to `tracing`.
        let may_be_enabled = sites::is_enabled(metadata) || level::is_shared();
        if may_be_enabled { Interest::sometimes() } else { Interest::never() }
    }
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for TracingLayer {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        spans::add_fields(self.number, id, &context, |fields| attributes.record(fields));
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, context: Context<'_, S>) {
        spans::add_fields(self.number, id, &context, |fields| values.record(fields));
    }

    fn on_enter(&self, id: &Id, context: Context<'_, S>) {
        spans::begin(self.number, id, &context);
    }

    fn on_exit(&self, id: &Id, context: Context<'_, S>) {
        spans::end(self.number, id, &context);
    }

    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let metadata = event.metadata();
        if metadata.target() == LOG_TARGET && metadata.fields().field("log.target").is_some() {
            return write_record(event);
        }
        sites::with(metadata, |site| {
            if site.group.is_on(site.level) || sites::is_enabled(metadata) {
                // A list for all that an event may have is several times the work of a message.
                if metadata.fields().len() <= FEW_FIELDS {
                    write_event::<FEW_FIELDS>(site, event);
                } else {
                    write_event::<MAX_PARAMS>(site, event);
                }
            }
        });
    }
}

/// The number of fields that most events have at most.
const FEW_FIELDS: usize = 6;

/// Writes an event of at most `N` fields.
fn write_event<const N: usize>(site: &Callsite, event: &Event<'_>) {
    let mut fields = EventFields::<N>::new();
    event.record(&mut fields);
    write(site, &fields);
}

/// Writes a record of the crate `log`, which `tracing_log` made an event of, with its own target
/// and place.
fn write_record(event: &Event<'_>) {
    let mut fields = EventFields::<MAX_PARAMS>::new();
    event.record(&mut fields);
    let Some((target, file, line)) = fields.log_place() else { return };
    let (group, level) = (targets::group(target), level_of(*event.metadata().level()));
    if record::is_enabled(group, level, (file.unwrap_or_default(), line)) {
        record::write(group, level, fields.message(), (file.unwrap_or_default(), line));
        count_cut(&fields, group, level);
    }
}

/// Counts a message as one of which a string was cut, if memory was short.
fn count_cut<const N: usize>(fields: &EventFields<N>, group: &'static GroupInfo, level: Level) {
    if fields.lacks_memory() {
        writer::drop_message(group, level, LossCause::Truncated);
    }
}

fn write<const N: usize>(site: &Callsite, fields: &EventFields<N>) {
    let Callsite { metadata, group, level, message: cached } = site;
    let (group, level) = (*group, *level);
    count_cut(fields, group, level);
    fields.with_args(|args| {
        let (ruled, id) =
            if rules::is_any() { rule_of(site, fields, args) } else { (RuledCall::default(), 0) };
        let Some(passed) = log::pass_taken(ruled, level, group, (id, args)) else { return };
        let rule = passed.state;
        if rule.is_printed(group.is_text_enabled(level)) {
            crate::text::emit_dynamic(level, group.tag, &fields.template(), args);
        }
        let is_traced = !passed.is_repeat && (rule.is_traced() || group.is_trace_enabled(level));
        let Some(signature) = Signature::of(args).filter(|_| is_traced) else { return };
        let kind = EventMessage { fields: fields.present(), signature, id: 0 };
        match cached.get() {
            Some(known) if (EventMessage { id: 0, ..*known }) == kind => {
                log::trace_passed(known.id, level, group, args, passed);
            }
            _ => {
                let (template, names) = (fields.template(), fields.argument_names());
                let mut place = FixedString::<PLACE>::new();
                let place = place_of(metadata, &mut place);
                let at = metadata.file().zip(metadata.line());
                let id = message_id(place, &template, level, group.name);
                let (template, names) = (&*template, &*names);
                let message = NewMessage { id, template, names, level, group, place, at };
                if trace_as(message, args, passed) {
                    // Another thread that was faster has stored the same, or an event with other
                    // fields.
                    let _ = cached.set(EventMessage { id, ..kind });
                } else {
                    trace_rendered(group, level, (template, args), passed);
                }
            }
        }
    });
}

/// Returns what rules make of an event, and the id of its message.
fn rule_of<const N: usize>(
    site: &Callsite,
    fields: &EventFields<N>,
    args: &[Arg<'_>],
) -> (RuledCall, u64) {
    let Callsite { metadata, group, level, .. } = site;
    let template = fields.template();
    let mut place = FixedString::<PLACE>::new();
    let id = message_id(place_of(metadata, &mut place), &template, *level, group.name);
    sites::with_call(metadata, group, *level, |call| {
        let call = Call { id: Some(id), template: &template, ..*call };
        (rules::ruled_call(&call, &|visitor| args.iter().for_each(|arg| visitor(*arg))), id)
    })
}

/// Returns the place that goes into the ids of a callsite's messages.
fn place_of<'a>(metadata: &Metadata<'a>, buffer: &'a mut FixedString<PLACE>) -> &'a str {
    match metadata.file().zip(metadata.line()) {
        Some((file, line)) => buffer.print(&format_args!("{file}:{line}")),
        None => metadata.name(),
    }
}

/// Converts a level.
fn level_of(level: tracing_core::Level) -> Level {
    match level {
        tracing_core::Level::TRACE => Level::Verbose,
        tracing_core::Level::DEBUG => Level::Debug,
        tracing_core::Level::INFO => Level::Info,
        tracing_core::Level::WARN => Level::Warn,
        tracing_core::Level::ERROR => Level::Error,
    }
}
