//! A call's new template and arguments, as edits of the call; or why there are none.
//!
//! Invariants: the text that the message prints is that of before; each argument is evaluated once,
//! in the order of before. Where the call's parts keep their order, its bytes outside the format
//! string's conversions stay.

use super::super::literal;
use super::event::{
    ArgumentValue, EventField, FieldForm, FormatArgument, FormatMessage, LibraryCall, ValueKind,
};
use super::format::{self, FormatPiece, Placeholder};
use crate::lang::migration::Stays;
use crate::rewrite::{Edit, PlanBuilder};
use crate::source::Source;
use protolog_core::{Piece as TemplatePiece, Template, first_placeholder, is_name};
use std::collections::HashSet;
use std::ops::Range;

/// A call as it will be, but for its group and the macro's name.
#[derive(Debug)]
pub(super) struct Converted {
    pub(super) edits: Vec<Edit>,
    /// The fields whose text is that of `Debug`, though they do not say so.
    pub(super) plain_fields: usize,
}

/// A value in the message.
struct Conversion<'e> {
    text: &'static str,
    from: ValueSource<'e>,
    before: String,
    after: &'static str,
}

/// The source of a value.
enum ValueSource<'e> {
    /// An argument of the format string, by its position.
    Argument(usize),
    /// A variable that the format string names.
    Variable(String),
    Field(&'e EventField),
}

/// A part of the message's text.
#[derive(PartialEq, Eq, Debug)]
enum TextPart {
    Text(String),
    Conversion,
}

/// The edits of a call. `lines` is the white space before each part, if each stands on a line.
pub(super) fn convert(
    event: &LibraryCall,
    source: &Source,
    lines: Option<&String>,
) -> Result<Converted, Stays> {
    let (conversions, parts) = (Vec::new(), Vec::new());
    let mut writer = Writer { source, lines, conversions, parts, fields: 0 };
    let mut literals = vec![String::from("\"\"")];
    let mut literal_edits = [Vec::new(), Vec::new()];
    if let Some(message) = &event.message {
        literal_edits = writer.message(message)?;
        let apply = |edits: &Vec<Edit>| applied(source, &message.literal, edits);
        literals = literal_edits.iter().map(apply).collect::<Result<_, _>>()?;
    }
    let arguments = event.message.as_ref().map_or(&[][..], |message| &message.arguments);
    let keeps_order = writer.check_uses(arguments)?;
    let mut rest = String::new();
    for field in &event.fields {
        let is_first = rest.is_empty() && event.message.is_none();
        rest += &writer.field(field, is_first)?;
    }
    let with_rest = literals.into_iter().map(|literal| with_text(literal, &rest));
    let choices: Vec<String> = with_rest.collect();
    let Some(choice) = choices.iter().position(|choice| is_same(choice, &writer.parts)) else {
        let help = "write the template by hand, with `%s` for each value";
        return Err(Stays::new("its text can't be a template", help));
    };
    let edits = if event.fields.is_empty() && keeps_order {
        let mut edits = std::mem::take(&mut literal_edits[choice.min(1)]);
        let literal_end = event.message.as_ref().map_or(event.body.end, |it| it.literal.end);
        writer.wrap(arguments, literal_end, &mut edits);
        edits
    } else {
        vec![writer.anew(event, &choices[choice])?]
    };
    Ok(Converted { edits, plain_fields: writer.fields })
}

struct Writer<'e> {
    source: &'e Source,
    lines: Option<&'e String>,
    conversions: Vec<Conversion<'e>>,
    /// The message's text.
    parts: Vec<TextPart>,
    fields: usize,
}

impl<'e> Writer<'e> {
    /// Takes the format string in. Gives the edits of its literal: with single braces for doubled
    /// ones, and with doubled ones as they are.
    fn message(&mut self, message: &FormatMessage) -> Result<[Vec<Edit>; 2], Stays> {
        let text = message.text.as_str();
        let pieces = format::pieces(text).ok_or_else(|| {
            Stays::new("its format string can't be read", "correct it").at(message.literal.clone())
        })?;
        let (mut single, mut doubled, mut next) = (Vec::new(), Vec::new(), 0);
        for piece in pieces {
            match piece {
                FormatPiece::Text(range) => {
                    for (at, _) in text[range.clone()].match_indices('%') {
                        let at = range.start + at;
                        let edit = |text: &str| Edit {
                            range: message.text.origin(at..at + 1),
                            text: text.to_owned(),
                        };
                        single.push(edit("%%"));
                        doubled.push(edit("%%"));
                    }
                    self.text(&text[range]);
                }
                FormatPiece::Brace(range) => {
                    let brace = &text[range.start..=range.start];
                    self.text(brace);
                    let range = message.text.origin(range);
                    single.push(Edit { range, text: brace.to_owned() });
                }
                FormatPiece::Placeholder(placeholder) => {
                    let range = message.text.origin(placeholder.range.clone());
                    let conversion = chosen(&placeholder, message, &mut next);
                    let conversion = conversion.map_err(|stays| stays.at(range.clone()))?;
                    let edit = || Edit { range: range.clone(), text: conversion.text.to_owned() };
                    single.push(edit());
                    doubled.push(edit());
                    self.parts.push(TextPart::Conversion);
                    self.conversions.push(conversion);
                }
            }
        }
        Ok([single, doubled])
    }

    fn text(&mut self, text: &str) {
        match self.parts.last_mut() {
            _ if text.is_empty() => {}
            Some(TextPart::Text(before)) => before.push_str(text),
            _ => self.parts.push(TextPart::Text(text.to_owned())),
        }
    }

    /// Checks that each argument is used, and none of them twice or out of order that does
    /// something. Says whether all are used once, in their order.
    fn check_uses(&self, arguments: &[FormatArgument]) -> Result<bool, Stays> {
        let used: Vec<usize> = self.conversions.iter().filter_map(Conversion::argument).collect();
        for (index, argument) in arguments.iter().enumerate() {
            if !used.contains(&index) {
                let stays = Stays::new("no placeholder takes an argument", "remove the argument");
                return Err(stays.at(argument.range.clone()));
            }
        }
        let keeps_order = used.iter().copied().eq(0..arguments.len());
        let acts = |index: &usize| !arguments[*index].value.is_pure;
        let acting: Vec<usize> = used.iter().copied().filter(acts).collect();
        if !acting.is_sorted_by(|a, b| a < b) {
            let wrong = acting.windows(2).find(|pair| pair[0] >= pair[1]).map_or(0, |pair| pair[1]);
            let reason = "an argument would be evaluated twice, or in another order";
            let help = "assign it to a variable before the call";
            return Err(Stays::new(reason, help).at(arguments[wrong].range.clone()));
        }
        Ok(keeps_order)
    }

    /// The text of a field in the template.
    fn field(&mut self, field: &'e EventField, is_first: bool) -> Result<String, Stays> {
        let is_plain =
            |char: char| !char.is_control() && !matches!(char, '"' | '\\' | '%' | '{' | '}');
        if !field.name.chars().all(is_plain) {
            let stays = Stays::new("the name of a field can't stand in a template", "rename it");
            return Err(stays.at(field.range.clone()));
        }
        let spec = match (field.form, field.value.kind) {
            (FieldForm::Display, _) => "",
            (FieldForm::Plain, ValueKind::Integer | ValueKind::Bool) => "",
            (FieldForm::Plain, _) => {
                self.fields += 1;
                "?"
            }
            (FieldForm::Debug, _) => "?",
        };
        let mut conversion = conversion(ValueSource::Field(field), spec, Some(&field.value));
        if field.form == FieldForm::Plain && field.value.kind == ValueKind::Bool {
            conversion.text = "%b";
        }
        let separator = if is_first { "" } else { " " };
        let label = format!("{separator}{}=", field.name);
        self.text(&label);
        self.parts.push(TextPart::Conversion);
        let text = label + conversion.text;
        self.conversions.push(conversion);
        Ok(text)
    }

    /// The edits of arguments that keep their places.
    fn wrap(&self, arguments: &[FormatArgument], literal_end: usize, edits: &mut Vec<Edit>) {
        let mut end = literal_end;
        let mut waiting: Vec<String> = Vec::new();
        let insert = |at: usize, text: String| Edit { range: at..at, text };
        for conversion in &self.conversions {
            match conversion.argument().map(|index| &arguments[index]) {
                None => waiting.push(self.written(conversion, "")),
                Some(argument) => {
                    let variables: String = waiting
                        .drain(..)
                        .flat_map(|variable| [variable, ", ".to_owned()])
                        .collect();
                    let value = &argument.value.range;
                    if value.start == argument.range.start {
                        edits.push(insert(value.start, variables + &conversion.before));
                    } else {
                        edits.push(insert(argument.range.start, variables));
                        edits.push(insert(value.start, conversion.before.clone()));
                    }
                    edits.push(insert(value.end, conversion.after.to_owned()));
                    end = value.end;
                }
            }
        }
        edits.push(insert(
            end,
            waiting.into_iter().flat_map(|variable| [", ".to_owned(), variable]).collect(),
        ));
        edits.retain(|edit| !edit.range.is_empty() || !edit.text.is_empty());
    }

    /// A value as an argument of the new call.
    fn written(&self, conversion: &Conversion<'_>, name: &str) -> String {
        let value = match &conversion.from {
            ValueSource::Variable(variable) => variable.clone(),
            ValueSource::Field(field) => self.source.text(field.value.range.clone()),
            ValueSource::Argument(_) => String::new(),
        };
        format!("{name}{}{value}{}", conversion.before, conversion.after)
    }

    /// The whole of the call behind the group, written anew.
    fn anew(&self, event: &LibraryCall, literal: &str) -> Result<Edit, Stays> {
        let arguments = event.message.as_ref().map_or(&[][..], |message| &message.arguments);
        let mut kept: Vec<Range<usize>> =
            event.message.iter().map(|it| it.literal.clone()).collect();
        kept.extend(arguments.iter().map(|argument| argument.range.clone()));
        kept.extend(event.fields.iter().map(|field| field.range.clone()));
        kept.sort_by_key(|range| range.start);
        let mut at = event.body.start;
        let end = event.body.end;
        kept.push(end..end);
        for range in kept {
            let gap = self.source.text(at..range.start.max(at));
            if gap.contains("//") || gap.contains("/*") {
                let stays = Stays::new("a comment stands between its parts", "move the comment");
                return Err(stays.at(at..range.start));
            }
            at = range.end.max(at);
        }
        let mut text = literal.to_owned();
        let mut names = HashSet::new();
        for conversion in &self.conversions {
            let name = match &conversion.from {
                ValueSource::Argument(index) => arguments[*index].name.clone(),
                ValueSource::Field(field) => Some(field.name.clone()),
                ValueSource::Variable(_) => None,
            };
            let name = name.filter(|name| is_argument_name(name) && names.insert(name.clone()));
            let name = name.map_or(String::new(), |name| format!("{name} = "));
            let value = match &conversion.from {
                ValueSource::Argument(index) => {
                    let value = self.source.text(arguments[*index].value.range.clone());
                    format!("{name}{}{value}{}", conversion.before, conversion.after)
                }
                _ => self.written(conversion, &name),
            };
            text = text + "," + self.lines.map_or(" ", String::as_str) + &value;
        }
        if self.source.slice(event.body.clone()).ends_with(b",") {
            text.push(',');
        }
        Ok(Edit { range: event.body.clone(), text })
    }
}

impl Conversion<'_> {
    fn argument(&self) -> Option<usize> {
        match self.from {
            ValueSource::Argument(index) => Some(index),
            _ => None,
        }
    }
}

/// The conversion of a placeholder; `next` counts those that name no argument.
fn chosen<'e>(
    placeholder: &Placeholder,
    message: &FormatMessage,
    next: &mut usize,
) -> Result<Conversion<'e>, Stays> {
    let named = |name: &str| {
        let is_it = |argument: &FormatArgument| argument.name.as_deref() == Some(name);
        message.arguments.iter().position(is_it)
    };
    let by_argument = placeholder.count_names.iter().any(|name| named(name).is_some());
    if placeholder.counts_arguments || by_argument {
        let help = "name a variable for the width, as in `{:width$}`, or format the value first";
        return Err(Stays::new("its width or precision is an argument", help));
    }
    let from = match &placeholder.argument {
        format::ArgumentRef::Next => {
            *next += 1;
            ValueSource::Argument(*next - 1)
        }
        format::ArgumentRef::Index(index) => ValueSource::Argument(*index),
        format::ArgumentRef::Name(name) => match named(name) {
            Some(index) => ValueSource::Argument(index),
            None => ValueSource::Variable(variable(name)),
        },
    };
    let value = match &from {
        ValueSource::Argument(index) => match message.arguments.get(*index) {
            Some(argument) => Some(&argument.value),
            None => return Err(Stays::new("an argument is missing", "pass it")),
        },
        _ => None,
    };
    Ok(conversion(from, &placeholder.spec, value))
}

/// A variable that a format string names: there, a keyword needs no `r#`.
fn variable(name: &str) -> String {
    let is_plain = name == "self" || syn::parse_str::<syn::Ident>(name).is_ok();
    if is_plain { name.to_owned() } else { format!("r#{name}") }
}

/// The conversion that prints a value as this format of `std::fmt` does.
fn conversion<'e>(
    from: ValueSource<'e>,
    spec: &str,
    value: Option<&ArgumentValue>,
) -> Conversion<'e> {
    let is_tight = value.is_none_or(|value| value.is_tight);
    let is_integer = value.is_some_and(|value| value.kind == ValueKind::Integer);
    let (text, before, after) = match spec {
        "" if is_integer => ("%d", String::new(), ""),
        "" => ("%s", String::new(), ""),
        "?" if is_tight => ("%s", "protolog_rt::debug(&".to_owned(), ")"),
        "?" => ("%s", "protolog_rt::debug(&(".to_owned(), "))"),
        spec => ("%s", format!("format_args!(\"{{:{}}}\", ", spec.escape_debug()), ")"),
    };
    Conversion { text, from, before, after }
}

/// Returns whether the macros take this for the name of an argument.
fn is_argument_name(name: &str) -> bool {
    is_name(name) && syn::parse_str::<syn::Ident>(name).is_ok()
}

/// The text of a literal after edits within it.
fn applied(source: &Source, literal: &Range<usize>, edits: &[Edit]) -> Result<String, Stays> {
    let mut plan = PlanBuilder::default();
    for Edit { range, text } in edits {
        plan.replace(range.start - literal.start..range.end - literal.start, text.as_str());
    }
    let unread = || Stays::new("its format string can't be read", "write the template by hand");
    let plan = plan.finish().map_err(|_| unread())?;
    String::from_utf8(plan.apply(source.slice(literal.clone()))).map_err(|_| unread())
}

/// A literal with this text at its end.
fn with_text(mut literal: String, text: &str) -> String {
    let end = literal.rfind('"').unwrap_or(literal.len());
    literal.insert_str(end, text);
    literal
}

/// Returns whether the runtime takes these parts from a literal.
fn is_same(literal: &str, parts: &[TextPart]) -> bool {
    let Some(mut text) = literal::text(literal, 0) else { return false };
    if first_placeholder(text.as_str()).is_some() {
        return false;
    }
    text.merge_doubled_braces();
    let Ok(template) = Template::parse(text.as_str()) else { return false };
    let mut found: Vec<TextPart> = Vec::new();
    for piece in template.pieces() {
        let text = match piece {
            TemplatePiece::Conversion(_) => {
                found.push(TextPart::Conversion);
                continue;
            }
            TemplatePiece::Text(text) => text,
            TemplatePiece::Percent => "%",
        };
        match found.last_mut() {
            Some(TextPart::Text(before)) => before.push_str(text),
            _ => found.push(TextPart::Text(text.to_owned())),
        }
    }
    found == parts
}
