//! Finds the log calls of a file: whose class, which level, which group, which template, which arguments, and where; and
//! the calls of the class's other methods.
//!
//! Tokens say where calls may be; of the members that hold such places, and of no others, there are trees.

use super::broken;
use super::constant::{Evaluator, NotConstant, Value, arguments, nothing_known};
use super::context::{Context, context};
use super::effects::{Arguments, may_assign};
use super::invocation::{Candidate, Invocation, candidates};
use super::library::Classes;
use super::locals::Locals;
use super::outline::MemberId;
use super::resolve::{Handle, Resolver, Site, Type, Variable};
use super::syntax::{dotted, member_text, parse_member, unparenthesized};
use super::unit::Unit;
use super::{Dialect, Guard, Java, Shape};
use crate::call::{Call, Text, check};
use crate::diagnostic::{Code, Diagnostic, Severity};
use crate::groups::Groups;
use crate::lang::{Found, Other};
use crate::source::Source;
use protolog_core::Level;
use std::cell::OnceCell;
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use tree_sitter::{Node, Tree};

pub(super) fn find(
    java: &Java,
    source: &Source,
    groups: &Groups,
    library: Option<&dyn Classes>,
) -> Found<Shape> {
    let unit = Unit::of(source.bytes());
    let mut found = Found { calls: Vec::new(), others: Vec::new(), diagnostics: Vec::new() };
    let resolver = Resolver::new(Handle::This(&unit), library);
    let mut finder = Finder { java, groups, unit: &unit, resolver, found: &mut found };
    finder.file();
    found.diagnostics.sort_by_key(|diagnostic| diagnostic.range.start);
    map_back(&unit, &mut found);
    found
}

/// The texts of a source that the parser is given: its declarations that may hold calls.
pub(super) fn parsed(java: &Java, source: &Source) -> Vec<Vec<u8>> {
    let unit = Unit::of(source.bytes());
    let candidates = candidates(&unit, &java.protolog);
    let mut members: Vec<MemberId> = candidates
        .iter()
        .filter_map(|candidate| unit.outline.member_at(candidate.method.start))
        .collect();
    members.dedup();
    members.iter().map(|id| member_text(&unit, &unit.outline.members[id.0]).0).collect()
}

/// Makes ranges of the unit's text ranges of the file.
fn map_back(unit: &Unit<'_>, found: &mut Found<Shape>) {
    if !unit.is_translated() {
        return;
    }
    let map = |range: &mut Range<usize>| *range = unit.origin(range.clone());
    for call in &mut found.calls {
        let Call { range, template, template_range, args, shape, .. } = call;
        [range, template_range, &mut shape.class, &mut shape.group].into_iter().for_each(map);
        args.iter_mut().for_each(map);
        template.map_origins(|offset| unit.origin(offset..offset).start);
    }
    for other in &mut found.others {
        [&mut other.class, &mut other.method].into_iter().for_each(map);
    }
    found.diagnostics.iter_mut().map(|diagnostic| &mut diagnostic.range).for_each(map);
}

struct Finder<'a, 'u> {
    java: &'a Java,
    groups: &'a Groups,
    unit: &'u Unit<'u>,
    resolver: Resolver<'u>,
    found: &'a mut Found<Shape>,
}

impl Finder<'_, '_> {
    fn file(&mut self) {
        let unit = self.unit;
        let mut candidates = candidates(unit, &self.java.protolog);
        candidates.retain(|candidate| match &candidate.class {
            // Names that the file declares itself are looked up where the call is.
            Some(written) => self.can_mean(written) || self.is_declared(written),
            None => true,
        });
        if candidates.is_empty() {
            return;
        }
        if !unit.is_balanced {
            let logs = candidates.iter().any(|candidate| self.level(candidate).is_some());
            self.found.diagnostics.extend(logs.then(|| broken::unbalanced(unit)));
            return;
        }
        let mut by_member: BTreeMap<MemberId, Vec<Candidate>> = BTreeMap::new();
        for candidate in candidates {
            match unit.outline.member_at(candidate.method.start) {
                Some(member) => by_member.entry(member).or_default().push(candidate),
                None if self.level(&candidate).is_some() => {
                    self.found.diagnostics.push(broken::outside(candidate.method));
                }
                None => {}
            }
        }
        for (member, candidates) in by_member {
            self.member(member, &candidates);
        }
    }

    fn member(&mut self, member: MemberId, candidates: &[Candidate]) {
        let declared = &self.unit.outline.members[member.0];
        let Some(tree) = parse_member(self.unit, declared) else { return };
        if let Some(fault) = broken::fault(self.unit, &declared.range, &tree) {
            let logs = candidates.iter().any(|candidate| self.level(candidate).is_some());
            self.found.diagnostics.extend(logs.then_some(fault));
            return;
        }
        let place = Place {
            java: self.java,
            groups: self.groups,
            unit: self.unit,
            resolver: &self.resolver,
            member,
            tree: &tree,
            locals: OnceCell::new(),
            mentions: HashMap::new().into(),
        };
        for candidate in candidates {
            let Some(call) = Invocation::at(&tree, candidate, self.unit.text()) else { continue };
            if !place.is_of_class(&call, candidate) {
                continue;
            }
            match self.level(candidate) {
                None => self.found.others.extend(place.other(&call)),
                Some(level) => match place.call(&call, level) {
                    Ok((call, warnings)) => {
                        self.found.calls.push(call);
                        self.found.diagnostics.extend(warnings);
                    }
                    Err(problems) => self.found.diagnostics.extend(problems),
                },
            }
        }
    }

    fn level(&self, candidate: &Candidate) -> Option<Level> {
        Level::from_method(self.unit.str(&candidate.method))
    }

    fn can_mean(&self, written: &str) -> bool {
        let in_package = |name: &str| self.resolver.is_in_package(name);
        self.unit.names.can_mean(written, &self.java.protolog, in_package)
    }

    /// Whether the first part of a name may be a type that the file declares or inherits.
    fn is_declared(&self, written: &str) -> bool {
        let first = written.split('.').next().unwrap_or(written);
        let mut outer = self.java.protolog.rsplit('.').skip(1);
        let is_nested = outer.next().is_some_and(|outer| outer.starts_with(char::is_uppercase));
        is_nested || self.unit.outline.types.iter().any(|of| self.unit.str(&of.name) == first)
    }
}

/// A member in which calls are looked at.
struct Place<'a, 'u, 't> {
    java: &'a Java,
    groups: &'a Groups,
    unit: &'t Unit<'u>,
    resolver: &'a Resolver<'u>,
    member: MemberId,
    tree: &'t Tree,
    /// Made when a declaration in the member may matter, which is rare.
    locals: OnceCell<Locals<'t>>,
    /// Whether the member may declare a name.
    mentions: std::cell::RefCell<HashMap<String, bool>>,
}

impl<'u, 't> Place<'_, 'u, 't> {
    /// Whether the method is one of the class.
    fn is_of_class(&self, call: &Invocation<'t>, candidate: &Candidate) -> bool {
        match &candidate.class {
            Some(written) => self.is_class(written, &self.java.protolog, call),
            None => {
                let method = self.unit.str(&candidate.method);
                !self.resolver.hides_method(method, self.site(call, method))
            }
        }
    }

    /// Whether the name `written` means `class` at a call, hiding declarations considered.
    fn is_class(&self, written: &str, class: &str, call: &Invocation<'t>) -> bool {
        let first = written.split('.').next().unwrap_or(written);
        if self.variable(call, first).is_some() {
            return false;
        }
        match self.resolver.declared_type(first, self.site(call, first)) {
            Some(Type::Declared(of)) => {
                let name = of.unit.canonical(of.id);
                class.strip_prefix(&name) == Some(&written[first.len()..])
            }
            Some(_) => false,
            None => {
                let in_package = |name: &str| self.resolver.is_in_package(name);
                self.unit.names.can_mean(written, class, in_package)
            }
        }
    }

    /// What `name` means as a variable at a call.
    fn variable(&self, call: &Invocation<'t>, name: &str) -> Option<Variable<'u, 't>> {
        self.resolver.variable(name, self.site(call, name))
    }

    /// The place of a call, with the member's own declarations if one of them may declare `name`.
    fn site(&self, call: &Invocation<'t>, name: &str) -> Site<'_, 't> {
        let owner = self.unit.outline.members[self.member.0].owner;
        let inherits = self.resolver.library.is_some() && call.is_in_local_class();
        let matters = inherits || self.may_declare(name);
        let locals = matters.then(|| self.locals());
        Site { offset: call.node.start_byte(), owner, locals }
    }

    fn locals(&self) -> &Locals<'t> {
        self.locals.get_or_init(|| Locals::of(self.tree.root_node(), self.unit.text()))
    }

    fn may_declare(&self, name: &str) -> bool {
        if let Some(known) = self.mentions.borrow().get(name) {
            return *known;
        }
        let found = self.unit.may_declare(self.member, name);
        self.mentions.borrow_mut().insert(name.to_owned(), found);
        found
    }

    /// A call of another method, where the name of the class that rewritten code calls means that class.
    fn other(&self, call: &Invocation<'t>) -> Option<Other> {
        self.hidden_name(call).is_none().then_some(())?;
        let method = call.node.child_by_field_name("name")?.byte_range();
        let list = call.node.child_by_field_name("arguments");
        let arguments = list.map(arguments).unwrap_or_default().len();
        Some(Other { class: call.class_range(), method, arguments })
    }

    /// The call and what is to be warned of, or what is wrong with it.
    fn call(
        &self,
        call: &Invocation<'t>,
        level: Level,
    ) -> Result<(Call<Shape>, Vec<Diagnostic>), Vec<Diagnostic>> {
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
        let effects = self.effects(call, rest);
        let (warnings, errors): (Vec<_>, Vec<_>) =
            effects.into_iter().partition(|effect| effect.severity != Severity::Error);
        problems.extend(errors);
        match (group_position, text, place) {
            (Some(group_position), Some(text), Some((context, wrapped))) if problems.is_empty() => {
                let (class, group) = (call.class_range(), group.byte_range());
                let call = Call {
                    range: wrapped.byte_range(),
                    level,
                    group: group_position,
                    template: text,
                    template_range: template.byte_range(),
                    args,
                    shape: Shape { context, class, group, local: String::new() },
                };
                Ok((call, warnings))
            }
            _ => Err(problems),
        }
    }

    /// What arguments change, where rewritten code does not always evaluate them.
    fn effects(&self, call: &Invocation<'t>, args: &[Node<'t>]) -> Vec<Diagnostic> {
        if matches!(&self.java.dialect, Dialect::Android(form) if form.guard == Guard::None) {
            return Vec::new();
        }
        let text = self.unit.text();
        let changing = args.iter().filter(|arg| may_assign(&text[arg.byte_range()]));
        let check = |arg: &Node<'t>| {
            let root = self.tree.root_node();
            let (node, ancestors) = (call.node, &call.ancestors[..]);
            Arguments { source: text, root, call: node, ancestors, locals: self.locals() }
                .check(*arg)
        };
        changing.flat_map(check).collect()
    }

    fn group(&self, argument: Node<'t>, call: &Invocation<'t>) -> Result<usize, Diagnostic> {
        let node = unparenthesized(argument);
        let class = self.groups.class();
        let error = |message: String, help: String| {
            Err(Diagnostic::error(Code::UnknownGroup, node.byte_range(), message).help(help))
        };
        let Some(written) = dotted(node, self.unit.text()) else {
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
        let is_member = match (qualifier, &variable) {
            (Some(qualifier), _) => self.is_class(qualifier, class, call),
            // Within the class itself its constants are in scope: that is what the variable is then.
            (None, Some(Variable::Member(of, _))) => of.unit.canonical(of.id) == class,
            (None, Some(Variable::Local(_))) => false,
            (None, None) => self.unit.names.import_member(name, class),
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
                .help("write the text as a literal, or name a `static final String` of one of the sources, and pass what varies as arguments"))
        };
        let is_literal = argument.kind() == "string_literal";
        let site = Site { locals: (!is_literal).then(|| self.locals()), ..self.site(call, "") };
        let evaluator = Evaluator {
            resolver: self.resolver,
            site,
            known: &nothing_known,
            calls: None,
            depth: 0,
        };
        match evaluator.value(argument) {
            Ok(Value::Text(text)) => Ok(text),
            Ok(_) => error(argument.byte_range(), "the template is not a text".to_owned()),
            Err(NotConstant { range, reason }) => {
                let part = super::lexer::compact(&self.unit.text()[range.clone()]);
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

    fn place(&self, call: &Invocation<'t>) -> Result<(Context, Node<'t>), Diagnostic> {
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
