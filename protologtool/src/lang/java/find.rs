//! Finds the log calls of a file: whose class, which level, which group, which template, which arguments, and where; and
//! the calls of the class's other methods.

use super::broken::Broken;
use super::constant::{Evaluator, NotConstant, Value, arguments, nothing_known};
use super::context::context;
use super::names::Names;
use super::scope::{Declaration, FrameId, Invocation, Scopes};
use super::syntax::{dotted, field_text, is_type_declaration, unparenthesized};
use super::{Java, Shape, syntax};
use crate::call::{Call, Text, check};
use crate::diagnostic::{Code, Diagnostic};
use crate::groups::Groups;
use crate::lang::{Found, Other};
use crate::source::Source;
use protolog_core::Level;
use std::ops::Range;
use tree_sitter::Node;

pub(super) fn find(java: &Java, source: &Source, groups: &Groups) -> Found<Shape> {
    let mut found = Found { calls: Vec::new(), others: Vec::new(), diagnostics: Vec::new() };
    let Some(tree) = syntax::parse(source.bytes()) else { return found };
    let root = tree.root_node();
    let names = Names::of(root, source);
    let mut scopes = Scopes::of(root, source, &|class, method| match class {
        Some(class) => class == java.simple_name(),
        None => names.import_member(method, &java.protolog),
    });
    let invocations = scopes.take_invocations();
    let finder = Finder { java, source, groups, names, scopes };
    let mut broken = Broken::new(root, source);
    for call in invocations.iter().filter(|call| finder.is_of_class(call)) {
        let Some(level) = call.level else {
            found.others.extend(finder.other(call));
            continue;
        };
        if broken.holds(call) {
            continue;
        }
        match finder.call(call, level) {
            Ok(call) => found.calls.push(call),
            Err(mut diagnostics) => found.diagnostics.append(&mut diagnostics),
        }
    }
    found.diagnostics.extend(broken.diagnostics(|class, name| finder.may_be_call(class, name)));
    found.diagnostics.sort_by_key(|diagnostic| diagnostic.range.start);
    found
}

struct Finder<'a, 't> {
    java: &'a Java,
    source: &'a Source,
    groups: &'a Groups,
    names: Names,
    scopes: Scopes<'t, 'a>,
}

impl<'t> Finder<'_, 't> {
    /// Whether the method is one of the class.
    fn is_of_class(&self, call: &Invocation<'t>) -> bool {
        let class = &self.java.protolog;
        match call.node.child_by_field_name("object") {
            Some(object) => dotted(object, self.source)
                .is_some_and(|written| self.is_class(&written, class, call)),
            None => {
                let method = field_text(call.node, "name", self.source);
                self.names.import_member(method, class)
                    && !self.scopes.hides_method(call.frame, method)
            }
        }
    }

    /// Whether the name `written` means `class` at a call, hiding declarations considered.
    fn is_class(&self, written: &str, class: &str, call: &Invocation<'t>) -> bool {
        let first = written.split('.').next().unwrap_or(written);
        if self.variable(call, first).is_some() {
            return false;
        }
        match self.scopes.declared_type(call.frame, call.node.start_byte(), first) {
            Some(declared) => {
                let name = self.canonical(declared);
                name.is_some_and(|name| class.strip_prefix(&name) == Some(&written[first.len()..]))
            }
            None => self.names.can_mean(written, class, &self.enclosing(call.frame)),
        }
    }

    /// What `name` means as a variable at a call.
    fn variable(&self, call: &Invocation<'t>, name: &str) -> Option<Declaration<'t>> {
        self.scopes.variable(call.frame, call.node.start_byte(), name)
    }

    /// The canonical names of the types around a frame, innermost first.
    fn enclosing(&self, frame: FrameId) -> Vec<String> {
        let mut simple: Vec<&str> = self
            .scopes
            .enclosing_types(frame)
            .map(|node| field_text(node, "name", self.source))
            .collect();
        simple.reverse();
        (1..=simple.len())
            .rev()
            .map(|count| self.names.canonical(simple[..count].iter().copied()))
            .collect()
    }

    /// The canonical name of a type that the file declares; none for a type parameter and for local types.
    fn canonical(&self, declared: Declaration<'t>) -> Option<String> {
        if !is_type_declaration(declared.node) || !self.scopes.is_between_members(declared.frame) {
            return None;
        }
        let name = field_text(declared.node, "name", self.source);
        Some(match self.enclosing(declared.frame).first() {
            Some(outer) => format!("{outer}.{name}"),
            None => self.names.canonical([name]),
        })
    }

    /// Whether a method's name and what stands before it look like a log call, in a part of the file that has no tree.
    fn may_be_call(&self, before: Option<&str>, method: &str) -> bool {
        Level::from_method(method).is_some()
            && match before {
                Some(class) => class == self.java.simple_name(),
                None => self.names.import_member(method, &self.java.protolog),
            }
    }

    /// A call of another method, where the name of the class that rewritten code calls means that class.
    fn other(&self, call: &Invocation<'t>) -> Option<Other> {
        self.hidden_name(call).is_none().then_some(())?;
        let method = call.node.child_by_field_name("name")?.byte_range();
        let list = call.node.child_by_field_name("arguments");
        let arguments = list.map(arguments).unwrap_or_default().len();
        Some(Other { class: class_range(call.node), method, arguments })
    }

    fn call(&self, call: &Invocation<'t>, level: Level) -> Result<Call<Shape>, Vec<Diagnostic>> {
        let node = call.node;
        let list = node.child_by_field_name("arguments");
        let arguments = list.map(arguments).unwrap_or_default();
        let [group, template, rest @ ..] = &arguments[..] else {
            let message = format!(
                "a log call takes a group and a template, `{}` has {}",
                level.method(),
                arguments.len()
            );
            let help = "write `(GROUP, \"text with %s\", argument)`";
            return Err(vec![
                Diagnostic::error(Code::ArgumentCount, node.byte_range(), message).help(help),
            ]);
        };
        let mut problems = Vec::new();
        let group_position = keep(self.group(*group, call), &mut problems);
        let text = keep(self.template(*template, call), &mut problems);
        let place = keep(self.place(call), &mut problems);
        keep(no_array(rest), &mut problems);
        let args: Vec<_> = rest.iter().map(Node::byte_range).collect();
        if let Some(text) = &text {
            keep(check(text, &template.byte_range(), &args), &mut problems);
        }
        match (group_position, text, place) {
            (Some(group_position), Some(text), Some((context, wrapped))) if problems.is_empty() => {
                let (class, group) = (class_range(node), group.byte_range());
                Ok(Call {
                    range: wrapped.byte_range(),
                    level,
                    group: group_position,
                    template: text,
                    template_range: template.byte_range(),
                    args,
                    shape: Shape { context, class, group, local: String::new() },
                })
            }
            _ => Err(problems),
        }
    }

    fn group(&self, argument: Node<'t>, call: &Invocation<'t>) -> Result<usize, Diagnostic> {
        let node = unparenthesized(argument);
        let class = self.groups.class();
        let error = |message: String, help: String| {
            Err(Diagnostic::error(Code::UnknownGroup, node.byte_range(), message).help(help))
        };
        let Some(written) = dotted(node, self.source) else {
            return error(
                format!("the group is not a constant of `{class}`"),
                "name the constant: the group must be known when the tool runs".to_owned(),
            );
        };
        let (qualifier, name) = match written.rsplit_once('.') {
            Some((qualifier, name)) => (Some(qualifier), name),
            None => (None, &written[..]),
        };
        let variable = self.variable(call, name);
        let is_member = match (qualifier, variable) {
            (Some(qualifier), _) => self.is_class(qualifier, class, call),
            // Within the enum itself its constants are in scope: that is what the variable is then.
            (None, Some(declared)) => {
                declared.node.kind() == "enum_constant"
                    && self.enclosing(declared.frame).first() == Some(&class.to_owned())
            }
            (None, None) => self.names.import_member(name, class),
        };
        let simple_class = class.rsplit('.').next().unwrap_or(class);
        match (is_member, self.groups.position(name), qualifier) {
            (true, Some(position), _) => Ok(position),
            (true, None, _) => {
                error(format!("`{class}` has no group `{name}`"), self.suggestion(name))
            }
            (false, _, None) if variable.is_some() => error(
                format!("`{name}` is a variable here, not a group of `{class}`"),
                format!("name a constant of `{class}`: the group must be known when the tool runs"),
            ),
            (false, Some(_), None) => error(
                format!("the group `{name}` is not imported"),
                format!("add `import static {class}.{name};`, or write `{class}.{name}`"),
            ),
            (false, _, Some(qualifier)) if qualifier == simple_class => error(
                format!(
                    "`{qualifier}` is not `{class}` here: it is not imported, or hidden by another declaration"
                ),
                format!("add `import {class};`, or write `{class}.{name}`"),
            ),
            (false, _, Some(_)) => error(
                format!("`{written}` is no group of `{class}`"),
                format!("name a constant of `{class}`, or set another `--loggroups-class`"),
            ),
            (false, None, None) => {
                error(format!("`{class}` has no group `{name}`"), self.suggestion(name))
            }
        }
    }

    /// The help for a group name that does not exist.
    fn suggestion(&self, name: &str) -> String {
        let names = || self.groups.list().iter().map(|group| group.name.as_str());
        let near = names().map(|known| (distance(name, known), known)).min();
        match near {
            Some((distance, known)) if distance <= known.len().div_ceil(3) => {
                format!("use `{known}`")
            }
            _ if self.groups.list().len() > 8 => format!("add it to `{}`", self.groups.class()),
            _ => {
                let list: Vec<String> = names().map(|name| format!("`{name}`")).collect();
                format!("use one of {}", list.join(", "))
            }
        }
    }

    fn template(&self, argument: Node<'t>, call: &Invocation<'t>) -> Result<Text, Diagnostic> {
        let error = |range, message: String| {
            Err(Diagnostic::error(Code::NonConstantTemplate, range, message)
                .help("write the text as a literal, or name a `static final String` of this file, and pass what varies as arguments"))
        };
        let evaluator =
            Evaluator { source: self.source, scopes: &self.scopes, known: &nothing_known };
        match evaluator.value(argument, call.frame) {
            Ok(Value::Text(text)) => Ok(text),
            Ok(_) => error(argument.byte_range(), "the template is not a text".to_owned()),
            Err(NotConstant { range, reason }) => {
                let part = super::lexer::compact(self.source.slice(range.clone()));
                error(
                    range,
                    format!("the template is not a constant: `{}` {reason}", shortened(&part)),
                )
            }
        }
    }

    /// A variable that hides the first part of a name which rewritten code uses at a call, and that name.
    fn hidden_name(&self, call: &Invocation<'t>) -> Option<(&str, &str)> {
        let names = [self.java.implementation.as_str(), self.java.level.as_str()];
        names.into_iter().find_map(|name| {
            let (first, _) = name.split_once('.')?;
            self.variable(call, first).map(|_| (first, name))
        })
    }

    fn place(&self, call: &Invocation<'t>) -> Result<(super::Context, Node<'t>), Diagnostic> {
        let node = call.node;
        if let Some((first, name)) = self.hidden_name(call) {
            let message = format!(
                "the variable `{first}` hides the package of `{name}`, which rewritten code names"
            );
            return Err(Diagnostic::error(Code::HiddenName, node.byte_range(), message)
                .help("rename the variable"));
        }
        context(call).map_err(|place| {
            let message =
                format!("a log call {place} can't be rewritten: it becomes an `if` statement");
            Diagnostic::error(Code::NoStatement, node.byte_range(), message)
                .help("make the call a statement of its own")
        })
    }
}

/// The class's name before the method's; empty, right before the method's name, for a static import.
fn class_range(invocation: Node<'_>) -> Range<usize> {
    let name = invocation.child_by_field_name("name").unwrap_or(invocation).start_byte();
    invocation.child_by_field_name("object").map_or(name..name, |object| object.byte_range())
}

/// One array in the place of all arguments would be one argument to the tool and several to an unprocessed call.
fn no_array(args: &[Node<'_>]) -> Result<(), Diagnostic> {
    let [arg] = args else { return Ok(()) };
    let node = unparenthesized(*arg);
    let is_array = match node.kind() {
        "cast_expression" => node
            .child_by_field_name("type")
            .is_some_and(|to| to.kind() == "array_type" && !is_primitive_array(to)),
        "array_creation_expression" => node.child_by_field_name("type").is_some_and(|of| {
            !matches!(of.kind(), "integral_type" | "floating_point_type" | "boolean_type")
        }),
        _ => false,
    };
    if !is_array {
        return Ok(());
    }
    let message = "an array in the place of the arguments".to_owned();
    Err(Diagnostic::error(Code::ArrayArguments, arg.byte_range(), message)
        .help("pass the elements one by one, or cast the array to `Object` to log it as one"))
}

fn is_primitive_array(array: Node<'_>) -> bool {
    let element = array.child_by_field_name("element").map_or("", |element| element.kind());
    let dimensions = array.child_by_field_name("dimensions").map_or(0, |node| node.child_count());
    matches!(element, "integral_type" | "floating_point_type" | "boolean_type") && dimensions <= 2
}

/// The value, or none and the problem in `problems`.
fn keep<T>(result: Result<T, Diagnostic>, problems: &mut Vec<Diagnostic>) -> Option<T> {
    result.map_err(|problem| problems.push(problem)).ok()
}

/// At most 40 characters of `text`.
fn shortened(text: &str) -> String {
    if text.chars().count() <= 40 {
        text.to_owned()
    } else {
        text.chars().take(39).chain(['…']).collect()
    }
}

/// Number of single-character changes between two names.
fn distance(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.bytes().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, y) in b.bytes().enumerate() {
            let change = diagonal + usize::from(!x.eq_ignore_ascii_case(&y));
            diagonal = row[j + 1];
            row[j + 1] = change.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}
