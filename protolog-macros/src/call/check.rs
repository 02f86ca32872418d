//! Template and arguments against each other.

use super::literal::Text;
use super::parse::{Argument, Call, target_len};
use crate::problem::Problem;
use crate::tokens::{ends_of, split_at_commas};
use proc_macro::{Ident, Literal, TokenStream, TokenTree};
use protolog_core::{ParamKind, Template, as_log_call, first_placeholder, is_name, span_name};

/// A call that was checked.
pub(super) struct Checked {
    /// The template, as it was written; with names of arguments, these behind it and a NUL.
    pub(super) template: Literal,
    /// Bytes of its value.
    pub(super) length: usize,
    /// True if an argument has a name.
    pub(super) has_names: bool,
    /// Bytes of a span's name, with which the template begins.
    pub(super) name_length: usize,
    /// Bytes of the template without the names of arguments.
    pub(super) template_length: usize,
    /// The kinds of the arguments, packed.
    pub(super) mask: u64,
    /// The kind of each argument.
    pub(super) kinds: Vec<ParamKind>,
}

pub(super) fn check(call: &Call) -> Result<Checked, Problem> {
    let span = call.template_span;
    let Some((mut text, mut literal)) = Text::of_tokens(&call.template) else {
        return Err(no_literal(call));
    };
    if text.value.contains('{') {
        check_braces(call, &text)?;
    }
    let names = names(call)?;
    if text.value.contains('{') && text.merge_doubled_braces() {
        literal = Literal::string(&text.value);
    }
    let template = Template::parse(&text.value).map_err(|error| {
        let position = text.position(error.range().start);
        Problem::new(
            span,
            format_args!("{} at {position}", error.message(&text.value)),
            error.help(&text.value),
        )
    })?;
    check_count(call, &text, &template)?;
    let kinds = template.conversions().map(|conversion| conversion.verb.kind()).collect();
    let (mask, has_names) = (template.mask().bits(), !names.is_empty());
    let (name_length, template_length) = (span_name(&text.value).len(), text.value.len());
    if has_names {
        text.value.push('\0');
        text.value.push_str(&names);
        literal = Literal::string(&text.value);
    }
    let length = text.value.len();
    Ok(Checked { template: literal, length, has_names, name_length, template_length, mask, kinds })
}

/// The template is something else than a literal.
fn no_literal(call: &Call) -> Problem {
    let span = call.template_span;
    if target_len(&call.template) == Some(1) {
        let written: TokenStream = call.template.iter().cloned().collect();
        return Problem::new(
            span,
            format_args!("`{written}` stands where the template is expected"),
            "write the template after the group, with a conversion for each value, as in `\"sent %d bytes\", n`",
        );
    }
    let help = match formatted(&call.template) {
        Some(call) => format!("write `{call}`: the template is taken out of the program when compiling"),
        None => "write the text here, as in `\"sent %d bytes\"`: it is taken out of the program when compiling; a text known at run time is an argument, as in `\"%s\", text`".to_owned(),
    };
    Problem::new(span, "the template is not a string literal", help)
}

/// The template and arguments that stand for a call of `format!` or `format_args!`.
fn formatted(template: &[TokenTree]) -> Option<String> {
    let template = match template {
        [TokenTree::Punct(borrow), rest @ ..] if borrow.as_char() == '&' => rest,
        all => all,
    };
    let [TokenTree::Ident(name), TokenTree::Punct(_), TokenTree::Group(input)] = template else {
        return None;
    };
    if name.to_string() != "format" && name.to_string() != "format_args" {
        return None;
    }
    let parts = split_at_commas(input.stream());
    let (template, arguments) = parts.split_first()?;
    let (text, _) = Text::of_tokens(template)?;
    let show = |part: &Vec<TokenTree>| part.iter().cloned().collect::<TokenStream>().to_string();
    let arguments: Vec<String> = arguments.iter().map(show).collect();
    Some(as_log_call(&text.value, &arguments).to_string())
}

/// Refuses values as in `println!`, which would be printed as they are written.
fn check_braces(call: &Call, text: &Text) -> Result<(), Problem> {
    let Some(found) = first_placeholder(&text.value) else { return Ok(()) };
    let arguments: Vec<String> = call.arguments.iter().map(Argument::written).collect();
    Err(Problem::new(
        call.template_span,
        format_args!("{} at {}", found.message(), text.position(found.range().start)),
        found.help(&text.value, &arguments),
    ))
}

/// The list of the arguments' names, see [`protolog_core::ArgumentNames`]; empty if none has one.
fn names(call: &Call) -> Result<String, Problem> {
    let mut names: Vec<String> = Vec::new();
    for argument in &call.arguments {
        let Some(name) = argument.name().and_then(plain_name) else {
            if !argument.target.is_empty() {
                return Err(no_name(argument));
            }
            names.push(String::new());
            continue;
        };
        if names.contains(&name) {
            return Err(Problem::new(
                ends_of(&argument.target, argument.first).0,
                format_args!("two arguments have the name `{name}`"),
                "give each argument a name of its own, or none",
            ));
        }
        names.push(name);
    }
    let has_names = names.iter().any(|name| !name.is_empty());
    Ok(if has_names { names.join(",") } else { String::new() })
}

/// The name that a word stands for; none if it can't name an argument.
fn plain_name(word: &Ident) -> Option<String> {
    let word = word.to_string();
    let name = word.strip_prefix("r#").unwrap_or(&word);
    (!is_keyword(&word) && is_name(name)).then(|| name.to_owned())
}

/// The error for an argument with something else than a name before its `=`.
fn no_name(argument: &Argument) -> Problem {
    let target: TokenStream = argument.target.iter().cloned().collect();
    let value = argument.text();
    let last = argument.target.iter().rev().find_map(|tree| match tree {
        TokenTree::Ident(word) => plain_name(word).map(|_| word.to_string()),
        _ => None,
    });
    Problem::new(
        ends_of(&argument.target, argument.first).0,
        format_args!("`{target}` can't be the name of an argument"),
        format_args!(
            "write a short word that is no keyword, as in `{} = {value}`, or the value alone",
            last.as_deref().unwrap_or("value")
        ),
    )
}

/// Returns whether a word that the parser takes for an expression can't name a value.
fn is_keyword(word: &str) -> bool {
    matches!(word, "self" | "Self" | "super" | "crate" | "_" | "true" | "false")
}

fn check_count(call: &Call, text: &Text, template: &Template<'_>) -> Result<(), Problem> {
    let span = call.template_span;
    let given = call.arguments.len();
    if let Some(conversion) = template.conversions().nth(given) {
        return Err(Problem::new(
            span,
            format_args!(
                "no argument for `{}` at {}",
                &text.value[conversion.range()],
                text.position(conversion.start)
            ),
            format_args!(
                "add it: the template has {}, the call has {}",
                count(template.len(), "conversion"),
                count(given, "argument")
            ),
        ));
    }
    if given > template.len() {
        let argument = &call.arguments[template.len()];
        let extra = argument.written();
        let span = argument.name().map_or(span, Ident::span);
        return Err(Problem::new(
            span,
            format_args!(
                "no conversion for the argument `{extra}`: the template has {}, the call has {}",
                count(template.len(), "conversion"),
                count(given, "argument")
            ),
            "add a conversion for it, such as `%d` or `%s`, or remove it",
        ));
    }
    Ok(())
}

fn count(number: usize, noun: &str) -> String {
    match number {
        0 => format!("no {noun}"),
        1 => format!("1 {noun}"),
        _ => format!("{number} {noun}s"),
    }
}
