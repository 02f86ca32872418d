//! Groups from the source of a Java enum, without compiling it.
//!
//! ```java
//! public enum AppLog implements ProtoLogGroup {
//!     NET(true, Consts.TO_TEXT, Consts.TAG + "Net");
//!     AppLog(boolean enabled, boolean logToText, String tag) { this.enabled = enabled; … }
//!     public boolean isEnabled() { return enabled; }
//! ```
//!
//! For each constant the constructor that fits its arguments is followed, `this(…)` and initialised fields included; then
//! the getters are evaluated over the fields. Only what a getter asks for is evaluated, so a constructor may do other
//! things too. What can't be evaluated is a problem that names it; but `getId()` need not be known, since the ids of a
//! dictionary can be counted.

use super::{Group, Groups, java_calls};
use crate::diagnostic::{Code, Diagnostic};
use crate::lang::java::constant::{Calls, Evaluator, NotConstant, Value, arguments, not_constant};
use crate::lang::java::meaning::{Handle, Site};
use crate::lang::java::outline::TypeId;
use crate::lang::java::resolve::Resolver;
use crate::lang::java::syntax::{
    children, descendants, dotted, field_text, has_modifier, is_type_declaration, members, parse,
    text, unparenthesized,
};
use crate::lang::java::unit::Unit;
use crate::lang::java::{canonical, lexer};
use crate::source::Source;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt::Display;
use tree_sitter::Node;

/// How many constructors may delegate to each other, and getters may call each other.
const MAX_STEPS: usize = 32;

/// The groups of the enum `class`, which `source` declares; or what is wrong with it.
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
    if declaration.kind() != "enum_declaration" {
        let name = declaration.child_by_field_name("name").unwrap_or(declaration);
        return Err(vec![
            error(name.byte_range(), format!("`{class}` is not an enum"))
                .help("declare the groups as constants of an enum"),
        ]);
    }
    if let Some(fault) = descendants(declaration).find(|node| node.is_error() || node.is_missing())
    {
        return Err(vec![
            error(fault.byte_range(), "can't parse the enum of groups".to_owned())
                .help("correct the syntax"),
        ]);
    }
    let constants: Vec<Node<'_>> = declaration
        .child_by_field_name("body")
        .into_iter()
        .flat_map(children)
        .filter(|node| node.kind() == "enum_constant")
        .collect();
    let types = unit.outline.types.len();
    let Some(owner) = (0..types).map(TypeId).find(|id| unit.canonical(*id) == class) else {
        return Err(vec![error(0..0, "can't parse the enum of groups".to_owned())]);
    };
    let resolver = &Resolver::new(Handle::This(unit), None);
    let (mut groups, mut problems, mut unknown_ids) = (Vec::new(), Vec::new(), None);
    for (ordinal, constant) in constants.iter().enumerate() {
        let name = field_text(*constant, "name", source);
        let fields = RefCell::default();
        let constant = *constant;
        let object =
            Object { source, resolver, owner, declaration, constant, name, ordinal, fields };
        match object.group(class) {
            Ok((group, id)) => {
                groups.push(group);
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
    let clash = |(first, second): (usize, usize), id: &dyn Display, help: &str| {
        let [first_name, second_name] = [first, second].map(|at| &groups[at].full_name);
        let message = format!("`{first_name}` and `{second_name}` have the same id `{id}`");
        let range = constants[second].byte_range();
        vec![Diagnostic::error(Code::IdClash, range, message).help(help)]
    };
    if let Some((positions, id)) = same_declared_id(&groups) {
        return Err(clash(positions, &id, "let `getId()` return another number for one of them"));
    }
    let made = Groups::new(class, groups.clone());
    made.map(|groups| (groups, unknown_ids))
        .map_err(|same| clash(same.positions, &same.id, "rename one of the two groups"))
}

/// Two groups for which `getId()` returns the same.
fn same_declared_id(groups: &[Group]) -> Option<((usize, usize), i32)> {
    let mut known = BTreeMap::new();
    groups.iter().enumerate().find_map(|(second, group)| {
        let id = group.declared_id? as i32;
        known.insert(id, second).map(|first| ((first, second), id))
    })
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

/// One constant of the enum while it is evaluated. Fields hold what the constructor gave them: a value, or why there is
/// none.
struct Object<'e, 't, 's> {
    source: &'s [u8],
    resolver: &'e Resolver<'s>,
    /// The enum, whose names are known everywhere.
    owner: TypeId,
    declaration: Node<'t>,
    constant: Node<'t>,
    name: &'s str,
    ordinal: usize,
    fields: RefCell<Frame>,
}

type Frame = BTreeMap<String, Result<Value, NotConstant>>;

impl<'t> Object<'_, 't, '_> {
    /// The group; and, where the enum has `getId()`, why what it returns is not known.
    fn group(&self, class: &str) -> Result<(Group, Option<Diagnostic>), Diagnostic> {
        let name = self.name;
        let problem = |error: NotConstant| {
            Diagnostic::error(
                Code::Groups,
                error.range,
                format!("can't evaluate the group `{name}`: {}", error.reason),
            )
            .help("use literals, constants of this file, and fields that the constructor sets")
        };
        self.construct().map_err(problem)?;
        let enabled = self.flag(&["isEnabled"]).map_err(problem)?;
        let text = self.flag(&["isLogToText", "isLogToLogcat"]).map_err(problem)?;
        let tag = self.tag().map_err(problem)?;
        let group = Group::new(class, name, enabled, text, tag);
        Ok(match self.id() {
            None => (group, None),
            Some(Ok(id)) => (group.with_declared_id(id), None),
            Some(Err(error)) => {
                let message = format!("can't evaluate the id of `{name}`: {}", error.reason);
                let help =
                    "give the groups' jar by `--loggroups-jar`; else groups are counted from 1";
                (group, Some(Diagnostic::warning(Code::Groups, error.range, message).help(help)))
            }
        })
    }

    /// What `getId()` returns, if there is one.
    fn id(&self) -> Option<Result<i32, NotConstant>> {
        let value = self.getter("getId", 0)?.map_err(|error| self.reworded("getId", error));
        Some(value.and_then(|value| {
            match value {
                Value::Int(id) => i32::try_from(id).ok(),
                _ => None,
            }
            .ok_or_else(|| not_constant(self.constant, "`getId()` does not return an int"))
        }))
    }

    /// Follows the constructor that the constant calls.
    fn construct(&self) -> Result<(), NotConstant> {
        let body = self.declaration.child_by_field_name("body");
        let declared =
            body.into_iter().flat_map(members).filter(|node| node.kind() == "field_declaration");
        for field in declared.filter(|field| !has_modifier(*field, "static")) {
            for declarator in children(field).filter(|node| node.kind() == "variable_declarator") {
                if let Some(value) = declarator.child_by_field_name("value") {
                    let value = self.value(value, &Frame::new(), 0);
                    self.set(field_text(declarator, "name", self.source), value);
                }
            }
        }
        let given =
            self.constant.child_by_field_name("arguments").map(arguments).unwrap_or_default();
        let values = given.iter().map(|node| self.value(*node, &Frame::new(), 0)).collect();
        self.call_constructor(self.constant, values, 0)
    }

    fn call_constructor(
        &self,
        caller: Node<'t>,
        values: Vec<Result<Value, NotConstant>>,
        step: usize,
    ) -> Result<(), NotConstant> {
        let constructors = self.constructors();
        if constructors.is_empty() && values.is_empty() {
            return Ok(());
        }
        if step > MAX_STEPS {
            return Err(not_constant(caller, "its constructors call each other without end"));
        }
        let fitting: Vec<_> = constructors
            .into_iter()
            .filter(|constructor| fits(&parameters(*constructor), &values, self.source))
            .collect();
        let [constructor] = fitting[..] else {
            let which = if fitting.is_empty() {
                "no constructor takes"
            } else {
                "several constructors take"
            };
            return Err(not_constant(caller, &format!("{which} these arguments")));
        };
        let names = parameters(constructor)
            .into_iter()
            .map(|node| field_text(node, "name", self.source).to_owned());
        let frame: Frame = names.zip(values).collect();
        let body = constructor.child_by_field_name("body");
        for statement in body.into_iter().flat_map(children) {
            self.run(statement, &frame, step)?;
        }
        Ok(())
    }

    fn constructors(&self) -> Vec<Node<'t>> {
        let body = self.declaration.child_by_field_name("body");
        body.into_iter()
            .flat_map(members)
            .filter(|node| node.kind() == "constructor_declaration")
            .collect()
    }

    /// One statement of a constructor: an assignment sets a field, anything else makes the fields that it assigns unknown.
    fn run(&self, statement: Node<'t>, frame: &Frame, step: usize) -> Result<(), NotConstant> {
        if statement.kind() == "explicit_constructor_invocation" {
            let is_this = field_text(statement, "constructor", self.source) == "this";
            let given =
                statement.child_by_field_name("arguments").map(arguments).unwrap_or_default();
            let values = given.iter().map(|node| self.value(*node, frame, 0)).collect();
            return if is_this {
                self.call_constructor(statement, values, step + 1)
            } else {
                Ok(())
            };
        }
        let simple = (statement.kind() == "expression_statement")
            .then(|| children(statement).next())
            .flatten();
        for node in descendants(statement).filter(|node| node.kind() == "assignment_expression") {
            let (Some(left), Some(right)) =
                (node.child_by_field_name("left"), node.child_by_field_name("right"))
            else {
                continue;
            };
            let plain = Some(node) == simple
                && node.child_by_field_name("operator").is_some_and(|it| it.kind() == "=");
            let value = if plain {
                self.value(right, frame, 0)
            } else {
                Err(not_constant(node, "it is set conditionally"))
            };
            if let Some(field) = own_field(left, self.source) {
                self.set(&field, value);
            }
        }
        Ok(())
    }

    fn set(&self, field: &str, value: Result<Value, NotConstant>) {
        self.fields.borrow_mut().insert(field.to_owned(), value);
    }

    /// The value of an expression, where `frame` holds the parameters.
    fn value(
        &self,
        expression: Node<'_>,
        frame: &Frame,
        step: usize,
    ) -> Result<Value, NotConstant> {
        let known = |node: Node<'_>| self.known(node, frame, step);
        let site = Site { offset: expression.start_byte(), owner: Some(self.owner), locals: None };
        let calls = Some(java_calls::value as Calls);
        Evaluator { resolver: self.resolver, site, known: &known, calls, depth: 0 }
            .value(expression)
    }

    fn known(
        &self,
        node: Node<'_>,
        frame: &Frame,
        step: usize,
    ) -> Option<Result<Value, NotConstant>> {
        match node.kind() {
            "identifier" if frame.contains_key(text(node, self.source)) => {
                frame.get(text(node, self.source)).cloned()
            }
            "identifier" | "field_access" => {
                self.fields.borrow().get(&own_field(node, self.source)?).cloned()
            }
            "method_invocation" => {
                let method = field_text(node, "name", self.source);
                let own =
                    node.child_by_field_name("object").is_none_or(|object| object.kind() == "this");
                let no_arguments = node
                    .child_by_field_name("arguments")
                    .is_some_and(|list| arguments(list).is_empty());
                if !own || !no_arguments {
                    return None;
                }
                match method {
                    "name" => Some(Ok(Value::Text(self.name_text()))),
                    "ordinal" => Some(Ok(Value::Int(self.ordinal as i64))),
                    _ if step > MAX_STEPS => {
                        Some(Err(not_constant(node, "its getters call each other without end")))
                    }
                    _ => self.getter(method, step + 1),
                }
            }
            _ => None,
        }
    }

    fn name_text(&self) -> crate::call::Text {
        let mut text = crate::call::Text::default();
        self.name.chars().for_each(|char| text.push(char, self.constant.start_byte()));
        text
    }

    /// What the getter returns, of the constant's own body first; none without such a method.
    fn getter(&self, name: &str, step: usize) -> Option<Result<Value, NotConstant>> {
        let bodies = [self.constant, self.declaration].map(|node| node.child_by_field_name("body"));
        let method = bodies.into_iter().flatten().flat_map(members).find(|member| {
            member.kind() == "method_declaration"
                && field_text(*member, "name", self.source) == name
                && member
                    .child_by_field_name("parameters")
                    .is_some_and(|list| children(list).next().is_none())
        })?;
        let statements: Vec<_> =
            method.child_by_field_name("body").into_iter().flat_map(children).collect();
        let returned = match statements[..] {
            [only] if only.kind() == "return_statement" => children(only).next(),
            _ => None,
        };
        Some(match returned {
            Some(expression) => self.value(expression, &Frame::new(), step),
            None => Err(not_constant(
                method,
                &format!("`{name}()` is more than a `return` of one expression"),
            )),
        })
    }

    /// The value of the first of these getters that the enum has.
    fn flag(&self, getters: &[&str]) -> Result<bool, NotConstant> {
        for getter in getters {
            match self.getter(getter, 0) {
                None => {}
                Some(Ok(Value::Bool(value))) => return Ok(value),
                Some(Ok(_)) => {
                    return Err(not_constant(
                        self.constant,
                        &format!("`{getter}()` does not return a boolean"),
                    ));
                }
                Some(Err(error)) => return Err(self.reworded(getter, error)),
            }
        }
        Err(not_constant(self.constant, &format!("the enum has no `{}()`", getters[0])))
    }

    fn tag(&self) -> Result<String, NotConstant> {
        match self.getter("getTag", 0) {
            Some(Ok(Value::Text(text))) => Ok(text.as_str().to_owned()),
            Some(Ok(_)) => Err(not_constant(self.constant, "`getTag()` does not return a text")),
            Some(Err(error)) => Err(self.reworded("getTag", error)),
            None => Err(not_constant(self.constant, "the enum has no `getTag()`")),
        }
    }

    /// `error`, saying which getter asked.
    fn reworded(&self, getter: &str, error: NotConstant) -> NotConstant {
        let part = lexer::compact(&self.source[error.range.clone()]);
        let is_short = part.len() <= 60;
        let subject = if is_short && error.reason.starts_with("is ") {
            format!("`{part}` ")
        } else {
            String::new()
        };
        NotConstant {
            reason: format!("`{getter}()` needs what has no value here: {subject}{}", error.reason),
            ..error
        }
    }
}

/// The name in `name` or `this.name`.
fn own_field(node: Node<'_>, source: &[u8]) -> Option<String> {
    let node = unparenthesized(node);
    match node.kind() {
        "identifier" => dotted(node, source),
        "field_access" if node.child_by_field_name("object")?.kind() == "this" => {
            Some(field_text(node, "field", source).to_owned())
        }
        _ => None,
    }
}

fn parameters(constructor: Node<'_>) -> Vec<Node<'_>> {
    let list = constructor.child_by_field_name("parameters");
    list.into_iter().flat_map(children).filter(|node| node.kind() == "formal_parameter").collect()
}

/// Whether a constructor can be called with these values, as far as their types tell.
fn fits(parameters: &[Node<'_>], values: &[Result<Value, NotConstant>], source: &[u8]) -> bool {
    parameters.len() == values.len()
        && parameters.iter().zip(values).all(|(parameter, value)| {
            let declared = field_text(*parameter, "type", source);
            match value {
                Ok(Value::Bool(_)) => matches!(declared, "boolean" | "Boolean" | "Object"),
                Ok(Value::Text(_)) => {
                    !matches!(declared, "boolean" | "int" | "long" | "char" | "Boolean")
                }
                Ok(Value::Int(_)) => !matches!(declared, "boolean" | "String" | "Boolean"),
                Ok(Value::Char(_)) => !matches!(declared, "boolean" | "String" | "Boolean"),
                Ok(Value::Null) | Err(_) => true,
            }
        })
}
