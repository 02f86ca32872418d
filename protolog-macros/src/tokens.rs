//! Reading and making tokens: the little that the macros need.

use proc_macro::{Delimiter, Group, Ident, Literal, Punct, Spacing, Span, TokenStream, TokenTree};

/// What the input holds, without the invisible groups that macro_rules puts around what it has parsed, where such a group
/// holds everything.
pub(crate) fn unwrapped(tokens: TokenStream) -> TokenStream {
    let mut trees = tokens.clone().into_iter();
    match (trees.next(), trees.next()) {
        (Some(TokenTree::Group(group)), None) if group.delimiter() == Delimiter::None => {
            unwrapped(group.stream())
        }
        _ => tokens,
    }
}

/// The parts between the commas of the outermost level. A last comma ends the last part.
pub(crate) fn split_at_commas(tokens: TokenStream) -> Vec<TokenStream> {
    let mut parts = Vec::new();
    let mut part = Vec::new();
    for tree in tokens {
        if is_punct(&tree, ',') {
            parts.push(part.drain(..).collect());
        } else {
            part.push(tree);
        }
    }
    if !part.is_empty() {
        parts.push(part.into_iter().collect());
    }
    parts
}

/// Where `tokens` stand: where the first of them does; `otherwise` where there are none.
pub(crate) fn span_of(tokens: &TokenStream, otherwise: Span) -> Span {
    tokens.clone().into_iter().next().map_or(otherwise, |tree| tree.span())
}

pub(crate) fn is_punct(tree: &TokenTree, char: char) -> bool {
    matches!(tree, TokenTree::Punct(punct) if punct.as_char() == char)
}

/// A name of ours, to be looked up as if written at the call; errors about it are shown at `span`.
pub(crate) fn ident(name: &str, span: Span) -> TokenStream {
    TokenTree::Ident(Ident::new(name, here(span))).into()
}

pub(crate) fn punct(char: char, span: Span) -> TokenStream {
    let mut punct = Punct::new(char, Spacing::Alone);
    punct.set_span(here(span));
    TokenTree::Punct(punct).into()
}

/// `::`
pub(crate) fn joint_colons(span: Span) -> TokenStream {
    let colon = |spacing| {
        let mut punct = Punct::new(':', spacing);
        punct.set_span(here(span));
        TokenTree::Punct(punct)
    };
    [colon(Spacing::Joint), colon(Spacing::Alone)].into_iter().collect()
}

pub(crate) fn literal(mut literal: Literal, span: Span) -> TokenStream {
    literal.set_span(here(span));
    TokenTree::Literal(literal).into()
}

/// `( content )`
pub(crate) fn parenthesised(content: TokenStream, span: Span) -> TokenStream {
    group(Delimiter::Parenthesis, content, span)
}

/// `{ content }`
pub(crate) fn braced(content: TokenStream, span: Span) -> TokenStream {
    group(Delimiter::Brace, content, span)
}

/// `base :: first :: second …`
pub(crate) fn path(base: &TokenStream, segments: &[&str], span: Span) -> TokenStream {
    let tail = segments.iter().flat_map(|name| [joint_colons(span), ident(name, span)]);
    std::iter::once(base.clone()).chain(tail).collect()
}

/// `path ! { input }`
pub(crate) fn macro_call(path: TokenStream, input: TokenStream, span: Span) -> TokenStream {
    [path, punct('!', span), braced(input, span)].into_iter().collect()
}

/// `parts` with commas between them and after the last.
pub(crate) fn with_commas(parts: impl IntoIterator<Item = TokenStream>) -> TokenStream {
    parts.into_iter().flat_map(|part| [part, punct(',', Span::call_site())]).collect()
}

fn group(delimiter: Delimiter, content: TokenStream, span: Span) -> TokenStream {
    let mut group = Group::new(delimiter, content);
    group.set_span(here(span));
    TokenTree::Group(group).into()
}

/// A span that is shown as `span` and counts as made by this macro: lints that are about what people write keep quiet.
fn here(span: Span) -> Span {
    Span::call_site().located_at(span)
}
