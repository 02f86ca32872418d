//! The plan of a message: the parts of its template, found once for the many entries that are rendered with it.
//!
//! A text that is no template is planned as trace_processor reads it: everything but bare conversions is printed literally.
//!
//! Invariant: no part of text is empty, and no two follow each other.

use std::fmt::{self, Write};
use std::sync::OnceLock;

use protolog_core::{Arg, Conversion, MISSING, ParamKind, Piece, Template, Verb};

use crate::lenient::LenientPieces;

/// See the module.
#[derive(Debug)]
pub(crate) struct Plan {
    parts: Vec<Part>,
    /// The number of values of each kind that the message takes.
    pub(crate) counts: [usize; 4],
}

#[derive(Debug)]
enum Part {
    Text(String),
    Conversion(Conversion),
}

impl Plan {
    fn new(text: &str) -> Self {
        let mut plan = Self { parts: Vec::new(), counts: [0; 4] };
        match Template::parse(text) {
            Ok(template) => template.pieces().for_each(|piece| plan.add(piece)),
            Err(_) => LenientPieces::new(text).for_each(|piece| plan.add(piece)),
        }
        plan
    }

    fn add(&mut self, piece: Piece<'_>) {
        let text = match piece {
            Piece::Text(text) => text,
            Piece::Percent => "%",
            Piece::Conversion(conversion) => {
                self.counts[conversion.verb.kind() as usize] += 1;
                self.parts.push(Part::Conversion(conversion));
                return;
            }
        };
        match self.parts.last_mut() {
            Some(Part::Text(before)) => before.push_str(text),
            _ => self.parts.push(Part::Text(text.to_owned())),
        }
    }

    /// The conversions, in order.
    pub(crate) fn conversions(&self) -> impl Iterator<Item = &Conversion> {
        self.parts.iter().filter_map(|part| match part {
            Part::Text(_) => None,
            Part::Conversion(conversion) => Some(conversion),
        })
    }

    /// Writes the text, with the values that `next` returns for the conversions.
    pub(crate) fn write<'a, W: Write>(
        &self,
        out: &mut W,
        mut next: impl FnMut(ParamKind) -> Option<Arg<'a>>,
    ) -> fmt::Result {
        self.parts.iter().try_for_each(|part| match part {
            Part::Text(text) => out.write_str(text),
            Part::Conversion(conversion) => match next(conversion.verb.kind()) {
                Some(arg) => write_value(out, conversion, arg),
                None => out.write_str(MISSING),
            },
        })
    }
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

/// The place of a message's plan, which is made at first use. It is no part of what a message is: all places are equal.
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
