//! Instances whose methods pass templates on: the names that always mean one, its class, and the
//! tag that its class keeps.
//!
//! ```text
//! final class Log {
//!     private final String tag;
//!     Log(String tag) { this.tag = tag; }                           or record Log(String tag)
//!     void v(String message, Object... rest) { ProtoLog.v(NET, tag + ": " + message, rest); }
//! }
//! private static final Log LOG = new Log("Server");                 LOG.v("…") has the tag `Server`
//! ```
//!
//! A receiver is left out of rewritten code, so it must be a name that is never null: its only
//! value is a new instance.

use super::constant::{Evaluator, arguments, nothing_known};
use super::fields::declarator;
use super::invocation::Invocation;
use super::meaning::{Declared, Site, Type, TypeRef, Variable};
use super::outline::{MemberId, MemberKind, TypeId, TypeKind};
use super::place::MemberCalls;
use super::resolve::Resolver;
use super::syntax::{children, dotted, field_text, has_modifier, is_type_body, parse_member, text};
use super::unit::Unit;
use super::value::Value;
use crate::lang::jvm::wrapper::Wrapper;
use std::borrow::Cow;
use tree_sitter::Node;

/// The method that a call means.
pub(super) struct Meant<'w> {
    pub(super) wrapper: Cow<'w, Wrapper>,
    /// The reason why the call stays as it is all the same.
    pub(super) unknown: Option<&'static str>,
}

/// The canonical names that the class of a new instance may have, and the tag that it is given.
struct KnownInstance {
    classes: Vec<String>,
    tag: Option<String>,
}

impl<'w> From<&'w Wrapper> for Meant<'w> {
    fn from(wrapper: &'w Wrapper) -> Self {
        Self { wrapper: Cow::Borrowed(wrapper), unknown: None }
    }
}

impl<'w> Meant<'w> {
    /// The method `wrapper` of the instance that calls it.
    pub(super) fn of_this(wrapper: &'w Wrapper) -> Self {
        let unknown = wrapper.has_tag().then_some(NO_TAG);
        Self { unknown, ..wrapper.into() }
    }
}

const NO_TAG: &str = "the tag of this instance is no constant";

impl<'u, 't> MemberCalls<'_, 'u, 't> {
    /// The one of `wrappers` called `method` that is meant for the instance which the names
    /// `written` mean.
    pub(super) fn meant_of_instance<'w>(
        &self,
        call: &Invocation<'_>,
        written: &str,
        method: &str,
        wrappers: &'w [Wrapper],
    ) -> Option<Meant<'w>> {
        let mut methods =
            wrappers.iter().filter(|it| it.of_instance && it.name == method).peekable();
        methods.peek()?;
        let variable = self.instance(written, call)?;
        let made = self.made(&variable, written, call);
        let classes = match &made {
            Some(made) => made.classes.clone(),
            None => self.written_class(&variable, written, call)?,
        };
        let is_of = |wrapper: &&Wrapper| {
            let mut names = classes.iter().map(|class| format!("{class}.{method}"));
            names.any(|name| wrapper.java_names.contains(&name))
        };
        let wrapper = methods.find(is_of)?;
        Some(match made.map(|made| made.tag) {
            None => Meant {
                unknown: Some("its instance has a name that may be null, or mean several"),
                ..wrapper.into()
            },
            Some(_) if !wrapper.has_tag() => wrapper.into(),
            Some(None) => Meant { unknown: Some(NO_TAG), ..wrapper.into() },
            Some(Some(tag)) => Meant { wrapper: Cow::Owned(wrapper.with_tag(&tag)), unknown: None },
        })
    }

    /// The variable that the names `written` mean: `LOG`, `this.log`, `Type.LOG`.
    fn instance(&self, written: &str, call: &Invocation<'_>) -> Option<Variable<'u, 't>> {
        let site = self.site_of_names(call);
        match written.rsplit_once('.') {
            None => self.resolver.variable(written, site),
            Some(("this", field)) => {
                let own = self.resolver.variable(field, Site { locals: None, ..site });
                own.filter(|it| matches!(it, Variable::Member(of, _) if Some(of.id) == site.owner))
            }
            Some((of, field)) => {
                let of = self.resolver.type_named(of, site)?;
                self.resolver.field(of, field)
            }
        }
    }

    /// The instance that a variable always holds.
    fn made(
        &self,
        variable: &Variable<'u, 't>,
        written: &str,
        call: &Invocation<'_>,
    ) -> Option<KnownInstance> {
        match variable {
            Variable::Local(declaration) => {
                let of = declaration.parent.kind() == "local_variable_declaration";
                let name = field_text(declaration.node, "name", self.unit.text());
                let is_final = has_modifier(declaration.parent, "final") || !self.is_assigned(name);
                let new = Creation::of(declaration.node, declaration.parent, self.unit)?;
                (of && is_final).then(|| new.made(self.resolver, self.site_of_names(call)))?
            }
            Variable::Member(of, Declared::Member(member)) => {
                made_by_field(&self.resolver.beside(of), of, *member, written)
            }
            Variable::Member(_, Declared::Component) => None,
        }
    }

    /// The canonical names that the class may have which a local variable or parameter, or a field
    /// of the file, is declared as.
    fn written_class(
        &self,
        variable: &Variable<'u, 't>,
        written: &str,
        call: &Invocation<'_>,
    ) -> Option<Vec<String>> {
        let class = match variable {
            Variable::Local(declaration) => {
                let of = if declaration.node.kind() == "variable_declarator" {
                    declaration.parent
                } else {
                    declaration.node
                };
                field_text(of, "type", self.unit.text()).to_owned()
            }
            Variable::Member(of, Declared::Member(member)) if of.unit.is(&self.resolver.unit) => {
                let tree = parse_member(self.unit, &self.unit.outline.members[member.0])?;
                let name = written.rsplit('.').next().unwrap_or(written);
                let field = declarator(tree.root_node(), name, self.unit.text())?;
                field_text(field.parent, "type", self.unit.text()).to_owned()
            }
            Variable::Member(..) => return None,
        };
        match self.resolver.type_named(&class, self.site_of_names(call)) {
            Some(Type::Declared(of)) => Some(vec![of.unit.canonical(of.id)]),
            Some(_) => None,
            None => Some(self.unit.names.elsewhere(&class)),
        }
    }
}

/// The instance that the final field `written` of a type holds.
fn made_by_field(
    resolver: &Resolver<'_>,
    of: &TypeRef<'_>,
    member: MemberId,
    written: &str,
) -> Option<KnownInstance> {
    let unit: &Unit<'_> = &of.unit;
    let tree = parse_member(unit, &unit.outline.members[member.0])?;
    let name = written.rsplit('.').next().unwrap_or(written);
    let declaration = declarator(tree.root_node(), name, unit.text())?;
    let is_final = has_modifier(declaration.parent, "final") || of.is_interface();
    let new = Creation::of(declaration.node, declaration.parent, unit).filter(|_| is_final)?;
    let site = Site { offset: new.node.start_byte(), owner: Some(of.id), locals: None };
    new.made(resolver, site)
}

/// `new Class(…)` as the initial value of a variable of that class.
struct Creation<'n, 't> {
    node: Node<'t>,
    class: String,
    unit: &'n Unit<'n>,
}

impl<'n, 't> Creation<'n, 't> {
    fn of(declarator: Node<'t>, declaration: Node<'t>, unit: &'n Unit<'n>) -> Option<Self> {
        let node = declarator.child_by_field_name("value")?;
        let class = dotted(node.child_by_field_name("type")?, unit.text())?;
        let written = field_text(declaration, "type", unit.text());
        let has_body = children(node).any(is_type_body);
        let is_new = node.kind() == "object_creation_expression" && !has_body;
        // As a supertype has it, the method may be another.
        (is_new && (written == class || written == "var")).then_some(Self { node, class, unit })
    }

    fn made(&self, resolver: &Resolver<'_>, site: Site<'_, '_>) -> Option<KnownInstance> {
        let classes = match resolver.type_named(&self.class, site) {
            Some(Type::Declared(of)) => vec![of.unit.canonical(of.id)],
            Some(_) => return None,
            None => self.unit.names.elsewhere(&self.class),
        };
        let list = self.node.child_by_field_name("arguments").map(arguments).unwrap_or_default();
        let tag = match list[..] {
            [value] => {
                let known = &nothing_known;
                let evaluator = Evaluator { resolver, site, known, calls: None, needed: None };
                match evaluator.value(value) {
                    Ok(Value::Text(text)) => Some(text.as_str().to_owned()),
                    _ => None,
                }
            }
            _ => None,
        };
        Some(KnownInstance { classes, tag })
    }
}

/// Returns whether nothing overrides the methods of a class, and it extends nothing whose methods
/// may be meant in their place.
pub(super) fn is_plain_class(unit: &Unit<'_>, of: TypeId) -> bool {
    let declared = &unit.outline.types[of.0];
    let header = &unit.tokens[declared.header.clone()];
    let extends = |word: &str| matches!(word, "extends" | "implements" | "permits");
    matches!(declared.kind, TypeKind::Class | TypeKind::Record)
        && !header.iter().any(|token| extends(unit.str(&token.range())))
}

/// Returns whether a class is declared `final`, as each record is.
pub(super) fn is_final_class(unit: &Unit<'_>, of: TypeId) -> bool {
    let declared = &unit.outline.types[of.0];
    let name = unit.tokens.partition_point(|token| token.range().start < declared.name.start);
    let before = unit.tokens[..name].iter().rev().map(|token| unit.str(&token.range()));
    let mut modifiers = before.take_while(|word| !matches!(*word, ";" | "{" | "}"));
    declared.kind == TypeKind::Record || modifiers.any(|word| word == "final")
}

/// The field or component that keeps the text which instances of a class are made with, if nothing
/// else happens then.
pub(super) fn tag_of<'n>(unit: &'n Unit<'_>, of: TypeId) -> Option<&'n str> {
    let words = |tokens: std::ops::Range<usize>| -> Vec<&'n str> {
        unit.tokens[tokens].iter().map(|token| unit.str(&token.range())).collect()
    };
    let declared = &unit.outline.types[of.0];
    let of_kind = |kind: MemberKind| {
        unit.outline.members_of(of).filter(move |(_, member)| member.kind == kind)
    };
    let fields: Vec<_> =
        of_kind(MemberKind::Field).map(|(_, it)| words(it.tokens.clone())).collect();
    let makers: Vec<_> =
        of_kind(MemberKind::Constructor).map(|(_, it)| words(it.tokens.clone())).collect();
    if of_kind(MemberKind::Initializer).next().is_some() {
        return None;
    }
    if declared.kind == TypeKind::Record {
        return match words(declared.header.clone())[..] {
            ["(", "String", tag, ")"] if fields.is_empty() && makers.is_empty() => Some(tag),
            _ => None,
        };
    }
    let ([field], [maker]) = (&fields[..], &makers[..]) else { return None };
    let [modifiers @ .., "String", tag, ";"] = &field[..] else { return None };
    let is_kept = modifiers.contains(&"final") && !modifiers.contains(&"static");
    let open = maker.iter().position(|word| *word == "(")?;
    let is_plain = match &maker[open..] {
        ["(", "String", value, ")", "{", "this", ".", kept, "=", written, ";", "}"] => {
            kept == tag && written == value
        }
        _ => false,
    };
    (is_kept && is_plain).then_some(*tag)
}

/// Returns whether `node` is the name of the field `tag`, or `this` and the name.
pub(super) fn is_tag(node: Node<'_>, tag: &str, source: &[u8]) -> bool {
    match node.kind() {
        "identifier" => text(node, source) == tag,
        "field_access" => {
            let of = node.child_by_field_name("object").map(|of| of.kind());
            of == Some("this") && field_text(node, "field", source) == tag
        }
        _ => false,
    }
}
