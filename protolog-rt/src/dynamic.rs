//! Messages that no tool has seen: their text becomes known when they are logged for the first time.
//!
//! Such a message has the empty place, so its id depends on text, level and group alone. The first time it is logged it
//! is entered into a table; a session's thread writes the entries into the trace. The table is bounded: when
//! [`MAX_TEMPLATES`] texts are known, further ones are rendered here and logged as the argument of `%s`, so that nothing
//! is lost but the saving; the same happens to arguments that do not fit their template.

use crate::level::{GroupInfo, ProtoLogGroup};
use crate::log;
use crate::loss::LossCause;
use crate::seen::{self, Candidate, Shape};
use crate::writer::{self, arg_slice::ArgSlice};
use protolog_core::{Level, message_id};

pub use protolog_core::Arg;

/// The most different templates that get a dictionary entry of their own.
pub const MAX_TEMPLATES: usize = seen::MAX_TEMPLATES;

/// Logs a message whose template is known at run time only.
///
/// ```
/// use protolog_rt::dynamic::{self, Arg};
/// use protolog_rt::{Level, ProtoLogGroup};
///
/// #[derive(ProtoLogGroup)]
/// enum AppLog {
///     Script,
/// }
///
/// let line: String = "user %s has %d points".into(); // from somewhere else
/// dynamic::log(&AppLog::Script, Level::Info, &line, &[Arg::Str("ann"), Arg::Int(7)]);
/// ```
pub fn log(group: &impl ProtoLogGroup, level: Level, template: &str, args: &[Arg<'_>]) {
    if !group.is_enabled(level) {
        return;
    }
    let group = group.info();
    if group.is_text_enabled(level) {
        crate::text::emit_dynamic(level, group.tag, template, args);
    }
    if group.is_trace_enabled(level) {
        trace(group, level, template, args);
    }
}

fn trace(group: &'static GroupInfo, level: Level, template: &str, args: &[Arg<'_>]) {
    let id = message_id("", template, level, group.name);
    let message = Candidate { id, template, level, group, place: "", at: None };
    if !trace_as(message, args) {
        trace_text(group, level, &rendered(template, args));
    }
}

/// Writes a message that may be new. False, and nothing done, where it can't get an entry, or is entered with other
/// arguments.
pub(crate) fn trace_as(message: Candidate<'_>, args: &[Arg<'_>]) -> bool {
    let shape = seen::shape(message.id).or_else(|| seen::enter(message, seen::MAX_TEMPLATES));
    let fits = shape.is_some_and(|shape| Shape::of(args) == Some(shape));
    if fits {
        log::trace(message.id, message.level, message.group, &ArgSlice(args));
    }
    fits
}

/// Writes a message that has no entry of its own.
pub(crate) fn trace_text(group: &'static GroupInfo, level: Level, text: &str) {
    let id = message_id("", "%s", level, group.name);
    let any = Candidate { id, template: "%s", level, group, place: "", at: None };
    if seen::shape(id).or_else(|| seen::enter(any, seen::MAX_ENTRIES)).is_some() {
        log::trace(id, level, group, &ArgSlice(&[Arg::Str(text)]));
    } else {
        writer::drop_message(group, level, LossCause::TemplateLimit);
    }
}

/// The message as text.
pub(crate) fn rendered(template: &str, args: &[Arg<'_>]) -> String {
    let mut text = String::new();
    // Writing to a string can't fail.
    let _ = crate::text::known(&mut text, template, args);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_is_rendered() {
        assert_eq!(rendered("a %d", &[Arg::Str("x"), Arg::Bool(true)]), "a x true");
        assert_eq!(rendered("100% sure", &[Arg::Int(7)]), "100% sure 7");
        assert_eq!(rendered("%s and %s", &[Arg::Str("x")]), "x and [MISSING_PARAM]");
    }
}
