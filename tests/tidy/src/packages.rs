//! Dependencies point one way, and the runtime stays small: checked on the packages of
//! `cargo metadata`.
//!
//! Dependencies count if they end up in the program that depends on a package: normal and build
//! dependencies, and of a procedural macro only packages of this workspace (its own parser runs in
//! the compiler).

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use xtask::toolchain::PROMISES;

/// For each package of the layers, without `protolog-`, the packages of this workspace that it may
/// name. A package that is not listed here (examples, whole-system tests, tools of the build) may
/// name anything, and nothing listed here may name it.
const LAYERS: &[(&str, &str)] = &[
    ("protozero", ""),
    ("protozero-build", "protozero"),
    ("perfetto-ipc", "files protozero"),
    ("core", ""),
    ("files", ""),
    ("viewer-config", "core protozero"),
    ("macros", "core"),
    ("shmem", "core protozero"),
    ("recording", "core protozero"),
    ("rt", "core files perfetto-ipc protozero macros recording shmem"),
    ("c", "core rt"),
    ("reader", "core protozero recording viewer-config"),
    ("control", "core files"),
    ("class-eval", ""),
    ("tool", "class-eval control core files perfetto-ipc protozero viewer-config reader"),
];

/// Packages that must never be reached, however long the way. A name that ends in `*` stands for
/// all that start so.
const NEVER: [(&str, &str); 2] = [
    (
        "protolog-rt",
        "protolog-viewer-config protolog-reader serde* regex* aho-corasick clap* lexopt syn* tree-sitter* nom winnow \
         pest* logos toml* prost* protobuf*",
    ),
    ("protolog-tool", "protolog-rt protolog-macros"),
];

/// The runtime's own dependencies from outside the workspace, without cargo features.
const RUNTIME: (&str, usize) = ("protolog-rt", 2);

/// Findings, each with the way that should not be.
pub(super) fn check(metadata: &Value) -> Vec<String> {
    let graph = PackageGraph::new(metadata);
    let mut findings = Vec::new();
    for (package, allowed) in LAYERS {
        let package = &format!("protolog-{package}");
        for named in graph.members_named_by(package) {
            let short = named.strip_prefix("protolog-").unwrap_or(named);
            if !allowed.split(' ').any(|it| it == short) {
                findings.push(format!(
                    "{package} depends on {named}; dependencies point the other way"
                ));
            }
        }
    }
    for (package, never) in NEVER {
        for way in graph.ways(package) {
            let reached = way[way.len() - 1];
            if never.split(' ').any(|pattern| matches(pattern, reached)) {
                findings.push(format!(
                    "{package} reaches {reached}, by {}; cut the way",
                    way.join(" -> ")
                ));
            }
        }
    }
    let (package, limit) = RUNTIME;
    let outside = graph.required_from_outside(package);
    if outside.len() > limit {
        let names = outside.join(", ");
        findings.push(format!(
            "{package} depends on {names}; at most {limit} from outside without features"
        ));
    }
    findings.extend(graph.broken_promises());
    findings
}

fn matches(pattern: &str, name: &str) -> bool {
    pattern.strip_suffix('*').map_or(pattern == name, |start| name.starts_with(start))
}

/// The output of `cargo metadata`, by package id.
pub(super) struct PackageGraph<'a> {
    packages: BTreeMap<&'a str, &'a Value>,
    members: BTreeSet<&'a str>,
    /// Package ids of the resolved normal and build dependencies.
    edges: BTreeMap<&'a str, Vec<&'a str>>,
}

impl<'a> PackageGraph<'a> {
    pub(super) fn new(metadata: &'a Value) -> Self {
        let packages = list(&metadata["packages"])
            .iter()
            .map(|package| (text(&package["id"]), package))
            .collect();
        let members = list(&metadata["workspace_members"]).iter().map(text).collect();
        let edges = list(&metadata["resolve"]["nodes"]).iter().map(|node| {
            let linked = list(&node["deps"])
                .iter()
                .filter(|dep| list(&dep["dep_kinds"]).iter().any(is_linked));
            (text(&node["id"]), linked.map(|dep| text(&dep["pkg"])).collect())
        });
        Self { packages, members, edges: edges.collect() }
    }

    fn name(&self, id: &str) -> &'a str {
        text(&self.packages[id]["name"])
    }

    fn id(&self, name: &str) -> Option<&'a str> {
        self.members.iter().copied().find(|id| self.name(id) == name)
    }

    fn edges(&self, id: &str) -> &[&'a str] {
        self.edges.get(id).map_or(&[], Vec::as_slice)
    }

    fn members_named_by(&self, package: &str) -> Vec<&'a str> {
        let Some(id) = self.id(package) else {
            return Vec::new();
        };
        self.edges(id)
            .iter()
            .filter(|to| self.members.contains(*to))
            .map(|to| self.name(to))
            .collect()
    }

    /// For each package that `package` reaches, one way there: names, first and last included.
    fn ways(&self, package: &str) -> Vec<Vec<&'a str>> {
        let mut open: Vec<Vec<&str>> = self.id(package).map(|id| vec![id]).into_iter().collect();
        let mut seen = BTreeSet::new();
        let mut ways = Vec::new();
        while let Some(way) = open.pop() {
            let from = way[way.len() - 1];
            for to in self.edges(from) {
                let compiler_only = self.is_macro(from) && !self.members.contains(to);
                if !compiler_only && seen.insert(*to) {
                    let longer = [&way[..], &[*to]].concat();
                    ways.push(longer.iter().map(|id| self.name(id)).collect());
                    open.push(longer);
                }
            }
        }
        ways
    }

    fn is_macro(&self, id: &str) -> bool {
        list(&self.packages[id]["targets"])
            .iter()
            .any(|target| list(&target["kind"]).iter().any(|kind| kind == "proc-macro"))
    }

    fn required_from_outside(&self, package: &str) -> Vec<&'a str> {
        let Some(id) = self.id(package) else {
            return Vec::new();
        };
        let declared = list(&self.packages[id]["dependencies"]).iter();
        let required = declared.filter(|dep| {
            dep["kind"] != "dev" && dep["optional"] == false && dep["path"].is_null()
        });
        required.map(|dep| text(&dep["name"])).collect()
    }

    /// The packages from outside that programs link with `package`, without optional dependencies
    /// of members.
    pub(super) fn required(&self, package: &str) -> Vec<&'a Value> {
        let mut open: Vec<&str> = self.id(package).into_iter().collect();
        let mut seen = BTreeSet::new();
        while let Some(from) = open.pop() {
            if self.is_macro(from) || !seen.insert(from) {
                continue;
            }
            let is_member = self.members.contains(from);
            let is_required = |to: &&&str| {
                let declared = list(&self.packages[from]["dependencies"]).iter();
                let mut same = declared.filter(|dep| text(&dep["name"]) == self.name(to));
                !is_member || same.any(|dep| dep["optional"] == false && dep["kind"] != "dev")
            };
            open.extend(self.edges(from).iter().filter(is_required));
        }
        let outside = seen.into_iter().filter(|id| !self.members.contains(id));
        outside.map(|id| self.packages[id]).collect()
    }

    /// Packages whose manifest promises another Rust than the one that is tested.
    fn broken_promises(&self) -> Vec<String> {
        let mut findings = Vec::new();
        for promise in PROMISES {
            for package in promise.packages {
                let Some(id) = self.id(package) else {
                    findings.push(format!(
                        "{package} is no member of the workspace; change the tables in xtask/src/toolchain.rs and tests/tidy/src/packages.rs"
                    ));
                    continue;
                };
                let declared = text(&self.packages[id]["rust_version"]);
                if declared != promise.version {
                    findings.push(format!(
                        "{package} says Rust `{declared}`, tested is {}; let them agree",
                        promise.version
                    ));
                }
            }
        }
        findings
    }
}

/// Returns whether a kind of dependency ends up in programs; those for `loom` are for models only.
fn is_linked(kind: &Value) -> bool {
    kind["kind"] != "dev" && kind["target"] != "cfg(loom)"
}

pub(super) fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

pub(super) fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

#[cfg(test)]
mod tests;
