//! Template and arguments against each other.

use super::literal::Text;
use super::parse::Call;
use crate::problem::Problem;
use proc_macro::{Literal, TokenStream};
use protolog_core::{ParamKind, Template};

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
    let Some((text, literal)) = Text::of_tokens(&call.template) else {
        return Err(Problem::new(
            span,
            "the template is not a string literal",
            "write the text here, as in `\"sent %d bytes\"`: it is taken out of the program when compiling",
        ));
    };
    let template = Template::parse(&text.value).map_err(|error| {
        let position = text.position(error.range().start);
        Problem::new(
            span,
            format_args!("{} at {position}", error.message(&text.value)),
            error.help(),
        )
    })?;
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
        let extra = TokenStream::from_iter(call.arguments[template.len()].tokens.clone());
        let help = match text.value.find('{') {
            Some(at) if text.value[at..].contains('}') => {
                "write `%s` where `println!` has `{}`, `%d` for integers, `%f` for floats, `%b` for booleans"
            }
            _ => "add a conversion for it, such as `%d` or `%s`, or remove it",
        };
        return Err(Problem::new(
            span,
            format_args!(
                "no conversion for the argument `{extra}`: the template has {}, the call has {}",
                count(template.len(), "conversion"),
                count(given, "argument")
            ),
            help,
        ));
    }
    let kinds = template.conversions().map(|conversion| conversion.verb.kind()).collect();
    Ok(Checked { template: literal, length: text.value.len(), mask: template.mask().bits(), kinds })
}

fn count(number: usize, noun: &str) -> String {
    match number {
        0 => format!("no {noun}"),
        1 => format!("1 {noun}"),
        _ => format!("{number} {noun}s"),
    }
}
