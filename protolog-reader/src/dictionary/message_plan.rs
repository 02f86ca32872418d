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

use protolog_core::{Arg, Conversion, MISSING, ParamKind, Piece, Template, Verb};

use crate::dictionary::lenient_template::LenientPieces;

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
    Text(String),
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
            self.parts.push(Part::Text(mem::take(literal)));
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
            Part::Text(text) => out.write_str(text),
            Part::Conversion(conversion, _) => match next(conversion.verb.kind()) {
                Some(arg) => write_value(out, conversion, arg),
                None => out.write_str(MISSING),
            },
        })
    }
}

/// True if `bits` marks argument `index` as unsigned.
pub(crate) fn is_set(bits: u32, index: u32) -> bool {
    bits.checked_shr(index).is_some_and(|bits| bits & 1 == 1)
}

pub(crate) fn bool_text(value: bool) -> &'static [u8] {
    if value { b"true" } else { b"false" }
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
