//! Renders a message and its values as text.
//!
//! The wire has one list of values per kind, so each conversion takes the next value of its own
//! kind. A mismatch is shown: `[MISSING_PARAM]` for a missing value, `[EXTRA_PARAMS: …]` for values
//! that are left over. `[COLLISION]` stands before a text that is a guess, since other messages
//! have its id, too.

use std::fmt::{self, Write};

use protolog_core::{Arg, MISSING, ParamKind, Piece};

use crate::dictionary::lenient_template::LenientPieces;
use crate::dictionary::message_plan::is_set;
use crate::log::values::{CUT_TEXT, Values, as_unsigned};

/// The way in which messages become text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Rendering {
    /// With all details of the dictionary: width, precision, unsigned integers.
    #[default]
    Full,
    /// As in Perfetto's trace_processor, for comparison: conversions without width and precision
    /// only, numbers truncated to 31 characters, extra values ignored. Escaped per cent signs are
    /// as from v55 on, missing values as from v53.
    Bare,
}

impl<'a> Values<'a> {
    /// The values in the order of the template's conversions, followed by those that the template
    /// has no conversion for. Without a template, the order of the wire.
    pub fn args(&self) -> Vec<Arg<'a>> {
        in_order(self)
    }

    /// As [`Self::args`] to `to`, in the place of what it has; false where the text is not just the
    /// template's own texts and these values in turn, each as its conversion says: where there is
    /// no template, where values are missing or left over, and where the text is a guess or was cut
    /// off.
    pub fn fill(&self, to: &mut Vec<Arg<'a>>) -> bool {
        to.clear();
        let Some(message) = self.message.filter(|_| !self.is_guess && !self.is_cut) else {
            return false;
        };
        let plan = message.plan();
        if plan.counts != counts(&self.args) {
            return false;
        }
        let mut picker = Picker::new(self);
        to.extend(plan.conversions().filter_map(|it| picker.take(it.verb.kind())));
        true
    }

    /// The values of the arguments that have names, in the order of the template; none of a message
    /// that is a guess, or whose values are not just those that its template takes.
    pub fn fields(&self) -> Vec<(&'a str, Arg<'a>)> {
        let message = self.message.filter(|it| !self.is_guess && !it.names().is_empty());
        let Some(message) = message.filter(|it| it.plan().counts == counts(&self.args)) else {
            return Vec::new();
        };
        let named = message.names().iter().zip(self.args());
        named.filter_map(|(name, value)| Some((name?, value))).collect()
    }

    /// Writes the text. A message that is in no dictionary becomes
    /// `#<id in hexadecimal> (<values>)`.
    pub fn write(&self, mut out: &mut dyn Write, rendering: Rendering) -> fmt::Result {
        write(&mut out, rendering, self)
    }

    /// The text.
    pub fn text(&self, rendering: Rendering) -> String {
        let mut text = String::new();
        write(&mut text, rendering, self).expect("a string takes every write");
        text
    }
}

/// The mark of a text that is a guess.
const COLLISION: &str = "[COLLISION] ";

/// Maximum length of a number in trace_processor.
const BARE_NUMBER: usize = 31;

/// Writes the text of an entry.
pub(crate) fn write<W: Write>(
    out: &mut W,
    rendering: Rendering,
    values: &Values<'_>,
) -> fmt::Result {
    let Some(message) = values.message else {
        write!(out, "#{:016x} (", values.message_id)?;
        write_list(out, values.args.iter())?;
        return out.write_char(')');
    };
    if values.is_guess && rendering == Rendering::Full {
        out.write_str(COLLISION)?;
    }
    if values.is_cut {
        out.write_str(values.template().unwrap_or_default())?;
        return out.write_str(CUT_TEXT);
    }
    let mut picker = Picker::new(values);
    if rendering == Rendering::Bare {
        picker.unsigned = 0;
        return bare(out, &message.bare, &mut picker);
    }
    message.plan().write(out, |kind| picker.take(kind))?;
    write_extra(out, &picker)
}

/// The values in the order of the template, with those that are left over last.
fn in_order<'a>(values: &Values<'a>) -> Vec<Arg<'a>> {
    let Some(message) = values.message else {
        return values.args.clone();
    };
    let mut picker = Picker::new(values);
    let mut ordered = Vec::with_capacity(values.args.len());
    let conversions = message.plan().conversions();
    ordered.extend(conversions.filter_map(|conversion| picker.take(conversion.verb.kind())));
    ordered.extend(picker.remaining());
    ordered
}

/// The number of values of each kind.
pub(crate) fn counts(args: &[Arg<'_>]) -> [usize; 4] {
    let mut counts = [0; 4];
    for arg in args {
        counts[kind_of(arg) as usize] += 1;
    }
    counts
}

/// Hands out values by kind.
pub(crate) struct Picker<'v, 'a> {
    args: &'v [Arg<'a>],
    unsigned: u32,
    /// Number of requests so far.
    taken: u32,
    /// For each kind, the index from which to search for the next value.
    next: [usize; 4],
}

impl<'v, 'a> Picker<'v, 'a> {
    fn new(values: &'v Values<'a>) -> Self {
        Self { args: &values.args, unsigned: values.unsigned, taken: 0, next: [0; 4] }
    }

    pub(crate) fn take(&mut self, kind: ParamKind) -> Option<Arg<'a>> {
        let unsigned = is_set(self.unsigned, self.taken);
        self.taken += 1;
        let next = &mut self.next[kind as usize];
        let rest = self.args.get(*next..).unwrap_or_default();
        let Some(at) = rest.iter().position(|arg| kind_of(arg) == kind) else {
            *next = self.args.len();
            return None;
        };
        *next += at + 1;
        Some(if unsigned { as_unsigned(rest[at]) } else { rest[at] })
    }

    /// The values that were not taken, in the order of the wire.
    fn remaining(&self) -> impl Iterator<Item = &'v Arg<'a>> {
        let next = self.next;
        let left = move |(index, arg): &(usize, &Arg<'a>)| *index >= next[kind_of(arg) as usize];
        self.args.iter().enumerate().filter(left).map(|(_, arg)| arg)
    }
}

fn kind_of(arg: &Arg<'_>) -> ParamKind {
    match arg {
        Arg::Str(_) => ParamKind::Str,
        Arg::Int(_) | Arg::Uint(_) => ParamKind::Int,
        Arg::Float(_) => ParamKind::Float,
        Arg::Bool(_) => ParamKind::Bool,
    }
}

fn write_extra<W: Write>(out: &mut W, picker: &Picker<'_, '_>) -> fmt::Result {
    if picker.remaining().next().is_none() {
        return Ok(());
    }
    out.write_str(" [EXTRA_PARAMS: ")?;
    write_list(out, picker.remaining())?;
    out.write_char(']')
}

fn write_list<'a, 'b: 'a, W: Write>(
    out: &mut W,
    args: impl Iterator<Item = &'a Arg<'b>>,
) -> fmt::Result {
    for (index, arg) in args.enumerate() {
        out.write_str(if index == 0 { "" } else { ", " })?;
        write_arg(out, arg)?;
    }
    Ok(())
}

fn write_arg<W: Write>(out: &mut W, arg: &Arg<'_>) -> fmt::Result {
    match arg {
        Arg::Str(text) => write!(out, "{text:?}"),
        Arg::Int(value) => write!(out, "{value}"),
        Arg::Uint(value) => write!(out, "{value}"),
        Arg::Float(value) => write!(out, "{value:?}"),
        Arg::Bool(value) => write!(out, "{value}"),
    }
}

/// Renders a text as trace_processor does.
fn bare<W: Write>(out: &mut W, text: &str, picker: &mut Picker<'_, '_>) -> fmt::Result {
    for piece in LenientPieces::new(text) {
        let conversion = match piece {
            Piece::Text(text) => {
                out.write_str(text)?;
                continue;
            }
            Piece::Percent => {
                out.write_char('%')?;
                continue;
            }
            Piece::Conversion(conversion) => conversion,
        };
        match picker.take(conversion.verb.kind()) {
            Some(Arg::Str(text)) => out.write_str(text)?,
            Some(arg) => {
                let mut number = String::new();
                protolog_core::render_one(&mut number, &conversion, arg)?;
                out.write_str(&number[..number.len().min(BARE_NUMBER)])?; // Numbers are ASCII.
            }
            None => out.write_str(MISSING)?,
        }
    }
    Ok(())
}
