//! Template and arguments against each other.

use super::literal::Text;
use super::parse::{Argument, Call, named_value};
use crate::problem::Problem;
use crate::tokens::split_at_commas;
use proc_macro::{Literal, TokenStream, TokenTree};
use protolog_core::{ParamKind, Template, as_log_call, first_placeholder};

/// A call that was checked.
pub(super) struct Checked {
    /// The template, as it was written.
    pub(super) template: Literal,
    /// Bytes of its value.
    pub(super) length: usize,
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
    check_names(call, &text)?;
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
    Ok(Checked { template: literal, length: text.value.len(), mask: template.mask().bits(), kinds })
}

/// The template is something else than a literal.
fn no_literal(call: &Call) -> Problem {
    let span = call.template_span;
    if named_value(&call.template).is_some() {
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

/// Refuses `name = value`: conversions take the arguments in their order.
fn check_names(call: &Call, text: &Text) -> Result<(), Problem> {
    let mut named =
        call.arguments.iter().filter_map(|argument| Some((argument, argument.name.as_ref()?)));
    let Some((argument, name)) = named.next() else { return Ok(()) };
    let values: Vec<String> = call.arguments.iter().map(Argument::text).collect();
    Err(Problem::new(
        name.span(),
        format_args!("the argument `{}` has a name", argument.written()),
        format_args!("pass the value alone, as in `{}`", as_log_call(&text.value, &values)),
    ))
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
        let extra = call.arguments[template.len()].written();
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
