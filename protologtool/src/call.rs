//! A log call, whatever the language: what every front end finds and what every check and every emitter reads.

use crate::diagnostic::{Code, Diagnostic};
use protolog_core::{Braces, Level, Template, TemplateError, braces};
use std::ops::Range;

/// A log call in a source. All ranges are byte ranges of that source.
#[derive(Clone, Debug)]
pub struct Call<S> {
    /// The whole call, from its first byte to its closing parenthesis.
    pub range: Range<usize>,
    /// The level, which the method's name says.
    pub level: Level,
    /// The group, as its position in [`crate::groups::Groups`].
    pub group: usize,
    /// The template's text; [`check`] accepts it with these arguments.
    pub template: Text,
    /// The expression that gives the template.
    pub template_range: Range<usize>,
    /// The arguments after the template, without comments around them.
    pub args: Vec<Range<usize>>,
    /// The part that only the language's own emitter needs.
    pub shape: S,
}

/// The template `text`, which stands at `range`, if it is one and takes as many arguments as there are.
pub fn check<'t>(
    text: &'t Text,
    range: &Range<usize>,
    args: &[Range<usize>],
) -> Result<Template<'t>, Diagnostic> {
    let value = text.as_str();
    let template =
        Template::parse(value).map_err(|error| bad_template(text, value, error.range(), &error))?;
    let (takes, passes) = (template.len(), args.len());
    if takes == passes {
        return Ok(template);
    }
    let range = match args.get(takes..) {
        Some([first, .., last]) => first.start..last.end,
        Some([only]) => only.clone(),
        _ => range.clone(),
    };
    let message = format!(
        "the template takes {takes} argument{}, the call passes {passes}",
        if takes == 1 { "" } else { "s" }
    );
    let help = if passes > takes {
        "add a conversion such as `%s` for each argument, or remove the argument"
    } else {
        "pass one argument for each conversion; write `%%` for a per cent sign"
    };
    Err(Diagnostic::error(Code::ArgumentCount, range, message).help(help))
}

/// As [`check`], with every fault of the template rather than the first.
pub fn check_all<'t>(
    text: &'t Text,
    range: &Range<usize>,
    args: &[Range<usize>],
) -> Result<Template<'t>, Vec<Diagnostic>> {
    check(text, range, args).map_err(|first| {
        let more = if first.code == Code::BadTemplate { further_faults(text) } else { Vec::new() };
        std::iter::once(first).chain(more).collect()
    })
}

/// The fault at `range` of a template, whose part `part` has it.
fn bad_template(text: &Text, part: &str, range: Range<usize>, error: &TemplateError) -> Diagnostic {
    let (message, help) = (error.message(part).to_string(), error.help(part).to_string());
    let (origin, is_last) = (text.origin(range.clone()), range.end == text.as_str().len());
    let fault = Diagnostic::error(Code::BadTemplate, origin.clone(), message).help(help);
    // A sign at the very end can mean nothing else. If it is escaped, its origin is longer.
    let is_lone = is_last && text.as_str()[range].eq("%") && origin.len() == 1;
    if is_lone { fault.fix(origin, "%%") } else { fault }
}

/// The faults of a template behind its first one: each part behind a fault is a template of its own.
fn further_faults(text: &Text) -> Vec<Diagnostic> {
    let value = text.as_str();
    let (mut found, mut at) = (Vec::new(), 0);
    while let Some(Err(error)) = value.get(at..).map(Template::parse) {
        let rest = &value[at..];
        let range = at + error.range().start..at + error.range().end;
        found.push(bad_template(text, rest, range.clone(), &error));
        at = range.end.max(at + 1);
    }
    found.drain(..1.min(found.len()));
    found
}

/// A text that a source gives in literals, and for each of its bytes where in the source it comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Text {
    value: String,
    origins: Vec<usize>,
}

impl Text {
    /// The text.
    pub fn as_str(&self) -> &str {
        &self.value
    }

    /// Appends `char`, which the source gives at `offset`.
    pub fn push(&mut self, char: char, offset: usize) {
        self.value.push(char);
        self.origins.resize(self.value.len(), offset);
    }

    /// Appends another text.
    pub fn append(&mut self, mut other: Self) {
        self.value.push_str(&other.value);
        self.origins.append(&mut other.origins);
    }

    /// Takes doubled braces as one, as the macros of Rust do.
    pub fn merge_doubled_braces(&mut self) {
        let mut removed = Vec::new();
        braces(&self.value, |found| {
            if let Braces::Doubled { open, close } = found {
                removed.extend([open, close]);
            }
        });
        if removed.is_empty() {
            return;
        }
        removed.sort_unstable();
        let is_kept = |at: usize| removed.binary_search(&at).is_err();
        let value = self.value.char_indices().filter(|(at, _)| is_kept(*at));
        self.value = value.map(|(_, char)| char).collect();
        let origins = self.origins.iter().enumerate().filter(|(at, _)| is_kept(*at));
        self.origins = origins.map(|(_, origin)| *origin).collect();
    }

    /// Moves all places in the source by `map`.
    pub fn map_origins(&mut self, map: impl Fn(usize) -> usize) {
        self.origins.iter_mut().for_each(|origin| *origin = map(*origin));
    }

    /// Where in the source the bytes `range` of the text come from: from the first to the last.
    pub fn origin(&self, range: Range<usize>) -> Range<usize> {
        let at = |index: usize| self.origins.get(index).or(self.origins.last()).copied();
        let start = at(range.start).unwrap_or_default();
        let last = at(range.end.saturating_sub(1).max(range.start)).unwrap_or(start);
        start..last.max(start) + 1
    }
}
