//! Constant expressions of Java, evaluated without a compiler: literals, `+` on strings, whole
//! numbers, `!`, `&&`, `||`, `?:`, casts, parentheses, and names of constants that this file or
//! another input declares.

use super::fields::declarator;
use super::integer;
use super::library::Classes;
use super::literal;
use super::locals::Declaration;
use super::meaning::{Declared, Handle, Site, Type, TypeRef, Variable};
use super::outline::{MemberId, MemberKind};
use super::resolve::Resolver;
use super::syntax::{
    children, descendants, dotted, field_text, parse_member, text, unparenthesized,
};
use super::value::{NotConstant, Number, Value, not_constant};
use crate::call::Text;
use crate::lang::jvm::constants::{FoundConstant, MAX_DEPTH};
use tree_sitter::Node;

const TOO_LONG: &str = "is too long, or takes too many steps for its file";

/// The meaning of a name that is no constant: parameters, fields, methods such as `name()`.
pub(crate) type KnownValue<'k> = dyn Fn(Node<'_>) -> Option<Result<Value, NotConstant>> + 'k;

/// The meaning of a method call, in any file; the last argument goes to [`Evaluator::nested`].
pub(crate) type Calls =
    fn(&Evaluator<'_, '_, '_, '_>, Node<'_>, usize) -> Option<Result<Value, NotConstant>>;

/// Evaluates expressions of one file.
pub(crate) struct Evaluator<'e, 'u, 'l, 't> {
    pub(crate) resolver: &'e Resolver<'u>,
    /// Where the expression stands, which decides what its names mean.
    pub(crate) site: Site<'l, 't>,
    pub(crate) known: &'e KnownValue<'e>,
    /// Method calls that have a value all the same, though to Java they are no constants.
    pub(crate) calls: Option<Calls>,
    /// The constant whose value this is, and those that need it.
    pub(crate) needed: Option<&'e Needed<'e>>,
}

/// A constant whose value is being found.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Needed<'n> {
    /// The file, and the member that declares it.
    member: (usize, MemberId),
    field: &'n str,
    /// The depth of expressions at which its name stands.
    depth: usize,
    /// The one that needs it.
    by: Option<&'n Needed<'n>>,
}

impl Needed<'_> {
    fn holds(&self, member: (usize, MemberId), field: &str) -> bool {
        let mut all = std::iter::successors(Some(self), |it| it.by);
        all.any(|it| it.member == member && it.field == field)
    }
}

impl<'u> Evaluator<'_, 'u, '_, '_> {
    /// The value of an expression.
    pub(crate) fn value(&self, expression: Node<'_>) -> Result<Value, NotConstant> {
        self.nested(expression, self.needed.map_or(0, |needed| needed.depth))
    }

    /// The value of a part of an expression that is itself `depth` deep.
    pub(crate) fn nested(&self, expression: Node<'_>, depth: usize) -> Result<Value, NotConstant> {
        let node = unparenthesized(expression);
        if let Some(value) = (self.known)(node) {
            return value;
        }
        let effort = self.resolver.constants();
        if !effort.reach(depth) {
            let reason = format!("nests more than {MAX_DEPTH} deep");
            return Err(not_constant(node, &reason));
        }
        if !effort.spend(1) {
            return Err(not_constant(node, TOO_LONG));
        }
        let depth = depth + 1;
        match node.kind() {
            "true" => Ok(Value::Bool(true)),
            "false" => Ok(Value::Bool(false)),
            "null_literal" => Ok(Value::Null),
            "string_literal" | "character_literal" => self.literal(node),
            "decimal_integer_literal" | "hex_integer_literal" => {
                integer::literal(node, self.text(), false)
            }
            "binary_expression" => self.binary(node, depth),
            "unary_expression" => self.unary(node, depth),
            "ternary_expression" => self.ternary(node, depth),
            "cast_expression" => self.cast(node, depth),
            "identifier" | "field_access" => self.name(node, depth),
            "method_invocation" => self
                .calls
                .and_then(|calls| calls(self, node, depth))
                .unwrap_or_else(|| Err(not_constant(node, "is a method call"))),
            "template_expression" => Err(not_constant(node, "is a string template")),
            _ => Err(not_constant(node, "is not a constant")),
        }
    }

    fn text(&self) -> &[u8] {
        self.resolver.unit.text()
    }

    fn literal(&self, node: Node<'_>) -> Result<Value, NotConstant> {
        let (raw, offset) = (&self.text()[node.byte_range()], node.start_byte());
        let value = match node.kind() {
            "character_literal" => literal::char(raw, offset).map(Value::Char),
            _ => literal::text(raw, offset).map(Value::Text),
        };
        value.map_err(|bad| NotConstant { range: bad.range, reason: bad.reason.to_owned() })
    }

    /// `+` chains nest to the left, thousands deep in generated code, so they are walked rather
    /// than recursed into.
    fn binary(&self, node: Node<'_>, depth: usize) -> Result<Value, NotConstant> {
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
        let mut value = self.nested(first, depth)?;
        for (node, right) in steps.into_iter().rev() {
            let operator =
                node.child_by_field_name("operator").map_or("", |operator| operator.kind());
            value = match (operator, value) {
                ("&&", Value::Bool(false)) => Value::Bool(false),
                ("||", Value::Bool(true)) => Value::Bool(true),
                ("&&" | "||", Value::Bool(_)) => self.nested(right, depth)?,
                (operator, left @ (Value::Number(_) | Value::Char(_))) => {
                    let right = self.nested(right, depth)?;
                    match (left.number(), right.number()) {
                        (Some(left), Some(right)) => integer::binary(node, operator, left, right)?,
                        _ if operator == "+" => plus(node, left, right)?,
                        _ => return Err(not_constant(node, "is not a constant")),
                    }
                }
                ("+", left) => plus(node, left, self.nested(right, depth)?)?,
                _ => return Err(not_constant(node, "is not a constant")),
            };
        }
        Ok(value)
    }

    fn unary(&self, node: Node<'_>, depth: usize) -> Result<Value, NotConstant> {
        let operator = node.child_by_field_name("operator").map_or("", |operator| operator.kind());
        let Some(operand) = node.child_by_field_name("operand") else {
            return Err(not_constant(node, "is not a constant"));
        };
        if operator == "-" && operand.kind() == "decimal_integer_literal" {
            // The smallest number of all has no literal without the sign.
            return integer::literal(operand, self.text(), true);
        }
        match (operator, self.nested(operand, depth)?) {
            ("!", Value::Bool(value)) => Ok(Value::Bool(!value)),
            ("-", Value::Number(value)) => Ok(Value::Number(integer::minus(value))),
            ("~", Value::Number(value)) => Ok(Value::Number(integer::complement(value))),
            ("+", value @ Value::Number(_)) => Ok(value),
            _ => Err(not_constant(node, "is not a constant")),
        }
    }

    fn ternary(&self, node: Node<'_>, depth: usize) -> Result<Value, NotConstant> {
        let part = |field| node.child_by_field_name(field);
        let Some(condition) = part("condition") else {
            return Err(not_constant(node, "is not a constant"));
        };
        let (chosen, other) = match self.nested(condition, depth)? {
            Value::Bool(true) => (part("consequence"), part("alternative")),
            Value::Bool(false) => (part("alternative"), part("consequence")),
            _ => (None, None),
        };
        let (Some(chosen), Some(other)) = (chosen, other) else {
            return Err(not_constant(node, "is not a constant"));
        };
        let value = self.nested(chosen, depth)?;
        if !matches!(value, Value::Number(_) | Value::Char(_)) {
            return Ok(value);
        }
        // The types of both branches decide that of the result (JLS 15.25).
        let Ok(with) = self.nested(other, depth) else {
            return Err(not_constant(other, "may be a number of another type, which decides"));
        };
        conditional(value, &with, chosen, other)
    }

    fn cast(&self, node: Node<'_>, depth: usize) -> Result<Value, NotConstant> {
        let part = |field| node.child_by_field_name(field);
        let (Some(to), Some(value)) = (part("type"), part("value")) else {
            return Err(not_constant(node, "is not a constant"));
        };
        match (text(to, self.text()), self.nested(value, depth)?) {
            ("int", Value::Number(value)) => Ok(Value::Number(Number::Int(value.value() as i32))),
            ("long", Value::Number(value)) => Ok(Value::Number(Number::Long(value.value()))),
            ("boolean", value @ Value::Bool(_)) | ("String", value @ Value::Text(_)) => Ok(value),
            _ => Err(not_constant(node, "is a cast")),
        }
    }

    /// A constant that this file or another input declares, or a limit of Java's.
    fn name(&self, node: Node<'_>, depth: usize) -> Result<Value, NotConstant> {
        let Some(name) = dotted(node, self.text()) else {
            return Err(not_constant(node, "is not a constant"));
        };
        match self.variable(&name) {
            None => integer::limit(&name)
                .map(Value::Number)
                .or_else(|| self.of_kotlin(&name, node, depth).map(Value::Text))
                .ok_or_else(|| not_constant(node, "is declared in none of the sources")),
            Some(Variable::Local(declaration)) => self.local(node, declaration, depth),
            Some(Variable::Member(of, Declared::Member(member))) => {
                self.member(node, &name, &of, member, depth)
            }
            Some(Variable::Member(_, Declared::Component)) => {
                Err(not_constant(node, "is not a constant"))
            }
        }
    }

    /// The text that `name`, which nothing in Java declares, is the Kotlin constant for.
    fn of_kotlin(&self, name: &str, node: Node<'_>, depth: usize) -> Option<Text> {
        let (library, names) = (self.resolver.library?, &self.resolver.unit.names);
        let first = name.split('.').next().unwrap_or(name);
        if self.resolver.variable(first, self.site).is_some()
            || self.resolver.declared_type(first, self.site).is_some()
        {
            return None;
        }
        let effort = self.resolver.constants();
        let mut all = names.elsewhere(name).into_iter();
        let value = all.find_map(|name| library.constant_of_kotlin(&name, depth, effort))?;
        let mut text = Text::default();
        value.chars().for_each(|char| text.push(char, node.start_byte()));
        Some(text)
    }

    /// The value of the field `name`, which `member` of the type `of` declares.
    fn member(
        &self,
        node: Node<'_>,
        name: &str,
        of: &TypeRef<'u>,
        member: MemberId,
        depth: usize,
    ) -> Result<Value, NotConstant> {
        let resolver = self.resolver.beside(of);
        let field = name.rsplit('.').next().unwrap_or(name);
        let id = (of.unit.address(), member);
        if self.needed.is_some_and(|needed| needed.holds(id, field)) {
            return Err(not_constant(node, "needs its own value"));
        }
        // It is parsed anew, with the code beside its value.
        let length = resolver.unit.outline.members[member.0].range.len();
        if !self.resolver.constants().spend(length) {
            return Err(not_constant(node, TOO_LONG));
        }
        let needed = Needed { member: id, field, depth, by: self.needed };
        let value = constant_of(&resolver, of, &needed, self.calls);
        let value = value.ok_or_else(|| not_constant(node, "is not a constant"))?;
        let length = value.as_ref().map_or(0, length_of);
        if !self.resolver.constants().spend(length) {
            return Err(not_constant(node, TOO_LONG));
        }
        if of.unit.is(&self.resolver.unit) {
            return value;
        }
        // An error in another file is reported where the name is.
        value.map(|value| value.at(node)).map_err(|error| {
            not_constant(node, &format!("has no value: its initial value {}", error.reason))
        })
    }

    fn local(
        &self,
        node: Node<'_>,
        declaration: Declaration<'_>,
        depth: usize,
    ) -> Result<Value, NotConstant> {
        let Some(value) = declaration.constant_value(false) else {
            return Err(not_constant(node, "is not a constant"));
        };
        let site = Site { offset: value.start_byte(), ..self.site };
        let Self { resolver, known, calls, needed, .. } = *self;
        let declared = field_text(declaration.parent, "type", self.text());
        let constant = Evaluator { resolver, site, known, calls, needed }.nested(value, depth)?;
        constant.declared(declared, value)
    }

    /// The meaning of `NAME`, `Type.NAME` or `Type.Inner.NAME`.
    fn variable(&self, name: &str) -> Option<Variable<'u, '_>> {
        match name.rsplit_once('.') {
            Some((of, field)) => {
                let of = self.resolver.type_named(of, self.site)?;
                self.resolver.field(of, field)
            }
            None => self.resolver.variable(name, self.site).or_else(|| self.imported(name)),
        }
    }

    /// The constant that a static import of `name` means.
    fn imported(&self, name: &str) -> Option<Variable<'u, '_>> {
        let names = &self.resolver.unit.names;
        let single = names.static_single.iter().filter_map(|import| import.rsplit_once('.'));
        let single = single.filter(|(_, member)| *member == name).map(|(of, _)| of);
        let mut classes = single.chain(names.static_wildcard.iter().map(String::as_str));
        classes.find_map(|of| {
            let of = self.resolver.class(of)?;
            self.resolver.field(of, name)
        })
    }
}

/// `left + right`, one of which must be a text.
fn plus(node: Node<'_>, left: Value, right: Value) -> Result<Value, NotConstant> {
    if !matches!((&left, &right), (Value::Text(_), _) | (_, Value::Text(_))) {
        return Err(not_constant(node, "is not a constant"));
    }
    // Of a long chain the text so far is not copied with each part.
    let (mut text, rest) = match left {
        Value::Text(text) => (text, vec![right]),
        left => (Text::default(), vec![left, right]),
    };
    for value in rest {
        let at = node.start_byte();
        let plain = match value {
            Value::Text(part) => {
                text.append(part);
                continue;
            }
            Value::Bool(value) => value.to_string(),
            Value::Number(value) => value.value().to_string(),
            Value::Char(value) => value.to_string(),
            Value::Null => return Err(not_constant(node, "has a null")),
        };
        plain.chars().for_each(|char| text.push(char, at));
    }
    Ok(Value::Text(text))
}

fn length_of(value: &Value) -> usize {
    if let Value::Text(text) = value { text.as_str().len() } else { 0 }
}

/// For a caller that knows no names beyond those that the file declares as constants.
pub(crate) fn nothing_known(_: Node<'_>) -> Option<Result<Value, NotConstant>> {
    None
}

/// The text of the constant with this canonical name that a class of the inputs declares, whose
/// name stands at `depth`; and the effort that it took. None if there is no such constant.
pub(crate) fn constant_text(
    library: &dyn Classes,
    canonical: &str,
    (depth, most): (usize, usize),
) -> Option<FoundConstant> {
    let (class, field) = canonical.rsplit_once('.')?;
    let (unit, id) = library.class(class)?;
    let of = TypeRef { unit: Handle::Other(unit), id };
    let resolver = Resolver::new(of.unit.clone(), Some(library));
    let is_limited = resolver.constants().limit(most);
    let Some(Variable::Member(of, Declared::Member(member))) =
        resolver.field(Type::Declared(of), field)
    else {
        return None;
    };
    let needed = Needed { member: (of.unit.address(), member), field, depth, by: None };
    let value = constant_of(&resolver.beside(&of), &of, &needed, None);
    let text = match value? {
        Ok(Value::Text(text)) => Some(text.as_str().to_owned()),
        Ok(Value::Number(number)) => Some(number.value().to_string()),
        Ok(Value::Char(char)) => Some(char.to_string()),
        Ok(Value::Bool(value)) => Some(value.to_string()),
        _ => None,
    };
    Some(FoundConstant { text, taken: resolver.constants().taken(), is_limited })
}

/// The value of the field `needed`, which a member of the type `of` declares; none if it is no
/// constant.
fn constant_of(
    resolver: &Resolver<'_>,
    of: &TypeRef<'_>,
    needed: &Needed<'_>,
    calls: Option<Calls>,
) -> Option<Result<Value, NotConstant>> {
    let declared = &resolver.unit.outline.members[needed.member.1.0];
    let is_field = declared.kind == MemberKind::Field;
    let tree = is_field.then(|| parse_member(&resolver.unit, declared)).flatten()?;
    let declaration = declarator(tree.root_node(), needed.field, resolver.unit.text())?;
    let value = declaration.constant_value(of.is_interface())?;
    let site = Site { offset: value.start_byte(), owner: Some(of.id), locals: None };
    let needed = Some(needed);
    let evaluator = Evaluator { resolver, site, known: &nothing_known, calls, needed };
    let declared = field_text(declaration.parent, "type", resolver.unit.text());
    Some(evaluator.value(value).and_then(|it| it.declared(declared, value)))
}

/// The elements of an argument list.
pub(crate) fn arguments(list: Node<'_>) -> Vec<Node<'_>> {
    children(list).collect()
}

/// The value of the branch `chosen` of a conditional whose other branch has the value `with`.
fn conditional(
    value: Value,
    with: &Value,
    chosen: Node<'_>,
    other: Node<'_>,
) -> Result<Value, NotConstant> {
    let (number, is_char) = match (&value, with) {
        (Value::Number(Number::Int(_)) | Value::Char(_), Value::Number(Number::Long(_))) => {
            let long = value.number().map_or(0, Number::value);
            return Ok(Value::Number(Number::Long(long)));
        }
        (Value::Number(Number::Int(number)), Value::Char(_)) => (*number, false),
        (Value::Char(_), Value::Number(Number::Int(number))) => (*number, true),
        _ => return Ok(value),
    };
    // An int that a char can hold is one; but a name may be that of a byte.
    let of_int = if is_char { other } else { chosen };
    let is_named = |node: Node<'_>| {
        matches!(
            node.kind(),
            "identifier" | "field_access" | "cast_expression" | "method_invocation"
        )
    };
    if descendants(of_int).any(is_named) {
        return Err(not_constant(of_int, "may be a char or a number, by the type of a name"));
    }
    match (u16::try_from(number), is_char) {
        (Ok(_), true) => Ok(value),
        (Ok(unit), false) => char::from_u32(unit.into())
            .map(Value::Char)
            .ok_or_else(|| not_constant(chosen, "is half a character")),
        (Err(_), _) => Ok(Value::Number(value.number().unwrap_or(Number::Int(number)))),
    }
}
