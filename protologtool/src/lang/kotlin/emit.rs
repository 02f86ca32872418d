//! The edits of one call: nothing moves, and every form is an expression of type `Unit`, as the
//! call was.
//!
//! ```text
//!                ProtoLog.d(NET,   "n=%d of $host",                 n  )
//! (if (GUARD)        IMPL.d(NET,   123L, 1L,        +IMPL.l(n), IMPL.s(host)) else {})
//! ```
//!
//! `ProtoLogImpl.l` of a floating-point number returns nothing, so that javac refuses it as an
//! argument. In Kotlin nothing is a `Unit`, which the log methods would take; the `+` does not.

use super::{Kotlin, KotlinShape};
use crate::call::Call;
use crate::lang::Message;
use crate::lang::jvm::dialect::{Android, Dialect, Guard, MaskType, cache_index};
use crate::lang::jvm::{NO_SPAN, span_method};
use crate::rewrite::PlanBuilder;
use crate::source::Source;
use protolog_core::{MAX_PARAMS, Verb};
use std::fmt::Write;

pub(super) fn emit(
    kotlin: Kotlin<'_>,
    source: &Source,
    call: &Call<KotlinShape>,
    message: &Message<'_>,
    plan: &mut PlanBuilder,
) {
    let shape = &call.shape;
    let implementation = kotlin.java.implementation();
    if let Some(guard) = guard(kotlin, call, message) {
        let (open, close) = if shape.follows_annotation { ("", "") } else { ("(", ")") };
        let other =
            if shape.is_span { format!("{implementation}.{NO_SPAN}()") } else { "{}".to_owned() };
        let after = format!(" else {other}{close}");
        plan.wrap(call.range.clone(), format!("{open}if ({guard}) "), after);
    }
    if shape.class.is_empty() {
        let method = if shape.is_span { span_method(call.level) } else { call.level.method() };
        plan.replace(shape.method.clone(), format!("{implementation}.{method}"));
    } else {
        plan.replace(shape.class.clone(), format!("{implementation}{}", shape.class_kept));
        if shape.passes_group {
            plan.replace(shape.method.clone(), call.level.method().to_owned());
        }
    }
    replace_template(kotlin, call, message, plan);
    let mut verbs = message.template.conversions().map(|conversion| conversion.verb);
    for (index, arg) in call.args.iter().enumerate() {
        let (before, after) = match verbs.next() {
            Some(verb) => conversion(kotlin, verb),
            None => (format!("{implementation}.t("), ")"),
        };
        if shape.order.moved.contains(&index) {
            // The argument before it, or the template, has it put behind itself.
            let anchor = (0..index).rev().find(|at| !shape.order.moved.contains(at));
            let value = source.text(arg.clone());
            let range = anchor.map_or(call.template_range.clone(), |at| call.args[at].clone());
            plan.wrap(range.end..range.end, format!(", {before}{value}{after}"), "");
        } else {
            plan.wrap(arg.clone(), before, after);
        }
    }
}

/// Puts id and mask in the place of the template; values in it stay where they are, as arguments.
fn replace_template(
    kotlin: Kotlin<'_>,
    call: &Call<KotlinShape>,
    message: &Message<'_>,
    plan: &mut PlanBuilder,
) {
    let group = if call.shape.passes_group { group(call) + ", " } else { String::new() };
    let mut start = group + &long(message.id as i64);
    let mask = message.template.mask().bits();
    match kotlin.java.dialect() {
        Dialect::Android(form) => {
            let _ = match form.mask {
                MaskType::Int => write!(start, ", {}", int(mask as i32)),
                MaskType::Long => write!(start, ", {}", long(mask as i64)),
            };
            if form.passes_text {
                let bare =
                    message.group.log_to_text.then(|| quoted(&message.template.bare().to_string()));
                let _ = write!(start, ", {}", bare.as_deref().unwrap_or("null"));
            }
        }
        Dialect::Protolog => {
            let _ = write!(start, ", {}", long(mask as i64));
        }
    }
    let mut at = call.template_range.start;
    let mut kept = call.shape.template_kept.iter();
    let mut next = || kept.next().map_or("", String::as_str);
    for value in &call.shape.order.in_place {
        plan.replace(at..value.start, format!("{start}, {}", next()));
        start.clear();
        at = value.end;
    }
    plan.replace(at..call.template_range.end, start + next());
}

/// The condition of a call; none where all calls are made.
fn guard(kotlin: Kotlin<'_>, call: &Call<KotlinShape>, message: &Message<'_>) -> Option<String> {
    let implementation = kotlin.java.implementation();
    let group = group(call);
    match kotlin.java.dialect() {
        Dialect::Protolog if !message.group.enabled => Some("false".to_owned()),
        Dialect::Protolog => {
            let level = kotlin.java.level();
            Some(format!("{implementation}.isEnabled({group}, {level}.{})", call.level))
        }
        Dialect::Android(Android { guard: Guard::None, .. }) => None,
        Dialect::Android(Android { guard: Guard::Cache, .. }) => {
            let (group, index) = (&message.group.name, cache_index(call.level));
            Some(format!("{implementation}.Cache.{group}_enabled[{index}]"))
        }
        Dialect::Android(Android { guard: Guard::IsEnabled, .. }) => {
            Some(format!("{implementation}.isEnabled({group})"))
        }
    }
}

/// The group as code, on one line.
fn group(call: &Call<KotlinShape>) -> String {
    let names: Vec<String> = call.shape.group_path.iter().map(|name| quoted_name(name)).collect();
    names.join(".")
}

/// The text before and after an argument, by which kotlinc checks and converts it. Android's
/// runtime takes any number.
fn conversion(kotlin: Kotlin<'_>, verb: Verb) -> (String, &'static str) {
    let implementation = kotlin.java.implementation();
    if let Dialect::Android(_) = kotlin.java.dialect() {
        return match verb {
            Verb::Str => ("\"${".to_owned(), "}\""),
            _ => (String::new(), ""),
        };
    }
    let (sign, method) = match verb {
        Verb::Str => ("", 's'),
        Verb::Decimal => ("+", 'l'),
        Verb::Hex | Verb::Octal => ("+", 'x'),
        Verb::Fixed | Verb::Exponent | Verb::General => ("", 'f'),
        Verb::Bool => ("", 'b'),
    };
    (format!("{sign}{implementation}.{method}("), ")")
}

/// The most arguments that rewritten code can pass.
pub(super) fn max_arguments(dialect: &Dialect) -> usize {
    match dialect {
        Dialect::Protolog => MAX_PARAMS,
        Dialect::Android(form) => form.mask.capacity(),
    }
}

/// A number of type `Long`. Kotlin has no literal for the least.
fn long(value: i64) -> String {
    if value == i64::MIN { "Long.MIN_VALUE".to_owned() } else { format!("{value}L") }
}

fn int(value: i32) -> String {
    if value == i32::MIN { "Int.MIN_VALUE".to_owned() } else { value.to_string() }
}

/// A name as it must be written where it could be a keyword or hold any character.
fn quoted_name(name: &str) -> String {
    let is_plain = name.bytes().all(super::lexer::is_word) && !super::is_keyword(name);
    if is_plain { name.to_owned() } else { format!("`{name}`") }
}

/// A text as a literal.
fn quoted(text: &str) -> String {
    let mut literal = String::with_capacity(text.len() + 2);
    literal.push('"');
    for char in text.chars() {
        match char {
            '"' | '\\' | '$' => literal.extend(['\\', char]),
            '\n' => literal.push_str("\\n"),
            '\r' => literal.push_str("\\r"),
            '\t' => literal.push_str("\\t"),
            char if char < ' ' || char == '\u{7f}' => {
                let _ = write!(literal, "\\u{:04x}", u32::from(char));
            }
            char => literal.push(char),
        }
    }
    literal.push('"');
    literal
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals() {
        assert_eq!(quoted("a\"b\\c$d\n\u{1}é"), r#""a\"b\\c\$d\n\u0001é""#);
        assert_eq!((long(i64::MIN), long(-1)), ("Long.MIN_VALUE".to_owned(), "-1L".to_owned()));
        assert_eq!((int(i32::MIN), int(7)), ("Int.MIN_VALUE".to_owned(), "7".to_owned()));
        assert_eq!((quoted_name("NET"), quoted_name("in")), ("NET".to_owned(), "`in`".to_owned()));
    }
}
