//! The classes of other files that the calls of a file lead to, whether they were found or not:
//! the dependencies of one file's result besides its own text.
//!
//! ```text
//! class(com.foo.Base.LIMIT)    any file called `com`, `foo`, `Base` or `LIMIT` may answer
//! secondary(com.foo, Base)     any file of the package may
//! ```
//!
//! Invariant: as long as no file that may answer comes, goes or changes, and the others keep their
//! order, the answers stay.

use std::collections::BTreeSet;
use std::path::Path;

/// The questions that were asked for one file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lookups {
    /// The parts of the names of classes.
    pub names: BTreeSet<String>,
    /// The packages whose files were searched for a class.
    pub packages: BTreeSet<String>,
    /// True if any file may answer.
    pub all: bool,
}

impl Lookups {
    /// Adds a class by its canonical name.
    pub(crate) fn add_class(&mut self, canonical: &str) {
        for part in
            canonical.split('.').filter(|part| !self.names.contains(*part)).collect::<Vec<_>>()
        {
            self.names.insert(part.to_owned());
        }
    }

    /// Adds a class that stands in any file of a package.
    pub(crate) fn add_package(&mut self, package: &str) {
        if !self.packages.contains(package) {
            self.packages.insert(package.to_owned());
        }
    }
}

/// Returns whether the files of this directory are searched for classes of the package.
pub(crate) fn is_of_package(directory: &Path, package: &str) -> bool {
    directory.ends_with(package.replace('.', "/"))
}
