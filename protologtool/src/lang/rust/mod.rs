//! Rust: calls of the runtime's macros, which become calls of the same macros with the message's id
//! in the place of the text.
//!
//! ```text
//! protolog_rt::d!(AppLog::Net, "sent %d bytes to %s", n, host);
//! protolog_rt::d!(AppLog::Net, @0x58f2c41b9a07d36e [d s], n, host);
//! ```
//!
//! Names of arguments (`bytes = n`) are taken off with their `=`: the id stands for them.
//!
//! Every position stays legal, no name is added to the program's own, and no proc macro is needed:
//! the derive for group enums becomes its expansion, too. Reading order: [`quick`] (which files are
//! looked at), [`mod@survey`], [`crates`], [`modules`] and [`manifest`] (which module of which
//! crate a file is), [`mod@walk`] and [`find`], [`resolve`] and [`table`] (what names mean),
//! [`invocation`]; below them [`attributes`], [`tokens`] and [`literal`].

pub(crate) mod attributes;
mod crates;
mod find;
mod functions;
mod groups;
mod invocation;
pub(crate) mod literal;
mod manifest;
pub(crate) mod migrate;
mod modules;
mod named;
mod paths;
mod quick;
mod resolve;
mod survey;
mod table;
pub(crate) mod tokens;
pub(crate) mod walk;

pub(crate) use functions::rust_functions;
pub use survey::{CrateChoice, GroupsFound, survey};

use super::{Found, Inputs, Language, Message};
use crate::call::Call;
use crate::diagnostic::{Code, Diagnostic, Severity};
use crate::groups::Groups;
use crate::ids::MessageIds;
use crate::rewrite::{Edit, PlanBuilder};
use crate::source::Source;
use crate::system::System;
use crates::{Crates, ModuleId};
use paths::normal;
use protolog_core::{Level, MAX_PARAMS, ParamKind};
use quick::Looker;
use resolve::PathResolver;
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The runtime's crate.
pub(crate) const RUNTIME: &str = "protolog_rt";

/// The runtime's macros, with their levels where they have one.
const MACROS: [(&str, Option<Level>); 8] = [
    ("d", Some(Level::Debug)),
    ("v", Some(Level::Verbose)),
    ("i", Some(Level::Info)),
    ("w", Some(Level::Warn)),
    ("e", Some(Level::Error)),
    ("wtf", Some(Level::Wtf)),
    (SPAN, Some(Level::Info)),
    ("protolog", None),
];

/// The macro of spans, of which a level may stand before the group.
const SPAN: &str = "span";

/// The runtime's module that has the macros under other names, and those names.
const LEVELS: &str = "levels";
const LEVEL_NAMES: [(&str, &str); 6] =
    [("trace", "v"), ("debug", "d"), ("info", "i"), ("warn", "w"), ("error", "e"), ("wtf", "wtf")];

/// Rust, with facts about the crates of a run.
#[derive(Clone, Debug)]
pub struct Rust {
    crates: Arc<Crates>,
    /// The inputs that may have something to rewrite, by normal path; unless nobody has looked.
    wanted: Option<Arc<HashSet<PathBuf>>>,
    looker: Looker,
    macro_paths: Vec<String>,
    /// The severity from which on calls are compiled in.
    least_severity: u8,
    /// Files beside the inputs that were read: manifests, and sources of crates that are no inputs.
    besides: Vec<PathBuf>,
    /// The enums of groups, by the full names of these.
    group_places: Arc<HashMap<String, InFile>>,
}

/// The part of a call that only Rust's emitter needs.
#[derive(Clone, Debug)]
pub struct RustShape {
    /// The module's path, which goes into the message's id.
    pub(crate) place: String,
    /// Takes the names and the `=` behind each off.
    pub(crate) name_edits: Vec<Edit>,
}

impl Rust {
    /// For one file that is a crate of its own.
    pub fn single(name: &str, path: &Path) -> Self {
        Self {
            crates: Arc::new(Crates::single(name, path)),
            wanted: None,
            looker: Looker::new([RUNTIME].into_iter()),
            macro_paths: Vec::new(),
            least_severity: 0,
            besides: Vec::new(),
            group_places: Arc::default(),
        }
    }

    /// The file of a group's enum, and where in it the enum's name stands.
    pub(crate) fn group_place(&self, full_name: &str) -> Option<&InFile> {
        self.group_places.get(full_name)
    }

    /// The severity from which on calls are compiled in.
    pub fn least_severity(&self) -> u8 {
        self.least_severity
    }

    /// Files beside the inputs on which the results depend.
    pub fn besides(&self) -> &[PathBuf] {
        &self.besides
    }

    /// The groups that a file on its own declares.
    pub fn groups_of(&self, source: &Source) -> Vec<crate::groups::Group> {
        let place = (0, Vec::new());
        let found = find::find(source, &place, self.resolver(None), None);
        found.enums.into_iter().flat_map(|found| found.groups).collect()
    }

    fn resolver<'a>(&'a self, system: Option<&'a dyn System>) -> PathResolver<'a> {
        PathResolver { crates: &self.crates, system, macro_paths: &self.macro_paths }
    }

    /// The diagnostics for a file whose module is not known: there are some only if the file has
    /// calls or groups, since nothing else must know its module. In a crate that is known they stay
    /// for the macros, which know where they are.
    fn misplaced(
        &self,
        source: &Source,
        groups: &Groups,
        system: Option<&dyn System>,
        why: Misplaced,
    ) -> Found<RustShape> {
        let alone = Crates::single("unknown", source.path());
        let (resolver, place) = match &why.place {
            Some(place) => (self.resolver(system), place.clone()),
            None => {
                let macro_paths = &self.macro_paths;
                (PathResolver { crates: &alone, system: None, macro_paths }, (0, Vec::new()))
            }
        };
        let found = find::find(source, &place, resolver, Some(groups));
        if found.diagnostics.iter().any(|diagnostic| diagnostic.code == Code::Syntax) {
            let (unread, diagnostics) = (found.unread, found.diagnostics);
            return Found { unread, diagnostics, ..Found::default() };
        }
        let calls = found.calls.iter().map(|call| call.range.clone());
        let enums = found.enums.iter().map(|found| found.range.clone());
        let mut unread = found.unread;
        if why.place.is_some() {
            let mut listed: Vec<_> = calls.chain(unread.refused.drain(..)).collect();
            listed.sort_by_key(|range| range.start);
            let stays = |what: &str, range: Range<usize>| {
                let message = format!("this {what} stays as it is: {}", why.message);
                Diagnostic::note(Code::NotRewritten, range, message).help(why.help)
            };
            let mut diagnostics: Vec<Diagnostic> =
                listed.iter().map(|range| stays("call", range.clone())).collect();
            diagnostics.extend(enums.map(|range| stays("derive", range)));
            let is_note = |problem: &Diagnostic| problem.severity == Severity::Note;
            diagnostics.extend(found.diagnostics.into_iter().filter(is_note));
            diagnostics.sort_by_key(|problem| problem.range.start);
            unread.listed.append(&mut listed);
            return Found { unread, diagnostics, ..Found::default() };
        }
        unread.refused.extend(calls.clone());
        let errors = found.diagnostics.iter().filter(|problem| problem.severity == Severity::Error);
        let errors = errors.map(|problem| problem.range.clone());
        let first = calls.chain(enums).chain(errors).min_by_key(|range| range.start);
        let diagnostics = first
            .map(|range| Diagnostic::error(Code::UnknownModule, range, why.message).help(why.help));
        Found { unread, diagnostics: diagnostics.into_iter().collect(), ..Found::default() }
    }

    /// The one module that a file is; or why there is none.
    fn place_of(&self, source: &Source) -> Result<ModuleId, Misplaced> {
        let path = source.path().display();
        let places: Vec<&ModuleId> = self.crates.places(source.path()).collect();
        let Some(first) = places.first() else {
            let Some(krate) = self.crates.around(source.path()) else {
                return Err(Misplaced {
                    place: None,
                    message: format!("the module and the crate of `{path}` are not known"),
                    help: "add the crate's root and the files between to the inputs, or set `--crate-name` and `--crate-root`",
                });
            };
            return Err(Misplaced {
                place: Some((krate, Vec::new())),
                message: format!(
                    "no `mod` that can be read without running macros leads to `{path}`"
                ),
                help: "declare the module outside of macros, or build the crate with the runtime's feature `macros`",
            });
        };
        // A library and a program of one name may share modules: all names and ids are the same in
        // both.
        let show = |(krate, path): &ModuleId| self.crates.module_path(*krate, path);
        let of_first = show(first);
        match places.iter().map(|place| show(place)).find(|other| *other != of_first) {
            None => Ok((*first).clone()),
            Some(other) => Err(Misplaced {
                place: Some((*first).clone()),
                message: format!(
                    "`{path}` is the module `{of_first}` and the module `{other}`, and ids depend on it"
                ),
                help: "build the crate with the runtime's feature `macros`, or leave the module to one crate",
            }),
        }
    }
}

/// Why a file is not one module.
struct Misplaced {
    /// Where it may be, if its crate is known.
    place: Option<ModuleId>,
    message: String,
    help: &'static str,
}

/// Returns whether the runtime exports this name, as a macro or for its macros.
fn is_exported(name: &str) -> bool {
    matches!(name, "ProtoLogGroup" | "Level" | LEVELS)
        || MACROS.iter().any(|(known, _)| *known == name)
}

/// The macro that has the name `name` in the runtime's module of level names.
fn macro_in_levels(name: &str) -> Option<&'static str> {
    LEVEL_NAMES.iter().find(|(known, _)| *known == name).map(|(_, name)| *name)
}

/// The level with this name in Rust.
fn level(name: &str) -> Option<Level> {
    Level::ALL.into_iter().find(|level| format!("{level:?}") == name)
}

impl Language for Rust {
    type Shape = RustShape;

    fn is_known_idle(&self, path: &Path) -> bool {
        self.wanted.as_ref().is_some_and(|wanted| !wanted.contains(&*normal(path)))
    }

    fn may_call(&self, bytes: &[u8]) -> bool {
        self.looker.look(bytes).is_wanted()
    }

    fn place(&self, path: &Path, _: &[u8]) -> String {
        // The same dictionary on every machine.
        let place = path.to_string_lossy();
        if cfg!(windows) { place.replace('\\', "/") } else { place.into_owned() }
    }

    fn place_in_ids<'c>(&self, _: &'c str, call: &'c Call<RustShape>) -> &'c str {
        &call.shape.place
    }

    fn is_level_compiled(&self, level: Level) -> bool {
        level.severity() >= self.least_severity
    }

    fn ids(&self, _: MessageIds) -> MessageIds {
        // Those of the macros.
        MessageIds::Xxh3
    }

    fn find(
        &self,
        source: &Source,
        groups: &Groups,
        inputs: Option<&Inputs<'_>>,
    ) -> Found<RustShape> {
        let system = inputs.map(|inputs| inputs.system);
        let place = match self.place_of(source) {
            Ok(place) => place,
            Err(why) => return self.misplaced(source, groups, system, why),
        };
        let found = find::find(source, &place, self.resolver(system), Some(groups));
        let edits = found.enums.into_iter().flat_map(|found| found.edits).collect();
        let (calls, unread, diagnostics) = (found.calls, found.unread, found.diagnostics);
        Found { calls, unread, edits, diagnostics, ..Found::default() }
    }

    fn emit(
        &self,
        source: &Source,
        call: &Call<RustShape>,
        message: &Message<'_>,
        plan: &mut PlanBuilder,
    ) {
        let kinds: Vec<&str> = message
            .template
            .conversions()
            .map(|conversion| match conversion.verb.kind() {
                ParamKind::Int => "d",
                ParamKind::Float => "f",
                ParamKind::Bool => "b",
                ParamKind::Str => "s",
            })
            .collect();
        let kept = tokens::kept_line_ends(source.slice(call.template_range.clone()));
        let text = format!("@{:#018x} [{}]{kept}", message.id, kinds.join(" "));
        plan.replace(call.template_range.clone(), text);
        for Edit { range, text } in &call.shape.name_edits {
            plan.replace(range.clone(), text.as_str());
        }
    }

    fn max_arguments(&self) -> usize {
        MAX_PARAMS
    }
}

/// A place in a file, for problems with groups.
pub(crate) type InFile = (PathBuf, Range<usize>);
