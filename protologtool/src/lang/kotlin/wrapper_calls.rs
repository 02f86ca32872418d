//! Finds calls of functions that pass a template on, by the meaning of their names.

use super::method_call::MethodCall;
use super::names::{MAX_ALIASES, ScopedFile};
use super::scopes::DeclaredName;
use super::wrapper::OwnWrapper;
use crate::lang::wrapper::Wrapper;
use std::collections::HashSet;

/// The functions that a file may call.
pub(super) struct Callable<'w> {
    /// Those of the file.
    pub(super) own: &'w [OwnWrapper<'w>],
    /// Those of all files; none before they are known.
    pub(super) all: Option<&'w [Wrapper]>,
}

impl<'w> Callable<'w> {
    /// All calls of them in a file, in source order.
    pub(super) fn calls(&self, named: &ScopedFile<'_>) -> Vec<(&'w Wrapper, MethodCall)> {
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
            Some((wrapper, MethodCall { class, method, name: wrapper.name.clone() }))
        });
        calls.collect()
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
        // Another file may have one of the same name.
        if own.is_exported && self.all.is_some() {
            return self.called(&[named.canonical(declared).0]);
        }
        Some(&own.wrapper)
    }

    /// The function that has the first of these canonical names that one has.
    fn called(&self, names: &[String]) -> Option<&'w Wrapper> {
        let own = self.own.iter().filter(|own| own.is_exported).map(|own| &own.wrapper);
        let all: Vec<&Wrapper> = match self.all {
            Some(all) => all.iter().collect(),
            None => own.collect(),
        };
        let has =
            |name: &String| all.iter().find(|wrapper| wrapper.kotlin_names.contains(name)).copied();
        names.iter().find_map(has)
    }
}
