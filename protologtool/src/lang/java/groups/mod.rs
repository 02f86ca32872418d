//! Groups from Java source, without compiling it: the constants of an enum, or the objects in
//! static final fields of a class.
//!
//! ```java
//! public enum AppLog implements ProtoLogGroup {
//!     NET(true, Consts.TO_TEXT, Consts.TAG + "Net");
//!     AppLog(boolean enabled, boolean logToText, String tag) { this.enabled = enabled; … }
//!     public boolean isEnabled() { return enabled; }
//!
//! class Groups {
//!     static final ProtoLogGroup NET = new ProtoLogGroup("NET", "Net", true);
//! ```
//!
//! The class of such objects is one of the same file; or it is Android's `ProtoLogGroup`, of which
//! the constructors are known. How a group is evaluated: [`object`].

mod calls;
mod construct;
mod object;
mod settable;

use crate::diagnostic::{Code, Diagnostic};
use crate::groups::{Group, Groups};
use crate::lang::java::constant::{Calls, Evaluator, arguments, nothing_known};
use crate::lang::java::lexer;
use crate::lang::java::meaning::{Handle, Site, Type};
use crate::lang::java::outline::TypeId;
use crate::lang::java::resolve::Resolver;
use crate::lang::java::syntax::{
    children, descendants, dotted, field_text, has_modifier, is_type_declaration, members, parse,
    unparenthesized,
};
use crate::lang::java::unit::Unit;
use crate::lang::java::value::{NotConstant, Value, not_constant};
use crate::lang::jvm::groups::{canonical, unique};
use crate::source::Source;
use object::{Given, Object, problem, with_subject};
use settable::SettableFields;
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use tree_sitter::Node;

/// The class of Android's groups that are no constants of an enum. It logs as text, and its ids are
/// hashes of names.
const ANDROID_GROUP: &str = "ProtoLogGroup";

/// The groups of the class `class`, which `source` declares; or the problem with it.
pub fn from_java_source(source: &Source, class: &str) -> Result<Groups, Vec<Diagnostic>> {
    let unit = Unit::of(source.bytes());
    let in_source = |diagnostic: Diagnostic| Diagnostic {
        range: unit.origin(diagnostic.range.clone()),
        ..diagnostic
    };
    match read(&unit, &canonical(class)) {
        Ok((groups, unknown_ids)) => Ok(groups.with_unknown_ids(unknown_ids.map(in_source))),
        Err(diagnostics) => Err(diagnostics.into_iter().map(in_source).collect()),
    }
}

/// The groups, and why their ids are not known.
fn read(unit: &Unit<'_>, class: &str) -> Result<(Groups, Option<Diagnostic>), Vec<Diagnostic>> {
    let source = unit.text();
    let error = |range, message: String| Diagnostic::error(Code::Groups, range, message);
    let Some(tree) = parse(source) else {
        return Err(vec![error(0..0, "can't parse the file".to_owned())]);
    };
    let root = tree.root_node();
    let declaration = find_type(root, source, class).ok_or_else(|| {
        let help = "check `--loggroups-class` against the package and the class of this file";
        vec![error(0..0, format!("no class `{class}` in this file")).help(help)]
    })?;
    if let Some(fault) = descendants(declaration).find(|node| node.is_error() || node.is_missing())
    {
        return Err(vec![
            error(fault.byte_range(), "can't parse the class of groups".to_owned())
                .help("correct the syntax"),
        ]);
    }
    let Some(owner) = type_id(unit, declaration) else {
        return Err(vec![error(0..0, "can't parse the class of groups".to_owned())]);
    };
    let resolver = &Resolver::new(Handle::This(unit), None);
    let settable = RefCell::default();
    let reader = GroupReader { source, unit, resolver, root, owner, declaration, class, settable };
    let found = match declaration.kind() {
        "enum_declaration" => reader.constants(),
        _ => reader.fields(),
    };
    if found.is_empty() && declaration.kind() != "enum_declaration" {
        let name = declaration.child_by_field_name("name").unwrap_or(declaration);
        return Err(vec![
            error(name.byte_range(), format!("no groups in `{class}`"))
                .help("name an enum of groups, or a class with groups in static final fields"),
        ]);
    }
    let (mut groups, mut places) = (Vec::new(), Vec::new());
    let (mut problems, mut unknown_ids) = (Vec::new(), None);
    for (node, group) in found {
        match group {
            Ok((group, id)) => {
                groups.push(group);
                places.push(node);
                unknown_ids = unknown_ids.or(id);
            }
            // One cause can keep several groups from being evaluated.
            Err(problem)
                if problems.iter().any(|known: &Diagnostic| known.range == problem.range) => {}
            Err(problem) => problems.push(problem),
        }
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    let places: Vec<_> = places.iter().map(Node::byte_range).collect();
    unique(class, groups, &places).map(|groups| (groups, unknown_ids)).map_err(|clash| vec![clash])
}

/// The declaration of the type with this canonical name.
fn find_type<'t>(root: Node<'t>, source: &[u8], class: &str) -> Option<Node<'t>> {
    let package = lexer::package(source);
    let path =
        if package.is_empty() { class } else { class.strip_prefix(&package)?.strip_prefix('.')? };
    let mut scope = root;
    for name in path.split('.') {
        let body = if scope == root { root } else { scope.child_by_field_name("body")? };
        let named = |node: &Node<'t>| {
            is_type_declaration(*node) && field_text(*node, "name", source) == name
        };
        scope = members(body).find(named)?;
    }
    Some(scope)
}

/// The type that is declared here.
fn type_id(unit: &Unit<'_>, declaration: Node<'_>) -> Option<TypeId> {
    let name = declaration.child_by_field_name("name")?.byte_range();
    unit.outline.types.iter().position(|of| of.name == name).map(TypeId)
}

/// Reads the groups of one class.
struct GroupReader<'r, 't, 's> {
    source: &'s [u8],
    unit: &'r Unit<'s>,
    resolver: &'r Resolver<'s>,
    root: Node<'t>,
    owner: TypeId,
    declaration: Node<'t>,
    class: &'r str,
    /// By the declarations of classes.
    settable: RefCell<HashMap<usize, Rc<SettableFields>>>,
}

/// A group with a warning about its id, or the problem with it.
type GroupResult = Result<(Group, Option<Diagnostic>), Diagnostic>;

impl<'t> GroupReader<'_, 't, '_> {
    /// The constants of an enum.
    fn constants(&self) -> Vec<(Node<'t>, GroupResult)> {
        let body = self.declaration.child_by_field_name("body").into_iter();
        let constants = body.flat_map(children).filter(|node| node.kind() == "enum_constant");
        let read = |(ordinal, node): (usize, Node<'t>)| {
            let name = field_text(node, "name", self.source);
            let of = (self.owner, self.declaration);
            let settable = self.settable(self.declaration);
            let (resolver, constant) = (self.resolver, Some((name, ordinal)));
            let object = Object::new(resolver, of, node, constant, settable, self.source);
            (node, object.group(self.class, name, self.given(node)))
        };
        constants.enumerate().map(read).collect()
    }

    /// The static final fields of a class whose values are groups.
    fn fields(&self) -> Vec<(Node<'t>, GroupResult)> {
        let body = self.declaration.child_by_field_name("body").into_iter();
        let is_constant = |node: &Node<'t>| match node.kind() {
            "constant_declaration" => true,
            "field_declaration" => ["static", "final"].iter().all(|it| has_modifier(*node, it)),
            _ => false,
        };
        let mut found = Vec::new();
        for field in body.flat_map(members).filter(is_constant) {
            let declared = field_text(field, "type", self.source);
            let variables = children(field).filter(|node| node.kind() == "variable_declarator");
            for variable in variables {
                let value = variable.child_by_field_name("value").map(unparenthesized);
                let read = value.and_then(|value| self.field(variable, declared, value));
                found.extend(read.map(|read| (variable, read)));
            }
        }
        found
    }

    /// The group that is the value of a field; none if it is something else.
    fn field(&self, variable: Node<'t>, declared: &str, value: Node<'t>) -> Option<GroupResult> {
        let name = field_text(variable, "name", self.source);
        let refused = |reason: &str| Some(Err(problem(name, not_constant(value, reason))));
        let created = (value.kind() == "object_creation_expression")
            .then(|| value.child_by_field_name("type").and_then(|of| dotted(of, self.source)))
            .flatten();
        let Some(created) = created else {
            let is_group =
                matches!(declared.rsplit('.').next(), Some(ANDROID_GROUP | "IProtoLogGroup"));
            return (is_group && value.kind() != "null_literal")
                .then(|| refused("it is not made by `new`"))
                .flatten();
        };
        let is_anonymous = children(value).any(|child| child.kind() == "class_body");
        let of = match self.resolver.type_named(&created, self.site(value)) {
            Some(Type::Declared(of)) if of.unit.is(&self.resolver.unit) => of.id,
            Some(_) => return None,
            None if created.rsplit('.').next() != Some(ANDROID_GROUP) => return None,
            None if is_anonymous => return refused("it is of an anonymous class"),
            None => return Some(self.android(name, &created, value)),
        };
        let range = self.unit.outline.types[of.0].name.clone();
        let is_declaration = |node: &Node<'t>| {
            is_type_declaration(*node)
                && node.child_by_field_name("name").is_some_and(|name| name.byte_range() == range)
        };
        let declaration = descendants(self.root).find(is_declaration)?;
        let (resolver, settable) = (self.resolver, self.settable(declaration));
        let of_class = (of, declaration);
        let object = Object::new(resolver, of_class, value, None, settable, self.source);
        if !object.is_group() {
            return None;
        }
        if is_anonymous {
            return refused("it is of an anonymous class");
        }
        Some(object.group(&self.unit.canonical(of), name, self.given(value)))
    }

    /// The fields of a class that something else than its construction may set.
    fn settable(&self, declaration: Node<'t>) -> Rc<SettableFields> {
        let mut known = self.settable.borrow_mut();
        let made = || SettableFields::of(self.resolver, self.root, declaration).into();
        Rc::clone(known.entry(declaration.id()).or_insert_with(made))
    }

    /// A group of Android's own class, which is written as `created`: name, tag and whether it is
    /// enabled; by default its tag is its name, and it is enabled.
    fn android(&self, name: &str, created: &str, made: Node<'t>) -> GroupResult {
        let error = |reason: &str| problem(name, not_constant(made, reason));
        let unknown = |error: NotConstant| {
            let reason = with_subject(&error, self.source);
            problem(name, NotConstant { reason, ..error })
        };
        let given: Result<Vec<Value>, _> = self.given(made).into_iter().collect();
        let (own_name, tag, enabled) = match &given.map_err(unknown)?[..] {
            [Value::Text(own)] => (own.clone(), own.clone(), true),
            [Value::Text(own), Value::Text(tag)] => (own.clone(), tag.clone(), true),
            [Value::Text(own), Value::Text(tag), Value::Bool(enabled)] => {
                (own.clone(), tag.clone(), *enabled)
            }
            _ => {
                return Err(error("its arguments are not a name, a tag and whether it is enabled"));
            }
        };
        let names = &self.unit.names;
        let class = match names.imported(created) {
            Some(import) => import.to_owned(),
            None if created.contains('.') => created.to_owned(),
            None => names.canonical(created),
        };
        let group = Group::new(&class, own_name.as_str(), enabled, true, tag.as_str());
        let id = calls::hash_code(own_name.as_str());
        Ok((group.written(name).with_declared_id(id), None))
    }

    /// The values of the arguments of a constant or of `new`.
    fn given(&self, made: Node<'t>) -> Vec<Given> {
        let list = made.child_by_field_name("arguments").map(arguments).unwrap_or_default();
        let value = |node: &Node<'_>| {
            let (known, calls) = (&nothing_known, Some(calls::value as Calls));
            let (resolver, site) = (self.resolver, self.site(*node));
            Evaluator { resolver, site, known, calls, needed: None }.value(*node)
        };
        list.iter().map(value).collect()
    }

    fn site(&self, node: Node<'_>) -> Site<'static, 'static> {
        Site { offset: node.start_byte(), owner: Some(self.owner), locals: None }
    }
}
