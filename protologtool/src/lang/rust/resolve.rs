//! The meanings of names: from a path and the scopes around it to the runtime's macros, modules and
//! enums.
//!
//! Names are looked up as the compiler does it, as far as log calls and groups need it: blocks from
//! the inside out, then the module, there items before imports before globs, then crates. A path
//! that the run does not know leads into another crate.

use super::RUNTIME;
use super::crates::{Crates, Module};
use super::table::{Item, Table};
use super::tokens::{Path, plain};
use crate::system::System;
use protolog_core::Level;
use std::collections::HashSet;
use std::sync::Arc;

/// The target of a path.
#[derive(Clone, Debug)]
pub(super) enum Entity {
    /// Something of a crate that is not in the run.
    Extern(String),
    /// A module of a crate that is.
    Module(Module),
    /// An enum.
    Enum { krate: usize, name: String, variants: Arc<[String]> },
    /// A variant of an enum.
    Variant { krate: usize, name: String, variant: String },
    /// A macro of the run's own.
    Macro,
    /// Something else.
    Other,
}

/// Which kind of name is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Space {
    /// Macros, derives included.
    Macro,
    /// Everything else.
    Value,
}

/// A scope: of a module, or of a block within it.
#[derive(Clone, Debug)]
pub(super) struct Scope {
    pub(super) module: Module,
    /// The declarations of the block, or of the module.
    pub(super) table: Arc<Table>,
    pub(super) is_block: bool,
}

/// Looks names up.
#[derive(Clone, Copy)]
pub(super) struct PathResolver<'a> {
    pub(super) crates: &'a Crates,
    pub(super) system: Option<&'a dyn System>,
    /// Paths of modules that pass the runtime's macros on, beside the runtime itself: `crate::log`,
    /// `logging::macros`.
    pub(super) macro_paths: &'a [String],
}

/// The imports that are followed one after another.
const MAX_IMPORTS: usize = 100;

/// Imports that are being followed, so that one which leads to itself ends, and those that led
/// nowhere, so that modules which take everything from each other are not searched on every way to
/// them.
#[derive(Default)]
struct Visited {
    imports: HashSet<(*const Table, usize, String, Space)>,
    /// The paths that are being followed.
    depth: usize,
}

impl PathResolver<'_> {
    /// The name, in the runtime, of the item that a path leads to there.
    pub(super) fn runtime_item(
        &self,
        scopes: &[Scope],
        path: &Path,
        space: Space,
    ) -> Option<String> {
        match self.resolve(scopes, path, space) {
            Entity::Extern(full) => {
                let (base, name) = full.rsplit_once("::")?;
                let krate = scopes.last()?.module.krate;
                if self.is_levels(krate, base) {
                    return super::macro_in_levels(name).map(str::to_owned);
                }
                self.is_runtime(krate, base).then(|| name.to_owned())
            }
            _ => None,
        }
    }

    /// Returns whether a name leads to several of the runtime's macros: by imports of which one
    /// holds, on conditions.
    pub(super) fn is_ambiguous(&self, scopes: &[Scope], path: &Path) -> bool {
        let [name] = &path.names[..] else { return false };
        for (index, scope) in scopes.iter().enumerate().rev() {
            let imports = scope.table.uses.iter();
            let named = imports.filter(|import| import.name.as_deref() == Some(plain(name)));
            let around = &scopes[..=index];
            let macros: HashSet<String> = named
                .filter_map(|import| self.runtime_item(around, &import.path, Space::Macro))
                .collect();
            if !macros.is_empty() || !scope.is_block {
                return macros.len() > 1;
            }
        }
        false
    }

    /// The level that a path leads to, which must be constant.
    pub(super) fn level(&self, scopes: &[Scope], path: &Path) -> Option<Level> {
        let Entity::Extern(full) = self.resolve(scopes, path, Space::Value) else { return None };
        let (base, name) = full.rsplit_once("::")?;
        let krate = scopes.last()?.module.krate;
        self.is_level(krate, base).then(|| super::level(name)).flatten()
    }

    /// The target of a path, from the innermost of `scopes`.
    pub(super) fn resolve(&self, scopes: &[Scope], path: &Path, space: Space) -> Entity {
        self.follow(scopes, path, space, &mut Visited::default())
    }

    fn is_runtime(&self, krate: usize, base: &str) -> bool {
        base == RUNTIME
            || self.macro_paths.iter().any(|path| path == base)
            || self.crates.names_of_runtime(krate).iter().any(|name| name == base)
    }

    /// Returns whether a path leads to the runtime's module with the other names of its macros.
    fn is_levels(&self, krate: usize, path: &str) -> bool {
        path.rsplit_once("::")
            .is_some_and(|(base, name)| name == super::LEVELS && self.is_runtime(krate, base))
    }

    /// Returns whether a path leads to the runtime's enum of levels.
    fn is_level(&self, krate: usize, path: &str) -> bool {
        path.rsplit_once("::")
            .is_some_and(|(base, name)| name == "Level" && self.is_runtime(krate, base))
    }

    fn follow(&self, scopes: &[Scope], path: &Path, space: Space, visited: &mut Visited) -> Entity {
        if visited.depth > MAX_IMPORTS {
            return Entity::Other;
        }
        visited.depth += 1;
        let entity = self.follow_each(scopes, path, space, visited);
        visited.depth -= 1;
        entity
    }

    fn follow_each(
        &self,
        scopes: &[Scope],
        path: &Path,
        space: Space,
        visited: &mut Visited,
    ) -> Entity {
        let (Some(scope), Some((first, rest))) = (scopes.last(), path.names.split_first()) else {
            return Entity::Other;
        };
        let first_space = if rest.is_empty() { space } else { Space::Value };
        let module = &scope.module;
        let mut entity = match first.as_str() {
            _ if path.absolute => self.crate_named(module.krate, plain(first)),
            "crate" => self.module(module.krate, &[]),
            "self" => Entity::Module(module.clone()),
            "super" => self.parent(module),
            name => self.in_scopes(scopes, plain(name), first_space, visited),
        };
        for (index, name) in rest.iter().enumerate() {
            let space = if index + 1 == rest.len() { space } else { Space::Value };
            entity = match (entity, name.as_str()) {
                (Entity::Module(module), "super") => self.parent(&module),
                (Entity::Module(module), "self") => Entity::Module(module),
                (Entity::Module(module), name) => {
                    self.in_module(&module, plain(name), space, visited).unwrap_or(Entity::Other)
                }
                (Entity::Extern(path), name) => Entity::Extern(format!("{path}::{}", plain(name))),
                (Entity::Enum { krate, name: of, variants }, name) => {
                    variant(krate, &of, &variants, plain(name)).unwrap_or(Entity::Other)
                }
                _ => Entity::Other,
            };
        }
        entity
    }

    fn module(&self, krate: usize, path: &[String]) -> Entity {
        self.crates.module(krate, path, self.system).map_or(Entity::Other, Entity::Module)
    }

    fn parent(&self, module: &Module) -> Entity {
        match module.path.split_last() {
            Some((_, parent)) => self.module(module.krate, parent),
            None => Entity::Other,
        }
    }

    /// A crate, by a name that no scope around has: one that crate `from` gives it at its root, or
    /// that it knows it by.
    fn crate_named(&self, from: usize, name: &str) -> Entity {
        let root = self.crates.module(from, &[], self.system);
        let renamed = root.as_ref().and_then(|root| {
            root.table.renamed.iter().find(|(known, _)| known == name).map(|(_, krate)| krate)
        });
        match (renamed.map(String::as_str), &root) {
            (Some("self"), Some(root)) => Entity::Module(root.clone()),
            (Some(krate), _) => self.krate(from, krate),
            _ => self.krate(from, name),
        }
    }

    /// A crate, by the name that crate `from` knows it by.
    fn krate(&self, from: usize, name: &str) -> Entity {
        match self.crates.library(from, name) {
            Some(krate) if name != RUNTIME => self.module(krate, &[]),
            _ => Entity::Extern(name.to_owned()),
        }
    }

    fn in_scopes(
        &self,
        scopes: &[Scope],
        name: &str,
        space: Space,
        visited: &mut Visited,
    ) -> Entity {
        for (index, scope) in scopes.iter().enumerate().rev() {
            let found = if scope.is_block {
                self.in_table(&scope.table, &scopes[..=index], name, space, visited)
            } else {
                self.in_module(&scope.module, name, space, visited)
            };
            if let Some(entity) = found {
                return entity;
            }
            if !scope.is_block {
                break;
            }
        }
        match space {
            Space::Value => match scopes.last() {
                Some(scope) => self.crate_named(scope.module.krate, name),
                None => Entity::Other,
            },
            Space::Macro => self.everywhere(scopes, name),
        }
    }

    /// A macro of a crate whose macros are in scope everywhere.
    fn everywhere(&self, scopes: &[Scope], name: &str) -> Entity {
        let krate = scopes.last().map(|scope| scope.module.krate);
        let root = krate.and_then(|krate| self.crates.module(krate, &[], self.system));
        let Some(root) = root.filter(|_| super::is_exported(name)) else { return Entity::Other };
        let runtime = root.table.macro_use.iter().find(|used| self.is_runtime(root.krate, used));
        runtime.map_or(Entity::Other, |runtime| Entity::Extern(format!("{runtime}::{name}")))
    }

    fn in_module(
        &self,
        module: &Module,
        name: &str,
        space: Space,
        visited: &mut Visited,
    ) -> Option<Entity> {
        if space == Space::Macro && super::is_exported(name) {
            let path = ["crate"].into_iter().chain(module.path.iter().map(String::as_str));
            let path = path.collect::<Vec<_>>().join("::");
            if self.macro_paths.contains(&path) {
                return Some(Entity::Extern(format!("{RUNTIME}::{name}")));
            }
        }
        let scope = Scope { module: module.clone(), table: module.table.clone(), is_block: false };
        self.in_table(&module.table, &[scope], name, space, visited)
    }

    /// The meaning of a name by a table, whose own paths start at `scopes`.
    fn in_table(
        &self,
        table: &Arc<Table>,
        scopes: &[Scope],
        name: &str,
        space: Space,
        visited: &mut Visited,
    ) -> Option<Entity> {
        let module = &scopes.last()?.module;
        if space == Space::Value
            && let Some(item) = table.items.get(name)
        {
            return Some(self.item(item, module, name, scopes, visited));
        }
        for wants_globs in [false, true] {
            for (index, import) in table.uses.iter().enumerate() {
                let is_meant = match &import.name {
                    Some(known) => !wants_globs && known == name,
                    None => wants_globs,
                };
                if !is_meant {
                    continue;
                }
                let key = (Arc::as_ptr(table), index, name.to_owned(), space);
                if !visited.imports.insert(key.clone()) {
                    continue;
                }
                let found = match &import.name {
                    Some(_) => Some(self.follow(scopes, &import.path, space, visited)),
                    None => {
                        let base = self.follow(scopes, &import.path, Space::Value, visited);
                        self.in_glob(&base, module.krate, name, space, visited)
                    }
                };
                // An import brings all that has the name; it may have no macro, and other things.
                if found.is_some() && (space == Space::Value || is_macro(found.as_ref())) {
                    visited.imports.remove(&key);
                    return found;
                }
            }
            if space == Space::Macro && table.macros.contains(name) {
                return Some(Entity::Macro);
            }
        }
        None
    }

    fn item(
        &self,
        item: &Item,
        module: &Module,
        name: &str,
        scopes: &[Scope],
        visited: &mut Visited,
    ) -> Entity {
        let krate = module.krate;
        let below = || module.path.iter().cloned().chain([name.to_owned()]).collect::<Vec<_>>();
        match item {
            Item::Inline(table) => {
                Entity::Module(Module { krate, path: below(), table: table.clone() })
            }
            Item::File => {
                let raw = || module.path.iter().cloned().chain([format!("r#{name}")]).collect();
                let found = self.crates.module(krate, &below(), self.system);
                let found = found.or_else(|| {
                    let raw: Vec<String> = raw();
                    self.crates.module(krate, &raw, self.system)
                });
                found.map_or(Entity::Other, Entity::Module)
            }
            Item::Enum(variants) => {
                Entity::Enum { krate, name: name.to_owned(), variants: variants.clone() }
            }
            Item::Const(path) => {
                let key = (Arc::as_ptr(&module.table), usize::MAX, name.to_owned(), Space::Value);
                if !visited.imports.insert(key.clone()) {
                    return Entity::Other;
                }
                let entity = self.follow(scopes, path, Space::Value, visited);
                visited.imports.remove(&key);
                entity
            }
            Item::Other => Entity::Other,
        }
    }

    fn in_glob(
        &self,
        base: &Entity,
        krate: usize,
        name: &str,
        space: Space,
        visited: &mut Visited,
    ) -> Option<Entity> {
        match base {
            Entity::Module(module) => self.in_module(module, name, space, visited),
            Entity::Enum { krate, name: of, variants } if space == Space::Value => {
                variant(*krate, of, variants, name)
            }
            Entity::Extern(path) if self.is_runtime(krate, path) && super::is_exported(name) => {
                Some(Entity::Extern(format!("{path}::{name}")))
            }
            Entity::Extern(path)
                if self.is_levels(krate, path) && super::macro_in_levels(name).is_some() =>
            {
                Some(Entity::Extern(format!("{path}::{name}")))
            }
            Entity::Extern(path) if self.is_level(krate, path) && super::level(name).is_some() => {
                Some(Entity::Extern(format!("{path}::{name}")))
            }
            _ => None,
        }
    }
}

/// Returns whether something may be a macro: an item of another crate may be anything.
fn is_macro(entity: Option<&Entity>) -> bool {
    matches!(entity, Some(Entity::Extern(_) | Entity::Macro))
}

fn variant(krate: usize, name: &str, variants: &[String], variant: &str) -> Option<Entity> {
    let is_known = variants.iter().any(|known| known == variant);
    is_known.then(|| Entity::Variant { krate, name: name.to_owned(), variant: variant.to_owned() })
}
