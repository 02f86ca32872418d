//! Which files a crate consists of: `mod name;`, from its root on, as the compiler looks for them.

use super::tokens::{
    FileTokens, MAX_DEPTH, content, group, is_punct, is_word, plain, split_at_commas, word,
};
use super::{literal, table};
use proc_macro2::{Delimiter, TokenTree};
use std::path::{Path, PathBuf};

/// A module in a file of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ModuleFile {
    /// The modules of the declaring file in which it is declared, and its name, as `module_path!`
    /// gives them.
    pub(super) path: Vec<String>,
    /// Files that attributes name.
    pub(super) said: Vec<PathBuf>,
    /// Where its file is unless an attribute says otherwise: the first that exists.
    pub(super) by_name: Vec<PathBuf>,
}

/// A file of a crate, as far as the search for its modules depends on it.
#[derive(Clone, Debug)]
pub(super) struct SourceFile {
    pub(super) path: PathBuf,
    /// True if its modules are looked for beside it, as for `mod.rs`, rather than in a directory of
    /// its name.
    pub(super) owns_directory: bool,
}

/// The modules that a file declares to be in files of their own. None where the file is no Rust.
pub(super) fn modules(file: &SourceFile, bytes: &[u8]) -> Vec<ModuleFile> {
    let Ok(tokens) = FileTokens::of(bytes) else { return Vec::new() };
    let mut search = Search { file, inside: Vec::new(), found: Vec::new() };
    search.trees(&tokens.trees, 0);
    super::tokens::forget();
    search.found
}

struct Search<'a> {
    file: &'a SourceFile,
    /// The modules around, each with the name of its directory where an attribute says it.
    inside: Vec<(String, Option<String>)>,
    found: Vec<ModuleFile>,
}

impl Search<'_> {
    fn trees(&mut self, trees: &[TokenTree], depth: usize) {
        let mut at = 0;
        while at < trees.len() {
            if is_word(trees.get(at), "macro_rules") && is_punct(trees.get(at + 1), '!') {
                at += 4;
                continue;
            }
            let name = is_word(trees.get(at), "mod").then(|| word(trees.get(at + 1))).flatten();
            if let Some(name) = name {
                if let Some(body) = group(trees.get(at + 2), Delimiter::Brace) {
                    self.inside.push((name, Said::at(trees, at).paths.into_iter().next()));
                    self.group(body, depth);
                    self.inside.pop();
                    at += 3;
                    continue;
                }
                if is_punct(trees.get(at + 2), ';') {
                    self.file_module(&name, &Said::at(trees, at));
                }
            } else if let TokenTree::Group(body) = &trees[at] {
                self.group(body, depth);
            }
            at += 1;
        }
    }

    fn group(&mut self, body: &proc_macro2::Group, depth: usize) {
        if depth < MAX_DEPTH {
            self.trees(&content(body), depth + 1);
        }
    }

    fn file_module(&mut self, name: &str, said: &Said) {
        let directory = self.file.path.parent().unwrap_or(Path::new(""));
        let stem = self.file.path.file_stem().unwrap_or_default();
        let own =
            if self.file.owns_directory { directory.to_path_buf() } else { directory.join(stem) };
        let inner = self.inside.iter().fold(own, |directory, (name, said)| {
            directory.join(said.as_deref().unwrap_or_else(|| plain(name)))
        });
        // An attribute counts from the file's directory, but from that of the modules around it if
        // there are any.
        let base = if self.inside.is_empty() { directory } else { &inner };
        let by_name = if said.always {
            Vec::new()
        } else {
            let name = plain(name);
            vec![inner.join(format!("{name}.rs")), inner.join(name).join("mod.rs")]
        };
        let around = self.inside.iter().map(|(name, _)| name.clone());
        self.found.push(ModuleFile {
            path: around.chain([name.to_owned()]).collect(),
            said: said.paths.iter().map(|path| base.join(path)).collect(),
            by_name,
        });
    }
}

/// The contents of a module's `#[path = "…"]`.
#[derive(Default)]
struct Said {
    paths: Vec<String>,
    /// True if one holds on no condition.
    always: bool,
}

impl Said {
    fn at(trees: &[TokenTree], at: usize) -> Self {
        let mut said = Self::default();
        for attribute in table::attributes_before(trees, at) {
            said.take(&content(attribute), true);
        }
        said
    }

    fn take(&mut self, attribute: &[TokenTree], always: bool) {
        match attribute {
            [TokenTree::Ident(key), _, TokenTree::Literal(value)] if key == "path" => {
                let value = literal::text(&value.to_string(), 0);
                self.paths.extend(value.map(|text| text.as_str().to_owned()));
                self.always |= always;
            }
            [TokenTree::Ident(key), TokenTree::Group(list)] if key == "cfg_attr" => {
                for part in split_at_commas(&content(list)).into_iter().skip(1) {
                    self.take(part, false);
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(file: &str, owns_directory: bool, text: &str) -> Vec<String> {
        let file = SourceFile { path: file.into(), owns_directory };
        let modules = modules(&file, text.as_bytes()).into_iter();
        let show = |module: ModuleFile| {
            let paths = module.said.iter().chain(&module.by_name);
            let paths = paths.map(|path| path.display().to_string());
            format!("{} {}", module.path.join("::"), paths.collect::<Vec<_>>().join(" "))
        };
        modules.map(show).collect()
    }

    #[test]
    fn modules_are_where_the_compiler_looks() {
        let text = r#"
            mod a;
            mod inner { pub mod b; #[path = "other.rs"] mod c; }
            #[path = "x/y.rs"] pub(crate) mod d;
            #[cfg_attr(unix, path = "unix.rs")] mod r#async;
            #[path = "dir"] mod e { mod f; }
            cfg_if! { if #[cfg(x)] { mod g; } }
            macro_rules! m { () => { mod not; } }
            fn h() { let modest = 1; }
        "#;
        assert_eq!(
            found("src/lib.rs", true, text),
            [
                "a src/a.rs src/a/mod.rs",
                "inner::b src/inner/b.rs src/inner/b/mod.rs",
                "inner::c src/inner/other.rs",
                "d src/x/y.rs",
                "r#async src/unix.rs src/async.rs src/async/mod.rs",
                "e::f src/dir/f.rs src/dir/f/mod.rs",
                "g src/g.rs src/g/mod.rs",
            ]
        );
        assert_eq!(
            found("src/net.rs", false, "mod a; #[path = \"p.rs\"] mod b; mod i { mod c; }"),
            [
                "a src/net/a.rs src/net/a/mod.rs",
                "b src/p.rs",
                "i::c src/net/i/c.rs src/net/i/c/mod.rs",
            ]
        );
    }
}
