//! The parts of a call. `protolog_rt`'s macros have parsed each of them as an expression already.

use crate::problem::Problem;
use crate::tokens::{ends_of, is_punct, split_at_commas, unwrapped};
use proc_macro::{Ident, Spacing, Span, TokenStream, TokenTree};

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
    /// The tokens before the `=` in `name = value`, which is an assignment to the compiler's
    /// parser; empty without a name.
    pub(super) target: Vec<TokenTree>,
    /// The expression, whole and without a name: to be put in parentheses where it is used.
    pub(super) tokens: Vec<TokenTree>,
    /// Where its first token stands, with the meaning of the macro that was called: what errors
    /// about an argument are shown at must be made of spans of one meaning, or the compiler shows
    /// the whole call.
    pub(super) first: Span,
    /// Where its last token stands, likewise.
    pub(super) last: Span,
}

impl Argument {
    /// The name, unless something else stands before the `=`.
    pub(super) fn name(&self) -> Option<&Ident> {
        match &self.target[..] {
            [TokenTree::Ident(name)] => Some(name),
            _ => None,
        }
    }

    /// The expression's text.
    pub(super) fn text(&self) -> String {
        self.tokens.iter().cloned().collect::<TokenStream>().to_string()
    }

    /// The text as the call has it, with the name.
    pub(super) fn written(&self) -> String {
        if self.target.is_empty() {
            return self.text();
        }
        let target: TokenStream = self.target.iter().cloned().collect();
        format!("{target} = {}", self.text())
    }
}

/// The number of tokens before the `=` in `name = value`, or in an assignment to a field, an
/// element or what a reference points to. Other expressions may have an `=` in them, as closures
/// and `if let` have.
pub(super) fn target_len(tokens: &[TokenTree]) -> Option<usize> {
    let mut is_word_before = false;
    for (index, tree) in tokens.iter().enumerate() {
        match tree {
            TokenTree::Ident(_) if is_word_before => return None,
            TokenTree::Punct(punct) => match punct.as_char() {
                // `=` may touch what follows: `n=-1`.
                '=' if punct.spacing() == Spacing::Alone || !is_operator(tokens.get(index + 1)) => {
                    return (index > 0).then_some(index);
                }
                '.' | ':' => {}
                '*' if index == 0 => {}
                _ => return None,
            },
            _ => {}
        }
        is_word_before = matches!(tree, TokenTree::Ident(_));
    }
    None
}

/// Returns whether the token after `=` makes `==` or `=>` of it.
fn is_operator(next: Option<&TokenTree>) -> bool {
    next.is_some_and(|next| is_punct(next, '=') || is_punct(next, '>'))
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
    let template = unwrapped(template);
    check_group(&whole_group, &template)?;
    let (template_span, _) = ends_of(&template, Span::call_site());
    let (here, _) = ends_of(&runtime, Span::call_site());
    let (_, group_end) = ends_of(&whole_group, Span::call_site());
    let group_span = here.located_at(group_end);
    let argument = |tokens: Vec<TokenTree>| {
        let mut target = unwrapped(tokens);
        let len = target_len(&target);
        let mut tokens = target.split_off(len.map_or(0, |len| len + 1));
        if len.is_some() {
            target.pop();
            tokens = unwrapped(tokens);
        }
        let (first, last) = ends_of(&tokens, Span::call_site());
        let (first, last) = (here.located_at(first), here.located_at(last));
        Argument { target, tokens, first, last }
    };
    let arguments = parts.map(argument).collect();
    Ok(Call { runtime, level, group, group_span, template, template_span, arguments })
}

/// The group is looked at in constants, so it has to be a path; say so in our own words where it
/// can't be one.
fn check_group(tokens: &[TokenTree], template: &[TokenTree]) -> Result<(), Problem> {
    let (span, _) = ends_of(tokens, Span::call_site());
    let is_text = |text: &[TokenTree]| matches!(text, [TokenTree::Literal(text)] if text.to_string().ends_with(['"', '#']));
    if is_text(tokens) && is_text(template) {
        let group: TokenStream = tokens.iter().cloned().collect();
        return Err(Problem::new(
            span,
            format_args!("`{group}` is a string, and a group is a variant of an enum"),
            "name a variant, as in `AppLog::Net`, of an enum with `#[derive(ProtoLogGroup)]`",
        ));
    }
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
    let text: TokenStream = tokens.iter().cloned().collect();
    // The compiler knows whether a name is a variable, the macro only that constants are written
    // otherwise.
    if matches!(tokens, [TokenTree::Ident(name)] if is_lower_case(&name.to_string())) {
        return Err(Problem::new(
            span,
            format_args!("the group `{text}` is not a constant path"),
            format_args!(
                "name a variant, as in `AppLog::Net`; a constant in lower case is `self::{text}`; `dynamic::log` takes a variable"
            ),
        ));
    }
    if tokens.iter().all(in_path) {
        return Ok(());
    }
    Err(Problem::new(
        span,
        format_args!("the group `{text}` is not a constant path"),
        "name a variant, as in `AppLog::Net`; `dynamic::log` takes a variable",
    ))
}

fn is_lower_case(name: &str) -> bool {
    let name = name.strip_prefix("r#").unwrap_or(name);
    name.chars().find(|char| *char != '_').is_some_and(char::is_lowercase)
}
