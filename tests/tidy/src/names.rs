//! Names of types and macros: no two types of a crate share one, and none takes a name of the
//! standard library's prelude.

use std::collections::BTreeMap;

use super::model::{Definition, Target};
use super::{Finding, Place};

/// Names of the prelude that no type takes. `Result` is not here: a crate's alias of it is well
/// known.
const TYPES: &str = "
AsMut AsRef Box Clone Copy Debug Default DoubleEndedIterator Drop Eq Err ExactSizeIterator
Extend Fn FnMut FnOnce From FromIterator Future Hash Into IntoFuture IntoIterator Iterator
None Ok Option Ord PartialEq PartialOrd Send Sized Some String Sync ToOwned ToString
TryFrom TryInto Unpin Vec AsyncFn AsyncFnMut AsyncFnOnce
";

/// Macros that are everywhere without an import.
const MACROS: &str = "
assert assert_eq assert_ne cfg column compile_error concat dbg debug_assert
debug_assert_eq debug_assert_ne env eprint eprintln file format format_args include
include_bytes include_str line matches module_path option_env panic print println
stringify thread_local todo try unimplemented unreachable vec write writeln
";

fn is_among(words: &str, name: &str) -> bool {
    words.split_whitespace().any(|word| word == name)
}

/// One finding per definition that breaks a rule.
pub(super) fn check(targets: &[Target]) -> Vec<Place> {
    targets.iter().filter(|target| target.is_product).flat_map(check_crate).collect()
}

fn check_crate(target: &Target) -> Vec<Place> {
    let types = target.definitions(|items| &items.types);
    let macros = target.definitions(|items| &items.macros);
    let mut found = Vec::new();
    let mut add = |(file, definition): (&str, &Definition), what: String| {
        let finding = Finding { line: definition.line, what };
        found.push(Place { file: file.to_owned(), finding });
    };
    for place in types.iter().filter(|(_, it)| is_among(TYPES, &it.name)) {
        let what = format!("the type `{}` has a name of the prelude; find another", place.1.name);
        add(*place, what);
    }
    for place in macros.iter().filter(|(_, it)| is_among(MACROS, &it.name)) {
        let name = &place.1.name;
        add(
            *place,
            format!("the macro `{name}!` has a name of the standard library; find another"),
        );
    }
    let mut by_name: BTreeMap<&str, Vec<(&str, &Definition)>> = BTreeMap::new();
    for place in types {
        by_name.entry(&place.1.name).or_default().push(place);
    }
    for (name, places) in by_name.iter().filter(|(_, places)| places.len() > 1) {
        for place in places {
            let others = places.iter().filter(|other| is_other(target, place, other));
            let others: Vec<String> =
                others.map(|(file, it)| format!("{file}:{}", it.line)).collect();
            if !others.is_empty() {
                let what = format!(
                    "`{name}` is also a type in {}; find another name",
                    others.join(" and ")
                );
                add(*place, what);
            }
        }
    }
    found
}

/// True for another definition that can be compiled together with this one.
fn is_other(
    target: &Target,
    (file, one): &(&str, &Definition),
    (other_file, other): &(&str, &Definition),
) -> bool {
    let same = file == other_file && one.line == other.line;
    let condition = |file: &str, definition: &Definition| {
        let node = target.modules.values().find(|node| node.file == file);
        let module = node.and_then(|node| node.cfg.clone());
        [module, definition.cfg.clone()].into_iter().flatten().collect::<Vec<_>>().join(" ")
    };
    let (a, b) = (condition(file, one), condition(other_file, other));
    // Two that each have a condition are taken for alternatives.
    let alternatives = !a.is_empty() && !b.is_empty() && a != b;
    !same && !alternatives
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
    fn two_types_of_a_crate_have_two_names() {
        check(
            "== a/src/lib.rs\nmod b;\nstruct State;\n#[cfg(test)]\nmod tests { struct State; }\n\
             impl I for S { type State = u8; }\n== a/src/b.rs\nenum State {}\n",
            &[
                "a/src/b.rs:1: `State` is also a type in a/src/lib.rs:2; find another name",
                "a/src/lib.rs:2: `State` is also a type in a/src/b.rs:1; find another name",
            ],
        );
    }

    #[test]
    fn alternatives_share_a_name() {
        check(
            "== a/src/lib.rs\n#[cfg(unix)]\nstruct A;\n#[cfg(windows)]\nstruct A;\n\
             #[cfg(unix)]\nmod b { pub struct B; }\n#[cfg(windows)]\nmod c;\n== a/src/c.rs\npub struct B;\n",
            &[],
        );
    }

    #[test]
    fn names_of_the_prelude_are_taken() {
        check(
            "== a/src/lib.rs\nstruct Copy;\ntype Result<T> = std::result::Result<T, u8>;\n\
             macro_rules! write { () => { struct Drop; } }\nmacro_rules! d { () => {} }\n",
            &[
                "a/src/lib.rs:1: the type `Copy` has a name of the prelude; find another",
                "a/src/lib.rs:3: the macro `write!` has a name of the standard library; find another",
            ],
        );
    }
}
