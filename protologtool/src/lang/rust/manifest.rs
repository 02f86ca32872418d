//! Cargo's manifests: which crates a package has, what they are called and where their roots are.
//!
//! Only what names crates is read. Targets that Cargo finds by their place are found in the same places.

use super::crates::normal;
use std::path::{Path, PathBuf};
use toml::{Table, Value};

/// A package.
#[derive(Debug)]
pub(super) struct Package {
    pub(super) directory: PathBuf,
    name: String,
    manifest: Table,
}

/// A crate of a package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Target {
    pub(super) name: String,
    pub(super) root: PathBuf,
    pub(super) is_library: bool,
}

/// Kinds of targets, the manifest's key and the directory in which Cargo looks.
const KINDS: [(&str, &str); 4] =
    [("bin", "src/bin"), ("example", "examples"), ("test", "tests"), ("bench", "benches")];

impl Package {
    /// The package whose manifest this is; none where it is that of a mere workspace.
    pub(super) fn parse(directory: &Path, manifest: &[u8]) -> Option<Self> {
        let manifest: Table = std::str::from_utf8(manifest).ok()?.parse().ok()?;
        let name = manifest.get("package")?.get("name")?.as_str()?.to_owned();
        Some(Self { directory: directory.to_path_buf(), name, manifest })
    }

    /// The crates, those whose roots are not among `files` last. Of what Cargo would find by its place, what is in `files`.
    pub(super) fn targets(&self, files: &[PathBuf]) -> Vec<Target> {
        let mut targets = vec![self.library()];
        for (kind, directory) in KINDS {
            self.named(kind, directory, &mut targets);
        }
        let mut add = |name: String, root: PathBuf| {
            if targets.iter().all(|target| target.root != root) {
                targets.push(Target { name, root, is_library: false });
            }
        };
        add(self.name.clone(), self.path("src/main.rs"));
        add("build_script_build".to_owned(), self.path("build.rs"));
        for (name, root) in files.iter().filter_map(|file| self.found(file)) {
            add(name, root);
        }
        for target in &mut targets {
            target.name = target.name.replace('-', "_");
        }
        targets.sort_by_key(|target| !files.contains(&target.root));
        targets
    }

    /// Other names by which the package knows `protolog-rt`.
    pub(super) fn names_of_runtime(&self) -> Vec<String> {
        let mut names = Vec::new();
        let mut tables = vec![&self.manifest];
        if let Some(Value::Table(targets)) = self.manifest.get("target") {
            tables.extend(targets.values().filter_map(Value::as_table));
        }
        for table in tables {
            for key in ["dependencies", "dev-dependencies", "build-dependencies"] {
                let Some(Value::Table(dependencies)) = table.get(key) else { continue };
                let renamed = dependencies.iter().filter(|(_, dependency)| {
                    dependency.get("package").and_then(Value::as_str) == Some("protolog-rt")
                });
                names.extend(renamed.map(|(name, _)| name.replace('-', "_")));
            }
        }
        names
    }

    /// The directories of packages beside this one on which it depends.
    pub(super) fn dependencies(&self) -> Vec<PathBuf> {
        let Some(Value::Table(dependencies)) = self.manifest.get("dependencies") else {
            return Vec::new();
        };
        let paths = dependencies.values().filter_map(|known| known.get("path")?.as_str());
        paths.map(|path| self.path(path)).collect()
    }

    /// The library, which the package may not have.
    pub(super) fn library(&self) -> Target {
        let said = |key| self.manifest.get("lib").and_then(|lib| lib.get(key)?.as_str());
        Target {
            name: said("name").unwrap_or(&self.name).replace('-', "_"),
            root: self.path(said("path").unwrap_or("src/lib.rs")),
            is_library: true,
        }
    }

    /// The targets of a kind that the manifest names.
    fn named(&self, kind: &str, directory: &str, targets: &mut Vec<Target>) {
        let Some(Value::Array(named)) = self.manifest.get(kind) else { return };
        for target in named {
            let Some(name) = target.get("name").and_then(Value::as_str) else { continue };
            let mut roots: Vec<PathBuf> = match target.get("path").and_then(Value::as_str) {
                Some(path) => vec![self.path(path)],
                None => vec![
                    self.path(&format!("{directory}/{name}.rs")),
                    self.path(&format!("{directory}/{name}/main.rs")),
                ],
            };
            if kind == "bin" && name == self.name && target.get("path").is_none() {
                roots.push(self.path("src/main.rs"));
            }
            let name = name.to_owned();
            targets.extend(roots.into_iter().map(|root| Target {
                name: name.clone(),
                root,
                is_library: false,
            }));
        }
    }

    /// The target that Cargo would find at this path.
    fn found(&self, file: &Path) -> Option<(String, PathBuf)> {
        let below = file.strip_prefix(&self.directory).ok()?;
        let directory =
            KINDS.iter().find_map(|(_, directory)| below.strip_prefix(directory).ok())?;
        let parts: Vec<_> = directory.iter().map(|part| part.to_string_lossy()).collect();
        let name = match &parts[..] {
            [file] => file.strip_suffix(".rs")?.to_owned(),
            [name, main] if main == "main.rs" => name.to_string(),
            _ => return None,
        };
        Some((name, file.to_path_buf()))
    }

    fn path(&self, below: &str) -> PathBuf {
        normal(&self.directory.join(below))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_are_those_of_cargo() {
        let manifest = "
            [package]
            name = 'my-app'
            [lib]
            name = 'core_of_app'
            [[bin]]
            name = 'tool'
            path = 'tools/tool.rs'
            [[test]]
            name = 'all'
            [dependencies]
            plog = { path = '../x', package = 'protolog-rt' }
            serde = '1'
            [target.'cfg(unix)'.dev-dependencies]
            p-log = { package = 'protolog-rt' }";
        let package = Package::parse(Path::new("app"), manifest.as_bytes()).unwrap();
        let files = ["app/src/main.rs", "app/examples/big/main.rs", "app/examples/big/x.rs"];
        let targets = package.targets(&files.map(PathBuf::from));
        let shown: Vec<_> = targets
            .iter()
            .map(|target| format!("{} {}", target.name, target.root.display()))
            .collect();
        assert_eq!(
            shown,
            [
                "my_app app/src/main.rs",
                "big app/examples/big/main.rs",
                "core_of_app app/src/lib.rs",
                "tool app/tools/tool.rs",
                "all app/tests/all.rs",
                "all app/tests/all/main.rs",
                "build_script_build app/build.rs",
            ]
        );
        assert_eq!(package.names_of_runtime(), ["plog", "p_log"]);
        assert_eq!(package.dependencies(), [Path::new("x")]);
        assert!(Package::parse(Path::new(""), b"[workspace]").is_none());
    }
}
