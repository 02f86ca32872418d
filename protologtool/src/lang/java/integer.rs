//! Whole numbers in constant expressions.
//!
//! Types are not followed: a number that an int can hold may be an int or a long. Of ints that wrap around, and of longs
//! that do not, the results differ; so what ints may have wrapped is refused, rather than guessed. A number that no int can hold
//! is a long, and so is what is computed with it.

use super::constant::{NotConstant, Value, not_constant};
use super::syntax::text;
use tree_sitter::Node;

/// A literal in decimal or hexadecimal digits. The number after a `-` may be one larger than the largest, which is refused:
/// nobody numbers groups so.
pub(super) fn literal(node: Node<'_>, source: &[u8]) -> Result<Value, NotConstant> {
    let plain = text(node, source).replace('_', "").to_ascii_lowercase();
    let (digits, is_long) = match plain.strip_suffix('l') {
        Some(digits) => (digits, true),
        None => (plain.as_str(), false),
    };
    let value = match digits.strip_prefix("0x") {
        // All bits may be given, that of the sign included.
        Some(digits) if is_long => u64::from_str_radix(digits, 16).ok().map(|bits| bits as i64),
        Some(digits) => u32::from_str_radix(digits, 16).ok().map(|bits| i64::from(bits as i32)),
        None => digits.parse().ok().filter(|value| is_long || is_int(*value)),
    };
    value.map(Value::Int).ok_or_else(|| not_constant(node, "is too large"))
}

/// The limits that Java's own classes name.
pub(super) fn limit(name: &str) -> Option<i64> {
    match name.strip_prefix("java.lang.").unwrap_or(name) {
        "Integer.MAX_VALUE" => Some(i32::MAX.into()),
        "Integer.MIN_VALUE" => Some(i32::MIN.into()),
        "Long.MAX_VALUE" => Some(i64::MAX),
        "Long.MIN_VALUE" => Some(i64::MIN),
        _ => None,
    }
}

/// What an operator makes of two numbers.
pub(super) fn binary(
    node: Node<'_>,
    operator: &str,
    left: i64,
    right: i64,
) -> Result<Value, NotConstant> {
    let value = match operator {
        "+" => left.wrapping_add(right),
        "-" => left.wrapping_sub(right),
        "*" => left.wrapping_mul(right),
        "/" | "%" if right == 0 => return Err(not_constant(node, "divides by zero")),
        "/" => left.wrapping_div(right),
        "%" => left.wrapping_rem(right),
        "&" => left & right,
        "|" => left | right,
        "^" => left ^ right,
        "==" => return Ok(Value::Bool(left == right)),
        "!=" => return Ok(Value::Bool(left != right)),
        "<" => return Ok(Value::Bool(left < right)),
        "<=" => return Ok(Value::Bool(left <= right)),
        ">" => return Ok(Value::Bool(left > right)),
        ">=" => return Ok(Value::Bool(left >= right)),
        _ => return Err(not_constant(node, "is not a constant")),
    };
    if is_int(left) && is_int(right) && !is_int(value) {
        return Err(not_constant(node, "is more than an int can hold"));
    }
    Ok(Value::Int(value))
}

/// Whether an int can hold the number.
fn is_int(value: i64) -> bool {
    i32::try_from(value).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lang::java::syntax::parse;

    /// What an operator makes of two numbers; the tree is only needed to say where.
    fn of(left: i64, operator: &str, right: i64) -> Option<Value> {
        let tree = parse(b"class A {}")?;
        binary(tree.root_node(), operator, left, right).ok()
    }

    #[test]
    fn what_an_int_may_have_wrapped_is_refused() {
        let (max, min) = (i64::from(i32::MAX), i64::from(i32::MIN));
        for (left, operator, right) in [
            (max, "+", 1),
            (min, "-", 1),
            (1 << 20, "*", 1 << 20),
            (min, "/", -1),
            (0, "-", min),
            (1, "/", 0),
            (1, "%", 0),
        ] {
            assert_eq!(of(left, operator, right), None, "{left} {operator} {right}");
        }
        for (left, operator, right, expected) in [
            (max, "+", -1, max - 1),
            (max + 1, "*", 2, 2 * (max + 1)),
            (i64::MAX, "+", 1, i64::MIN),
            (i64::MIN, "/", -1, i64::MIN),
            (-7, "%", 3, -1),
            (-7, "/", 2, -3),
        ] {
            let value = of(left, operator, right);
            assert_eq!(value, Some(Value::Int(expected)), "{left} {operator} {right}");
        }
    }
}
