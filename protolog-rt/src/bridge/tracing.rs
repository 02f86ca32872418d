//! The bridge from `tracing`: events become messages, and spans slices of time on the tracks of the threads that enter them.
//!
//! An event's template is made of its fields' names: `info!(bytes = n, %host, "sent")` becomes `%s bytes=%d host=%s`. It is
//! made when the event's callsite is met first, and kept with it. Texts of one event have 4,096 bytes together; what is
//! longer is cut with an ellipsis.
//!
//! Invariants: a callsite that nobody wants is switched off in `tracing` itself, and on again when somebody does; other
//! layers of the same subscriber are not concerned, since the switch is a filter of this layer alone.

mod fields;
mod interest;
mod sites;
mod spans;

use crate::dynamic::{trace_as, trace_text};
use crate::level;
use crate::log;
use crate::message_table::{NewMessage, Signature};
use crate::value::FixedString;
use crate::writer::arg_slice::ArgSlice;
use fields::Fields;
use protolog_core::{Level, message_id};
use sites::{Known, Site};
use std::sync::atomic::{AtomicBool, Ordering};
use tracing_core::span::{Attributes, Id, Record};
use tracing_core::subscriber::Interest;
use tracing_core::{Event, Metadata, Subscriber};
use tracing_subscriber::filter::Filtered;
use tracing_subscriber::layer::{Context, Filter, Layer};
use tracing_subscriber::registry::LookupSpan;

/// The most bytes of `file:line`.
const PLACE: usize = 512;

/// Makes messages of events and slices of spans. [`tracing_layer`] gives it together with what switches it.
#[derive(Clone, Copy, Debug, Default)]
pub struct TracingLayer {
    _made_here: (),
}

/// Asks of events and spans what sessions and the text side want of the groups of their targets.
#[derive(Clone, Copy, Debug, Default)]
pub struct Switches {
    _made_here: (),
}

/// A layer that makes messages of the events of `tracing`, and slices of its spans.
///
/// A span's slice begins and ends where a thread enters and leaves it, so a task that waits is several slices; its fields are
/// the slice's arguments, those included that are recorded while the thread is in it.
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
///     tracing::debug!("not wanted");
/// });
/// assert_eq!(session.stop()?.messages, 1);
/// # std::fs::remove_file(path).ok();
/// # Ok(())
/// # }
/// ```
pub fn tracing_layer<S>() -> Filtered<TracingLayer, Switches, S>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    static FOLLOWS: AtomicBool = AtomicBool::new(false);
    if !FOLLOWS.swap(true, Ordering::Relaxed) {
        level::on_change(interest::rebuild);
    }
    TracingLayer::default().with_filter(Switches::default())
}

impl<S> Filter<S> for Switches {
    fn enabled(&self, metadata: &Metadata<'_>, _: &Context<'_, S>) -> bool {
        sites::is_enabled(metadata)
    }

    fn callsite_enabled(&self, metadata: &'static Metadata<'static>) -> Interest {
        // Operators switch groups without telling `tracing`.
        let may_be_wanted = sites::is_enabled(metadata) || level::is_shared();
        if may_be_wanted { Interest::sometimes() } else { Interest::never() }
    }
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for TracingLayer {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        spans::keep(id, &context, |fields| attributes.record(fields));
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, context: Context<'_, S>) {
        spans::keep(id, &context, |fields| values.record(fields));
    }

    fn on_enter(&self, id: &Id, context: Context<'_, S>) {
        spans::begin(id, &context);
    }

    fn on_exit(&self, id: &Id, context: Context<'_, S>) {
        spans::end(id, &context);
    }

    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        sites::with(event.metadata(), |site| {
            if site.group.is_enabled(site.level) {
                let mut fields = Fields::new();
                event.record(&mut fields);
                write(site, &fields);
            }
        });
    }
}

fn write(site: &Site, fields: &Fields) {
    let Site { metadata, group, level, known } = site;
    let (group, level) = (*group, *level);
    fields.with_args(|args| {
        if group.is_text_enabled(level) {
            crate::text::emit_dynamic(level, group.tag, &fields.template(), args);
        }
        let Some(signature) = Signature::of(args).filter(|_| group.is_trace_enabled(level)) else {
            return;
        };
        let kind = Known { fields: fields.names(), signature, id: 0 };
        match known.get() {
            Some(known) if (Known { id: 0, ..*known }) == kind => {
                log::trace(known.id, level, group, &ArgSlice(args));
            }
            _ => {
                let template = fields.template();
                let (file, line) = (metadata.file(), metadata.line());
                let at = file.zip(line);
                let mut place = FixedString::<PLACE>::new();
                let place = match at {
                    Some((file, line)) => place.print(&format_args!("{file}:{line}")),
                    None => metadata.name(),
                };
                let id = message_id(place, &template, level, group.name);
                let message = NewMessage { id, template: &template, level, group, place, at };
                if trace_as(message, args) {
                    // Where another thread was faster it knows the same, or another set of fields.
                    let _ = known.set(Known { id, ..kind });
                } else {
                    trace_text(group, level, &crate::dynamic::rendered(&template, args));
                }
            }
        }
    });
}

/// Our level of one of theirs.
fn level_of(level: tracing_core::Level) -> Level {
    match level {
        tracing_core::Level::TRACE => Level::Verbose,
        tracing_core::Level::DEBUG => Level::Debug,
        tracing_core::Level::INFO => Level::Info,
        tracing_core::Level::WARN => Level::Warn,
        tracing_core::Level::ERROR => Level::Error,
    }
}
