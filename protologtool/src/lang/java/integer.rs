//! Whole numbers in constant expressions: ints and longs, each computed as Java does, wrapping
//! around included.

use super::syntax::text;
use super::value::{NotConstant, Number, Value, not_constant};
use tree_sitter::Node;

/// A literal in decimal or hexadecimal digits; `negated` is its value after a `-`, where a decimal
/// one may be one larger.
pub(super) fn literal(node: Node<'_>, source: &[u8], negated: bool) -> Result<Value, NotConstant> {
    let plain = text(node, source).replace('_', "").to_ascii_lowercase();
    let (digits, is_long) = match plain.strip_suffix('l') {
        Some(digits) => (digits, true),
        None => (plain.as_str(), false),
    };
    let number = match digits.strip_prefix("0x") {
        // All bits may be given, that of the sign included.
        Some(digits) if is_long => {
            u64::from_str_radix(digits, 16).ok().map(|bits| bits as i64).map(Number::Long)
        }
        Some(digits) => {
            u32::from_str_radix(digits, 16).ok().map(|bits| bits as i32).map(Number::Int)
        }
        None => {
            let sign = if negated { "-" } else { "" };
            let signed = format!("{sign}{digits}");
            if is_long {
                signed.parse().ok().map(Number::Long)
            } else {
                signed.parse().ok().map(Number::Int)
            }
        }
    };
    let is_hexadecimal = digits.starts_with("0x");
    let number =
        number.map(|number| if negated && is_hexadecimal { minus(number) } else { number });
    number.map(Value::Number).ok_or_else(|| not_constant(node, "is too large"))
}

/// The limits that Java's own classes name.
pub(super) fn limit(name: &str) -> Option<Number> {
    match name.strip_prefix("java.lang.").unwrap_or(name) {
        "Integer.MAX_VALUE" => Some(Number::Int(i32::MAX)),
        "Integer.MIN_VALUE" => Some(Number::Int(i32::MIN)),
        "Long.MAX_VALUE" => Some(Number::Long(i64::MAX)),
        "Long.MIN_VALUE" => Some(Number::Long(i64::MIN)),
        _ => None,
    }
}

/// `-number`.
pub(super) fn minus(number: Number) -> Number {
    match number {
        Number::Int(value) => Number::Int(value.wrapping_neg()),
        Number::Long(value) => Number::Long(value.wrapping_neg()),
    }
}

/// `~number`.
pub(super) fn complement(number: Number) -> Number {
    match number {
        Number::Int(value) => Number::Int(!value),
        Number::Long(value) => Number::Long(!value),
    }
}

/// The result of an operator on two numbers.
pub(super) fn binary(
    node: Node<'_>,
    operator: &str,
    left: Number,
    right: Number,
) -> Result<Value, NotConstant> {
    let (one, other) = (left.value(), right.value());
    let compared = match operator {
        "==" => Some(one == other),
        "!=" => Some(one != other),
        "<" => Some(one < other),
        "<=" => Some(one <= other),
        ">" => Some(one > other),
        ">=" => Some(one >= other),
        "/" | "%" if right.is_zero() => return Err(not_constant(node, "divides by zero")),
        _ => None,
    };
    if let Some(result) = compared {
        return Ok(Value::Bool(result));
    }
    let computed = shift(operator, left, right).or_else(|| match (left, right) {
        (Number::Int(left), Number::Int(right)) => ints(operator, left, right).map(Number::Int),
        _ => longs(operator, one, other).map(Number::Long),
    });
    computed.map(Value::Number).ok_or_else(|| not_constant(node, "is not a constant"))
}

/// A shift has the type of its left operand.
fn shift(operator: &str, left: Number, right: Number) -> Option<Number> {
    // Of the right side the lowest 5 or 6 bits count, as these methods take them.
    let by = right.value() as u32;
    Some(match (operator, left) {
        ("<<", Number::Int(value)) => Number::Int(value.wrapping_shl(by)),
        ("<<", Number::Long(value)) => Number::Long(value.wrapping_shl(by)),
        (">>", Number::Int(value)) => Number::Int(value.wrapping_shr(by)),
        (">>", Number::Long(value)) => Number::Long(value.wrapping_shr(by)),
        (">>>", Number::Int(value)) => Number::Int((value as u32).wrapping_shr(by) as i32),
        (">>>", Number::Long(value)) => Number::Long((value as u64).wrapping_shr(by) as i64),
        _ => return None,
    })
}

macro_rules! arithmetic {
    ($name:ident, $type:ty) => {
        fn $name(operator: &str, left: $type, right: $type) -> Option<$type> {
            Some(match operator {
                "+" => left.wrapping_add(right),
                "-" => left.wrapping_sub(right),
                "*" => left.wrapping_mul(right),
                "/" => left.wrapping_div(right),
                "%" => left.wrapping_rem(right),
                "&" => left & right,
                "|" => left | right,
                "^" => left ^ right,
                _ => return None,
            })
        }
    };
}

arithmetic!(ints, i32);
arithmetic!(longs, i64);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lang::java::syntax::parse;
    use Number::{Int, Long};

    /// The result of an operator on two numbers; the tree is only needed to say where.
    fn of(left: Number, operator: &str, right: Number) -> Option<Value> {
        let tree = parse(b"class A {}")?;
        binary(tree.root_node(), operator, left, right).ok()
    }

    #[test]
    fn numbers_wrap_around_by_their_types() {
        let (max, min) = (Int(i32::MAX), Int(i32::MIN));
        for (left, operator, right, expected) in [
            (max, "+", Int(1), min),
            (min, "-", Int(1), max),
            (Int(1 << 20), "*", Int(1 << 20), Int(0)),
            (min, "/", Int(-1), min),
            (max, "+", Long(1), Long(1 << 31)),
            (Long(7), "*", max, Long(7 * i64::from(i32::MAX))),
            (Long(i64::MAX), "+", Int(1), Long(i64::MIN)),
            (Long(i64::MIN), "/", Long(-1), Long(i64::MIN)),
            (Int(-7), "%", Int(3), Int(-1)),
            (Int(-7), "/", Int(2), Int(-3)),
            (Int(1), "<<", Int(33), Int(2)),
            (Int(1), "<<", Long(33), Int(2)),
            (Long(1), "<<", Int(33), Long(1 << 33)),
            (Int(-1), ">>>", Int(28), Int(15)),
            (Long(-8), ">>", Int(1), Long(-4)),
        ] {
            let value = of(left, operator, right);
            assert_eq!(value, Some(Value::Number(expected)), "{left:?} {operator} {right:?}");
        }
        assert_eq!(of(Int(1), "/", Int(0)), None);
        assert_eq!(of(Int(1), "%", Long(0)), None);
        assert_eq!(of(Int(1), "<", Long(2)), Some(Value::Bool(true)));
    }
}
