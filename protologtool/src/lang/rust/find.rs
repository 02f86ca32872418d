//! Finds the log calls and the group enums of a file.

use super::attributes::Attribute;
use super::crates::ModuleId;
use super::groups::{self, Derive, GroupEnum};
use super::invocation::{InvocationReader, LogMacro, MacroInvocation};
use super::resolve::{PathResolver, Space};
use super::table::Table;
use super::tokens::{FileTokens, Path, content, is_punct};
use super::walk::{EnumFound, InputUse, MacroCall, Surroundings, Visitor, walk};
use super::{MACROS, RustShape, crates::Module};
use crate::call::Call;
use crate::diagnostic::{Code, Diagnostic};
use crate::groups::Groups;
use crate::lang::UnreadCalls;
use crate::source::Source;
use proc_macro2::{Group, TokenTree};
use std::ops::Range;
use std::sync::Arc;

/// Macros whose input is no code of the place where they are called.
pub(super) const QUOTING: [&str; 5] =
    ["stringify", "quote", "quote_spanned", "parse_quote", "parse_quote_spanned"];

/// The calls and group enums of a file.
#[derive(Debug, Default)]
pub(super) struct FileFound {
    pub(super) calls: Vec<Call<RustShape>>,
    pub(super) enums: Vec<GroupEnum>,
    pub(super) diagnostics: Vec<Diagnostic>,
    /// The log calls that can't be rewritten.
    pub(super) unread: UnreadCalls,
}

/// Looks through a file that is this place of a crate; for calls only where the groups are known.
pub(super) fn find(
    source: &Source,
    place: &ModuleId,
    resolver: PathResolver<'_>,
    groups: Option<&Groups>,
) -> FileFound {
    let mut found = FileFound::default();
    match FileTokens::of(source.bytes()) {
        Err(error) => {
            let error = Diagnostic::error(Code::Syntax, error.range, error.message)
                .help("correct the syntax: log calls are looked for between matching brackets");
            found.diagnostics.push(error);
        }
        Ok(tokens) => {
            let table = Arc::new(Table::of(&tokens.trees));
            resolver.crates.keep(source.path(), &table);
            let module = Module { krate: place.0, path: place.1.clone(), table };
            let mut finder = CallVisitor { resolver, groups, source, found: &mut found };
            walk(&tokens.trees, tokens.spans, module, &mut finder);
        }
    }
    super::tokens::forget();
    found.calls.sort_by_key(|call| call.range.start);
    found
}

struct CallVisitor<'a> {
    resolver: PathResolver<'a>,
    groups: Option<&'a Groups>,
    source: &'a Source,
    found: &'a mut FileFound,
}

impl CallVisitor<'_> {
    /// The runtime's macro that a path leads to.
    fn log_macro(&self, path: &Path, place: &Surroundings<'_>) -> Option<LogMacro> {
        let is_hidden = !path.absolute
            && matches!(&path.names[..], [name] if place.macros.iter().any(|hidden| hidden == name));
        if is_hidden {
            return None;
        }
        let name = self.resolver.runtime_item(place.scopes, path, Space::Macro)?;
        let (_, level) = MACROS.iter().find(|(known, _)| *known == name)?;
        Some(LogMacro { name, level: *level })
    }

    /// The path, if it leads to the derive for group enums.
    fn derive(&self, part: &[TokenTree], place: &Surroundings<'_>) -> Option<Path> {
        let path = Path::of(part)?;
        let name = self.resolver.runtime_item(place.scopes, &path, Space::Macro)?;
        (name == "ProtoLogGroup").then_some(path)
    }

    fn note(&mut self, range: Range<usize>, message: &str, help: &str) {
        let note = Diagnostic::note(Code::NotRewritten, range, message).help(help);
        self.found.diagnostics.push(note);
    }

    /// Says where calls stand in tokens that are no code here.
    fn notes_in(&mut self, body: &Group, place: &Surroundings<'_>, depth: usize) {
        let trees = content(body);
        let mut at = 0;
        while at < trees.len() {
            let path = Path::at(&trees, at);
            let next = path.as_ref().map_or(at + 1, |(_, end)| *end);
            if let Some((path, end)) = path
                && is_punct(trees.get(end), '!')
                && matches!(trees.get(end + 1), Some(TokenTree::Group(_)))
                && self.log_macro(&path, place).is_some()
            {
                let range = place.spans.of_all(&trees[at..end], 0);
                self.found.unread.listed.push(range.clone());
                self.note(
                    range,
                    "a log call in the body of a macro, or in quoted code, is not rewritten",
                    "write it as a call of its own where proc macros can't be used",
                );
            }
            if let TokenTree::Group(inner) = &trees[at]
                && depth < super::tokens::MAX_DEPTH
            {
                self.notes_in(inner, place, depth + 1);
            }
            at = next.max(at + 1);
        }
    }
}

impl Visitor for CallVisitor<'_> {
    fn call(&mut self, call: &MacroCall<'_>, place: &Surroundings<'_>) -> InputUse {
        let Some(groups) = self.groups else { return InputUse::Code };
        if let Some(log) = self.log_macro(&call.path, place) {
            if self.resolver.is_ambiguous(place.scopes, &call.path) {
                let message =
                    "several macros are imported by this name, and the level depends on which";
                let error = Diagnostic::error(Code::UnknownLevel, call.path_range.clone(), message)
                    .help("import them by different names, and put the condition before the calls");
                self.found.unread.refused.push(call.path_range.clone());
                self.found.diagnostics.push(error);
                return InputUse::Code;
            }
            let krate = place.scopes.last().map_or(0, |scope| scope.module.krate);
            let module = self.resolver.crates.module_path(krate, place.module);
            let reader = InvocationReader {
                resolver: self.resolver,
                groups,
                place,
                module,
                source: self.source,
            };
            match reader.read(call, &log) {
                Ok(MacroInvocation::Call(call)) => self.found.calls.push(*call),
                Ok(MacroInvocation::Rewritten) => {}
                Err(diagnostic) => {
                    self.found.unread.refused.push(call.path_range.clone());
                    self.found.diagnostics.push(diagnostic);
                }
            }
            return InputUse::Code;
        }
        let name = call.path.names.last().map_or("", String::as_str);
        if name == "include" {
            self.note(
                call.path_range.clone(),
                "log calls in files that `include!` inserts are not rewritten",
                "make the file a module, or pass it to the tool when it is generated",
            );
        }
        if QUOTING.contains(&name) { InputUse::NoCode } else { InputUse::Code }
    }

    fn group_enum(&mut self, found: &EnumFound<'_>, place: &Surroundings<'_>) {
        let mut derives = Vec::new();
        for attribute in Attribute::all(&found.attributes) {
            for part in attribute.derives() {
                let Some(path) = self.derive(&part, place) else { continue };
                let start = place.spans.of_all(&part, 0).start;
                let conditions = attribute.conditions.clone();
                derives.push(Derive { path, start, conditions });
            }
        }
        if derives.is_empty() {
            return;
        }
        let krate = place.scopes.last().map_or(0, |scope| scope.module.krate);
        let krate = self.resolver.crates.name(krate);
        let (group_enum, mut problems) =
            groups::read(found, krate, &derives, place.spans, self.source);
        self.found.enums.push(group_enum);
        self.found.diagnostics.append(&mut problems);
    }

    fn not_code(&mut self, body: &Group, place: &Surroundings<'_>) {
        if self.groups.is_some() {
            self.notes_in(body, place, 0);
        }
    }

    fn too_deep(&mut self, range: Range<usize>) {
        if self.groups.is_some() {
            let error = Diagnostic::error(Code::Syntax, range, "nested too deeply to be read");
            self.found.diagnostics.push(error.help("move inner parts to functions of their own"));
        }
    }
}
