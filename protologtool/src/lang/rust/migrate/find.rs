//! Finds the calls of `log` or `tracing` in a file, and what each becomes.

use super::super::crates::Module;
use super::super::resolve::{Entity, PathResolver, Scope, Space};
use super::super::table::Table;
use super::super::tokens::{
    FileTokens, MAX_DEPTH, Path, Spans, content, forget, group, is_punct, word,
};
use super::super::walk::{EnumFound, InputUse, MacroCall, Surroundings, Visitor, walk};
use super::convert::convert;
use super::event;
use super::imports::Imports;
use super::library::{LEVELS, OTHERS, SPAN, is_macro, is_of_library};
use crate::lang::migration::{SourceLibrary, Stays};
use crate::rewrite::Edit;
use crate::source::Source;
use proc_macro2::{Delimiter, Group, TokenTree};
use protolog_core::Level;
use std::ops::Range;
use std::sync::Arc;

/// The contents of a file, as far as they matter.
#[derive(Debug, Default)]
pub(super) struct LibraryCalls {
    pub(super) calls: Vec<FoundCall>,
    pub(super) imports: Imports,
}

/// A call of the library.
#[derive(Debug)]
pub(super) struct FoundCall {
    pub(super) range: Range<usize>,
    pub(super) path: Range<usize>,
    /// The macro's name where the call has no more of a path.
    pub(super) name: Option<String>,
    /// As it is written, for people.
    pub(super) written: String,
    /// The modules around it, down from the crate's root.
    pub(super) module: Vec<String>,
    pub(super) result: Result<Move, Stays>,
}

/// What a call becomes.
#[derive(Debug)]
pub(super) struct Move {
    pub(super) level: Level,
    /// True if the macro's name says the level.
    pub(super) names_level: bool,
    /// The part that the group replaces; if it is empty, the place before which the group stands.
    pub(super) head: Range<usize>,
    /// The white space between the bracket and the first part, if that is on a line of its own.
    pub(super) indent: Option<String>,
    pub(super) target: Option<String>,
    pub(super) edits: Vec<Edit>,
    pub(super) plain_fields: usize,
}

/// The globs that are followed in a scope, and one after another.
const MAX_GLOBS: usize = 4;

/// Looks through a file. None where it is no Rust.
pub(super) fn find(
    source: &Source,
    module: (usize, Vec<String>),
    resolver: PathResolver<'_>,
    library: SourceLibrary,
) -> Option<LibraryCalls> {
    let tokens = FileTokens::of(source.bytes());
    let found = tokens.ok().map(|tokens| {
        let table = Arc::new(Table::of(&tokens.trees));
        resolver.crates.keep(source.path(), &table);
        let module = Module { krate: module.0, path: module.1, table };
        let imports = Imports::of(&tokens, source, library);
        let found = LibraryCalls { calls: Vec::new(), imports };
        let mut visitor = MoveVisitor { resolver, source, library, found };
        visitor.attributes(&tokens.trees, tokens.spans, 0);
        walk(&tokens.trees, tokens.spans, module, &mut visitor);
        visitor.found.calls.sort_by_key(|call| call.range.start);
        visitor.found
    });
    forget();
    found
}

/// The macro that a path leads to.
enum MacroOrigin {
    /// The library's of this name.
    Known(String),
    /// One that logs, by its name, of which nothing is known.
    Unknown,
}

fn unknown() -> Stays {
    let reason = "nothing shows which crate its macro is of";
    Stays::new(reason, "import it by its name, as in `use log::info;`")
}

struct MoveVisitor<'a> {
    resolver: PathResolver<'a>,
    source: &'a Source,
    library: SourceLibrary,
    found: LibraryCalls,
}

impl MoveVisitor<'_> {
    /// The library's macro that a path leads to.
    fn library_macro(&self, path: &Path, place: &Surroundings<'_>) -> Option<MacroOrigin> {
        let name = path.names.last()?;
        let is_hidden = !path.absolute
            && path.names.len() == 1
            && place.macros.iter().any(|hidden| hidden == name);
        if is_hidden {
            return None;
        }
        let library = self.library.name();
        match self.resolver.resolve(place.scopes, path, Space::Macro) {
            Entity::Extern(full) => {
                // `use log::{info, log}` gives the crate's name a second meaning.
                let full =
                    full.replace(&format!("{library}::{library}::"), &format!("{library}::"));
                let (base, name) = full.rsplit_once("::")?;
                let is_it = base == library && is_macro(self.library, name);
                is_it.then(|| MacroOrigin::Known(name.to_owned()))
            }
            Entity::Other if path.names.len() == 1 && is_macro(self.library, name) => {
                if self.is_from_everywhere(place) {
                    return Some(MacroOrigin::Known(name.clone()));
                }
                LEVELS.contains(&name.as_str()).then_some(MacroOrigin::Unknown)
            }
            _ => None,
        }
    }

    /// Returns whether the library's macros are in scope by `use log::*`, in one of the modules
    /// that others take all of, or by `#[macro_use]`.
    fn is_from_everywhere(&self, place: &Surroundings<'_>) -> bool {
        let end = place.scopes.iter().rposition(|scope| !scope.is_block).unwrap_or(0);
        if place.scopes[end..].iter().any(|scope| self.has_glob(scope, 0)) {
            return true;
        }
        let krate = place.scopes.last().map(|scope| scope.module.krate);
        let root =
            krate.and_then(|krate| self.resolver.crates.module(krate, &[], self.resolver.system));
        root.is_some_and(|root| root.table.macro_use.iter().any(|used| used == self.library.name()))
    }

    /// Returns whether a scope takes all of the library, or of a module that does.
    fn has_glob(&self, scope: &Scope, depth: usize) -> bool {
        let globs = scope.table.uses.iter().filter(|import| import.name.is_none());
        globs.take(MAX_GLOBS).any(|import| {
            let names = &import.path.names;
            if names.len() == 1 && is_of_library(names, self.library) {
                return true;
            }
            let scopes = [scope.clone()];
            match self.resolver.resolve(&scopes, &import.path, Space::Value) {
                Entity::Module(module) if depth < MAX_GLOBS => {
                    let table = module.table.clone();
                    self.has_glob(&Scope { module, table, is_block: false }, depth + 1)
                }
                _ => false,
            }
        })
    }

    fn add(
        &mut self,
        range: Range<usize>,
        path: (&Path, Range<usize>),
        module: &[String],
        result: Result<Move, Stays>,
    ) {
        let (path, path_range) = path;
        let name = (path.names.len() == 1 && !path.absolute).then(|| path.names[0].clone());
        let written = format!("{}!", path.names.last().map_or("", String::as_str));
        let module = module.to_vec();
        self.found.calls.push(FoundCall { range, path: path_range, name, written, module, result });
    }

    fn read(&self, call: &MacroCall<'_>, name: &str, spans: Spans) -> Result<Move, Stays> {
        if let Some((_, help)) = OTHERS.iter().find(|(known, _)| *known == name) {
            let reason =
                if name.ends_with("enabled") { "it is no log call" } else { "spans are not moved" };
            return Err(Stays::new(reason, *help));
        }
        let event = event::read(self.library, name, call.input, spans)?;
        let before = self.source.text(spans.range(call.input.span_open()).end..event.head.start);
        let is_on_lines = before.contains('\n') && before.trim().is_empty();
        let converted = convert(&event, self.source, is_on_lines.then_some(&before))?;
        let indent = is_on_lines && event.head.is_empty();
        Ok(Move {
            level: event.level,
            names_level: LEVELS.contains(&name),
            head: event.head,
            indent: indent.then_some(before),
            target: event.target,
            edits: converted.edits,
            plain_fields: converted.plain_fields,
        })
    }

    /// Lists `#[instrument]`.
    fn attributes(&mut self, trees: &[TokenTree], spans: Spans, depth: usize) {
        for (at, tree) in trees.iter().enumerate() {
            let TokenTree::Group(body) = tree else { continue };
            let inner = content(body);
            let is_attribute = at > 0
                && is_punct(trees.get(at - 1), '#')
                && body.delimiter() == Delimiter::Bracket;
            if is_attribute && let Some((path, end)) = Path::at(&inner, 0) {
                let is_it = self.library == SourceLibrary::Tracing
                    && path.names.last().is_some_and(|name| name == "instrument")
                    && (path.names.len() == 1 && self.found.imports.has("instrument")
                        || is_of_library(&path.names, self.library));
                if is_it {
                    let range = spans.of_all(&inner[..end], 0);
                    let stays = Stays::new("spans are not moved", SPAN);
                    self.add(range.clone(), (&path, range), &[], Err(stays));
                    if let Some(call) = self.found.calls.last_mut() {
                        "#[instrument]".clone_into(&mut call.written);
                    }
                }
            } else if depth < MAX_DEPTH {
                self.attributes(&inner, spans, depth + 1);
            }
        }
    }

    /// Lists the calls in tokens that are no code here.
    fn listed_in(&mut self, body: &Group, place: &Surroundings<'_>, depth: usize) {
        let trees = content(body);
        let mut at = 0;
        while at < trees.len() {
            let path = Path::at(&trees, at);
            let next = path.as_ref().map_or(at + 1, |(_, end)| *end);
            if let Some((path, end)) = path
                && is_punct(trees.get(end), '!')
                && matches!(trees.get(end + 1), Some(TokenTree::Group(_)))
                && matches!(self.library_macro(&path, place), Some(MacroOrigin::Known(_)))
            {
                let range = place.spans.of_all(&trees[at..end], 0);
                let help = "move it by hand: its values are those of the macro's caller";
                let stays = Stays::new("it stands in the body of a macro", help);
                self.add(range.clone(), (&path, range), place.module, Err(stays));
            }
            if let TokenTree::Group(inner) = &trees[at]
                && depth < MAX_DEPTH
            {
                self.listed_in(inner, place, depth + 1);
            }
            at = next.max(at + 1);
        }
    }
}

impl Visitor for MoveVisitor<'_> {
    fn call(&mut self, call: &MacroCall<'_>, place: &Surroundings<'_>) -> InputUse {
        if let Some(found) = self.library_macro(&call.path, place) {
            let result = match found {
                MacroOrigin::Known(name) => self.read(call, &name, place.spans),
                MacroOrigin::Unknown => Err(unknown()),
            };
            let path = (&call.path, call.path_range.clone());
            self.add(call.range.clone(), path, place.module, result);
            return InputUse::Code;
        }
        let name = call.path.names.last().map_or("", String::as_str);
        if super::super::find::QUOTING.contains(&name) { InputUse::NoCode } else { InputUse::Code }
    }

    fn group_enum(&mut self, _: &EnumFound<'_>, _: &Surroundings<'_>) {}

    fn not_code(&mut self, body: &Group, place: &Surroundings<'_>) {
        self.listed_in(body, place, 0);
    }

    fn too_deep(&mut self, range: Range<usize>) {
        let stays = Stays::new("it is nested too deeply to be read", "move it by hand");
        let path = Path { absolute: false, names: vec!["{…}".to_owned()] };
        self.add(range.clone(), (&path, range.start..range.start), &[], Err(stays));
    }
}

/// Looks for a log macro's name without reading tokens; may say yes where there is none.
pub(super) fn may_call(bytes: &[u8], library: SourceLibrary) -> bool {
    let named = memchr::memmem::find(bytes, library.name().as_bytes()).is_some();
    named
        || LEVELS
            .iter()
            .any(|name| memchr::memmem::find(bytes, format!("{name}!").as_bytes()).is_some())
}

/// The body of the enum of this name.
pub(super) fn enum_body<'t>(tokens: &'t FileTokens, name: &str) -> Option<&'t Group> {
    let at = tokens.trees.windows(2).position(|pair| {
        word(pair.first()).as_deref() == Some("enum") && word(pair.last()).as_deref() == Some(name)
    })?;
    tokens.trees[at..].iter().find_map(|tree| group(Some(tree), Delimiter::Brace))
}
