//! The facts of a file on which the moving of its SLF4J calls depends: loggers, imports, the types
//! of variables, the places of names.

use super::super::syntax::{field_text, text};
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use tree_sitter::{Node, Tree};

/// The facts of a file.
#[derive(Debug, Default)]
pub(super) struct FileFacts {
    pub(super) package: String,
    /// The end of the package's declaration.
    pub(super) package_end: usize,
    /// Imports, by what they name, with their ranges.
    pub(super) imports: Vec<(String, Range<usize>)>,
    /// Fields that hold a logger.
    pub(super) loggers: Vec<LoggerField>,
    /// Parameters and variables of methods that hold a logger.
    pub(super) passed: HashSet<String>,
    /// Names that something else than a logger has, too.
    pub(super) others: HashSet<String>,
    /// The types that variables are declared with, by name; of a `catch`, that of exceptions.
    pub(super) types: HashMap<String, Vec<String>>,
    /// The places of names.
    pub(super) words: HashMap<String, Vec<usize>>,
    /// Comments, which may name what an import brings.
    comments: Vec<Range<usize>>,
    /// True if an annotation of Lombok makes the logger `log`.
    pub(super) has_lombok: bool,
}

/// A field that holds a logger.
#[derive(Debug)]
pub(super) struct LoggerField {
    pub(super) name: String,
    pub(super) range: Range<usize>,
    pub(super) is_private: bool,
}

impl FileFacts {
    pub(super) fn of(tree: &Tree, source: &[u8]) -> Self {
        let mut facts = Self::default();
        each_node(tree, &mut |node| facts.node(node, source));
        facts
    }

    fn node(&mut self, node: Node<'_>, source: &[u8]) {
        let written = |node: Node<'_>| text(node, source).to_owned();
        match node.kind() {
            "package_declaration" => {
                self.package = name_in(&written(node), "package");
                self.package_end = node.end_byte();
            }
            "import_declaration" => {
                self.imports.push((name_in(&written(node), "import"), node.byte_range()));
            }
            "line_comment" | "block_comment" => self.comments.push(node.byte_range()),
            "identifier" | "type_identifier" => {
                self.words.entry(written(node)).or_default().push(node.start_byte());
            }
            "marker_annotation" | "annotation" => {
                self.has_lombok |= field_text(node, "name", source).ends_with("Slf4j");
            }
            "field_declaration" => self.field(node, source),
            "local_variable_declaration" => {
                let of = field_text(node, "type", source).to_owned();
                for declarator in named(node, "variable_declarator") {
                    self.pass(field_text(declarator, "name", source), &of);
                }
            }
            "formal_parameter"
            | "resource"
            | "enhanced_for_statement"
            | "instanceof_expression" => {
                let of = field_text(node, "type", source).to_owned();
                self.pass(field_text(node, "name", source), &of);
            }
            "spread_parameter" => {
                for declarator in named(node, "variable_declarator") {
                    self.declare(field_text(declarator, "name", source), "Object[]");
                }
            }
            "catch_formal_parameter" => {
                self.declare(field_text(node, "name", source), "Throwable");
            }
            "lambda_expression" => {
                if let Some(parameters) = node.child_by_field_name("parameters") {
                    let mut cursor = parameters.walk();
                    let names = parameters.named_children(&mut cursor);
                    let names: Vec<Node<'_>> =
                        names.filter(|child| child.kind() == "identifier").collect();
                    for name in names {
                        self.declare(text(name, source), "");
                    }
                    if parameters.kind() == "identifier" {
                        self.declare(text(parameters, source), "");
                    }
                }
            }
            _ => {}
        }
    }

    fn field(&mut self, node: Node<'_>, source: &[u8]) {
        let of = field_text(node, "type", source).to_owned();
        let declarators = named(node, "variable_declarator");
        if self.is_logger(&of)
            && let [only] = &declarators[..]
        {
            let is_private = text(node, source).contains("private ");
            let name = field_text(*only, "name", source).to_owned();
            self.loggers.push(LoggerField { name, range: node.byte_range(), is_private });
            return;
        }
        for declarator in declarators {
            self.declare(field_text(declarator, "name", source), &of);
        }
    }

    /// Returns whether a type, as it is written, is SLF4J's logger.
    fn is_logger(&self, of: &str) -> bool {
        of == "org.slf4j.Logger"
            || of == "Logger"
                && ["org.slf4j.Logger", "org.slf4j.*"].map(|it| self.has_import(it)).contains(&true)
    }

    /// Declares a name that holds only while a method runs.
    fn pass(&mut self, name: &str, of: &str) {
        if self.is_logger(of) {
            self.passed.insert(name.to_owned());
        }
        self.declare(name, of);
    }

    fn declare(&mut self, name: &str, of: &str) {
        if !name.is_empty() {
            self.others.insert(name.to_owned());
            self.types.entry(name.to_owned()).or_default().push(of.to_owned());
        }
    }

    /// Returns whether a name stands outside of `gone` ranges, in code or in a comment.
    pub(super) fn mentions(&self, word: &str, gone: &[Range<usize>], source: &[u8]) -> bool {
        let stays = |at: usize| !gone.iter().any(|range| range.contains(&at));
        let in_code = self.words.get(word).is_some_and(|places| places.iter().any(|at| stays(*at)));
        // Of comments, those count by which javadoc finds a class.
        let links = ["@link ", "@linkplain ", "@see "].map(|mark| format!("{mark}{word}"));
        let has = |comment: &[u8], link: &String| {
            memchr::memmem::find_iter(comment, link.as_bytes()).any(|at| {
                comment.get(at + link.len()).is_none_or(|byte| !byte.is_ascii_alphanumeric())
            })
        };
        in_code
            || self
                .comments
                .iter()
                .filter(|range| stays(range.start))
                .any(|range| links.iter().any(|link| has(&source[range.clone()], link)))
    }

    /// The start of the documentation of the declaration at `start`, or `start`.
    pub(super) fn documentation(&self, start: usize, source: &[u8]) -> usize {
        let before = self.comments.iter().filter(|range| range.end <= start);
        let Some(last) = before.max_by_key(|range| range.end) else { return start };
        let is_next = source[last.end..start].iter().all(u8::is_ascii_whitespace);
        if is_next && source[last.clone()].starts_with(b"/**") { last.start } else { start }
    }

    /// Returns whether a file imports anything of SLF4J.
    pub(super) fn has_slf4j(&self) -> bool {
        self.imports.iter().any(|(known, _)| known.contains("org.slf4j."))
    }

    /// Returns whether a file imports this.
    pub(super) fn has_import(&self, name: &str) -> bool {
        self.imports.iter().any(|(known, _)| known == name)
    }
}

/// The name in a declaration, without its keyword, white space and the semicolon.
fn name_in(declaration: &str, keyword: &str) -> String {
    let rest = declaration.trim_start_matches(keyword).trim_end_matches(';');
    rest.split_whitespace().collect()
}

fn named<'t>(node: Node<'t>, kind: &str) -> Vec<Node<'t>> {
    let mut cursor = node.walk();
    node.named_children(&mut cursor).filter(|child| child.kind() == kind).collect()
}

/// Visits all nodes, parents first, without a stack of calls.
pub(super) fn each_node(tree: &Tree, visit: &mut dyn FnMut(Node<'_>)) {
    let mut cursor = tree.walk();
    loop {
        visit(cursor.node());
        if cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return;
            }
        }
    }
}
