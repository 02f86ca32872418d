//! Errors of templates: the problem, its position, and the text to write instead.

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
    /// A `%` that begins no conversion of any language, as in `100% done`.
    LonePercent,
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

    /// The help line, which begins with a verb: for a conversion of printf, java.util.Formatter and
    /// their like, the conversion that prints the same. `template` is the refused text.
    pub fn help<'a>(&self, template: &'a str) -> impl fmt::Display + use<'a> {
        let foreign = Foreign::of(template.get(self.start..).unwrap_or_default());
        Help { problem: self.problem, foreign }
    }

    /// The change of `template`, the refused text, that the help asks for, where it is one.
    pub fn replacement<'a>(&self, template: &'a str) -> Option<Replacement<'a>> {
        let foreign = Foreign::of(template.get(self.start..)?);
        let conversion = match self.problem {
            TemplateProblem::Unfinished | TemplateProblem::LonePercent => None,
            TemplateProblem::WidthOnPercent => {
                return Some(Replacement { start: self.start, end: self.end, conversion: None });
            }
            TemplateProblem::Unknown
            | TemplateProblem::Flag
            | TemplateProblem::ZeroWithoutWidth
            | TemplateProblem::ZeroPadsText
                if foreign.takes_the_argument() =>
            {
                Some(foreign)
            }
            _ => return None,
        };
        let length = conversion.map_or(1, |conversion| conversion.length);
        Some(Replacement { start: self.start, end: self.start + length, conversion })
    }
}

/// A change of a refused template that may be what its writer meant: a part, and its replacement.
#[derive(Clone, Copy, Debug)]
pub struct Replacement<'a> {
    start: usize,
    end: usize,
    /// None for a per cent sign.
    conversion: Option<Foreign<'a>>,
}

impl Replacement<'_> {
    /// The part of the template, in bytes.
    pub const fn range(&self) -> Range<usize> {
        self.start..self.end
    }
}

/// The text to write.
impl fmt::Display for Replacement<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.conversion {
            Some(conversion) => conversion.write_ours(f),
            None => f.write_str("%%"),
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
    /// The problem of a conversion that has `letter` in place of a verb. `rest` begins with the
    /// conversion's `%`; `first`: the letter follows that directly.
    pub(crate) fn of_letter(letter: char, first: bool, rest: &str) -> Self {
        match letter {
            // `100% done` has the flag and the verb of a conversion of printf, but is hardly meant
            // so.
            ' ' if first => Self::LonePercent,
            '-' | '+' | '#' | ',' | '(' | '\'' if first => match Foreign::of(rest).conversion {
                Some(_) => Self::Flag,
                None => Self::LonePercent,
            },
            '$' | '<' => Self::ArgumentIndex,
            '*' => Self::WidthFromArgument,
            '%' => Self::WidthOnPercent,
            '@' | '?' => Self::Unknown,
            _ if first && !letter.is_alphabetic() && !letter.is_ascii_graphic() => {
                Self::LonePercent
            }
            ')' | ']' | '}' | '"' | ';' | ':' | '/' | '|' | '!' | '=' | '>' | '&' if first => {
                Self::LonePercent
            }
            _ => Self::Unknown,
        }
    }

    /// The problem of a precision without digits: `rest` begins with the conversion's `%`. "50%.
    /// Then" has no precision.
    pub(crate) fn of_point(rest: &str) -> Self {
        let after = rest.strip_prefix("%.").map(|after| after.chars().next());
        match after {
            Some(next) if !next.is_some_and(char::is_alphabetic) => Self::LonePercent,
            _ => Self::NoPrecision,
        }
    }

    /// The help line where it does not depend on the template.
    const fn help(self) -> &'static str {
        match self {
            Self::Unfinished => "write `%%` for a per cent sign, or add one of `b d o x f e g s`",
            Self::LonePercent => "write `%%` for a per cent sign",
            Self::Unknown | Self::Flag => {
                "use one of `%b %d %o %x %f %e %g %s`, or `%%` for a per cent sign"
            }
            Self::ArgumentIndex => {
                "pass the arguments in the order of the conversions, one for each"
            }
            Self::WidthFromArgument => "write the width into the template, as in `%8d`",
            Self::WidthOnPercent => "write `%%`",
            Self::ZeroWithoutWidth => "add a width, as in `%04d`, or remove the zero",
            Self::ZeroPadsText => "remove the zero: only numbers can be padded with zeros",
            Self::PrecisionOfInteger => {
                "remove the precision: only `%f %e %g %s` take one; `%04d` pads with zeros"
            }
            Self::NoPrecision => "write digits after the point, as in `%.3f`",
            Self::TooWide => "use a width of at most 255",
            Self::TooPrecise => "use a precision of at most 255",
            Self::TooManyConversions => "split the message: one can have at most 32 arguments",
        }
    }

    const fn text(self) -> &'static str {
        match self {
            Self::Unfinished => "unfinished conversion",
            Self::Unknown => "unknown conversion",
            Self::Flag => "flag in conversion",
            Self::LonePercent => "per cent sign that begins no conversion:",
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

/// A conversion of another language, and the one of ours that prints the same, as far as one does.
#[derive(Clone, Copy, Debug, Default)]
struct Foreign<'a> {
    flags: &'a str,
    width: &'a str,
    precision: &'a str,
    /// The bytes of all of it.
    length: usize,
    /// True if its argument is an address.
    is_pointer: bool,
    /// Our conversion, if there is one: a verb and words about it.
    conversion: Option<(char, &'static str)>,
}

impl<'a> Foreign<'a> {
    /// The conversion at the beginning of `text`, which is a `%`.
    fn of(whole: &'a str) -> Self {
        let split = |text: &'a str, is_part: fn(char) -> bool| {
            text.split_at(text.find(|char| !is_part(char)).unwrap_or(text.len()))
        };
        let text = whole.strip_prefix('%').unwrap_or(whole);
        let (flags, text) =
            split(text, |char| matches!(char, '-' | '+' | ' ' | '#' | ',' | '(' | '\''));
        let (width, text) = split(text, |char| char.is_ascii_digit());
        let (precision, text) = match text.strip_prefix('.') {
            Some(text) => split(text, |char| char.is_ascii_digit()),
            None => ("", text),
        };
        let (size, text) = split(text, |char| matches!(char, 'h' | 'l' | 'j' | 'z' | 'L'));
        let mut letters = text.chars();
        let (verb, next) = (letters.next(), letters.next());
        // Of a word that stands after a per cent sign, the first letter is no verb.
        let is_word = size.is_empty() && next.is_some_and(char::is_alphabetic);
        let of_letter = match verb {
            _ if is_word => None,
            Some(verb @ ('d' | 'o' | 'x' | 'f' | 'e' | 'g' | 'b' | 's')) => Some((verb, "")),
            Some('i' | 'u' | 'D' | 'U') => Some(('d', ", which takes integers of every size")),
            Some('X') => Some(('x', ", which prints lower case")),
            Some('O') => Some(('o', "")),
            Some('F') => Some(('f', "")),
            Some('E' | 'a' | 'A') => Some(('e', "")),
            Some('G') => Some(('g', "")),
            Some('B' | 't') => Some(('b', "")),
            Some('p') => Some(('x', " and the address as an integer, `pointer.addr()`")),
            Some('c' | 'C' | 'S' | 'v' | '@') => {
                Some(('s', ", which takes everything that can be printed"))
            }
            _ => None,
        };
        // Where a size stands alone, the letter behind it is no part.
        let letter = verb.filter(|_| of_letter.is_some()).map_or(0, char::len_utf8);
        let length = whole.len() - text.len() + letter;
        // `%h` prints a hash in Java.
        let of_size =
            (!matches!(size, "" | "h")).then_some(('d', ", which takes integers of every size"));
        let (conversion, is_pointer) = (of_letter.or(of_size), verb == Some('p'));
        Self { flags, width, precision, length, is_pointer, conversion }
    }

    /// Returns whether our conversion takes the argument as it is.
    fn takes_the_argument(&self) -> bool {
        self.conversion.is_some() && !self.is_pointer
    }

    /// Writes our conversion.
    fn write_ours(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some((verb, _)) = self.conversion else { return Ok(()) };
        let prefix = self.prefix(verb);
        // Zeros pad numbers only, and only up to a width.
        let (zero, width) = match self.width.strip_prefix('0') {
            Some(width) if width.is_empty() || matches!(verb, 's' | 'b') => ("", width),
            Some(width) => ("0", width),
            None => ("", self.width),
        };
        if !prefix.is_empty() && !width.is_empty() {
            // The prefix is a part of the width. Spaces would stand behind it.
            let rest = width.parse::<usize>().unwrap_or(0).saturating_sub(prefix.len());
            return match rest {
                1.. if !zero.is_empty() => write!(f, "{prefix}%{zero}{rest}{verb}"),
                _ => write!(f, "{prefix}%{verb}"),
            };
        }
        let point = matches!(verb, 'f' | 'e' | 'g' | 's') && !self.precision.is_empty();
        let (point, precision) = if point { (".", self.precision) } else { ("", "") };
        write!(f, "{prefix}%{zero}{width}{point}{precision}{verb}")
    }

    fn prefix(&self, verb: char) -> &'static str {
        match verb {
            'x' if self.has('#') => "0x",
            'o' if self.has('#') => "0",
            _ => "",
        }
    }

    fn has(&self, flag: char) -> bool {
        self.flags.contains(flag)
    }

    /// Why our conversion does without the flags.
    fn reason(&self) -> &'static str {
        match () {
            () if self.has('-') => "a width aligns to the right, never to the left",
            () if self.has('+') => "only negative numbers have a sign",
            () if self.has('#') => "a prefix stands in the template",
            () if self.has('(') => "negative numbers have a minus sign",
            () => "digits are not grouped",
        }
    }
}

impl fmt::Display for Foreign<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some((_, about)) = self.conversion else { return f.write_str("`%d` or `%s`") };
        f.write_str("`")?;
        self.write_ours(f)?;
        write!(f, "`{about}")
    }
}

struct Help<'a> {
    problem: TemplateProblem,
    foreign: Foreign<'a>,
}

impl fmt::Display for Help<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let foreign = &self.foreign;
        match self.problem {
            TemplateProblem::Flag => write!(f, "write {foreign}: {}", foreign.reason()),
            TemplateProblem::Unknown if foreign.conversion.is_some() => {
                write!(f, "write {foreign}")
            }
            problem => f.write_str(problem.help()),
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

#[cfg(test)]
mod tests {
    use crate::Template;
    use std::format;
    use std::string::{String, ToString};

    /// The template with its first fault replaced.
    fn replaced(template: &str) -> Option<String> {
        let change = Template::parse(template).unwrap_err().replacement(template)?;
        let [before, after] = [&template[..change.range().start], &template[change.range().end..]];
        Some(format!("{before}{change}{after}"))
    }

    #[test]
    fn replacements() {
        for (template, expected) in [
            ("%ld of %d", "%d of %d"),
            ("%lld", "%d"),
            ("%zu bytes", "%d bytes"),
            ("%l", "%d"),
            ("%-8s|", "%8s|"),
            ("%#x", "0x%x"),
            ("%#010x", "0x%08x"),
            ("%#08o", "0%07o"),
            ("%#10x", "0x%x"),
            ("%#02x", "0x%x"),
            ("%,d rows", "%d rows"),
            ("%08X", "%08x"),
            ("%c", "%s"),
            ("%05s", "%5s"),
            ("%0d", "%d"),
            ("%.3F", "%.3f"),
            ("100% done", "100%% done"),
            ("100%", "100%%"),
            ("at %5", "at %%5"),
            ("%5%", "%%"),
            ("é%i", "é%d"),
        ] {
            let actual = replaced(template);
            assert_eq!(actual.as_deref(), Some(expected), "{template}");
            assert!(Template::parse(expected).is_ok());
        }
        for template in ["%p", "%1$s", "%*d", "%300d", "%y", "%word", "%.2d", "%h"] {
            assert_eq!(replaced(template), None, "{template}: {}", {
                let error = Template::parse(template).unwrap_err();
                error.message(template).to_string()
            });
        }
    }
}
