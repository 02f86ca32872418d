//! Numbers, booleans and characters as objects, and their classes' methods for plain ones.

use super::{Args, Entry, answer, new_string};
use crate::fault::Fault;
use crate::heap::Object;
use crate::machine::Machine;
use crate::text;
use crate::value::Value;

/// The methods of all box classes: class, descriptor, name of the method that unboxes.
macro_rules! boxes {
    ($($class:literal $descriptor:literal $unbox:literal;)* + $($entry:expr,)*) => {
        &[
            $(
                (concat!($class, ".valueOf(", $descriptor, ")L", $class, ";"), |m, a| {
                    answer(m.heap.boxed($class, a.at(0)?)?)
                }),
                (concat!($class, ".", $unbox, "()", $descriptor), |m, a| answer(unboxed(m, a, 0)?)),
                (concat!($class, ".toString()Ljava/lang/String;"), |m, a| {
                    let text = unboxed(m, a, 0).and_then(|value| m.text_of(value, $descriptor))?;
                    new_string(m, text)
                }),
                (concat!($class, ".toString(", $descriptor, ")Ljava/lang/String;"), |m, a| {
                    let text = m.text_of(a.at(0)?, $descriptor)?;
                    new_string(m, text)
                }),
                (concat!($class, ".hashCode()I"), |m, a| answer(hash(unboxed(m, a, 0)?, $descriptor)?)),
                (concat!($class, ".hashCode(", $descriptor, ")I"), |_, a| answer(hash(a.at(0)?, $descriptor)?)),
                (concat!($class, ".equals(Ljava/lang/Object;)Z"), |m, a| answer(m.equal(a.at(0)?, a.at(1)?)?)),
            )*
            $($entry,)*
        ]
    };
}

pub(super) const TABLE: &[Entry] = boxes! {
    "java/lang/Boolean" "Z" "booleanValue";
    "java/lang/Byte" "B" "byteValue";
    "java/lang/Character" "C" "charValue";
    "java/lang/Short" "S" "shortValue";
    "java/lang/Integer" "I" "intValue";
    "java/lang/Long" "J" "longValue";
    "java/lang/Float" "F" "floatValue";
    "java/lang/Double" "D" "doubleValue";
    +
    ("java/lang/Number.intValue()I", |m, a| {
        answer(match unboxed(m, a, 0)? {
            Value::Long(value) => value as i32,
            Value::Float(value) => value as i32,
            Value::Double(value) => value as i32,
            value => value.int()?,
        })
    }),
    ("java/lang/Number.longValue()J", |m, a| {
        answer(match unboxed(m, a, 0)? {
            Value::Int(value) => value.into(),
            Value::Float(value) => value as i64,
            Value::Double(value) => value as i64,
            value => value.long()?,
        })
    }),
    ("java/lang/Boolean.parseBoolean(Ljava/lang/String;)Z", |m, a| {
        if a.at(0)? == Value::Null {
            return answer(false);
        }
        answer(text::to_string(&a.text(0, m)?).eq_ignore_ascii_case("true"))
    }),
    ("java/lang/Boolean.logicalAnd(ZZ)Z", |_, a| answer(a.int(0)? & a.int(1)?)),
    ("java/lang/Boolean.logicalOr(ZZ)Z", |_, a| answer(a.int(0)? | a.int(1)?)),
    ("java/lang/Boolean.logicalXor(ZZ)Z", |_, a| answer(a.int(0)? ^ a.int(1)?)),
    ("java/lang/Integer.parseInt(Ljava/lang/String;)I", |m, a| {
        answer(parse::<i32>(m, a)?)
    }),
    ("java/lang/Long.parseLong(Ljava/lang/String;)J", |m, a| answer(parse::<i64>(m, a)?)),
    ("java/lang/Integer.toHexString(I)Ljava/lang/String;", |m, a| {
        let text = text::from_str(&format!("{:x}", a.int(0)?));
        new_string(m, text)
    }),
    ("java/lang/Long.toHexString(J)Ljava/lang/String;", |m, a| {
        let text = text::from_str(&format!("{:x}", a.long(0)?));
        new_string(m, text)
    }),
    ("java/lang/Float.floatToIntBits(F)I", |_, a| {
        answer(hash(Value::Float(a.at(0)?.float()?), "F")?)
    }),
    ("java/lang/Float.intBitsToFloat(I)F", |_, a| {
        answer(Value::Float(f32::from_bits(a.int(0)? as u32)))
    }),
    ("java/lang/Double.doubleToLongBits(D)J", |_, a| {
        let value = a.at(0)?.double()?;
        answer(if value.is_nan() { 0x7ff8 << 48 } else { value.to_bits() as i64 })
    }),
    ("java/lang/Double.longBitsToDouble(J)D", |_, a| {
        answer(Value::Double(f64::from_bits(a.long(0)? as u64)))
    }),
    ("java/lang/Integer.compare(II)I", |_, a| answer(a.int(0)?.cmp(&a.int(1)?) as i32)),
    ("java/lang/Long.compare(JJ)I", |_, a| answer(a.long(0)?.cmp(&a.long(1)?) as i32)),
    ("java/lang/Integer.max(II)I", |_, a| answer(a.int(0)?.max(a.int(1)?))),
    ("java/lang/Integer.min(II)I", |_, a| answer(a.int(0)?.min(a.int(1)?))),
    ("java/lang/Integer.remainderUnsigned(II)I", |_, a| {
        let rest = (a.int(0)? as u32).checked_rem(a.int(1)? as u32);
        let rest = rest.ok_or_else(|| Fault::thrown("java.lang.ArithmeticException", "/ by zero"));
        answer(rest? as i32)
    }),
};

/// The value in the box that is this argument.
fn unboxed(machine: &mut Machine<'_>, a: Args<'_>, index: usize) -> Result<Value, Fault> {
    match machine.heap.get(a.object(index)?) {
        Object::Boxed(_, value) => Ok(*value),
        _ => Err(Fault::malformed("an object that is no number")),
    }
}

fn hash(value: Value, descriptor: &str) -> Result<i32, Fault> {
    let folded = |bits: u64| (bits ^ (bits >> 32)) as i32;
    Ok(match value {
        Value::Int(value) if descriptor == "Z" => {
            if value == 0 {
                1237
            } else {
                1231
            }
        }
        Value::Int(value) => value,
        Value::Long(value) => folded(value as u64),
        Value::Float(value) if value.is_nan() => 0x7fc0_0000,
        Value::Float(value) => value.to_bits() as i32,
        Value::Double(value) if value.is_nan() => folded(0x7ff8 << 48),
        Value::Double(value) => folded(value.to_bits()),
        Value::Null | Value::Ref(_) | Value::Unknown(..) => {
            return Err(Fault::malformed("a box without a number"));
        }
    })
}

fn parse<T: std::str::FromStr>(machine: &mut Machine<'_>, a: Args<'_>) -> Result<T, Fault> {
    let text = match a.at(0)? {
        Value::Null => "null".to_owned(),
        _ => text::to_string(&a.text(0, machine)?),
    };
    let wrong = |_| {
        let message = format!("For input string: \"{text}\"");
        Fault::thrown("java.lang.NumberFormatException", message)
    };
    text.parse().map_err(wrong)
}
