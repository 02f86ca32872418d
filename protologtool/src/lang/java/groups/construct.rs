//! The construction of a group from source: constructors and initialisers, run statement by
//! statement.
//!
//! Assignments of known values, local variables, blocks, `if` with a known condition and `return`
//! are run. Fields that any other statement assigns, or may set by a call, are unknown from there
//! on; a getter that needs one has no value.
//!
//! Invariant: a field has a value here only if it has that value when the class is initialised.

use super::object::{Given, Object, Variables, parameters};
use super::settable::{fields_of, target};
use crate::lang::java::constant::arguments;
use crate::lang::java::syntax::{
    children, descendants, field_text, has_modifier, members, text, unparenthesized,
};
use crate::lang::java::value::{NotConstant, Number, Value, not_constant};
use tree_sitter::Node;

/// The limit on constructors that delegate to each other.
const MAX_STEPS: usize = 32;

/// The way on after a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flow {
    Next,
    Returned,
    /// It may have returned: nothing that is assigned later is known.
    Unsure,
}

/// The parameters and local variables of a body while it runs.
#[derive(Default)]
struct Frame {
    variables: Variables,
    unsure: bool,
}

impl<'t> Object<'_, 't, '_> {
    /// Runs the constructor that takes the given arguments, and the body of the constant.
    pub(super) fn construct(&self, given: Vec<Given>) -> Result<(), NotConstant> {
        for (name, field) in fields_of(self.declaration, self.source) {
            let value = default_of(field_text(field, "type", self.source), field);
            self.fields.borrow_mut().insert(name, value);
        }
        if self.declaration.child_by_field_name("superclass").is_some() {
            // Its constructor may call methods of this class, before all else.
            self.forget("the constructor of its superclass may set it");
        }
        self.call_constructor(self.made, given, 0)?;
        if let Some(body) = children(self.made).find(|child| child.kind() == "class_body") {
            self.own_body(body);
        }
        let changing: Vec<(String, NotConstant)> =
            self.settable.at_any_time().map(|(name, why)| (name.to_owned(), why.clone())).collect();
        for (name, why) in changing {
            self.fields.borrow_mut().insert(name, Err(why));
        }
        Ok(())
    }

    /// The fields and initialisers of the body of an enum's constant.
    fn own_body(&self, body: Node<'t>) {
        for member in members(body).filter(|it| it.kind() == "field_declaration") {
            for declarator in declarators(member) {
                let name = field_text(declarator, "name", self.source);
                // Which of two fields a method means depends on where it stands.
                let is_hidden = self.fields.borrow().contains_key(name);
                let why =
                    not_constant(declarator, "the body of the constant has a field of its name");
                let declared = field_text(member, "type", self.source);
                let value = if is_hidden { Err(why) } else { default_of(declared, member) };
                self.fields.borrow_mut().insert(name.to_owned(), value);
                if is_hidden {
                    self.hidden.borrow_mut().insert(name.to_owned());
                }
            }
        }
        self.initialise(body);
    }

    fn call_constructor(
        &self,
        caller: Node<'t>,
        values: Vec<Given>,
        step: usize,
    ) -> Result<(), NotConstant> {
        let constructors = self.constructors();
        if constructors.is_empty() && values.is_empty() {
            self.initialise_all();
            return Ok(());
        }
        if step > MAX_STEPS {
            return Err(not_constant(caller, "its constructors call each other without end"));
        }
        let fitting: Vec<_> = constructors
            .into_iter()
            .filter(|constructor| fits(*constructor, &values, self.source))
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
        let mut frame = Frame { variables: bound.collect(), unsure: false };
        let body = constructor.child_by_field_name("body");
        let mut statements: Vec<_> = body.into_iter().flat_map(children).collect();
        let is_call = |node: &Node<'_>| node.kind() == "explicit_constructor_invocation";
        match statements.first().filter(|node| is_call(node)).copied() {
            Some(first) if field_text(first, "constructor", self.source) == "this" => {
                let given =
                    first.child_by_field_name("arguments").map(arguments).unwrap_or_default();
                let values = given.iter().map(|it| self.value(*it, &frame.variables, 0)).collect();
                self.disturb(first);
                self.call_constructor(first, values, step + 1)?;
                statements.remove(0);
            }
            _ => self.initialise_all(),
        }
        self.run_all(&statements, &mut frame);
        Ok(())
    }

    fn constructors(&self) -> Vec<Node<'t>> {
        let body = self.declaration.child_by_field_name("body");
        body.into_iter()
            .flat_map(members)
            .filter(|node| node.kind() == "constructor_declaration")
            .collect()
    }

    fn initialise_all(&self) {
        if let Some(body) = self.declaration.child_by_field_name("body") {
            self.initialise(body);
        }
    }

    /// Runs the initialisers of fields and the blocks of a class, in source order.
    fn initialise(&self, body: Node<'t>) {
        for member in members(body) {
            match member.kind() {
                "field_declaration" if !has_modifier(member, "static") => {
                    for declarator in declarators(member) {
                        let name = field_text(declarator, "name", self.source);
                        let Some(value) = declarator.child_by_field_name("value") else { continue };
                        let frame = Frame::default();
                        let known = self.value(value, &frame.variables, 0);
                        self.effects(value, &mut Frame::default());
                        self.set_field(declarator, name, known);
                    }
                }
                "block" => {
                    let statements: Vec<_> = children(member).collect();
                    self.run_all(&statements, &mut Frame::default());
                }
                _ => {}
            }
        }
    }

    /// Runs statements one after the other; local variables of theirs are known no longer.
    fn run_all(&self, statements: &[Node<'t>], frame: &mut Frame) -> Flow {
        let outer: Vec<String> = frame.variables.keys().cloned().collect();
        let mut flow = Flow::Next;
        for statement in statements {
            match self.run(*statement, frame) {
                Flow::Next => {}
                Flow::Returned => {
                    flow = if flow == Flow::Unsure { flow } else { Flow::Returned };
                    break;
                }
                Flow::Unsure => {
                    (flow, frame.unsure) = (Flow::Unsure, true);
                }
            }
        }
        frame.variables.retain(|name, _| outer.contains(name));
        flow
    }

    fn run(&self, statement: Node<'t>, frame: &mut Frame) -> Flow {
        match statement.kind() {
            "expression_statement" => {
                if let Some(expression) = children(statement).next() {
                    self.run_expression(expression, frame);
                }
                Flow::Next
            }
            "local_variable_declaration" => {
                let declared = field_text(statement, "type", self.source);
                for declarator in declarators(statement) {
                    let name = field_text(declarator, "name", self.source).to_owned();
                    let value = match declarator.child_by_field_name("value") {
                        Some(value) => {
                            let known = self.value(value, &frame.variables, 0);
                            self.effects(value, frame);
                            known.and_then(|it| it.declared(declared, value))
                        }
                        None => Err(not_constant(declarator, "it has no value")),
                    };
                    frame.variables.insert(name, value);
                }
                Flow::Next
            }
            "block" => {
                let statements: Vec<_> = children(statement).collect();
                self.run_all(&statements, frame)
            }
            "if_statement" => self.run_if(statement, frame),
            "return_statement" => Flow::Returned,
            ";" | "empty_statement" | "explicit_constructor_invocation" => {
                self.disturb(statement);
                Flow::Next
            }
            _ => {
                self.effects(statement, frame);
                let ends = |node: &Node<'_>| {
                    matches!(
                        node.kind(),
                        "return_statement" | "throw_statement" | "yield_statement"
                    )
                };
                if descendants(statement).any(|node| ends(&node)) {
                    Flow::Unsure
                } else {
                    Flow::Next
                }
            }
        }
    }

    fn run_if(&self, statement: Node<'t>, frame: &mut Frame) -> Flow {
        let condition = statement.child_by_field_name("condition");
        let known = condition.map(|it| self.value(it, &frame.variables, 0));
        if let Some(condition) = condition {
            self.effects(condition, frame);
        }
        let branch = match known {
            Some(Ok(Value::Bool(true))) => statement.child_by_field_name("consequence"),
            Some(Ok(Value::Bool(false))) => statement.child_by_field_name("alternative"),
            _ => {
                self.effects(statement, frame);
                let returns = descendants(statement)
                    .any(|it| matches!(it.kind(), "return_statement" | "throw_statement"));
                return if returns { Flow::Unsure } else { Flow::Next };
            }
        };
        branch.map_or(Flow::Next, |branch| self.run_all(&[branch], frame))
    }

    /// Runs an assignment; fields that any other expression may change become unknown.
    fn run_expression(&self, expression: Node<'t>, frame: &mut Frame) {
        let expression = unparenthesized(expression);
        let is_plain = expression.kind() == "assignment_expression"
            && expression.child_by_field_name("operator").is_some_and(|it| it.kind() == "=");
        let sides =
            (expression.child_by_field_name("left"), expression.child_by_field_name("right"));
        let (true, (Some(left), Some(right))) = (is_plain, sides) else {
            return self.effects(expression, frame);
        };
        let value = if frame.unsure {
            Err(not_constant(expression, "it is set where the constructor may have returned"))
        } else {
            self.value(right, &frame.variables, 0)
        };
        self.effects(right, frame);
        self.effects(left, frame);
        self.assign(unparenthesized(left), value, frame);
    }

    /// Makes unknown the fields that parts of a statement or expression assign, or calls may set.
    fn effects(&self, code: Node<'t>, frame: &mut Frame) {
        for node in descendants(code) {
            if let Some(left) = target(node) {
                let why = not_constant(node, "it is not set by a statement of its own");
                self.assign(left, Err(why), frame);
            }
        }
        self.disturb(code);
    }

    /// Makes unknown the fields that calls within `code` may set.
    fn disturb(&self, code: Node<'t>) {
        for (name, why) in self.settable.by_call(self.resolver, self.declaration, code) {
            self.fields.borrow_mut().insert(name.to_owned(), Err(why));
        }
    }

    /// Makes unknown the fields that any code may set.
    fn forget(&self, reason: &str) {
        for name in self.settable.by_any_call() {
            let why = not_constant(self.made, reason);
            self.fields.borrow_mut().insert(name.to_owned(), Err(why));
        }
    }

    /// Gives a local variable, a parameter or a field a value.
    fn assign(&self, left: Node<'t>, value: Given, frame: &mut Frame) {
        match left.kind() {
            "identifier" => {
                let name = text(left, self.source);
                match frame.variables.get_mut(name) {
                    // Its type is not asked for again: a value of another would not compile, but
                    // for numbers.
                    Some(known) => {
                        let is_number = matches!(value, Ok(Value::Number(_) | Value::Char(_)));
                        let unsure = || not_constant(left, "it is assigned again");
                        *known = if is_number { Err(unsure()) } else { value };
                    }
                    None => self.set_field(left, name, value),
                }
            }
            "field_access"
                if left.child_by_field_name("object").is_some_and(|it| it.kind() == "this") =>
            {
                self.set_field(left, field_text(left, "field", self.source), value);
            }
            // Of other objects and of arrays, `SettableFields` knows.
            _ => {}
        }
    }

    fn set_field(&self, node: Node<'_>, field: &str, value: Given) {
        if !self.fields.borrow().contains_key(field) || self.hidden.borrow().contains(field) {
            return;
        }
        let declared = fields_of(self.declaration, self.source).get(field).copied();
        let of = declared.map_or("", |it| field_text(it, "type", self.source));
        let value = value.and_then(|value| value.declared(of, node));
        self.fields.borrow_mut().insert(field.to_owned(), value);
    }
}

fn declarators(declaration: Node<'_>) -> impl Iterator<Item = Node<'_>> {
    children(declaration).filter(|node| node.kind() == "variable_declarator")
}

/// The value of a field before anything is assigned.
fn default_of(declared: &str, field: Node<'_>) -> Given {
    match declared {
        "boolean" => Ok(Value::Bool(false)),
        "int" | "short" | "byte" => Ok(Value::Number(Number::Int(0))),
        "long" => Ok(Value::Number(Number::Long(0))),
        "char" | "float" | "double" => Err(not_constant(field, "it is not set")),
        _ => Ok(Value::Null),
    }
}

/// Returns whether a constructor can be called with these values, as far as their types tell. One
/// of variable arity may take any.
fn fits(constructor: Node<'_>, values: &[Given], source: &[u8]) -> bool {
    let list = constructor.child_by_field_name("parameters");
    if list.into_iter().flat_map(children).any(|node| node.kind() == "spread_parameter") {
        return true;
    }
    let parameters = parameters(constructor);
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
