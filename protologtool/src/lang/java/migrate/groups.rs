//! The groups of the calls that move: the one that is given, or an enum with a constant for each
//! package, which comes into being beside them.

use super::facts::FileFacts;
use crate::lang::migration::{Migration, MoveChoice};
use crate::source::Source;
use crate::system::System;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// The names by which a file's calls use the runtime.
pub(super) struct NamesInFile {
    pub(super) class: String,
    /// The group's constant.
    pub(super) group: String,
    /// The classes that have to be imported.
    pub(super) imports: Vec<String>,
}

/// The groups of a run.
pub(super) struct PackageGroups<'s> {
    choice: MoveChoice<'s>,
    system: &'s dyn System,
    /// The package of the enum, once a file is known.
    package: Option<String>,
    /// The directory that packages count from.
    root: Option<PathBuf>,
    used: BTreeSet<String>,
}

const CLASS: &str = "dev.protolog.ProtoLog";

impl<'s> PackageGroups<'s> {
    pub(super) fn new(choice: MoveChoice<'s>, system: &'s dyn System) -> Self {
        Self { choice, system, package: None, root: None, used: BTreeSet::new() }
    }

    /// Takes a file into account whose calls may move: the enum is in the package that is common to
    /// all, below the first source root, or the first of main sources.
    pub(super) fn add_file(&mut self, path: &Path, package: &str) {
        self.package = Some(match self.package.take() {
            None => package.to_owned(),
            Some(known) => match common(&known, package) {
                // No class of a package can name one that has none.
                none if none.is_empty() => {
                    [known, package.to_owned()].into_iter().max().unwrap_or_default()
                }
                common => common,
            },
        });
        let depth = package.split('.').filter(|part| !part.is_empty()).count();
        let root = path.ancestors().nth(depth + 1).unwrap_or(Path::new("")).to_path_buf();
        let is_main = |root: &Path| !root.components().any(|part| part.as_os_str() == "test");
        if self.root.as_ref().is_none_or(|known| !is_main(known) && is_main(&root)) {
            self.root = Some(root);
        }
    }

    /// The names that a file's calls use.
    pub(super) fn names_in(&mut self, facts: &FileFacts, source: &Source) -> NamesInFile {
        let (enum_class, constant) = match self.choice.group.and_then(|it| it.rsplit_once('.')) {
            Some((class, constant)) => (class.to_owned(), constant.to_owned()),
            None => {
                let last = facts.package.rsplit('.').next().unwrap_or_default();
                let constant = if last.is_empty() { "APP".to_owned() } else { upper_case(last) };
                self.used.insert(constant.clone());
                (self.class(), constant)
            }
        };
        let mut imports = Vec::new();
        let mut name_of = |class: &str| {
            let (package, simple) = class.rsplit_once('.').unwrap_or(("", class));
            let is_known = facts.has_import(class) || package == facts.package;
            if !is_known && facts.mentions(simple, &[], source.bytes()) {
                return class.to_owned();
            }
            if !is_known {
                imports.push(class.to_owned());
            }
            simple.to_owned()
        };
        let (class, group) = (name_of(CLASS), name_of(&enum_class));
        NamesInFile { class, group: format!("{group}.{constant}"), imports }
    }

    /// The full name of the enum that is made.
    fn class(&self) -> String {
        match self.package.as_deref() {
            None | Some("") => self.choice.enum_name.to_owned(),
            Some(package) => format!("{package}.{}", self.choice.enum_name),
        }
    }

    /// Makes the enum, or says what it lacks.
    pub(super) fn finish(&self, migration: &mut Migration) {
        if self.used.is_empty() {
            return;
        }
        let (package, name) = (self.package.clone().unwrap_or_default(), self.choice.enum_name);
        let root = self.root.clone().unwrap_or_default();
        let directory = package.split('.').filter(|part| !part.is_empty());
        let directory = directory.fold(root, |directory, part| directory.join(part));
        let path = directory.join(format!("{name}.java"));
        if let Ok(known) = self.system.read(&path) {
            let known = String::from_utf8_lossy(&known).into_owned();
            let has = |constant: &&String| {
                !known
                    .split(|char: char| !char.is_alphanumeric() && char != '_')
                    .any(|it| it == **constant)
            };
            let missing: Vec<&str> = self.used.iter().filter(has).map(String::as_str).collect();
            if !missing.is_empty() {
                migration.steps.push(format!(
                    "add to the constants in `{}`: `{}`",
                    path.display(),
                    missing.join("`, `")
                ));
            }
            return;
        }
        migration.created.push((path, self.text(&package, name)));
    }

    fn text(&self, package: &str, name: &str) -> String {
        let mut text = String::new();
        if !package.is_empty() {
            let _ = write!(text, "package {package};\n\n");
        }
        let constants: Vec<String> =
            self.used.iter().map(|constant| format!("    {constant}")).collect();
        let _ = write!(
            text,
            "import dev.protolog.IProtoLogGroup;\n\n/** The groups of log calls. */\npublic enum {name} implements IProtoLogGroup {{\n{};\n\n    @Override\n    public String getTag() {{\n        return name();\n    }}\n}}\n",
            constants.join(",\n")
        );
        text
    }
}

/// The package that two packages have in common.
fn common(first: &str, second: &str) -> String {
    let both = first.split('.').zip(second.split('.'));
    both.take_while(|(a, b)| a == b).map(|(part, _)| part).collect::<Vec<_>>().join(".")
}

/// A package's name as a constant has it.
fn upper_case(name: &str) -> String {
    let text: String = name
        .chars()
        .map(|char| if char.is_alphanumeric() { char.to_ascii_uppercase() } else { '_' })
        .collect();
    if text.starts_with(|char: char| char.is_ascii_digit()) { format!("_{text}") } else { text }
}
