//! The rules on small made-up workspaces, one line per package:
//! `name version-of-rust [macro]: edge edge …`, where an edge is a name, `dev:` and a name, or
//! `opt:` and a name. Packages that start with `protolog-` are members.

use serde_json::{Value, json};

use super::check;

const GOOD: &str = "
    protolog-protozero 1.85:
    protolog-perfetto-ipc 1.85: protolog-protozero
    protolog-core 1.85: xxhash-rust
    protolog-viewer-config 1.90: protolog-core protolog-protozero serde_json
    protolog-macros 1.85 macro: protolog-core syn
    protolog-shmem 1.85: protolog-core protolog-protozero
    protolog-recording 1.85: protolog-core protolog-protozero
    protolog-rt 1.85: protolog-core protolog-recording protolog-shmem protolog-protozero protolog-macros rustix dev:serde_json dev:protolog-testkit opt:zlib
    protolog-c 1.85: protolog-rt protolog-core
    protolog-reader 1.90: protolog-core protolog-protozero protolog-recording protolog-viewer-config
    protolog-files 1.85: rustix
    protolog-control 1.85: protolog-core protolog-files rustix
    protolog-tool 1.90: protolog-viewer-config protolog-reader clap dev:protolog-rt
    protolog-testkit 1.90: serde_json
    xxhash-rust -:
    serde_json -: serde
    serde -:
    syn -:
    rustix -: bitflags
    bitflags -:
    clap -:
    zlib -:
";

/// The output that `cargo metadata` would give of the workspace.
fn metadata(workspace: &str) -> Value {
    let (mut packages, mut nodes, mut members) = (Vec::new(), Vec::new(), Vec::new());
    for line in workspace.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let (head, edges) = line.split_once(':').expect("name: edges");
        let words: Vec<&str> = head.split_whitespace().collect();
        let name = words[0];
        let edges: Vec<(&str, &str)> = edges
            .split_whitespace()
            .map(|edge| edge.split_once(':').unwrap_or(("", edge)))
            .collect();
        let kind = |mark: &str| if mark == "dev" { json!("dev") } else { Value::Null };
        let path = |to: &str| if to.starts_with("protolog-") { json!(to) } else { Value::Null };
        packages.push(json!({
            "id": name, "name": name, "rust_version": words[1],
            "targets": [{"kind": [if words.contains(&"macro") { "proc-macro" } else { "lib" }]}],
            "dependencies": edges.iter().map(|(mark, to)| json!({
                "name": to, "kind": kind(mark), "optional": *mark == "opt", "path": path(to),
            })).collect::<Vec<_>>(),
        }));
        // Optional dependencies are not resolved, as with default features.
        let resolved = edges.iter().filter(|(mark, _)| *mark != "opt");
        nodes.push(json!({"id": name, "deps": resolved.map(|(mark, to)| json!({
            "pkg": to, "dep_kinds": [{"kind": kind(mark)}],
        })).collect::<Vec<_>>()}));
        if name.starts_with("protolog-") {
            members.push(name);
        }
    }
    json!({"packages": packages, "workspace_members": members, "resolve": {"nodes": nodes}})
}

#[track_caller]
fn refuses(from: &str, to: &str, expected: &[&str]) {
    let changed = GOOD.replace(from, to);
    assert_ne!(changed, GOOD, "`{from}` is not in the workspace");
    assert_eq!(check(&metadata(&changed)), expected);
}

#[test]
fn accepts_the_layers() {
    assert_eq!(check(&metadata(GOOD)), [""; 0]);
}

#[test]
fn refuses_an_edge_that_points_up() {
    refuses(
        "protolog-protozero 1.85:",
        "protolog-protozero 1.85: protolog-core",
        &["protolog-protozero depends on protolog-core; dependencies point the other way"],
    );
    refuses(
        "protolog-core 1.85:",
        "protolog-core 1.85: protolog-testkit",
        &[
            "protolog-core depends on protolog-testkit; dependencies point the other way",
            "protolog-rt reaches serde_json, by protolog-rt -> protolog-core -> protolog-testkit -> serde_json; cut the way",
            "protolog-rt reaches serde, by protolog-rt -> protolog-core -> protolog-testkit -> serde_json -> serde; cut the way",
        ],
    );
}

#[test]
fn refuses_a_parser_in_the_runtime_however_deep() {
    refuses(
        "rustix -: bitflags",
        "rustix -: bitflags regex-lite\nregex-lite -:",
        &["protolog-rt reaches regex-lite, by protolog-rt -> rustix -> regex-lite; cut the way"],
    );
    refuses(
        "protolog-macros rustix",
        "protolog-macros syn",
        &["protolog-rt reaches syn, by protolog-rt -> syn; cut the way"],
    );
}

#[test]
fn refuses_a_dictionary_through_the_macros() {
    refuses(
        "macro: protolog-core",
        "macro: protolog-core protolog-viewer-config",
        &[
            "protolog-macros depends on protolog-viewer-config; dependencies point the other way",
            "protolog-rt reaches protolog-viewer-config, by protolog-rt -> protolog-macros -> protolog-viewer-config; cut the way",
            "protolog-rt reaches serde_json, by protolog-rt -> protolog-macros -> protolog-viewer-config -> serde_json; cut the way",
            "protolog-rt reaches serde, by protolog-rt -> protolog-macros -> protolog-viewer-config -> serde_json -> serde; cut the way",
        ],
    );
}

#[test]
fn refuses_the_runtime_in_the_tool() {
    refuses(
        "clap dev:protolog-rt",
        "clap protolog-rt",
        &[
            "protolog-tool depends on protolog-rt; dependencies point the other way",
            "protolog-tool reaches protolog-rt, by protolog-tool -> protolog-rt; cut the way",
            "protolog-tool reaches protolog-macros, by protolog-tool -> protolog-rt -> protolog-macros; cut the way",
        ],
    );
}

#[test]
fn refuses_a_third_dependency_of_the_runtime() {
    refuses(
        "protolog-macros rustix",
        "protolog-macros rustix bitflags zlib",
        &["protolog-rt depends on rustix, bitflags, zlib; at most 2 from outside without features"],
    );
}

#[test]
fn refuses_another_promise_than_the_tested_one() {
    refuses(
        "protolog-rt 1.85",
        "protolog-rt 1.90",
        &["protolog-rt says Rust `1.90`, tested is 1.85; let them agree"],
    );
}
