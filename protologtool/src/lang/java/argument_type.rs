//! The types of arguments that Java's sources make evident: of literals, casts, texts that are put
//! together, and variables that are declared with a type which only the language has.

use super::fields;
use super::invocation::Invocation;
use super::meaning::{Declared, Variable};
use super::place::MemberCalls;
use super::syntax::{field_text, text, unparenthesized};
use crate::call::{Checked, without_fixes};
use crate::diagnostic::Diagnostic;
use crate::lang::jvm::argument_type::{ArgumentType, misfits};
use protolog_core::Template;
use tree_sitter::Node;

impl MemberCalls<'_, '_, '_> {
    /// The errors for arguments of a call whose types do not fit the template.
    pub(super) fn misfits(
        &self,
        template: &Template<'_>,
        arguments: &[Node<'_>],
        call: &Invocation<'_>,
    ) -> Vec<Diagnostic> {
        let typed = arguments.iter().map(|node| (node.byte_range(), self.type_of(*node, call)));
        misfits(self.unit.text(), template, typed)
    }

    /// The template of a call to a method that passes it on, if its arguments fit it.
    pub(super) fn fitting<'t>(
        &self,
        checked: Checked<'t>,
        arguments: &[Node<'_>],
        call: &Invocation<'_>,
    ) -> Result<Template<'t>, Vec<Diagnostic>> {
        let template = checked.template().map_err(without_fixes)?;
        let misfits = self.misfits(&template, arguments, call);
        if misfits.is_empty() { Ok(template) } else { Err(misfits) }
    }

    fn type_of(&self, node: Node<'_>, call: &Invocation<'_>) -> Option<ArgumentType> {
        let (node, source) = (unparenthesized(node), self.unit.text());
        match node.kind() {
            // What a local class inherits is not always known, and hides the variables around it.
            "identifier" | "field_access" if call.is_in_local_class() => None,
            "identifier" => self.type_of_variable(text(node, source), call),
            "field_access" if field_text(node, "object", source) == "this" => {
                let field = field_text(node, "field", source);
                let variable = self.variable(call, field)?;
                matches!(variable, Variable::Member(..))
                    .then(|| self.declared(field, variable, call))?
            }
            "cast_expression" => self.named_type(field_text(node, "type", source), call),
            // A variable or type of the program can have the name, and methods of any result.
            "method_invocation"
                if field_text(node, "object", source) == "String"
                    && (self.is_type("String", call)
                        || self.variable(call, "String").is_some()) =>
            {
                None
            }
            _ => type_of_value(node, source),
        }
    }

    fn type_of_variable(&self, name: &str, call: &Invocation<'_>) -> Option<ArgumentType> {
        self.declared(name, self.variable(call, name)?, call)
    }

    /// The type that a variable of this file is declared with.
    fn declared(
        &self,
        name: &str,
        variable: Variable<'_, '_>,
        call: &Invocation<'_>,
    ) -> Option<ArgumentType> {
        let source = self.unit.text();
        match variable {
            Variable::Local(declared) => {
                let is_plain = declared.node.child_by_field_name("dimensions").is_none()
                    && declared.node.kind() != "spread_parameter";
                match declared.written_type(source).filter(|_| is_plain) {
                    Some(written) => self.named_type(written, call),
                    None if !is_plain || declared.is_caught() => None,
                    // `var`.
                    None => {
                        let value = declared.node.child_by_field_name("value")?;
                        type_of_value(unparenthesized(value), source)
                    }
                }
            }
            // A class within another may inherit a field that hides the other's.
            Variable::Member(of, Declared::Member(member))
                if of.unit.is(&self.resolver.unit)
                    && self.unit.outline.members[self.member.0].owner == Some(of.id) =>
            {
                self.named_type(&fields::written_type(self.unit, member, name)?, call)
            }
            Variable::Member(..) => None,
        }
    }

    /// The type of this name, unless the program has one of its own.
    fn named_type(&self, name: &str, call: &Invocation<'_>) -> Option<ArgumentType> {
        let found = ArgumentType::named(name)?;
        (!self.is_type(name, call)).then_some(found)
    }
}

/// The type of an expression that names nothing, or whose parts say it.
fn type_of_value(node: Node<'_>, source: &[u8]) -> Option<ArgumentType> {
    Some(match node.kind() {
        "string_literal" => ArgumentType::Text,
        "character_literal" => ArgumentType::Char,
        "true" | "false" => ArgumentType::Bool,
        "decimal_integer_literal"
        | "hex_integer_literal"
        | "octal_integer_literal"
        | "binary_integer_literal" => ArgumentType::Integer,
        "decimal_floating_point_literal" | "hex_floating_point_literal" => ArgumentType::Float,
        "unary_expression" => {
            let operand = unparenthesized(node.child_by_field_name("operand")?);
            let is_number =
                matches!(text(node.child_by_field_name("operator")?, source), "-" | "+");
            return type_of_value(operand, source).filter(|_| is_number);
        }
        "binary_expression" => match text(node.child_by_field_name("operator")?, source) {
            "==" | "!=" | "<" | ">" | "<=" | ">=" | "&&" | "||" => ArgumentType::Bool,
            "+" => {
                let is_text = |side: &str| {
                    let part = node.child_by_field_name(side).map(unparenthesized);
                    part.is_some_and(|part| part.kind() == "string_literal")
                };
                return (is_text("left") || is_text("right")).then_some(ArgumentType::Text);
            }
            _ => return None,
        },
        "instanceof_expression" => ArgumentType::Bool,
        "method_invocation" => {
            let (of, name) = (field_text(node, "object", source), field_text(node, "name", source));
            let has_none = node
                .child_by_field_name("arguments")
                .is_some_and(|arguments| arguments.named_child_count() == 0);
            let is_text = name == "toString" && has_none && !of.is_empty()
                || of == "String" && matches!(name, "valueOf" | "format" | "join");
            return is_text.then_some(ArgumentType::Text);
        }
        _ => return None,
    })
}
