//! A group while it is evaluated from source: the object that a constant of an enum, or a `new …`, makes.
//!
//! The constructor that fits its arguments is followed, `this(…)` and initialised fields included; then the getters are
//! evaluated over the fields. Only what a getter asks for is evaluated, so a constructor may do other things too. What can't
//! be evaluated is a problem that names it; but `getId()` need not be known, since the ids of a dictionary can be counted.

use super::{Group, java_calls};
use crate::call::Text;
use crate::diagnostic::{Code, Diagnostic};
use crate::lang::java::constant::{Calls, Evaluator, arguments};
use crate::lang::java::lexer;
use crate::lang::java::locals::field_of;
use crate::lang::java::meaning::Site;
use crate::lang::java::outline::TypeId;
use crate::lang::java::resolve::Resolver;
use crate::lang::java::syntax::{
    children, descendants, dotted, field_text, has_modifier, members, text, unparenthesized,
};
use crate::lang::java::value::{NotConstant, Number, Value, not_constant};
use std::cell::RefCell;
use std::collections::BTreeMap;
use tree_sitter::Node;

/// The limit on constructors that delegate to each other, and on getters that call each other.
const MAX_STEPS: usize = 32;
/// AOSP's interface has the first, ours the second.
const TEXT_METHODS: [&str; 2] = ["isLogToLogcat", "isLogToText"];

/// Values of arguments, parameters or fields: what they are, or why that is not known.
pub(super) type Given = Result<Value, NotConstant>;
type Variables = BTreeMap<String, Given>;

/// One group while it is evaluated. Fields hold what the constructor gave them.
pub(super) struct Object<'e, 't, 's> {
    source: &'s [u8],
    resolver: &'e Resolver<'s>,
    /// Its class, whose names are known everywhere.
    owner: TypeId,
    declaration: Node<'t>,
    /// The expression that makes it: a constant of an enum, or `new …`.
    made: Node<'t>,
    /// The name and position of a constant of an enum.
    constant: Option<(&'s str, usize)>,
    fields: RefCell<Variables>,
}

impl<'e, 't, 's> Object<'e, 't, 's> {
    /// The object that `made` makes by a constructor of the class `declaration`.
    pub(super) fn new(
        resolver: &'e Resolver<'s>,
        (owner, declaration): (TypeId, Node<'t>),
        made: Node<'t>,
        constant: Option<(&'s str, usize)>,
        source: &'s [u8],
    ) -> Self {
        let fields = RefCell::default();
        Self { source, resolver, owner, declaration, made, constant, fields }
    }

    /// Returns whether the class has the getters of a group.
    pub(super) fn is_group(&self) -> bool {
        let has = |name| self.method(name).is_some();
        let has_flags = has("isEnabled") && TEXT_METHODS.into_iter().any(has);
        has("getTag") && (has_flags || self.has_defaults())
    }

    /// The group, which calls write as `name`, of the class with this canonical name; and, where that has `getId()`, why
    /// what it returns is not known. `given` are the arguments of the constructor.
    pub(super) fn group(
        &self,
        class: &str,
        name: &str,
        given: Vec<Given>,
    ) -> Result<(Group, Option<Diagnostic>), Diagnostic> {
        let problem = |error| problem(name, error);
        self.construct(given).map_err(problem)?;
        let own_name = match self.constant {
            Some((name, _)) => name.to_owned(),
            None => self
                .text("name")
                .or_else(|error| self.text("getName").map_err(|_| error))
                .map_err(problem)?,
        };
        let enabled = self.flag(&["isEnabled"], true).map_err(problem)?;
        let text = self.flag(&TEXT_METHODS, false).map_err(problem)?;
        let tag = self.text("getTag").map_err(problem)?;
        let group = Group::new(class, &own_name, enabled, text, tag).written(name);
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

    /// The result of `getId()`, if there is one.
    fn id(&self) -> Option<Result<i32, NotConstant>> {
        let value = self.getter("getId", 0)?.map_err(|error| self.reworded("getId", error));
        Some(value.and_then(|value| match value {
            Value::Number(Number::Int(id)) => Ok(id),
            _ => Err(not_constant(self.made, "`getId()` does not return an int")),
        }))
    }

    /// Follows the constructor that takes what is given.
    fn construct(&self, given: Vec<Given>) -> Result<(), NotConstant> {
        let body = self.declaration.child_by_field_name("body");
        let declared =
            body.into_iter().flat_map(members).filter(|node| node.kind() == "field_declaration");
        for field in declared.filter(|field| !has_modifier(*field, "static")) {
            for declarator in children(field).filter(|node| node.kind() == "variable_declarator") {
                if let Some(value) = declarator.child_by_field_name("value") {
                    let value = self.value(value, &Variables::new(), 0);
                    self.set(declarator, field_text(declarator, "name", self.source), value);
                }
            }
        }
        self.call_constructor(self.made, given, 0)
    }

    fn call_constructor(
        &self,
        caller: Node<'t>,
        values: Vec<Given>,
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
        let bound = parameters(constructor).into_iter().zip(values).map(|(parameter, value)| {
            let part = |field| field_text(parameter, field, self.source);
            (part("name").to_owned(), value.and_then(|it| it.declared(part("type"), parameter)))
        });
        let frame: Variables = bound.collect();
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
    fn run(&self, statement: Node<'t>, frame: &Variables, step: usize) -> Result<(), NotConstant> {
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
                self.set(left, &field, value);
            }
        }
        Ok(())
    }

    /// Sets a field, at `node`.
    fn set(&self, node: Node<'_>, field: &str, value: Given) {
        let declared = field_of(self.declaration, field, self.source);
        let of = declared.map_or("", |it| field_text(it.parent, "type", self.source));
        let value = value.and_then(|value| value.declared(of, node));
        self.fields.borrow_mut().insert(field.to_owned(), value);
    }

    /// The value of an expression, where `frame` holds the parameters.
    fn value(
        &self,
        expression: Node<'_>,
        frame: &Variables,
        step: usize,
    ) -> Result<Value, NotConstant> {
        let known = |node: Node<'_>| self.known(node, frame, step);
        let site = Site { offset: expression.start_byte(), owner: Some(self.owner), locals: None };
        let calls = Some(java_calls::value as Calls);
        Evaluator { resolver: self.resolver, site, known: &known, calls, depth: 0 }
            .value(expression)
    }

    fn known(&self, node: Node<'_>, frame: &Variables, step: usize) -> Option<Given> {
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
                match (method, self.constant) {
                    ("name", Some((name, _))) => Some(Ok(Value::Text(self.as_text(name)))),
                    ("ordinal", Some((_, ordinal))) => {
                        Some(Ok(Value::Number(Number::Int(ordinal as i32))))
                    }
                    _ if step > MAX_STEPS => {
                        Some(Err(not_constant(node, "its getters call each other without end")))
                    }
                    _ => self.getter(method, step + 1),
                }
            }
            _ => None,
        }
    }

    fn as_text(&self, name: &str) -> Text {
        let mut text = Text::default();
        name.chars().for_each(|char| text.push(char, self.made.start_byte()));
        text
    }

    /// The method without parameters of this name, of the object's own body first.
    fn method(&self, name: &str) -> Option<Node<'t>> {
        let own = children(self.made).find(|child| child.kind() == "class_body");
        let bodies = [own, self.declaration.child_by_field_name("body")];
        bodies.into_iter().flatten().flat_map(members).find(|member| {
            member.kind() == "method_declaration"
                && field_text(*member, "name", self.source) == name
                && member
                    .child_by_field_name("parameters")
                    .is_some_and(|list| children(list).next().is_none())
        })
    }

    /// The result of the getter; none without such a method.
    fn getter(&self, name: &str, step: usize) -> Option<Given> {
        let method = self.method(name)?;
        let statements: Vec<_> =
            method.child_by_field_name("body").into_iter().flat_map(children).collect();
        let returned = match statements[..] {
            [only] if only.kind() == "return_statement" => children(only).next(),
            _ => None,
        };
        Some(match returned {
            Some(expression) => self
                .value(expression, &Variables::new(), step)
                .and_then(|it| it.declared(field_text(method, "type", self.source), expression)),
            None => Err(not_constant(
                method,
                &format!("`{name}()` is more than a `return` of one expression"),
            )),
        })
    }

    /// The value of the first of these getters that the class has, or what the runtime's interface returns.
    fn flag(&self, getters: &[&str], default: bool) -> Result<bool, NotConstant> {
        for getter in getters {
            match self.getter(getter, 0) {
                None => {}
                Some(Ok(Value::Bool(value))) => return Ok(value),
                Some(Ok(_)) => {
                    return Err(not_constant(
                        self.made,
                        &format!("`{getter}()` does not return a boolean"),
                    ));
                }
                Some(Err(error)) => return Err(self.reworded(getter, error)),
            }
        }
        if self.has_defaults() {
            return Ok(default);
        }
        Err(not_constant(self.made, &format!("the class has no `{}()`", getters[0])))
    }

    /// Returns whether the class has an interface whose methods may have defaults: those of the runtime have, Android's have none, so
    /// that a class without them would not compile.
    fn has_defaults(&self) -> bool {
        let interfaces = self.declaration.child_by_field_name("interfaces");
        interfaces.is_some_and(|list| {
            let words = text(list, self.source).split(|char: char| !char.is_alphanumeric());
            words.into_iter().any(|word| word == "IProtoLogGroup")
        })
    }

    fn text(&self, getter: &str) -> Result<String, NotConstant> {
        match self.getter(getter, 0) {
            Some(Ok(Value::Text(text))) => Ok(text.as_str().to_owned()),
            Some(Ok(_)) => {
                Err(not_constant(self.made, &format!("`{getter}()` does not return a text")))
            }
            Some(Err(error)) => Err(self.reworded(getter, error)),
            None => Err(not_constant(self.made, &format!("the class has no `{getter}()`"))),
        }
    }

    /// `error`, saying which getter asked.
    fn reworded(&self, getter: &str, error: NotConstant) -> NotConstant {
        let reason = with_subject(&error, self.source);
        NotConstant {
            reason: format!("`{getter}()` needs what has no value here: {reason}"),
            ..error
        }
    }
}

/// Why an expression has no value, beginning with that expression where it is short.
pub(super) fn with_subject(error: &NotConstant, source: &[u8]) -> String {
    let part = lexer::compact(&source[error.range.clone()]);
    if part.len() <= 60 && error.reason.starts_with("is ") {
        format!("`{part}` {}", error.reason)
    } else {
        error.reason.clone()
    }
}

/// That the group `name` can't be evaluated.
pub(super) fn problem(name: &str, error: NotConstant) -> Diagnostic {
    let message = format!("can't evaluate the group `{name}`: {}", error.reason);
    Diagnostic::error(Code::Groups, error.range, message)
        .help("use literals, constants of this file, and fields that the constructor sets")
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

/// Returns whether a constructor can be called with these values, as far as their types tell.
fn fits(parameters: &[Node<'_>], values: &[Given], source: &[u8]) -> bool {
    parameters.len() == values.len()
        && parameters.iter().zip(values).all(|(parameter, value)| {
            let declared = field_text(*parameter, "type", source);
            match value {
                Ok(Value::Bool(_)) => matches!(declared, "boolean" | "Boolean" | "Object"),
                Ok(Value::Text(_)) => {
                    !matches!(declared, "boolean" | "int" | "long" | "char" | "Boolean")
                }
                Ok(Value::Number(Number::Long(_))) => {
                    !matches!(declared, "boolean" | "String" | "Boolean" | "int")
                }
                Ok(Value::Number(_)) => !matches!(declared, "boolean" | "String" | "Boolean"),
                Ok(Value::Char(_)) => !matches!(declared, "boolean" | "String" | "Boolean"),
                Ok(Value::Null) | Err(_) => true,
            }
        })
}
