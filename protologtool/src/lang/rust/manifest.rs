//! Cargo's manifests: which crates a package has, what they are called and where their roots are.
//!
//! Only tables that name crates are read. Targets that Cargo finds by their place are found in the
//! same places; dependencies that say `workspace = true` are what the workspace's manifest says.

use super::paths::normal;
use std::path::{Path, PathBuf};
use toml::{Table, Value};

/// A package.
#[derive(Debug)]
pub(super) struct Package {
    pub(super) directory: PathBuf,
    name: String,
    manifest: Table,
    /// The workspace, as far as the package takes something over from it.
    workspace: Option<Workspace>,
}

/// The root of a workspace.
#[derive(Debug)]
pub(super) struct Workspace {
    directory: PathBuf,
    manifest: Table,
}

/// A package on which another depends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Dependency {
    /// The name in the package's own code, unless it is its own name.
    pub(super) renamed: Option<String>,
    /// Where it is, if it stands beside.
    pub(super) directory: Option<PathBuf>,
    is_runtime: bool,
}

/// A crate of a package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CargoTarget {
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
        let manifest = table(manifest)?;
        let name = manifest.get("package")?.get("name")?.as_str()?.to_owned();
        Some(Self { directory: directory.to_path_buf(), name, manifest, workspace: None })
    }

    /// Looks for the root of the workspace, if the package takes something over from it: where the
    /// package says it is, or `above`, in the package's directory and those around it.
    pub(super) fn find_workspace(
        &mut self,
        above: impl Iterator<Item = PathBuf>,
        manifest_in: impl Fn(&Path) -> Option<Vec<u8>>,
    ) {
        if !self.written().any(|(_, dependency)| is_inherited(dependency)) {
            return;
        }
        let said = self.manifest.get("package").and_then(|package| package.get("workspace"));
        let candidates: Vec<PathBuf> = match said.and_then(Value::as_str) {
            Some(path) => vec![self.path(path)],
            None => above.collect(),
        };
        self.workspace = candidates.into_iter().find_map(|directory| {
            let manifest = table(&manifest_in(&directory)?)?;
            let workspace = Workspace { directory, manifest };
            workspace.has(&self.directory).then_some(workspace)
        });
    }

    /// The crates, those whose roots are not among `files` last. Of the targets that Cargo would
    /// find by their place, those in `files`, which are sorted.
    pub(super) fn targets(&self, files: &[PathBuf]) -> Vec<CargoTarget> {
        let mut targets = vec![self.library()];
        for (kind, directory) in KINDS {
            self.named(kind, directory, &mut targets);
        }
        let mut add = |name: String, root: PathBuf| {
            if targets.iter().all(|target| target.root != root) {
                targets.push(CargoTarget { name, root, is_library: false });
            }
        };
        add(self.name.clone(), self.path("src/main.rs"));
        add("build_script_build".to_owned(), self.path("build.rs"));
        // The files below a directory stand together.
        let first = files.partition_point(|file| *file < self.directory);
        let below = files[first..].iter().take_while(|file| file.starts_with(&self.directory));
        for (name, root) in below.filter_map(|file| self.found(file)) {
            add(name, root);
        }
        for target in &mut targets {
            target.name = target.name.replace('-', "_");
        }
        targets.sort_by_key(|target| files.binary_search(&target.root).is_err());
        targets
    }

    /// Other names by which the package knows `protolog-rt`.
    pub(super) fn names_of_runtime(&self) -> Vec<String> {
        let runtime = self.all_dependencies().filter(|dependency| dependency.is_runtime);
        runtime.filter_map(|dependency| dependency.renamed).collect()
    }

    /// The packages beside this one on which it depends, the runtime left out.
    pub(super) fn dependencies(&self) -> Vec<Dependency> {
        let all = self.all_dependencies();
        all.filter(|dependency| dependency.directory.is_some() && !dependency.is_runtime).collect()
    }

    fn all_dependencies(&self) -> impl Iterator<Item = Dependency> {
        self.written().map(|(name, written)| {
            let inherited =
                is_inherited(written).then(|| self.workspace.as_ref()?.dependency(name)).flatten();
            let (directory, written) = inherited.unwrap_or((&self.directory, written));
            let text = |key| written.get(key).and_then(Value::as_str);
            let package = text("package");
            Dependency {
                renamed: package.map(|_| name.replace('-', "_")),
                directory: text("path").map(|path| normal(&directory.join(path)).into_owned()),
                is_runtime: package.unwrap_or(name) == "protolog-rt",
            }
        })
    }

    /// All dependencies as the manifest writes them.
    fn written(&self) -> impl Iterator<Item = (&String, &Value)> {
        let targets = self.manifest.get("target").and_then(Value::as_table);
        let targets = targets.into_iter().flat_map(Table::values).filter_map(Value::as_table);
        let tables = std::iter::once(&self.manifest).chain(targets);
        let kinds = tables.flat_map(|table| {
            ["dependencies", "dev-dependencies", "build-dependencies"].map(|kind| table.get(kind))
        });
        kinds.flatten().filter_map(Value::as_table).flatten()
    }

    /// The library, which the package may not have.
    pub(super) fn library(&self) -> CargoTarget {
        let said = |key| self.manifest.get("lib").and_then(|lib| lib.get(key)?.as_str());
        CargoTarget {
            name: said("name").unwrap_or(&self.name).replace('-', "_"),
            root: self.path(said("path").unwrap_or("src/lib.rs")),
            is_library: true,
        }
    }

    /// The targets of a kind that the manifest names.
    fn named(&self, kind: &str, directory: &str, targets: &mut Vec<CargoTarget>) {
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
            targets.extend(roots.into_iter().map(|root| CargoTarget {
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
        normal(&self.directory.join(below)).into_owned()
    }
}

impl Workspace {
    /// Returns whether a package below the root is a member, as far as `exclude` says otherwise.
    /// None is where there is no workspace.
    fn has(&self, package: &Path) -> bool {
        let Some(workspace) = self.manifest.get("workspace") else { return false };
        let listed = |key: &str| {
            let list = workspace.get(key).and_then(Value::as_array).into_iter().flatten();
            list.filter_map(Value::as_str)
                .map(|path| normal(&self.directory.join(path)).into_owned())
        };
        let is_excluded = listed("exclude").any(|excluded| package.starts_with(excluded));
        !is_excluded || listed("members").any(|member| package == member)
    }

    /// A dependency that members may take over, and the directory from which its path counts.
    fn dependency(&self, name: &str) -> Option<(&PathBuf, &Value)> {
        let known = self.manifest.get("workspace")?.get("dependencies")?.as_table()?;
        // Cargo takes `-` and `_` in names for different here.
        Some((&self.directory, known.get(name)?))
    }
}

fn is_inherited(dependency: &Value) -> bool {
    dependency.get("workspace").and_then(Value::as_bool) == Some(true)
}

fn table(manifest: &[u8]) -> Option<Table> {
    std::str::from_utf8(manifest).ok()?.parse().ok()
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
        let files = ["app/examples/big/main.rs", "app/examples/big/x.rs", "app/src/main.rs"];
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
        assert_eq!(package.dependencies(), [], "the runtime is none");
        assert!(Package::parse(Path::new(""), b"[workspace]").is_none());
    }

    /// The dependencies of the package in `directory`, and its names of the runtime.
    fn shown(directory: &str, manifests: &[(&str, &str)]) -> (Vec<String>, Vec<String>) {
        let manifest_in = |directory: &Path| {
            let found = manifests.iter().find(|(known, _)| Path::new(known) == directory);
            found.map(|(_, text)| text.as_bytes().to_vec())
        };
        let directory = Path::new(directory);
        let mut package = Package::parse(directory, &manifest_in(directory).unwrap()).unwrap();
        let above = directory.ancestors().map(Path::to_path_buf);
        package.find_workspace(above, manifest_in);
        let show = |dependency: Dependency| {
            let name = dependency.renamed.unwrap_or_default();
            format!("{name} {}", dependency.directory.unwrap_or_default().display())
        };
        let mut dependencies: Vec<_> = package.dependencies().into_iter().map(show).collect();
        dependencies.sort();
        (dependencies, package.names_of_runtime())
    }

    #[test]
    fn members_take_over_what_the_workspace_says() {
        let root = (
            "",
            "[workspace]
            members = ['crates/*', 'old/kept']
            exclude = ['old']
            [workspace.dependencies]
            store = { path = 'crates/store', version = '1' }
            other-name = { path = 'crates/net', package = 'net' }
            plog = { package = 'protolog-rt', version = '1' }
            serde = '1'",
        );
        let member = "[package]
            name = 'app'
            [dependencies]
            store = { workspace = true, features = ['x'] }
            serde.workspace = true
            unknown.workspace = true
            own = { path = 'own' }
            [target.'cfg(unix)'.dev-dependencies]
            plog.workspace = true
            other-name.workspace = true";
        let of_root = ["other_name crates/net", " crates/store"];
        let expected = |own: &str, of_root: &[&str]| {
            let mut all: Vec<String> = of_root.iter().map(|text| (*text).to_owned()).collect();
            all.push(format!(" {own}"));
            all.sort();
            all
        };
        let (dependencies, runtime) = shown("crates/app", &[root, ("crates/app", member)]);
        assert_eq!(dependencies, expected("crates/app/own", &of_root));
        assert_eq!(runtime, ["plog"]);
        let (dependencies, _) = shown("old/kept", &[root, ("old/kept", member)]);
        assert_eq!(dependencies, expected("old/kept/own", &of_root));
        let (dependencies, runtime) = shown("old/gone", &[root, ("old/gone", member)]);
        assert_eq!((dependencies, runtime), (expected("old/gone/own", &[]), Vec::new()));
        // The root may be a package, or be named.
        let both = format!("{member}\n{}", root.1);
        let (dependencies, _) = shown("", &[("", &both)]);
        assert_eq!(dependencies, expected("own", &of_root));
        let elsewhere = member.replace("'app'", "'app'\nworkspace = '../root'");
        let (dependencies, _) =
            shown("app", &[("app", &elsewhere), ("root", root.1), ("", "[workspace]")]);
        assert_eq!(
            dependencies,
            expected("app/own", &["other_name root/crates/net", " root/crates/store"])
        );
    }
}
