//! Reads one log call: its group, its template and its arguments; or says why it can't be
//! rewritten.

use super::kinds::conversion;
use super::lexer::LexemeKind;
use super::method_call::MethodCall;
use super::names::ScopedFile;
use super::scopes::DeclaredKind;
use super::template::{Piece, pieces};
use super::{Kotlin, KotlinShape};
use crate::call::{Call, Checked, Text};
use crate::diagnostic::{Code, Diagnostic};
use crate::groups::Groups;
use crate::lang::jvm::argument_names::take_names;
use crate::lang::jvm::is_span;
use crate::lang::near::{is_alone, nearest, suggestion};
use protolog_core::{Level, Template};
use std::ops::Range;

/// Reads the calls of one file.
pub(super) struct CallReader<'a, 's> {
    pub(super) kotlin: Kotlin<'a>,
    pub(super) groups: &'a Groups,
    pub(super) named: &'a ScopedFile<'s>,
}

/// A call with warnings, or the problem with it.
pub(super) type ReadCall = Result<(Call<KotlinShape>, Vec<Diagnostic>), Vec<Diagnostic>>;

/// The template and the arguments in the order of its conversions.
pub(super) struct Filled {
    pub(super) text: Text,
    /// The list of the arguments' names.
    pub(super) names: String,
    pub(super) args: Vec<Range<usize>>,
    pub(super) shape: Order,
}

/// The place of the values that a template holds, among the arguments.
#[derive(Clone, Debug, Default)]
pub(crate) struct Order {
    /// The bytes of the expressions in the template that stay where they are, in order.
    pub(crate) in_place: Vec<Range<usize>>,
    /// The bytes of those that move behind an argument: they come before or after others in `args`.
    pub(crate) moved: Vec<usize>,
}

/// A declaration that hides the first part of a name.
pub(super) struct HiddenPackage<'n> {
    /// The kind of the declaration.
    by: &'static str,
    /// The first part of `name`.
    first: &'n str,
    name: &'n str,
}

impl CallReader<'_, '_> {
    pub(super) fn call(&self, call: &MethodCall, level: Level) -> ReadCall {
        let file = &self.named.file;
        let open = call.method + 1;
        let close = file.partner(open);
        let elements = file.elements(open);
        let range = file.bytes_of(&(call.class.start..close + 1));
        self.refuse_form(call, &elements).and(self.check_use(call)).map_err(|error| vec![error])?;
        let [group, template, rest @ ..] = &elements[..] else {
            let message = format!(
                "a log call takes a group and a template, `{}` has {}",
                call.name,
                elements.len()
            );
            let help = "write `(GROUP, \"text with %s\", argument)`";
            return Err(vec![Diagnostic::error(Code::ArgumentCount, range, message).help(help)]);
        };
        self.refuse_parameters(&elements).map_err(|note| vec![note])?;
        if let Some(swapped) = self.swapped(group, template) {
            return Err(vec![swapped]);
        }
        let (is_span, mut problems) = (is_span(&call.name), Vec::new());
        let group_position = keep(self.group(group), &mut problems);
        let template_range = file.bytes_of(template);
        let filled =
            keep(self.pieces(template).and_then(|pieces| self.fill(&pieces, rest)), &mut problems);
        let mut has_exception = false;
        if let Some(filled) = &filled {
            let (text, range, args) = (&filled.text, &template_range, &filled.args);
            let may_have_exception = !is_span && self.is_exception(rest);
            let checked = Checked { source: file.text, text, range, args, may_have_exception };
            let template = checked.template();
            has_exception = template.as_ref().is_ok_and(|it| checked.has_exception(it));
            let misfits = template.as_ref().map(|it| self.misfits(it, args, rest));
            problems.extend(misfits.unwrap_or_default());
            problems.extend(template.err().unwrap_or_default());
        }
        keep(self.visible(call), &mut problems);
        let (Some(group_position), Some(filled), true) =
            (group_position, filled, problems.is_empty())
        else {
            return Err(problems);
        };
        let before = call.class.start.checked_sub(1);
        let shape = KotlinShape {
            class: self.class_bytes(call),
            method: file.tokens[call.method].range(),
            group: file.bytes_of(group),
            group_path: file.path(group.clone()).unwrap_or_default(),
            // Parentheses behind a name would be the arguments of an annotation.
            follows_annotation: before.is_some_and(|at| self.ends_annotation(at)),
            class_kept: file.kept(self.class_bytes(call)),
            template_kept: self.kept(&template_range, &filled.shape.in_place),
            passes_group: false,
            is_span,
            order: filled.shape,
        };
        let warnings = rest.iter().flat_map(|argument| self.effects(argument, close)).collect();
        let call = Call {
            range,
            level,
            group: group_position,
            template: filled.text,
            names: filled.names,
            template_range,
            args: filled.args,
            has_exception,
            shape,
        };
        Ok((call, warnings))
    }

    /// The bytes of the class's name; none, right before the method's name, where the method is
    /// imported.
    pub(super) fn class_bytes(&self, call: &MethodCall) -> Range<usize> {
        let file = &self.named.file;
        if call.class.is_empty() {
            let start = file.tokens[call.method].range().start;
            return start..start;
        }
        file.bytes_of(&call.class)
    }

    /// A variable that hides the first part of a name which rewritten code uses at a call, and that
    /// name.
    pub(super) fn hidden_name(&self, call: &MethodCall) -> Option<HiddenPackage<'_>> {
        let offset = self.class_bytes(call).start;
        let java = self.kotlin.java;
        [java.implementation(), java.level()].into_iter().find_map(|name| {
            let (first, _) = name.split_once('.')?;
            let by = self.hides(first, offset)?;
            Some(HiddenPackage { by, first, name })
        })
    }

    /// The kind of the declaration of the file that hides a package called `name` at `offset`.
    pub(super) fn hides(&self, name: &str, offset: usize) -> Option<&'static str> {
        let scopes = &self.named.scopes;
        let variable = scopes.variable(name, offset).map(|_| "variable");
        variable.or_else(|| scopes.type_named(name, offset).map(|_| "class"))
    }

    /// Comments and line ends of a template, before and after each value that stays.
    pub(super) fn kept(&self, template: &Range<usize>, values: &[Range<usize>]) -> Vec<String> {
        let starts = [template.start].into_iter().chain(values.iter().map(|value| value.end));
        let ends = values.iter().map(|value| value.start).chain([template.end]);
        starts.zip(ends).map(|(start, end)| self.named.file.kept(start..end)).collect()
    }

    fn visible(&self, call: &MethodCall) -> Result<(), Diagnostic> {
        let Some(HiddenPackage { by, first, name }) = self.hidden_name(call) else { return Ok(()) };
        let message =
            format!("the {by} `{first}` hides the package of `{name}`, which rewritten code names");
        let range = self.named.file.bytes_of(&(call.class.start..call.method + 1));
        Err(Diagnostic::error(Code::HiddenName, range, message).help(format!("rename the {by}")))
    }

    pub(super) fn ends_annotation(&self, at: usize) -> bool {
        let file = &self.named.file;
        if !file.is_word(at) {
            return false;
        }
        let mut first = at;
        while first >= 2 && matches!(file.raw(first - 1), "." | ":") && file.is_word(first - 2) {
            first -= 2;
        }
        first > 0 && file.is_punct(first - 1, b'@') && file.touches(first)
    }

    /// Refuses arguments by name, and a lambda behind the parentheses.
    fn refuse_form(&self, call: &MethodCall, elements: &[Range<usize>]) -> Result<(), Diagnostic> {
        let file = &self.named.file;
        let is_named = |element: &&Range<usize>| {
            let at = element.start;
            element.len() > 2
                && file.is_word(at)
                && file.is_punct(at + 1, b'=')
                && !file.is_punct(at + 2, b'=')
        };
        if let Some(named) = elements.iter().find(is_named) {
            let message = "an argument by name, which the log methods do not take";
            let range = file.bytes_of(&(named.start..named.start + 2));
            return Err(
                Diagnostic::error(Code::NamedArgument, range, message).help("pass it by its place")
            );
        }
        let after = file.partner(call.method + 1) + 1;
        if file.is_punct(after, b'{') && !file.begins_line(after) {
            let message = "a lambda behind the arguments, which the log methods do not take";
            let range = file.tokens[after].range();
            return Err(Diagnostic::error(Code::ArgumentCount, range, message)
                .help("pass it within the parentheses, or begin the lambda on a line of its own"));
        }
        Ok(())
    }

    /// A note on a call that passes on the parameters of the function around it: it stays as it is.
    fn refuse_parameters(&self, elements: &[Range<usize>]) -> Result<(), Diagnostic> {
        let file = &self.named.file;
        let note = |tokens: &Range<usize>, why: String| {
            let message =
                format!("this call stays as it is, and is interned when the program runs: {why}");
            Err(Diagnostic::note(Code::NotRewritten, file.bytes_of(tokens), message))
        };
        let mut arguments = elements.iter().skip(2);
        if let Some(element) = arguments.find(|element| file.is_punct(element.start, b'*')) {
            return note(element, "the number of its arguments is not known".to_owned());
        }
        for (element, role) in elements.iter().zip(["group", "template"]) {
            let Some(path) = file.path(element.clone()) else { continue };
            let [name] = &path[..] else { continue };
            let offset = file.bytes_of(element).start;
            let declared = self.named.scopes.variable(name, offset);
            if declared.is_some_and(|it| it.kind == DeclaredKind::Parameter) {
                return note(element, format!("its {role} is the parameter `{name}`"));
            }
        }
        Ok(())
    }

    pub(super) fn group(&self, argument: &Range<usize>) -> Result<usize, Diagnostic> {
        let file = &self.named.file;
        let (range, class) = (file.bytes_of(argument), self.groups.class());
        let path = file.path(argument.clone()).unwrap_or_default();
        let answer = match path.split_last() {
            None => Err((
                format!("the group is not a constant of `{class}`"),
                "name the constant: the group must be known when the tool runs".to_owned(),
            )),
            Some((name, [])) => self.plain_group(name, range.start),
            Some((name, qualifier)) => self.qualified_group(name, qualifier, range.start),
        };
        answer.map_err(|(message, help)| {
            let near = path.last().and_then(|name| nearest(self.groups, name));
            // Of a name that is wrong for another reason the help says that.
            let near = near.filter(|near| help == format!("use `{near}`"));
            let error = Diagnostic::error(Code::UnknownGroup, range.clone(), message).help(help);
            let plain = path.first().filter(|_| path.len() == 1);
            let is_group = |name: &&String| {
                self.named.scopes.variable(name, range.start).is_none()
                    && self.named.imported_member(name, class).is_none()
                    && self.groups.position(name).is_some()
            };
            match (near, argument.end.checked_sub(1), plain.filter(is_group)) {
                (Some(near), Some(last), _)
                    if path.last().is_some_and(|it| is_alone(self.groups.names_of_class(), it)) =>
                {
                    error.fix(file.tokens[last].range(), near)
                }
                (Some(near), Some(last), _) => error.suggest(file.tokens[last].range(), near),
                (_, _, Some(name)) => error.fix(range, format!("{class}.{name}")),
                _ => error,
            }
        })
    }

    /// The error for a text in the place of the group, and the group in that of the text.
    fn swapped(&self, group: &Range<usize>, template: &Range<usize>) -> Option<Diagnostic> {
        let file = &self.named.file;
        let is_text = file.partner(group.start) + 1 == group.end
            && matches!(file.kind(group.start), Some(LexemeKind::TextOpen { .. }));
        self.group(template).ok().filter(|_| is_text)?;
        let bytes = [group, template].map(|tokens| file.bytes_of(tokens));
        let [group, template] = &bytes;
        let text = |range: Range<usize>| String::from_utf8_lossy(&file.text[range]).into_owned();
        let between = text(group.end..template.start);
        let in_order = text(template.clone()) + &between + &text(group.clone());
        let range = group.start..template.end;
        let message = "the group and the template are swapped";
        let error = Diagnostic::error(Code::UnknownGroup, range.clone(), message);
        Some(error.help("write the group first, then the text").fix(range, in_order))
    }

    /// The group of this name; or the message and the help.
    fn known_group(&self, name: &str) -> Result<usize, (String, String)> {
        let class = self.groups.class();
        let unknown =
            || (format!("`{class}` has no group `{name}`"), suggestion(self.groups, name));
        self.groups.position(name).ok_or_else(unknown)
    }

    fn qualified_group(
        &self,
        name: &str,
        qualifier: &[String],
        offset: usize,
    ) -> Result<usize, (String, String)> {
        let class = self.groups.class();
        let simple = class.rsplit('.').next().unwrap_or(class);
        if self.named.means(qualifier, class, offset) {
            self.known_group(name)
        } else if qualifier == [simple.to_owned()] {
            Err((
                format!(
                    "`{simple}` is not `{class}` here: it is not imported, or hidden by another declaration"
                ),
                format!("add `import {class}`, or write `{class}.{name}`"),
            ))
        } else {
            Err((
                format!("`{}.{name}` is no group of `{class}`", qualifier.join(".")),
                format!("name a constant of `{class}`, or set another `--loggroups-class`"),
            ))
        }
    }

    fn plain_group(&self, name: &str, offset: usize) -> Result<usize, (String, String)> {
        let class = self.groups.class();
        let variable = self.named.scopes.variable(name, offset);
        if self.named.is_within(class, offset)
            && variable.is_none_or(|it| match it.kind {
                DeclaredKind::EnumEntry => self.named.canonical(it).0 == format!("{class}.{name}"),
                kind => kind == DeclaredKind::Property,
            })
            && let Some(position) = self.groups.position(name)
        {
            return Ok(position);
        }
        if variable.is_some() {
            return Err((
                format!("`{name}` is a variable here, not a group of `{class}`"),
                format!("name a constant of `{class}`: the group must be known when the tool runs"),
            ));
        }
        if let Some(member) = self.named.imported_member(name, class) {
            return self.known_group(&member);
        }
        self.known_group(name)?;
        Err((
            format!("the group `{name}` is not imported"),
            format!("add `import {class}.{name}`, or write `{class}.{name}`"),
        ))
    }

    /// The parts of a template.
    pub(super) fn pieces(&self, template: &Range<usize>) -> Result<Vec<Piece>, Diagnostic> {
        pieces(self.named, template.clone()).map_err(|problem| {
            Diagnostic::error(Code::NonConstantTemplate, problem.range, problem.message)
                .help(problem.help)
        })
    }

    /// The template with a conversion for each value in it, and all arguments in the order of
    /// conversions.
    pub(super) fn fill(
        &self,
        pieces: &[Piece],
        rest: &[Range<usize>],
    ) -> Result<Filled, Diagnostic> {
        let file = &self.named.file;
        let (mut text, mut args, mut order) = (Text::default(), Vec::new(), Order::default());
        let mut given = rest.iter().map(|argument| file.bytes_of(argument));
        let mut has_passed = false;
        for piece in pieces {
            match piece {
                Piece::Text(part) => {
                    let mut plain = part.clone();
                    take_names(&mut plain, self.kotlin.java.dialect())?;
                    let value = plain.as_str();
                    let parsed = Template::parse(value);
                    if parsed.is_err() && pieces.len() == 1 {
                        // The check of the whole reports all that is wrong with it.
                        text.append(part.clone());
                        continue;
                    }
                    let parsed = parsed.map_err(|error| {
                        let range = plain.origin(error.range());
                        Diagnostic::error(
                            Code::BadTemplate,
                            range,
                            error.message(value).to_string(),
                        )
                        .help(error.help(value).to_string())
                    })?;
                    has_passed |= !parsed.is_empty();
                    args.extend(given.by_ref().take(parsed.len()));
                    text.append(part.clone());
                }
                Piece::Expression(tokens) => {
                    let bytes = file.bytes_of(tokens);
                    conversion(self.named, tokens)
                        .chars()
                        .for_each(|char| text.push(char, bytes.start));
                    if has_passed {
                        self.refuse_order(tokens, rest)?;
                        order.moved.push(args.len());
                    } else {
                        order.in_place.push(bytes.clone());
                    }
                    args.push(bytes);
                }
            }
        }
        args.extend(given);
        let names = take_names(&mut text, self.kotlin.java.dialect())?;
        Ok(Filled { text, names, args, shape: order })
    }

    /// Refuses a value in the text behind a conversion, unless it makes no difference which is
    /// evaluated first, and unless it can be written a second time on one line.
    fn refuse_order(&self, tokens: &Range<usize>, rest: &[Range<usize>]) -> Result<(), Diagnostic> {
        let file = &self.named.file;
        let is_read = |tokens: &Range<usize>| {
            tokens.clone().all(|at| {
                matches!(
                    file.kind(at),
                    Some(LexemeKind::Word | LexemeKind::Number | LexemeKind::Punct(b'.' | b'?'))
                )
            })
        };
        let is_short = tokens.clone().skip(1).all(|at| !file.begins_line(at));
        if is_read(tokens) && is_short || rest.is_empty() {
            return Ok(());
        }
        let message = "a value in the text behind a conversion: it would be evaluated after an argument that it comes before";
        Err(Diagnostic::error(Code::NonConstantTemplate, file.bytes_of(tokens), message)
            .help("write `%s` in its place, and pass it as an argument"))
    }

    /// Warnings about arguments that change something: rewritten code does not always evaluate
    /// them.
    pub(super) fn effects(&self, argument: &Range<usize>, close: usize) -> Vec<Diagnostic> {
        let file = &self.named.file;
        let is_pair = |at: usize, byte| {
            file.is_punct(at, byte) && file.is_punct(at + 1, byte) && file.touches(at + 1)
        };
        let mut found = Vec::new();
        for at in argument.clone() {
            if at + 1 < argument.end && (is_pair(at, b'+') || is_pair(at, b'-')) {
                let is_behind = at > argument.start && file.is_word(at - 1);
                let tokens =
                    if is_behind { at - 1..at + 2 } else { at..(at + 3).min(argument.end) };
                let range = file.bytes_of(&tokens);
                let shown = String::from_utf8_lossy(&file.text[range.clone()]).into_owned();
                let message = format!("`{shown}` happens only if the call is enabled");
                found.push(
                    Diagnostic::warning(Code::SideEffect, range, message)
                        .help("change it in a statement of its own before the call"),
                );
            }
            if at + 2 < argument.end && file.is_word(at) && is_pair(at + 1, b'!') {
                let name = file.word(at);
                let offset = file.tokens[at].range().start;
                let Some(declared) = self.named.scopes.variable(&name, offset) else { continue };
                let mut later = close..file.tokens.len();
                let is_read = later.any(|other| {
                    file.is_word(other)
                        && file.word(other) == name
                        && declared.scope.contains(&file.tokens[other].range().start)
                });
                if is_read {
                    let message = format!(
                        "`{name}!!` is checked only if the call is enabled, but `{name}` is read after it"
                    );
                    found.push(
                        Diagnostic::warning(
                            Code::SideEffect,
                            file.bytes_of(&(at..at + 3)),
                            message,
                        )
                        .help("check it in a statement of its own before the call"),
                    );
                }
            }
        }
        found
    }
}

/// The value, or none and the problem in `problems`.
fn keep<T>(result: Result<T, Diagnostic>, problems: &mut Vec<Diagnostic>) -> Option<T> {
    result.map_err(|problem| problems.push(problem)).ok()
}
