//! Puts log calls before reachable statements of real files, with arguments from the local
//! variables in scope.
//!
//! Every statement of a file that compiles is reachable, so a call fits before each of them, except
//! before `this(…)` and `super(…)`. Locals are used where they are surely assigned: parameters and
//! variables with an initial value, declared in the same lambda, class and switch group.

use protolog_testkit::Random;
use std::fmt::Write;
use std::ops::Range;
use tree_sitter::{Node, Parser, Tree};

/// A file with calls in it.
pub(super) struct Inserted {
    pub(super) text: Vec<u8>,
    pub(super) calls: Vec<()>,
    /// The imports that were inserted.
    imports: String,
}

/// A call is put before about one statement in so many, and into one file at most so many times.
const EVERY: u64 = 5;
const MOST: usize = 60;

impl Inserted {
    /// `rewritten` without what became of the calls and without the imports.
    pub(super) fn without_calls(&self, rewritten: &[u8]) -> Vec<u8> {
        let mut rest = rewritten;
        let mut out = Vec::new();
        let find =
            |text: &[u8], what: &[u8]| text.windows(what.len()).position(|window| window == what);
        if !self.imports.is_empty() {
            let at = find(rest, self.imports.as_bytes()).expect("the imports are kept");
            out.extend_from_slice(&rest[..at]);
            rest = &rest[at + self.imports.len()..];
        }
        while let Some(at) = find(rest, BEGIN.as_bytes()) {
            out.extend_from_slice(&rest[..at]);
            let end = at + find(&rest[at..], END.as_bytes()).expect("each call has an end");
            assert!(find(&rest[at..end], b"ProtoLogImpl.").is_some(), "a call is not rewritten");
            rest = &rest[end + END.len()..];
        }
        out.extend_from_slice(rest);
        out
    }
}

const BEGIN: &str = "/*[*/";
const END: &str = "/*]*/";

/// Inserts calls into `original`; `seed` decides where. None where there is no place, or where the
/// grammar can't follow.
pub(super) fn insert(seed: &[u8], original: &[u8]) -> Option<Inserted> {
    let tree = parse(original)?;
    let root = tree.root_node();
    if root.has_error() || hides_a_package(original) {
        return None;
    }
    let random = Random::from_seed(seed);
    let mut places =
        Places { source: original, random, calls: Vec::new(), scopes: vec![Vec::new()] };
    let style = match (package_end(root), places.random.below(3)) {
        (Some(end), 0) => Style::Imported(end),
        (Some(end), 1) => Style::Static(end),
        _ => Style::Qualified,
    };
    places.visit(root, &style);
    if places.calls.is_empty() {
        return None;
    }
    let imports = style.imports();
    let mut edits = places.calls;
    if let Style::Imported(at) | Style::Static(at) = style {
        edits.insert(0, (at, imports.to_owned()));
    }
    let mut text = Vec::new();
    let mut from = 0;
    for (at, inserted) in &edits {
        text.extend_from_slice(&original[from..*at]);
        text.extend_from_slice(inserted.as_bytes());
        from = *at;
    }
    text.extend_from_slice(&original[from..]);
    let calls = vec![(); edits.len() - usize::from(!imports.is_empty())];
    Some(Inserted { text, calls, imports: imports.to_owned() })
}

pub(super) fn parse(text: &[u8]) -> Option<Tree> {
    let mut parser = Parser::new();
    parser.set_language(&tree_sitter_java::LANGUAGE.into()).ok()?;
    parser.parse(text, None)
}

/// Returns whether the text may declare a variable called like one of the packages that calls and
/// rewritten code name.
fn hides_a_package(text: &[u8]) -> bool {
    let text = String::from_utf8_lossy(text);
    let mut words = text.split(|char: char| !char.is_alphanumeric() && char != '_' && char != '$');
    words.any(|word| matches!(word, "dev" | "demo"))
}

fn package_end(root: Node<'_>) -> Option<usize> {
    let mut cursor = root.walk();
    let package =
        root.named_children(&mut cursor).find(|node| node.kind() == "package_declaration");
    package.map(|node| node.end_byte())
}

/// The way in which calls name the class.
enum Style {
    /// Imports after the package, which ends here.
    Imported(usize),
    /// Static imports, the same.
    Static(usize),
    Qualified,
}

impl Style {
    fn imports(&self) -> &'static str {
        match self {
            Self::Imported(_) => " import dev.protolog.ProtoLog; import demo.AppLog;",
            Self::Static(_) => {
                " import static dev.protolog.ProtoLog.wtf; import static demo.AppLog.*;"
            }
            Self::Qualified => "",
        }
    }

    /// The text before the template.
    fn head(&self) -> &'static str {
        match self {
            Self::Imported(_) => "ProtoLog.d(AppLog.NET, ",
            Self::Static(_) => "wtf(DISK, ",
            Self::Qualified => "dev.protolog.ProtoLog.i(demo.AppLog.NET, ",
        }
    }
}

struct Places<'s> {
    source: &'s [u8],
    random: Random,
    /// Offsets and what is inserted there.
    calls: Vec<(usize, String)>,
    /// Names and conversions of the variables in scope, by lambda, class or switch group.
    scopes: Vec<Vec<(String, char)>>,
}

impl<'t> Places<'_> {
    fn visit(&mut self, node: Node<'t>, style: &Style) {
        let kind = node.kind();
        let is_boundary = matches!(
            kind,
            "lambda_expression"
                | "class_body"
                | "interface_body"
                | "enum_body"
                | "switch_block_statement_group"
                | "method_declaration"
                | "constructor_declaration"
                | "compact_constructor_declaration"
        );
        let known = self.scopes.last().map_or(0, Vec::len);
        if is_boundary {
            self.scopes.push(Vec::new());
        }
        let holds_statements =
            matches!(kind, "block" | "constructor_body" | "switch_block_statement_group");
        let mut cursor = node.walk();
        let children: Vec<Node<'t>> = node.named_children(&mut cursor).collect();
        for child in children {
            let is_statement = holds_statements
                && !child.is_extra()
                && !matches!(child.kind(), "explicit_constructor_invocation" | "switch_label");
            if is_statement && self.calls.len() < MOST && self.random.below(EVERY) == 0 {
                let text = self.statement(style);
                self.calls.push((child.start_byte(), text));
            }
            self.visit(child, style);
            self.declare(child);
            if kind == "try_with_resources_statement" && child.kind() == "block" {
                // Resources are closed, and out of scope, when exceptions are caught.
                self.scopes.last_mut().unwrap().truncate(known);
            }
        }
        if is_boundary {
            self.scopes.pop();
        } else if matches!(
            kind,
            "block" | "for_statement" | "enhanced_for_statement" | "catch_clause"
        ) {
            self.scopes.last_mut().unwrap().truncate(known);
        }
    }

    /// Adds what `node`, which was visited, declares for what follows it.
    fn declare(&mut self, node: Node<'t>) {
        let field = |name| node.child_by_field_name(name);
        match node.kind() {
            "formal_parameter" | "catch_formal_parameter" | "resource" => {
                let Some(name) = field("name") else { return };
                let conversion = match field("dimensions") {
                    None => conversion(field("type")),
                    Some(_) => 's',
                };
                self.add(name, conversion);
            }
            "local_variable_declaration" => {
                let mut cursor = node.walk();
                for declarator in node.children_by_field_name("declarator", &mut cursor) {
                    let part = |name| declarator.child_by_field_name(name);
                    let (Some(name), Some(_)) = (part("name"), part("value")) else { continue };
                    let plain = part("dimensions").is_none();
                    self.add(name, if plain { conversion(field("type")) } else { 's' });
                }
            }
            _ => {}
        }
    }

    fn add(&mut self, name: Node<'t>, conversion: char) {
        let name = String::from_utf8_lossy(&self.source[name.byte_range()]).into_owned();
        self.scopes.last_mut().unwrap().push((name, conversion));
    }

    /// A statement with a call, in one of the forms that calls can have.
    fn statement(&mut self, style: &Style) -> String {
        let number = self.calls.len();
        let form = self.random.below(12);
        // A lambda may use only what is never assigned again.
        let (template, args) =
            if form == 0 { (String::new(), String::new()) } else { self.arguments() };
        let call = format!("{}\"call {number}:{template}\"{args})", style.head());
        let statement = match form {
            0 => format!("((java.lang.Runnable) () -> {call}).run();"),
            1 => format!("if (java.lang.Boolean.TRUE) {call}; else {{ }}"),
            2 => format!("switch (1) {{ case 1 -> {call}; default -> {{ }} }}"),
            3 => format!("do {call}; while (false);"),
            4 => format!("for (int zz{number} = 0; zz{number} < 1; zz{number}++) {call};"),
            5 => format!("{{ {call}; }}"),
            6 => format!("zz{number}: {call};"),
            _ => format!("{call};"),
        };
        format!("{BEGIN}{statement}{END}")
    }

    fn arguments(&mut self) -> (String, String) {
        let scope = self.scopes.last().unwrap();
        let (mut template, mut args) = (String::new(), String::new());
        let count = self.random.below(4);
        for _ in 0..count {
            if scope.is_empty() {
                break;
            }
            let (name, conversion) = &scope[self.random.below(scope.len() as u64) as usize];
            // An array alone would stand for all arguments.
            let is_alone = count == 1 && *conversion == 's';
            let cast = if is_alone { "(java.lang.Object) " } else { "" };
            let _ = write!(template, " {name} %{conversion}");
            let _ = write!(args, ", {cast}{name}");
        }
        (template, args)
    }
}

fn conversion(kind: Option<Node<'_>>) -> char {
    match kind.map(|node| (node.kind(), node.byte_range())) {
        Some(("integral_type", _)) => 'd',
        Some(("floating_point_type", _)) => 'f',
        Some(("boolean_type", Range { .. })) => 'b',
        _ => 's',
    }
}
