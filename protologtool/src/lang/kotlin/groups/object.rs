//! One group in Kotlin source: the values of its properties and functions, from the arguments of
//! its constructor.
//!
//! A property that is looked for is one of the body of an enum's constant, of its class, of a class
//! that it extends in the same file, or a parameter of the constructor.

use super::value::{Evaluated, KotlinEvaluator, KotlinValue, Members, Unknown};
use crate::groups::Group;
use crate::lang::jvm::groups::INTERFACES;
use crate::lang::kotlin::file::KotlinFile;
use crate::lang::kotlin::names::ScopedFile;
use crate::lang::kotlin::scopes::{DeclaredKind, DeclaredName};
use std::collections::{HashMap, HashSet};
use std::ops::Range;

/// The depth to which supertypes are looked at.
const MAX_SUPERTYPES: usize = 8;

/// An object that is a group.
pub(super) struct KotlinObject<'e, 's> {
    named: &'e ScopedFile<'s>,
    /// The open braces of the bodies that may declare its members, in the order in which they are
    /// looked at.
    bodies: Vec<usize>,
    parameters: HashMap<String, Evaluated>,
    /// The parameters that are properties, too.
    properties: HashSet<String>,
    /// Those that are assigned again.
    changed: HashMap<String, Unknown>,
    /// A supertype whose members are not known.
    foreign: Option<Unknown>,
    /// Of an enum's constant its name and its number.
    constant: Option<(String, usize)>,
}

/// A getter that a group has to have, and does not.
pub(super) enum NoGroup {
    Missing(&'static str),
    Unknown(Unknown),
}

impl<'e, 's> KotlinObject<'e, 's> {
    /// The object of `class` that the arguments in the parentheses at `arguments` make; the body of
    /// an enum's constant is at `own`.
    pub(super) fn new(
        named: &'e ScopedFile<'s>,
        class: Option<&DeclaredName>,
        arguments: Option<usize>,
        own: Option<usize>,
        constant: Option<(String, usize)>,
    ) -> Result<Self, Unknown> {
        let mut bodies: Vec<usize> = own.into_iter().collect();
        bodies.extend(class.into_iter().flat_map(|class| bodies_of(named, class, 0)));
        let foreign = class.and_then(|class| foreign(named, class, 0));
        let (parameters, properties) = (HashMap::new(), HashSet::new());
        let changed = HashMap::new();
        let mut object = Self { named, bodies, parameters, properties, changed, foreign, constant };
        if let Some(class) = class {
            object.bind(constructor(named, class), arguments)?;
            if let Some(other) = object.bodies.iter().find_map(|it| other_constructor(named, *it)) {
                // Which constructor is meant depends on the types of the arguments.
                let values = object.parameters.values_mut();
                values.for_each(|value| *value = Err(Unknown { tokens: other..other + 1 }));
            }
        }
        Ok(object)
    }

    /// The group that it is; `written` is the name in calls, `class` the class of the name in
    /// dictionaries.
    pub(super) fn group(
        &self,
        written: &str,
        class: &str,
    ) -> Result<(Group, Option<Unknown>), NoGroup> {
        let flag = |names: &[&str], default: Option<bool>| match names
            .iter()
            .find_map(|it| self.getter(it))
        {
            None => default.ok_or(NoGroup::Missing("isEnabled")),
            Some(Ok(KotlinValue::Bool(value))) => Ok(value),
            Some(Ok(_)) => Err(NoGroup::Missing("isEnabled")),
            Some(Err(unknown)) => Err(NoGroup::Unknown(unknown)),
        };
        let text = |names: &[&str], what| match names.iter().find_map(|it| self.getter(it)) {
            Some(Ok(KotlinValue::Text(text))) => Ok(text),
            Some(Err(unknown)) => Err(NoGroup::Unknown(unknown)),
            _ => Err(NoGroup::Missing(what)),
        };
        let own_name = match &self.constant {
            Some((name, _)) => name.clone(),
            None => text(&["name", "getName"], "name")?,
        };
        let enabled = flag(&["isEnabled"], Some(true))?;
        let log_to_text = flag(&["isLogToLogcat", "isLogToText"], Some(false))?;
        let group =
            Group::new(class, &own_name, enabled, log_to_text, text(&["getTag"], "getTag")?);
        let group = group.written(written);
        Ok(match self.getter("getId") {
            None => (group, None),
            Some(Ok(KotlinValue::Int(id))) => (group.with_declared_id(id as i32), None),
            Some(Ok(_)) => return Err(NoGroup::Missing("getId")),
            Some(Err(unknown)) => (group, Some(unknown)),
        })
    }

    fn evaluator(&self, is_initial: bool) -> KotlinEvaluator<'_, 's> {
        KotlinEvaluator { named: self.named, object: Some(self), is_initial, depth: 0 }
    }

    /// The result of the method that Java calls `name`: a function, or the getter of a property;
    /// none if only an interface of the runtime can have it.
    fn getter(&self, name: &str) -> Option<Evaluated> {
        if let Some(member) = self.member(name, true) {
            return Some(member.and_then(|it| self.evaluator(false).value(it.tokens)));
        }
        let property = match name.strip_prefix("get") {
            Some(rest) => rest[..1].to_lowercase() + &rest[1..],
            None if name.starts_with("is") => name.to_owned(),
            None => return self.foreign.clone().map(Err),
        };
        self.variable(&property, false, 0).or_else(|| self.foreign.clone().map(Err))
    }

    /// A property, or a function without parameters.
    fn member(&self, name: &str, is_function: bool) -> Option<Result<KotlinMember, Unknown>> {
        self.bodies.iter().find_map(|open| member(self.named, *open, name, is_function))
    }

    /// Returns whether several of its classes declare a property.
    fn is_overridden(&self, name: &str) -> bool {
        let declaring = self.bodies.iter().filter_map(|it| member(self.named, *it, name, false));
        declaring.count() > 1
    }

    /// Gives the parameters of a constructor their values.
    fn bind(&mut self, parameters: Option<usize>, arguments: Option<usize>) -> Result<(), Unknown> {
        let file = &self.named.file;
        let arguments = arguments.map_or(Vec::new(), |open| file.elements(open));
        let parameters = parameters.map_or(Vec::new(), |open| file.elements(open));
        let mut given: HashMap<String, Range<usize>> = HashMap::new();
        let names: Vec<Option<(String, Option<Range<usize>>)>> =
            parameters.iter().map(|it| parameter(file, it)).collect();
        for (position, argument) in arguments.iter().enumerate() {
            let is_named = file.is_word(argument.start)
                && file.is_punct(argument.start + 1, b'=')
                && !file.is_punct(argument.start + 2, b'=');
            let name = if is_named {
                Some(file.word(argument.start).into_owned())
            } else {
                names.get(position).and_then(|it| it.as_ref()).map(|(name, _)| name.clone())
            };
            let value = if is_named { argument.start + 2..argument.end } else { argument.clone() };
            given.insert(name.ok_or(Unknown { tokens: argument.clone() })?, value);
        }
        for tokens in &parameters {
            let keyword = tokens.clone().find(|at| matches!(file.raw(*at), "val" | "var"));
            let Some(keyword) = keyword else { continue };
            let name = file.word(keyword + 1).into_owned();
            if let Some(at) = changes(self.named, keyword, &name) {
                self.changed.insert(name.clone(), Unknown { tokens: at..at + 1 });
            }
            self.properties.insert(name);
        }
        for (name, default) in names.into_iter().flatten() {
            let value = match given.get(&name) {
                Some(value) => {
                    let outside = KotlinEvaluator { object: None, ..self.evaluator(true) };
                    Some(outside.value(value.clone()))
                }
                None => default.map(|value| self.evaluator(true).value(value)),
            };
            if let Some(value) = value {
                self.parameters.insert(name, value);
            }
        }
        Ok(())
    }
}

impl Members for KotlinObject<'_, '_> {
    fn variable(&self, name: &str, is_initial: bool, depth: usize) -> Option<Evaluated> {
        if let Some(found) = self.member(name, false) {
            return Some(found.and_then(|it| {
                // Before an object is made, a property that a getter reads, or another class
                // overrides, may not be set yet.
                let is_unset = is_initial && (!it.is_initial || self.is_overridden(name));
                if is_unset {
                    return Err(Unknown { tokens: it.tokens });
                }
                KotlinEvaluator { depth, ..self.evaluator(it.is_initial) }.value(it.tokens)
            }));
        }
        if self.properties.contains(name) {
            return match self.changed.get(name) {
                Some(unknown) => Some(Err(unknown.clone())),
                None => self.parameters.get(name).cloned(),
            };
        }
        let (constant, number) = self.constant.as_ref()?;
        match name {
            "name" => Some(Ok(KotlinValue::Text(constant.clone()))),
            "ordinal" => i64::try_from(*number).ok().map(|number| Ok(KotlinValue::Int(number))),
            _ => None,
        }
    }

    fn parameter(&self, name: &str) -> Option<Evaluated> {
        self.parameters.get(name).cloned()
    }
}

/// The supertype of a class, or of one that it extends in the same file, whose members are not
/// known: it is of another file, and none of the interfaces of groups. So is a delegate of members.
fn foreign(named: &ScopedFile<'_>, class: &DeclaredName, depth: usize) -> Option<Unknown> {
    let file = &named.file;
    let name = named.token_at(class.offset);
    let unknown = || Unknown { tokens: name..name + 1 };
    let end = class.body.as_ref().map_or(name + 1, |body| named.token_at(body.start));
    if depth >= MAX_SUPERTYPES || (name..end).any(|at| file.raw(at) == "by") {
        return Some(unknown());
    }
    class.supertypes.iter().find_map(|supertype| {
        let found = named.scopes.type_named(supertype, class.offset);
        match found.filter(|it| it.offset != class.offset) {
            Some(found) => foreign(named, found, depth + 1),
            None => {
                let path = [supertype.clone()];
                let is_known = INTERFACES.iter().any(|of| named.means(&path, of, class.offset));
                (!is_known).then(unknown)
            }
        }
    })
}

/// The keyword of a constructor in the body at `open`.
fn other_constructor(named: &ScopedFile<'_>, open: usize) -> Option<usize> {
    let file = &named.file;
    let (mut at, close) = (open + 1, file.partner(open));
    while at < close {
        if file.raw(at) == "constructor" && file.is_punct(at + 1, b'(') {
            return Some(at);
        }
        at = file.next(at, close);
    }
    None
}

/// The place where a `var` whose keyword is at `keyword` is assigned again.
fn changes(named: &ScopedFile<'_>, keyword: usize, name: &str) -> Option<usize> {
    let file = &named.file;
    if file.raw(keyword) != "var" {
        return None;
    }
    let is = |at: usize, byte: u8| file.is_punct(at, byte);
    let is_changed = |at: &usize| {
        let (before, after) = (at.wrapping_sub(1), at + 1);
        let is_pair =
            |at: usize| is(at, b'+') && is(at + 1, b'+') || is(at, b'-') && is(at + 1, b'-');
        let is_set = is(after, b'=') && !is(after + 1, b'=');
        let is_compound = b"+-*/%".iter().any(|byte| is(after, *byte)) && is(after + 1, b'=');
        file.is_word(*at)
            && file.word(*at) == name
            && *at != keyword + 1
            && (is_set || is_compound || is_pair(after) || *at > 1 && is_pair(before - 1))
    };
    (0..file.tokens.len()).find(is_changed)
}

/// The bodies of a class and of the classes that it extends in the same file.
fn bodies_of(named: &ScopedFile<'_>, class: &DeclaredName, depth: usize) -> Vec<usize> {
    let mut bodies: Vec<usize> = class.body.iter().map(|body| named.token_at(body.start)).collect();
    if depth < MAX_SUPERTYPES {
        for supertype in &class.supertypes {
            let found = named.scopes.type_named(supertype, class.offset);
            let found = found.filter(|it| it.offset != class.offset);
            bodies.extend(found.into_iter().flat_map(|it| bodies_of(named, it, depth + 1)));
        }
    }
    bodies
}

/// The open parenthesis of a class's primary constructor.
fn constructor(named: &ScopedFile<'_>, class: &DeclaredName) -> Option<usize> {
    let file = &named.file;
    let start = named.token_at(class.offset) + 1;
    let end = class.body.as_ref().map_or(file.tokens.len(), |body| named.token_at(body.start));
    let mut at = if file.is_punct(start, b'<') { file.after_type_arguments(start)? } else { start };
    while at < end && !file.is_punct(at, b'(') {
        if file.is_punct(at, b'@') {
            at = file.after_annotation(at);
        } else if matches!(
            file.raw(at),
            "private" | "internal" | "protected" | "public" | "constructor"
        ) {
            at += 1;
        } else {
            return None;
        }
    }
    (at < end).then_some(at)
}

/// The name of a parameter, and the tokens of its default value.
fn parameter(
    file: &KotlinFile<'_>,
    tokens: &Range<usize>,
) -> Option<(String, Option<Range<usize>>)> {
    let colon = tokens.clone().find(|at| file.is_punct(*at, b':') && file.is_word(at - 1))?;
    let equals = (colon..tokens.end).find(|at| file.is_punct(*at, b'='));
    let default = equals.map(|equals| equals + 1..tokens.end);
    Some((file.word(colon - 1).into_owned(), default))
}

/// The expression of a member.
struct KotlinMember {
    tokens: Range<usize>,
    /// True for the initial value of a property, false for the result of a function or a getter.
    is_initial: bool,
}

/// The member `name` of the body at `open`; unknown if more than an expression gives its value.
fn member(
    named: &ScopedFile<'_>,
    open: usize,
    name: &str,
    is_function: bool,
) -> Option<Result<KotlinMember, Unknown>> {
    let file = &named.file;
    let close = file.partner(open);
    let mut at = open + 1;
    while at < close {
        let keyword = file.raw(at);
        let is_it = if is_function { keyword == "fun" } else { matches!(keyword, "val" | "var") };
        let is_named = is_it && file.is_word(at + 1) && file.word(at + 1) == name;
        // Of several functions the one without parameters.
        if is_named && (!is_function || file.partner(at + 2) == at + 3) {
            let unknown = Err(Unknown { tokens: at..at + 2 });
            if let Some(place) = changes(named, at, name) {
                return Some(Err(Unknown { tokens: place..place + 1 }));
            }
            let after = if is_function { at + 4 } else { at + 2 };
            return Some(value(file, after, close).map_or(unknown, |(tokens, is_getter)| {
                Ok(KotlinMember { tokens, is_initial: !is_getter && !is_function })
            }));
        }
        at = file.next(at, close);
    }
    None
}

/// The tokens of the value behind a type, `=`, `get() =` or `{ return … }` at `at`; true for a
/// getter.
fn value(file: &KotlinFile<'_>, at: usize, limit: usize) -> Option<(Range<usize>, bool)> {
    let at = after_type(file, at, limit);
    if let Some(getter) = getter_at(file, at, limit) {
        return Some((returned(file, getter, limit)?, true));
    }
    let value = returned(file, at, limit)?;
    // The getter of a property may stand behind its initial value.
    match getter_at(file, value.end, limit) {
        Some(getter) => Some((returned(file, getter, limit)?, true)),
        None => Some((value, false)),
    }
}

/// The position behind `: Type` at `at`.
fn after_type(file: &KotlinFile<'_>, at: usize, limit: usize) -> usize {
    let mut at = at;
    if file.is_punct(at, b':') {
        at += 1;
        while at < limit
            && (file.is_word(at) && !matches!(file.raw(at), "get" | "set" | "by" | "private")
                || file.is_punct(at, b'.')
                || file.is_punct(at, b'?'))
        {
            at += 1;
        }
    }
    at
}

/// The position behind `get()` and its type, where the accessors at `at` have one.
fn getter_at(file: &KotlinFile<'_>, at: usize, limit: usize) -> Option<usize> {
    let mut at = at;
    while at < limit {
        match file.raw(at) {
            "private" | "protected" | "internal" | "public" | "external" | "inline" | ";" => {
                at += 1;
            }
            "@" => at = file.after_annotation(at),
            "get" if file.is_punct(at + 1, b'(') => {
                return Some(after_type(file, file.partner(at + 1) + 1, limit));
            }
            "set" if file.is_punct(at + 1, b'(') => {
                at = file.partner(at + 1) + 1;
                at = if file.is_punct(at, b'{') {
                    file.partner(at) + 1
                } else {
                    returned(file, at, limit)?.end
                };
            }
            "set" => at += 1,
            _ => return None,
        }
    }
    None
}

/// The expression of `= …` or `{ return … }` at `at`.
fn returned(file: &KotlinFile<'_>, at: usize, limit: usize) -> Option<Range<usize>> {
    if file.is_punct(at, b'{') {
        let close = file.partner(at);
        let is_one = file.raw(at + 1) == "return"
            && (at + 2..close).all(|at| !file.is_punct(at, b';') && file.raw(at) != "return");
        return is_one.then_some(at + 2..close);
    }
    if !file.is_punct(at, b'=') {
        return None;
    }
    let start = at + 1;
    let mut end = start;
    while end < limit
        && (end == start || !file.begins_line(end) || continues(file, end))
        && !file.is_punct(end, b';')
    {
        end = file.next(end, limit);
    }
    Some(start..end.min(limit))
}

/// Returns whether the line that begins at `at` goes on with the expression before it.
fn continues(file: &KotlinFile<'_>, at: usize) -> bool {
    let before = file.raw(at - 1);
    matches!(before, "+" | "-" | "&" | "|" | "=" | "<" | ">" | "(" | ",")
        || matches!(file.raw(at), "&" | "|" | "else" | ".")
}

/// The constants of an enum with the body at `open`: the name of each, its arguments and its body.
pub(super) fn constants(
    file: &KotlinFile<'_>,
    open: usize,
) -> Vec<(usize, Option<usize>, Option<usize>)> {
    let close = file.partner(open);
    let (mut found, mut at) = (Vec::new(), open + 1);
    while at < close && !file.is_punct(at, b';') {
        if file.is_punct(at, b'@') {
            at = file.after_annotation(at);
            continue;
        }
        if !file.is_word(at) {
            at += 1;
            continue;
        }
        let name = at;
        at += 1;
        let arguments = file.is_punct(at, b'(').then_some(at);
        at = arguments.map_or(at, |open| file.partner(open) + 1);
        let body = file.is_punct(at, b'{').then_some(at);
        at = body.map_or(at, |open| file.partner(open) + 1);
        found.push((name, arguments, body));
    }
    found
}

/// The variables of an object or of a class's companion that are objects, in source order.
pub(super) fn fields<'e>(named: &'e ScopedFile<'_>, class: &DeclaredName) -> Vec<&'e DeclaredName> {
    let is_object = named.keywords_before(class).contains(&"object");
    let all = named.scopes.all().iter();
    let is_field = |it: &&DeclaredName| {
        let mut around = named.scopes.types_around(it.offset);
        let owner = around.next().map(|owner| (owner.offset, owner.is_companion));
        let outer = around.next().map(|outer| outer.offset);
        let of_class = if is_object {
            owner.is_some_and(|(offset, _)| offset == class.offset)
        } else {
            owner.is_some_and(|(_, is_companion)| is_companion) && outer == Some(class.offset)
        };
        it.kind == DeclaredKind::Property && of_class && named.keywords_before(it).contains(&"val")
    };
    all.filter(is_field).collect()
}
