//! Paths followed to the module that defines the items they name.

use std::collections::BTreeMap;

use super::{Import, ModulePath, Target};

/// Steps through re-exports before a path counts as circular.
const MOST_STEPS: usize = 16;

/// The names that one module offers to paths.
#[derive(Default)]
struct Names {
    defined: Vec<String>,
    /// Names brought in by `use`, with their paths.
    aliases: BTreeMap<String, Vec<String>>,
    /// Paths of which all names are brought in.
    globs: Vec<Vec<String>>,
}

/// All imports of a target that lead to another of its modules.
pub(super) fn imports(target: &Target) -> Vec<Import> {
    let resolver = Resolver::new(target);
    let mut imports = Vec::new();
    for (module, node) in &target.modules {
        if !is_file_root(target, module) {
            continue;
        }
        let Some(items) = target.files.get(&node.file) else { continue };
        for path in &items.paths {
            let from = [&module[..], &path.scope].concat();
            let Some(to) = resolver.resolve(&from, &path.segments, 0) else { continue };
            if to == from {
                continue;
            }
            let mut text = path.segments.join("::");
            if path.alias.as_deref() == Some("*") {
                text.push_str("::*");
            }
            let is_test = path.is_test || target.is_test(&from);
            imports.push(Import { line: path.line, text, from, to, is_test });
        }
    }
    imports
}

/// True for a module that is a whole file.
fn is_file_root(target: &Target, module: &[String]) -> bool {
    let Some((_, parent)) = module.split_last() else { return true };
    target.file(parent) != target.file(module)
}

struct Resolver<'a> {
    target: &'a Target,
    names: BTreeMap<ModulePath, Names>,
    /// Macros that stand at the crate's root, wherever they are defined.
    exported: BTreeMap<String, ModulePath>,
}

impl<'a> Resolver<'a> {
    fn new(target: &'a Target) -> Self {
        let mut names: BTreeMap<ModulePath, Names> = BTreeMap::new();
        let mut exported = BTreeMap::new();
        for (module, node) in &target.modules {
            names.entry(module.clone()).or_default();
            if !is_file_root(target, module) {
                continue;
            }
            let Some(items) = target.files.get(&node.file) else { continue };
            let all = [&items.types, &items.values, &items.statics, &items.macros];
            for definition in all.into_iter().flatten() {
                let at = [&module[..], &definition.scope].concat();
                if definition.is_exported {
                    exported.insert(definition.name.clone(), at.clone());
                }
                names.entry(at).or_default().defined.push(definition.name.clone());
            }
            for path in &items.paths {
                let Some(alias) = &path.alias else { continue };
                let names = names.entry([&module[..], &path.scope].concat()).or_default();
                if alias == "*" {
                    names.globs.push(path.segments.clone());
                } else {
                    names.aliases.insert(alias.clone(), path.segments.clone());
                }
            }
        }
        Self { target, names, exported }
    }

    fn child(&self, module: &[String], name: &str) -> Option<ModulePath> {
        let child = [module, &[name.to_owned()]].concat();
        self.target.modules.contains_key(&child).then_some(child)
    }

    /// The module that a path leads to from `from`; none where it leads out of the crate.
    fn resolve(&self, from: &[String], segments: &[String], steps: usize) -> Option<ModulePath> {
        if steps > MOST_STEPS {
            return None;
        }
        let (first, mut rest) = segments.split_first()?;
        let mut module = match first.as_str() {
            "crate" => Vec::new(),
            "self" => from.to_vec(),
            "super" => {
                let mut module = parent(from)?;
                while let Some((_, after)) = rest.split_first().filter(|(name, _)| *name == "super")
                {
                    (module, rest) = (parent(&module)?, after);
                }
                module
            }
            // `use a::b` must not find itself when it looks for `a`.
            _ => return self.named(from, segments, steps),
        };
        while let Some((name, after)) = rest.split_first() {
            if let Some(child) = self.child(&module, name) {
                (module, rest) = (child, after);
                continue;
            }
            return Some(self.named(&module, rest, steps).unwrap_or(module));
        }
        Some(module)
    }

    /// Follows `segments` from the names of `module`; none where the first is not among them.
    fn named(&self, module: &[String], segments: &[String], steps: usize) -> Option<ModulePath> {
        let (name, rest) = segments.split_first()?;
        if let Some(child) = self.child(module, name) {
            let below = [&["self".to_owned()], rest].concat();
            return self.resolve(&child, &below, steps + 1);
        }
        let names = self.names.get(module)?;
        if names.defined.contains(name) {
            return Some(module.to_vec());
        }
        if let Some(path) = names.aliases.get(name)
            && path != segments
        {
            return self.resolve(module, &[&path[..], rest].concat(), steps + 1);
        }
        if module.is_empty()
            && let Some(module) = self.exported.get(name)
        {
            return Some(module.clone());
        }
        names.globs.iter().find_map(|glob| {
            let through = self.resolve(module, glob, steps + 1)?;
            if through == module { None } else { self.named(&through, segments, steps + 1) }
        })
    }
}

fn parent(module: &[String]) -> Option<ModulePath> {
    module.split_last().map(|(_, parent)| parent.to_vec())
}

#[cfg(test)]
mod tests {
    use super::super::{Target, sources};

    /// The imports of a crate, as `from: text -> to`.
    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let target = Target::read("a", "a/src/lib.rs", true, &sources(text));
        let found: Vec<String> = target
            .imports
            .iter()
            .map(|it| format!("{}: {} -> {}", it.from.join("::"), it.text, it.to.join("::")))
            .collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn imports_lead_to_the_file_that_defines_the_name() {
        check(
            "== a/src/lib.rs\nmod b;\nmod c;\npub use b::Deep;\n\
             == a/src/b.rs\nmod d;\npub use d::Deep;\npub struct Own;\n\
             == a/src/b/d.rs\npub struct Deep;\n\
             == a/src/c.rs\nuse crate::{Deep, b::{self, Own}};\nfn f() { b::Own; crate::b::g(); Deep::new(); }\n",
            &[
                ": b::Deep -> b::d",
                "b: d::Deep -> b::d",
                "c: crate::Deep -> b::d",
                "c: crate::b -> b",
                "c: crate::b::Own -> b",
                "c: b::Own -> b",
                "c: crate::b::g -> b",
                "c: Deep::new -> b::d",
            ],
        );
    }

    #[test]
    fn globs_supers_and_macros_are_followed() {
        check(
            "== a/src/lib.rs\n#[macro_use]\nmod m;\nmod b;\n\
             == a/src/m.rs\n#[macro_export]\nmacro_rules! say { () => { crate::b::go() } }\n\
             == a/src/b.rs\nmod c;\nmod d;\npub use d::*;\npub fn go() { crate::say!(); }\n\
             == a/src/b/c.rs\nuse super::super::b::Far;\nuse super::Far as F;\n\
             == a/src/b/d.rs\npub struct Far;\n",
            &[
                "b: d::* -> b::d",
                "b: crate::say -> m",
                "b::c: super::super::b::Far -> b::d",
                "b::c: super::Far -> b::d",
                "m: crate::b::go -> b",
            ],
        );
    }

    #[test]
    fn other_crates_lead_no_further_than_their_reexport() {
        check(
            "== a/src/lib.rs\nmod b;\npub use std::fmt;\n\
             == a/src/b.rs\nuse std::fmt::Write;\nuse crate::fmt;\nfn f() { fmt::Error; Vec::new(); }\n",
            &["b: crate::fmt -> ", "b: fmt::Error -> "],
        );
    }

    #[test]
    fn modules_in_one_file_are_modules() {
        check(
            "== a/src/lib.rs\nmod b;\nmod c { use super::b::X; pub fn f() {} }\n\
             == a/src/b.rs\npub struct X;\nuse crate::c::f;\n",
            &["c: super::b::X -> b", "b: crate::c::f -> c"],
        );
    }
}
