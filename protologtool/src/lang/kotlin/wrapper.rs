//! Functions that pass a template and arguments on to a log call, in the file that declares them.
//!
//! ```text
//! private fun log(msg: String, vararg args: Any?) = ProtoLog.v(NET, "%s: $msg", TAG, *args)
//! log("sent %d", n)        is the message  "Net: sent %d"  with the argument n, if TAG is the constant "Net"
//! ```
//!
//! Such a function does nothing else, and no other can take its place: it is private, or of the file. One level is looked
//! through.

use super::method_call::MethodCall;
use super::names::ScopedFile;
use super::scopes::{DeclaredKind, DeclaredName};
use super::template::{Piece, pieces};
use crate::call::Text;
use protolog_core::{Level, Piece as TemplatePiece, Template, Verb};
use std::ops::Range;

/// One such function.
#[derive(Debug)]
pub(super) struct Wrapper<'n> {
    declared: &'n DeclaredName,
    pub(super) level: Level,
    /// The tokens of the group in the log call.
    pub(super) group: Range<usize>,
    /// The template's text before and after the one that callers pass.
    pub(super) before: Text,
    pub(super) after: Text,
    /// True if no other file can call it.
    pub(super) is_private: bool,
}

impl Wrapper<'_> {
    /// The function around the log call `call`, if it is one.
    pub(super) fn around<'n>(
        named: &'n ScopedFile<'_>,
        call: &MethodCall,
        level: Level,
    ) -> Option<Wrapper<'n>> {
        let file = &named.file;
        let declared = named.scopes.function_around(call.method)?;
        let whole = declared.value.clone()?;
        let (name, open) = (whole.start, whole.start + 1);
        let close = file.partner(call.method + 1);
        let is_private = modifiers(named, name)?;
        if named.scopes.is_overloaded(&declared.name)
            || !is_body(named, &whole, call.class.start..close + 1)
        {
            return None;
        }
        let parameters = file.elements(open);
        let (text, is_vararg) = parameter(named, parameters.first()?)?;
        let rest = match &parameters[1..] {
            [] => None,
            [rest] => Some(parameter(named, rest).filter(|(_, is_vararg)| *is_vararg)?.0),
            _ => return None,
        };
        let elements = file.elements(call.method + 1);
        let [group, template, passed @ ..] = &elements[..] else { return None };
        let plain = match (&rest, passed.split_last()) {
            (Some(rest), Some((last, plain)))
                if last.len() == 2
                    && file.is_punct(last.start, b'*')
                    && file.word(last.start + 1) == *rest =>
            {
                plain
            }
            (None, _) => passed,
            _ => return None,
        };
        let (before, after) = around_text(named, template, &text)?;
        let constants =
            plain.iter().map(|tokens| constant(named, tokens)).collect::<Option<Vec<_>>>()?;
        let before = filled(&before, &constants)?;
        let group = group.clone();
        (!is_vararg).then_some(Wrapper { declared, level, group, before, after, is_private })
    }

    /// The positions of the names in calls of this function.
    pub(super) fn calls(&self, named: &ScopedFile<'_>) -> Vec<usize> {
        let file = &named.file;
        let is_call = |at: &usize| {
            let before = at.checked_sub(1).map_or("", |before| file.raw(before));
            if !file.is_word(*at)
                || !file.is_punct(at + 1, b'(')
                || file.begins_line(at + 1)
                || matches!(before, "." | ":" | "fun")
                || file.word(*at) != self.declared.name
            {
                return false;
            }
            let offset = file.tokens[*at].range().start;
            let function = named.scopes.function(&self.declared.name, offset);
            function.is_some_and(|it| std::ptr::eq(it, self.declared))
                && named.scopes.variable(&self.declared.name, offset).is_none()
        };
        (0..file.tokens.len()).filter(is_call).collect()
    }
}

/// Reads the modifiers of the function with its name at `name`: true if it is private; none if another function may take its
/// place, or if it belongs to a receiver.
fn modifiers(named: &ScopedFile<'_>, name: usize) -> Option<bool> {
    let file = &named.file;
    let keyword = name.checked_sub(1).filter(|at| file.raw(*at) == "fun")?;
    let mut is_private = false;
    for at in (0..keyword).rev() {
        match file.raw(at) {
            "private" => is_private = true,
            "internal" | "public" | "inline" | "final" | "suspend" => {}
            "open" | "override" | "abstract" | "protected" | "operator" | "infix" => return None,
            _ => break,
        }
    }
    let is_of_the_file = named.scopes.owners(file.tokens[name].range().start).next().is_none();
    (is_private || is_of_the_file).then_some(is_private)
}

/// Returns whether the tokens `call` are all that the function `whole` does.
fn is_body(named: &ScopedFile<'_>, whole: &Range<usize>, call: Range<usize>) -> bool {
    let file = &named.file;
    let Some(before) = call.start.checked_sub(1) else { return false };
    if file.is_punct(before, b'{') {
        return file.partner(before) == call.end && call.end + 1 == whole.end;
    }
    file.is_punct(before, b'=') && call.end == whole.end && before > file.partner(whole.start + 1)
}

/// The name of a parameter without a default value, and that it takes any number of values. Of others the type must be
/// `String`.
fn parameter(named: &ScopedFile<'_>, tokens: &Range<usize>) -> Option<(String, bool)> {
    let file = &named.file;
    let colon = tokens.clone().find(|at| file.is_punct(*at, b':'))?;
    let offset = file.tokens[colon].range().start;
    let name = file.word(colon.checked_sub(1)?).into_owned();
    let declared = named.scopes.variable(&name, offset)?;
    let has_default = tokens.clone().any(|at| file.is_punct(at, b'='));
    match (declared.kind, declared.written_type.as_deref()) {
        _ if has_default => None,
        (DeclaredKind::Vararg, Some("Any?" | "Any")) => Some((name, true)),
        (DeclaredKind::Parameter, Some("String")) => Some((name, false)),
        _ => None,
    }
}

/// The constant texts of a template before and after the value of the parameter `name`.
fn around_text(
    named: &ScopedFile<'_>,
    template: &Range<usize>,
    name: &str,
) -> Option<(Text, Text)> {
    let file = &named.file;
    if file.path(template.clone()).is_some_and(|path| path == [name.to_owned()]) {
        return Some((Text::default(), Text::default()));
    }
    let (mut before, mut after, mut is_found) = (Text::default(), Text::default(), false);
    for piece in pieces(named, template.clone()).ok()? {
        match piece {
            Piece::Text(text) if is_found => after.append(text),
            Piece::Text(text) => before.append(text),
            Piece::Expression(tokens) => {
                let is_parameter = tokens.len() == 1 && file.word(tokens.start) == name;
                if is_found || !is_parameter {
                    return None;
                }
                is_found = true;
            }
        }
    }
    is_found.then_some((before, after))
}

fn constant(named: &ScopedFile<'_>, tokens: &Range<usize>) -> Option<String> {
    let pieces = pieces(named, tokens.clone()).ok()?;
    let texts = pieces.into_iter().map(|piece| match piece {
        Piece::Text(text) => Some(text.as_str().to_owned()),
        Piece::Expression(_) => None,
    });
    texts.collect::<Option<Vec<_>>>().map(|texts| texts.concat())
}

/// A template with these texts in the place of its first conversions, which must be `%s`.
fn filled(template: &Text, constants: &[String]) -> Option<Text> {
    let mut constants = constants.iter();
    let text = template.as_str();
    let parsed = Template::parse(text).ok()?;
    let mut filled = Text::default();
    let mut at = 0;
    let copy = |filled: &mut Text, range: Range<usize>| {
        for (index, char) in text[range.clone()].char_indices() {
            let origin = template.origin(range.start + index..range.start + index + 1);
            filled.push(char, origin.start);
        }
    };
    for conversion in parsed.pieces().filter_map(|piece| match piece {
        TemplatePiece::Conversion(conversion) => Some(conversion),
        _ => None,
    }) {
        let Some(constant) = constants.next() else { break };
        if conversion.verb != Verb::Str || !conversion.is_bare() {
            return None;
        }
        let range = conversion.range();
        copy(&mut filled, at..range.start);
        let origin = template.origin(range.clone()).start;
        constant.replace('%', "%%").chars().for_each(|char| filled.push(char, origin));
        at = range.end;
    }
    copy(&mut filled, at..text.len());
    constants.next().is_none().then_some(filled)
}
