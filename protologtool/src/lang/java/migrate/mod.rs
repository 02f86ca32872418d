//! Moves calls of SLF4J to the runtime's class.
//!
//! ```text
//! LOG.info("sent {} bytes to {}", n, host);
//! ProtoLog.i(LogGroup.NET, "sent %s bytes to %s", n, host);
//! ```
//!
//! Loggers whose calls all move go with them, and so do imports. A group stands for a package.
//!
//! Invariants: those of [`crate::lang::rust::migrate`].

mod call;
mod facts;
mod groups;

use super::syntax::{self, field_text, text};
use crate::lang::migration::{FileMoves, Migration, MoveChoice, Stays};
use crate::rewrite::Edit;
use crate::source::{Source, line_ends};
use crate::system::System;
use facts::{FileFacts, each_node};
use groups::PackageGroups;
use std::io;
use std::ops::Range;
use std::path::PathBuf;
use tree_sitter::{Node, Tree};

/// Finds the calls in all files and moves what can be moved.
pub(crate) fn migrate(
    system: &dyn System,
    files: &[PathBuf],
    choice: MoveChoice<'_>,
) -> Result<Migration, (PathBuf, io::Error)> {
    let mut migration = Migration::default();
    let mut read = Vec::new();
    for path in files {
        let bytes = system.read(path).map_err(|error| (path.clone(), error))?;
        if !may_call(&bytes) {
            continue;
        }
        let source = Source::new(path, bytes);
        let Some(tree) = syntax::parse(source.bytes()) else { continue };
        let facts = FileFacts::of(&tree, source.bytes());
        let calls = calls(&source, &tree, &facts);
        read.push((source, facts, calls));
    }
    let mut groups = PackageGroups::new(choice, system);
    for (source, facts, calls) in &read {
        if calls.iter().any(|call| call.result.is_ok()) {
            groups.add_file(source.path(), &facts.package);
        }
    }
    for (source, facts, calls) in read {
        let moves = move_file(source, &facts, &calls, &mut groups);
        if !moves.edits.is_empty() || !moves.listed.is_empty() {
            migration.files.push(moves);
        }
    }
    groups.finish(&mut migration);
    steps(&mut migration);
    Ok(migration)
}

/// Names that loggers usually have.
const USUAL_NAMES: [&str; 4] = ["log", "LOG", "logger", "LOGGER"];

/// Looks for SLF4J, or for a logger of a usual name, without parsing.
fn may_call(bytes: &[u8]) -> bool {
    let has = |text: &str| memchr::memmem::find(bytes, text.as_bytes()).is_some();
    has("slf4j") || USUAL_NAMES.iter().any(|name| has(&format!("{name}.")))
}

fn steps(migration: &mut Migration) {
    if migration.files.iter().all(|file| file.moved == 0) {
        return;
    }
    let listed: usize = migration.files.iter().map(|file| file.listed.len()).sum();
    let steps = [
        "add the runtime to the build: `protologtool init` prints what it needs",
        "start a session in `main`, as in `try (var session = dev.protolog.Session.builder().file(\"app.pftrace\").logFrom(dev.protolog.LogLevel.INFO).start()) { … }`",
    ];
    migration.steps.extend(steps.map(str::to_owned));
    if listed > 0 {
        let bridge =
            "record the calls that stay by the jar `protolog-slf4j`, which is a provider of SLF4J";
        migration.steps.push(bridge.to_owned());
    }
}

/// A call of a logger.
struct LoggerCall {
    range: Range<usize>,
    /// From the logger's name to the method's.
    target: Range<usize>,
    method: String,
    /// The end of the parenthesis that opens.
    inside: usize,
    result: Result<Vec<Edit>, Stays>,
}

fn move_file(
    source: Source,
    facts: &FileFacts,
    calls: &[LoggerCall],
    groups: &mut PackageGroups<'_>,
) -> FileMoves {
    let mut edits = Vec::new();
    let mut listed = Vec::new();
    let mut gone: Vec<Range<usize>> = Vec::new();
    let moved = calls.iter().filter(|call| call.result.is_ok()).count();
    let names = (moved > 0).then(|| groups.names_in(facts, &source));
    for call in calls {
        match (&call.result, &names) {
            (Ok(converted), Some(names)) => {
                let level = call::level(&call.method).map_or("i", |level| level.method());
                let text = format!("{}.{level}", names.class);
                edits.push(Edit { range: call.target.clone(), text });
                let text = format!("{}, ", names.group);
                edits.push(Edit { range: call.inside..call.inside, text });
                edits.extend(converted.iter().cloned());
                gone.push(call.target.clone());
            }
            (Err(stays), _) => {
                listed.push(stays.clone().warning(&call.range, &call.method));
            }
            _ => {}
        }
    }
    listed.sort_by_key(|listed| listed.range.start);
    if let Some(names) = names {
        remove_loggers(&source, facts, &mut gone, &mut edits);
        imports(&source, facts, &names.imports, &gone, &mut edits);
    }
    FileMoves { source, edits, moved, listed }
}

fn calls(source: &Source, tree: &Tree, facts: &FileFacts) -> Vec<LoggerCall> {
    let bytes = source.bytes();
    let is_broken = tree.root_node().has_error();
    let mut found = Vec::new();
    each_node(tree, &mut |node| {
        if !matches!(node.kind(), "method_invocation" | "method_reference") {
            return;
        }
        let Some((object, name, is_own)) = receiver(node, bytes) else { return };
        let is_logger = facts.loggers.iter().any(|logger| logger.name == name);
        let is_usual = USUAL_NAMES.contains(&name) && !facts.others.contains(name);
        let is_passed = is_own && facts.passed.contains(name);
        let is_given = name.is_empty() && facts.has_slf4j();
        if !is_logger && !is_usual && !is_passed && !is_given {
            return;
        }
        let reference = node.kind() == "method_reference";
        let method = if reference {
            node.named_child(1).map_or("", |method| text(method, bytes))
        } else {
            field_text(node, "name", bytes)
        };
        let Some(result) = judged(node, (method, name), is_broken, facts, source) else { return };
        let result = match (is_logger, is_own) {
            (true, true) => result,
            (true, false) => Err(Stays::new("its logger is named by a class", "name it alone")),
            (false, _) if facts.has_lombok && name == "log" => Err(lombok()),
            (false, _) if is_passed => Err(passed()),
            (false, _) => Err(unknown()),
        };
        let name_end = node.child_by_field_name("name").map_or(node.end_byte(), |it| it.end_byte());
        let inside =
            node.child_by_field_name("arguments").map_or(name_end, |it| it.start_byte() + 1);
        let first = source.text(inside..node.end_byte());
        let blank = first.len() - first.trim_start().len();
        found.push(LoggerCall {
            range: node.byte_range(),
            target: object.start_byte()..name_end,
            method: method.to_owned(),
            inside: inside + blank,
            result,
        });
    });
    found
}

fn lombok() -> Stays {
    Stays::new(
        "its logger is made by `@Slf4j`",
        "declare the logger as a field, or move it by hand",
    )
}

fn passed() -> Stays {
    let help = "declare it as a field, as in `private static final Logger LOG = …`";
    Stays::new("its logger is a parameter or a variable of a method", help)
}

fn unknown() -> Stays {
    let help = "declare it in this class, as in `private static final Logger LOG = …`";
    Stays::new("nothing shows here what its logger is", help)
}

/// Names of methods that usually give a logger.
const GETTERS: [&str; 4] = ["getLog", "getLogger", "log", "logger"];

/// The object of a call, its name, and whether it is named as a field of this class. A logger that
/// a method gives has no name.
fn receiver<'t>(node: Node<'t>, source: &'t [u8]) -> Option<(Node<'t>, &'t str, bool)> {
    let object = match node.kind() {
        "method_reference" => node.named_child(0)?,
        _ => node.child_by_field_name("object")?,
    };
    match object.kind() {
        "identifier" => Some((object, text(object, source), true)),
        "field_access" => {
            let is_own = field_text(object, "object", source) == "this";
            Some((object, field_text(object, "field", source), is_own))
        }
        "method_invocation" if GETTERS.contains(&field_text(object, "name", source)) => {
            Some((object, "", false))
        }
        _ => None,
    }
}

/// What becomes of a call; none for a method that has nothing to do with messages.
fn judged(
    node: Node<'_>,
    (method, logger): (&str, &str),
    is_broken: bool,
    facts: &FileFacts,
    source: &Source,
) -> Option<Result<Vec<Edit>, Stays>> {
    let stays = |reason: &str, help: &str| Some(Err(Stays::new(reason, help)));
    if method.starts_with("is") && method.ends_with("Enabled") {
        return stays(
            "it is no log call",
            "write `ProtoLog.isEnabled(LogGroup.NET, LogLevel.DEBUG)`",
        );
    }
    if method.starts_with("at") && method.len() > 2 {
        return stays("it is a call of the fluent interface", "write it as a call with a message");
    }
    call::level(method)?;
    if node.kind() == "method_reference" {
        return stays("it is a reference to a method", "write a lambda with a call");
    }
    if is_broken {
        return stays("its file can't be parsed", "correct the syntax");
    }
    if facts.others.contains(logger) {
        return stays("its logger's name has another meaning in the file", "rename one of them");
    }
    Some(call::convert(node, facts, source.bytes()))
}

/// Removes the private loggers that nothing names any more.
fn remove_loggers(
    source: &Source,
    facts: &FileFacts,
    gone: &mut Vec<Range<usize>>,
    edits: &mut Vec<Edit>,
) {
    for logger in &facts.loggers {
        let mut without = gone.clone();
        let own = facts.loggers.iter().filter(|other| other.name == logger.name);
        without.extend(own.map(|other| other.range.clone()));
        if logger.is_private && !facts.mentions(&logger.name, &without, source.bytes()) {
            let start = facts.documentation(logger.range.start, source.bytes());
            let range = whole_lines(source, start..logger.range.end);
            gone.push(range.clone());
            edits.push(Edit { range, text: String::new() });
        }
    }
}

/// Adds the imports that are missing, and removes those of SLF4J that nothing names any more.
fn imports(
    source: &Source,
    facts: &FileFacts,
    wanted: &[String],
    gone: &[Range<usize>],
    edits: &mut Vec<Edit>,
) {
    let end = line_ends(source.bytes()).next();
    let end = end.map_or("\n".to_owned(), |end| source.text(end));
    let mut missing: Vec<String> = wanted
        .iter()
        .filter(|name| !facts.has_import(name))
        .map(|name| format!("import {name};{end}"))
        .collect();
    missing.sort();
    let text = missing.concat();
    let mut without = gone.to_vec();
    without.extend(facts.imports.iter().map(|(_, range)| range.clone()));
    let is_unused = |name: &str| {
        name.starts_with("org.slf4j.Logger")
            && !facts.mentions(
                name.rsplit('.').next().unwrap_or_default(),
                &without,
                source.bytes(),
            )
    };
    let mut removed: Vec<Range<usize>> = Vec::new();
    for (name, range) in &facts.imports {
        if is_unused(name) {
            removed.push(whole_lines(source, range.clone()));
        }
    }
    match (removed.split_first(), facts.imports.last()) {
        (Some((first, rest)), _) => {
            edits.push(Edit { range: first.clone(), text });
            let none = |range: &Range<usize>| Edit { range: range.clone(), text: String::new() };
            edits.extend(rest.iter().map(none));
        }
        (None, Some((_, last))) => {
            let at = whole_lines(source, last.clone()).end;
            edits.push(Edit { range: at..at, text });
        }
        (None, None) => {
            let at = facts.package_end;
            let text = if at > 0 { format!("{end}{end}{}", text.trim_end()) } else { text };
            edits.push(Edit { range: at..at, text });
        }
    }
}

/// A declaration with its lines, if nothing else is on them; and with a blank line behind it that
/// another one stands before.
fn whole_lines(source: &Source, range: Range<usize>) -> Range<usize> {
    let (first, last) = (source.line(range.start), source.line(range.end));
    let (start, end) = (source.line_range(first).start, source.line_range(last).end);
    let is_alone = source.text(start..range.start).trim().is_empty()
        && source.text(range.end..end).trim().is_empty();
    if !is_alone {
        return range;
    }
    let next = |line: usize| {
        if line < source.lines() { source.line_range(line + 1).start } else { source.bytes().len() }
    };
    start..next(last)
}
