//! Crates from outside: their licences, versions and sources, and those with unsafe code in users'
//! programs.
//!
//! `cargo deny` checks the same and more by `deny.toml`, but takes 196 s of CPU time to install, a
//! sixth of the budget of `cargo xtask test`. So the lists of that file are read here, one entry a
//! line. Advisories need a database from the network: `cargo xtask soak deny` asks it.
//!
//! | rule | where |
//! |---|---|
//! | each licence is allowed | [`licence`] |
//! | one version of each crate, but for the exceptions | here |
//! | each crate of each `Cargo.lock` comes from crates.io, with a checksum | here |
//! | the crates with unsafe code that the runtime links are those of a list | [`unsafe_code`] |

mod licence;
mod unsafe_code;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::model::Sources;
use super::packages::{list, text};
use xtask::Result;

/// The configuration of `cargo deny`, and that for `fleet`.
const DENY: &str = "deny.toml";
const FLEET_DENY: &str = "fleet/deny.toml";

/// The place that cargo gives to packages from crates.io.
const CRATES_IO: &str = "registry+https://github.com/rust-lang/crates.io-index";

/// Findings on the packages that `cargo metadata` resolves for all platforms and for one, on those
/// of `fleet`, and on each `Cargo.lock`.
pub(super) fn check(
    all: &Value,
    one: &Value,
    fleet: &Value,
    sources: &Sources,
) -> Result<Vec<String>> {
    Ok([check_origins(all, fleet, sources)?, unsafe_code::check(one)?].concat())
}

fn check_origins(all: &Value, fleet: &Value, sources: &Sources) -> Result<Vec<String>> {
    let mut findings = check_crates(all, DENY, sources)?;
    findings.extend(check_crates(fleet, FLEET_DENY, sources)?);
    let locks = sources.iter().filter(|(path, _)| path.ends_with("Cargo.lock"));
    findings.extend(locks.flat_map(|(path, text)| foreign_sources(path, text)));
    Ok(findings)
}

/// Findings on the crates of a workspace, by the lists of a configuration.
fn check_crates(metadata: &Value, name: &str, sources: &Sources) -> Result<Vec<String>> {
    let deny = sources.get(name).ok_or_else(|| format!("no `{name}`"))?;
    let allowed = entries(deny, "licenses", "allow");
    let mut findings = Vec::new();
    for package in list(&metadata["packages"]) {
        let expression = text(&package["license"]);
        if !licence::is_allowed(expression, &allowed) {
            let package = text(&package["name"]);
            findings.push(format!(
                "{package} has the licence `{expression}`; choose another crate, or allow it in \
                 {name}"
            ));
        }
    }
    findings.extend(duplicates(metadata, &entries(deny, "bans", "skip"), name));
    Ok(findings)
}

/// The first text in quotes of each line of a list, as in `allow = [`, in a section of a file in
/// TOML.
fn entries<'a>(file: &'a str, section: &str, key: &str) -> Vec<&'a str> {
    let heading = format!("[{section}]");
    let inside = file.lines().skip_while(|line| *line != heading).skip(1);
    let inside = inside.take_while(|line| !line.starts_with('['));
    let opening = format!("{key} = [");
    let lines = inside.skip_while(|line| *line != opening).skip(1).take_while(|line| *line != "]");
    lines.filter_map(|line| line.split('"').nth(1)).collect()
}

/// Crates of several versions, but for `exceptions` (as in `syn@2.0.1`), and exceptions that are
/// none.
fn duplicates(metadata: &Value, exceptions: &[&str], file: &str) -> Vec<String> {
    let mut versions: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for package in list(&metadata["packages"]) {
        versions.entry(text(&package["name"])).or_default().insert(text(&package["version"]));
    }
    let mut findings = Vec::new();
    for exception in exceptions {
        let (name, version) = exception.split_once('@').unwrap_or((exception, ""));
        let needed = versions.get_mut(name).is_some_and(|all| all.len() > 1 && all.remove(version));
        if !needed {
            findings
                .push(format!("{file} excepts {exception}, but there is one version; remove it"));
        }
    }
    for (name, versions) in versions.iter().filter(|(_, versions)| versions.len() > 1) {
        let versions = versions.iter().copied().collect::<Vec<_>>().join(" and ");
        findings.push(format!(
            "{name} is there in the versions {versions}; `cargo tree -i {name}@VERSION` shows for whom"
        ));
    }
    findings
}

/// Crates of a lock file that come from elsewhere than crates.io, or without a checksum.
fn foreign_sources(path: &str, lock: &str) -> Vec<String> {
    let value = |package: &str, key: &str| {
        let line = package.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(" = "));
        line.map(|value| value.trim_matches('"').to_owned())
    };
    let mut findings = Vec::new();
    for package in lock.split("[[package]]").skip(1) {
        let name = value(package, "name").unwrap_or_default();
        // The project's own have none.
        let Some(source) = value(package, "source") else { continue };
        if source != CRATES_IO {
            findings.push(format!("{path}: {name} comes from `{source}`; take it from crates.io"));
        } else if value(package, "checksum").is_none() {
            findings.push(format!("{path}: {name} has no checksum; run `cargo update -p {name}`"));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const RULES: &str = "\
[licenses]\nallow = [\n    \"MIT\",\n    \"Zlib\",\n]\n\n[bans]\nallow = [\n    \"no licence\",\n]\n\
skip = [\n    { crate = \"a@1.0.0\", reason = \"as \\\"b\\\" needs it\" },\n]\n";

    #[track_caller]
    fn check_with(packages: &[(&str, &str, &str)], lock: &str, expected: &[&str]) {
        let packages: Vec<Value> = packages
            .iter()
            .map(|(name, version, licence)| {
                json!({"name": name, "version": version, "license": licence})
            })
            .collect();
        let sources = Sources::from([
            (DENY.to_owned(), RULES.to_owned()),
            (FLEET_DENY.to_owned(), "[licenses]\nallow = [\n    \"ISC\",\n]\n".to_owned()),
            ("x/Cargo.lock".to_owned(), lock.to_owned()),
        ]);
        let all = json!({"packages": packages});
        let fleet = json!({"packages": [{"name": "d", "version": "1.0.0", "license": "ISC"}]});
        assert_eq!(check_origins(&all, &fleet, &sources).unwrap(), expected);
        // What one workspace may have, another one may not.
        let license = "d has the licence `ISC`; choose another crate, or allow it in deny.toml";
        assert_eq!(check_origins(&fleet, &fleet, &sources).unwrap()[0], license);
    }

    const TWICE: [(&str, &str, &str); 2] = [("a", "1.0.0", "MIT"), ("a", "2.0.0", "MIT")];

    #[test]
    fn licences_are_those_of_the_list() {
        let packages = [&TWICE[..], &[("b", "1.0.0", "GPL-3.0"), ("c", "1.0.0", "")]].concat();
        check_with(
            &packages,
            "",
            &[
                "b has the licence `GPL-3.0`; choose another crate, or allow it in deny.toml",
                "c has the licence ``; choose another crate, or allow it in deny.toml",
            ],
        );
    }

    #[test]
    fn two_versions_need_an_exception_and_an_exception_two_versions() {
        check_with(&TWICE, "", &[]);
        check_with(
            &[TWICE[1]],
            "",
            &["deny.toml excepts a@1.0.0, but there is one version; remove it"],
        );
        let packages = [&TWICE[..], &[("b", "1.0.0", "MIT"), ("b", "1.1.0", "MIT")]].concat();
        check_with(
            &packages,
            "",
            &[
                "b is there in the versions 1.0.0 and 1.1.0; `cargo tree -i b@VERSION` shows for whom",
            ],
        );
        let packages = [&TWICE[..], &[("a", "3.0.0", "MIT")]].concat();
        check_with(
            &packages,
            "",
            &[
                "a is there in the versions 2.0.0 and 3.0.0; `cargo tree -i a@VERSION` shows for whom",
            ],
        );
    }

    #[test]
    fn crates_come_from_the_registry_with_a_checksum() {
        let lock = "version = 4\n\n[[package]]\nname = \"own\"\nversion = \"1.0.0\"\n\n\
            [[package]]\nname = \"good\"\nsource = \"registry+https://github.com/rust-lang/crates.io-index\"\n\
            checksum = \"00\"\n\n[[package]]\nname = \"bare\"\n\
            source = \"registry+https://github.com/rust-lang/crates.io-index\"\n\n\
            [[package]]\nname = \"fork\"\nsource = \"git+https://example.org/fork#1\"\n";
        check_with(
            &TWICE,
            lock,
            &[
                "x/Cargo.lock: bare has no checksum; run `cargo update -p bare`",
                "x/Cargo.lock: fork comes from `git+https://example.org/fork#1`; take it from crates.io",
            ],
        );
    }
}
