//! The meaning of names in a file, as far as its package and imports say.
//!
//! Without a class path a name can't be resolved, but whether it *can* mean one given class can be
//! told: a single-type import decides; else the file's package and wildcard imports are tried.
//! Hiding by declarations is the business of [`super::resolve`].

use super::lexer::{self, Token, TokenKind};

/// The package and the imports of a file.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names {
    pub(crate) package: String,
    /// `import a.b.C;`
    pub(crate) single: Vec<String>,
    /// `import a.b.*;`
    pub(crate) wildcard: Vec<String>,
    /// `import static a.b.C.m;`
    pub(crate) static_single: Vec<String>,
    /// `import static a.b.C.*;`
    pub(crate) static_wildcard: Vec<String>,
    /// True if a module is imported that is none of the platform's: it may bring any class.
    pub(crate) has_module: bool,
}

impl Names {
    /// Reads package and imports of the file `text`, which has these tokens. The rest of the file
    /// may be as broken as it likes.
    pub(crate) fn of(text: &[u8], tokens: &[Token]) -> Self {
        let mut names = Self { package: lexer::package(text), ..Self::default() };
        let is_body = |token: &&Token| token.kind != TokenKind::Punct(b'{');
        let end = tokens.iter().take_while(is_body).count();
        for statement in tokens[..end].split(|token| token.kind == TokenKind::Punct(b';')) {
            if let Some((_, path)) =
                statement.split_first().filter(|(first, _)| text[first.range()] == *b"import")
            {
                names.add_import(path, text);
            }
        }
        names
    }

    /// Adds the import whose tokens, `import` and `;` excluded, these are.
    fn add_import(&mut self, tokens: &[Token], text: &[u8]) {
        let word = |token: &Token| &text[token.range()];
        let is_static = tokens.first().is_some_and(|token| word(token) == b"static");
        let path = if is_static { &tokens[1..] } else { tokens };
        if let [first, second, ..] = path
            && word(first) == b"module"
            && second.kind == TokenKind::Word
        {
            self.has_module |= !matches!(word(second), b"java" | b"jdk");
            return;
        }
        let is_wildcard = path.last().is_some_and(|token| token.kind == TokenKind::Punct(b'*'));
        let words = path.iter().filter(|token| token.kind == TokenKind::Word);
        let path: Vec<_> = words.map(|token| String::from_utf8_lossy(word(token))).collect();
        let list = match (is_static, is_wildcard) {
            (false, false) => &mut self.single,
            (false, true) => &mut self.wildcard,
            (true, false) => &mut self.static_single,
            (true, true) => &mut self.static_wildcard,
        };
        list.push(path.join("."));
    }

    /// The canonical name of the top-level type or the path of types `types` of this file.
    pub(crate) fn canonical(&self, types: &str) -> String {
        if self.package.is_empty() { types.to_owned() } else { format!("{}.{types}", self.package) }
    }

    /// The single-type import of the simple name `name`, static or not.
    pub(crate) fn imported(&self, name: &str) -> Option<&str> {
        let all = self.single.iter().chain(&self.static_single);
        all.map(String::as_str).find(|import| import.rsplit('.').next() == Some(name))
    }

    /// Returns whether `written`, simple or qualified, can mean the class `class`, as far as
    /// package and imports tell. A type of the same package comes before wildcard imports:
    /// `in_package` says whether there is one of this simple name.
    pub(crate) fn can_mean(
        &self,
        written: &str,
        class: &str,
        in_package: impl FnOnce(&str) -> bool,
    ) -> bool {
        let first = written.split('.').next().unwrap_or(written);
        let rest = &written[first.len()..];
        if let Some(import) = self.imported(first) {
            return class.strip_prefix(import) == Some(rest);
        }
        if is_path(class, &[&self.package, written]) {
            return true;
        }
        let imported = |outer: &String| is_path(class, &[outer, written]);
        let by_wildcard = || self.wildcard.iter().chain(&self.static_wildcard).any(imported);
        // Which packages a module has is not known here.
        let by_module = || {
            let package = class.strip_suffix(written).and_then(|package| package.strip_suffix('.'));
            self.has_module && package.is_some_and(|package| !package.is_empty())
        };
        class == written && !rest.is_empty() || (by_wildcard() || by_module()) && !in_package(first)
    }

    /// The canonical names that `written`, a static member with or without its class, can have if
    /// no Java file declares it.
    pub(crate) fn elsewhere(&self, written: &str) -> Vec<String> {
        let (first, rest) = written.split_once('.').map_or((written, None), |(a, b)| (a, Some(b)));
        if let Some(import) = self.imported(first) {
            return vec![rest.map_or(import.to_owned(), |rest| format!("{import}.{rest}"))];
        }
        let below = |outer: &String| format!("{outer}.{written}");
        match rest {
            None => self.static_wildcard.iter().map(below).collect(),
            Some(_) => [self.canonical(written), written.to_owned()]
                .into_iter()
                .chain(self.wildcard.iter().map(below))
                .collect(),
        }
    }

    /// Returns whether a simple name in the file may mean `class` or a member of it.
    pub(crate) fn may_name(&self, class: &str) -> bool {
        let mut written = class.rmatch_indices('.').map(|(dot, _)| &class[dot + 1..]);
        written.any(|it| self.can_mean(it, class, |_| false)) || self.import_members(class)
    }

    /// Returns whether the unqualified name `member` is a static import from `class`.
    pub(crate) fn import_member(&self, member: &str, class: &str) -> bool {
        self.static_single.iter().any(|import| is_path(import, &[class, member]))
            || self.static_wildcard.iter().any(|import| import == class)
    }

    /// Returns whether anything is statically imported from `class`.
    pub(crate) fn import_members(&self, class: &str) -> bool {
        let single = self.static_single.iter();
        let mut classes = single.filter_map(|import| Some(import.rsplit_once('.')?.0));
        classes.any(|of| of == class) || self.static_wildcard.iter().any(|import| import == class)
    }
}

/// Returns whether `path` is these parts, joined by dots; empty parts don't count.
fn is_path(path: &str, parts: &[&str]) -> bool {
    let mut rest = path;
    let parts = parts.iter().filter(|part| !part.is_empty());
    for (index, part) in parts.enumerate() {
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
    use crate::lang::java::unit::Unit;

    #[test]
    fn what_a_name_can_mean() {
        let text =
            b"package p; import a.b.Log; import c.*; import static d.E.m; import module java.base;";
        let unit = Unit::of(text);
        let names = &unit.names;
        for (written, class, expected) in [
            ("Log", "a.b.Log", true),
            ("Log", "c.Log", false),
            ("Log.In", "a.b.Log.In", true),
            ("Other", "c.Other", true),
            ("Near", "c.Near", false),
            ("Other", "p.Other", true),
            ("Other", "q.Other", false),
            ("q.Other", "q.Other", true),
            ("Other", "Other", false),
        ] {
            let actual = names.can_mean(written, class, |name| name == "Near");
            assert_eq!(actual, expected, "{written} as {class}");
        }
        assert!(names.import_member("m", "d.E") && !names.import_member("n", "d.E"));
        assert!(names.import_members("d.E") && !names.import_members("d"));
        assert_eq!(names.single, ["a.b.Log"]);
    }

    #[test]
    fn a_module_may_bring_any_class() {
        let can_mean = |text: &str, written| {
            let unit = Unit::of(text.as_bytes());
            unit.names.can_mean(written, "a.b.Log", |_| false)
        };
        assert!(can_mean("import module x.y;", "Log"));
        assert!(!can_mean("import module java.base;", "Log"));
        assert!(!can_mean("import module x.y; import c.Log;", "Log"));
        assert!(!can_mean("import module x.y;", "og"));
    }
}
