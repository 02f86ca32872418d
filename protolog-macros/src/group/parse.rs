//! A group enum: its name, its variants, and what `#[protolog(…)]` says of them.

use crate::problem::Problem;
use crate::tokens::{flat, is_punct, split_at_commas};
use proc_macro::{Delimiter, Ident, Literal, Span, TokenStream, TokenTree};
use protolog_core::StrLiteral;
use protolog_core::control::limit::{self, Limit};
use protolog_core::control::rate::Rate;
use std::iter::Peekable;

/// The most groups an enum can have: the words of its page of switches.
const MAX_GROUPS: usize = 1024;

const ENUM_HELP: &str = "derive `ProtoLogGroup` for an enum whose variants have no fields";
const KEYS: &str = "use `tag = \"…\"`, `enabled = false`, `log_to_text = true`, \
                    `sample = \"1/100\"` or `limit = \"100/s\"`";

/// A group enum.
pub(super) struct GroupEnum {
    pub(super) name: Ident,
    /// The path of `protolog_rt` where `#[protolog(crate = path)]` says it.
    pub(super) runtime: Option<TokenStream>,
    pub(super) groups: Vec<Group>,
}

/// A variant.
pub(super) struct Group {
    pub(super) name: Ident,
    /// A string literal where given.
    pub(super) tag: Option<Literal>,
    pub(super) enabled: bool,
    pub(super) log_to_text: bool,
    /// The rate of sampling, a string literal where given.
    pub(super) sample: Option<Literal>,
    /// The limit of all calls together, a string literal where given.
    pub(super) limit: Option<Literal>,
}

type Tokens = Peekable<proc_macro::token_stream::IntoIter>;

pub(super) fn parse(input: TokenStream) -> Result<GroupEnum, Problem> {
    // Of what a macro has parsed, nothing else would be seen: `#[$attribute]` would set nothing,
    // and `$tag` be no string.
    let mut tokens = flat(input).into_iter().peekable();
    let settings = settings(&mut tokens)?;
    skip_visibility(&mut tokens);
    match tokens.next() {
        Some(TokenTree::Ident(keyword)) if keyword.to_string() == "enum" => {}
        other => return Err(no_enum(other.map(|tree| tree.span()))),
    }
    let Some(TokenTree::Ident(name)) = tokens.next() else {
        return Err(no_enum(None));
    };
    let body = match tokens.next() {
        Some(TokenTree::Group(body)) if body.delimiter() == Delimiter::Brace => body,
        other => {
            let span = other.map_or(name.span(), |tree| tree.span());
            return Err(Problem::new(span, "a group enum can't be generic", ENUM_HELP));
        }
    };
    let mut runtime = None;
    for setting in settings {
        match setting.key.to_string().as_str() {
            "crate" => runtime = Some(setting.value),
            key => {
                return Err(Problem::new(
                    setting.key.span(),
                    format_args!("`{key}` can't be set on a group enum"),
                    "put it on a variant, or write `crate = path` to name `protolog_rt`",
                ));
            }
        }
    }
    let groups =
        split_at_commas(body.stream()).into_iter().map(group).collect::<Result<Vec<_>, _>>()?;
    if groups.is_empty() || groups.len() > MAX_GROUPS {
        return Err(Problem::new(
            name.span(),
            format_args!("`{name}` has {} groups", groups.len()),
            format_args!("give it 1 to {MAX_GROUPS} variants"),
        ));
    }
    Ok(GroupEnum { name, runtime, groups })
}

fn no_enum(span: Option<Span>) -> Problem {
    let span = span.unwrap_or_else(Span::call_site);
    Problem::new(span, "only an enum can name log groups", ENUM_HELP)
}

fn group(variant: Vec<TokenTree>) -> Result<Group, Problem> {
    let mut tokens = TokenStream::from_iter(variant).into_iter().peekable();
    let settings = settings(&mut tokens)?;
    let Some(TokenTree::Ident(name)) = tokens.next() else {
        return Err(no_enum(None));
    };
    if let Some(fields @ TokenTree::Group(_)) = tokens.next() {
        return Err(Problem::new(
            fields.span(),
            format_args!("the group `{name}` has fields"),
            "remove them: a group is a constant",
        ));
    }
    let (tag, sample, limit) = (None, None, None);
    let mut group = Group { name, tag, enabled: true, log_to_text: false, sample, limit };
    for Setting { key, value } in settings {
        match key.to_string().as_str() {
            "tag" => group.tag = Some(string(&key, &value)?),
            "enabled" => group.enabled = boolean(&key, &value)?,
            "log_to_text" => group.log_to_text = boolean(&key, &value)?,
            "sample" => {
                let is_rate = |text: &str| Rate::parse(text).is_some();
                group.sample = Some(valid(string(&key, &value)?, "rate", is_rate, Rate::help)?);
            }
            "limit" => {
                let is_limit = |text: &str| Limit::parse(text).is_some();
                let help = |_: &str| limit::HELP;
                group.limit = Some(valid(string(&key, &value)?, "limit", is_limit, help)?);
            }
            other => {
                return Err(Problem::new(
                    key.span(),
                    format_args!("unknown setting `{other}` of a log group"),
                    KEYS,
                ));
            }
        }
    }
    Ok(group)
}

/// `key = value` in `#[protolog(…)]`.
struct Setting {
    key: Ident,
    value: TokenStream,
}

/// The settings in the attributes that come next; other attributes are passed over.
fn settings(tokens: &mut Tokens) -> Result<Vec<Setting>, Problem> {
    let mut settings = Vec::new();
    while tokens.next_if(|tree| is_punct(tree, '#')).is_some() {
        let Some(TokenTree::Group(attribute)) = tokens.next() else { break };
        let mut content = attribute.stream().into_iter();
        match content.next() {
            Some(TokenTree::Ident(name)) if name.to_string() == "protolog" => {}
            _ => continue,
        }
        let Some(TokenTree::Group(list)) = content.next() else {
            return Err(Problem::new(attribute.span(), "`#[protolog]` sets nothing", KEYS));
        };
        for part in split_at_commas(list.stream()) {
            settings.push(setting(part, list.span())?);
        }
    }
    Ok(settings)
}

fn setting(part: Vec<TokenTree>, list: Span) -> Result<Setting, Problem> {
    let mut tokens = part.into_iter();
    let first = tokens.next();
    let span = first.as_ref().map_or(list, TokenTree::span);
    let equals = tokens.next().is_some_and(|tree| is_punct(&tree, '='));
    let value: TokenStream = tokens.collect();
    match first {
        Some(TokenTree::Ident(key)) if equals && !value.is_empty() => Ok(Setting { key, value }),
        _ => Err(Problem::new(span, "a setting of `#[protolog(…)]` is not `key = value`", KEYS)),
    }
}

fn string(key: &Ident, value: &TokenStream) -> Result<Literal, Problem> {
    let mut tokens = value.clone().into_iter();
    match (tokens.next(), tokens.next()) {
        (Some(TokenTree::Literal(literal)), None)
            if literal.to_string().starts_with(['"', 'r']) =>
        {
            Ok(literal)
        }
        _ => Err(Problem::new(
            key.span(),
            format_args!("`{key} = {value}` is not a string"),
            format_args!("write it in quotes, as in `{key} = \"{}\"`", example(&key.to_string())),
        )),
    }
}

/// A text that a setting may have.
fn example(key: &str) -> &'static str {
    match key {
        "sample" => "1/100",
        "limit" => "100/s",
        _ => "NET",
    }
}

/// A literal whose text is a `what`; `help` says of another one what to do.
fn valid(
    literal: Literal,
    what: &str,
    is_valid: impl Fn(&str) -> bool,
    help: impl Fn(&str) -> &'static str,
) -> Result<Literal, Problem> {
    let source = literal.to_string();
    let chars = StrLiteral::parse(&source).map(|literal| literal.chars());
    let text: String = chars.into_iter().flatten().map(|(_, char)| char).collect();
    if is_valid(&text) {
        return Ok(literal);
    }
    Err(Problem::new(literal.span(), format_args!("invalid {what} `{text}`"), help(&text)))
}

fn boolean(key: &Ident, value: &TokenStream) -> Result<bool, Problem> {
    match value.to_string().as_str() {
        "true" => Ok(true),
        "false" => Ok(false),
        other => Err(Problem::new(
            key.span(),
            format_args!("`{key} = {other}` is neither true nor false"),
            format_args!("write `{key} = true` or `{key} = false`"),
        )),
    }
}

fn skip_visibility(tokens: &mut Tokens) {
    let is_pub =
        |tree: &TokenTree| matches!(tree, TokenTree::Ident(word) if word.to_string() == "pub");
    if tokens.next_if(is_pub).is_some() {
        let is_scope = |tree: &TokenTree| matches!(tree, TokenTree::Group(scope) if scope.delimiter() == Delimiter::Parenthesis);
        tokens.next_if(is_scope);
    }
}
