//! A module imports only from its own layer and those below it, in the crates that have layers.
//!
//! Read are `use` declarations and paths in code; tests may import what they like.

mod table;

use super::model::{Import, Target};
use super::{Finding, Place};
use table::{LAYERS, Layer};

/// One finding per import that leads upwards, per module without a layer, and per entry of the
/// table that is no module.
pub(super) fn check(targets: &[Target]) -> Vec<Place> {
    let mut found = Vec::new();
    for crate_layers in LAYERS {
        let wanted = |target: &&Target| {
            target.package == crate_layers.package
                && target
                    .modules
                    .get(&Vec::new())
                    .is_some_and(|root| root.file.ends_with("/lib.rs"))
        };
        for target in targets.iter().filter(wanted) {
            found.extend(check_crate(target, crate_layers.layers));
            found.extend(without_module(target, crate_layers.layers));
        }
    }
    found
}

fn check_crate(target: &Target, layers: &[Layer]) -> Vec<Place> {
    let mut found = without_layer(target, layers);
    for import in target.imports.iter().filter(|import| !import.is_test) {
        if let Some(what) = upwards(import, layers) {
            let file = target.file(&import.from).to_owned();
            found.push(Place { file, finding: Finding { line: import.line, what } });
        }
    }
    found
}

/// Modules below the root, each in a file of its own, that no layer names.
fn without_layer(target: &Target, layers: &[Layer]) -> Vec<Place> {
    let mut found = Vec::new();
    for (module, node) in &target.modules {
        let is_checked = module.len() == 1 && !node.is_test && node.file != target.file(&[]);
        if is_checked && layer_of(module, layers).is_none() {
            let what = format!(
                "the module `{}` has no layer; give it one in tests/tidy/src/layers/table.rs",
                module[0]
            );
            let file = node.file.clone();
            found.push(Place { file, finding: Finding { line: 0, what } });
        }
    }
    found
}

/// Names in the table that no module has: one that was moved away would leave its layer behind.
fn without_module(target: &Target, layers: &[Layer]) -> Vec<Place> {
    let is_module = |name: &str| target.modules.keys().any(|module| module.join("::") == name);
    let names = layers.iter().flat_map(|(_, names)| names.iter());
    let unused = names.filter(|name| !is_module(name)).map(|name| {
        let what = format!(
            "the layers name `{name}`, which is no module; take it out of tests/tidy/src/layers/table.rs"
        );
        Place { file: target.file(&[]).to_owned(), finding: Finding { line: 0, what } }
    });
    unused.collect()
}

/// The breach, in words, of an import that leads to a higher layer.
fn upwards(import: &Import, layers: &[Layer]) -> Option<String> {
    // The root may import everything; a module without a layer is reported by its name.
    let from = layer_of(&import.from, layers)?;
    let name = |layer: usize| layers.get(layer).map_or("the crate's root", |(name, _)| *name);
    let to = if import.to.is_empty() { layers.len() } else { layer_of(&import.to, layers)? };
    (to > from).then(|| {
        format!(
            "`{}` imports upwards, from layer `{}` into `{}`; move the item down, or hand it in from above",
            import.text,
            name(from),
            name(to)
        )
    })
}

/// The layer of the longest entry that names the module or one around it.
fn layer_of(module: &[String], layers: &[Layer]) -> Option<usize> {
    (1..=module.len()).rev().find_map(|length| {
        let name = module[..length].join("::");
        layers.iter().position(|(_, modules)| modules.contains(&name.as_str()))
    })
}

#[cfg(test)]
mod tests {
    use super::super::check_found;
    use super::super::model::{Target, sources};
    use super::{check_crate, without_module};

    const LAYERS: [super::Layer; 3] =
        [("low", &["low", "high::base"]), ("middle", &["one", "two"]), ("high", &["high"])];

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        check_found(&check_crate(&target(text), &LAYERS), expected);
    }

    fn target(text: &str) -> Target {
        Target::read("a", "a/src/lib.rs", true, &sources(text))
    }

    #[test]
    fn imports_lead_down() {
        check(
            "== a/src/lib.rs\nmod low;\nmod one;\nmod two;\nmod high;\npub use high::H;\n\
             == a/src/low.rs\npub struct L;\n#[cfg(test)]\nmod tests { use crate::high::H; }\n\
             == a/src/one.rs\nuse crate::low::L;\nuse crate::two::T;\n\
             == a/src/two.rs\npub struct T;\n\
             == a/src/high.rs\nmod base;\npub struct H;\nuse crate::{one, two::T};\n\
             == a/src/high/base.rs\nuse crate::low::L;\n",
            &[],
        );
    }

    #[test]
    fn imports_upwards_are_refused_however_they_are_written() {
        let refused = |at: &str, text: &str, from: &str, to: &str| {
            format!(
                "{at}: `{text}` imports upwards, from layer `{from}` into `{to}`; move the item down, or hand it in from above"
            )
        };
        check(
            "== a/src/lib.rs\nmod low;\nmod one;\nmod high;\npub use high::H;\npub fn root() {}\n\
             == a/src/low.rs\nuse crate::one::O;\nfn f() { crate::H::new(\"crate::one\"); } // crate::one\n\
             == a/src/one.rs\npub struct O;\nuse crate::root;\n\
             == a/src/high.rs\nmod base;\npub struct H;\n\
             == a/src/high/base.rs\nuse super::H;\n",
            &[
                &refused("a/src/high/base.rs:1", "super::H", "low", "high"),
                &refused("a/src/low.rs:1", "crate::one::O", "low", "middle"),
                &refused("a/src/low.rs:2", "crate::H::new", "low", "high"),
                &refused("a/src/one.rs:2", "crate::root", "middle", "the crate's root"),
            ],
        );
    }

    #[test]
    fn each_module_has_a_layer() {
        check(
            "== a/src/lib.rs\nmod new;\n== a/src/new.rs\n//! x\n",
            &[
                "a/src/new.rs: the module `new` has no layer; give it one in tests/tidy/src/layers/table.rs",
            ],
        );
    }

    #[test]
    fn each_name_in_a_layer_is_a_module() {
        let unused = |name: &str| {
            format!(
                "a/src/lib.rs: the layers name `{name}`, which is no module; take it out of tests/tidy/src/layers/table.rs"
            )
        };
        let text = "== a/src/lib.rs\nmod one;\n== a/src/one.rs\nmod two;\n== a/src/one/two.rs\n";
        let layers: [super::Layer; 2] =
            [("low", &["one::two", "one::gone"]), ("high", &["one", "shmem"])];
        check_found(
            &without_module(&target(text), &layers),
            &[&unused("one::gone"), &unused("shmem")],
        );
    }
}
