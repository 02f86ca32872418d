//! Methods that pass a template and arguments on to a log call:
//! `static void v(String msg, Object... args) { … }`, some of them with a tag,
//! `static void v(String tag, String msg, Object... args) { … }`, or of a class whose instances
//! have one.
//!
//! Such a method does nothing else, and no other can take its place: it is static, private or
//! final, and not overloaded.

use super::constant::{Evaluator, arguments};
use super::initialiser::runs_code;
use super::instance::{is_final_class, is_plain_class, is_tag, tag_of};
use super::invocation::{Candidate, Invocation};
use super::outline::{MemberKind, TypeId};
use super::place::MemberCalls;
use super::syntax::{children, field_text, has_modifier, text, unparenthesized};
use super::value::Value;
use crate::call::Text;
use crate::diagnostic::{Code, Diagnostic};
use crate::lang::jvm::dialect::Dialect;
use crate::lang::jvm::wrapper::{TAG_OF_TEMPLATE, TagSource, Wrapper};
use protolog_core::Level;
use tree_sitter::Node;

/// The text of a parameter while the template around it is evaluated: no text holds this character.
const PARAMETER: char = '\u{10ffff}';

impl MemberCalls<'_, '_, '_> {
    /// The method around the log call `candidate`, if it is one, and the note on that call; the
    /// note alone if calls of the method do more than log.
    pub(super) fn wrapper(
        &self,
        candidate: &Candidate,
        level: Level,
    ) -> Option<(Option<Wrapper>, Diagnostic)> {
        // Of Android 15 no call works that stays as it is.
        if matches!(self.java.dialect(), Dialect::Android(form) if form.passes_text) {
            return None;
        }
        let source = self.unit.text();
        let call = self.whole_call(candidate)?;
        let (method, owner, name) = self.only_does(&call)?;
        let member = &self.unit.outline.members[self.member.0];
        let parameters = parameters(method.child_by_field_name("parameters")?, source)?;
        let rest = parameters.rest;
        let list = call.node.child_by_field_name("arguments")?;
        let passed = arguments(list);
        let [group, template, args @ ..] = &passed[..] else { return None };
        let is_passed = match (args, rest) {
            ([], None) => true,
            ([arg], Some(rest)) => text(unparenthesized(*arg), source) == rest,
            _ => false,
        };
        let group = self.group(*group, &call).ok().filter(|_| is_passed)?;
        let of_class = tag_of(self.unit, owner).filter(|_| !member.is_static);
        let around = self.around_parameter(*template, parameters, of_class, &call)?;
        let (before, after) = around.as_str().split_once(PARAMETER)?;
        if after.contains(PARAMETER) {
            return None;
        }
        let canonical = format!("{}.{name}", self.unit.canonical(owner));
        let is_visible = !self
            .unit
            .outline
            .outwards(Some(owner))
            .any(|id| self.unit.outline.types[id.0].is_private);
        let of_instance = !member.is_static && is_plain_class(self.unit, owner);
        let tag = match parameters.tag {
            Some(_) => TagSource::Call,
            None if !around.as_str().contains(TAG_OF_TEMPLATE) => TagSource::None,
            None if of_instance => TagSource::Instance,
            None => return None,
        };
        let is_exported = (member.is_static || of_instance) && !member.is_private && is_visible;
        if children(method).any(|child| child.kind() == "throws") {
            let why = format!("callers of `{name}` may catch what it declares to throw");
            return Some((None, stays(template.byte_range(), &why)));
        }
        let wrapper = Wrapper {
            name: name.to_owned(),
            kotlin_names: if is_exported { vec![canonical.clone()] } else { Vec::new() },
            java_names: vec![canonical],
            is_of_file: false,
            level,
            group,
            of_instance,
            // An instance is one of a class that is initialised, and the group's class is
            // initialised by the group.
            runs_code: member.is_static
                && self.unit.canonical(owner) != self.groups.class()
                && runs_code(self.resolver, owner),
            tag,
            before: before.to_owned(),
            after: after.to_owned(),
        };
        let why = format!(
            "it passes on the template of calls of `{name}`, which are rewritten where they are"
        );
        Some((Some(wrapper), stays(template.byte_range(), &why)))
    }

    /// The method that does nothing but `call`, its class and its name, if no other method can take
    /// its place.
    fn only_does<'c>(&self, call: &Invocation<'c>) -> Option<(Node<'c>, TypeId, &str)> {
        let source = self.unit.text();
        let mut around = call.ancestors();
        let (statement, block, method) = (around.next()?, around.next()?, around.next()?);
        let is_all = statement.kind() == "expression_statement"
            && method.kind() == "method_declaration"
            && children(block).count() == 1;
        let is_void = field_text(method, "type", source) == "void";
        let of_object = has_modifier(method, "synchronized") || call.is_in_local_class();
        let member = &self.unit.outline.members[self.member.0];
        let (owner, name) = (member.owner?, self.unit.str(member.name.as_ref()?));
        let is_final = member.is_static
            || member.is_private
            || has_modifier(method, "final")
            || is_final_class(self.unit, owner);
        let named = self.unit.outline.members_of(owner).filter(|(_, other)| {
            let of = other.name.as_ref().map(|name| self.unit.str(name));
            other.kind == MemberKind::Method && of == Some(name)
        });
        let is_only = is_all && is_void && !of_object && is_final && named.count() == 1;
        is_only.then_some((method, owner, name))
    }

    /// The value of a template in which the message is [`PARAMETER`], and the tag
    /// [`TAG_OF_TEMPLATE`].
    fn around_parameter(
        &self,
        template: Node<'_>,
        parameters: Parameters<'_>,
        of_class: Option<&str>,
        call: &Invocation<'_>,
    ) -> Option<Text> {
        let source = self.unit.text();
        let parameter = |node: Node<'_>| {
            let is = |name: &str| node.kind() == "identifier" && text(node, source) == name;
            let is_hidden =
                |tag: &str| [Some(parameters.message), parameters.rest].contains(&Some(tag));
            let is_tag = parameters.tag.is_some_and(is)
                || of_class.is_some_and(|tag| !is_hidden(tag) && is_tag(node, tag, source));
            let sign = match (is(parameters.message), is_tag) {
                (true, _) => PARAMETER,
                (_, true) => TAG_OF_TEMPLATE,
                _ => return None,
            };
            let mut value = Text::default();
            value.push(sign, node.start_byte());
            Some(Ok(Value::Text(value)))
        };
        let site = self.site_of_names(call);
        let evaluator = Evaluator {
            resolver: self.resolver,
            site,
            known: &parameter,
            calls: None,
            needed: None,
        };
        match evaluator.value(template) {
            Ok(Value::Text(text)) => Some(text),
            _ => None,
        }
    }
}

/// The note on a call that stays as it is.
pub(super) fn stays(range: std::ops::Range<usize>, why: &str) -> Diagnostic {
    let message = format!("this call stays as it is, and is interned when the program runs: {why}");
    Diagnostic::note(Code::NotRewritten, range, message)
}

/// The names of the parameters of a method that passes a template on.
#[derive(Clone, Copy)]
struct Parameters<'s> {
    tag: Option<&'s str>,
    message: &'s str,
    rest: Option<&'s str>,
}

/// The names of `(String tag, String message, Object... rest)`. The tag may be left out, and
/// without it the rest.
fn parameters<'s>(list: Node<'_>, source: &'s [u8]) -> Option<Parameters<'s>> {
    let all: Vec<Node<'_>> = children(list).collect();
    let named = |node: Node<'_>| text_parameter(node, source);
    Some(match all[..] {
        [message] => Parameters { tag: None, message: named(message)?, rest: None },
        [message, rest] => {
            let rest = Some(rest_parameter(rest, source)?);
            Parameters { tag: None, message: named(message)?, rest }
        }
        [tag, message, rest] => {
            let rest = Some(rest_parameter(rest, source)?);
            Parameters { tag: Some(named(tag)?), message: named(message)?, rest }
        }
        _ => return None,
    })
}

/// The name of a parameter for a text.
fn text_parameter<'s>(node: Node<'_>, source: &'s [u8]) -> Option<&'s str> {
    let is_text = node.kind() == "formal_parameter"
        && matches!(field_text(node, "type", source), "String" | "java.lang.String")
        && node.child_by_field_name("dimensions").is_none();
    is_text.then_some(text(node.child_by_field_name("name")?, source))
}

/// The name of a parameter for any number of objects.
fn rest_parameter<'s>(node: Node<'_>, source: &'s [u8]) -> Option<&'s str> {
    let has_type =
        children(node).any(|child| matches!(text(child, source), "Object" | "java.lang.Object"));
    let mut declared = children(node).filter(|child| child.kind() == "variable_declarator");
    let name = declared.next()?.child_by_field_name("name")?;
    (node.kind() == "spread_parameter" && has_type).then_some(text(name, source))
}
