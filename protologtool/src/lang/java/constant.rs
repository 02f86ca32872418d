//! Constant expressions of Java, evaluated without a compiler: literals, `+` on strings, `!`, `&&`, `||`, `?:`,
//! parentheses, and names where the caller knows them or the same file declares them as constants.

use super::syntax::{
    children, dotted, field_text, has_modifier, is_type_body, is_type_declaration, text,
    unparenthesized,
};
use super::{literal, scope};
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
pub(crate) struct Evaluator<'s, 'k> {
    pub(crate) source: &'s Source,
    pub(crate) known: &'k Known<'k>,
}

impl Evaluator<'_, '_> {
    /// The value of an expression.
    pub(crate) fn value(&self, expression: Node<'_>) -> Result<Value, NotConstant> {
        self.nested(expression, 0)
    }

    fn nested(&self, expression: Node<'_>, depth: usize) -> Result<Value, NotConstant> {
        let node = unparenthesized(expression);
        if let Some(value) = (self.known)(node) {
            return value;
        }
        if depth > MAX_DEPTH {
            return Err(self.not(node, "nests too deeply"));
        }
        let depth = depth + 1;
        match node.kind() {
            "true" => Ok(Value::Bool(true)),
            "false" => Ok(Value::Bool(false)),
            "null_literal" => Ok(Value::Null),
            "string_literal" | "character_literal" => self.literal(node),
            "decimal_integer_literal" => self.integer(node),
            "binary_expression" => self.binary(node, depth),
            "unary_expression" => self.unary(node, depth),
            "ternary_expression" => self.ternary(node, depth),
            "identifier" | "field_access" => self.name(node, depth),
            "method_invocation" => Err(self.not(node, "is a method call")),
            "template_expression" => Err(self.not(node, "is a string template")),
            _ => Err(self.not(node, "is not a constant")),
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
        parsed.map(Value::Int).map_err(|_| self.not(node, "is too large"))
    }

    /// `+` chains nest to the left, thousands deep in generated code, so they are walked rather than recursed into.
    fn binary(&self, node: Node<'_>, depth: usize) -> Result<Value, NotConstant> {
        let mut steps = Vec::new();
        let mut first = node;
        while first.kind() == "binary_expression" {
            let (Some(left), Some(right)) =
                (first.child_by_field_name("left"), first.child_by_field_name("right"))
            else {
                return Err(self.not(first, "is not a constant"));
            };
            steps.push((first, right));
            first = unparenthesized(left);
        }
        let mut value = self.nested(first, depth)?;
        for (node, right) in steps.into_iter().rev() {
            let operator =
                node.child_by_field_name("operator").map_or("", |operator| operator.kind());
            value = match (operator, value) {
                ("&&", Value::Bool(false)) => Value::Bool(false),
                ("||", Value::Bool(true)) => Value::Bool(true),
                ("&&" | "||", Value::Bool(_)) => self.nested(right, depth)?,
                ("+", left) => self.plus(node, left, self.nested(right, depth)?)?,
                _ => return Err(self.not(node, "is not a constant")),
            };
        }
        Ok(value)
    }

    fn plus(&self, node: Node<'_>, left: Value, right: Value) -> Result<Value, NotConstant> {
        if !matches!((&left, &right), (Value::Text(_), _) | (_, Value::Text(_))) {
            return Err(self.not(node, "is arithmetic"));
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
                Value::Null => return Err(self.not(node, "has a null")),
            };
            plain.chars().for_each(|char| text.push(char, at));
        }
        Ok(Value::Text(text))
    }

    fn unary(&self, node: Node<'_>, depth: usize) -> Result<Value, NotConstant> {
        let operator = node.child_by_field_name("operator").map_or("", |operator| operator.kind());
        let operand =
            node.child_by_field_name("operand").map(|operand| self.nested(operand, depth));
        match (operator, operand) {
            ("!", Some(Ok(Value::Bool(value)))) => Ok(Value::Bool(!value)),
            ("-", Some(Ok(Value::Int(value)))) => Ok(Value::Int(-value)),
            (_, Some(Err(error))) => Err(error),
            _ => Err(self.not(node, "is not a constant")),
        }
    }

    fn ternary(&self, node: Node<'_>, depth: usize) -> Result<Value, NotConstant> {
        let part = |field| node.child_by_field_name(field);
        let Some(condition) = part("condition") else {
            return Err(self.not(node, "is not a constant"));
        };
        let chosen = match self.nested(condition, depth)? {
            Value::Bool(true) => part("consequence"),
            Value::Bool(false) => part("alternative"),
            _ => None,
        };
        chosen.map_or_else(
            || Err(self.not(node, "is not a constant")),
            |node| self.nested(node, depth),
        )
    }

    /// A constant that the same file declares: `static final` with an initialiser, a field of an interface, or a final
    /// local variable.
    fn name(&self, node: Node<'_>, depth: usize) -> Result<Value, NotConstant> {
        let Some(name) = dotted(node, self.source) else {
            return Err(self.not(node, "is not a constant"));
        };
        let declarator = match name.rsplit_once('.') {
            None => scope::variable(node, &name, self.source),
            Some((types, field)) => {
                let mut types = types.split('.');
                let outer =
                    types.next().and_then(|outer| scope::declared_type(node, outer, self.source));
                let inner = types.try_fold(outer, |outer, name| {
                    let body = outer?.child_by_field_name("body")?;
                    let named = |node: &Node<'_>| {
                        is_type_declaration(*node) && field_text(*node, "name", self.source) == name
                    };
                    Some(scope::members(body).find(named))
                });
                inner
                    .flatten()
                    .and_then(|declaration| scope::field(declaration, field, self.source))
            }
        };
        let Some(declarator) = declarator else {
            return Err(self.not(node, "is not declared in this file"));
        };
        let Some(declaration) = declarator.parent() else {
            return Err(self.not(node, "is not a constant"));
        };
        let is_field = declaration.parent().is_some_and(is_type_body);
        let is_constant = match declaration.kind() {
            "constant_declaration" => true,
            "field_declaration" => {
                is_field
                    && has_modifier(declaration, "static")
                    && has_modifier(declaration, "final")
            }
            "local_variable_declaration" => has_modifier(declaration, "final"),
            _ => false,
        };
        match declarator.child_by_field_name("value") {
            Some(value) if is_constant => self.nested(value, depth),
            _ => Err(self.not(node, "is not a constant")),
        }
    }

    fn not(&self, node: Node<'_>, reason: &str) -> NotConstant {
        NotConstant { range: node.byte_range(), reason: reason.to_owned() }
    }
}

/// Whether `node` is a type's own declaration of a constant with constant value is decided by [`Evaluator`]; this is the
/// evaluator's answer for a caller that knows no further names.
pub(crate) fn nothing_known(_: Node<'_>) -> Option<Result<Value, NotConstant>> {
    None
}

/// The elements of an argument list.
pub(crate) fn arguments(list: Node<'_>) -> Vec<Node<'_>> {
    children(list).collect()
}
