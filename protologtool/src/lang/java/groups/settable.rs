//! The fields of a group that something else than its construction may set: a call, or a static
//! initialiser, makes them unknown.
//!
//! ```java
//! Log(boolean on) { this.on = on; if (DEBUG) enable(); }     the call of `enable` may set `on`
//! static { A.tag = "x"; }                                    sets a field of an object from outside
//! ```
//!
//! Invariant: a field that is not named here changes only by the statements of constructors and
//! initialisers of its class.

use crate::lang::java::lexer;
use crate::lang::java::meaning::Site;
use crate::lang::java::resolve::Resolver;
use crate::lang::java::syntax::{
    children, descendants, dotted, field_text, has_modifier, is_type_body, members, text,
    unparenthesized,
};
use crate::lang::java::value::{NotConstant, not_constant};
use std::collections::{BTreeMap, BTreeSet};
use tree_sitter::Node;

/// Packages whose code sets no field of anybody's groups.
const PLATFORM: [&str; 2] = ["java.", "javax."];
/// Types of those packages that are often imported by a wildcard, or by nothing.
const PLATFORM_TYPES: [&str; 30] = [
    "ArrayList",
    "Arrays",
    "Boolean",
    "Collections",
    "Collectors",
    "EnumMap",
    "EnumSet",
    "HashMap",
    "HashSet",
    "Integer",
    "LinkedHashMap",
    "List",
    "Locale",
    "Long",
    "Map",
    "Math",
    "Objects",
    "Optional",
    "Set",
    "Stream",
    "String",
    "StringBuilder",
    "System",
    "TreeMap",
    "UUID",
    "ConcurrentHashMap",
    "Character",
    "AtomicInteger",
    "Short",
    "Byte",
];
/// The methods that every enum has.
const OF_ENUMS: [&str; 9] = [
    "compareTo",
    "equals",
    "getClass",
    "getDeclaringClass",
    "hashCode",
    "name",
    "ordinal",
    "toString",
    "values",
];

/// The fields of a class that may change in other ways.
#[derive(Debug, Default)]
pub(super) struct SettableFields {
    /// Those that methods set, or other classes can: a call may change them.
    by_calls: BTreeSet<String>,
    /// Those that change no one knows when, and why.
    at_any_time: BTreeMap<String, NotConstant>,
}

impl SettableFields {
    /// Those of the class `declaration` in the file with this root.
    pub(super) fn of(resolver: &Resolver<'_>, root: Node<'_>, declaration: Node<'_>) -> Self {
        let source = resolver.unit.text();
        let mut found = Self::default();
        let fields = fields_of(declaration, source);
        for (name, field) in &fields {
            if !has_modifier(*field, "final") && !has_modifier(*field, "private") {
                found.by_calls.insert(name.clone());
            }
        }
        for change in descendants(root) {
            let Some(target) = target(change) else { continue };
            let Some((name, of_this)) = field_name(target, source) else { continue };
            let Some(field) = fields.get(&name) else { continue };
            if has_modifier(*field, "final") {
                continue;
            }
            match setting_code(change, declaration) {
                SettingCode::Construction if of_this => {}
                SettingCode::Method => drop(found.by_calls.insert(name)),
                _ => {
                    let why = not_constant(
                        change,
                        &format!("it may be set by `{}`", shown(change, source)),
                    );
                    found.at_any_time.entry(name).or_insert(why);
                }
            }
        }
        found.add_static(resolver, declaration);
        found
    }

    /// Adds the effects of static initialisers, which run when all constants are made.
    fn add_static(&mut self, resolver: &Resolver<'_>, declaration: Node<'_>) {
        let body = declaration.child_by_field_name("body");
        let is_static = |node: &Node<'_>| match node.kind() {
            "static_initializer" => true,
            "field_declaration" => has_modifier(*node, "static"),
            _ => false,
        };
        for member in body.into_iter().flat_map(members).filter(is_static) {
            let Some(call) = harmful(resolver, declaration, member) else { continue };
            for name in &self.by_calls {
                let reason = why(call, resolver.unit.text());
                self.at_any_time.entry(name.clone()).or_insert(reason);
            }
        }
    }

    /// The fields that the first call within `code` may set, each with the reason.
    pub(super) fn by_call(
        &self,
        resolver: &Resolver<'_>,
        declaration: Node<'_>,
        code: Node<'_>,
    ) -> Vec<(&str, NotConstant)> {
        if self.by_calls.is_empty() {
            return Vec::new();
        }
        let Some(call) = harmful(resolver, declaration, code) else { return Vec::new() };
        let source = resolver.unit.text();
        self.by_calls.iter().map(|name| (name.as_str(), why(call, source))).collect()
    }

    /// The fields that any code may set.
    pub(super) fn by_any_call(&self) -> impl Iterator<Item = &str> {
        self.by_calls.iter().map(String::as_str)
    }

    /// The fields that change no one knows when, and why.
    pub(super) fn at_any_time(&self) -> impl Iterator<Item = (&str, &NotConstant)> {
        self.at_any_time.iter().map(|(name, why)| (name.as_str(), why))
    }
}

/// The fields of an instance of a class, by name.
pub(super) fn fields_of<'t>(declaration: Node<'t>, source: &[u8]) -> BTreeMap<String, Node<'t>> {
    let body = declaration.child_by_field_name("body");
    let fields = body
        .into_iter()
        .flat_map(members)
        .filter(|node| node.kind() == "field_declaration" && !has_modifier(*node, "static"));
    let named = fields.flat_map(|field| {
        let declarators = children(field).filter(|node| node.kind() == "variable_declarator");
        declarators.map(move |it| (field_text(it, "name", source).to_owned(), field))
    });
    named.collect()
}

/// The target of an assignment, of `++` or of `--`.
pub(super) fn target(node: Node<'_>) -> Option<Node<'_>> {
    match node.kind() {
        "assignment_expression" => node.child_by_field_name("left").map(unparenthesized),
        "update_expression" => children(node).next().map(unparenthesized),
        _ => None,
    }
}

/// The name of the field that an expression may be, and that it is one of `this`.
fn field_name(node: Node<'_>, source: &[u8]) -> Option<(String, bool)> {
    match node.kind() {
        "identifier" => Some((text(node, source).to_owned(), true)),
        "field_access" => {
            let of_this = node.child_by_field_name("object")?.kind() == "this";
            Some((field_text(node, "field", source).to_owned(), of_this))
        }
        _ => None,
    }
}

/// The kinds of code that may set a field.
enum SettingCode {
    /// A constructor or an initialiser of the class, in the order in which they run.
    Construction,
    /// A method, which a call runs.
    Method,
    /// Code that runs no one knows when.
    Other,
}

fn setting_code(node: Node<'_>, declaration: Node<'_>) -> SettingCode {
    let mut at = node;
    while let Some(parent) = at.parent() {
        match parent.kind() {
            "lambda_expression" | "static_initializer" => return SettingCode::Other,
            "method_declaration" => return SettingCode::Method,
            _ if is_type_body(parent) => {
                let of = parent.parent();
                let of_constant = of.is_some_and(|it| it.kind() == "enum_constant");
                let is_own = of.is_some_and(|it| it.id() == declaration.id())
                    || parent.kind() == "enum_body_declarations"
                    || of_constant
                        && of
                            .and_then(|it| it.parent())
                            .and_then(|it| it.parent())
                            .is_some_and(|it| it.id() == declaration.id());
                let is_static = has_modifier(at, "static");
                return if is_own && !is_static {
                    SettingCode::Construction
                } else {
                    SettingCode::Other
                };
            }
            _ => at = parent,
        }
    }
    SettingCode::Other
}

/// The first call in `code` that may set fields of groups.
fn harmful<'t>(resolver: &Resolver<'_>, declaration: Node<'_>, code: Node<'t>) -> Option<Node<'t>> {
    descendants(code).find(|node| match node.kind() {
        "method_invocation" => is_harmful(resolver, declaration, *node),
        "object_creation_expression" => {
            let of = node.child_by_field_name("type");
            let named = of.and_then(|of| dotted(of, resolver.unit.text()));
            !named.is_some_and(|name| is_of_platform(resolver, &name, *node))
        }
        "method_reference" => {
            let name = children(*node).last().map_or("", |name| text(name, resolver.unit.text()));
            is_own_method(declaration, name, resolver.unit.text())
                .is_some_and(|method| !is_getter(method))
        }
        _ => false,
    })
}

fn is_harmful(resolver: &Resolver<'_>, declaration: Node<'_>, call: Node<'_>) -> bool {
    let source = resolver.unit.text();
    let name = field_text(call, "name", source);
    if let Some(method) = is_own_method(declaration, name, source) {
        return !is_getter(method);
    }
    let Some(object) = call.child_by_field_name("object").map(unparenthesized) else {
        return !OF_ENUMS.contains(&name) && name != "valueOf";
    };
    match object.kind() {
        "identifier" | "field_access" | "scoped_identifier" => {
            let written = dotted(object, source).unwrap_or_default();
            let first = written.split('.').next().unwrap_or_default();
            // A method of a variable's value is none of this file.
            let is_type = first.chars().next().is_some_and(char::is_uppercase)
                || written.split('.').count() > 1;
            is_type
                && field_text(declaration, "name", source) != first
                && !is_of_platform(resolver, &written, object)
        }
        _ => false,
    }
}

/// The method of this name that a class of the file declares.
fn is_own_method<'t>(declaration: Node<'t>, name: &str, source: &[u8]) -> Option<Node<'t>> {
    let mut root = declaration;
    while let Some(parent) = root.parent() {
        root = parent;
    }
    let mut all = descendants(root).filter(|node| {
        node.kind() == "method_declaration" && field_text(*node, "name", source) == name
    });
    let first = all.next()?;
    // Of several, the first that is no getter.
    Some(if is_getter(first) { all.find(|it| !is_getter(*it)).unwrap_or(first) } else { first })
}

/// Returns whether a method is nothing but a `return` of an expression that changes nothing, and
/// calls nothing.
fn is_getter(method: Node<'_>) -> bool {
    let Some(body) = method.child_by_field_name("body") else { return false };
    let mut statements = children(body);
    let is_return = statements.next().is_some_and(|it| it.kind() == "return_statement");
    let changes = |node: &Node<'_>| {
        target(*node).is_some()
            || matches!(node.kind(), "method_invocation" | "object_creation_expression")
    };
    is_return && statements.next().is_none() && !descendants(body).any(|node| changes(&node))
}

fn is_of_platform(resolver: &Resolver<'_>, written: &str, node: Node<'_>) -> bool {
    if PLATFORM.iter().any(|package| written.starts_with(package)) {
        return true;
    }
    let first = written.split('.').next().unwrap_or(written);
    let site = Site { offset: node.start_byte(), owner: None, locals: None };
    if resolver.declared_type(first, site).is_some() {
        return false;
    }
    match resolver.unit.names.imported(first) {
        Some(import) => PLATFORM.iter().any(|package| import.starts_with(package)),
        None => PLATFORM_TYPES.contains(&first),
    }
}

fn shown(node: Node<'_>, source: &[u8]) -> String {
    lexer::compact(&source[node.byte_range()]).chars().take(60).collect()
}

fn why(call: Node<'_>, source: &[u8]) -> NotConstant {
    not_constant(call, &format!("it may be set by `{}`", shown(call, source)))
}
