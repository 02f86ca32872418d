//! The crates of the workspace as trees of modules, with the imports between their files: for the
//! rules on structure.
//!
//! Invariant: an import leads to the file that defines the item it names, through any number of
//! re-exports, or to the last module that could be followed where a macro or another crate defines
//! it.

mod items;
mod resolve;

use std::collections::BTreeMap;
use std::sync::Arc;

pub(super) use items::{Definition, Items, is_test, items};

/// The text files of the workspace: path and text.
pub(super) type Sources = BTreeMap<String, String>;

/// The items of the Rust files, by path.
pub(super) type ItemsOf = BTreeMap<String, Arc<Items>>;

/// A module's names from the root of its crate; none for the root itself.
pub(super) type ModulePath = Vec<String>;

/// One target of a package: its library, a program, a test.
#[derive(Debug)]
pub(super) struct Target {
    pub(super) package: String,
    /// False for tests, benches and examples.
    pub(super) is_product: bool,
    pub(super) modules: BTreeMap<ModulePath, Node>,
    /// By path.
    pub(super) files: ItemsOf,
    pub(super) imports: Vec<Import>,
}

/// A module of a target.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) file: String,
    pub(super) is_test: bool,
    /// The condition on the module and those around it.
    pub(super) cfg: Option<String>,
}

/// A file or module that names something of another.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Import {
    pub(super) line: usize,
    /// As it is written.
    pub(super) text: String,
    pub(super) from: ModulePath,
    pub(super) to: ModulePath,
    pub(super) is_test: bool,
}

impl Target {
    /// Reads the target whose root is the file `root`.
    pub(super) fn read(package: &str, root: &str, is_product: bool, sources: &ItemsOf) -> Self {
        let (modules, files) = (BTreeMap::new(), BTreeMap::new());
        let package = package.to_owned();
        let mut target = Self { package, is_product, modules, files, imports: Vec::new() };
        let node = Node { file: root.to_owned(), is_test: false, cfg: None };
        target.add(&Vec::new(), node, sources);
        target.imports = resolve::imports(&target);
        target
    }

    /// Adds a module that has a file of its own, and those below it.
    fn add(&mut self, path: &ModulePath, node: Node, sources: &ItemsOf) {
        let Some(found) = sources.get(&node.file).cloned() else { return };
        let (file, is_test, cfg) = (node.file.clone(), node.is_test, node.cfg.clone());
        self.modules.insert(path.clone(), node);
        for module in &found.modules {
            let below = [&path[..], &module.path].concat();
            let cfgs: Vec<&str> =
                [&cfg, &module.cfg].into_iter().filter_map(|it| it.as_deref()).collect();
            let mut node = Node {
                file: file.clone(),
                is_test: is_test || module.is_test,
                cfg: (!cfgs.is_empty()).then(|| cfgs.join(" ")),
            };
            if module.is_inline {
                self.modules.insert(below, node);
                continue;
            }
            let Some(own) =
                file_of(&file, path.is_empty(), &module.path, module.file.as_deref(), sources)
            else {
                continue;
            };
            node.file = own;
            self.add(&below, node, sources);
        }
        self.files.insert(file, found);
    }

    /// The file of a module.
    pub(super) fn file(&self, module: &[String]) -> &str {
        self.modules.get(module).map_or("", |node| &node.file)
    }

    /// True for a module that only tests see.
    pub(super) fn is_test(&self, module: &[String]) -> bool {
        self.modules.get(module).is_some_and(|node| node.is_test)
    }

    /// The definitions of one kind that a user of the crate gets, each with its file.
    pub(super) fn definitions<'a>(
        &'a self,
        of: impl Fn(&'a Items) -> &'a [Definition],
    ) -> Vec<(&'a str, &'a Definition)> {
        let tests: Vec<&str> = self
            .modules
            .values()
            .filter(|node| node.is_test)
            .map(|node| node.file.as_str())
            .collect();
        let roots = self.modules.values().filter(|node| !node.is_test);
        let shared: Vec<&str> = roots.map(|node| node.file.as_str()).collect();
        let mut found = Vec::new();
        for (file, items) in &self.files {
            if tests.contains(&file.as_str()) && !shared.contains(&file.as_str()) {
                continue;
            }
            let definitions = of(items).iter().filter(|definition| !definition.is_test);
            found.extend(definitions.map(|definition| (file.as_str(), definition)));
        }
        found
    }
}

/// The file of the module `names` that `file` declares: the last name is the module's own, those
/// before are inline.
fn file_of(
    file: &str,
    is_root: bool,
    names: &[String],
    named: Option<&str>,
    sources: &ItemsOf,
) -> Option<String> {
    let (folder, name) = file.rsplit_once('/').unwrap_or(("", file));
    if let Some(named) = named {
        return Some(normal(&format!("{folder}/{named}")));
    }
    let stem = name.strip_suffix(".rs").unwrap_or(name);
    let own = if is_root || stem == "mod" { folder.to_owned() } else { format!("{folder}/{stem}") };
    let base = format!("{own}/{}", names.join("/"));
    let places = [format!("{base}.rs"), format!("{base}/mod.rs")];
    places.into_iter().find(|place| sources.contains_key(place))
}

/// The path without `..`.
fn normal(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        if part == ".." {
            parts.pop();
        } else {
            parts.push(part);
        }
    }
    parts.join("/")
}

/// For the tests of the rules: files, each `path` a line `== path` before its text.
#[cfg(test)]
pub(super) fn sources(text: &str) -> ItemsOf {
    let parts = text.split("== ").skip(1);
    let file = |part: &str| {
        let (path, text) = part.split_once('\n').unwrap_or((part, ""));
        let file = syn::parse_file(text).expect("Rust");
        (path.to_owned(), Arc::new(items(&file)))
    };
    parts.map(file).collect()
}
