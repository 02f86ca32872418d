//! Messages whose template is known at run time only.
//!
//! Such a message has an empty place, so its id depends on template, level and group alone. Its
//! first call inserts it into a table, and a session's thread writes the entries into the trace.
//! The table is bounded: further templates, beyond [`MAX_TEMPLATES`], are rendered here and logged
//! as the argument of `%s`, which takes more bytes but loses nothing. The same happens to arguments
//! that do not fit their template.

use crate::compiled::is_level_compiled;
use crate::level::rules::{self, RuledCall};
use crate::level::{GroupInfo, ProtoLogGroup};
use crate::log::{self, Passed};
use crate::loss::LossCause;
use crate::message_table::{self, NewMessage, Signature};
use crate::value::GrowingString;
use crate::writer::{self, repeats};
use protolog_core::control::selector::Call;
use protolog_core::{Level, message_id};
use std::fmt;

pub use protolog_core::Arg;

/// Maximum number of templates that get a dictionary entry of their own.
pub const MAX_TEMPLATES: usize = message_table::MAX_TEMPLATES;

/// Logs a message with a template that is known at run time only.
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
    if is_level_compiled(level) {
        log_to(group.info(), level, template, args);
    }
}

/// As [`log()`], for a group that is known by its address.
pub(crate) fn log_to(group: &'static GroupInfo, level: Level, template: &str, args: &[Arg<'_>]) {
    let is_enabled = group.is_on(level);
    let call = Call { level: Some(level), group: group.name, template, ..Call::default() };
    if !group.compiled || !is_enabled && !rules::may_switch_on(&call) {
        return;
    }
    let (ruled, id) = if rules::is_any() {
        let id = message_id("", template, level, group.name);
        let visit = |visitor: &mut dyn FnMut(Arg<'_>)| args.iter().for_each(|arg| visitor(*arg));
        (rules::ruled_call(&Call { id: Some(id), ..call }, &visit), id)
    } else {
        (RuledCall::default(), 0)
    };
    if let Some(passed) = log::pass_taken(ruled, level, group, (id, args)) {
        log_passed(group, level, (template, args), passed);
    }
}

/// Logs a message that rules let pass.
pub(crate) fn log_passed(
    group: &'static GroupInfo,
    level: Level,
    (template, args): (&str, &[Arg<'_>]),
    passed: Passed,
) {
    let rule = passed.state;
    if rule.is_printed(group.is_text_enabled(level)) {
        crate::text::emit_dynamic(level, group.tag, template, args);
    }
    if !passed.is_repeat && (rule.is_traced() || group.is_trace_enabled(level)) {
        let id = message_id("", template, level, group.name);
        let message = NewMessage { id, template, names: "", level, group, place: "", at: None };
        if !trace_as(message, args, passed) {
            trace_rendered(group, level, (template, args), passed);
        }
    }
}

/// Writes a message, after inserting it into the table if it is new. Returns false, and writes
/// nothing, if the table is full or has it with other kinds of arguments.
pub(crate) fn trace_as(message: NewMessage<'_>, args: &[Arg<'_>], passed: Passed) -> bool {
    let signature = message_table::signature_or_insert(message, message_table::MAX_TEMPLATES);
    let fits = signature.is_some_and(|signature| Signature::of(args) == Some(signature));
    if fits {
        log::trace_passed(message.id, message.level, message.group, args, passed);
    } else {
        // It has another id in the trace.
        repeats::forget(message.id);
    }
    fits
}

/// Writes a rendered message that has no entry of its own.
pub(crate) fn trace_text(group: &'static GroupInfo, level: Level, text: &str, passed: Passed) {
    let id = message_id("", "%s", level, group.name);
    let any = NewMessage { id, template: "%s", names: "", level, group, place: "", at: None };
    if message_table::signature_or_insert(any, message_table::MAX_ENTRIES).is_some() {
        log::trace_passed(id, level, group, &[Arg::Str(text)], passed);
    } else {
        writer::drop_message(group, level, LossCause::TemplateLimit);
    }
}

/// Renders a message, and writes it as one that has no entry of its own.
pub(crate) fn trace_rendered(
    group: &'static GroupInfo,
    level: Level,
    (template, args): (&str, &[Arg<'_>]),
    passed: Passed,
) {
    let mut text = GrowingString::<STACK>::new();
    let range = text.append(&Rendered(template, args));
    if text.lacks_memory() {
        writer::drop_message(group, level, LossCause::Truncated);
    }
    trace_text(group, level, text.text(range), passed);
}

/// Bytes of a rendered message that need no memory of the heap.
const STACK: usize = 1024;

/// A template with its arguments.
struct Rendered<'a>(&'a str, &'a [Arg<'a>]);

impl fmt::Display for Rendered<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        crate::text::known(f, self.0, self.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::level;

    #[test]
    fn arguments_that_do_not_fit_are_rendered() {
        let rendered = |template, args: &[Arg<'_>]| Rendered(template, args).to_string();
        assert_eq!(rendered("a %d", &[Arg::Str("x"), Arg::Bool(true)]), "a x true");
        assert_eq!(rendered("100% sure", &[Arg::Int(7)]), "100% sure 7");
        assert_eq!(rendered("%s and %s", &[Arg::Str("x")]), "x and [MISSING_PARAM]");
    }

    extern "C" fn changed() {}

    #[test]
    fn of_two_messages_with_one_id_the_first_stands_unless_arguments_tell_them_apart() {
        let group = level::register_guest(("Collision", "Collision"), (true, false), changed);
        let of = |template: &'static str, args: &[Arg<'_>]| {
            let id = 0x00c0_1115_1011_0000;
            let message = NewMessage {
                id,
                template,
                names: "",
                level: Level::Info,
                group,
                place: "",
                at: None,
            };
            trace_as(message, args, Passed::default())
        };
        assert!(of("first %d", &[Arg::Int(1)]));
        assert!(of("second %d", &[Arg::Int(2)]), "nobody compares texts");
        assert!(!of("third %s", &[Arg::Str("3")]), "such a message is rendered");
        let entries = message_table::entries_from(0);
        let templates = entries.iter().filter(|it| it.group.name == "Collision");
        assert_eq!(templates.map(|it| it.template).collect::<Vec<_>>(), ["first %d"]);
    }
}
