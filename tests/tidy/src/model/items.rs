//! The items of one file that the rules on structure read: modules, imports, inline paths, types,
//! statics, macros.
//!
//! Items under `#[cfg(test)]` are marked, so that rules can leave them out. Of macros only paths
//! are read, from tokens.

use proc_macro2::{TokenStream, TokenTree};
use syn::visit::{self, Visit};
use syn::{Attribute, Ident, Meta, UseTree};

/// All that was found in one file.
#[derive(Debug, Default)]
pub(crate) struct Items {
    pub(crate) modules: Vec<Module>,
    pub(crate) paths: Vec<Path>,
    pub(crate) types: Vec<Definition>,
    pub(crate) statics: Vec<Definition>,
    pub(crate) macros: Vec<Definition>,
    /// Functions and constants: names that paths may end in.
    pub(crate) values: Vec<Definition>,
}

/// A module that is declared (`mod a;`) or written out (`mod a { … }`).
#[derive(Debug)]
pub(crate) struct Module {
    /// The inline modules around it within the file, and its own name.
    pub(crate) path: Vec<String>,
    pub(crate) is_inline: bool,
    pub(crate) is_test: bool,
    pub(crate) cfg: Option<String>,
    /// The file that an attribute names.
    pub(crate) file: Option<String>,
}

/// A path that names something, in a `use` or in code.
#[derive(Clone, Debug)]
pub(crate) struct Path {
    pub(crate) line: usize,
    /// The inline modules around it.
    pub(crate) scope: Vec<String>,
    pub(crate) segments: Vec<String>,
    pub(crate) is_test: bool,
    /// For a `use`: the name that it brings into the module; `*` for all.
    pub(crate) alias: Option<String>,
}

/// A type, static, macro, function or constant.
#[derive(Clone, Debug)]
pub(crate) struct Definition {
    pub(crate) line: usize,
    pub(crate) scope: Vec<String>,
    pub(crate) name: String,
    /// The words of its type: of the fields, for a struct or an enum.
    pub(crate) words: Vec<String>,
    /// The condition under which it is compiled, its own and that of the modules around it in the
    /// file.
    pub(crate) cfg: Option<String>,
    pub(crate) is_test: bool,
    /// True for a macro that stands at the root of its crate.
    pub(crate) is_exported: bool,
}

/// The items of a file.
pub(crate) fn items(file: &syn::File) -> Items {
    let mut reader = Reader::default();
    reader.visit_file(file);
    reader.found
}

/// Returns whether something with these attributes is for tests only.
pub(crate) fn is_test(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| match &attribute.meta {
        Meta::Path(path) => path.is_ident("test"),
        Meta::List(list) if list.path.is_ident("cfg") => {
            let condition = list.tokens.to_string().replace(' ', "");
            let mut words = condition.split(['(', ')', ',']);
            condition.starts_with("all(test")
                || words.clone().any(|word| word == "test")
                    && !words.any(|word| word == "not" || word == "any")
        }
        _ => false,
    })
}

#[derive(Default)]
struct Reader {
    found: Items,
    around: Surroundings,
}

/// The things around an item that concern it.
#[derive(Clone, Default)]
struct Surroundings {
    modules: Vec<String>,
    cfg: Vec<String>,
    is_test: bool,
}

impl Reader {
    /// Visits a node with attributes; they hold for all nodes in it.
    fn within(&mut self, attributes: &[Attribute], visit: impl FnOnce(&mut Self)) {
        let before = self.around.clone();
        self.around.is_test |= is_test(attributes);
        for attribute in attributes {
            if let Meta::List(list) = &attribute.meta
                && list.path.is_ident("cfg")
            {
                self.around.cfg.push(format!("#[cfg({})]", list.tokens));
            }
        }
        visit(self);
        self.around = before;
    }

    fn cfg(&self) -> Option<String> {
        (!self.around.cfg.is_empty()).then(|| self.around.cfg.join(" "))
    }

    fn definition(&self, name: &Ident, words: Vec<String>) -> Definition {
        Definition {
            line: name.span().start().line,
            scope: self.around.modules.clone(),
            name: word(name),
            words,
            cfg: self.cfg(),
            is_test: self.around.is_test,
            is_exported: false,
        }
    }

    fn import_tree(&mut self, tree: &UseTree, prefix: &[String]) {
        let with = |name: &Ident| [prefix, &[word(name)]].concat();
        let (last, alias) = match tree {
            UseTree::Path(path) => return self.import_tree(&path.tree, &with(&path.ident)),
            UseTree::Group(group) => {
                return group.items.iter().for_each(|tree| self.import_tree(tree, prefix));
            }
            UseTree::Glob(glob) => {
                let line = glob.star_token.spans[0].start().line;
                return self.add_path(line, prefix.to_vec(), Some("*".to_owned()));
            }
            UseTree::Name(name) => (&name.ident, None),
            UseTree::Rename(rename) => (&rename.ident, Some(word(&rename.rename))),
        };
        let is_self = last == "self" && !prefix.is_empty();
        let segments = if is_self { prefix.to_vec() } else { with(last) };
        let alias = alias.or_else(|| segments.last().cloned());
        self.add_path(last.span().start().line, segments, alias);
    }

    /// The paths among the tokens of a macro. One that begins with `$crate` is followed where the
    /// macro is used.
    fn read_macro(&mut self, tokens: TokenStream) {
        let mut path: Vec<Ident> = Vec::new();
        // The last characters of punctuation, as far as they belong to paths.
        let mut before = String::new();
        for token in tokens {
            match token {
                TokenTree::Ident(name) if before.ends_with("::") && !path.is_empty() => {
                    path.push(name);
                    before.clear();
                    continue;
                }
                TokenTree::Punct(it) if it.as_char() == ':' && !path.is_empty() => {
                    before.push(':');
                    continue;
                }
                _ => {}
            }
            self.end_path(&mut path);
            match token {
                TokenTree::Ident(name) => {
                    if !before.ends_with(['$', '.']) && !before.ends_with("::") {
                        path.push(name);
                    }
                    before.clear();
                }
                TokenTree::Punct(it) => before.push(it.as_char()),
                TokenTree::Group(group) => {
                    before.clear();
                    self.read_macro(group.stream());
                }
                TokenTree::Literal(_) => before.clear(),
            }
        }
        self.end_path(&mut path);
    }

    fn end_path(&mut self, path: &mut Vec<Ident>) {
        if let [first, _, ..] = &path[..] {
            let line = first.span().start().line;
            self.add_path(line, path.iter().map(word).collect(), None);
        }
        path.clear();
    }

    fn add_path(&mut self, line: usize, segments: Vec<String>, alias: Option<String>) {
        let (scope, is_test) = (self.around.modules.clone(), self.around.is_test);
        self.found.paths.push(Path { line, scope, segments, is_test, alias });
    }
}

/// Visits nodes whose attributes hold for all that is in them, and adds their definitions to
/// `$list`, with the words that `$words` finds.
macro_rules! nodes {
    ($($visit:ident $node:ident $($list:ident $words:expr)?;)*) => {$(
        fn $visit(&mut self, node: &'a syn::$node) {
            self.within(&node.attrs, |reader| {
                $(
                    let words: fn(&mut Words, &'a syn::$node) = $words;
                    let mut found = Words::default();
                    words(&mut found, node);
                    let definition = reader.definition(&node.ident, found.0);
                    reader.found.$list.push(definition);
                )?
                visit::$visit(reader, node);
            });
        }
    )*};
}

impl<'a> Visit<'a> for Reader {
    nodes! {
        visit_item_struct ItemStruct types |words, it| words.visit_fields(&it.fields);
        visit_item_enum ItemEnum types |words, it| it.variants.iter().for_each(|it| words.visit_variant(it));
        visit_item_union ItemUnion types |words, it| words.visit_fields_named(&it.fields);
        visit_item_type ItemType types |words, it| words.visit_type(&it.ty);
        visit_item_trait ItemTrait types |_, _| {};
        visit_item_static ItemStatic statics |words, it| words.visit_type(&it.ty);
        visit_item_const ItemConst values |_, _| {};
        visit_item_impl ItemImpl;
        visit_impl_item_fn ImplItemFn;
        visit_trait_item_fn TraitItemFn;
        visit_local Local;
        visit_field Field;
        visit_arm Arm;
    }

    fn visit_item_fn(&mut self, node: &'a syn::ItemFn) {
        self.within(&node.attrs, |reader| {
            let definition = reader.definition(&node.sig.ident, Vec::new());
            reader.found.values.push(definition);
            visit::visit_item_fn(reader, node);
        });
    }

    fn visit_item_mod(&mut self, node: &'a syn::ItemMod) {
        self.within(&node.attrs, |reader| {
            reader.around.modules.push(word(&node.ident));
            let file = node.attrs.iter().find_map(|attribute| match &attribute.meta {
                Meta::NameValue(it) if it.path.is_ident("path") => literal(&it.value),
                _ => None,
            });
            reader.found.modules.push(Module {
                path: reader.around.modules.clone(),
                is_inline: node.content.is_some(),
                is_test: reader.around.is_test,
                cfg: reader.cfg(),
                file,
            });
            visit::visit_item_mod(reader, node);
        });
    }

    fn visit_item_use(&mut self, node: &'a syn::ItemUse) {
        self.within(&node.attrs, |reader| reader.import_tree(&node.tree, &[]));
    }

    fn visit_item_macro(&mut self, node: &'a syn::ItemMacro) {
        self.within(&node.attrs, |reader| {
            if let Some(name) = &node.ident {
                let mut definition = reader.definition(name, Vec::new());
                definition.is_exported =
                    node.attrs.iter().any(|it| it.path().is_ident("macro_export"));
                reader.found.macros.push(definition);
            }
            visit::visit_item_macro(reader, node);
        });
    }

    fn visit_macro(&mut self, node: &'a syn::Macro) {
        self.visit_path(&node.path);
        self.read_macro(node.tokens.clone());
    }

    fn visit_path(&mut self, node: &'a syn::Path) {
        if node.leading_colon.is_none() && node.segments.len() > 1 {
            let line = node.segments[0].ident.span().start().line;
            let names = node.segments.iter().map(|segment| word(&segment.ident)).collect();
            self.add_path(line, names, None);
        }
        visit::visit_path(self, node);
    }

    fn visit_attribute(&mut self, _: &'a Attribute) {}

    fn visit_visibility(&mut self, _: &'a syn::Visibility) {}
}

/// Collects the identifiers of a type.
#[derive(Default)]
struct Words(Vec<String>);

impl<'a> Visit<'a> for Words {
    fn visit_ident(&mut self, name: &'a Ident) {
        self.0.push(word(name));
    }

    fn visit_attribute(&mut self, _: &'a Attribute) {}
}

fn word(name: &Ident) -> String {
    let name = name.to_string();
    name.strip_prefix("r#").map_or(name.clone(), str::to_owned)
}

fn literal(value: &syn::Expr) -> Option<String> {
    match value {
        syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) => Some(text.value()),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
