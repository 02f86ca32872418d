//! The parts of a call. `protolog_rt`'s macros have parsed each of them as an expression already.

use crate::problem::Problem;
use crate::tokens::{ends_of, split_at_commas, unwrapped};
use proc_macro::{Span, TokenStream, TokenTree};

/// A call as it was written.
pub(super) struct Call {
    /// The path of `protolog_rt`, `$crate`.
    pub(super) runtime: Vec<TokenTree>,
    /// The level, an expression.
    pub(super) level: Vec<TokenTree>,
    /// The group, a path.
    pub(super) group: Vec<TokenTree>,
    /// Where the group ends, with the meaning of the macro that was called.
    pub(super) group_span: Span,
    /// The template, an expression that must turn out to be a literal.
    pub(super) template: Vec<TokenTree>,
    /// Where the template stands.
    pub(super) template_span: Span,
    /// The arguments.
    pub(super) arguments: Vec<Argument>,
}

/// An argument of a call.
pub(super) struct Argument {
    /// The expression, whole: to be put in parentheses where it is used.
    pub(super) tokens: Vec<TokenTree>,
    /// Where its first token stands, with the meaning of the macro that was called: what errors about an argument are shown
    /// at must be made of spans of one meaning, or the compiler shows the whole call.
    pub(super) first: Span,
    /// Where its last token stands, likewise.
    pub(super) last: Span,
}

pub(super) fn parse(input: TokenStream) -> Result<Call, Problem> {
    let mut parts = split_at_commas(input).into_iter();
    let (Some(runtime), Some(level), Some(group), Some(template)) =
        (parts.next(), parts.next(), parts.next(), parts.next())
    else {
        return Err(Problem::new(
            Span::call_site(),
            "this macro is part of the expansion of others",
            "use `d!`, `v!`, `i!`, `w!`, `e!`, `wtf!` or `protolog!` of `protolog_rt`",
        ));
    };
    let whole_group = unwrapped(group.clone());
    check_group(&whole_group)?;
    let template = unwrapped(template);
    let (template_span, _) = ends_of(&template, Span::call_site());
    let (here, _) = ends_of(&runtime, Span::call_site());
    let (_, group_end) = ends_of(&whole_group, Span::call_site());
    let group_span = here.located_at(group_end);
    let argument = |tokens: Vec<TokenTree>| {
        let tokens = unwrapped(tokens);
        let (first, last) = ends_of(&tokens, Span::call_site());
        let (first, last) = (here.located_at(first), here.located_at(last));
        Argument { tokens, first, last }
    };
    let arguments = parts.map(argument).collect();
    Ok(Call { runtime, level, group, group_span, template, template_span, arguments })
}

/// The group is looked at in constants, so it has to be a path; say so in our own words where it can't be one.
fn check_group(tokens: &[TokenTree]) -> Result<(), Problem> {
    let (span, _) = ends_of(tokens, Span::call_site());
    if matches!(tokens.first(), Some(TokenTree::Literal(_))) {
        return Err(Problem::new(
            span,
            "the group is missing",
            "name the group before the template, as in `d!(AppLog::Net, \"sent %d\", n)`",
        ));
    }
    if matches!(tokens.first(), Some(TokenTree::Ident(first)) if first.to_string() == "Self") {
        return Err(Problem::new(
            span,
            "`Self` can't name a group: its meaning is not known in constants",
            "write the enum's name, as in `AppLog::Net`",
        ));
    }
    let in_path = |tree: &TokenTree| match tree {
        TokenTree::Ident(_) => true,
        TokenTree::Punct(punct) => matches!(punct.as_char(), ':' | '<' | '>' | '$'),
        TokenTree::Group(group) => group.delimiter() == proc_macro::Delimiter::None,
        TokenTree::Literal(_) => false,
    };
    if tokens.iter().all(in_path) {
        return Ok(());
    }
    let text: TokenStream = tokens.iter().cloned().collect();
    Err(Problem::new(
        span,
        format!("the group `{text}` is not a constant path"),
        "name a variant, as in `AppLog::Net`: calls of disabled groups are left out when compiling",
    ))
}
