//! The calls of Java's own methods by which groups name and number themselves, such as AOSP's:
//!
//! ```java
//! (int) (UUID.nameUUIDFromBytes(AppLog.class.getName().getBytes()).getMostSignificantBits() % Integer.MAX_VALUE)
//! ```

use crate::ids::name_uuid;
use crate::lang::java::constant::{Evaluator, arguments};
use crate::lang::java::meaning::{Type, TypeRef};
use crate::lang::java::syntax::{children, dotted, field_text};
use crate::lang::java::value::{NotConstant, Number, Value, not_constant};
use tree_sitter::Node;

/// The result of a call; none if it is none of those.
pub(super) fn value(
    evaluator: &Evaluator<'_, '_, '_, '_>,
    call: Node<'_>,
    depth: usize,
) -> Option<Result<Value, NotConstant>> {
    let source = evaluator.resolver.unit.text();
    let method = field_text(call, "name", source);
    let object = call.child_by_field_name("object")?;
    let given = call.child_by_field_name("arguments").map(arguments)?;
    match (method, &given[..]) {
        ("getName", []) if object.kind() == "class_literal" => {
            let of = declared(evaluator, children(object).next()?)?;
            Some(Ok(text(&binary_name(&of), call)))
        }
        ("getSimpleName", []) if object.kind() == "class_literal" => {
            let of = declared(evaluator, children(object).next()?)?;
            Some(Ok(text(of.unit.name(of.id), call)))
        }
        ("getMostSignificantBits" | "getLeastSignificantBits", []) => {
            let bytes = uuid_argument(evaluator, object)?;
            Some(utf8(evaluator, bytes, depth)?.map(|bytes| {
                let (high, low) = name_uuid(&bytes);
                let is_high = method == "getMostSignificantBits";
                Value::Number(Number::Long(if is_high { high } else { low }))
            }))
        }
        ("abs", [only]) if is_class(evaluator, object, "Math", "java.lang") => {
            Some(evaluator.nested(*only, depth).and_then(|value| match value {
                Value::Number(Number::Int(value)) => Ok(Number::Int(value.wrapping_abs())),
                Value::Number(Number::Long(value)) => Ok(Number::Long(value.wrapping_abs())),
                _ => Err(not_constant(call, "is a method call")),
            }))
            .map(|number| number.map(Value::Number))
        }
        ("hashCode" | "isEmpty" | "length" | "concat", _) => {
            let object = evaluator.nested(object, depth);
            let given = given.iter().map(|node| evaluator.nested(*node, depth)).collect();
            Some(object.and_then(|object| {
                of_text(method, object, given)
                    .unwrap_or_else(|| Err(not_constant(call, "is a method call")))
            }))
        }
        _ => None,
    }
}

/// The result of a method of a text.
fn of_text(
    method: &str,
    object: Value,
    given: Result<Vec<Value>, NotConstant>,
) -> Option<Result<Value, NotConstant>> {
    let Value::Text(mut text) = object else { return None };
    let given = match given {
        Ok(given) => given,
        Err(error) => return Some(Err(error)),
    };
    Some(Ok(match (method, &given[..]) {
        ("hashCode", []) => Value::Number(Number::Int(hash_code(text.as_str()))),
        ("isEmpty", []) => Value::Bool(text.as_str().is_empty()),
        ("length", []) => Value::Number(Number::Int(text.as_str().encode_utf16().count() as i32)),
        ("concat", [Value::Text(other)]) => {
            text.append(other.clone());
            Value::Text(text)
        }
        _ => return None,
    }))
}

/// The argument of `UUID.nameUUIDFromBytes`.
fn uuid_argument<'t>(evaluator: &Evaluator<'_, '_, '_, '_>, call: Node<'t>) -> Option<Node<'t>> {
    let source = evaluator.resolver.unit.text();
    let class = call.child_by_field_name("object")?;
    let is_it = call.kind() == "method_invocation"
        && field_text(call, "name", source) == "nameUUIDFromBytes"
        && is_class(evaluator, class, "UUID", "java.util");
    match &call.child_by_field_name("arguments").map(arguments)?[..] {
        [only] if is_it => Some(*only),
        _ => None,
    }
}

/// The result of `getBytes()` of a text. Without a charset it is that of the machine, UTF-8
/// everywhere today.
fn utf8(
    evaluator: &Evaluator<'_, '_, '_, '_>,
    call: Node<'_>,
    depth: usize,
) -> Option<Result<Vec<u8>, NotConstant>> {
    let source = evaluator.resolver.unit.text();
    if call.kind() != "method_invocation" || field_text(call, "name", source) != "getBytes" {
        return None;
    }
    let charset = call.child_by_field_name("arguments").map(arguments)?;
    let is_utf8 = match &charset[..] {
        [] => true,
        [only] => dotted(*only, source).is_some_and(|name| {
            matches!(name.rsplit('.').next(), Some("UTF_8")) && name.contains("StandardCharsets")
        }),
        _ => false,
    };
    if !is_utf8 {
        return None;
    }
    let text = evaluator.nested(call.child_by_field_name("object")?, depth);
    Some(text.and_then(|value| match value {
        Value::Text(text) => Ok(text.as_str().as_bytes().to_vec()),
        _ => Err(not_constant(call, "is a method call")),
    }))
}

/// Returns whether a name means this class of Java's own.
fn is_class(
    evaluator: &Evaluator<'_, '_, '_, '_>,
    node: Node<'_>,
    name: &str,
    package: &str,
) -> bool {
    let resolver = evaluator.resolver;
    let Some(written) = dotted(node, resolver.unit.text()) else { return false };
    let is_named = written == name || written == format!("{package}.{name}");
    is_named && resolver.type_named(&written, evaluator.site).is_none()
}

/// The type of this file or another that a name means.
fn declared<'u>(evaluator: &Evaluator<'_, 'u, '_, '_>, node: Node<'_>) -> Option<TypeRef<'u>> {
    let resolver = evaluator.resolver;
    let written = dotted(node, resolver.unit.text())?;
    match resolver.type_named(&written, evaluator.site)? {
        Type::Declared(of) => Some(of),
        Type::Local(_) | Type::Parameter => None,
    }
}

/// The result of `getName()` of a class: `$` stands before the name of a nested one.
fn binary_name(of: &TypeRef<'_>) -> String {
    let unit = &of.unit;
    let mut path: Vec<&str> = unit.outline.outwards(Some(of.id)).map(|id| unit.name(id)).collect();
    path.reverse();
    unit.names.canonical(&path.join("$"))
}

fn text(value: &str, at: Node<'_>) -> Value {
    let mut text = crate::call::Text::default();
    value.chars().for_each(|char| text.push(char, at.start_byte()));
    Value::Text(text)
}

/// `String.hashCode()`.
pub(super) fn hash_code(text: &str) -> i32 {
    text.encode_utf16().fold(0i32, |hash, unit| hash.wrapping_mul(31).wrapping_add(unit.into()))
}
