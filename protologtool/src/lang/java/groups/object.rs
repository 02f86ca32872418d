//! A group while it is evaluated from source: the object that a constant of an enum, or a `new …`,
//! makes.
//!
//! The constructor that fits its arguments is run ([`construct`](super::construct)); then the
//! getters are evaluated over the fields. Only values that a getter asks for must be known, so a
//! constructor may do other things too. Code that is not understood makes the fields that it may
//! set unknown. If an unknown field is asked for, the problem names its place. Only `getId()` need
//! not be known, since the ids of a dictionary can be counted.

use super::calls;
use super::settable::SettableFields;
use crate::call::Text;
use crate::diagnostic::{Code, Diagnostic};
use crate::groups::Group;
use crate::lang::java::constant::{Calls, Evaluator, arguments};
use crate::lang::java::lexer;
use crate::lang::java::meaning::Site;
use crate::lang::java::outline::TypeId;
use crate::lang::java::resolve::Resolver;
use crate::lang::java::syntax::{children, dotted, field_text, members, text, unparenthesized};
use crate::lang::java::value::{NotConstant, Number, Value, not_constant};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use tree_sitter::Node;

/// The limit on getters that call each other.
const MAX_STEPS: usize = 32;
/// AOSP's interface has the first, ours the second.
const TEXT_METHODS: [&str; 2] = ["isLogToLogcat", "isLogToText"];

/// Values of arguments, parameters or fields, or why they are not known.
pub(super) type Given = Result<Value, NotConstant>;
pub(super) type Variables = BTreeMap<String, Given>;

/// One group while it is evaluated. Fields hold the values from the constructor.
pub(super) struct Object<'e, 't, 's> {
    pub(super) source: &'s [u8],
    pub(super) resolver: &'e Resolver<'s>,
    /// Its class, whose names are known everywhere.
    owner: TypeId,
    pub(super) declaration: Node<'t>,
    /// The expression that makes it: a constant of an enum, or `new …`.
    pub(super) made: Node<'t>,
    /// The name and position of a constant of an enum.
    constant: Option<(&'s str, usize)>,
    pub(super) fields: RefCell<Variables>,
    /// The fields that the body of the constant hides.
    pub(super) hidden: RefCell<BTreeSet<String>>,
    /// The fields that something else may set.
    pub(super) settable: Rc<SettableFields>,
}

impl<'e, 't, 's> Object<'e, 't, 's> {
    /// The object that `made` makes by a constructor of the class `declaration`.
    pub(super) fn new(
        resolver: &'e Resolver<'s>,
        (owner, declaration): (TypeId, Node<'t>),
        made: Node<'t>,
        constant: Option<(&'s str, usize)>,
        settable: Rc<SettableFields>,
        source: &'s [u8],
    ) -> Self {
        let (fields, hidden) = (RefCell::default(), RefCell::default());
        Self { source, resolver, owner, declaration, made, constant, fields, hidden, settable }
    }

    /// Returns whether the class has the getters of a group.
    pub(super) fn is_group(&self) -> bool {
        let has = |name| self.method(name).is_some();
        let has_flags = has("isEnabled") && TEXT_METHODS.into_iter().any(has);
        has("getTag") && (has_flags || self.has_defaults())
    }

    /// The group, which calls write as `name`, of the class with this canonical name; and, where
    /// that has `getId()`, why its value is not known. `given` are the arguments of the
    /// constructor.
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

    /// The value of an expression, where `frame` holds the parameters.
    pub(super) fn value(
        &self,
        expression: Node<'_>,
        frame: &Variables,
        step: usize,
    ) -> Result<Value, NotConstant> {
        let known = |node: Node<'_>| self.known(node, frame, step);
        let site = Site { offset: expression.start_byte(), owner: Some(self.owner), locals: None };
        let calls = Some(calls::value as Calls);
        Evaluator { resolver: self.resolver, site, known: &known, calls, needed: None }
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

    /// The value of the first of these getters that the class has, or the value of the runtime's
    /// interface.
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

    /// Returns whether the class has the interface of the runtime, whose methods have defaults, and
    /// no other that may have some: those of Android have none, so that a class without its methods
    /// would not compile.
    fn has_defaults(&self) -> bool {
        let list = self.declaration.child_by_field_name("interfaces");
        let types = list.into_iter().flat_map(children).flat_map(children);
        let named: Vec<String> = types.filter_map(|of| dotted(of, self.source)).collect();
        let [only] = &named[..] else { return false };
        let site =
            Site { offset: self.declaration.start_byte(), owner: Some(self.owner), locals: None };
        only.rsplit('.').next() == Some("IProtoLogGroup")
            && self.declaration.child_by_field_name("superclass").is_none()
            && self.resolver.type_named(only, site).is_none()
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

pub(super) fn parameters(constructor: Node<'_>) -> Vec<Node<'_>> {
    let list = constructor.child_by_field_name("parameters");
    list.into_iter().flat_map(children).filter(|node| node.kind() == "formal_parameter").collect()
}
