//! No module imports itself by way of others: circles make a crate impossible to read in any order.
//!
//! Looked at are the modules of one parent, each with all that lies below it: a way that leaves a
//! file for its folder's module and goes on from there comes back as well. So a module and its
//! parent may name each other, and nothing else may. Tests may import what they like.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::model::{Import, ModulePath, Target};
use super::{Finding, Place};

/// One finding per module that lies on a circle of such modules: the shortest one through it.
pub(super) fn check(targets: &[Target]) -> Vec<Place> {
    let mut found = Vec::new();
    for target in targets {
        for graph in sibling_graphs(target).values() {
            for module in graph.keys() {
                let Some(cycle) = shortest_cycle(graph, module) else { continue };
                let steps: Vec<String> = cycle
                    .iter()
                    .map(|Edge { import, .. }| {
                        let (from, to) = (target.file(&import.from), target.file(&import.to));
                        format!("\n    {from}:{} imports {to}, by `{}`", import.line, import.text)
                    })
                    .collect();
                let what =
                    format!("imports itself by way of others; cut one of these:{}", steps.concat());
                let file = target.file(module).to_owned();
                found.push(Place { file, finding: Finding { line: 0, what } });
            }
        }
    }
    found
}

/// The modules of one parent, and the imports from each into others of them.
type Graph<'a> = BTreeMap<&'a [String], Vec<Edge<'a>>>;

#[derive(Clone, Copy)]
struct Edge<'a> {
    to: &'a [String],
    import: &'a Import,
}

/// The graph of the modules below each module. An import stands where the ways to its ends part.
fn sibling_graphs(target: &Target) -> BTreeMap<ModulePath, Graph<'_>> {
    let mut graphs: BTreeMap<ModulePath, Graph> = BTreeMap::new();
    for import in &target.imports {
        if import.is_test || target.is_test(&import.to) {
            continue;
        }
        let shared = import.from.iter().zip(&import.to).take_while(|(a, b)| a == b).count();
        let (Some(from), Some(to)) = (import.from.get(..=shared), import.to.get(..=shared)) else {
            continue;
        };
        if target.file(from) != target.file(to) {
            let graph = graphs.entry(from[..shared].to_vec()).or_default();
            graph.entry(from).or_default().push(Edge { to, import });
        }
    }
    graphs
}

/// The edges of a shortest way from a module to itself.
fn shortest_cycle<'a>(graph: &Graph<'a>, start: &'a [String]) -> Option<Vec<Edge<'a>>> {
    // Through which edge each module was reached first, and from where.
    let mut reached: BTreeMap<&[String], (&[String], Edge)> = BTreeMap::new();
    let (mut open, mut seen) = (VecDeque::from([start]), BTreeSet::new());
    while let Some(from) = open.pop_front() {
        for edge in graph.get(from).into_iter().flatten() {
            if seen.insert(edge.to) {
                reached.insert(edge.to, (from, *edge));
                open.push_back(edge.to);
            }
        }
    }
    let (mut at, mut cycle) = (start, Vec::new());
    while cycle.is_empty() || at != start {
        let (from, edge) = reached.get(at)?;
        cycle.push(*edge);
        at = from;
    }
    cycle.reverse();
    Some(cycle)
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

    /// `time` needs `fork::lock`, whose module `fork` needs `time`; no two files name each other.
    #[test]
    fn a_circle_through_a_parent_is_one() {
        let text = "== a/src/lib.rs\nmod time;\nmod fork;\n\
             == a/src/time.rs\npub struct T;\nuse crate::fork::lock::L;\n\
             == a/src/fork.rs\npub mod lock;\npub struct F;\nuse crate::time::T;\n\
             == a/src/fork/lock.rs\npub struct L;\nuse super::F;\n";
        let target = Target::read("a", "a/src/lib.rs", true, &sources(text));
        let found: Vec<String> =
            super::check(&[target]).into_iter().map(|place| place.file).collect();
        assert_eq!(found, ["a/src/fork.rs", "a/src/time.rs"]);
    }
}
