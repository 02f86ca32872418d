//! The crates of a run: which file is which module of which crate, and the declarations of modules.
//!
//! A crate's name and root come from the command line or from Cargo's manifest above the file; its
//! modules are followed from the root. That costs a second look at the files of crates that log,
//! and nothing for others.
//!
//! Invariant: the answers depend on the files alone, not on the order of inputs or the number of
//! threads.

use super::manifest::{CargoTarget, Package};
use super::modules::{self, SourceFile};
use super::paths::normal;
use super::quick::Look;
use super::table::{Item, Table};
use super::tokens::FileTokens;
use crate::system::System;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// A module of a crate, and its declarations.
#[derive(Clone, Debug)]
pub(super) struct Module {
    pub(super) krate: usize,
    /// The modules down from the root, as `module_path!` gives them.
    pub(super) path: Vec<String>,
    pub(super) table: Arc<Table>,
}

/// All crates.
#[derive(Debug, Default)]
pub(super) struct Crates {
    list: Vec<Crate>,
    /// The modules that a file is.
    places: HashMap<PathBuf, BTreeSet<ModuleId>>,
    /// The libraries of packages, by the packages' directories.
    libraries: HashMap<PathBuf, usize>,
    /// The first crate of each package, and of each directory with a named root, by the
    /// directories.
    first_in: HashMap<PathBuf, usize>,
    tables: Mutex<HashMap<PathBuf, Arc<Table>>>,
}

/// A crate, by its position, and the modules down from its root.
pub(super) type ModuleId = (usize, Vec<String>);

#[derive(Debug)]
struct Crate {
    name: String,
    is_library: bool,
    files: HashMap<Vec<String>, Vec<PathBuf>>,
    /// Other names of the runtime in this crate.
    runtime: Vec<String>,
    /// Packages that have other names in this crate, with their directories.
    renamed: Vec<(String, PathBuf)>,
}

/// The names by which a package knows others: the runtime, and those beside it.
#[derive(Clone, Default)]
struct CrateNames {
    runtime: Vec<String>,
    renamed: Vec<(String, PathBuf)>,
}

impl Crates {
    /// Adds a crate that the command line names.
    pub(super) fn add_named(&mut self, name: &str, root: &Path, inputs: &CrateInputs<'_>) {
        let root = normal(root).into_owned();
        if let Some(directory) = root.parent() {
            self.first_in.entry(directory.to_path_buf()).or_insert(self.list.len());
        }
        let target = CargoTarget { name: name.to_owned(), root, is_library: true };
        self.add(target, CrateNames::default(), inputs);
    }

    /// A crate that is this file alone.
    pub(super) fn single(name: &str, file: &Path) -> Self {
        let mut krate = Crate::new(name.to_owned(), true, CrateNames::default());
        krate.files.insert(Vec::new(), vec![normal(file).into_owned()]);
        let places = [(normal(file).into_owned(), [(0, Vec::new())].into())].into();
        Self { list: vec![krate], places, ..Self::default() }
    }

    /// The crates, by Cargo's manifests, of the packages in which `wanted` files lie.
    pub(super) fn of_packages(wanted: &[PathBuf], inputs: &CrateInputs<'_>) -> Self {
        let mut crates = Self::default();
        let mut known = HashMap::new();
        let mut open = Vec::new();
        let mut done = HashSet::new();
        for file in wanted {
            let Some(package) = package_of(file, &mut known, inputs) else { continue };
            if done.insert(package.directory.clone()) {
                crates.add_package(package, wanted, inputs);
                open.extend(package.dependencies());
            }
        }
        // Libraries beside them may declare the groups that they name, or pass on those of others.
        while let Some(dependency) = open.pop() {
            let Some(directory) = dependency.directory else { continue };
            if !crates.libraries.contains_key(&directory)
                && let Some(package) = inputs.package(&directory)
            {
                crates.libraries.insert(directory, crates.list.len());
                crates.add(package.library(), CrateNames::of(&package), inputs);
                open.extend(package.dependencies());
            }
        }
        crates
    }

    /// Adds the crates of a package in which some of the `wanted` files lie.
    fn add_package(&mut self, package: &Package, wanted: &[PathBuf], inputs: &CrateInputs<'_>) {
        let names = CrateNames::of(package);
        let (given, other): (Vec<CargoTarget>, Vec<CargoTarget>) =
            package.targets(&inputs.files).into_iter().partition(|one| inputs.has(&one.root));
        let is_given = given.len();
        self.first_in.entry(package.directory.clone()).or_insert(self.list.len());
        for (index, target) in given.into_iter().chain(other).enumerate() {
            // Roots that are no inputs are asked only for files that the others do not reach.
            let below = |file: &&PathBuf| file.starts_with(&package.directory);
            let is_lost = |file: &PathBuf| !self.places.contains_key(&*normal(file));
            if index >= is_given && !wanted.iter().filter(below).any(is_lost) {
                break;
            }
            if target.is_library {
                self.libraries.insert(package.directory.clone(), self.list.len());
            }
            self.add(target, names.clone(), inputs);
        }
    }

    /// Follows a crate's modules from its root.
    fn add(&mut self, target: CargoTarget, names: CrateNames, inputs: &CrateInputs<'_>) {
        let index = self.list.len();
        let mut krate = Crate::new(target.name, target.is_library, names);
        let mut open = vec![(SourceFile { path: target.root, owns_directory: true }, Vec::new())];
        let mut seen = HashSet::new();
        let mut times: HashMap<PathBuf, usize> = HashMap::new();
        while let Some((file, path)) = open.pop() {
            // A file that declares itself would have no end, and one that does so twice as good as
            // none.
            if !seen.insert((file.path.clone(), path.clone())) || path.len() > MAX_NESTING {
                continue;
            }
            let times = times.entry(file.path.clone()).or_default();
            *times += 1;
            if *times > MAX_PLACES {
                continue;
            }
            let Some(modules) = inputs.modules(&file) else { continue };
            for module in modules {
                let full: Vec<String> = path.iter().cloned().chain(module.path).collect();
                let by_name = module.by_name.iter().map(|path| normal(path).into_owned());
                let by_name = by_name.into_iter().find(|path| inputs.exists(path));
                for path in module.said {
                    open.push((
                        SourceFile { path: normal(&path).into_owned(), owns_directory: true },
                        full.clone(),
                    ));
                }
                if let Some(path) = by_name {
                    let owns_directory = path.ends_with("mod.rs");
                    open.push((SourceFile { path, owns_directory }, full));
                }
            }
            self.places.entry(file.path.clone()).or_default().insert((index, path.clone()));
            krate.files.entry(path).or_default().push(file.path);
        }
        self.list.push(krate);
    }

    /// The modules that a file is.
    pub(super) fn places(&self, file: &Path) -> impl Iterator<Item = &ModuleId> {
        self.places.get(&*normal(file)).into_iter().flatten()
    }

    /// A crate in whose directory a file lies, though none of its modules is known to be that file.
    pub(super) fn around(&self, file: &Path) -> Option<usize> {
        let file = normal(file);
        let first = file.ancestors().skip(1).find_map(|directory| self.first_in.get(directory));
        first.copied().filter(|index| *index < self.list.len())
    }

    /// The places whose groups a file may declare: one for each name of a crate.
    pub(super) fn crates_of(&self, file: &Path) -> Vec<ModuleId> {
        let mut places: Vec<ModuleId> = Vec::new();
        for place in self.places(file) {
            if !places.iter().any(|known| self.name(known.0) == self.name(place.0)) {
                places.push(place.clone());
            }
        }
        if places.is_empty() {
            places.extend(self.around(file).map(|krate| (krate, Vec::new())));
        }
        places
    }

    /// A place as `module_path!` gives it.
    pub(super) fn module_path(&self, krate: usize, path: &[String]) -> String {
        let names = std::iter::once(self.list[krate].name.as_str());
        names.chain(path.iter().map(String::as_str)).collect::<Vec<_>>().join("::")
    }

    /// The name of a crate.
    pub(super) fn name(&self, krate: usize) -> &str {
        &self.list[krate].name
    }

    /// The file of a crate's root.
    pub(super) fn root(&self, krate: usize) -> Option<&Path> {
        self.list[krate].files.get(&[][..])?.first().map(PathBuf::as_path)
    }

    /// All files of a crate.
    pub(super) fn files(&self, krate: usize) -> impl Iterator<Item = &Path> {
        self.list[krate].files.values().flatten().map(PathBuf::as_path)
    }

    /// Other names of the runtime in a crate.
    pub(super) fn names_of_runtime(&self, krate: usize) -> &[String] {
        &self.list[krate].runtime
    }

    /// All other names of the runtime.
    pub(super) fn all_names_of_runtime(&self) -> impl Iterator<Item = &str> {
        self.list.iter().flat_map(|krate| krate.runtime.iter().map(String::as_str))
    }

    /// The crate that crate `from` knows by this name.
    pub(super) fn library(&self, from: usize, name: &str) -> Option<usize> {
        let renamed = self.list[from].renamed.iter().find(|(known, _)| known == name);
        let renamed = renamed.and_then(|(_, directory)| self.libraries.get(directory).copied());
        renamed
            .or_else(|| self.list.iter().position(|krate| krate.is_library && krate.name == name))
    }

    /// The module with this path in a crate.
    pub(super) fn module(
        &self,
        krate: usize,
        path: &[String],
        system: Option<&dyn System>,
    ) -> Option<Module> {
        let files = &self.list[krate].files;
        // The file in which it stands, and the modules inside that.
        (0..=path.len()).rev().find_map(|length| {
            let file = files.get(&path[..length])?;
            file.iter().find_map(|file| {
                let mut table = self.table(file, system)?;
                for name in &path[length..] {
                    table = match table.items.get(super::tokens::plain(name))? {
                        Item::Inline(inner) => inner.clone(),
                        _ => return None,
                    };
                }
                Some(Module { krate, path: path.to_vec(), table })
            })
        })
    }

    /// The declarations of a file, kept for the next caller.
    fn table(&self, file: &Path, system: Option<&dyn System>) -> Option<Arc<Table>> {
        let kept = || self.tables.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(table) = kept().get(file) {
            return Some(table.clone());
        }
        let bytes = system?.read(file).ok()?;
        let tokens = FileTokens::of(&bytes).ok()?;
        let table = Arc::new(Table::of(&tokens.trees));
        kept().insert(file.to_path_buf(), table.clone());
        Some(table)
    }

    /// Keeps the declarations of a file, which are known already.
    pub(super) fn keep(&self, file: &Path, table: &Arc<Table>) {
        let mut kept = self.tables.lock().unwrap_or_else(PoisonError::into_inner);
        kept.entry(normal(file).into_owned()).or_insert_with(|| table.clone());
    }
}

/// Modules within modules that are followed.
const MAX_NESTING: usize = 100;

/// The modules of a crate that one file is: files that each declare the next one twice would be any
/// number.
const MAX_PLACES: usize = 64;

impl Crate {
    fn new(name: String, is_library: bool, names: CrateNames) -> Self {
        let CrateNames { runtime, renamed } = names;
        Self { name, is_library, files: HashMap::new(), runtime, renamed }
    }
}

impl CrateNames {
    fn of(package: &Package) -> Self {
        let renamed = package.dependencies().into_iter();
        let renamed = renamed.filter_map(|known| known.renamed.zip(known.directory)).collect();
        Self { runtime: package.names_of_runtime(), renamed }
    }
}

/// The inputs of a run.
pub(super) struct CrateInputs<'a> {
    pub(super) system: &'a dyn System,
    /// Their normal paths, sorted.
    pub(super) files: Vec<PathBuf>,
    pub(super) looker: &'a super::quick::Looker,
    /// Other files that were read, with the result of their scan.
    pub(super) besides: RefCell<BTreeMap<PathBuf, Look>>,
}

impl CrateInputs<'_> {
    fn has(&self, path: &Path) -> bool {
        self.files.binary_search_by(|file| file.as_path().cmp(path)).is_ok()
    }

    fn exists(&self, path: &Path) -> bool {
        self.has(path) || self.system.read(path).is_ok()
    }

    /// The modules that a file declares; none where it can't be read.
    fn modules(&self, file: &SourceFile) -> Option<Vec<modules::ModuleFile>> {
        let bytes = self.system.read(&file.path).ok()?;
        if !self.has(&file.path) {
            self.besides.borrow_mut().insert(file.path.clone(), self.looker.look(&bytes));
        }
        let declares = super::quick::has_module_file(&bytes);
        Some(if declares { modules::modules(file, &bytes) } else { Vec::new() })
    }

    /// The package in a directory.
    fn package(&self, directory: &Path) -> Option<Package> {
        let mut package = Package::parse(directory, &self.manifest(directory)?)?;
        let above = upwards(directory, self.system);
        package.find_workspace(above, |directory| self.manifest(directory));
        Some(package)
    }

    fn manifest(&self, directory: &Path) -> Option<Vec<u8>> {
        let path = directory.join("Cargo.toml");
        let manifest = self.system.read(&path).ok()?;
        self.besides.borrow_mut().insert(path, Look::default());
        Some(manifest)
    }
}

/// The package in whose directory, or below, a file lies.
fn package_of<'k>(
    file: &Path,
    known: &'k mut HashMap<PathBuf, Option<Package>>,
    inputs: &CrateInputs<'_>,
) -> Option<&'k Package> {
    let directories: Vec<PathBuf> = file.ancestors().skip(1).map(Path::to_path_buf).collect();
    for directory in &directories {
        let package = known.entry(directory.clone());
        let package = package.or_insert_with(|| inputs.package(directory));
        if package.is_some() {
            break;
        }
    }
    directories.iter().find_map(|directory| known.get(directory)?.as_ref())
}

/// A directory and those around it, which relative paths name by `..`.
fn upwards<'s>(
    directory: &Path,
    system: &'s dyn System,
) -> impl Iterator<Item = PathBuf> + use<'s> {
    let next = |directory: &PathBuf| match directory.components().next_back() {
        Some(Component::Normal(_)) => directory.parent().map(Path::to_path_buf),
        Some(Component::RootDir | Component::Prefix(_)) => None,
        _ => Some(directory.join("..")),
    };
    let depth = |path: &Path| path.components().count();
    let limit = depth(directory) + depth(&system.canonical(Path::new("."))) + 1;
    std::iter::successors(Some(normal(directory).into_owned()), next).take(limit)
}
