//! The edits of the files of a crate: calls, imports, the enum of the groups.

use super::find::{FoundCall, Move};
use super::groups::CrateGroups;
use super::imports::{self, Fate, Imports, LibraryImport};
use super::library::is_api;
use super::{Read, pins};
use crate::diagnostic::Diagnostic;
use crate::lang::migration::{FileMoves, Migration, SourceLibrary, Stays};
use crate::rewrite::Edit;
use crate::source::Source;
use std::collections::HashSet;
use std::ops::Range;

/// Composes the edits of a crate's files. `is_whole` says whether all files of the crate are
/// there.
pub(super) fn compose(
    mut files: Vec<Read>,
    groups: &mut CrateGroups,
    (library, is_whole): (SourceLibrary, bool),
    migration: &mut Migration,
) {
    for file in &mut files {
        list_around_others(&mut file.found.calls);
    }
    let pinned: HashSet<String> = files
        .iter()
        .flat_map(|file| file.found.calls.iter().filter_map(|call| pins(call, &file.found)))
        .collect();
    let mut fields = 0;
    let mut done: Vec<(FileMoves, Imports, bool)> = Vec::new();
    for Read { source, found, .. } in files {
        let fates = fates(&found.imports, &found.calls, &pinned, library);
        let is_root = groups.is_root(&source);
        let mut composer = Composer {
            source: &source,
            imports: &found.imports,
            fates,
            groups,
            is_root,
            edits: Vec::new(),
        };
        composer.import_groups();
        let mut listed = Vec::new();
        let mut moved = 0;
        for call in &found.calls {
            match &call.result {
                Ok(call_move) => {
                    composer.call(call, call_move);
                    fields += call_move.plain_fields;
                    moved += 1;
                }
                Err(stays) => listed.push(stays.clone().warning(&call.range, &call.written)),
            }
        }
        let keeps = composer.keeps_imports();
        let mut edits = composer.edits_with_imports(library);
        edits.retain(|edit| !edit.range.is_empty() || !edit.text.is_empty());
        done.push((
            FileMoves { source, edits, moved, listed: sorted(listed) },
            found.imports,
            keeps,
        ));
    }
    finish_roots(&mut done, groups, is_whole && pinned.is_empty(), library);
    migration.files.extend(done.into_iter().map(|(moves, ..)| moves));
    if fields > 0 {
        let count = if fields == 1 { "1 field".to_owned() } else { format!("{fields} fields") };
        migration.notes.push(format!(
            "{count} without `?` or `%` moved as `debug(&x)`, which prints what `tracing_subscriber::fmt` does, but for an `Option` (`Some(5)`, where that prints `5`, and nothing of `None`)"
        ));
    }
}

fn sorted(mut listed: Vec<Diagnostic>) -> Vec<Diagnostic> {
    listed.sort_by_key(|listed| listed.range.start);
    listed
}

/// Adds the enum, and takes `#[macro_use] extern crate log;` away where nothing needs it.
fn finish_roots(
    done: &mut [(FileMoves, Imports, bool)],
    groups: &CrateGroups,
    is_moved: bool,
    library: SourceLibrary,
) {
    let name = library.name();
    let is_moved = is_moved && done.iter().any(|(moves, ..)| moves.moved > 0);
    let mentions = done.iter().any(|(moves, imports, keeps)| {
        let gone: Vec<Range<usize>> = moves.edits.iter().map(|edit| edit.range.clone()).collect();
        *keeps || imports.mentions(name, &(0..moves.source.bytes().len()), &gone)
    });
    for (moves, imports, _) in done {
        if let Some(range) = imports.macro_use.clone().filter(|_| is_moved && !mentions) {
            moves.edits.push(Edit { range, text: String::new() });
        }
        if groups.is_root(&moves.source)
            && let Some(edit) = groups.edit(&moves.source, imports)
        {
            // Behind an import that changes.
            let before = moves
                .edits
                .iter_mut()
                .find(|other| other.range.end == edit.range.start && !other.range.is_empty());
            match before {
                Some(other) => other.text += &edit.text,
                None => moves.edits.push(edit),
            }
        }
    }
}

/// Lists calls that would be written anew around others.
fn list_around_others(calls: &mut [FoundCall]) {
    let ranges: Vec<Range<usize>> = calls.iter().map(|call| call.range.clone()).collect();
    for call in calls {
        let Ok(Move { edits, .. }) = &call.result else { continue };
        let takes = |edit: &Edit| {
            let inner = |other: &&Range<usize>| {
                edit.range.start <= other.start && other.end <= edit.range.end
            };
            !edit.range.is_empty() && ranges.iter().any(|other| inner(&other))
        };
        if edits.iter().any(takes) {
            call.result = Err(Stays::new(
                "another log call stands in its arguments",
                "move one of them by hand",
            ));
        }
    }
}

/// The decisions about the imports of a file.
fn fates(
    imports: &Imports,
    calls: &[FoundCall],
    pinned: &HashSet<String>,
    library: SourceLibrary,
) -> Vec<Fate> {
    let mut gone: Vec<Range<usize>> = Vec::new();
    for call in calls {
        if let Ok(call_move) = &call.result {
            gone.extend([call.path.clone(), call_move.head.clone()]);
        }
    }
    let origin = |call: &FoundCall| imports.origin(call.name.as_ref()?, call.range.start);
    let of_import = |(index, import): (usize, &LibraryImport)| {
        let mut fate = Fate::default();
        if import.is_fixed {
            return fate;
        }
        for (position, leaf) in import.leaves.iter().enumerate() {
            let mut own =
                calls.iter().filter(|call| origin(call) == Some((index, position))).peekable();
            let is_used = own.peek().is_some();
            let keeps_name = |call: &FoundCall| call.result.as_ref().is_ok_and(|it| it.names_level);
            let is_all = leaf.item == "*";
            if leaf.is_level() || is_all {
                let needs_api = is_all
                    && imports.words.keys().any(|word| {
                        is_api(word, library) && imports.mentions(word, &import.scope, &gone)
                    });
                let is_pinned =
                    if is_all { !pinned.is_empty() } else { pinned.contains(&leaf.name) };
                if is_used && own.all(keeps_name) && !is_pinned && !needs_api {
                    fate.swapped.push(position);
                }
            } else if imports.mentions(&leaf.name, &import.scope, &[])
                && !imports.mentions(&leaf.name, &import.scope, &gone)
            {
                fate.removed.push(position);
            }
        }
        fate
    };
    imports.uses.iter().enumerate().map(of_import).collect()
}

struct Composer<'c> {
    source: &'c Source,
    imports: &'c Imports,
    fates: Vec<Fate>,
    groups: &'c mut CrateGroups,
    is_root: bool,
    edits: Vec<Edit>,
}

impl Composer<'_> {
    /// Imports the enum beside the macros, once a scope, where its name is free.
    fn import_groups(&mut self) {
        if !self.is_name_free() {
            return;
        }
        let mut scopes: Vec<Range<usize>> = Vec::new();
        for (import, fate) in self.imports.uses.iter().zip(&mut self.fates) {
            let is_top = import.scope == (0..self.source.bytes().len());
            if fate.swapped.is_empty() || scopes.contains(&import.scope) || is_top && self.is_root {
                continue;
            }
            scopes.push(import.scope.clone());
            fate.group = Some(self.groups.path.clone());
        }
    }

    /// Returns whether the enum's name means nothing else in the file.
    fn is_name_free(&self) -> bool {
        memchr::memmem::find(self.source.bytes(), self.groups.name.as_bytes()).is_none()
    }

    fn call(&mut self, call: &FoundCall, moves: &Move) {
        let origin =
            call.name.as_ref().and_then(|name| self.imports.origin(name, call.range.start));
        let is_swapped =
            origin.is_some_and(|(import, leaf)| self.fates[import].swapped.contains(&leaf));
        if !is_swapped {
            let letter = moves.level.method();
            self.edits
                .push(Edit { range: call.path.clone(), text: format!("protolog_rt::{letter}") });
        }
        let variant = self.groups.variant(&call.module, moves.target.as_deref());
        let group = if is_swapped && self.is_name_free() {
            format!("{}::{variant}", self.groups.name)
        } else {
            format!("{}::{variant}", self.groups.path)
        };
        let (range, text) = match &moves.indent {
            _ if !moves.head.is_empty() => (moves.head.clone(), group),
            Some(indent) => (moves.head.clone(), format!("{group},{indent}")),
            None => (moves.head.clone(), format!("{group}, ")),
        };
        self.edits.push(Edit { range, text });
        self.edits.extend(moves.edits.iter().cloned());
    }

    /// Returns whether an import of the library stays.
    fn keeps_imports(&self) -> bool {
        let mut all = self.imports.uses.iter().zip(&self.fates);
        all.any(|(import, fate)| {
            import.is_fixed || fate.swapped.len() + fate.removed.len() < import.leaves.len()
        })
    }

    fn edits_with_imports(mut self, library: SourceLibrary) -> Vec<Edit> {
        for (import, fate) in self.imports.uses.iter().zip(&self.fates) {
            self.edits.extend(imports::edit(import, fate, self.source, library));
        }
        self.edits
    }
}
