//! The plan of a message: the parts of its template, found once for the many entries that are
//! rendered with it.
//!
//! A text that is no template is planned as trace_processor reads it: everything but bare
//! conversions is printed literally.
//!
//! Invariant: no part of text is empty, and no two follow each other.

use std::fmt::{self, Write};
use std::mem;
use std::sync::OnceLock;

use protolog_core::{Arg, Conversion, FixedDigits, MISSING, ParamKind, Piece, Template, Verb};

use crate::dictionary::lenient_template::LenientPieces;
use crate::formatting::snippet::Snippet;

/// See the module.
#[derive(Debug)]
pub(crate) struct Plan {
    parts: Vec<Part>,
    /// The number of values of each kind that the message takes.
    pub(crate) counts: [usize; 4],
}

/// A part of a message.
#[derive(Debug)]
pub(crate) enum Part {
    Text(Snippet),
    Conversion(Conversion, Form),
}

/// The forms of values in lines that are made without the machinery of formatting. Numbers may have
/// a width.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Form {
    Str,
    Decimal,
    Hex,
    Bool,
    /// So many digits after the point.
    Fixed(u8),
    Other,
}

impl Form {
    fn of(conversion: &Conversion) -> Self {
        match conversion.verb.kind() {
            ParamKind::Str if conversion.is_bare() => Self::Str,
            ParamKind::Bool if conversion.is_bare() => Self::Bool,
            ParamKind::Int if conversion.verb == Verb::Decimal => Self::Decimal,
            ParamKind::Int if conversion.verb == Verb::Hex => Self::Hex,
            ParamKind::Float if conversion.verb == Verb::Fixed => {
                Self::Fixed(conversion.precision.unwrap_or(6))
            }
            _ => Self::Other,
        }
    }
}

impl Plan {
    fn new(text: &str) -> Self {
        let mut plan = Self { parts: Vec::new(), counts: [0; 4] };
        let mut literal = String::new();
        match Template::parse(text) {
            Ok(template) => template.pieces().for_each(|piece| plan.add(piece, &mut literal)),
            Err(_) => LenientPieces::new(text).for_each(|piece| plan.add(piece, &mut literal)),
        }
        plan.add_text(&mut literal);
        plan
    }

    /// Adds a piece; of text, it is kept in `literal` until its end is known.
    fn add(&mut self, piece: Piece<'_>, literal: &mut String) {
        match piece {
            Piece::Text(text) => literal.push_str(text),
            Piece::Percent => literal.push('%'),
            Piece::Conversion(conversion) => {
                self.add_text(literal);
                self.counts[conversion.verb.kind() as usize] += 1;
                self.parts.push(Part::Conversion(conversion, Form::of(&conversion)));
            }
        }
    }

    fn add_text(&mut self, literal: &mut String) {
        if !literal.is_empty() {
            self.parts.push(Part::Text(Snippet::new(mem::take(literal))));
        }
    }

    /// The conversions, in order.
    pub(crate) fn conversions(&self) -> impl Iterator<Item = &Conversion> {
        self.parts.iter().filter_map(|part| match part {
            Part::Text(_) => None,
            Part::Conversion(conversion, _) => Some(conversion),
        })
    }

    /// The parts, in order.
    pub(crate) fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// Writes the text, with the values that `next` returns for the conversions.
    pub(crate) fn write<'a, W: Write>(
        &self,
        out: &mut W,
        mut next: impl FnMut(ParamKind) -> Option<Arg<'a>>,
    ) -> fmt::Result {
        self.parts.iter().try_for_each(|part| match part {
            Part::Text(text) => out.write_str(text.as_str()),
            Part::Conversion(conversion, _) => match next(conversion.verb.kind()) {
                Some(arg) => write_value(out, conversion, arg),
                None => out.write_str(MISSING),
            },
        })
    }
}

/// A value of a message; a string is UTF-8.
#[derive(Clone, Copy, Debug)]
pub(crate) enum FastValue<'a> {
    Str(&'a [u8]),
    Int(i64),
    Float(f64),
    Bool(bool),
}

/// True if `bits` marks argument `index` as unsigned.
pub(crate) fn is_set(bits: u32, index: u32) -> bool {
    bits.checked_shr(index).is_some_and(|bits| bits & 1 == 1)
}

/// Appends a value; none if that is left to the slow path.
pub(crate) fn push_value(
    out: &mut Vec<u8>,
    (conversion, form): (&Conversion, Form),
    value: FastValue<'_>,
    is_unsigned: bool,
) -> Option<()> {
    match (form, value) {
        (Form::Str, FastValue::Str(text)) => out.extend_from_slice(text),
        (Form::Decimal, FastValue::Int(value)) => {
            push_decimal(out, conversion, value, is_unsigned);
        }
        (Form::Hex, FastValue::Int(value)) => push_hex(out, conversion, value as u64),
        (Form::Bool, FastValue::Bool(value)) => out.extend_from_slice(bool_text(value)),
        (Form::Fixed(precision), FastValue::Float(value)) => {
            push_fixed(out, conversion, precision, value);
        }
        (_, FastValue::Str(_)) => return None,
        (_, FastValue::Int(value)) if is_unsigned => {
            format(out, conversion, Arg::Uint(value as u64));
        }
        (_, FastValue::Int(value)) => format(out, conversion, Arg::Int(value)),
        (_, FastValue::Bool(value)) => format(out, conversion, Arg::Bool(value)),
        (_, FastValue::Float(value)) => format(out, conversion, Arg::Float(value)),
    }
    Some(())
}

/// Appends an integer in decimal.
pub(crate) fn push_integer(out: &mut Vec<u8>, value: i64, is_unsigned: bool) {
    let mut buffer = itoa::Buffer::new();
    let digits = if is_unsigned { buffer.format(value as u64) } else { buffer.format(value) };
    out.extend_from_slice(digits.as_bytes());
}

/// Appends an integer in decimal, as wide as `conversion` says.
#[inline]
pub(crate) fn push_decimal(
    out: &mut Vec<u8>,
    conversion: &Conversion,
    value: i64,
    is_unsigned: bool,
) {
    let start = out.len();
    push_integer(out, value, is_unsigned);
    pad(out, start, conversion);
}

/// Appends a float with `precision` digits after the point, as wide as `conversion` says.
#[inline]
pub(crate) fn push_fixed(out: &mut Vec<u8>, conversion: &Conversion, precision: u8, value: f64) {
    let Some(digits) = FixedDigits::new(value, precision) else {
        return format(out, conversion, Arg::Float(value));
    };
    let start = out.len();
    out.extend_from_slice(digits.as_bytes());
    pad(out, start, conversion);
}

/// Appends an integer in hexadecimal, as wide as `conversion` says.
pub(crate) fn push_hex(out: &mut Vec<u8>, conversion: &Conversion, value: u64) {
    let start = out.len();
    let digits = (u64::BITS - (value | 1).leading_zeros()).div_ceil(4);
    let place = |digit: u32| (value >> (4 * digit)) as usize & 15;
    out.extend((0..digits).rev().map(|digit| b"0123456789abcdef"[place(digit)]));
    pad(out, start, conversion);
}

/// Pads the number that begins at `start` to its width: zeros follow its sign, spaces come before
/// it.
#[inline]
fn pad(out: &mut Vec<u8>, start: usize, conversion: &Conversion) {
    let missing = usize::from(conversion.width).saturating_sub(out.len() - start);
    if missing > 0 {
        insert_padding(out, start, missing, conversion.zero_pad);
    }
}

fn insert_padding(out: &mut Vec<u8>, start: usize, missing: usize, are_zeros: bool) {
    let has_sign = are_zeros && out.get(start) == Some(&b'-');
    let (at, end) = (start + usize::from(has_sign), out.len());
    let filler = if are_zeros { b'0' } else { b' ' };
    // Padded values are mostly short, and so is the padding: moved byte by byte, from the end.
    out.resize(end + missing, filler);
    for index in (at..end).rev() {
        out[index + missing] = mem::replace(&mut out[index], filler);
    }
}

pub(crate) fn bool_text(value: bool) -> &'static [u8] {
    if value { b"true" } else { b"false" }
}

/// Appends a value by the machinery of formatting.
fn format(out: &mut Vec<u8>, conversion: &Conversion, arg: Arg<'_>) {
    let mut text = String::new();
    protolog_core::render_one(&mut text, conversion, arg).expect("a string takes every write");
    out.extend_from_slice(text.as_bytes());
}

/// Writes a value; the commonest ones without the machinery of formatting.
fn write_value<W: Write>(out: &mut W, conversion: &Conversion, arg: Arg<'_>) -> fmt::Result {
    match arg {
        _ if !conversion.is_bare() => {}
        Arg::Str(text) => return out.write_str(text),
        Arg::Int(value) if conversion.verb == Verb::Decimal => {
            return out.write_str(itoa::Buffer::new().format(value));
        }
        Arg::Uint(value) if conversion.verb == Verb::Decimal => {
            return out.write_str(itoa::Buffer::new().format(value));
        }
        _ => {}
    }
    protolog_core::render_one(out, conversion, arg)
}

/// The place of a message's plan, which is made at first use. It is no part of a message's
/// identity: all places are equal.
#[derive(Debug, Default)]
pub(crate) struct PlanCell(OnceLock<Plan>);

impl PlanCell {
    /// The plan for `text`, which is the same at each call.
    pub(crate) fn get(&self, text: &str) -> &Plan {
        self.0.get_or_init(|| Plan::new(text))
    }
}

impl Clone for PlanCell {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl PartialEq for PlanCell {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for PlanCell {}
