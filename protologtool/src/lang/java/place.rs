//! The parts of a log call in its member: its group, template and arguments, and whether a
//! statement may take its place.

use super::constant::{Evaluator, arguments, nothing_known};
use super::context::{Context, context};
use super::effects::{Arguments, Changes};
use super::invocation::{Candidate, Invocation, Walk};
use super::locals::Locals;
use super::marks::Marks;
use super::meaning::{Site, Type, Variable};
use super::outline::MemberId;
use super::resolve::Resolver;
use super::syntax::{descendants, dotted, parse_member, unparenthesized};
use super::unit::Unit;
use super::value::{NotConstant, Value};
use super::{Forms, Java, JavaShape};
use crate::call::{Call, Checked, Text};
use crate::diagnostic::{Code, Diagnostic, Severity};
use crate::groups::Groups;
use crate::lang::jvm::dialect::{Dialect, Guard};
use crate::lang::near::{is_alone, nearest, suggestion};
use protolog_core::{Level, hash};
use std::cell::{OnceCell, RefCell};
use std::collections::HashSet;
use std::ops::Range;
use tree_sitter::{Node, Tree};

/// A call of a method of the class that is no log method, such as `isEnabled`.
#[derive(Clone, Debug)]
pub(super) struct OtherCall {
    /// The class's name before the method's; empty, right before the method's name, where it is
    /// imported.
    pub(super) class: Range<usize>,
    /// The method's name.
    pub(super) method: Range<usize>,
    /// Number of arguments.
    pub(super) arguments: usize,
}

/// A call with warnings, or the problem with it.
pub(super) type CallResult = Result<(Call<JavaShape>, Vec<Diagnostic>), Vec<Diagnostic>>;

/// A declaration that hides the first part of a name.
struct Hidden<'n> {
    /// The kind of the declaration.
    by: &'static str,
    /// The first part of `name`.
    first: &'n str,
    name: &'n str,
}

/// A member in which calls are looked at.
pub(super) struct MemberCalls<'a, 'u, 't> {
    pub(super) java: &'a Java,
    pub(super) groups: &'a Groups,
    pub(super) unit: &'t Unit<'u>,
    pub(super) resolver: &'a Resolver<'u>,
    pub(super) member: MemberId,
    /// The tree of the whole member, for declarations; that in which calls are looked at leaves
    /// parts out.
    pub(super) whole: &'t OnceCell<Option<Tree>>,
    /// Finds calls in it.
    pub(super) walk: OnceCell<Option<Walk<'t>>>,
    /// Made when a declaration in the member may matter, which is rare.
    pub(super) locals: OnceCell<Locals<'t>>,
    /// Made when an argument changes something, which is rare.
    pub(super) changes: OnceCell<Changes<'t>>,
    /// The hashes of the names that the member may declare. Made when one is asked for.
    pub(super) mentions: OnceCell<HashSet<u64>>,
    pub(super) marks: RefCell<Marks>,
}

impl<'u, 't> MemberCalls<'_, 'u, 't> {
    /// Returns whether the method is one of the class.
    pub(super) fn is_of_class(&self, call: &Invocation<'_>, candidate: &Candidate) -> bool {
        match &candidate.class {
            Some(written) => self.is_class(written, &self.java.protolog, call),
            None => {
                let method = self.unit.str(&candidate.method);
                !self.resolver.hides_method(method, self.site(call, method))
            }
        }
    }

    /// Returns whether the name `written` means `class` at a call, hiding declarations considered.
    fn is_class(&self, written: &str, class: &str, call: &Invocation<'_>) -> bool {
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

    /// The variable that `name` means at a call.
    pub(super) fn variable(&self, call: &Invocation<'_>, name: &str) -> Option<Variable<'u, 't>> {
        self.resolver.variable(name, self.site(call, name))
    }

    /// The place of a call, with the member's own declarations if one of them may declare `name`.
    pub(super) fn site(&self, call: &Invocation<'_>, name: &str) -> Site<'_, 't> {
        let owner = self.unit.outline.members[self.member.0].owner;
        let inherits = self.resolver.library.is_some() && call.is_in_local_class();
        let matters = inherits || self.may_declare(name);
        let locals = matters.then(|| self.locals());
        Site { offset: call.node.start_byte(), owner, locals }
    }

    /// The place of a call, with all declarations of the member.
    pub(super) fn site_of_names(&self, call: &Invocation<'_>) -> Site<'_, 't> {
        Site { locals: Some(self.locals()), ..self.site(call, "") }
    }

    pub(super) fn whole(&self) -> Option<&'t Tree> {
        let parse = || parse_member(self.unit, &self.unit.outline.members[self.member.0]);
        self.whole.get_or_init(parse).as_ref()
    }

    /// The call at `candidate` in the tree of the whole member.
    pub(super) fn whole_call(&self, candidate: &Candidate) -> Option<Invocation<'t>> {
        let walk = self.walk.get_or_init(|| self.whole().map(Walk::new));
        walk.as_ref()?.invocation(candidate, self.unit.text())
    }

    fn locals(&self) -> &Locals<'t> {
        self.locals.get_or_init(|| Locals::of(self.whole().map(Tree::root_node), self.unit.text()))
    }

    fn changes(&self) -> &Changes<'t> {
        let root = || self.whole().map(Tree::root_node);
        self.changes.get_or_init(|| Changes::of(root(), self.unit.text()))
    }

    /// Returns whether the member assigns a variable called `name`, other than where it declares
    /// it.
    pub(super) fn is_assigned(&self, name: &str) -> bool {
        self.changes().assigns(name, self.unit.text())
    }

    fn may_declare(&self, name: &str) -> bool {
        let names = || self.unit.may_declare(self.member);
        self.mentions.get_or_init(names).contains(&hash(name.as_bytes()))
    }

    /// A call of another method, where the name of the class that rewritten code calls means that
    /// class.
    pub(super) fn other(&self, call: &Invocation<'_>) -> Option<OtherCall> {
        self.hidden_name(call).is_none().then_some(())?;
        let method = call.node.child_by_field_name("name")?.byte_range();
        let list = call.node.child_by_field_name("arguments");
        let arguments = list.map(arguments).unwrap_or_default().len();
        Some(OtherCall { class: call.class_range(), method, arguments })
    }

    /// The call and its warnings, or the problem with it.
    pub(super) fn call(
        &self,
        call: &Invocation<'_>,
        candidate: &Candidate,
        level: Level,
    ) -> CallResult {
        let node = call.node;
        let arguments = arguments_of(call);
        let [group, template, rest @ ..] = &arguments[..] else {
            let message = format!(
                "a log call takes a group and a template, `{}` has {}",
                self.unit.str(&candidate.method),
                arguments.len()
            );
            let help = "write `(GROUP, \"text with %s\", argument)`";
            return Err(vec![
                Diagnostic::error(Code::ArgumentCount, node.byte_range(), message).help(help),
            ]);
        };
        if let Some(swapped) = self.swapped(*group, *template, call) {
            return Err(vec![swapped]);
        }
        let mut problems = Vec::new();
        let group_position = keep(self.group(*group, call), &mut problems);
        let text = keep(self.named_template(*template, call), &mut problems);
        let place = keep(self.place_of(call, candidate), &mut problems);
        let (mut has_exception, array) = (false, self.no_array(rest, call).err());
        let args: Vec<_> = rest.iter().map(Node::byte_range).collect();
        if let Some((text, _)) = &text {
            let (source, range) = (self.unit.text(), &template.byte_range());
            let may_have_exception = !self.is_span(candidate) && self.is_exception(rest, call);
            let checked = Checked { source, text, range, args: &args, may_have_exception };
            let template = checked.template();
            has_exception = template.as_ref().is_ok_and(|it| checked.has_exception(it));
            let misfits = template.as_ref().map(|it| self.misfits(it, rest, call));
            problems.extend(misfits.unwrap_or_default());
            let faults = template.err().unwrap_or_default();
            // An array stands for any number of arguments.
            let is_other = |it: &Diagnostic| array.is_none() || it.code != Code::ArgumentCount;
            problems.extend(faults.into_iter().filter(is_other));
        }
        problems.extend(array);
        match (group_position, text, place) {
            (Some(position), Some((text, names)), Some(place)) if problems.is_empty() => {
                let (invocation, class, group) = (call, call.class_range(), group.byte_range());
                let forms = self.forms_in_place(candidate, rest, *template)?;
                let call = Call {
                    range: place.1.byte_range(),
                    level,
                    group: position,
                    template: text,
                    names,
                    template_range: template.byte_range(),
                    args,
                    has_exception,
                    shape: JavaShape {
                        context: place.0,
                        class,
                        group,
                        local: String::new(),
                        passed_on: None,
                        platform: self.of_platform(invocation, &forms),
                        forms,
                    },
                };
                Ok((call, Vec::new()))
            }
            _ => Err(problems),
        }
    }

    /// Returns whether an argument may change something that rewritten code does not always change.
    pub(super) fn may_change(&self, call: &Invocation<'_>) -> bool {
        let always =
            matches!(&self.java.dialect, Dialect::Android(form) if form.guard == Guard::None);
        let list = call.node.child_by_field_name("arguments").filter(|_| !always);
        let mut marks = self.marks.borrow_mut();
        list.is_some_and(|list| marks.in_range(self.unit.text(), list.byte_range()).assignment)
    }

    /// Adds warnings and errors about changes by the arguments of a log call. Of calls within the
    /// arguments of others the inner ones come first: each change is looked at once.
    pub(super) fn add_effects(&self, candidate: &Candidate, read: &mut CallResult) {
        let Some(call) = self.whole_call(candidate) else { return };
        let args = arguments_of(&call);
        let fixed = match read {
            Ok((call, _)) => args.len().saturating_sub(call.args.len()),
            // A call that stays as it is evaluates its arguments.
            Err(_) if candidate.may_pass_on => return,
            Err(_) => 2,
        };
        let (source, changes) = (self.unit.text(), self.changes());
        let arguments = Arguments { source, changes, call: &call, locals: self.locals() };
        let effects = args.into_iter().skip(fixed).flat_map(|arg| arguments.check(arg));
        let (mut errors, mut warnings): (Vec<_>, Vec<_>) =
            effects.partition(|effect| effect.severity == Severity::Error);
        match read {
            Ok((_, known)) if errors.is_empty() => known.append(&mut warnings),
            Ok((_, known)) if candidate.may_pass_on => {
                known.append(&mut warnings);
                known.append(&mut errors);
            }
            Ok(_) => *read = Err(errors),
            Err(known) => known.append(&mut errors),
        }
    }

    /// The forms of the arguments `args`, which stand behind `fixed` others.
    pub(super) fn forms(&self, candidate: &Candidate, args: &[Node<'_>], fixed: usize) -> Forms {
        let text = self.unit.text();
        let mut marks = self.marks.borrow_mut();
        let has_switch = args.iter().any(|arg| marks.in_range(text, arg.byte_range()).switch);
        let call = has_switch.then(|| self.whole_call(candidate)).flatten();
        let with_blocks = call.as_ref().map(arguments_of).unwrap_or_default();
        Forms::of(args, with_blocks.get(fixed..).unwrap_or_default())
    }

    /// The error for a text in the place of the group, and the group in that of the text.
    fn swapped(
        &self,
        group: Node<'_>,
        template: Node<'_>,
        call: &Invocation<'_>,
    ) -> Option<Diagnostic> {
        let is_text = unparenthesized(group).kind() == "string_literal";
        let written = dotted(unparenthesized(template), self.unit.text()).filter(|_| is_text)?;
        let name = written.rsplit('.').next().unwrap_or(&written);
        self.groups.position(name)?;
        if self.template(template, call).is_ok() {
            return None;
        }
        let text = |node: Node<'_>| super::lexer::compact(&self.unit.text()[node.byte_range()]);
        let written = format!("({}, {}", text(template), shortened(&text(group)));
        let range = group.start_byte()..template.end_byte();
        let parts =
            [template.byte_range(), group.end_byte()..template.start_byte(), group.byte_range()];
        let in_order: String = parts.iter().map(|part| self.unit.str(part)).collect();
        let message = "the group and the template are swapped";
        Some(
            Diagnostic::error(Code::UnknownGroup, range.clone(), message)
                .help(format!("write `{written}`"))
                .fix(range, in_order),
        )
    }

    pub(super) fn group(
        &self,
        argument: Node<'_>,
        call: &Invocation<'_>,
    ) -> Result<usize, Diagnostic> {
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
            // Within the class itself its constants are in scope: that is what the variable is
            // then.
            (None, Some(Variable::Member(of, _))) => of.unit.canonical(of.id) == class,
            (None, Some(Variable::Local(_))) => false,
            (None, None) => self.unit.names.import_member(name, class),
        };
        let simple_class = class.rsplit('.').next().unwrap_or(class);
        match (is_member, self.groups.position(name), qualifier) {
            (true, Some(position), _) => Ok(position),
            (true, None, _) => self.no_group(node, name),
            (false, _, None) if variable.is_some() => error(
                format!("`{name}` is a variable here, not a group of `{class}`"),
                format!("name a constant of `{class}`: the group must be known when the tool runs"),
            ),
            (false, Some(_), None) => error(
                format!("the group `{name}` is not imported"),
                format!("add `import static {class}.{name};`, or write `{class}.{name}`"),
            )
            .map_err(|error| error.fix(node.byte_range(), format!("{class}.{name}"))),
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
            (false, None, None) => self.no_group(node, name),
        }
    }

    /// The error for a name that ends with `name`, which is none of the groups.
    fn no_group(&self, node: Node<'_>, name: &str) -> Result<usize, Diagnostic> {
        let range = node.byte_range();
        let message = format!("`{}` has no group `{name}`", self.groups.class());
        let error = Diagnostic::error(Code::UnknownGroup, range.clone(), message)
            .help(suggestion(self.groups, name));
        let at = range.end - name.len().min(range.len())..range.end;
        let is_last = self.unit.text()[at.clone()] == *name.as_bytes();
        let near = nearest(self.groups, name).filter(|_| is_last);
        Err(match near {
            Some(near) if is_alone(self.groups.names_of_class(), name) => error.fix(at, near),
            Some(near) => error.suggest(at, near),
            None => error,
        })
    }

    pub(super) fn template(
        &self,
        argument: Node<'_>,
        call: &Invocation<'_>,
    ) -> Result<Text, Diagnostic> {
        let error = |range, message: String| {
            let is_encoded = message.ends_with("is not UTF-8");
            Err(Diagnostic::error(Code::NonConstantTemplate, range, message).help(if is_encoded {
                "name the encoding of the sources with `--encoding`, as for javac"
            } else {
                "write the text as a literal, or name a `static final String` of one of the sources, and pass the varying parts as arguments"
            }))
        };
        let has_names = descendants(argument).any(|node| node.kind() == "identifier");
        let site = if has_names { self.site_of_names(call) } else { self.site(call, "") };
        let evaluator = Evaluator {
            resolver: self.resolver,
            site,
            known: &nothing_known,
            calls: None,
            needed: None,
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

    /// The declaration that hides the first part of a name which rewritten code uses at a call, and
    /// that name.
    fn hidden_name(&self, call: &Invocation<'_>) -> Option<Hidden<'_>> {
        let names = [self.java.implementation.as_str(), self.java.level.as_str()];
        names.into_iter().find_map(|name| {
            let (first, _) = name.split_once('.')?;
            let hidden = |by| Hidden { by, first, name };
            let is_variable = self.variable(call, first).is_some();
            let is_type = || self.is_type(first, call);
            is_variable.then(|| hidden("variable")).or_else(|| is_type().then(|| hidden("class")))
        })
    }

    /// Returns whether a simple name means a type that is declared, inherited, imported by name, or
    /// in the same package.
    pub(super) fn is_type(&self, name: &str, call: &Invocation<'_>) -> bool {
        self.resolver.declared_type(name, self.site(call, name)).is_some()
            || self.unit.names.imported(name).is_some_and(|it| it != format!("java.lang.{name}"))
            || self.resolver.is_in_package(name)
    }

    /// Prefix of the names of `String` and `Object` in rewritten code, where a type hides one of
    /// them.
    pub(super) fn of_platform(&self, call: &Invocation<'_>, forms: &Forms) -> &'static str {
        let has_types = self.java.dialect != Dialect::Protolog || forms.needs_locals;
        let is_hidden = has_types && ["String", "Object"].iter().any(|it| self.is_type(it, call));
        if is_hidden { "java.lang." } else { "" }
    }

    pub(super) fn place<'c>(
        &self,
        call: &Invocation<'c>,
    ) -> Result<(Context, Node<'c>), Diagnostic> {
        let node = call.node;
        self.no_hidden_name(call)?;
        context(call).map_err(|place| {
            let message =
                format!("a log call {place} can't be rewritten: it becomes an `if` statement");
            Diagnostic::error(Code::NoStatement, node.byte_range(), message)
                .help("make the call a statement of its own")
        })
    }

    /// The error for a declaration that hides the package of a name in rewritten code.
    pub(super) fn no_hidden_name(&self, call: &Invocation<'_>) -> Result<(), Diagnostic> {
        let Some(Hidden { by, first, name }) = self.hidden_name(call) else { return Ok(()) };
        let message =
            format!("the {by} `{first}` hides the package of `{name}`, which rewritten code names");
        Err(Diagnostic::error(Code::HiddenName, call.node.byte_range(), message)
            .help(format!("rename the {by}")))
    }
}

fn arguments_of<'t>(call: &Invocation<'t>) -> Vec<Node<'t>> {
    let list = call.node.child_by_field_name("arguments");
    list.map(arguments).unwrap_or_default()
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
