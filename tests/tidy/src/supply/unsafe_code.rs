//! The crates from outside with unsafe code that programs link with the runtime: a list, and no
//! more than two.
//!
//! Their authors are trusted with the memory of each program that logs. The features `log`,
//! `tracing` and `compression`, which somebody asks for, bring others.

use std::fs;
use std::path::Path;

use serde_json::Value;

use super::super::packages::{PackageGraph, list, text};
use super::super::parsed::code_lines;
use super::super::rust::has_word;
use xtask::Result;

/// The runtime.
const RUNTIME: &str = "protolog-rt";

/// Crates with unsafe code, each with its use.
const TRUSTED: [(&str, &str); 2] =
    [("libc", "declares the system's calls"), ("xxhash-rust", "computes ids of messages")];

/// Findings on the packages that `cargo metadata` resolves for one platform: a crate that is not in
/// the list, or no longer needs to be.
pub(super) fn check(metadata: &Value) -> Result<Vec<String>> {
    let graph = PackageGraph::new(metadata);
    let mut found = Vec::new();
    for package in graph.required(RUNTIME) {
        let name = text(&package["name"]);
        if !found.contains(&name) && has_unsafe_code(package)? {
            found.push(name);
        }
    }
    Ok(compare(&found, &TRUSTED))
}

fn compare(found: &[&str], trusted: &[(&str, &str)]) -> Vec<String> {
    let is_trusted = |name: &&&str| trusted.iter().any(|(it, _)| it == *name);
    let new = found.iter().filter(|name| !is_trusted(name)).map(|name| {
        format!(
            "{RUNTIME} links {name}, which has unsafe code and is none of those in tests/tidy/src/supply/unsafe_code.rs; \
             do without it, or have it replace one of them"
        )
    });
    let old = trusted.iter().filter(|(name, _)| !found.contains(name));
    new.chain(old.map(|(name, _)| {
        format!("{RUNTIME} links no {name} with unsafe code; remove it from the list")
    }))
    .collect()
}

/// Returns true if a source of the package's library has the word, outside comments and texts.
fn has_unsafe_code(package: &Value) -> Result<bool> {
    let is_library = |target: &&Value| list(&target["kind"]).iter().any(|kind| kind == "lib");
    let library = list(&package["targets"]).iter().find(is_library);
    let folder = library.and_then(|library| Path::new(text(&library["src_path"])).parent());
    folder.map_or(Ok(false), folder_has_unsafe_code)
}

fn folder_has_unsafe_code(folder: &Path) -> Result<bool> {
    let failed = |error| format!("can't read `{}`: {error}", folder.display());
    for entry in fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let has = if path.is_dir() {
            folder_has_unsafe_code(&path)?
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let source = fs::read_to_string(&path).map_err(failed)?;
            // Most files do not have it in a comment either.
            source.contains("unsafe")
                && code_lines(&source).iter().any(|line| has_word(line, "unsafe"))
        } else {
            false
        };
        if has {
            return Ok(true);
        }
    }
    Ok(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_what_there_is() {
        let trusted = [("a", "x"), ("b", "y")];
        assert_eq!(compare(&["a", "b"], &trusted), [""; 0]);
        let found = compare(&["a", "c"], &trusted);
        assert!(found[0].starts_with("protolog-rt links c, which has unsafe code"), "{found:?}");
        assert!(found[1].starts_with("protolog-rt links no b"), "{found:?}");
    }

    #[test]
    fn unsafe_code_is_found_in_code_only() {
        let dir = std::env::temp_dir().join(format!("xtask-unsafe-{}", std::process::id()));
        fs::create_dir_all(dir.join("a")).unwrap();
        fs::write(
            dir.join("lib.rs"),
            "// unsafe\n#![forbid(unsafe_code)]\nconst A: &str = \"unsafe\";\n",
        )
        .unwrap();
        assert_eq!(folder_has_unsafe_code(&dir), Ok(false));
        fs::write(dir.join("a/b.rs"), "fn f() { unsafe { g() } }\n").unwrap();
        assert_eq!(folder_has_unsafe_code(&dir), Ok(true));
        fs::remove_dir_all(&dir).unwrap();
    }
}
