//! No file imports itself by way of others: cycles of files make a crate impossible to read in any order.
//!
//! A module and its parent may name each other, so the two directions between them are no part of a cycle. Tests may
//! import what they like.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::model::{Import, Target};
use super::{Finding, Place};

/// One finding per file that lies on a cycle: the shortest cycle through it.
pub(super) fn check(targets: &[Target]) -> Vec<Place> {
    let graph = ImportGraph::new(targets);
    let mut found = Vec::new();
    for file in graph.edges.keys() {
        let Some(cycle) = graph.shortest_cycle(file) else { continue };
        let steps: Vec<String> = cycle
            .iter()
            .map(|(from, edge)| {
                format!("\n    {from}:{} imports {}, by `{}`", edge.line, edge.to, edge.text)
            })
            .collect();
        let what = format!("imports itself by way of others; cut one of these:{}", steps.concat());
        let file = (*file).to_owned();
        found.push(Place { file, finding: Finding { line: 0, what } });
    }
    found
}

/// Files, and the imports from each.
struct ImportGraph<'a> {
    edges: BTreeMap<&'a str, Vec<Edge<'a>>>,
}

#[derive(Clone, Copy)]
struct Edge<'a> {
    to: &'a str,
    line: usize,
    text: &'a str,
}

impl<'a> ImportGraph<'a> {
    fn new(targets: &'a [Target]) -> Self {
        let mut edges: BTreeMap<&str, Vec<Edge>> = BTreeMap::new();
        for target in targets {
            for import in target.imports.iter().filter(|import| counts(target, import)) {
                let to = target.file(&import.to);
                let edge = Edge { to, line: import.line, text: &import.text };
                edges.entry(target.file(&import.from)).or_default().push(edge);
            }
        }
        Self { edges }
    }

    /// The edges of a shortest way from a file to itself, each with the file that it starts from.
    fn shortest_cycle(&self, start: &'a str) -> Option<Vec<(&'a str, Edge<'a>)>> {
        // Through which edge each file was reached first.
        let mut reached: BTreeMap<&str, (&str, Edge)> = BTreeMap::new();
        let mut open = VecDeque::from([start]);
        let mut seen = BTreeSet::new();
        while let Some(from) = open.pop_front() {
            for edge in self.edges.get(from).into_iter().flatten() {
                if seen.insert(edge.to) {
                    reached.insert(edge.to, (from, *edge));
                    open.push_back(edge.to);
                }
            }
        }
        let mut cycle = vec![*reached.get(start)?];
        while cycle[cycle.len() - 1].0 != start {
            cycle.push(reached[cycle[cycle.len() - 1].0]);
        }
        cycle.reverse();
        Some(cycle)
    }
}

/// True for an import between two files of which neither is the other's parent.
fn counts(target: &Target, import: &Import) -> bool {
    let (from, to) = (target.file(&import.from), target.file(&import.to));
    let file_root = |module: &[String]| {
        let mut module = module.to_vec();
        while module
            .split_last()
            .is_some_and(|(_, parent)| target.file(parent) == target.file(&module))
        {
            module.pop();
        }
        module
    };
    let (a, b) = (file_root(&import.from), file_root(&import.to));
    let is_parent = |a: &[String], b: &[String]| {
        b.split_last().is_some_and(|(_, parent)| file_root(parent) == a)
    };
    let is_test = import.is_test || target.is_test(&import.to);
    !is_test && from != to && !is_parent(&a, &b) && !is_parent(&b, &a)
}

#[cfg(test)]
mod tests {
    use super::super::check_found;
    use super::super::model::{Target, sources};

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let target = Target::read("a", "a/src/lib.rs", true, &sources(text));
        check_found(&super::check(&[target]), expected);
    }

    #[test]
    fn parent_and_child_may_name_each_other() {
        check(
            "== a/src/lib.rs\nmod b;\nmod c;\npub use b::B;\npub const X: u8 = 1;\n\
             == a/src/b.rs\nmod d;\npub struct B(d::D);\nuse crate::X;\n\
             == a/src/b/d.rs\npub struct D;\nuse super::B;\n\
             == a/src/c.rs\nuse crate::b::B;\n#[cfg(test)]\nmod tests;\n\
             == a/src/c/tests.rs\nuse crate::c;\n",
            &[],
        );
    }

    #[test]
    fn the_shortest_cycle_is_shown() {
        let way = |start: &str, steps: [&str; 2]| {
            format!(
                "{start}: imports itself by way of others; cut one of these:\n    {}\n    {}",
                steps[0], steps[1]
            )
        };
        let (b, c) = (
            "a/src/b.rs:2 imports a/src/c.rs, by `crate::C::new`",
            "a/src/c.rs:2 imports a/src/b.rs, by `super::b::*`",
        );
        check(
            "== a/src/lib.rs\nmod b;\nmod c;\nmod d;\npub use c::C;\n\
             == a/src/b.rs\npub struct B;\nfn f() { crate::C::new() }\n\
             == a/src/c.rs\npub struct C;\nuse super::b::*;\n\
             == a/src/d.rs\nuse crate::{b::B, c::C};\n",
            &[&way("a/src/b.rs", [b, c]), &way("a/src/c.rs", [c, b])],
        );
    }
}
