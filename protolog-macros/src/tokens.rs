//! Reading and making tokens: the little that the macros need.

use proc_macro::{Delimiter, Group, Ident, Literal, Punct, Spacing, Span, TokenStream, TokenTree};

/// The input's tokens, without the invisible groups that macro_rules puts around what it has
/// parsed, where such a group holds everything.
pub(crate) fn unwrapped(mut trees: Vec<TokenTree>) -> Vec<TokenTree> {
    while let [TokenTree::Group(group)] = &trees[..] {
        if group.delimiter() != Delimiter::None {
            break;
        }
        trees = group.stream().into_iter().collect();
    }
    trees
}

/// The same tokens without the invisible groups that macro_rules puts around what it has parsed, at
/// all depths.
pub(crate) fn flat(tokens: TokenStream) -> TokenStream {
    let flat_tree = |tree: TokenTree| match tree {
        TokenTree::Group(group) if group.delimiter() == Delimiter::None => flat(group.stream()),
        TokenTree::Group(group) => {
            let mut new = Group::new(group.delimiter(), flat(group.stream()));
            new.set_span(group.span());
            TokenTree::Group(new).into()
        }
        other => other.into(),
    };
    tokens.into_iter().flat_map(flat_tree).collect()
}

/// The parts between the commas of the outermost level. A last comma ends the last part.
pub(crate) fn split_at_commas(tokens: TokenStream) -> Vec<Vec<TokenTree>> {
    let mut parts = Vec::new();
    let mut part = Vec::new();
    for tree in tokens {
        if is_punct(&tree, ',') {
            parts.push(std::mem::take(&mut part));
        } else {
            part.push(tree);
        }
    }
    if !part.is_empty() {
        parts.push(part);
    }
    parts
}

/// Where `tokens` begin and end: at their first and at their last token. Groups that macro_rules
/// made are looked into, since they stand where the macro was defined. `otherwise` where there are
/// no tokens.
pub(crate) fn ends_of(trees: &[TokenTree], otherwise: Span) -> (Span, Span) {
    let end = |tree: &TokenTree, pick: fn((Span, Span)) -> Span| match tree {
        TokenTree::Group(group) if group.delimiter() == Delimiter::None => {
            pick(ends_of(&group.stream().into_iter().collect::<Vec<_>>(), otherwise))
        }
        tree => tree.span(),
    };
    match (trees.first(), trees.last()) {
        (Some(first), Some(last)) => (end(first, |ends| ends.0), end(last, |ends| ends.1)),
        _ => (otherwise, otherwise),
    }
}

pub(crate) fn is_punct(tree: &TokenTree, char: char) -> bool {
    matches!(tree, TokenTree::Punct(punct) if punct.as_char() == char)
}

pub(crate) fn ident(name: &str, span: Span) -> TokenStream {
    TokenTree::Ident(Ident::new(name, span)).into()
}

pub(crate) fn punct(char: char, span: Span) -> TokenStream {
    let mut punct = Punct::new(char, Spacing::Alone);
    punct.set_span(span);
    TokenTree::Punct(punct).into()
}

/// `::`
pub(crate) fn joint_colons(span: Span) -> TokenStream {
    colons(span).into_iter().collect()
}

/// The same as trees.
pub(crate) fn colons(span: Span) -> [TokenTree; 2] {
    [Spacing::Joint, Spacing::Alone].map(|spacing| {
        let mut punct = Punct::new(':', spacing);
        punct.set_span(span);
        TokenTree::Punct(punct)
    })
}

pub(crate) fn literal(mut literal: Literal, span: Span) -> TokenStream {
    literal.set_span(span);
    TokenTree::Literal(literal).into()
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
    group.set_span(span);
    TokenTree::Group(group).into()
}
