//! The parts of a call of `log` or `tracing`: level, target, fields, message, arguments.

use super::super::invocation::is_too_deep;
use super::super::literal;
use super::super::tokens::{Spans, content, is_colons, is_punct, word};
use crate::call::Text;
use crate::lang::migration::{SourceLibrary, Stays};
use proc_macro2::{Group, TokenTree};
use protolog_core::Level;
use std::ops::Range;
use syn::ext::IdentExt as _;
use syn::parse::{ParseStream, Parser};
use syn::{Expr, Ident, LitStr, Token};

/// A call's parts. Ranges are bytes of the file.
#[derive(Debug)]
pub(super) struct LibraryCall {
    pub(super) level: Level,
    /// The part of the input whose place the group takes: target and level, or nothing at all.
    pub(super) head: Range<usize>,
    pub(super) target: Option<String>,
    pub(super) fields: Vec<EventField>,
    pub(super) message: Option<FormatMessage>,
    /// All behind the head.
    pub(super) body: Range<usize>,
}

/// The format string, with its arguments.
#[derive(Debug)]
pub(super) struct FormatMessage {
    pub(super) literal: Range<usize>,
    pub(super) text: Text,
    pub(super) arguments: Vec<FormatArgument>,
}

/// An argument of the format string.
#[derive(Debug)]
pub(super) struct FormatArgument {
    pub(super) name: Option<String>,
    pub(super) value: ArgumentValue,
    /// With its name.
    pub(super) range: Range<usize>,
}

/// A field of an event, or a pair of a record.
#[derive(Debug)]
pub(super) struct EventField {
    pub(super) name: String,
    pub(super) form: FieldForm,
    pub(super) value: ArgumentValue,
    pub(super) range: Range<usize>,
}

/// The form in which a field's value is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FieldForm {
    Plain,
    Debug,
    Display,
}

/// An expression, as far as moving it depends on it.
#[derive(Clone, Debug)]
pub(super) struct ArgumentValue {
    pub(super) range: Range<usize>,
    /// True if reading it twice, or later, is the same as reading it once.
    pub(super) is_pure: bool,
    /// True if a prefix such as `&` takes all of it.
    pub(super) is_tight: bool,
    pub(super) kind: ValueKind,
}

/// The type of an expression, where it shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ValueKind {
    /// An integer of up to 64 bits.
    Integer,
    Bool,
    /// A cast to a trait object.
    Object,
    Other,
}

/// Reads the input of a call of the macro `name`.
pub(super) fn read(
    library: SourceLibrary,
    name: &str,
    input: &Group,
    spans: Spans,
) -> Result<LibraryCall, Stays> {
    let trees = content(input);
    if is_too_deep(&trees) {
        return Err(Stays::new("it is too complex to be read", "move it by hand"));
    }
    let mut reader = InputReader { trees: &trees, spans, at: 0, library };
    let open = spans.range(input.span_open()).end;
    reader.read(name, open)
}

struct InputReader<'t> {
    trees: &'t [TokenTree],
    spans: Spans,
    at: usize,
    library: SourceLibrary,
}

impl InputReader<'_> {
    fn read(&mut self, name: &str, open: usize) -> Result<LibraryCall, Stays> {
        let target = self.head()?;
        let start = self.trees.first().map_or(open, |first| self.spans.of(first).start);
        let level = match level(name) {
            Some(level) => level,
            None => self.level()?,
        };
        // Without the comma.
        let end = self.at.checked_sub(2).map(|last| self.spans.of(&self.trees[last]).end);
        let head = start..end.unwrap_or(start);
        let rest = &self.trees[self.at..];
        let body = self.spans.of_all(rest, head.end);
        let is_log = self.library == SourceLibrary::Log;
        let split =
            if is_log { rest.iter().position(|tree| is_punct(Some(tree), ';')) } else { None };
        let (fields, message) = match split {
            Some(at) => (self.parse(&rest[..at], pairs)?, self.parse(&rest[at + 1..], message)?),
            None if is_log => (Vec::new(), self.parse(rest, message)?),
            None => self.parse(rest, fields_and_message)?,
        };
        if message.is_none() && (fields.is_empty() || is_log) {
            let help =
                "write a message as a literal: it is taken out of the program when compiling";
            return Err(Stays::new("its message is no string literal", help));
        }
        Ok(LibraryCall { level, head, target, fields, message, body })
    }

    /// `target: "net",` and the like; leaves the place behind them.
    fn head(&mut self) -> Result<Option<String>, Stays> {
        let mut target = None;
        while let Some(key) = word(self.trees.get(self.at))
            && is_punct(self.trees.get(self.at + 1), ':')
            && !is_colons(self.trees, self.at + 1)
            && matches!(key.as_str(), "target" | "parent" | "name" | "logger")
        {
            let value = &self.trees[self.at + 2..];
            let length = value.iter().position(|tree| is_punct(Some(tree), ','));
            let length = length.unwrap_or(value.len());
            let part = self.spans.of_all(&self.trees[self.at..self.at + 2 + length], 0);
            match (key.as_str(), &value[..length]) {
                ("target", [TokenTree::Literal(text)]) => {
                    target =
                        literal::text(&text.to_string(), 0).map(|text| text.as_str().to_owned());
                    if target.is_none() {
                        return Err(no_target().at(part));
                    }
                }
                ("target", _) => return Err(no_target().at(part)),
                _ => {
                    let reason = format!("protolog has nothing like its `{key}:`");
                    return Err(Stays::new(reason, "leave it out, or keep the call").at(part));
                }
            }
            self.at = (self.at + 3 + length).min(self.trees.len());
        }
        Ok(target)
    }

    /// The level that stands first in `log!` and `event!`.
    fn level(&mut self) -> Result<Level, Stays> {
        let rest = &self.trees[self.at..];
        let length = rest.iter().position(|tree| is_punct(Some(tree), ','));
        let length = length.unwrap_or(rest.len());
        let level = match &rest[..length] {
            [.., colon, TokenTree::Ident(name)] if is_punct(Some(colon), ':') => {
                level(&name.to_string().to_lowercase())
            }
            _ => None,
        };
        let at = self.spans.of_all(&rest[..length], 0);
        let help = "write a call for each level, as in `info!(…)`";
        let level = level.ok_or_else(|| Stays::new("its level is no constant", help).at(at))?;
        self.at = (self.at + length + 1).min(self.trees.len());
        Ok(level)
    }

    fn parse<T>(
        &self,
        trees: &[TokenTree],
        parser: fn(ParseStream<'_>, Spans) -> syn::Result<T>,
    ) -> Result<T, Stays> {
        let stream = trees.iter().cloned().collect();
        let spans = self.spans;
        let parse = move |input: ParseStream<'_>| parser(input, spans);
        parse.parse2(stream).map_err(|error| {
            let message = error.to_string();
            match message.strip_prefix(STAYS) {
                Some(reason) => Stays::new(reason, "move it by hand").at(spans.range(error.span())),
                None => Stays::new("it can't be read", "move it by hand"),
            }
        })
    }
}

fn no_target() -> Stays {
    Stays::new(
        "its target is known at run time only",
        "name a group: a variant of an enum, which is a constant",
    )
}

/// The mark of errors that are reasons.
const STAYS: &str = "\u{1}";

fn stays(span: proc_macro2::Span, reason: &str) -> syn::Error {
    syn::Error::new(span, format!("{STAYS}{reason}"))
}

/// The level that a name stands for.
fn level(name: &str) -> Option<Level> {
    Some(match name {
        "trace" => Level::Verbose,
        "debug" => Level::Debug,
        "info" => Level::Info,
        "warn" => Level::Warn,
        "error" => Level::Error,
        _ => return None,
    })
}

/// The next expression, and the bytes that it takes.
fn value(input: ParseStream<'_>, spans: Spans) -> syn::Result<(ArgumentValue, Expr)> {
    let mut at = input.cursor();
    let expr: Expr = input.parse()?;
    let mut trees = Vec::new();
    while at != input.cursor()
        && let Some((tree, next)) = at.token_tree()
    {
        trees.push(tree);
        at = next;
    }
    let range = spans.of_all(&trees, 0);
    let (is_pure, is_tight, kind) = (is_pure(&expr), is_tight(&expr), kind(&expr));
    Ok((ArgumentValue { range, is_pure, is_tight, kind }, expr))
}

/// A format string and its arguments.
fn message(input: ParseStream<'_>, spans: Spans) -> syn::Result<Option<FormatMessage>> {
    if !input.peek(LitStr) {
        input.parse::<proc_macro2::TokenStream>()?;
        return Ok(None);
    }
    let token = input.parse::<proc_macro2::Literal>()?;
    let range = spans.range(token.span());
    let Some(text) = literal::text(&token.to_string(), range.start) else {
        return Err(stays(token.span(), "its message is no plain string literal"));
    };
    let mut arguments = Vec::new();
    while !input.is_empty() {
        input.parse::<Token![,]>()?;
        if input.is_empty() {
            break;
        }
        let start = spans.range(input.span()).start;
        let name =
            if input.peek(Ident::peek_any) && input.peek2(Token![=]) && !input.peek2(Token![==]) {
                let name = Ident::parse_any(input)?;
                input.parse::<Token![=]>()?;
                Some(name.to_string())
            } else {
                None
            };
        let (value, _) = value(input, spans)?;
        let range = start..value.range.end;
        arguments.push(FormatArgument { name, value, range });
    }
    Ok(Some(FormatMessage { literal: range, text, arguments }))
}

/// The pairs of `log`: `a = 1, b:? = x, c:%`.
fn pairs(input: ParseStream<'_>, spans: Spans) -> syn::Result<Vec<EventField>> {
    let mut fields = Vec::new();
    while !input.is_empty() {
        let start = spans.range(input.span());
        let (name, span) = key(input)?;
        let mut form = FieldForm::Display;
        if input.peek(Token![:]) {
            input.parse::<Token![:]>()?;
            form = modifier(input)?;
        }
        let value = if input.peek(Token![=]) {
            input.parse::<Token![=]>()?;
            value(input, spans)?.0
        } else {
            variable(span, spans)
        };
        let range = start.start..value.range.end.max(start.end);
        fields.push(EventField { name, form, value, range });
        if !input.is_empty() {
            input.parse::<Token![,]>()?;
        }
    }
    Ok(fields)
}

/// `?`, `%`, `debug`, `display` or `err` behind the colon.
fn modifier(input: ParseStream<'_>) -> syn::Result<FieldForm> {
    if input.peek(Token![?]) {
        input.parse::<Token![?]>()?;
        return Ok(FieldForm::Debug);
    }
    if input.peek(Token![%]) {
        input.parse::<Token![%]>()?;
        return Ok(FieldForm::Display);
    }
    let word = Ident::parse_any(input)?;
    match word.to_string().as_str() {
        "debug" => Ok(FieldForm::Debug),
        "display" | "err" => Ok(FieldForm::Display),
        other => {
            Err(stays(word.span(), &format!("the text of a pair with `:{other}` is not known")))
        }
    }
}

/// A name of letters, dots and the like, or a literal.
fn key(input: ParseStream<'_>) -> syn::Result<(String, proc_macro2::Span)> {
    if input.peek(LitStr) {
        let literal: LitStr = input.parse()?;
        return Ok((literal.value(), literal.span()));
    }
    let first = Ident::parse_any(input)?;
    Ok((first.unraw().to_string(), first.span()))
}

/// The variable that a field of its name stands for.
fn variable(span: proc_macro2::Span, spans: Spans) -> ArgumentValue {
    ArgumentValue {
        range: spans.range(span),
        is_pure: true,
        is_tight: true,
        kind: ValueKind::Other,
    }
}

/// The fields of `tracing`, and the message behind them.
fn fields_and_message(
    input: ParseStream<'_>,
    spans: Spans,
) -> syn::Result<(Vec<EventField>, Option<FormatMessage>)> {
    let mut fields = Vec::new();
    while !input.is_empty() {
        if input.peek(LitStr) && !input.peek2(Token![=]) {
            return Ok((fields, message(input, spans)?));
        }
        if input.peek(syn::token::Brace) {
            return Err(stays(input.span(), "its fields are in braces"));
        }
        let field = field(input, spans)?;
        if field.name == "message" {
            return Err(stays(input.span(), "its message is a field"));
        }
        fields.push(field);
        if !input.is_empty() {
            input.parse::<Token![,]>()?;
        }
    }
    Ok((fields, None))
}

/// `a.b = ?x`, `"a b" = x`, `%x.y`, `x`.
fn field(input: ParseStream<'_>, spans: Spans) -> syn::Result<EventField> {
    let start = spans.range(input.span()).start;
    if let Some(form) = sigil(input)? {
        let (name, range) = dotted(input, spans)?;
        let value = ArgumentValue { range, is_pure: true, is_tight: true, kind: ValueKind::Other };
        let range = start..value.range.end;
        return Ok(EventField { name, form, value, range });
    }
    let (name, names) = if input.peek(LitStr) {
        let literal: LitStr = input.parse()?;
        (literal.value(), start..start)
    } else {
        dotted(input, spans)?
    };
    let (form, value) = if input.peek(Token![=]) {
        input.parse::<Token![=]>()?;
        let form = sigil(input)?.unwrap_or(FieldForm::Plain);
        (form, value(input, spans)?.0)
    } else {
        let kind = ValueKind::Other;
        (FieldForm::Plain, ArgumentValue { range: names, is_pure: true, is_tight: true, kind })
    };
    if value.kind == ValueKind::Object && form == FieldForm::Plain {
        return Err(stays(input.span(), "the text of a field that is a trait object is not known"));
    }
    let range = start..value.range.end;
    Ok(EventField { name, form, value, range })
}

fn sigil(input: ParseStream<'_>) -> syn::Result<Option<FieldForm>> {
    if input.peek(Token![?]) {
        input.parse::<Token![?]>()?;
        return Ok(Some(FieldForm::Debug));
    }
    if input.peek(Token![%]) {
        input.parse::<Token![%]>()?;
        return Ok(Some(FieldForm::Display));
    }
    Ok(None)
}

/// Names with dots between them.
fn dotted(input: ParseStream<'_>, spans: Spans) -> syn::Result<(String, Range<usize>)> {
    let first = Ident::parse_any(input)?;
    let mut range = spans.range(first.span());
    let mut name = first.unraw().to_string();
    while input.peek(Token![.]) {
        input.parse::<Token![.]>()?;
        let next = Ident::parse_any(input)?;
        range.end = spans.range(next.span()).end;
        name = format!("{name}.{}", next.unraw());
    }
    Ok((name, range))
}

fn is_pure(expr: &Expr) -> bool {
    match expr {
        Expr::Lit(_) => true,
        Expr::Path(path) => path.qself.is_none(),
        Expr::Field(field) => is_pure(&field.base),
        Expr::Reference(inner) => inner.mutability.is_none() && is_pure(&inner.expr),
        Expr::Paren(inner) => is_pure(&inner.expr),
        _ => false,
    }
}

fn is_tight(expr: &Expr) -> bool {
    matches!(
        expr,
        Expr::Array(_)
            | Expr::Await(_)
            | Expr::Call(_)
            | Expr::Field(_)
            | Expr::Index(_)
            | Expr::Lit(_)
            | Expr::Macro(_)
            | Expr::MethodCall(_)
            | Expr::Paren(_)
            | Expr::Path(_)
            | Expr::Reference(_)
            | Expr::Repeat(_)
            | Expr::Try(_)
            | Expr::Tuple(_)
            | Expr::Unary(_)
    )
}

fn kind(expr: &Expr) -> ValueKind {
    const INTEGERS: [&str; 10] =
        ["i8", "i16", "i32", "i64", "isize", "u8", "u16", "u32", "u64", "usize"];
    match expr {
        Expr::Lit(literal) => match &literal.lit {
            syn::Lit::Int(int) if int.suffix().is_empty() || INTEGERS.contains(&int.suffix()) => {
                ValueKind::Integer
            }
            syn::Lit::Bool(_) => ValueKind::Bool,
            _ => ValueKind::Other,
        },
        Expr::Cast(cast) => match &*cast.ty {
            syn::Type::Path(path) => match path.path.get_ident() {
                Some(name) if INTEGERS.contains(&name.to_string().as_str()) => ValueKind::Integer,
                _ => ValueKind::Other,
            },
            syn::Type::Reference(to) => match &*to.elem {
                syn::Type::TraitObject(_) | syn::Type::Paren(_) => ValueKind::Object,
                _ => ValueKind::Other,
            },
            _ => ValueKind::Other,
        },
        Expr::Paren(inner) => kind(&inner.expr),
        _ => ValueKind::Other,
    }
}
