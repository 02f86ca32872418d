//! The parts of a log call: level, group, template, arguments; and the problems in them.
//!
//! The rules are those of the runtime's macros, which see the call where it is not rewritten.

use super::named::{self, target_len};
use super::resolve::{Entity, PathResolver, Space};
use super::tokens::{Path, Spans, content, is_punct, plain, shown, split_at_commas};
use super::walk::{MacroCall, Surroundings};
use super::{RustShape, SPAN, literal};
use crate::call::{Call, Text};
use crate::diagnostic::{Code, Diagnostic};
use crate::groups::Groups;
use crate::lang::near::{distance, is_alone};
use crate::source::Source;
use proc_macro2::{Group, TokenTree};
use protolog_core::{Level, as_log_call, first_placeholder};
use std::ops::Range;
use syn::parse::{ParseStream, Parser};

/// The nesting that the parser's stack can take, in operators within each other; a group counts as
/// several.
const MAX_NESTING: usize = 300;
const GROUP: usize = 8;

/// A macro of the runtime.
#[derive(Clone, Debug)]
pub(super) struct LogMacro {
    /// Its name in the runtime.
    pub(super) name: String,
    /// Its level; none where the call says it.
    pub(super) level: Option<Level>,
}

impl LogMacro {
    /// Returns whether a span's level stands before these parts: a literal would be its template.
    fn has_level(&self, rest: &[Vec<TokenTree>]) -> bool {
        let is_literal = |part: &[TokenTree]| matches!(part, [TokenTree::Literal(_)]);
        self.name == SPAN && matches!(rest, [group, _, ..] if !is_literal(group))
    }
}

/// The result of reading a macro call.
pub(super) enum MacroInvocation {
    Call(Box<Call<RustShape>>),
    /// It was rewritten before.
    Rewritten,
}

/// The surroundings in which a call is read.
pub(super) struct InvocationReader<'a> {
    pub(super) resolver: PathResolver<'a>,
    pub(super) groups: &'a Groups,
    pub(super) place: &'a Surroundings<'a>,
    /// The module's path, with the crate.
    pub(super) module: String,
    pub(super) source: &'a Source,
}

impl InvocationReader<'_> {
    pub(super) fn read(
        &self,
        call: &MacroCall<'_>,
        log: &LogMacro,
    ) -> Result<MacroInvocation, Diagnostic> {
        let trees = content(call.input);
        let is_comma = |tree: &TokenTree| is_punct(Some(tree), ',');
        if trees.windows(2).any(|pair| is_comma(&pair[0]) && is_punct(Some(&pair[1]), '@')) {
            return Ok(MacroInvocation::Rewritten);
        }
        let spans = self.place.spans;
        let parts = parts(call.input, spans)?;
        let (level, rest) = match (log.level, parts.split_first()) {
            (Some(_), Some((level, rest))) if log.has_level(rest) => (self.level(level)?, rest),
            (Some(level), _) => (level, &parts[..]),
            (None, Some((level, rest))) if rest.len() >= 2 => (self.level(level)?, rest),
            (None, _) => return Err(usage(call, log, &parts)),
        };
        let [group, template, arguments @ ..] = rest else { return Err(usage(call, log, rest)) };
        let group = self.group(group, template)?;
        let (mut template, template_range) = self.template_text(template)?;
        self.check_values(&template, arguments)?;
        template.merge_doubled_braces();
        let (names, name_edits) =
            named::names(arguments, (self.source, spans), |part| self.written(part))?;
        let args = arguments.iter().map(|part| spans.of_all(named::value(part), 0)).collect();
        Ok(MacroInvocation::Call(Box::new(Call {
            range: call.range.clone(),
            level,
            group,
            template,
            template_range,
            args,
            has_exception: false,
            names,
            shape: RustShape { place: self.module.clone(), name_edits },
        })))
    }

    fn level(&self, part: &[TokenTree]) -> Result<Level, Diagnostic> {
        let level = Path::of(part).and_then(|path| self.resolver.level(self.place.scopes, &path));
        level.ok_or_else(|| {
            let message = "the level is not known".to_owned();
            Diagnostic::error(Code::UnknownLevel, self.place.spans.of_all(part, 0), message)
                .help("write a constant, as in `Level::Warn`")
        })
    }

    /// The position of the group that a path names.
    fn group(&self, part: &[TokenTree], template: &[TokenTree]) -> Result<usize, Diagnostic> {
        let range = self.place.spans.of_all(part, 0);
        let error = |message: String, help: String| {
            Err(Diagnostic::error(Code::UnknownGroup, range.clone(), message).help(help))
        };
        let written = shown(part);
        let path = match group_path(part, template) {
            Ok(path) => path,
            Err((message, help)) => return error(message, help),
        };
        let resolve = |path: &Path| self.resolver.resolve(self.place.scopes, path, Space::Value);
        let full = |krate, name: &str, variant: &str| {
            format!("{}::{name}::{variant}", self.resolver.crates.name(krate))
        };
        match resolve(&path) {
            Entity::Variant { krate, name, variant } => {
                match self.groups.position_of(&full(krate, &name, &variant)) {
                    Some(position) => Ok(position),
                    None => error(
                        format!("the enum of `{written}` is no group enum"),
                        format!("derive `ProtoLogGroup` for `{name}`"),
                    ),
                }
            }
            _ => {
                // The enum may be known, and only the variant wrong.
                let mut of = path.clone();
                let last = of.names.pop().unwrap_or_default();
                if !of.names.is_empty()
                    && let Entity::Enum { name, variants, .. } = resolve(&of)
                {
                    let message = format!("`{name}` has no group `{}`", plain(&last));
                    let wrong = error(message, suggestion(&last, &variants));
                    let at = self.place.spans.of_all(&part[part.len().saturating_sub(1)..], 0);
                    let is_written = self.source.slice(at.clone()) == last.as_bytes();
                    let near = nearest(&last, &variants).filter(|_| is_written);
                    return wrong.map_err(|wrong| match near {
                        Some(near)
                            if is_alone(variants.iter().map(String::as_str), plain(&last)) =>
                        {
                            wrong.fix(at, near)
                        }
                        Some(near) => wrong.suggest(at, near),
                        None => wrong,
                    });
                }
                if matches!(resolve(&path), Entity::Other)
                    && !matches!(resolve(&of), Entity::Extern(_))
                {
                    let help = "name the variant, as in `AppLog::Net`, or a constant or type that is another name";
                    return error(format!("the group `{written}` is not known"), help.to_owned());
                }
                error(
                    format!("no source defines the group `{written}`"),
                    "add the source with the enum to the inputs, or correct the path".to_owned(),
                )
            }
        }
    }

    fn template_text(&self, part: &[TokenTree]) -> Result<(Text, Range<usize>), Diagnostic> {
        let range = self.place.spans.of_all(part, 0);
        let text = match part {
            [TokenTree::Literal(source)] => literal::text(&source.to_string(), range.start),
            _ => None,
        };
        if let Some(text) = text {
            return Ok((text, range));
        }
        let error = |message: String, help: String| {
            Err(Diagnostic::error(Code::NonConstantTemplate, range.clone(), message).help(help))
        };
        if target_len(part) == Some(1) {
            let help = "write the template after the group, with a conversion for each value, as in `\"sent %d bytes\", n`";
            let message = format!("`{}` stands where the template is expected", self.written(part));
            return error(message, help.to_owned());
        }
        let help = match self.formatted(part) {
            Some(call) => format!("write `{call}`: the template is taken out of the program when compiling"),
            None => "write the text here, as in `\"sent %d bytes\"`: it is taken out of the program when compiling; a text known at run time is an argument, as in `\"%s\", text`".to_owned(),
        };
        error("the template is not a string literal".to_owned(), help)
    }

    /// The template and arguments that stand for a call of `format!` or `format_args!`.
    fn formatted(&self, part: &[TokenTree]) -> Option<String> {
        let part = match part {
            [borrow, rest @ ..] if is_punct(Some(borrow), '&') => rest,
            all => all,
        };
        let [TokenTree::Ident(name), TokenTree::Punct(_), TokenTree::Group(input)] = part else {
            return None;
        };
        if name != "format" && name != "format_args" {
            return None;
        }
        let trees = content(input);
        let parts = split_at_commas(&trees);
        let ([TokenTree::Literal(source)], arguments) = parts.split_first()? else { return None };
        let text = literal::text(&source.to_string(), 0)?;
        let arguments: Vec<String> = arguments.iter().map(|part| self.written(part)).collect();
        Some(as_log_call(text.as_str(), &arguments).to_string())
    }

    /// Refuses arguments that `println!` takes and a log call would not: values in braces.
    fn check_values(
        &self,
        template: &Text,
        arguments: &[Vec<TokenTree>],
    ) -> Result<(), Diagnostic> {
        let text = template.as_str();
        let all_written = || arguments.iter().map(|part| self.written(part)).collect::<Vec<_>>();
        if let Some(found) = first_placeholder(text) {
            let range = template.origin(found.range());
            let help = found.help(text, &all_written()).to_string();
            return Err(
                Diagnostic::error(Code::BadTemplate, range, found.message().to_string()).help(help)
            );
        }
        Ok(())
    }

    /// The source of tokens, on one line.
    fn written(&self, part: &[TokenTree]) -> String {
        let text = self.source.text(self.place.spans.of_all(part, 0));
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }
}

/// The path of a group; or the problem and its help where it can't be one, whatever the names mean.
fn group_path(part: &[TokenTree], template: &[TokenTree]) -> Result<Path, (String, String)> {
    let written = shown(part);
    if is_string(part) && is_string(template) {
        let message = format!("`{written}` is a string, and a group is a variant of an enum");
        let help =
            "name a variant, as in `AppLog::Net`, of an enum with `#[derive(ProtoLogGroup)]`";
        return Err((message, help.to_owned()));
    }
    if let [TokenTree::Literal(_)] = part {
        let help = "name the group before the template, as in `d!(AppLog::Net, \"sent %d\", n)`";
        return Err(("the group is missing".to_owned(), help.to_owned()));
    }
    let Some(path) = variant_path(part) else {
        let help = "name a variant, as in `AppLog::Net`; `dynamic::log` takes a variable";
        return Err((format!("the group `{written}` is not a constant path"), help.to_owned()));
    };
    if let [name] = &path.names[..]
        && !path.absolute
        && is_lower_case(plain(name))
    {
        let help = format!(
            "name a variant, as in `AppLog::Net`; a constant in lower case is `self::{written}`; `dynamic::log` takes a variable"
        );
        return Err((format!("the group `{written}` is not a constant path"), help));
    }
    if path.names[0] == "Self" {
        let help = "write the enum's name, as in `AppLog::Net`";
        let message = "`Self` can't name a group: its meaning is not known in constants";
        return Err((message.to_owned(), help.to_owned()));
    }
    Ok(path)
}

/// The path of a variant, which may be written `<AppLog>::Net`.
fn variant_path(part: &[TokenTree]) -> Option<Path> {
    let [open, rest @ ..] = part else { return None };
    if !is_punct(Some(open), '<') {
        return Path::of(part);
    }
    let close = rest.iter().position(|tree| is_punct(Some(tree), '>'))?;
    let (mut path, variant) = (Path::of(&rest[..close])?, &rest[close + 1..]);
    path.names.extend(Path::of(variant).filter(|path| path.absolute)?.names);
    Some(path)
}

fn suggestion(name: &str, variants: &[String]) -> String {
    match nearest(name, variants) {
        Some(known) => format!("use `{known}`"),
        None if variants.len() > 8 => "add it to the enum".to_owned(),
        None => {
            let list: Vec<String> = variants.iter().map(|name| format!("`{name}`")).collect();
            format!("use one of {}", list.join(", "))
        }
    }
}

/// The variant whose name is so much like `name` that it may be meant.
fn nearest<'v>(name: &str, variants: &'v [String]) -> Option<&'v str> {
    let near = variants.iter().map(|known| (distance(name, known), known)).min();
    near.filter(|(distance, known)| *distance <= known.len().div_ceil(3))
        .map(|(_, known)| known.as_str())
}

/// The error of a call with too few parts, of which `parts` are those after the level.
fn usage(call: &MacroCall<'_>, log: &LogMacro, parts: &[Vec<TokenTree>]) -> Diagnostic {
    let name = &log.name;
    let (message, help) = match (log.level, parts) {
        (None, [_, template]) if is_string(template) => (
            "the level or the group is missing",
            "name both before the template, as in `protolog!(Level::Info, AppLog::Net, \"sent %d\", n)`".to_owned(),
        ),
        (None, _) => (
            "this is no log call",
            "write a level, a group, a template and its arguments, as in `protolog!(Level::Info, AppLog::Net, \"sent %d bytes\", n)`".to_owned(),
        ),
        (Some(_), [template]) if is_string(template) => (
            "the group is missing",
            format!("name the group before the template, as in `{name}!(AppLog::Net, \"sent %d\", n)`"),
        ),
        (Some(_), [group]) if Path::of(group).is_some() => (
            "the template is missing",
            format!("write it after the group, as in `{name}!(AppLog::Net, \"sent %d\", n)`"),
        ),
        (Some(_), _) => (
            "this is no log call",
            format!("write a group, a template and its arguments, with commas between, as in `{name}!(AppLog::Net, \"sent %d bytes\", n)`"),
        ),
    };
    Diagnostic::error(Code::ArgumentCount, call.range.clone(), message).help(help)
}

fn is_string(part: &[TokenTree]) -> bool {
    matches!(part, [TokenTree::Literal(text)] if text.to_string().ends_with(['"', '#']))
}

/// Returns whether a name is one of a variable, as far as the macros can tell, which see names
/// alone.
fn is_lower_case(name: &str) -> bool {
    name.chars().find(|char| *char != '_').is_some_and(char::is_lowercase)
}

/// The expressions of a call, each as its tokens.
fn parts(input: &Group, spans: Spans) -> Result<Vec<Vec<TokenTree>>, Diagnostic> {
    if is_too_deep(&content(input)) {
        let range = spans.of_group(input);
        return Err(Diagnostic::error(
            Code::Syntax,
            range,
            "this log call is too complex to be read",
        )
        .help("assign parts of it to variables before the call"));
    }
    let parse = |input: ParseStream<'_>| {
        let mut parts = Vec::new();
        while !input.is_empty() {
            let (mut at, _) = (input.cursor(), input.parse::<syn::Expr>()?);
            let (end, mut part) = (input.cursor(), Vec::new());
            while at != end
                && let Some((tree, next)) = at.token_tree()
            {
                part.push(tree);
                at = next;
            }
            parts.push(part);
            if !input.is_empty() {
                input.parse::<syn::Token![,]>()?;
            }
        }
        Ok(parts)
    };
    parse.parse2(input.stream()).map_err(|error: syn::Error| {
        let at = spans.range(error.span());
        let inside = spans.of_group(input);
        let is_inside = inside.start <= at.start && at.end <= inside.end && !at.is_empty();
        // An error at the end of the input has no place of its own.
        let range = if is_inside { at } else { inside.end.saturating_sub(1)..inside.end };
        Diagnostic::error(Code::Syntax, range, format!("the log call can't be read: {error}"))
            .help("correct the expression")
    })
}

/// Returns whether the parser's stack may be too small for these tokens.
pub(super) fn is_too_deep(trees: &[TokenTree]) -> bool {
    nesting(trees, 0) > MAX_NESTING
}

/// The depth to which the parser may have to go into an expression, at most about [`MAX_NESTING`].
fn nesting(trees: &[TokenTree], before: usize) -> usize {
    let marks = trees.iter().filter(|tree| match tree {
        TokenTree::Punct(punct) => !matches!(punct.as_char(), ',' | '.' | ';' | '#' | ':'),
        TokenTree::Ident(word) => is_prefix(&word.to_string()),
        _ => false,
    });
    let here = before + marks.count();
    if here > MAX_NESTING {
        return here;
    }
    let groups = trees.iter().filter_map(|tree| match tree {
        TokenTree::Group(group) => Some(nesting(&content(group), here + GROUP)),
        _ => None,
    });
    groups.max().unwrap_or(here)
}

/// Words after which an expression goes on inside.
fn is_prefix(word: &str) -> bool {
    matches!(
        word,
        "if" | "else"
            | "match"
            | "while"
            | "for"
            | "return"
            | "break"
            | "move"
            | "async"
            | "let"
            | "static"
            | "const"
            | "yield"
            | "become"
            | "as"
    )
}
