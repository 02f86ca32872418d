//! The plan of a message's lines: the text of its template between the values, with what stands
//! before and after it in each line, found once for all entries of the message.
//!
//! Invariant: a line is that of the slow path, or it is left to that.

use protolog_core::{Arg, Conversion, ParamKind};

use crate::dictionary::Message;
use crate::dictionary::message_plan::{self, Form, Part, is_set};
use crate::formatting::line::Line;
use crate::formatting::printable::is_plain;
use crate::formatting::snippet::Snippet;
use crate::log::fast_values::FastValues;

/// See the module.
#[derive(Debug)]
pub(crate) struct LinePlan {
    head: Snippet,
    steps: Vec<Step>,
}

/// A value, and the text after it.
#[derive(Debug)]
pub(crate) struct Step {
    conversion: Conversion,
    form: Form,
    is_unsigned: bool,
    after: Snippet,
}

impl LinePlan {
    /// The plan of a message, with `before` and `after` its text, whose pieces pass through
    /// `escape`.
    pub(crate) fn new(
        message: &Message,
        (before, after): (String, &str),
        escape: impl Fn(&str) -> String,
    ) -> Self {
        let mut plan = Self { head: Snippet::new(""), steps: Vec::new() };
        let (mut text, mut last) = (before, None);
        for part in message.plan().parts() {
            match part {
                Part::Text(piece) => text.push_str(&escape(piece)),
                Part::Conversion(conversion, form) => {
                    let before = last.replace((*conversion, *form));
                    plan.end_text(message, before, std::mem::take(&mut text));
                }
            }
        }
        plan.end_text(message, last, text + after);
        plan
    }

    /// Adds a value with the text after it, or the text before the first one.
    fn end_text(&mut self, message: &Message, value: Option<(Conversion, Form)>, text: String) {
        let after = Snippet::new(text);
        match value {
            Some((conversion, form)) => {
                let is_unsigned = is_set(message.unsigned, self.steps.len() as u32);
                self.steps.push(Step { conversion, form, is_unsigned, after });
            }
            None => self.head = after,
        }
    }

    /// The text up to the first value.
    #[inline]
    pub(crate) fn head(&self) -> &Snippet {
        &self.head
    }

    /// The values, in order.
    #[inline]
    pub(crate) fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// Appends the text of values, if these are just those that the message takes and stand for
    /// themselves in a line.
    #[inline]
    pub(crate) fn push(&self, values: &mut FastValues<'_, '_>, line: &mut Line<'_>) -> Option<()> {
        self.head.push(line);
        for step in &self.steps {
            match step.form {
                Form::Str => {
                    let (window, len) = values.next_string()?;
                    if !is_plain(window.get(..len)?) {
                        return None;
                    }
                    line.push_start(window, len);
                }
                Form::Decimal => step.push_decimal(values.next_integer()?, line),
                _ => step.push_number(values.next_number(step.kind())?, line)?,
            }
            step.after.push(line);
        }
        values.are_done().then_some(())
    }
}

impl Step {
    #[inline]
    pub(crate) fn kind(&self) -> ParamKind {
        self.conversion.verb.kind()
    }

    /// The text after the value.
    #[inline]
    pub(crate) fn after(&self) -> &Snippet {
        &self.after
    }

    /// Returns whether the value stands in the text as it does in JSON.
    #[inline]
    pub(crate) fn is_as_in_json(&self) -> bool {
        matches!(self.form, Form::Str | Form::Decimal | Form::Bool) && self.conversion.width == 0
    }

    /// Appends an integer in decimal.
    #[inline]
    pub(crate) fn push_integer(&self, value: i64, line: &mut Line<'_>) {
        let is_negative = value < 0 && !self.is_unsigned;
        if is_negative {
            line.push_byte(b'-');
        }
        line.push_unsigned(if is_negative { value.unsigned_abs() } else { value as u64 });
    }

    /// Appends an integer as `%d` has it.
    #[inline]
    fn push_decimal(&self, value: i64, line: &mut Line<'_>) {
        let start = line.len();
        self.push_integer(value, line);
        if self.conversion.width > 0 {
            line.pad(start, self.conversion.width, self.conversion.zero_pad);
        }
    }

    /// Appends a number of these bits as the conversion has it; none if that is left to the slow
    /// path.
    pub(crate) fn push_number(&self, bits: u64, line: &mut Line<'_>) -> Option<()> {
        let start = line.len();
        match self.form {
            Form::Decimal => self.push_integer(bits as i64, line),
            Form::Fixed(precision) if line.push_fixed(f64::from_bits(bits), precision) => {}
            Form::Bool => line.push_slice(message_plan::bool_text(bits != 0)),
            Form::Hex => line.push_hex(bits),
            Form::Str => return None,
            Form::Fixed(_) | Form::Other => return self.format(bits, line),
        }
        if self.conversion.width > 0 {
            line.pad(start, self.conversion.width, self.conversion.zero_pad);
        }
        Some(())
    }

    /// Appends a number by the machinery of formatting.
    #[cold]
    fn format(&self, bits: u64, line: &mut Line<'_>) -> Option<()> {
        let arg = match self.kind() {
            ParamKind::Str => return None,
            ParamKind::Int if self.is_unsigned => Arg::Uint(bits),
            ParamKind::Int => Arg::Int(bits as i64),
            ParamKind::Float => Arg::Float(f64::from_bits(bits)),
            ParamKind::Bool => Arg::Bool(bits != 0),
        };
        let mut text = String::new();
        let done = protolog_core::render_one(&mut text, &self.conversion, arg);
        done.expect("a string takes every write");
        line.push_slice(text.as_bytes());
        Some(())
    }
}
