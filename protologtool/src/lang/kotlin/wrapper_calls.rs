//! Finds calls of functions that pass a template on, by the meaning of their names.

use super::method_call::MethodCall;
use super::names::{MAX_ALIASES, ScopedFile};
use super::scopes::DeclaredName;
use super::tag::Instance;
use super::wrapper::OwnWrapper;
use crate::lang::jvm::wrapper::Wrapper;
use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;

/// The functions that a file may call.
pub(super) struct Callable<'w> {
    /// Those of the file.
    pub(super) own: &'w [OwnWrapper<'w>],
    /// Those of all files; none before they are known.
    pub(super) all: Option<&'w [Wrapper]>,
}

/// A call of such a function.
pub(super) struct WrapperCall<'w> {
    pub(super) wrapper: Cow<'w, Wrapper>,
    pub(super) call: MethodCall,
    /// The tokens of an instance because of which the call stays as it is, and why.
    pub(super) unknown: Option<(Range<usize>, &'static str)>,
}

impl<'w> Callable<'w> {
    /// All calls of them in a file, in source order.
    pub(super) fn calls(&self, named: &ScopedFile<'_>) -> Vec<WrapperCall<'w>> {
        let names = self.names(named);
        if names.is_empty() {
            return Vec::new();
        }
        let file = &named.file;
        let is_call = |at: &usize| {
            file.is_word(*at) && file.is_punct(at + 1, b'(') && !file.begins_line(at + 1)
        };
        let calls = (0..file.tokens.len()).filter(is_call).filter_map(|method| {
            names.get(&*file.word(method))?;
            if let Some(call) = self.of_instance(named, method) {
                return Some(call);
            }
            let mut first = method;
            while first >= 2 && file.is_punct(first - 1, b'.') && file.is_word(first - 2) {
                first -= 2;
            }
            let before = first.checked_sub(1).map_or("", |before| file.raw(before));
            if matches!(before, "." | ":" | "fun") {
                return None;
            }
            let path = file.path(first..method + 1)?;
            let offset = file.tokens[first].range().start;
            let wrapper = self.meaning(named, &path, offset, 0)?;
            let class = if first == method { method..method } else { first..method - 1 };
            let call = MethodCall { class, method, name: wrapper.name.clone() };
            Some(WrapperCall { wrapper: Cow::Borrowed(wrapper), call, unknown: None })
        });
        calls.collect()
    }

    /// The call of a method of an instance, at the token `method`.
    fn of_instance(&self, named: &ScopedFile<'_>, method: usize) -> Option<WrapperCall<'w>> {
        let mut methods = self.known().filter(|it| it.of_instance).peekable();
        methods.peek()?;
        let instance = Instance::of_call(named, method)?;
        let name = named.file.word(method);
        let (path, offset) = &instance.class;
        let wrapper = methods.filter(|it| it.name == name).find(|wrapper| {
            let mut classes = wrapper.kotlin_names.iter().filter_map(|it| it.rsplit_once('.'));
            classes.any(|(class, _)| is_class(named, path, class, *offset))
        })?;
        let receiver = instance.receiver.clone();
        let call = MethodCall { class: receiver.clone(), method, name: wrapper.name.clone() };
        let tag = instance.tag(named).filter(|_| wrapper.has_tag());
        let unknown = match (&tag, wrapper.has_tag()) {
            (None, true) => Some("the tag of this instance is no constant"),
            (None, false) if instance.is_made => Some("an instance is made for it"),
            _ => None,
        };
        let wrapper = match tag {
            Some(tag) => Cow::Owned(wrapper.with_tag(&tag)),
            None => Cow::Borrowed(wrapper),
        };
        Some(WrapperCall { wrapper, call, unknown: unknown.map(|why| (receiver, why)) })
    }

    /// All functions: those of the file that others can't call, and those of all files, as far as
    /// they are known.
    fn known(&self) -> impl Iterator<Item = &'w Wrapper> {
        let own = self.own.iter().filter(|own| !own.is_exported || self.all.is_none());
        own.map(|own| &own.wrapper).chain(self.all.unwrap_or_default())
    }

    /// The names that the functions have in a file.
    fn names<'n>(&'n self, named: &'n ScopedFile<'_>) -> HashSet<&'n str> {
        let all = self.all.unwrap_or_default();
        let mut names: HashSet<&str> = self.own.iter().map(|own| &*own.wrapper.name).collect();
        names.extend(all.iter().map(|wrapper| &*wrapper.name));
        for import in &named.file.imports {
            if let Some(name) = &import.name
                && all.iter().any(|wrapper| wrapper.kotlin_names.contains(&import.path))
            {
                names.insert(name);
            }
        }
        names
    }

    /// The function that the names `path` mean at `offset`, looked for through `depth` aliases.
    fn meaning(
        &self,
        named: &ScopedFile<'_>,
        path: &[String],
        offset: usize,
        depth: usize,
    ) -> Option<&'w Wrapper> {
        let [first, rest @ ..] = path else { return None };
        if named.scopes.variable(first, offset).is_some() {
            return None;
        }
        if rest.is_empty() {
            if let Some(declared) = named.scopes.function(first, offset) {
                return self.declared(named, declared);
            }
        } else if let Some(declared) = named.scopes.type_named(first, offset) {
            if let Some(target) = &declared.written_type {
                let target = target.split('.').map(str::to_owned);
                let path: Vec<String> = target.chain(rest.iter().cloned()).collect();
                return (depth < MAX_ALIASES)
                    .then(|| self.meaning(named, &path, declared.offset, depth + 1))?;
            }
            let (of, _) = named.canonical(declared);
            return self.called(&[format!("{of}.{}", rest.join("."))]);
        }
        if named.inherits(first, offset) {
            return None;
        }
        self.called(&named.elsewhere(path))
    }

    /// The function that the file declares.
    fn declared(&self, named: &ScopedFile<'_>, declared: &DeclaredName) -> Option<&'w Wrapper> {
        let own = self.own.iter().find(|own| std::ptr::eq(own.declared, declared))?;
        if own.wrapper.has_tag() {
            return None;
        }
        if own.wrapper.of_instance {
            return Some(&own.wrapper);
        }
        // Another file may have one of the same name.
        if own.is_exported && self.all.is_some() {
            return self.called(&[named.canonical(declared).0]);
        }
        Some(&own.wrapper)
    }

    /// The function that has the first of these canonical names that one has.
    fn called(&self, names: &[String]) -> Option<&'w Wrapper> {
        let is_called = |it: &&Wrapper| !it.of_instance;
        let own = self.own.iter().filter(|own| own.is_exported).map(|own| &own.wrapper);
        let all: Vec<&Wrapper> = match self.all {
            Some(all) => all.iter().filter(is_called).collect(),
            None => own.filter(is_called).collect(),
        };
        let has =
            |name: &String| all.iter().find(|wrapper| wrapper.kotlin_names.contains(name)).copied();
        names.iter().find_map(has)
    }
}

/// Returns whether the names `path` mean the class `class`, which may be one within another.
fn is_class(named: &ScopedFile<'_>, path: &[String], class: &str, offset: usize) -> bool {
    let declared = named.scopes.type_named(&path[0], offset).filter(|it| it.written_type.is_none());
    match declared {
        Some(declared) if named.scopes.variable(&path[0], offset).is_none() => {
            let (canonical, _) = named.canonical(declared);
            [&[canonical], &path[1..]].concat().join(".") == class
        }
        _ => named.means(path, class, offset),
    }
}
