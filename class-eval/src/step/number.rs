//! Arithmetic, conversions and comparisons, with Java's rules for overflow, shifts and NaN.

use crate::fault::Fault;
use crate::machine::Machine;
use crate::op::{Arithmetic, Compare, Op, Target};
use crate::value::{Kind, Value};
use std::cmp::Ordering;

impl Machine<'_> {
    pub(super) fn number(&mut self, op: &Op) -> Result<(), Fault> {
        let frame = self.frame()?;
        let right = frame.pop()?;
        let (left, result) = match op {
            Op::Arithmetic(kind, _) => (frame.pop()?, *kind),
            Op::Compare(_) => (frame.pop()?, Kind::Int),
            Op::Negate(kind) => (right, *kind),
            Op::Convert(_, target) => (right, kind_of(*target)),
            _ => return Err(Fault::malformed("no arithmetic")),
        };
        if let Some(unknown) = left.unknown_as(result).or(right.unknown_as(result)) {
            return frame.push(unknown);
        }
        let value = match op {
            Op::Arithmetic(kind, operation) => arithmetic(*kind, *operation, left, right)?,
            Op::Negate(kind) => negate(*kind, right)?,
            Op::Convert(kind, target) => convert(*kind, *target, right)?,
            Op::Compare(comparison) => Value::Int(compare(*comparison, left, right)?),
            _ => return Err(Fault::malformed("no arithmetic")),
        };
        frame.push(value)
    }
}

const fn kind_of(target: Target) -> Kind {
    match target {
        Target::Int | Target::Byte | Target::Char | Target::Short => Kind::Int,
        Target::Long => Kind::Long,
        Target::Float => Kind::Float,
        Target::Double => Kind::Double,
    }
}

fn arithmetic(
    kind: Kind,
    operation: Arithmetic,
    left: Value,
    right: Value,
) -> Result<Value, Fault> {
    match kind {
        Kind::Int => ints(operation, left.int()?, right.int()?).map(Value::Int),
        Kind::Long => {
            use Arithmetic::{ShiftLeft, ShiftRight, ShiftRightUnsigned};
            let shift = matches!(operation, ShiftLeft | ShiftRight | ShiftRightUnsigned);
            let right = if shift { right.int()?.into() } else { right.long()? };
            longs(operation, left.long()?, right).map(Value::Long)
        }
        Kind::Float => {
            let (left, right) = (left.float()?, right.float()?);
            floats(operation, left, right, |left, right| left % right).map(Value::Float)
        }
        Kind::Double => {
            let (left, right) = (left.double()?, right.double()?);
            floats(operation, left, right, |left, right| left % right).map(Value::Double)
        }
        Kind::Reference => Err(Fault::malformed("arithmetic on references")),
    }
}

fn division_by_zero() -> Fault {
    Fault::thrown("java.lang.ArithmeticException", "/ by zero")
}

/// Arithmetic of a type of whole numbers, which wraps around; `$unsigned` is the same without a
/// sign.
macro_rules! whole_numbers {
    ($name:ident, $type:ty, $unsigned:ty) => {
        fn $name(operation: Arithmetic, left: $type, right: $type) -> Result<$type, Fault> {
            Ok(match operation {
                Arithmetic::Add => left.wrapping_add(right),
                Arithmetic::Sub => left.wrapping_sub(right),
                Arithmetic::Mul => left.wrapping_mul(right),
                Arithmetic::Div | Arithmetic::Rem if right == 0 => return Err(division_by_zero()),
                Arithmetic::Div => left.wrapping_div(right),
                Arithmetic::Rem => left.wrapping_rem(right),
                Arithmetic::ShiftLeft => left.wrapping_shl(right as u32),
                Arithmetic::ShiftRight => left.wrapping_shr(right as u32),
                Arithmetic::ShiftRightUnsigned => {
                    (left as $unsigned).wrapping_shr(right as u32) as $type
                }
                Arithmetic::And => left & right,
                Arithmetic::Or => left | right,
                Arithmetic::Xor => left ^ right,
            })
        }
    };
}

whole_numbers!(ints, i32, u32);
whole_numbers!(longs, i64, u64);

fn floats<F>(operation: Arithmetic, left: F, right: F, remainder: fn(F, F) -> F) -> Result<F, Fault>
where
    F: std::ops::Add<Output = F>
        + std::ops::Sub<Output = F>
        + std::ops::Mul<Output = F>
        + std::ops::Div<Output = F>,
{
    Ok(match operation {
        Arithmetic::Add => left + right,
        Arithmetic::Sub => left - right,
        Arithmetic::Mul => left * right,
        Arithmetic::Div => left / right,
        Arithmetic::Rem => remainder(left, right),
        _ => return Err(Fault::malformed("bits of a float")),
    })
}

fn negate(kind: Kind, value: Value) -> Result<Value, Fault> {
    Ok(match kind {
        Kind::Int => Value::Int(value.int()?.wrapping_neg()),
        Kind::Long => Value::Long(value.long()?.wrapping_neg()),
        Kind::Float => Value::Float(-value.float()?),
        Kind::Double => Value::Double(-value.double()?),
        Kind::Reference => return Err(Fault::malformed("arithmetic on references")),
    })
}

/// Rust's casts from floats saturate and make zero of NaN, as Java's do.
fn convert(kind: Kind, target: Target, value: Value) -> Result<Value, Fault> {
    Ok(match (kind, target) {
        (Kind::Int, Target::Byte) => Value::Int(i32::from(value.int()? as i8)),
        (Kind::Int, Target::Char) => Value::Int(i32::from(value.int()? as u16)),
        (Kind::Int, Target::Short) => Value::Int(i32::from(value.int()? as i16)),
        (Kind::Int, Target::Long) => Value::Long(value.int()?.into()),
        (Kind::Int, Target::Float) => Value::Float(value.int()? as f32),
        (Kind::Int, Target::Double) => Value::Double(value.int()?.into()),
        (Kind::Long, Target::Int) => Value::Int(value.long()? as i32),
        (Kind::Long, Target::Float) => Value::Float(value.long()? as f32),
        (Kind::Long, Target::Double) => Value::Double(value.long()? as f64),
        (Kind::Float, Target::Int) => Value::Int(value.float()? as i32),
        (Kind::Float, Target::Long) => Value::Long(value.float()? as i64),
        (Kind::Float, Target::Double) => Value::Double(value.float()?.into()),
        (Kind::Double, Target::Int) => Value::Int(value.double()? as i32),
        (Kind::Double, Target::Long) => Value::Long(value.double()? as i64),
        (Kind::Double, Target::Float) => Value::Float(value.double()? as f32),
        _ => return Err(Fault::malformed("a conversion that does not exist")),
    })
}

fn compare(comparison: Compare, left: Value, right: Value) -> Result<i32, Fault> {
    let (order, unordered) = match comparison {
        Compare::Long => (Some(left.long()?.cmp(&right.long()?)), 0),
        Compare::FloatLess => (left.float()?.partial_cmp(&right.float()?), -1),
        Compare::FloatGreater => (left.float()?.partial_cmp(&right.float()?), 1),
        Compare::DoubleLess => (left.double()?.partial_cmp(&right.double()?), -1),
        Compare::DoubleGreater => (left.double()?.partial_cmp(&right.double()?), 1),
    };
    Ok(match order {
        Some(Ordering::Less) => -1,
        Some(Ordering::Equal) => 0,
        Some(Ordering::Greater) => 1,
        None => unordered,
    })
}
