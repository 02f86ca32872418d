//! Declarations of other Kotlin files, where names lead to them: constants, and members that
//! classes inherit.
//!
//! A file of Kotlin may have any name, so that the first question has all of them searched, once.
//! KnownConstants are found when they are asked for. The answers do not depend on the order of the
//! questions.

use super::is_kotlin;
use super::lexer::LexemeKind;
use super::names::{OtherFiles, ParsedFile, ScopedFile};
use super::scopes::{DeclaredKind, DeclaredName};
use super::template;
use crate::lang::jvm::constants::{ConstantEffort, FoundConstant, KnownConstants};
use crate::system::{Reader, System};
use memchr::memmem::Finder;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// The limits on supertypes that lead to other supertypes, and on files that are read to follow
/// them.
const MAX_SUPERTYPES: (usize, usize) = (8, 100);

/// The limit on bytes of kept sources.
const MAX_KEPT: usize = 8 << 20;

/// The Kotlin files of a run, by the names that they declare.
pub(crate) struct KotlinLibrary<'a> {
    system: &'a dyn System,
    inputs: &'a [PathBuf],
    index: OnceLock<NameIndex<'a>>,
    values: KnownConstants,
    kept: Mutex<KeptFiles<'a>>,
}

/// Files with constants that were asked for, up to a limit: a file may declare any number of them.
#[derive(Default)]
struct KeptFiles<'a> {
    files: HashMap<&'a Path, Arc<KeptFile>>,
    bytes: usize,
}

/// A file that was taken apart.
struct KeptFile {
    text: Vec<u8>,
    parsed: ParsedFile,
    /// The positions of its constants among its declarations, by canonical name.
    constants: HashMap<String, usize>,
}

#[derive(Default)]
struct NameIndex<'a> {
    /// The files of constants, by canonical name, and that they are evidently texts; none where
    /// several files declare one.
    constants: HashMap<String, Option<(&'a Path, bool)>>,
    /// The files that may declare a class, by its simple name.
    types: HashMap<String, Vec<&'a Path>>,
}

impl std::fmt::Debug for KotlinLibrary<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("KotlinLibrary").field("inputs", &self.inputs.len()).finish_non_exhaustive()
    }
}

impl<'a> KotlinLibrary<'a> {
    /// The declarations of the Kotlin files of `inputs`.
    pub(crate) fn new(system: &'a dyn System, inputs: &'a [PathBuf]) -> Self {
        let (index, values, kept) = Default::default();
        Self { system, inputs, index, values, kept }
    }

    /// The text of the constant with this canonical name; its own file's name may stand in
    /// `others`.
    pub(crate) fn constant(
        &self,
        canonical: &str,
        depth: usize,
        effort: &ConstantEffort,
        others: &dyn OtherFiles,
    ) -> Option<String> {
        let (path, _) = (*self.index().constants.get(canonical)?)?;
        self.values.get(canonical, depth, effort, |most| {
            let kept = self.kept(path)?;
            let named = ScopedFile::again(&kept.text, &kept.parsed, Some(others));
            let is_limited = named.effort.limit(most);
            let declared = named.scopes.all().get(*kept.constants.get(canonical)?)?;
            let text = template::constant(&named, declared, depth);
            let text = text.map(|text| text.as_str().to_owned());
            Some(FoundConstant { text, taken: named.effort.taken(), is_limited })
        })
    }

    /// The file at `path`, taken apart: once for all of its constants.
    fn kept(&self, path: &'a Path) -> Option<Arc<KeptFile>> {
        let all = || self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = all().files.get(path) {
            return Some(Arc::clone(known));
        }
        let file = Arc::new(KeptFile::new(self.system.read(path).ok()?, path));
        let mut kept = all();
        if kept.bytes + file.text.len() > MAX_KEPT {
            *kept = KeptFiles::default();
        }
        kept.bytes += file.text.len();
        kept.files.insert(path, Arc::clone(&file));
        Some(file)
    }

    /// Returns whether the constant with this canonical name is evidently a text, rather than a
    /// number.
    pub(crate) fn is_text(&self, canonical: &str) -> bool {
        matches!(self.index().constants.get(canonical), Some(Some((_, true))))
    }

    /// Returns whether a class of one of these simple names declares, or inherits, a member called
    /// `name`.
    pub(crate) fn inherits(&self, supertypes: &[String], name: &str) -> bool {
        let mut open: Vec<(String, usize)> =
            supertypes.iter().map(|simple| (simple.clone(), 0)).collect();
        let mut read = 0;
        while let Some((simple, depth)) = open.pop() {
            let files = self.index().types.get(&simple).map_or(&[][..], Vec::as_slice);
            for path in files {
                read += 1;
                if depth > MAX_SUPERTYPES.0 || read > MAX_SUPERTYPES.1 {
                    // Rather a call that stays as it is than one of something else.
                    return true;
                }
                let Ok(bytes) = self.system.read(path) else { continue };
                let named = ScopedFile::of(&bytes);
                let all = named.scopes.all();
                let is_type =
                    |it: &&DeclaredName| it.kind == DeclaredKind::Type && it.name == simple;
                for class in all.iter().filter(is_type) {
                    let has = all.iter().any(|it| it.name == name && is_member(&named, it, class));
                    if has {
                        return true;
                    }
                    open.extend(class.supertypes.iter().map(|it| (it.clone(), depth + 1)));
                }
            }
        }
        false
    }

    fn index(&self) -> &NameIndex<'a> {
        self.index.get_or_init(|| {
            let (mut index, mut reader) = (NameIndex::default(), Reader::default());
            let finders = Finders::new();
            for path in self.inputs.iter().filter(|path| is_kotlin(path)) {
                if self.system.read_into(path, &mut reader).is_ok() {
                    index.add(path, reader.bytes(), &finders);
                }
            }
            index
        })
    }
}

impl KeptFile {
    fn new(text: Vec<u8>, path: &Path) -> Self {
        let named = ScopedFile::of(&text);
        let mut constants = HashMap::new();
        for (at, declared) in named.scopes.all().iter().enumerate() {
            if declared.kind == DeclaredKind::Constant {
                for name in names(&named, path, declared) {
                    constants.entry(name).or_insert(at);
                }
            }
        }
        let parsed = named.parsed();
        Self { text, parsed, constants }
    }
}

/// The keywords that every file is searched for.
struct Finders {
    constant: Finder<'static>,
    types: [Finder<'static>; 3],
}

impl Finders {
    fn new() -> Self {
        let types = [&b"class"[..], b"interface", b"object"].map(Finder::new);
        Self { constant: Finder::new(b"const"), types }
    }
}

impl<'a> NameIndex<'a> {
    fn add(&mut self, path: &'a Path, text: &[u8], finders: &Finders) {
        for keyword in &finders.types {
            for at in keyword.find_iter(text) {
                if let Some(name) = declared(&text[at + keyword.needle().len()..]) {
                    let files = self.types.entry(name.to_owned()).or_default();
                    if files.last() != Some(&path) {
                        files.push(path);
                    }
                }
            }
        }
        if finders.constant.find(text).is_none() {
            return;
        }
        let named = ScopedFile::of(text);
        for declared in named.scopes.all() {
            if declared.kind != DeclaredKind::Constant
                || named.keywords_before(declared).contains(&"private")
            {
                continue;
            }
            let first = declared.value.as_ref().and_then(|value| named.file.kind(value.start));
            let is_text = declared.written_type.as_deref() == Some("String")
                || matches!(first, Some(LexemeKind::TextOpen { .. }));
            for name in names(&named, path, declared) {
                let entry = self.constants.entry(name).or_insert(Some((path, is_text)));
                // Several files with one constant are of several programs.
                *entry = entry.filter(|(known, _)| *known == path);
            }
        }
    }
}

/// All canonical names of a constant, that which Java has for one of the file included.
fn names(named: &ScopedFile<'_>, path: &Path, declared: &DeclaredName) -> Vec<String> {
    let (canonical, of_class) = named.canonical(declared);
    let is_of_file = named.scopes.types_around(declared.offset).next().is_none();
    let of_java = is_of_file.then(|| format!("{}.{}", named.facade(path), declared.name));
    [canonical].into_iter().chain(of_class).chain(of_java).collect()
}

/// Returns whether `it` is a member of `class`, or of its companion.
fn is_member(named: &ScopedFile<'_>, it: &DeclaredName, class: &DeclaredName) -> bool {
    use DeclaredKind::{Constant, Function, Property, Type};
    let is_kind = matches!(it.kind, Constant | Function | Property | Type);
    let mut around = named.scopes.types_around(it.offset);
    let owner = around.find(|owner| !owner.is_companion);
    // Only parameters of a primary constructor can be properties.
    let is_parameter = it.kind == DeclaredKind::Parameter
        && named.keywords_before(it).iter().any(|raw| matches!(*raw, "val" | "var"))
        && {
            let mut before = named.scopes.all().iter().rev().filter(|it| it.kind == Type);
            let before = before.find(|class| class.offset < it.offset);
            before.is_some_and(|before| before.offset == class.offset)
        };
    is_parameter || is_kind && owner.is_some_and(|owner| owner.offset == class.offset)
}

/// The name behind a keyword.
fn declared(text: &[u8]) -> Option<&str> {
    let rest = text.strip_prefix(b" ").or_else(|| text.strip_prefix(b"\t"))?.trim_ascii_start();
    let rest = rest.strip_prefix(b"`").unwrap_or(rest);
    let end = rest.iter().position(|byte| !super::lexer::is_word(*byte)).unwrap_or(rest.len());
    std::str::from_utf8(&rest[..end]).ok().filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lang::jvm::looks;
    use crate::lang::jvm::rivals::Rival;
    use crate::system::Memory;
    use std::fmt::Write as _;

    #[derive(Debug)]
    struct Others<'l>(&'l KotlinLibrary<'l>);

    impl OtherFiles for Others<'_> {
        fn constant(&self, name: &str, depth: usize, effort: &ConstantEffort) -> Option<String> {
            self.0.constant(name, depth, effort, self)
        }

        fn inherits(&self, _: &[String], _: &str) -> bool {
            false
        }

        fn rivals(&self, _: &str) -> &[Rival] {
            &[]
        }
    }

    /// The looks that it takes to find all of so many constants of two files that need each
    /// other's.
    fn looks_of(count: usize) -> usize {
        let system = Memory::default();
        let mut files = [("p/A.kt", "A", "B", String::new()), ("p/B.kt", "B", "A", String::new())];
        for (path, own, other, text) in &mut files {
            text.push_str("package p\n");
            for number in 0..count {
                let value = match number {
                    0 => "\"k\"".to_owned(),
                    _ => format!("{other}{} + \"\"", number - 1),
                };
                writeln!(text, "const val {own}{number} = {value}").unwrap();
            }
            system.add_file(*path, text.as_bytes());
        }
        let inputs = files.map(|(path, ..)| PathBuf::from(path));
        let library = KotlinLibrary::new(&system, &inputs);
        let effort = ConstantEffort::of_file(1 << 20);
        let find_all = || {
            for number in 0..count {
                effort.begin();
                let name = format!("p.A{number}");
                let found = library.constant(&name, 0, &effort, &Others(&library));
                assert_eq!(found.as_deref(), Some("k"), "{name}");
            }
        };
        looks::of(find_all).1
    }

    #[test]
    fn each_constant_costs_the_same_in_a_file_of_any_length() {
        looks::assert_linear("constants of two files", looks_of);
    }
}
