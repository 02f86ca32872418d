//! The meaning of names of classes, as far as a file's own declarations, its imports and its
//! package say.

use super::declarations::declarations;
use super::file::{FileParts, Import, KotlinFile};
use super::scopes::{DeclaredName, Nest, Scopes};
use crate::lang::jvm::constants::ConstantEffort;
use crate::lang::jvm::rivals::Rival;
use std::collections::HashMap;
use std::fmt::Debug;
use std::ops::Deref;
use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock};

/// Declarations of the other inputs.
pub(crate) trait OtherFiles: Debug {
    /// The text of the constant with this canonical name, whose name stands at `depth`.
    fn constant(&self, canonical: &str, depth: usize, effort: &ConstantEffort) -> Option<String>;

    /// Returns whether a class of one of these simple names declares, or inherits, a member called
    /// `name`.
    fn inherits(&self, supertypes: &[String], name: &str) -> bool;

    /// The declarations of the inputs that have this name, if log calls rely on it.
    fn rivals(&self, name: &str) -> &[Rival];
}

/// The keywords that stand before names in declarations.
const DECLARATION_KEYWORDS: [&str; 24] = [
    "abstract",
    "annotation",
    "class",
    "companion",
    "const",
    "data",
    "enum",
    "final",
    "fun",
    "inline",
    "inner",
    "interface",
    "internal",
    "lateinit",
    "object",
    "open",
    "override",
    "private",
    "protected",
    "public",
    "sealed",
    "val",
    "value",
    "var",
];

/// The limit on aliases of aliases, which may go round in circles.
pub(super) const MAX_ALIASES: usize = 8;

/// A file with its declarations.
#[derive(Debug)]
pub(crate) struct ScopedFile<'s> {
    pub(crate) file: KotlinFile<'s>,
    names: Arc<FileNames>,
    /// The positions of the tags of its classes among the declarations, by the offsets of the
    /// classes, once they are asked for.
    pub(super) tags: OnceLock<HashMap<usize, usize>>,
    /// True if code runs when an object is made, by the object's offset; the file itself has none.
    /// Each object is looked at once.
    pub(super) initialisers: Mutex<HashMap<Option<usize>, bool>>,
    /// The effort for its constants.
    pub(super) effort: ConstantEffort,
    pub(crate) others: Option<&'s dyn OtherFiles>,
}

/// The names of a file, which can be had again for the same text.
#[derive(Debug)]
pub(crate) struct FileNames {
    pub(crate) scopes: Scopes,
    /// Its braces, once they are asked for.
    braces: OnceLock<Nest>,
}

/// The parts of a parsed file, without its text.
#[derive(Debug)]
pub(crate) struct ParsedFile {
    parts: Arc<FileParts>,
    names: Arc<FileNames>,
}

impl Deref for ScopedFile<'_> {
    type Target = FileNames;

    fn deref(&self) -> &FileNames {
        &self.names
    }
}

impl<'s> ScopedFile<'s> {
    pub(crate) fn of(text: &'s [u8]) -> Self {
        let file = KotlinFile::of(text);
        let scopes = Scopes::new(declarations(&file));
        Self::with(file, Arc::new(FileNames { scopes, braces: OnceLock::new() }))
    }

    fn with(file: KotlinFile<'s>, names: Arc<FileNames>) -> Self {
        let (tags, initialisers) = Default::default();
        let effort = ConstantEffort::of_file(file.text.len());
        Self { file, names, tags, initialisers, effort, others: None }
    }

    /// As [`among`](Self::among), of a text that was taken apart before.
    pub(crate) fn again(
        text: &'s [u8],
        parsed: &ParsedFile,
        others: Option<&'s dyn OtherFiles>,
    ) -> Self {
        let file = KotlinFile::of_parts(text, Arc::clone(&parsed.parts));
        Self { others, ..Self::with(file, Arc::clone(&parsed.names)) }
    }

    /// The parts of the text.
    pub(crate) fn parsed(&self) -> ParsedFile {
        ParsedFile { parts: self.file.parts(), names: Arc::clone(&self.names) }
    }

    /// The file `text` with names that may lead to `others`.
    pub(crate) fn among(text: &'s [u8], others: Option<&'s dyn OtherFiles>) -> Self {
        Self { others, ..Self::of(text) }
    }

    /// Returns whether the names `path`, at `offset`, mean the class `class`.
    pub(crate) fn means(&self, path: &[String], class: &str, offset: usize) -> bool {
        self.means_after(path, class, offset, 0)
    }

    /// As [`means`](Self::means), where `depth` aliases led to `path`.
    fn means_after(&self, path: &[String], class: &str, offset: usize, depth: usize) -> bool {
        let Some((first, rest)) = path.split_first() else { return false };
        if self.scopes.variable(first, offset).is_some() {
            return false;
        }
        if let Some(declared) = self.scopes.type_named(first, offset) {
            return match &declared.written_type {
                // An alias for another class, whose name was resolved where the alias is.
                Some(target) if rest.is_empty() && depth < MAX_ALIASES => {
                    let target: Vec<String> = target.split('.').map(str::to_owned).collect();
                    target[0] != *first && self.means_after(&target, class, offset, depth + 1)
                }
                Some(_) => false,
                None => self.in_package(&path.join(".")) == class,
            };
        }
        let mut imports = self.file.imports.iter();
        if let Some(import) = imports.find(|import| import.name.as_ref() == Some(first)) {
            return join(&import.path, rest) == class;
        }
        let written = path.join(".");
        let wildcards = self.file.imports.iter().filter(|import| import.name.is_none());
        self.in_package(&written) == class
            || !rest.is_empty() && written == class
            || wildcards.into_iter().any(|import| format!("{}.{written}", import.path) == class)
    }

    /// Returns whether a name in the file may mean `class` or a member of it.
    pub(crate) fn may_name(&self, class: &str) -> bool {
        let package = class.rsplit_once('.').map_or("", |(package, _)| package);
        let imports = self.file.imports.iter().any(|import| match &import.name {
            None => import.path == package || import.path == class,
            Some(_) => {
                let rest = import.path.strip_prefix(class);
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
            }
        });
        let is_full = || memchr::memmem::find(self.file.text, class.as_bytes()).is_some();
        imports || self.file.package == package || is_full()
    }

    /// The member of `class` that the plain name `name` is an import of; a wildcard brings all that
    /// the class has.
    pub(crate) fn imported_member(&self, name: &str, class: &str) -> Option<String> {
        let single = self.file.imports.iter().find(|import| import.name.as_deref() == Some(name));
        if let Some(import) = single {
            let (of, member) = import.path.rsplit_once('.')?;
            return (of == class).then(|| member.to_owned());
        }
        let is_all = |import: &&Import| import.name.is_none() && import.path == class;
        self.file.imports.iter().find(is_all).map(|_| name.to_owned())
    }

    /// Returns whether `offset` is within the body of the class or object `class`.
    pub(crate) fn is_within(&self, class: &str, offset: usize) -> bool {
        let owners: Vec<&str> = self.scopes.owners(offset).collect();
        (0..owners.len()).any(|inner| {
            let path: Vec<&str> = owners[inner..].iter().rev().copied().collect();
            self.in_package(&path.join(".")) == class
        })
    }

    /// The canonical names that `path`, which the file does not declare, can have, in the order in
    /// which the compiler looks.
    pub(crate) fn elsewhere(&self, path: &[String]) -> Vec<String> {
        let Some((first, rest)) = path.split_first() else { return Vec::new() };
        let mut imports = self.file.imports.iter();
        if let Some(import) = imports.find(|import| import.name.as_ref() == Some(first)) {
            return vec![join(&import.path, rest)];
        }
        let written = path.join(".");
        let full = (!rest.is_empty()).then(|| written.clone());
        let wildcards = self.file.imports.iter().filter(|import| import.name.is_none());
        let imported = wildcards.map(|import| format!("{}.{written}", import.path));
        [self.in_package(&written)].into_iter().chain(full).chain(imported).collect()
    }

    /// Returns whether a class around `offset` inherits a member called `name`, as far as the
    /// inputs tell.
    pub(crate) fn inherits(&self, name: &str, offset: usize) -> bool {
        let Some(others) = self.others else { return false };
        let mut around = self.scopes.types_around(offset);
        around.any(|it| !it.supertypes.is_empty() && others.inherits(&it.supertypes, name))
    }

    /// The keywords before the name of a declaration, the last first.
    pub(crate) fn keywords_before(&self, declared: &DeclaredName) -> Vec<&'s str> {
        let before = (0..self.token_at(declared.offset)).rev().map(|at| self.file.raw(at));
        before.take_while(|raw| DECLARATION_KEYWORDS.contains(raw)).collect()
    }

    /// Returns whether a declaration stands in the body of a function.
    pub(crate) fn is_local(&self, declared: &DeclaredName) -> bool {
        let at = self.token_at(declared.offset);
        self.scopes.functions_around(at).any(|it| it.offset != declared.offset)
    }

    /// The tokens of the braces that are open at the token `at`, the innermost first.
    pub(crate) fn braces_around(&self, at: usize) -> impl Iterator<Item = usize> {
        let file = &self.file;
        let pairs = || {
            let opening = (0..file.tokens.len()).filter(|open| file.is_punct(*open, b'{'));
            Nest::new(opening.map(|open| (open + 1..file.partner(open), open)))
        };
        self.braces.get_or_init(pairs).around(at)
    }

    /// The position of the first token that does not begin before `offset`.
    pub(crate) fn token_at(&self, offset: usize) -> usize {
        self.file.tokens.partition_point(|token| token.range().start < offset)
    }

    /// The canonical names of a member of a class or of the file: the second is that of a
    /// companion's, as its class has it.
    pub(crate) fn canonical(&self, declared: &DeclaredName) -> (String, Option<String>) {
        let around: Vec<&DeclaredName> = self.scopes.types_around(declared.offset).collect();
        let with = |owners: &[&DeclaredName]| {
            let owners = owners.iter().rev().map(|owner| &*owner.name);
            let path: Vec<&str> = owners.chain([&*declared.name]).collect();
            self.in_package(&path.join("."))
        };
        let of_class = around.first().is_some_and(|it| it.is_companion);
        (with(&around), of_class.then(|| with(&around[1..])))
    }

    /// The canonical name of the class by which Java knows the declarations outside of classes of
    /// the file at `path`.
    pub(crate) fn facade(&self, path: &Path) -> String {
        let named = self.file.jvm_name.clone();
        let simple = named.unwrap_or_else(|| {
            let stem = path.file_stem().unwrap_or_default().to_string_lossy();
            let mut chars = stem.chars();
            let first = chars.next().map(|first| first.to_uppercase().collect::<String>());
            format!("{}{}Kt", first.unwrap_or_default(), chars.as_str())
        });
        self.in_package(&simple)
    }

    fn in_package(&self, name: &str) -> String {
        join(&self.file.package, &[name.to_owned()])
    }
}

fn join(path: &str, rest: &[String]) -> String {
    let first = (!path.is_empty()).then_some(path);
    let parts: Vec<&str> = first.into_iter().chain(rest.iter().map(String::as_str)).collect();
    parts.join(".")
}
