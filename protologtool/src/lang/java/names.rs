//! What a name written in a file means: package, imports, enclosing types.
//!
//! Without a class path a name can't be resolved, but whether it *can* mean one given class can be told: a single-type
//! import decides; else enclosing types, the file's package and wildcard imports are tried. Names that declarations in the
//! file hide are the business of [`super::scope`].

use super::lexer;
use super::syntax::{ancestors, children, dotted, field_text, is_type_body, is_type_declaration};
use crate::source::Source;
use tree_sitter::Node;

/// The package and the imports of a file.
#[derive(Debug, Default)]
pub(crate) struct Names {
    package: String,
    /// `import a.b.C;`
    single: Vec<String>,
    /// `import a.b.*;`
    wildcard: Vec<String>,
    /// `import static a.b.C.m;`
    static_single: Vec<String>,
    /// `import static a.b.C.*;`
    static_wildcard: Vec<String>,
}

impl Names {
    /// Reads package and imports of the compilation unit `root`.
    pub(crate) fn of(root: Node<'_>, source: &Source) -> Self {
        let mut names = Self { package: lexer::package(source.bytes()), ..Self::default() };
        for import in children(root).filter(|node| node.kind() == "import_declaration") {
            let Some(path) = children(import).find_map(|child| dotted(child, source)) else {
                continue;
            };
            let mut cursor = import.walk();
            let is_static = import.children(&mut cursor).any(|child| child.kind() == "static");
            let is_wildcard = children(import).any(|child| child.kind() == "asterisk");
            let list = match (is_static, is_wildcard) {
                (false, false) => &mut names.single,
                (false, true) => &mut names.wildcard,
                (true, false) => &mut names.static_single,
                (true, true) => &mut names.static_wildcard,
            };
            list.push(path);
        }
        names
    }

    /// Whether the type name `written`, simple or qualified, means the class `class` where `at` stands.
    pub(crate) fn mean(&self, written: &str, class: &str, at: Node<'_>, source: &Source) -> bool {
        let (first, rest) = match written.split_once('.') {
            Some((first, _)) => (first, &written[first.len()..]),
            None => (written, ""),
        };
        let enclosing = self.enclosing_types(at, source);
        if enclosing.iter().any(|outer| is_path(class, &[outer, written])) {
            return true;
        }
        let ends_with_first = |import: &&String| import.rsplit('.').next() == Some(first);
        if let Some(import) = self.single.iter().chain(&self.static_single).find(ends_with_first) {
            return class.strip_prefix(import.as_str()) == Some(rest);
        }
        class == written && (self.package.is_empty() || !rest.is_empty())
            || !self.package.is_empty() && is_path(class, &[&self.package, written])
            || self
                .wildcard
                .iter()
                .chain(&self.static_wildcard)
                .any(|outer| is_path(class, &[outer, written]))
    }

    /// Whether the unqualified name `member` is a static import from `class`.
    pub(crate) fn import_member(&self, member: &str, class: &str) -> bool {
        self.static_single.iter().any(|import| is_path(import, &[class, member]))
            || self.static_wildcard.iter().any(|import| import == class)
    }

    /// Whether `at` stands within the type `class`.
    pub(crate) fn within(&self, class: &str, at: Node<'_>, source: &Source) -> bool {
        self.enclosing_types(at, source).iter().any(|outer| outer == class)
    }

    /// The canonical name of a type that the file declares; none for a type parameter and for local types, which have none.
    pub(crate) fn declared(&self, declaration: Node<'_>, source: &Source) -> Option<String> {
        let is_local = ancestors(declaration).any(|(parent, _)| {
            !is_type_declaration(parent) && !is_type_body(parent) && parent.kind() != "program"
        });
        if is_local || !is_type_declaration(declaration) {
            return None;
        }
        let name = field_text(declaration, "name", source);
        Some(match self.enclosing_types(declaration, source).last() {
            Some(outer) => format!("{outer}.{name}"),
            None if self.package.is_empty() => name.to_owned(),
            None => format!("{}.{name}", self.package),
        })
    }

    /// The canonical names of the types around `at`.
    fn enclosing_types(&self, at: Node<'_>, source: &Source) -> Vec<String> {
        let mut simple: Vec<&str> = ancestors(at)
            .filter(|(parent, _)| is_type_declaration(*parent))
            .map(|(parent, _)| field_text(parent, "name", source))
            .collect();
        simple.reverse();
        let mut path = self.package.clone();
        let canonical = simple.into_iter().map(|name| {
            if !path.is_empty() {
                path.push('.');
            }
            path.push_str(name);
            path.clone()
        });
        canonical.collect()
    }
}

/// Whether `path` is these parts, joined by dots.
fn is_path(path: &str, parts: &[&str]) -> bool {
    let mut rest = path;
    for (index, part) in parts.iter().enumerate() {
        let dot = if index > 0 { rest.strip_prefix('.') } else { Some(rest) };
        match dot.and_then(|rest| rest.strip_prefix(part)) {
            Some(tail) => rest = tail,
            None => return false,
        }
    }
    rest.is_empty()
}
