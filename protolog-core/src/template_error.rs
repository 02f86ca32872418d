//! Errors of templates: the problem, its position, and what to write instead.

use core::{fmt, ops::Range};

/// The error for a text that is not a valid template.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TemplateError {
    problem: TemplateProblem,
    start: usize,
    end: usize,
}

/// The ways in which a template can be invalid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TemplateProblem {
    /// The template ends within the conversion.
    Unfinished,
    /// The letter is not a verb.
    Unknown,
    /// A flag of printf or java.util.Formatter other than zero padding.
    Flag,
    /// `%1$s`
    ArgumentIndex,
    /// `%*d`
    WidthFromArgument,
    /// `%5%`
    WidthOnPercent,
    /// `%0d`
    ZeroWithoutWidth,
    /// `%05s`
    ZeroPadsText,
    /// `%.2d`
    PrecisionOfInteger,
    /// `%.f`
    NoPrecision,
    /// A width over 255.
    TooWide,
    /// A precision over 255.
    TooPrecise,
    /// More conversions than [`crate::MAX_PARAMS`].
    TooManyConversions,
}

impl TemplateError {
    pub(crate) const fn new(problem: TemplateProblem, range: Range<usize>) -> Self {
        Self { problem, start: range.start, end: range.end }
    }

    /// The problem.
    pub const fn problem(&self) -> TemplateProblem {
        self.problem
    }

    /// The offending part of the template, in bytes.
    pub const fn range(&self) -> Range<usize> {
        self.start..self.end
    }

    /// The column of the offending part in `template`, the refused text, in characters from 1.
    pub fn column(&self, template: &str) -> usize {
        template.char_indices().take_while(|(at, _)| *at < self.start).count() + 1
    }

    /// The problem in words, quoting the offending part of `template`, the refused text.
    pub fn message<'a>(&self, template: &'a str) -> impl fmt::Display + use<'a> {
        Message { problem: self.problem, part: template.get(self.range()).unwrap_or("%") }
    }

    /// The help line, which begins with a verb.
    pub const fn help(&self) -> &'static str {
        match self.problem {
            TemplateProblem::Unfinished => {
                "write `%%` for a per cent sign, or add one of `b d o x f e g s`"
            }
            TemplateProblem::Unknown => {
                "use one of `%b %d %o %x %f %e %g %s`, or `%%` for a per cent sign; `%d` takes integers of every size"
            }
            TemplateProblem::Flag => {
                "remove the flag: only zero padding, width and precision are known, as in `%04d` or `%8.3f`"
            }
            TemplateProblem::ArgumentIndex => {
                "pass the arguments in the order of the conversions, one for each"
            }
            TemplateProblem::WidthFromArgument => "write the width into the template, as in `%8d`",
            TemplateProblem::WidthOnPercent => "write `%%`",
            TemplateProblem::ZeroWithoutWidth => "add a width, as in `%04d`, or remove the zero",
            TemplateProblem::ZeroPadsText => {
                "remove the zero: only numbers can be padded with zeros"
            }
            TemplateProblem::PrecisionOfInteger => {
                "remove the precision: only `%f %e %g %s` take one; `%04d` pads with zeros"
            }
            TemplateProblem::NoPrecision => "write digits after the point, as in `%.3f`",
            TemplateProblem::TooWide => "use a width of at most 255",
            TemplateProblem::TooPrecise => "use a precision of at most 255",
            TemplateProblem::TooManyConversions => {
                "split the message: one can have at most 32 arguments"
            }
        }
    }
}

/// The problem without the template; [`TemplateError::message`] quotes the offending part.
impl fmt::Display for TemplateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at byte {} of the template", self.problem.text(), self.start)
    }
}

impl core::error::Error for TemplateError {}

impl TemplateProblem {
    /// The problem of a conversion that has `letter` in place of a verb. `first`: the letter follows the `%` directly.
    pub(crate) const fn of_letter(letter: char, first: bool) -> Self {
        match letter {
            '-' | '+' | ' ' | '#' | ',' | '(' if first => Self::Flag,
            '$' | '<' => Self::ArgumentIndex,
            '*' => Self::WidthFromArgument,
            '%' => Self::WidthOnPercent,
            _ => Self::Unknown,
        }
    }

    const fn text(self) -> &'static str {
        match self {
            Self::Unfinished => "unfinished conversion",
            Self::Unknown => "unknown conversion",
            Self::Flag => "flag in conversion",
            Self::ArgumentIndex => "argument index in conversion",
            Self::WidthFromArgument => "width from an argument in conversion",
            Self::WidthOnPercent => "width on",
            Self::ZeroWithoutWidth => "zero padding without a width in conversion",
            Self::ZeroPadsText => "zero padding of text in conversion",
            Self::PrecisionOfInteger => "precision in conversion",
            Self::NoPrecision => "no digits after the point in conversion",
            Self::TooWide => "width over 255 in conversion",
            Self::TooPrecise => "precision over 255 in conversion",
            Self::TooManyConversions => "more than 32 conversions, beginning with",
        }
    }
}

struct Message<'a> {
    problem: TemplateProblem,
    part: &'a str,
}

impl fmt::Display for Message<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} `{}`", self.problem.text(), self.part)
    }
}
