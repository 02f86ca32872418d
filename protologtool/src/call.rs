//! A log call, whatever the language: what every front end finds and what every check and every
//! emitter reads.

use crate::diagnostic::{Code, Diagnostic};
use protolog_core::{Braces, Level, ParamKind, Template, TemplateError, braces};
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
    /// The template's text; [`Checked`] accepts it with these arguments.
    pub template: Text,
    /// The list of the arguments' names, see [`protolog_core::ArgumentNames`].
    pub names: String,
    /// The expression that gives the template.
    pub template_range: Range<usize>,
    /// The arguments after the template, without comments around them.
    pub args: Vec<Range<usize>>,
    /// True if the last argument is an exception, for which the template has no conversion.
    pub has_exception: bool,
    /// The part that only the language's own emitter needs.
    pub shape: S,
}

/// A call's template and arguments, to be checked against each other.
#[derive(Clone, Copy, Debug)]
pub struct Checked<'t> {
    /// The source.
    pub source: &'t [u8],
    /// The template's text.
    pub text: &'t Text,
    /// The expression that gives it.
    pub range: &'t Range<usize>,
    /// The arguments.
    pub args: &'t [Range<usize>],
    /// True if the last argument may be an exception that the template has no conversion for.
    pub may_have_exception: bool,
}

impl<'t> Checked<'t> {
    /// The template, if it is one and takes as many arguments as there are; else all its faults.
    pub fn template(self) -> Result<Template<'t>, Vec<Diagnostic>> {
        let template = Template::parse(self.text.as_str()).map_err(|_| self.faults())?;
        if template.len() == self.args.len() || self.has_exception(&template) {
            return Ok(template);
        }
        Err(vec![self.wrong_count(&template)])
    }

    /// Returns whether the last argument is an exception behind those that the template takes.
    pub fn has_exception(self, template: &Template<'_>) -> bool {
        self.may_have_exception && self.args.len() == template.len() + 1
    }

    /// The faults of a text that is no template: each part behind a fault is a template of its own.
    fn faults(self) -> Vec<Diagnostic> {
        let (mut found, mut at) = (Vec::new(), 0);
        while let Some(Err(error)) = self.text.as_str().get(at..).map(Template::parse) {
            found.push(self.fault(at, &error));
            at += error.range().end.max(1);
        }
        found
    }

    /// The fault of the part that begins at `start`.
    fn fault(self, start: usize, error: &TemplateError) -> Diagnostic {
        let part = &self.text.as_str()[start..];
        let within = |range: Range<usize>| start + range.start..start + range.end;
        let range = within(error.range());
        // A sign at the very end can mean nothing else.
        let is_lone = part[error.range()].eq("%") && range.end == self.text.len();
        let message = error.message(part).to_string();
        let fault = Diagnostic::error(Code::BadTemplate, self.text.origin(range), message)
            .help(error.help(part).to_string());
        let Some(change) = error.replacement(part) else { return fault };
        match self.written(within(change.range())) {
            Some(at) if is_lone || is_integer_of_c(&part[change.range()]) => {
                fault.fix(at, change.to_string())
            }
            Some(at) => fault.suggest(at, change.to_string()),
            None => fault,
        }
    }

    /// The place of a part of the text, if the source has it letter by letter: neither escaped nor
    /// by a name.
    fn written(self, part: Range<usize>) -> Option<Range<usize>> {
        let place = self.text.origin(part.clone());
        let written = self.source.get(place.clone())?;
        (written == self.text.as_str()[part].as_bytes()).then_some(place)
    }

    fn wrong_count(self, template: &Template<'_>) -> Diagnostic {
        let (takes, passes) = (template.len(), self.args.len());
        let range = match self.args.get(takes..) {
            Some([first, .., last]) => first.start..last.end,
            Some([only]) => only.clone(),
            _ => self.range.clone(),
        };
        let message = format!(
            "the template takes {takes} argument{}, the call passes {passes}",
            if takes == 1 { "" } else { "s" }
        );
        let fault = Diagnostic::error(Code::ArgumentCount, range, message);
        if passes > takes {
            if self.text.as_str().contains("{}") {
                return self.for_braces(
                    passes - takes,
                    fault.help("write `%s` in the place of `{}`, which is text"),
                );
            }
            let help = "add a conversion such as `%s` for each argument, or remove the argument";
            return self.for_surplus(takes, fault.help(help));
        }
        let help = "pass one argument for each conversion; write `%%` for a per cent sign";
        self.for_missing(template, fault.help(help))
    }

    /// With the change that makes conversions of all `{}`, if there are as many as `missing`.
    fn for_braces(self, missing: usize, fault: Diagnostic) -> Diagnostic {
        let text = self.text.as_str();
        let (Some(first), Some(last)) = (text.find("{}"), text.rfind("{}")) else { return fault };
        let part = first..last + "{}".len();
        let is_all = text.matches("{}").count() == missing && self.is_in_order();
        match self.written(part.clone()).filter(|_| is_all) {
            Some(at) => fault.fix(at, text[part].replace("{}", "%s")),
            None => fault,
        }
    }

    /// With the changes that make up for arguments behind the first `takes`.
    fn for_surplus(self, takes: usize, fault: Diagnostic) -> Diagnostic {
        let Some(last) = self.args.last().filter(|_| self.is_in_order()) else { return fault };
        let kept = takes.checked_sub(1).map_or(self.range, |kept| &self.args[kept]);
        let without = kept.end..last.end;
        let end = self.text.as_str().char_indices().next_back();
        let end = end.and_then(|(at, _)| self.written(at..self.text.len())).map(|at| at.end);
        // Not where the text ends with a constant, which others may use.
        let end = end.filter(|end| self.range.contains(end));
        let fault = match end {
            Some(end) => fault.suggest(end..end, " %s".repeat(self.args.len() - takes)),
            None => fault,
        };
        fault.suggest(without, "")
    }

    /// With the change that passes a value for each conversion that has none.
    fn for_missing(self, template: &Template<'_>, fault: Diagnostic) -> Diagnostic {
        if !self.is_in_order() {
            return fault;
        }
        let end = self.args.last().unwrap_or(self.range).end;
        let values = template.conversions().skip(self.args.len());
        let values = values.map(|conversion| match conversion.verb.kind() {
            ParamKind::Int => ", 0",
            ParamKind::Float => ", 0.0",
            ParamKind::Bool => ", false",
            ParamKind::Str => ", \"\"",
        });
        fault.suggest(end..end, values.collect::<String>())
    }

    /// Returns whether all arguments stand behind the template: those within a text are written
    /// otherwise.
    fn is_in_order(self) -> bool {
        self.args.iter().all(|arg| arg.start >= self.range.end)
    }
}

/// Returns whether a conversion is one of C for whole numbers, such as `%i` and `%ld`, so that `%d`
/// is meant.
fn is_integer_of_c(conversion: &str) -> bool {
    let letters = conversion.strip_prefix('%').unwrap_or_default();
    letters
        .trim_start_matches(['h', 'j', 'l', 'q', 't', 'z'])
        .parse()
        .is_ok_and(|it| matches!(it, 'd' | 'i' | 'u'))
}

/// Faults of a template that is not all written at the call: where it is to be changed is not
/// known.
pub fn without_fixes(faults: Vec<Diagnostic>) -> Vec<Diagnostic> {
    faults.into_iter().map(|fault| Diagnostic { fixes: Vec::new(), ..fault }).collect()
}

/// A text that a source gives in literals, and for each of its bytes where in the source it comes
/// from.
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

    /// The number of bytes.
    fn len(&self) -> usize {
        self.value.len()
    }

    /// The text `value`, all of which comes from `offset`.
    pub fn at(value: &str, offset: usize) -> Self {
        Self { value: value.to_owned(), origins: vec![offset; value.len()] }
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
        self.retain(|at| removed.binary_search(&at).is_err());
    }

    /// Takes parts out.
    pub fn remove(&mut self, parts: &[Range<usize>]) {
        self.retain(|at| !parts.iter().any(|part| part.contains(&at)));
    }

    /// Keeps the characters at the places of which `is_kept` is true.
    fn retain(&mut self, is_kept: impl Fn(usize) -> bool) {
        let value = self.value.char_indices().filter(|(at, _)| is_kept(*at));
        let value = value.map(|(_, char)| char).collect();
        let origins = self.origins.iter().enumerate().filter(|(at, _)| is_kept(*at));
        self.origins = origins.map(|(_, origin)| *origin).collect();
        self.value = value;
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
