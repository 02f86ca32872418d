//! Braces in the templates of Rust calls.
//!
//! A brace means nothing in a template, where only `%` does. But Rust programmers write `{n}` where
//! they want a value, and would get the braces. So [`braces`] finds the text that `println!` takes
//! for a value, which macros and tool refuse. It finds the doubled braces, too, that `println!`
//! prints as one, and which they take as one: `{{n}}` is the way to have the text `{n}`, as
//! everywhere in Rust. All other braces stand for themselves, so `{"a": %d}` needs no doubling.
//!
//! Templates that do not stand in a Rust source (Java's, and those known at run time) are not
//! concerned.
//!
//! Invariants: linear in time; placeholders are found in the order of the text, and do not overlap.

use core::fmt::{self, Write};
use core::ops::Range;

/// The nesting up to which braces are paired; deeper ones stand for themselves.
const MAX_NESTING: usize = 32;

/// The longest suggestion, in bytes of the template: a longer one is harder to read than the rule.
const MAX_SUGGESTION: usize = 100;

/// Braces that do not stand for themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Braces<'a> {
    /// `{{` and its `}}`, each of which means one brace: the offsets, in bytes, of the brace that
    /// goes.
    Doubled {
        /// Of the second of `{{`.
        open: usize,
        /// Of the second of `}}`.
        close: usize,
    },
    /// A value as in `println!`.
    Placeholder(Placeholder<'a>),
}

/// A value as in `println!`, such as `{}`, `{name}` or `{:>8.3}`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placeholder<'a> {
    /// The text between the braces.
    inner: &'a str,
    start: usize,
}

/// Finds the braces of `template` that do not stand for themselves.
pub fn braces<'a>(template: &'a str, mut found: impl FnMut(Braces<'a>)) {
    let bytes = template.as_bytes();
    let mut open = [(0, false); MAX_NESTING];
    let mut depth = 0;
    let mut at = 0;
    while let Some(next) = bytes[at..].iter().position(|byte| matches!(byte, b'{' | b'}')) {
        at += next;
        let is_doubled = bytes.get(at + 1) == Some(&bytes[at]);
        if bytes[at] == b'{' {
            let Some(slot) = open.get_mut(depth) else { return };
            *slot = (at, is_doubled);
            depth += 1;
            at += 1 + usize::from(is_doubled);
            continue;
        }
        at += 1;
        let Some(innermost) = depth.checked_sub(1) else { continue };
        match open[innermost] {
            (start, true) if is_doubled => {
                found(Braces::Doubled { open: start + 1, close: at });
                depth -= 1;
                at += 1;
            }
            // The second of the two closes here, the first one remains.
            (start, is_pair) => {
                if is_pair {
                    open[innermost].1 = false;
                } else {
                    depth -= 1;
                }
                let start = start + usize::from(is_pair);
                let inner = &template[start + 1..at - 1];
                if is_placeholder(inner) {
                    found(Braces::Placeholder(Placeholder { inner, start }));
                }
            }
        }
    }
}

/// The first value as in `println!`.
pub fn first_placeholder(template: &str) -> Option<Placeholder<'_>> {
    let mut first = None;
    braces(template, |braces| {
        if let (None, Braces::Placeholder(found)) = (first, braces) {
            first = Some(found);
        }
    });
    first
}

impl<'a> Placeholder<'a> {
    /// The place in the template, in bytes, with the braces.
    pub fn range(&self) -> Range<usize> {
        self.start..self.start + self.inner.len() + 2
    }

    /// The problem in words.
    pub fn message(&self) -> impl fmt::Display + use<'a> {
        let inner = self.inner;
        from_fn(move |f| write!(f, "`{{{inner}}}` is not a conversion"))
    }

    /// The help line, which begins with a verb: the call as it should be. `template` is the text
    /// that holds the placeholder, `arguments` are those of the call, as they are written.
    pub fn help<'h, A: AsRef<str>>(
        &self,
        template: &'h str,
        arguments: &'h [A],
    ) -> impl fmt::Display + use<'h, 'a, A> {
        let inner = self.inner;
        from_fn(move |f| {
            match template.len() {
                0..=MAX_SUGGESTION => write!(f, "write `{}`", as_log_call(template, arguments))?,
                _ => f.write_str("write a conversion, and pass the value as an argument")?,
            }
            f.write_str(", with `%d` for an integer, `%f` for a float, `%b` for a boolean")?;
            write!(f, "; to print the braces, double them: `{{{{{inner}}}}}`")
        })
    }

    /// The argument's name or index; empty if it is the next one.
    fn argument(&self) -> &'a str {
        self.inner.split(':').next().unwrap_or_default().trim_end()
    }

    fn spec(&self) -> &'a str {
        self.inner.split_once(':').map_or("", |(_, spec)| spec.trim_end())
    }
}

/// The template and the arguments of a call of `println!`, or of one that mixes its values with
/// conversions, as those of a log call: `"sent {n:04} to %s", host` becomes
/// `"sent %04d to %s", n, host`.
pub fn as_log_call<'a, A: AsRef<str>>(
    template: &'a str,
    arguments: &'a [A],
) -> impl fmt::Display + use<'a, A> {
    from_fn(move |f| {
        f.write_char('"')?;
        each_part(template, |part| match part {
            Part::Text(text) => text.chars().try_for_each(|char| match char {
                '\'' => f.write_char(char),
                _ => write!(f, "{}", char.escape_debug()),
            }),
            Part::Placeholder(placeholder) => {
                write!(f, "{}", Suggested::of(placeholder.spec()).unwrap_or_default())
            }
        })?;
        f.write_char('"')?;
        write_arguments(f, template, arguments)
    })
}

/// The arguments in the order of the conversions that they belong to.
fn write_arguments<A: AsRef<str>>(
    f: &mut fmt::Formatter<'_>,
    template: &str,
    arguments: &[A],
) -> fmt::Result {
    let arguments = || arguments.iter().map(AsRef::as_ref);
    let mut next = arguments().filter(|argument| named_argument(argument).is_none());
    each_part(template, |part| match part {
        Part::Text(text) => {
            let template = crate::Template::parse(text);
            (0..template.map_or(0, |template| template.len()))
                .try_for_each(|_| write!(f, ", {}", next.next().unwrap_or("…")))
        }
        Part::Placeholder(placeholder) => {
            let name = placeholder.argument();
            let value = match name.parse() {
                _ if name.is_empty() => next.next().unwrap_or("…"),
                Ok(index) => {
                    // Each index may be the last use of its argument.
                    next.next();
                    arguments().nth(index).unwrap_or("…")
                }
                Err(_) => {
                    let mut named = arguments().filter_map(named_argument);
                    named.find(|(known, _)| *known == name).map_or(name, |(_, value)| value)
                }
            };
            match (Suggested::of(placeholder.spec()), placeholder.spec()) {
                (Some(_), _) => write!(f, ", {value}"),
                (None, spec) => write!(f, ", format_args!(\"{{:{spec}}}\", {value})"),
            }
        }
    })?;
    next.try_for_each(|argument| write!(f, ", {argument}"))
}

/// Splits the argument `name = value`.
pub fn named_argument(argument: &str) -> Option<(&str, &str)> {
    let (name, value) = argument.split_once('=')?;
    let name = name.trim();
    (is_name(name) && !value.starts_with(['=', '>'])).then(|| (name, value.trim()))
}

/// `core::fmt::from_fn`, which is younger than the oldest compiler that this crate supports.
fn from_fn<F: Fn(&mut fmt::Formatter<'_>) -> fmt::Result>(write: F) -> impl fmt::Display {
    FromFn(write)
}

struct FromFn<F>(F);

impl<F: Fn(&mut fmt::Formatter<'_>) -> fmt::Result> fmt::Display for FromFn<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (self.0)(f)
    }
}

enum Part<'a> {
    Text(&'a str),
    Placeholder(Placeholder<'a>),
}

/// Calls `take` with the parts of a template, in order.
fn each_part<'a>(template: &'a str, mut take: impl FnMut(Part<'a>) -> fmt::Result) -> fmt::Result {
    let (mut end, mut result) = (0, Ok(()));
    braces(template, |braces| {
        if let (Braces::Placeholder(placeholder), Ok(())) = (braces, result) {
            let range = placeholder.range();
            result = take(Part::Text(&template[end..range.start]));
            result = result.and_then(|()| take(Part::Placeholder(placeholder)));
            end = range.end;
        }
    });
    result?;
    take(Part::Text(&template[end..]))
}

/// The conversion that prints a value as a format specification of Rust does.
#[derive(Clone, Copy)]
struct Suggested<'a> {
    zero: bool,
    width: &'a str,
    precision: &'a str,
    verb: char,
}

impl Default for Suggested<'_> {
    fn default() -> Self {
        Self { zero: false, width: "", precision: "", verb: 's' }
    }
}

impl<'a> Suggested<'a> {
    /// None if no conversion does.
    fn of(spec: &'a str) -> Option<Self> {
        let spec = Spec::parse(spec)?;
        let fits = |number: &str| number.is_empty() || number.parse::<u8>().is_ok();
        if spec.has_more || !fits(spec.width) || !fits(spec.precision) {
            return None;
        }
        let zero = spec.zero && !spec.width.is_empty();
        let verb = match spec.kind {
            "" if !spec.precision.is_empty() => 'f',
            // A width aligns numbers to the right, and texts to the left.
            "" if zero || !spec.width.is_empty() && !spec.is_right => 'd',
            "" => 's',
            "x" | "o" if spec.precision.is_empty() => spec.kind.chars().next()?,
            // `{:e}` prints `1.5e3`, and `%e` prints `1.500000e+03`.
            _ => return None,
        };
        Some(Self { zero, width: spec.width, precision: spec.precision, verb })
    }
}

impl fmt::Display for Suggested<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let point = if self.precision.is_empty() { "" } else { "." };
        let zero = if self.zero { "0" } else { "" };
        write!(f, "%{zero}{}{point}{}{}", self.width, self.precision, self.verb)
    }
}

/// Returns whether the text between two braces makes them a value in `println!`. Paths as in
/// `{self.n}` do not, but are meant so.
fn is_placeholder(inner: &str) -> bool {
    let (argument, spec) = match inner.split_once(':') {
        Some((argument, spec)) => (argument, Some(spec)),
        None => (inner, None),
    };
    let argument = if spec.is_none() { argument.trim_end() } else { argument };
    let is_index = argument.bytes().all(|byte| byte.is_ascii_digit());
    // Empty braces, but not a space in braces.
    (is_index && (spec.is_some() || argument.len() == inner.len())
        || argument.split('.').all(is_name))
        && spec.is_none_or(|spec| Spec::parse(spec.trim_end()).is_some())
}

fn is_name(text: &str) -> bool {
    let mut chars = text.strip_prefix("r#").unwrap_or(text).chars();
    chars.next().is_some_and(|first| first.is_alphabetic() || first == '_')
        && chars.all(|char| char.is_alphanumeric() || char == '_')
}

/// A format specification of Rust.
struct Spec<'a> {
    /// True if it has parts that no conversion has.
    has_more: bool,
    /// True if it is aligned to the right, for any kind of value.
    is_right: bool,
    zero: bool,
    width: &'a str,
    precision: &'a str,
    kind: &'a str,
}

impl<'a> Spec<'a> {
    fn parse(text: &'a str) -> Option<Self> {
        let is_align = |char: char| matches!(char, '<' | '^' | '>');
        let mut chars = text.chars();
        let (first, second) = (chars.next(), chars.next());
        let (fill_and_align, rest) = match (first, second) {
            (Some(fill), Some(align)) if is_align(align) => text.split_at(fill.len_utf8() + 1),
            (Some(align), _) if is_align(align) => text.split_at(1),
            _ => ("", text),
        };
        let after_sign = rest.strip_prefix(['+', '-']).unwrap_or(rest);
        let after_hash = after_sign.strip_prefix('#').unwrap_or(after_sign);
        let is_plain = matches!(fill_and_align, "" | ">" | " >") && after_hash.len() == rest.len();
        let rest = after_hash;
        let zero = rest.starts_with('0') && !rest.starts_with("0$");
        let (width, is_width_given, rest) = count(if zero { &rest[1..] } else { rest });
        let (precision, is_precision_given, kind) = match rest.strip_prefix('.') {
            Some(rest) => match rest.strip_prefix('*') {
                Some(rest) => ("", true, rest),
                None => count(rest),
            },
            None => ("", false, rest),
        };
        let is_known =
            matches!(kind, "" | "?" | "x?" | "X?" | "x" | "X" | "o" | "b" | "p" | "e" | "E");
        let has_more = !is_plain || is_width_given || is_precision_given;
        let is_right = !fill_and_align.is_empty() && is_plain;
        is_known.then_some(Self { has_more, is_right, zero, width, precision, kind })
    }
}

/// Splits the digits at the beginning off; or, with true, an argument such as `n$`.
fn count(text: &str) -> (&str, bool, &str) {
    let is_argument = |text: &str| is_name(text) || text.bytes().all(|byte| byte.is_ascii_digit());
    if let Some((_, rest)) = text.split_once('$').filter(|(argument, _)| is_argument(argument)) {
        return ("", true, rest);
    }
    let end = text.find(|char: char| !char.is_ascii_digit()).unwrap_or(text.len());
    (&text[..end], false, &text[end..])
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::{String, ToString};
    use std::vec::Vec;

    /// Values of `println!` are found, and nothing else.
    #[test]
    fn placeholders_are_those_of_println() {
        for (text, found) in [
            ("got {n}", &["{n}"][..]),
            (
                "{} {0} {:?} {n:?} {n:#?} {größe}",
                &["{}", "{0}", "{:?}", "{n:?}", "{n:#?}", "{größe}"],
            ),
            (
                "{n:>8} {n:*^+#08.3e} {:.*} {:w$.p$} {:1$}",
                &["{n:>8}", "{n:*^+#08.3e}", "{:.*}", "{:w$.p$}", "{:1$}"],
            ),
            ("{self.n} {a.b.0}", &["{self.n}"]),
            ("{r#type} {_x1} {n } {:? }", &["{r#type}", "{_x1}", "{n }", "{:? }"]),
            ("${HOME} a{3} {\"a\":{}}", &["{HOME}", "{3}", "{}"]),
            ("{{{n}}} {{a {b} c}}", &["{n}", "{b}"]),
            ("{{n} {n}}", &["{n}", "{n}"]),
            (
                "{\"a\": %d} { x } {x, y} {x: %d} {a:b c} { } {a b} {%d} {n=%d} {1,2} {a-b} {!} {\n}",
                &[],
            ),
            ("{ {a: 1} {{n}} {{}} {{\"a\": {{\"b\": %d}}}} }{", &[]),
            ("", &[]),
        ] {
            let mut seen = Vec::new();
            braces(text, |braces| {
                if let Braces::Placeholder(placeholder) = braces {
                    seen.push(&text[placeholder.range()]);
                }
            });
            assert_eq!(seen, found, "{text}");
            assert_eq!(first_placeholder(text).map(|p| &text[p.range()]), found.first().copied());
        }
    }

    fn undoubled(text: &str) -> String {
        let mut removed = Vec::new();
        braces(text, |braces| {
            if let Braces::Doubled { open, close } = braces {
                removed.extend([open, close]);
            }
        });
        text.char_indices().filter(|(at, _)| !removed.contains(at)).map(|(_, char)| char).collect()
    }

    /// Texts without placeholders that `println!` accepts come out the same.
    #[test]
    fn doubled_braces_are_one_as_in_println() {
        macro_rules! check {
            ($($text:literal)*) => { $( assert_eq!(undoubled($text), std::format!($text)); )* };
        }
        check!("" "{{n}}" "{{}}" "a {{\"b\": {{\"c\": 1}}}} d" "{{{{n}}}}" "{{ größe {{:?}} }}");
        for alone in
            ["{\"a\": {\"b\": 1}}", "{{", "}}", "{{ }", "{ }}", "}} {{", "[{1, 2}, {3, 4}]"]
        {
            assert_eq!(undoubled(alone), alone);
        }
        assert_eq!(undoubled("{\"a\":{\"b\":{{}}}}"), "{\"a\":{\"b\":{}}}");
        let deep = "{{".repeat(1000) + &"}}".repeat(1000);
        assert_eq!(undoubled(&deep), deep);
    }

    #[test]
    fn suggestions_are_log_calls() {
        for (text, arguments, expected) in [
            ("got {n}", &[][..], r#""got %s", n"#),
            ("captured {name} and %s", &["x"], r#""captured %s and %s", name, x"#),
            ("sent {} to {}", &["n", "host"], r#""sent %s to %s", n, host"#),
            ("{1} {0}", &["a", "b"], r#""%s %s", b, a"#),
            ("{} {}", &["a"], r#""%s %s", a, …"#),
            ("{n} is {v:.2}", &["v = 1.5"], r#""%s is %.2f", n, 1.5"#),
            ("{n:?}", &[], r#""%s", format_args!("{:?}", n)"#),
            (
                "{:04} {:x} {:08x} {:e} {:8} {:>8}",
                &["a", "b", "c", "d", "e", "f"],
                r#""%04d %x %08x %s %8d %8s", a, b, c, format_args!("{:e}", d), e, f"#,
            ),
            (
                "{:<8} {:X} {:#x} {:+}",
                &["a", "b", "c", "d"],
                r#""%s %s %s %s", format_args!("{:<8}", a), format_args!("{:X}", b), format_args!("{:#x}", c), format_args!("{:+}", d)"#,
            ),
            ("{:300}", &["a"], r#""%s", format_args!("{:300}", a)"#),
            ("it's \"{}\"\n", &["a == b"], r#""it's \"%s\"\n", a == b"#),
            ("{} {{x}} 100%%", &["a", "b"], r#""%s {{x}} 100%%", a, b"#),
        ] {
            assert_eq!(as_log_call(text, arguments).to_string(), expected, "{text}");
        }
    }

    #[test]
    fn the_error_says_what_to_write() {
        let found = first_placeholder("got {n}").unwrap();
        assert_eq!(found.message().to_string(), "`{n}` is not a conversion");
        assert_eq!(
            found.help::<&str>("got {n}", &[]).to_string(),
            "write `\"got %s\", n`, with `%d` for an integer, `%f` for a float, `%b` for a boolean; to print the braces, double them: `{{n}}`"
        );
        let long = "x".repeat(200) + "{}";
        let help = first_placeholder(&long).unwrap().help::<&str>(&long, &[]).to_string();
        assert!(
            help.starts_with("write a conversion, and pass the value as an argument,"),
            "{help}"
        );
    }

    #[test]
    fn named_arguments() {
        assert_eq!(named_argument("n = 1"), Some(("n", "1")));
        assert_eq!(named_argument("n=a == b"), Some(("n", "a == b")));
        for other in ["n", "n == 1", "a.b = 1", "n => 1", "{ n = 1; n }", "n <= 1", "n += 1", ""] {
            assert_eq!(named_argument(other), None, "{other}");
        }
    }
}
