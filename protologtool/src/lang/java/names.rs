//! What a name written in a file means: package, imports, enclosing types.
//!
//! Without a class path a name can't be resolved, but whether it *can* mean one given class can be told: a single-type
//! import decides; else enclosing types, the file's package and wildcard imports are tried. Names that declarations in the
//! file hide are the business of [`super::scope`].

use super::lexer;
use super::syntax::{children, dotted};
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

    /// The canonical name of the innermost of nested types whose simple names are `types`, outermost first.
    pub(crate) fn canonical<'n>(&'n self, types: impl IntoIterator<Item = &'n str>) -> String {
        let package = Some(self.package.as_str()).filter(|package| !package.is_empty());
        package.into_iter().chain(types).collect::<Vec<_>>().join(".")
    }

    /// Whether the type name `written`, simple or qualified, can mean the class `class` where the types `enclosing` (by
    /// canonical names) are around it.
    pub(crate) fn can_mean(&self, written: &str, class: &str, enclosing: &[String]) -> bool {
        let first = written.split('.').next().unwrap_or(written);
        let rest = &written[first.len()..];
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lang::java::syntax::parse;

    #[test]
    fn what_a_name_can_mean() {
        let source = Source::new(
            "A.java",
            b"package p; import a.b.Log; import c.*; import static d.E.m;".to_vec(),
        );
        let tree = parse(source.bytes()).unwrap();
        let names = Names::of(tree.root_node(), &source);
        for (written, class, expected) in [
            ("Log", "a.b.Log", true),
            ("Log", "c.Log", false),
            ("Log.In", "a.b.Log.In", true),
            ("Other", "c.Other", true),
            ("Other", "p.Other", true),
            ("Other", "q.Other", false),
            ("q.Other", "q.Other", true),
            ("In", "p.Outer.In", true),
            ("Other", "Other", false),
        ] {
            let enclosing = ["p.Outer".to_owned()];
            assert_eq!(
                names.can_mean(written, class, &enclosing),
                expected,
                "{written} as {class}"
            );
        }
        assert!(names.import_member("m", "d.E") && !names.import_member("n", "d.E"));
    }
}
