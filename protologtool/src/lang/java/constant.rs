//! Constant expressions of Java, evaluated without a compiler: literals, `+` on strings, `!`, `&&`, `||`, `?:`,
//! parentheses, and names where the caller knows them or the same file declares them as constants.

use super::literal;
use super::scope::{Declaration, FrameId, Scopes};
use super::syntax::{children, dotted, text, unparenthesized};
use crate::call::Text;
use crate::source::Source;
use std::ops::Range;
use tree_sitter::Node;

/// How deep expressions and constants that name constants may nest.
const MAX_DEPTH: usize = 100;

/// A value known at build time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    Text(Text),
    Bool(bool),
    Int(i64),
    Char(char),
    Null,
}

/// An expression that has no value at build time: which, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NotConstant {
    pub(crate) range: Range<usize>,
    pub(crate) reason: String,
}

/// What a name means beyond what the file's constants say: parameters, fields, methods such as `name()`.
pub(crate) type Known<'k> = dyn Fn(Node<'_>) -> Option<Result<Value, NotConstant>> + 'k;

/// Evaluates expressions of one file.
pub(crate) struct Evaluator<'e, 't, 's> {
    pub(crate) source: &'s Source,
    pub(crate) scopes: &'e Scopes<'t, 's>,
    pub(crate) known: &'e Known<'e>,
}

/// Where an expression stands, which decides what its names mean, and how deep it is nested.
#[derive(Clone, Copy)]
struct At {
    frame: FrameId,
    depth: usize,
}

impl Evaluator<'_, '_, '_> {
    /// The value of an expression that stands in `frame`.
    pub(crate) fn value(&self, expression: Node<'_>, frame: FrameId) -> Result<Value, NotConstant> {
        self.nested(expression, At { frame, depth: 0 })
    }

    fn nested(&self, expression: Node<'_>, at: At) -> Result<Value, NotConstant> {
        let node = unparenthesized(expression);
        if let Some(value) = (self.known)(node) {
            return value;
        }
        if at.depth > MAX_DEPTH {
            return Err(not_constant(node, "nests too deeply, or needs its own value"));
        }
        let at = At { depth: at.depth + 1, ..at };
        match node.kind() {
            "true" => Ok(Value::Bool(true)),
            "false" => Ok(Value::Bool(false)),
            "null_literal" => Ok(Value::Null),
            "string_literal" | "character_literal" => self.literal(node),
            "decimal_integer_literal" => self.integer(node),
            "binary_expression" => self.binary(node, at),
            "unary_expression" => self.unary(node, at),
            "ternary_expression" => self.ternary(node, at),
            "identifier" | "field_access" => self.name(node, at),
            "method_invocation" => Err(not_constant(node, "is a method call")),
            "template_expression" => Err(not_constant(node, "is a string template")),
            _ => Err(not_constant(node, "is not a constant")),
        }
    }

    fn literal(&self, node: Node<'_>) -> Result<Value, NotConstant> {
        let (raw, offset) = (self.source.slice(node.byte_range()), node.start_byte());
        let value = match node.kind() {
            "character_literal" => literal::char(raw, offset).map(Value::Char),
            _ => literal::text(raw, offset).map(Value::Text),
        };
        value.map_err(|bad| NotConstant { range: bad.range, reason: bad.reason.to_owned() })
    }

    fn integer(&self, node: Node<'_>) -> Result<Value, NotConstant> {
        let digits = text(node, self.source).replace('_', "");
        let parsed = digits.trim_end_matches(['l', 'L']).parse();
        parsed.map(Value::Int).map_err(|_| not_constant(node, "is too large"))
    }

    /// `+` chains nest to the left, thousands deep in generated code, so they are walked rather than recursed into.
    fn binary(&self, node: Node<'_>, at: At) -> Result<Value, NotConstant> {
        let mut steps = Vec::new();
        let mut first = node;
        while first.kind() == "binary_expression" {
            let (Some(left), Some(right)) =
                (first.child_by_field_name("left"), first.child_by_field_name("right"))
            else {
                return Err(not_constant(first, "is not a constant"));
            };
            steps.push((first, right));
            first = unparenthesized(left);
        }
        let mut value = self.nested(first, at)?;
        for (node, right) in steps.into_iter().rev() {
            let operator =
                node.child_by_field_name("operator").map_or("", |operator| operator.kind());
            value = match (operator, value) {
                ("&&", Value::Bool(false)) => Value::Bool(false),
                ("||", Value::Bool(true)) => Value::Bool(true),
                ("&&" | "||", Value::Bool(_)) => self.nested(right, at)?,
                ("+", left) => plus(node, left, self.nested(right, at)?)?,
                _ => return Err(not_constant(node, "is not a constant")),
            };
        }
        Ok(value)
    }

    fn unary(&self, node: Node<'_>, at: At) -> Result<Value, NotConstant> {
        let operator = node.child_by_field_name("operator").map_or("", |operator| operator.kind());
        let operand = node.child_by_field_name("operand").map(|operand| self.nested(operand, at));
        match (operator, operand) {
            ("!", Some(Ok(Value::Bool(value)))) => Ok(Value::Bool(!value)),
            ("-", Some(Ok(Value::Int(value)))) => Ok(Value::Int(-value)),
            (_, Some(Err(error))) => Err(error),
            _ => Err(not_constant(node, "is not a constant")),
        }
    }

    fn ternary(&self, node: Node<'_>, at: At) -> Result<Value, NotConstant> {
        let part = |field| node.child_by_field_name(field);
        let Some(condition) = part("condition") else {
            return Err(not_constant(node, "is not a constant"));
        };
        let chosen = match self.nested(condition, at)? {
            Value::Bool(true) => part("consequence"),
            Value::Bool(false) => part("alternative"),
            _ => None,
        };
        chosen.map_or_else(
            || Err(not_constant(node, "is not a constant")),
            |node| self.nested(node, at),
        )
    }

    /// A constant that the same file declares.
    fn name(&self, node: Node<'_>, at: At) -> Result<Value, NotConstant> {
        let Some(name) = dotted(node, self.source) else {
            return Err(not_constant(node, "is not a constant"));
        };
        let Some(declaration) = self.declaration(&name, node.start_byte(), at.frame) else {
            return Err(not_constant(node, "is not declared in this file"));
        };
        match declaration.constant_value() {
            Some(value) => self.nested(value, At { frame: declaration.frame, ..at }),
            None => Err(not_constant(node, "is not a constant")),
        }
    }

    /// The declaration that `NAME`, `Type.NAME` or `Type.Inner.NAME` means.
    fn declaration(&self, name: &str, offset: usize, frame: FrameId) -> Option<Declaration<'_>> {
        let Some((types, field)) = name.rsplit_once('.') else {
            return self.scopes.variable(frame, offset, name);
        };
        let mut types = types.split('.');
        let outer = self.scopes.declared_type(frame, offset, types.next()?)?;
        let inner =
            types.try_fold(outer, |outer, name| self.scopes.member_type(outer.node, name))?;
        self.scopes.field(inner.node, field)
    }
}

/// `left + right`, one of which must be a text.
fn plus(node: Node<'_>, left: Value, right: Value) -> Result<Value, NotConstant> {
    if !matches!((&left, &right), (Value::Text(_), _) | (_, Value::Text(_))) {
        return Err(not_constant(node, "is arithmetic"));
    }
    let mut text = Text::default();
    for value in [left, right] {
        let at = node.start_byte();
        let plain = match value {
            Value::Text(part) => {
                text.append(part);
                continue;
            }
            Value::Bool(value) => value.to_string(),
            Value::Int(value) => value.to_string(),
            Value::Char(value) => value.to_string(),
            Value::Null => return Err(not_constant(node, "has a null")),
        };
        plain.chars().for_each(|char| text.push(char, at));
    }
    Ok(Value::Text(text))
}

/// The answer for an expression without a value.
pub(crate) fn not_constant(node: Node<'_>, reason: &str) -> NotConstant {
    NotConstant { range: node.byte_range(), reason: reason.to_owned() }
}

/// For a caller that knows no names beyond those that the file declares as constants.
pub(crate) fn nothing_known(_: Node<'_>) -> Option<Result<Value, NotConstant>> {
    None
}

/// The elements of an argument list.
pub(crate) fn arguments(list: Node<'_>) -> Vec<Node<'_>> {
    children(list).collect()
}
