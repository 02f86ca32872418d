//! The published packages: which they are, in which order, and that each has the fields and files
//! that a registry and its readers ask for.
//!
//! All of it is read from `cargo metadata` and from the files that cargo would pack.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::{Result, shell, workspace};

/// A package of the workspace that may be published.
pub(super) struct Package {
    pub(super) name: String,
    pub(super) version: String,
    /// The folder of its manifest.
    pub(super) dir: PathBuf,
    /// The members that it names, other than for its tests.
    needs: BTreeSet<String>,
    /// All that `cargo metadata` says of it.
    metadata: Value,
}

impl Package {
    /// The file that cargo makes of it.
    pub(super) fn archive(&self) -> String {
        format!("{}-{}.crate", self.name, self.version)
    }
}

/// The packages to publish, each after those that it needs.
pub(super) fn in_order(metadata: &Value) -> Result<Vec<Package>> {
    let mut open: BTreeMap<String, Package> =
        published(metadata).into_iter().map(|package| (package.name.clone(), package)).collect();
    let names: BTreeSet<String> = open.keys().cloned().collect();
    let mut order: Vec<Package> = Vec::new();
    while !open.is_empty() {
        let is_free = |package: &&Package| {
            let needed = package.needs.iter().filter(|name| names.contains(*name));
            needed.into_iter().all(|name| !open.contains_key(name))
        };
        let free: Vec<String> =
            open.values().filter(is_free).map(|package| package.name.clone()).collect();
        if free.is_empty() {
            let left = open.into_keys().collect::<Vec<_>>().join(", ");
            return Err(format!("these packages need each other: {left}"));
        }
        order.extend(free.iter().filter_map(|name| open.remove(name)));
    }
    Ok(order)
}

/// The options by which cargo packs these packages.
pub(super) fn selected(packages: &[Package]) -> Vec<&str> {
    packages.iter().flat_map(|package| ["--package", &package.name]).collect()
}

/// Packs the packages, without building them, into `target/package`; returns the archives.
pub(super) fn pack(packages: &[Package]) -> Result<Vec<PathBuf>> {
    let package = ["package", "--quiet", "--locked", "--allow-dirty", "--no-verify"];
    // Cargo warns of each bench that it leaves out, as the manifests ask.
    let args = [&package[..], &selected(packages)].concat();
    shell::run_without_output(&mut shell::cargo(&args))?;
    let dir = workspace::target_dir()?.join("package");
    Ok(packages.iter().map(|package| dir.join(package.archive())).collect())
}

/// Returns the faults of the packages, each with its remedy.
pub(super) fn findings(packages: &[Package]) -> Result<Vec<String>> {
    let names: BTreeSet<&str> = packages.iter().map(|package| package.name.as_str()).collect();
    let mut findings = Vec::new();
    for package in packages {
        let list = ["package", "--list", "--allow-dirty", "--package", &package.name];
        let listed = shell::read(&mut shell::cargo(&list))?;
        let manifest = workspace::read(package.dir.join("Cargo.toml"))?;
        let all = [
            metadata_findings(&package.metadata),
            dependency_findings(&package.metadata, &names),
            file_findings(&package.dir, &listed.lines().collect::<Vec<_>>())?,
            docs_findings(&manifest),
        ];
        findings.extend(all.concat().iter().map(|what| format!("{}: {what}", package.name)));
    }
    Ok(findings)
}

/// Members that name no `publish = false`.
fn published(metadata: &Value) -> Vec<Package> {
    let members = list(&metadata["workspace_members"]);
    let is_published = |package: &&Value| {
        members.contains(&package["id"]) && package["publish"].as_array().is_none()
    };
    let read = |package: &Value| {
        let needed = list(&package["dependencies"]).iter().filter(|it| names_member(it));
        let manifest = PathBuf::from(text(&package["manifest_path"]));
        Package {
            name: text(&package["name"]).to_owned(),
            version: text(&package["version"]).to_owned(),
            dir: manifest.parent().unwrap_or(Path::new("")).to_owned(),
            needs: needed.map(|needed| text(&needed["name"]).to_owned()).collect(),
            metadata: package.clone(),
        }
    };
    list(&metadata["packages"]).iter().filter(is_published).map(read).collect()
}

/// A dependency on a member that a package names: one for tests is left out where it has no
/// version.
fn names_member(dependency: &Value) -> bool {
    !dependency["path"].is_null() && (dependency["kind"] != "dev" || dependency["req"] != "*")
}

/// The most keywords and categories, and the longest keyword, in characters, that a registry takes.
const MOST: usize = 5;
const LONGEST_KEYWORD: usize = 20;

fn metadata_findings(package: &Value) -> Vec<String> {
    let mut findings = Vec::new();
    for key in ["description", "license", "repository", "readme", "rust_version"] {
        if text(&package[key]).is_empty() {
            findings.push(format!("no `{}`; add it to the manifest", key.replace('_', "-")));
        }
    }
    for key in ["keywords", "categories"] {
        let count = list(&package[key]).len();
        if !(1..=MOST).contains(&count) {
            findings.push(format!("{count} {key}; name 1 to {MOST}"));
        }
    }
    for keyword in list(&package["keywords"]).iter().map(text) {
        let is_fine = keyword.starts_with(|c: char| c.is_ascii_alphanumeric())
            && keyword.chars().all(|c| c.is_ascii_alphanumeric() || "-_+".contains(c))
            && keyword.len() <= LONGEST_KEYWORD;
        if !is_fine {
            findings.push(format!("the keyword `{keyword}` is refused by registries; change it"));
        }
    }
    findings
}

fn dependency_findings(package: &Value, published: &BTreeSet<&str>) -> Vec<String> {
    let mut findings = Vec::new();
    for needed in list(&package["dependencies"]).iter().filter(|it| !it["path"].is_null()) {
        let (name, version) = (text(&needed["name"]), text(&needed["req"]));
        if needed["kind"] == "dev" {
            if version != "*" {
                let how = "name it by its path alone, since it may need this package";
                findings.push(format!("its tests need {name} in the version `{version}`; {how}"));
            }
        } else if version == "*" {
            findings.push(format!("it names {name} by its path alone; add the version"));
        } else if !published.contains(name) {
            findings.push(format!("it needs {name}, which is not published; publish that too"));
        } else if version != format!("={}", text(&package["version"])) {
            findings.push(format!("it needs {name} `{version}`; all are of one version"));
        }
    }
    findings
}

/// Findings on the files that cargo would pack.
fn file_findings(dir: &Path, listed: &[&str]) -> Result<Vec<String>> {
    let mut findings = Vec::new();
    for name in ["README.md", "LICENSE", "Cargo.lock"] {
        if !listed.contains(&name) {
            findings.push(format!("no `{name}` in the package; put one beside its manifest"));
        }
    }
    // A folder with a manifest of its own is another package to cargo, and left out as a whole.
    for file in workspace::files()? {
        let Ok(below) = workspace::root().join(file).strip_prefix(dir).map(Path::to_owned) else {
            continue;
        };
        let is_source = below.starts_with("src");
        if is_source && !listed.contains(&below.to_string_lossy().as_ref()) {
            findings.push(format!("`{}` is not in the package; let it be", below.display()));
        }
    }
    Ok(findings)
}

fn docs_findings(manifest: &str) -> Vec<String> {
    let heading = "[package.metadata.docs.rs]";
    if manifest.lines().any(|line| line == heading) {
        return Vec::new();
    }
    vec![format!("no `{heading}`; say for which platform its documentation is built")]
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Packages of a workspace, each with its dependencies as `name`, `name dev` or `name *`.
    fn workspace_of(packages: &[(&str, &[&str])]) -> Value {
        let dependency = |line: &&str| {
            let (name, word) = line.split_once(' ').unwrap_or((line, ""));
            let req = if word.contains('*') { "*" } else { "=1.0.0" };
            let kind = if word.contains("dev") { json!("dev") } else { Value::Null };
            json!({"name": name, "req": req, "kind": kind, "path": "x"})
        };
        let package = |(name, needs): &(&str, &[&str])| {
            let publish = if name.starts_with("own") { json!([]) } else { Value::Null };
            json!({
                "id": name, "name": name, "version": "1.0.0", "publish": publish,
                "manifest_path": format!("/{name}/Cargo.toml"),
                "dependencies": needs.iter().map(dependency).collect::<Vec<_>>(),
            })
        };
        let members: Vec<&str> = packages.iter().map(|(name, _)| *name).collect();
        json!({
            "workspace_members": members,
            "packages": packages.iter().map(package).collect::<Vec<_>>(),
        })
    }

    #[track_caller]
    fn check_order(packages: &[(&str, &[&str])], expected: Result<Vec<&str>, &str>) {
        let order = in_order(&workspace_of(packages));
        let names = order.map(|order| order.iter().map(|it| it.name.clone()).collect::<Vec<_>>());
        assert_eq!(
            names,
            expected
                .map(|names| names.iter().map(ToString::to_string).collect())
                .map_err(str::to_owned)
        );
    }

    #[test]
    fn packages_come_after_those_that_they_need() {
        let packages: [(&str, &[&str]); 4] =
            [("a", &["b", "own-kit dev*"]), ("b", &["c"]), ("c", &["a dev*"]), ("own-kit", &["a"])];
        check_order(&packages, Ok(vec!["c", "b", "a"]));
    }

    #[test]
    fn a_circle_by_way_of_tests_is_one_where_they_name_a_version() {
        let packages: [(&str, &[&str]); 2] = [("a", &["b"]), ("b", &["a dev"])];
        check_order(&packages, Err("these packages need each other: a, b"));
    }

    #[test]
    fn says_what_a_registry_would_refuse() {
        let package = json!({
            "version": "1.0.0", "description": "x", "license": "MIT", "readme": "README.md",
            "repository": "https://example.org", "categories": [],
            "keywords": ["fine", "two words"], "rust_version": "1.85",
            "dependencies": [
                {"name": "a", "req": "*", "kind": null, "path": "a"},
                {"name": "a", "req": "=1.0.0", "kind": "dev", "path": "a"},
                {"name": "b", "req": "=1.0.0", "kind": null, "path": "b"},
                {"name": "a", "req": "^1.0.0", "kind": "build", "path": "a"},
                {"name": "outside", "req": "^2", "kind": null, "path": null},
            ],
        });
        assert_eq!(
            metadata_findings(&package),
            [
                "0 categories; name 1 to 5",
                "the keyword `two words` is refused by registries; change it"
            ]
        );
        assert_eq!(
            dependency_findings(&package, &BTreeSet::from(["a"])),
            [
                "it names a by its path alone; add the version",
                "its tests need a in the version `=1.0.0`; name it by its path alone, since it may need this package",
                "it needs b, which is not published; publish that too",
                "it needs a `^1.0.0`; all are of one version",
            ]
        );
        assert_eq!(metadata_findings(&json!({})).len(), 7);
    }
}
