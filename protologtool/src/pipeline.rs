//! The way of every input: read, quick look, find, check, plan, apply. Files in parallel, results in the order of the inputs.
//!
//! Invariants: the result does not depend on the number of threads; a file without calls keeps no bytes in memory; a file
//! with an error is not rewritten, but all its errors and all other files' are found.

use crate::call::{Call, check};
use crate::diagnostic::{Code, Diagnostic, Severity};
use crate::groups::Groups;
use crate::ids::MessageIds;
use crate::lang::java::{self, Java, Library};
use crate::lang::rust::{self, Rust};
use crate::lang::{self, Language, kotlin};
use crate::lint::lint;
use crate::rewrite::{PlanBuilder, apply};
use crate::source::Source;
use crate::system::{Reader, System};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use viewer_config::{Location, Message};

/// What happens to all inputs.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The Java front end.
    pub java: Java,
    /// The Rust front end, if there are Rust sources.
    pub rust: Option<Rust>,
    /// The groups that calls may name.
    pub groups: Groups,
    /// How messages get their ids.
    pub ids: MessageIds,
}

/// What became of one input.
#[derive(Debug)]
pub struct Processed {
    /// The path as the user gave it.
    pub path: PathBuf,
    /// Package path and file name.
    pub place: String,
    /// The file's new content; none if it stays as it is.
    pub rewritten: Option<Vec<u8>>,
    /// The messages of its calls whose groups are compiled in, in source order.
    pub messages: Vec<Message>,
    /// Positions, in [`Groups`], of the groups of these messages.
    pub groups: Vec<usize>,
    /// What is wrong with it, and the text to show it in.
    pub report: Option<Report>,
    /// What is right but hardly meant so, in source order.
    pub warnings: Vec<Diagnostic>,
}

impl Processed {
    /// A file in which nothing was found.
    pub fn untouched(path: impl Into<PathBuf>, place: impl Into<String>) -> Self {
        Self {
            path: path.into(),
            place: place.into(),
            rewritten: None,
            messages: Vec::new(),
            groups: Vec::new(),
            report: None,
            warnings: Vec::new(),
        }
    }
}

/// Diagnostics of one source.
#[derive(Debug)]
pub struct Report {
    /// The source.
    pub source: Source,
    /// What is wrong or worth knowing, in source order.
    pub diagnostics: Vec<Diagnostic>,
}

impl Report {
    /// Number of errors.
    pub fn errors(&self) -> usize {
        self.diagnostics.iter().filter(|diagnostic| diagnostic.severity == Severity::Error).count()
    }
}

/// An input that can't be read.
#[derive(Debug)]
pub struct Unreadable {
    /// The path as the user gave it.
    pub path: PathBuf,
    /// Why.
    pub error: io::Error,
}

/// Processes all inputs, on this many threads.
pub fn process(
    system: &dyn System,
    settings: &Settings,
    inputs: &[PathBuf],
    threads: usize,
) -> Vec<Result<Processed, Unreadable>> {
    let next = AtomicUsize::new(0);
    let library = Library::new(system, inputs);
    let work = || {
        let (mut done, mut reader) = (Vec::new(), Reader::default());
        while let Some((index, path)) = take(&next, inputs) {
            let result = process_file(system, settings, path, &library, &mut reader);
            done.push((
                index,
                result.map_err(|error| Unreadable { path: path.to_path_buf(), error }),
            ));
        }
        done
    };
    let threads = threads.clamp(1, inputs.len().max(1));
    let mut results: Vec<(usize, _)> = std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
        let mut results = work();
        for other in others {
            results.extend(other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        results
    });
    results.sort_by_key(|(index, _)| *index);
    results.into_iter().map(|(_, result)| result).collect()
}

fn take<'i>(next: &AtomicUsize, inputs: &'i [PathBuf]) -> Option<(usize, &'i Path)> {
    let index = next.fetch_add(1, Ordering::Relaxed);
    inputs.get(index).map(|path| (index, path.as_path()))
}

fn process_file(
    system: &dyn System,
    settings: &Settings,
    path: &Path,
    library: &Library<'_>,
    reader: &mut Reader,
) -> io::Result<Processed> {
    if rust::is_rust(path) {
        return process_rust_file(system, settings, path);
    }
    system.read_into(path, reader)?;
    let bytes = reader.bytes();
    // Most files hold no call: they cost nothing but reading and one look.
    if !is_kotlin(path) && !is_utf_16(bytes) && !settings.java.may_call(bytes) {
        return Ok(Processed::untouched(path, java::place(path, bytes)));
    }
    Ok(process_among(settings, Source::new(path, bytes.to_vec()), Some(library)))
}

/// Rust sources were looked at before: those without calls and groups are not read again.
fn process_rust_file(
    system: &dyn System,
    settings: &Settings,
    path: &Path,
) -> io::Result<Processed> {
    let untouched = || Processed::untouched(path, path.to_string_lossy());
    let Some(rust) = settings.rust.as_ref().filter(|rust| rust.is_wanted(path)) else {
        return Ok(untouched());
    };
    let source = Source::new(path, system.read(path)?);
    Ok(rewrite(rust, settings, source, Some(&rust::Files(system)), untouched()))
}

fn is_kotlin(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "kt")
}

/// Processes a source that was read, on its own.
pub fn process_source(settings: &Settings, source: Source) -> Processed {
    process_among(settings, source, None)
}

/// Processes a source that was read; `library` holds the other inputs.
pub fn process_among(
    settings: &Settings,
    source: Source,
    library: Option<&Library<'_>>,
) -> Processed {
    let java = &settings.java;
    if is_kotlin(source.path()) {
        return kotlin(java, source);
    }
    if rust::is_rust(source.path()) {
        let untouched = Processed::untouched(source.path(), source.path().to_string_lossy());
        return match &settings.rust {
            Some(rust) => rewrite(rust, settings, source, None, untouched),
            None => untouched,
        };
    }
    let untouched = Processed::untouched(source.path(), java::place(source.path(), source.bytes()));
    if is_utf_16(source.bytes()) {
        let message = "a source in UTF-16: its log calls are not looked for";
        let warning = Diagnostic::warning(Code::NotRewritten, 0..2, message);
        let diagnostics = vec![warning.help("convert the file to UTF-8")];
        return Processed { report: Some(Report { source, diagnostics }), ..untouched };
    }
    if !java.may_call(source.bytes()) {
        return untouched;
    }
    rewrite(java, settings, source, library, untouched)
}

/// Whether the text begins with the byte order mark of UTF-16, which no text in UTF-8 does.
fn is_utf_16(bytes: &[u8]) -> bool {
    bytes.starts_with(b"\xfe\xff") || bytes.starts_with(b"\xff\xfe")
}

/// A Kotlin source stays as it is; where it names the class of the calls, that is said, once.
fn kotlin(java: &Java, source: Source) -> Processed {
    let untouched = Processed::untouched(source.path(), kotlin::place(&source));
    let Some(mention) = java.mention(source.bytes()) else { return untouched };
    let message = "Kotlin is copied as it is: its messages are interned when the program runs";
    let note = Diagnostic::note(Code::NotRewritten, mention, message);
    Processed { report: Some(Report { source, diagnostics: vec![note] }), ..untouched }
}

fn rewrite<L: Language>(
    language: &L,
    settings: &Settings,
    source: Source,
    inputs: Option<&L::Inputs<'_>>,
    untouched: Processed,
) -> Processed {
    let Settings { groups, ids, .. } = settings;
    let lang::Found { calls, others, edits, diagnostics } = language.find(&source, groups, inputs);
    let (mut diagnostics, mut warnings): (Vec<_>, Vec<_>) =
        diagnostics.into_iter().partition(|diagnostic| diagnostic.severity == Severity::Error);
    let place = language.place(&source);
    let mut plan = PlanBuilder::default();
    let (mut messages, mut used) = (Vec::new(), Vec::new());
    for call in &calls {
        let template = match check(&call.template, &call.template_range, &call.args) {
            Ok(template) => template,
            Err(diagnostic) => {
                diagnostics.push(diagnostic);
                continue;
            }
        };
        if let Some(diagnostic) = too_many(call, language.max_arguments()) {
            diagnostics.push(diagnostic);
            continue;
        }
        warnings.extend(lint(call, &template, &source));
        let group = &groups.list()[call.group];
        let place_in_ids = language.place_in_ids(&place, call);
        let id = language.ids(*ids).id(place_in_ids, template.text(), call.level, group);
        language.emit(&source, call, &lang::Message { id, template, group }, &mut plan);
        if group.enabled || groups.is_always_in_dictionary(call.group) {
            used.push(call.group);
            let line = source.line(call.range.start) as u32;
            messages.push(Message {
                id,
                template: template.text().to_owned(),
                unsigned: 0,
                level: call.level,
                group: group.full_name.as_str().into(),
                place: place_in_ids.to_owned(),
                locations: vec![Location::line(place.clone(), line)],
            });
        }
    }
    for edit in edits {
        plan.replace(edit.range, edit.text);
    }
    for other in &others {
        language.redirect(&source, other, &mut plan);
    }
    used.sort_unstable();
    used.dedup();
    let rewritten = match plan.finish() {
        Ok(plan) if diagnostics.is_empty() && !plan.is_empty() => {
            Some(apply(source.bytes(), &plan))
        }
        Ok(_) => None,
        Err(overlap) => {
            let message =
                format!("the rewritten forms of two log calls overlap at byte {}", overlap.at);
            diagnostics.push(Diagnostic::error(Code::NoStatement, overlap.at..overlap.at, message));
            None
        }
    };
    diagnostics.sort_by_key(|diagnostic| diagnostic.range.start);
    warnings.sort_by_key(|warning| warning.range.start);
    let report = (!diagnostics.is_empty()).then_some(Report { source, diagnostics });
    Processed { place, rewritten, messages, groups: used, report, warnings, ..untouched }
}

/// What is wrong with a call that passes more than `max` arguments.
fn too_many<S>(call: &Call<S>, max: usize) -> Option<Diagnostic> {
    let [first, .., last] = [call.args.get(max)?, call.args.last()?];
    let message =
        format!("{} arguments: rewritten code of this dialect can pass {max}", call.args.len());
    Some(
        Diagnostic::error(Code::ArgumentCount, first.start..last.end, message)
            .help("log the rest in a second call"),
    )
}
