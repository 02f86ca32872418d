//! Classes of other inputs, which are read when a name leads to them: superclasses, whose members
//! hide imports, and classes with constants.
//!
//! A class is looked for where Java compilers look: in the file called by its name. The classes
//! read are kept for later files, up to a limit. Classes of the same package may also stand in
//! files of other names: see [`super::secondary`]. The answers do not depend on the order of the
//! questions. [`Recorded`] keeps the questions of a file.

use super::outline::TypeId;
use super::secondary::Secondary;
use super::unit::Unit;
use crate::lang::jvm::constants::ConstantEffort;
use crate::lang::jvm::lookups::Lookups;
use crate::system::System;
use std::cell::RefCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// The limit on bytes of kept sources.
const MAX_KEPT: usize = 8 << 20;

/// Where classes of other files are looked up.
pub(crate) trait Classes {
    /// The class with this canonical name, and the file that declares it.
    fn class(&self, canonical: &str) -> Option<(Arc<Unit<'static>>, TypeId)>;

    /// The class of this simple name in this package that stands in a file called by another class.
    fn secondary(&self, package: &str, name: &str) -> Option<(Arc<Unit<'static>>, TypeId)>;

    /// The text of the constant with this canonical name, if Kotlin declares it.
    fn constant_of_kotlin(
        &self,
        _canonical: &str,
        _depth: usize,
        _: &ConstantEffort,
    ) -> Option<String> {
        None
    }

    /// A file of Kotlin that declares a function called `name`.
    fn method_of_kotlin(&self, _name: &str) -> Option<PathBuf> {
        None
    }
}

/// The inputs of a run, by the names of classes.
pub(crate) struct Library<'a> {
    system: &'a dyn System,
    inputs: &'a [PathBuf],
    by_name: OnceLock<HashMap<&'a str, Vec<&'a Path>>>,
    read: Mutex<ReadUnits>,
    secondary: Secondary<'a>,
}

#[derive(Default)]
struct ReadUnits {
    units: HashMap<PathBuf, Option<Arc<Unit<'static>>>>,
    bytes: usize,
}

impl std::fmt::Debug for Library<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Library").field("inputs", &self.inputs.len()).finish_non_exhaustive()
    }
}

impl<'a> Library<'a> {
    /// The classes that are declared in `inputs`.
    pub(crate) fn new(system: &'a dyn System, inputs: &'a [PathBuf]) -> Self {
        let (by_name, read) = (OnceLock::new(), Mutex::default());
        Self { system, inputs, by_name, read, secondary: Secondary::default() }
    }

    /// The file of this name in this package.
    fn top_level(&self, package: &str, name: &str) -> Option<Arc<Unit<'static>>> {
        let by_name = self.by_name.get_or_init(|| self.index());
        let paths = by_name.get(name)?.iter();
        // Those in a directory of the package's name first, so that others need not be read.
        let directory = package.replace('.', "/");
        let (near, far): (Vec<&Path>, Vec<&Path>) = paths
            .partition(|path| path.parent().is_some_and(|parent| parent.ends_with(&directory)));
        let mut units = near.into_iter().chain(far).filter_map(|path| self.unit(path));
        units.find(|unit| unit.names.package == package)
    }

    fn index(&self) -> HashMap<&'a str, Vec<&'a Path>> {
        let mut by_name: HashMap<&str, Vec<&Path>> = HashMap::new();
        for path in self.inputs {
            if let Some(name) = path.file_stem().and_then(|stem| stem.to_str()) {
                by_name.entry(name).or_default().push(path);
            }
        }
        by_name
    }

    fn unit(&self, path: &Path) -> Option<Arc<Unit<'static>>> {
        let kept = || self.read.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = kept().units.get(path) {
            return known.clone();
        }
        let unit = self.system.read(path).ok().map(|bytes| Arc::new(Unit::owned(bytes)));
        let size = unit.as_ref().map_or(0, |unit| unit.text().len());
        let mut read = kept();
        if read.bytes + size > MAX_KEPT {
            *read = ReadUnits::default();
        }
        read.bytes += size;
        read.units.insert(path.to_path_buf(), unit.clone());
        unit
    }
}

impl Classes for Library<'_> {
    fn class(&self, canonical: &str) -> Option<(Arc<Unit<'static>>, TypeId)> {
        // The file is called by the outermost class; where the package ends, the files tell.
        let parts: Vec<&str> = canonical.split('.').collect();
        (0..parts.len()).rev().find_map(|first| {
            let package = parts[..first].join(".");
            let unit = self.top_level(&package, parts[first])?;
            let found = parts[first..]
                .iter()
                .try_fold(None, |outer, name| unit.type_in(outer, name).map(Some));
            Some((unit, found??))
        })
    }
    fn secondary(&self, package: &str, name: &str) -> Option<(Arc<Unit<'static>>, TypeId)> {
        let paths = self.secondary.files(package, name, self.inputs, self.system);
        paths.iter().find_map(|path| {
            let unit = self.unit(path).filter(|unit| unit.names.package == package)?;
            let id = unit.type_in(None, name)?;
            Some((unit, id))
        })
    }
}

/// The inputs of a run, with the questions that one file asks.
pub(super) struct Recorded<'l> {
    classes: &'l dyn Classes,
    lookups: RefCell<Lookups>,
}

impl<'l> Recorded<'l> {
    pub(super) fn new(classes: &'l dyn Classes) -> Self {
        Self { classes, lookups: RefCell::default() }
    }

    /// The questions that were asked.
    pub(super) fn into_lookups(self) -> Lookups {
        self.lookups.into_inner()
    }
}

impl Classes for Recorded<'_> {
    fn class(&self, canonical: &str) -> Option<(Arc<Unit<'static>>, TypeId)> {
        self.lookups.borrow_mut().add_class(canonical);
        self.classes.class(canonical)
    }

    fn secondary(&self, package: &str, name: &str) -> Option<(Arc<Unit<'static>>, TypeId)> {
        self.lookups.borrow_mut().add_package(package);
        self.classes.secondary(package, name)
    }

    fn constant_of_kotlin(
        &self,
        canonical: &str,
        depth: usize,
        effort: &ConstantEffort,
    ) -> Option<String> {
        self.lookups.borrow_mut().all = true;
        self.classes.constant_of_kotlin(canonical, depth, effort)
    }

    fn method_of_kotlin(&self, name: &str) -> Option<PathBuf> {
        self.lookups.borrow_mut().all = true;
        self.classes.method_of_kotlin(name)
    }
}
