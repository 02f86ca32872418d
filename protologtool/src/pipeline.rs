//! The way of every input: read, quick look, find, check, plan, apply. Files in parallel, results
//! in the order of the inputs. Files that name functions which others declare, and which pass
//! templates on, go it a second time.
//!
//! Invariants: the result does not depend on the number of threads; a file without calls keeps no
//! bytes in memory; a file with an error is not rewritten, but all its errors and all other files'
//! are found.

mod shown;

use crate::call::{Call, Checked};
use crate::call_counts::CallCounts;
use crate::diagnostic::{Code, Diagnostic, Report, Severity};
use crate::groups::{Group, Groups};
use crate::ids::MessageIds;
use crate::lang::java::Java;
use crate::lang::jvm::lookups::Lookups;
use crate::lang::jvm::wrapper::{Wrapper, Wrappers};
use crate::lang::kotlin::Kotlin;
use crate::lang::rust::Rust;
use crate::lang::{self, Found, Inputs, Kind, Language, kotlin};
use crate::lint::lint;
use crate::rewrite::{Overlap, PlanBuilder};
use crate::source::Source;
use crate::system::{Reader, System};
use protolog_core::{Template, hash};
pub use shown::ShownCall;
use std::collections::HashSet;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use viewer_config::{Location, Message};

/// The settings of a run, for all inputs.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The Java front end.
    pub java: Java,
    /// The Rust front end, if there are Rust sources.
    pub rust: Option<Rust>,
    /// The groups that calls may name.
    pub groups: Groups,
    /// The scheme of message ids.
    pub ids: MessageIds,
}

/// The result of one input.
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
    /// The numbers of its log calls, by what becomes of them.
    pub log_calls: CallCounts,
    /// The places of these calls, if the file has errors of syntax.
    pub unparsed: Vec<Range<usize>>,
    /// Positions, in [`Groups`], of the groups of these messages, in the order of their first use.
    pub groups: Vec<usize>,
    /// True if it names the class of the calls, whether or not it calls it.
    pub names_class: bool,
    /// The errors, and the text to show them in.
    pub report: Option<Report>,
    /// The warnings, in source order.
    pub warnings: Vec<Diagnostic>,
    /// Its functions that pass templates on, which other files may call.
    pub wrappers: Vec<Wrapper>,
    /// The canonical names of its functions outside of classes that are called as one of these
    /// functions is.
    pub declares: Vec<String>,
    /// XXH3-64 of the text that was read, where it was hashed.
    pub content: Option<u64>,
    /// The questions to other files.
    pub lookups: Lookups,
    /// XXH3-64 of the output, where an earlier run has put it in its place already: see
    /// [`crate::incremental`].
    pub kept: Option<u64>,
}

impl Processed {
    /// A file in which nothing was found.
    pub fn untouched(path: impl Into<PathBuf>, place: impl Into<String>) -> Self {
        Self {
            path: path.into(),
            place: place.into(),
            rewritten: None,
            messages: Vec::new(),
            log_calls: CallCounts::default(),
            unparsed: Vec::new(),
            groups: Vec::new(),
            names_class: false,
            report: None,
            warnings: Vec::new(),
            wrappers: Vec::new(),
            declares: Vec::new(),
            content: None,
            lookups: Lookups::default(),
            kept: None,
        }
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
    process_rest(system, settings, inputs, KnownResults::default(), threads)
}

/// The part of the results that is known before a run.
#[derive(Debug, Default)]
pub struct KnownResults {
    /// Results, each with the position of its input.
    pub results: Vec<(usize, Processed)>,
    /// The functions that pass templates on, with which these came about: as they were found, and
    /// without those that were overloaded.
    pub wrappers: [Wrappers; 2],
    /// True if the texts of all others are hashed, for a run to come.
    pub hashes: bool,
}

/// Processes the inputs whose results are not known; gives those of all.
pub fn process_rest(
    system: &dyn System,
    settings: &Settings,
    inputs: &[PathBuf],
    known: KnownResults,
    threads: usize,
) -> Vec<Result<Processed, Unreadable>> {
    let all = Inputs::new(system, inputs).relying_on(&settings.java, &settings.groups);
    let KnownResults { results: known, wrappers: [known_found, known_unique], hashes } = known;
    let has_known = !known.is_empty();
    let afresh = || {
        let nothing = KnownResults { hashes, ..KnownResults::default() };
        process_rest(system, settings, inputs, nothing, threads)
    };
    let mut results: Vec<Option<Result<Processed, Unreadable>>> = Vec::new();
    results.resize_with(inputs.len(), || None);
    for (index, known) in known {
        results[index] = Some(Ok(known));
    }
    let rest: Vec<usize> = (0..inputs.len()).filter(|index| results[*index].is_none()).collect();
    let made = process_each(settings, &all, inputs, &rest, hashes, threads);
    rest.iter().zip(made).for_each(|(index, made)| results[*index] = Some(made));
    let mut results: Vec<Result<Processed, _>> = results.into_iter().flatten().collect();
    let found = results.iter().flatten().flat_map(|file| file.wrappers.iter().cloned());
    let found = Wrappers::new(found);
    // Any file may call such a function.
    if has_known && found != known_found {
        return afresh();
    }
    if found.all().is_empty() {
        return results;
    }
    let callers = kotlin::callers(system, inputs, &rest, &found);
    let known = results.iter().flatten().flat_map(|file| &file.declares);
    let unique = kotlin::unique(&found, known.chain(callers.iter().flat_map(|(_, it)| it)));
    if has_known && unique != known_unique {
        return afresh();
    }
    let all = all.with_wrappers(&unique);
    let positions: Vec<usize> = callers.iter().map(|(position, _)| *position).collect();
    let again = process_each(settings, &all, inputs, &positions, hashes, threads);
    for ((position, declares), again) in callers.into_iter().zip(again) {
        results[position] = again.map(|file| Processed { declares, ..file });
    }
    results
}

/// Processes the inputs at these positions, on this many threads; the results are in their order.
fn process_each(
    settings: &Settings,
    all: &Inputs<'_>,
    inputs: &[PathBuf],
    positions: &[usize],
    hashes: bool,
    threads: usize,
) -> Vec<Result<Processed, Unreadable>> {
    let next = AtomicUsize::new(0);
    let work = || {
        let (mut done, mut reader) = (Vec::new(), Reader::default());
        while let Some((index, path)) = take(&next, inputs, positions) {
            let input = Input::File { path, system: all.system, reader: &mut reader, hashes };
            let result = process_input(settings, input, Some(all));
            done.push((
                index,
                result.map_err(|error| Unreadable { path: path.to_path_buf(), error }),
            ));
        }
        done
    };
    let threads = threads.clamp(1, positions.len().max(1));
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

fn take<'i>(
    next: &AtomicUsize,
    inputs: &'i [PathBuf],
    positions: &[usize],
) -> Option<(usize, &'i Path)> {
    let index = next.fetch_add(1, Ordering::Relaxed);
    let position = positions.get(index)?;
    inputs.get(*position).map(|path| (index, path.as_path()))
}

/// The text of one input.
enum Input<'a> {
    /// In a file that is yet to be read.
    File { path: &'a Path, system: &'a dyn System, reader: &'a mut Reader, hashes: bool },
    /// At hand.
    Source(Source),
    /// At hand, and its calls are to be shown.
    Shown { source: Source, calls: &'a mut Vec<ShownCall> },
}

impl Input<'_> {
    fn path(&self) -> &Path {
        match self {
            Self::File { path, .. } => path,
            Self::Source(source) | Self::Shown { source, .. } => source.path(),
        }
    }
}

/// Processes a source that was read, and gives its calls, in source order.
pub fn process_shown(
    settings: &Settings,
    source: Source,
    inputs: &Inputs<'_>,
) -> (Processed, Vec<ShownCall>) {
    let (path, mut calls) = (source.path().to_path_buf(), Vec::new());
    // Only reading fails.
    let processed =
        process_input(settings, Input::Shown { source, calls: &mut calls }, Some(inputs))
            .unwrap_or_else(|_| Processed::untouched(path, String::new()));
    (processed, calls)
}

/// The functions of the inputs that pass templates on.
pub fn wrappers(
    system: &dyn System,
    settings: &Settings,
    inputs: &[PathBuf],
    threads: usize,
) -> Wrappers {
    let all = Inputs::new(system, inputs).relying_on(&settings.java, &settings.groups);
    let every: Vec<usize> = (0..inputs.len()).collect();
    let results = process_each(settings, &all, inputs, &every, false, threads);
    let found = Wrappers::new(results.into_iter().flatten().flat_map(|file| file.wrappers));
    let callers = kotlin::callers(system, inputs, &every, &found);
    kotlin::unique(&found, callers.iter().flat_map(|(_, declares)| declares))
}

/// Processes a source that was read, on its own.
pub fn process_source(settings: &Settings, source: Source) -> Processed {
    process_among(settings, source, None)
}

/// Processes a source that was read; names in it may lead to `inputs`.
pub fn process_among(
    settings: &Settings,
    source: Source,
    inputs: Option<&Inputs<'_>>,
) -> Processed {
    let path = source.path().to_path_buf();
    // Only reading fails.
    process_input(settings, Input::Source(source), inputs)
        .unwrap_or_else(|_| Processed::untouched(path, String::new()))
}

/// Chooses the language, once for each input. A file of another name is taken for Java.
fn process_input(
    settings: &Settings,
    input: Input<'_>,
    inputs: Option<&Inputs<'_>>,
) -> io::Result<Processed> {
    match (Kind::of_path(input.path()).unwrap_or(Kind::Java), &settings.rust) {
        (Kind::Java, _) => process_in(&settings.java, settings, input, inputs),
        (Kind::Kotlin, _) => process_in(&Kotlin { java: &settings.java }, settings, input, inputs),
        (Kind::Rust, Some(rust)) => process_in(rust, settings, input, inputs),
        (Kind::Rust, None) => {
            let path = input.path();
            Ok(Processed::untouched(path, path.to_string_lossy()))
        }
    }
}

fn process_in<L: Language>(
    language: &L,
    settings: &Settings,
    input: Input<'_>,
    inputs: Option<&Inputs<'_>>,
) -> io::Result<Processed> {
    let may_call = |bytes: &[u8]| {
        language.may_call(bytes) || inputs.is_some_and(|inputs| inputs.may_pass(bytes))
    };
    let source = match input {
        Input::File { path, .. } if language.is_known_idle(path) => {
            return Ok(Processed::untouched(path, language.place(path, &[])));
        }
        Input::File { path, system, reader, hashes } => {
            system.read_into(path, reader)?;
            // Most files hold no call: they cost nothing but reading and one scan.
            if !may_call(reader.bytes()) {
                let place = language.place(path, reader.bytes());
                return Ok(Processed {
                    content: hashes.then(|| hash(reader.bytes())),
                    ..Processed::untouched(path, place)
                });
            }
            Source::new(path, reader.bytes().to_vec())
        }
        Input::Source(source) | Input::Shown { source, .. } if !may_call(source.bytes()) => {
            let place = language.place(source.path(), source.bytes());
            return Ok(Processed::untouched(source.path(), place));
        }
        Input::Source(source) => source,
        Input::Shown { source, calls } => {
            return Ok(rewrite(language, settings, source, inputs, Some(calls)));
        }
    };
    Ok(rewrite(language, settings, source, inputs, None))
}

fn rewrite<L: Language>(
    language: &L,
    settings: &Settings,
    source: Source,
    inputs: Option<&Inputs<'_>>,
    mut shown: Option<&mut Vec<ShownCall>>,
) -> Processed {
    let Settings { groups, ids, .. } = settings;
    let Found { calls, unread, edits, diagnostics, names_class, wrappers, lookups } =
        language.find(&source, groups, inputs);
    let (mut diagnostics, mut warnings): (Vec<_>, Vec<_>) =
        diagnostics.into_iter().partition(|diagnostic| diagnostic.severity == Severity::Error);
    let place = language.place(source.path(), source.bytes());
    let mut plan = PlanBuilder::default();
    let (mut messages, mut used, mut refused) = (Vec::new(), Vec::new(), 0);
    for call in &calls {
        let template = match checked(call, &source, language.max_arguments()) {
            Ok(template) => template,
            Err(faults) => {
                refused += 1;
                diagnostics.extend(faults);
                continue;
            }
        };
        warnings.extend(lint(call, &template, &source));
        let group = &groups.list()[call.group];
        let place_in_ids = language.place_in_ids(&place, call);
        let names = &*call.names;
        let id = language.ids(*ids).id(place_in_ids, (template.text(), names), call.level, group);
        if let Some(shown) = &mut shown {
            shown.push(ShownCall::of(call, id, (&template, names)));
        }
        language.emit(&source, call, &lang::Message { id, template, group }, &mut plan);
        let is_compiled = group.enabled && language.is_level_compiled(call.level);
        if is_compiled || groups.is_always_in_dictionary(call.group) {
            used.push(call.group);
            let line = source.line(call.range.start) as u32;
            messages.push(Message {
                place: place_in_ids.to_owned(),
                names: names.to_owned(),
                locations: vec![Location::line(place.clone(), line)],
                ..message_of(call, id, &template, group)
            });
        }
    }
    plan.extend(edits);
    keep_first(&mut used);
    let rewritten = apply(plan, &source, &calls, &mut diagnostics).map(|it| language.encode(it));
    diagnostics.sort_by_key(|diagnostic| diagnostic.range.start);
    warnings.sort_by_key(|warning| warning.range.start);
    let (path, content) = (source.path().to_path_buf(), Some(hash(source.bytes())));
    let has_syntax_error = diagnostics.iter().any(|it| it.code == Code::Syntax);
    let places = calls.iter().map(|call| &call.range).chain(&unread.refused).chain(&unread.listed);
    let unparsed = if has_syntax_error { places.cloned().collect() } else { Vec::new() };
    let report = (!diagnostics.is_empty()).then_some(Report { source, diagnostics });
    Processed {
        rewritten,
        messages,
        log_calls: unread.counts(calls.len(), refused),
        unparsed,
        groups: used,
        names_class,
        report,
        warnings,
        wrappers,
        content,
        lookups,
        ..Processed::untouched(path, place)
    }
}

/// Removes repeated positions, all but the first of each.
fn keep_first(positions: &mut Vec<usize>) {
    let mut seen = HashSet::new();
    positions.retain(|position| seen.insert(*position));
}

/// The message of a call, without its places.
fn message_of<S>(call: &Call<S>, id: u64, template: &Template<'_>, group: &Group) -> Message {
    Message {
        id,
        template: template.text().to_owned(),
        names: String::new(),
        unsigned: 0,
        level: call.level,
        group: group.full_name.as_str().into(),
        place: String::new(),
        locations: Vec::new(),
    }
}

/// The template of a call, or the problem with it.
fn checked<'c, S>(
    call: &'c Call<S>,
    source: &'c Source,
    max: usize,
) -> Result<Template<'c>, Vec<Diagnostic>> {
    let Call { template: text, template_range: range, args, has_exception, .. } = call;
    let may_have_exception = *has_exception;
    let checked = Checked { source: source.bytes(), text, range, args, may_have_exception };
    let template = checked.template()?;
    too_many(call, max).map_or(Ok(template), |fault| Err(vec![fault]))
}

/// The source's new text; none if nothing changes or there are errors, to which overlapping edits
/// add one.
fn apply<S>(
    plan: PlanBuilder,
    source: &Source,
    calls: &[Call<S>],
    errors: &mut Vec<Diagnostic>,
) -> Option<Vec<u8>> {
    let plan = match plan.finish() {
        Ok(plan) => plan.with_line_ends_parted(source.bytes()),
        Err(Overlap { offset }) => {
            let message = format!("the rewritten forms of two log calls overlap at byte {offset}");
            errors.push(Diagnostic::error(Code::NoStatement, offset..offset, message));
            return None;
        }
    };
    if !errors.is_empty() || plan.is_empty() {
        return None;
    }
    let output = plan.apply(source.bytes());
    // Within a call, Android's dialects move lines as AOSP does.
    let calls = || calls.iter().map(|call| call.range.clone()).collect::<Vec<_>>();
    debug_assert!(plan.keeps_lines(source.bytes(), &output, &calls()), "a line number moved");
    Some(output)
}

/// The error for a call that passes more than `max` arguments.
fn too_many<S>(call: &Call<S>, max: usize) -> Option<Diagnostic> {
    let args = &call.args[..call.args.len() - usize::from(call.has_exception)];
    let [first, .., last] = [args.get(max)?, args.last()?];
    let message =
        format!("{} arguments: rewritten code of this dialect can pass {max}", args.len());
    Some(
        Diagnostic::error(Code::ArgumentCount, first.start..last.end, message)
            .help("log the rest in a second call"),
    )
}
