//! The common part of the commands that read sources: the list of files, the groups, and the
//! results.

pub(super) mod files;

use super::{clashes, javac};
use crate::args::Sources;
use crate::call_counts::CallCounts;
use crate::diagnostic::{Code, Diagnostic, Notice, Report, Reporter, Severity};
use crate::encoding::SourceEncoding;
use crate::exit::Failure;
use crate::groups::{self, GroupNumbers, Groups};
use crate::ids::MessageIds;
use crate::incremental::Incremental;
use crate::lang::Kind;
use crate::lang::java::{self, Java};
use crate::lang::kotlin;
use crate::lang::rust::{self, CrateChoice, Rust};
use crate::output::{self, Previous};
use crate::pipeline::{self, Processed, Settings};
use crate::source::Source;
use crate::system::{Decoded, System};
use crate::target::{self, AndroidFlags, CodeRequest, JavaTarget, Refusal, TargetRequest};
use std::collections::HashSet;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use viewer_config::{Dictionary, Statements};

pub(super) use crate::output::cant_read;

/// The results of the inputs, if nothing is wrong with them.
#[derive(Default)]
pub(super) struct Done {
    /// The files, in order, without their messages.
    pub(super) processed: Vec<Processed>,
    /// Their messages.
    pub(super) dictionary: Dictionary,
    /// The contents of a dictionary in JSON where that is to be AOSP's to the byte.
    pub(super) statements: Option<Statements>,
    /// All files that were read.
    pub(super) inputs: Vec<PathBuf>,
    /// For runs into a directory.
    pub(super) incremental: Option<Incremental>,
    /// The lock on what the last run left there.
    pub(super) previous: Option<Previous>,
}

/// The command line's choices besides the sources.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RunRequest<'a> {
    /// None if no code is to be written.
    pub(super) code: Option<CodeRequest<'a>>,
    /// The directory that sources are written to: nothing below it is an input, unless it is named.
    pub(super) output: Option<&'a Path>,
    /// The directory to which the names of outputs are relative.
    pub(super) source_root: Option<&'a Path>,
    pub(super) flags: AndroidFlags,
}

/// Reads the groups and takes all files through the pipeline. Shows every problem; gives none if
/// there are errors.
pub(super) fn process(
    sources: &Sources,
    run: RunRequest<'_>,
    reporter: &mut Reporter<'_>,
    system: &dyn System,
) -> Result<Option<Done>, Failure> {
    process_decoded(sources, run, reporter, &Decoded::new(system, sources.encoding))
}

fn process_decoded(
    sources: &Sources,
    run: RunRequest<'_>,
    reporter: &mut Reporter<'_>,
    system: &dyn System,
) -> Result<Option<Done>, Failure> {
    let mut files = files::files(&sources.files, sources.allow_none, run.output, system)?;
    if files.is_empty() && !sources.allow_none {
        warn_of_nothing(&sources.files, reporter);
    }
    if run.code.is_none() {
        // Commands that write code refuse a file named twice; here it would be reported twice.
        let mut seen = HashSet::with_capacity(files.len());
        let first: Vec<bool> = files.iter().map(|file| seen.insert(file.as_path())).collect();
        let mut first = first.into_iter();
        files.retain(|_| first.next().unwrap_or(true));
    }
    let mut inputs = files.clone();
    inputs
        .extend(asks_for_groups(&files, run).then(|| groups_files(sources)).into_iter().flatten());
    let Some(target) = target(sources, &files, &inputs, run, reporter, system)? else {
        return Ok(None);
    };
    let Some((rust, groups)) = survey(sources, &files, target.groups, reporter, system) else {
        return Ok(None);
    };
    inputs.extend(rust.iter().flat_map(|rust| rust.besides().to_vec()));
    let java = target.java.with_encoding(sources.encoding);
    let aosp = target.dictionary.filter(|dictionary| dictionary.is_json_of_aosp);
    let settings = Settings { java, rust, groups, ids: target.ids };
    if let Some(diagnostic) = settings.groups.unknown_ids() {
        let path = groups_file(sources)?;
        let bytes = system.read(&path).map_err(|error| cant_read(&path, &error))?;
        reporter.diagnostic(diagnostic, &Source::new(&path, bytes));
    }
    let mut processed = Vec::with_capacity(files.len() + 1);
    if let Some((class, template)) = target.generated {
        processed.push(encoded(class, sources.encoding));
        if !inputs.contains(&template) {
            inputs.push(template);
        }
    }
    let previous = run.output.map(|root| Previous::of(root, system)).transpose()?.flatten();
    let mut incremental = run.output.map(|_| {
        let state = previous.as_ref().map(|previous| previous.state.as_slice());
        Incremental::new(fingerprint(&settings, run.source_root, system), state)
    });
    let among = Among {
        files: &files,
        output: run.output,
        incremental: incremental.as_mut(),
        are_written: run.code.is_some(),
    };
    take_through(sources, &settings, among, &mut processed, reporter, system)?;
    warn_of_class(sources, &processed, reporter);
    let all_groups = |numbers| numbers != GroupNumbers::FirstUse;
    let statements =
        aosp.map(|it| output::statements(&settings.groups, all_groups(it.numbers), &processed));
    let dictionary = match output::collect(&settings.groups, &mut processed) {
        Ok(dictionary) => dictionary,
        Err(problems) => {
            clashes::report(&problems, &processed, reporter, system);
            return Ok(None);
        }
    };
    if reporter.errors() > 0 {
        return Ok(None);
    }
    Ok(Some(Done { processed, dictionary, statements, inputs, incremental, previous }))
}

/// A class that was made, in the encoding of the sources.
fn encoded(class: Processed, encoding: SourceEncoding) -> Processed {
    Processed { rewritten: class.rewritten.map(|text| encoding.encode(text)), ..class }
}

/// The files and the settings of a run that writes nothing. Gives none if the groups are wrong,
/// which was shown.
pub(super) fn settings(
    sources: &Sources,
    reporter: &mut Reporter<'_>,
    system: &dyn System,
) -> Result<Option<(Vec<PathBuf>, Settings)>, Failure> {
    let mut files = files::files(&sources.files, sources.allow_none, None, system)?;
    if !JavaClasses::are_named(sources) {
        files.retain(|file| is_rust(file));
    }
    let mut inputs = files.clone();
    inputs.extend(groups_files(sources));
    let run = RunRequest::default();
    let Some(target) = target(sources, &files, &inputs, run, reporter, system)? else {
        return Ok(None);
    };
    let found = survey(sources, &files, target.groups, reporter, system);
    let settings =
        found.map(|(rust, groups)| Settings { java: target.java, rust, groups, ids: target.ids });
    Ok(settings.map(|settings| (files, settings)))
}

/// The form of rewritten Java; none if it can't be determined, which was reported. Without Java
/// sources the form does not matter.
fn target(
    sources: &Sources,
    files: &[PathBuf],
    inputs: &[PathBuf],
    run: RunRequest<'_>,
    reporter: &mut Reporter<'_>,
    system: &dyn System,
) -> Result<Option<JavaTarget>, Failure> {
    let asks = asks_for_groups(files, run);
    let Some(classes) = (if asks { JavaClasses::of(sources, files)? } else { None }) else {
        return Ok(Some(JavaTarget {
            java: Java::new(PROTOLOG_CLASS, "dev.protolog.ProtoLogImpl"),
            groups: Groups::default(),
            ids: MessageIds::Xxh3,
            dictionary: None,
            generated: None,
        }));
    };
    let groups = read_groups(sources, classes.groups, reporter, system)?;
    let Some(groups) = groups else { return Ok(None) };
    let wanted = TargetRequest {
        protolog_class: classes.protolog,
        sources: files,
        inputs,
        dialect: sources.form.dialect,
        ids: sources.form.message_id,
        flags: run.flags,
        code: run.code,
    };
    match wanted.target(groups, system) {
        Ok(target) => Ok(Some(target)),
        Err(Refusal::Failure(failure)) => Err(failure),
        Err(Refusal::Report(report)) => {
            show(&report, reporter);
            Ok(None)
        }
        Err(Refusal::Clash(clash)) => {
            clashes::report_groups(&clash, &groups_file(sources)?, reporter);
            Ok(None)
        }
    }
}

/// Returns false where nothing has groups: a module without sources may lack their class too.
fn asks_for_groups(files: &[PathBuf], run: RunRequest<'_>) -> bool {
    !files.is_empty() || run.code.is_some_and(|code| code.template.is_some())
}

/// The class with the log methods of the Java runtime.
const PROTOLOG_CLASS: &str = "dev.protolog.ProtoLog";

/// The classes that Java's calls are about.
struct JavaClasses<'a> {
    protolog: &'a str,
    groups: &'a str,
}

impl<'a> JavaClasses<'a> {
    /// Returns whether the command line says anything of Java.
    fn are_named(sources: &Sources) -> bool {
        let Sources { protolog_class, loggroups_class, .. } = sources;
        let has_file = sources.loggroups_jar.is_some() || sources.loggroups_source.is_some();
        protolog_class.is_some() || loggroups_class.is_some() || has_file
    }

    /// None where no source needs them and none is named.
    fn of(sources: &'a Sources, files: &[PathBuf]) -> Result<Option<Self>, Failure> {
        let Sources { protolog_class, loggroups_class, .. } = sources;
        let has_file = sources.loggroups_jar.is_some() || sources.loggroups_source.is_some();
        if let (Some(groups), true) = (loggroups_class, has_file) {
            let protolog = protolog_class.as_deref().unwrap_or(PROTOLOG_CLASS);
            return Ok(Some(Self { protolog, groups }));
        }
        if !Self::are_named(sources) && files.iter().all(|file| is_rust(file)) {
            return Ok(None);
        }
        let missing = [
            (loggroups_class.is_some(), "`--loggroups-class <CLASS>`"),
            (has_file, "`--loggroups-jar <FILE.jar>` or `--loggroups-source <FILE>`"),
        ];
        let missing = missing.iter().filter(|(is_there, _)| !is_there).map(|(_, flag)| *flag);
        let missing: Vec<&str> = missing.collect();
        Err(Failure::new(format!("missing {}, for Java and Kotlin", missing.join(", ")))
            .help("add what is missing; `--help` has an example"))
    }
}

/// Looks through the Rust sources; gives the facts about them, and all groups. None if their groups
/// are wrong, which was shown.
fn survey(
    sources: &Sources,
    files: &[PathBuf],
    groups: Groups,
    reporter: &mut Reporter<'_>,
    system: &dyn System,
) -> Option<(Option<Rust>, Groups)> {
    let files: Vec<PathBuf> = files.iter().filter(|file| is_rust(file)).cloned().collect();
    if files.is_empty() {
        return Some((None, groups));
    }
    let named = sources.rust.crate_name.as_deref().zip(sources.rust.crate_root.as_deref());
    let others = &sources.rust.extern_crate;
    let (macro_paths, least_severity) = (&sources.rust.macro_path, sources.rust.least_severity());
    let choice = CrateChoice { named, others, macro_paths, least_severity };
    let jobs = sources.jobs.map_or_else(|| system.threads(), NonZero::get);
    let (rust, found) = rust::survey(system, &files, choice, jobs);
    for report in &found.reports {
        show(report, reporter);
    }
    match groups.with_rust(found.groups) {
        Ok(groups) => found.reports.is_empty().then_some((Some(rust), groups)),
        Err(clash) => {
            clashes::report_rust_groups(&clash, reporter);
            None
        }
    }
}

/// All that results depend on besides the sources.
fn fingerprint(settings: &Settings, source_root: Option<&Path>, system: &dyn System) -> u64 {
    let Settings { java: it, rust, groups, ids } = settings;
    let java = (it.protolog(), it.implementation(), it.level(), it.dialect(), it.encoding());
    let rust = rust.as_ref().map(Rust::least_severity);
    // Debug's form has every field. Only the same program compares it.
    let all = (env!("CARGO_PKG_VERSION"), system.program(), java, rust, groups, ids, source_root);
    protolog_core::hash(format!("{all:?}").as_bytes())
}

/// The files of a run, and the state of the last.
struct Among<'a> {
    files: &'a [PathBuf],
    output: Option<&'a Path>,
    incremental: Option<&'a mut Incremental>,
    /// True where sources are written, those without changes too.
    are_written: bool,
}

/// Takes the files through the pipeline and shows the problems in them. Files that can't be read
/// end the run, after all others were looked at.
fn take_through(
    sources: &Sources,
    settings: &Settings,
    among: Among<'_>,
    processed: &mut Vec<Processed>,
    reporter: &mut Reporter<'_>,
    system: &dyn System,
) -> Result<(), Failure> {
    let jobs = sources.jobs.map_or_else(|| system.threads(), NonZero::get);
    let Among { files, output, mut incremental, are_written } = among;
    let known = incremental.as_deref_mut().zip(output);
    let known = known.map(|(known, root)| known.known(root, files, system)).unwrap_or_default();
    if let Some(incremental) = incremental.as_deref_mut() {
        for generated in processed.iter() {
            incremental.record(generated, None);
        }
    }
    let mut unreadable = None;
    let results = pipeline::process_rest(system, settings, files, known, jobs);
    for (position, result) in results.into_iter().enumerate() {
        match result {
            Ok(mut file) => {
                if let Some(incremental) = incremental.as_deref_mut() {
                    incremental.record(&file, Some(position));
                }
                if sources.keep_going || javac::refuses(sources, &mut file, reporter, system) {
                    pass_over(&mut file, are_written);
                }
                reporter.count_calls(file.log_calls);
                show_file(&mut file, reporter, system)?;
                processed.push(file);
            }
            Err(failed) => {
                let failure = cant_read(&failed.path, &failed.error);
                if let Some(earlier) = unreadable.replace(failure) {
                    reporter.failure(&earlier);
                }
            }
        }
    }
    unreadable.map_or(Ok(()), Err)
}

/// Warns of directories without sources. If the last source of a module is removed, its outputs are
/// removed all the same.
fn warn_of_nothing(named: &[PathBuf], reporter: &mut Reporter<'_>) {
    let named: Vec<String> = named.iter().map(|path| format!("`{}`", path.display())).collect();
    reporter.notice(&Notice {
        severity: Severity::Warning,
        code: Code::NoSources,
        message: format!("no Java, Kotlin or Rust sources in {}", named.join(", ")),
        help: Some("name files or directories with `.java`, `.kt` or `.rs` files, or set `--allow-no-sources`".to_owned()),
    });
}

/// Warns of a class that was named for nothing: calls of any other stay as they are.
fn warn_of_class(sources: &Sources, processed: &[Processed], reporter: &mut Reporter<'_>) {
    let Some(class) = &sources.protolog_class else { return };
    let mut calling = processed.iter().filter(|file| !is_rust(&file.path)).peekable();
    if calling.peek().is_some() && !calling.any(|file| file.names_class) {
        reporter.notice(&Notice {
            severity: Severity::Warning,
            code: Code::UnusedClass,
            message: format!("no source names the class `{class}`: there is nothing to rewrite"),
            help: Some(target::advice(class)),
        });
    }
}

fn is_rust(path: &Path) -> bool {
    Kind::of_path(path) == Some(Kind::Rust)
}

/// The groups; none if their definition is wrong, which was shown.
fn read_groups(
    sources: &Sources,
    class: &str,
    reporter: &mut Reporter<'_>,
    system: &dyn System,
) -> Result<Option<Groups>, Failure> {
    let read = |path: &Path| system.read(path).map_err(|error| cant_read(path, &error));
    if let Some(path) = &sources.loggroups_jar {
        return Ok(match groups::from_jar(&read(path)?, class) {
            Ok(groups) => Some(groups),
            Err(error) if error.is_undecodable() => {
                let message = format!("`{}`: {error}", path.display());
                return Err(Failure::new(message).help(error.help()));
            }
            Err(error) => {
                reporter.notice(&Notice {
                    severity: Severity::Error,
                    code: Code::Groups,
                    message: format!("`{}`: {error}", path.display()),
                    help: Some(error.help().to_owned()),
                });
                None
            }
        });
    }
    let path = groups_file(sources)?;
    let source = Source::new(&path, read(&path)?);
    let read = match Kind::of_path(&path) {
        Some(Kind::Kotlin) => kotlin::groups::from_kotlin_source(&source, class),
        _ => java::groups::from_java_source(&source, class),
    };
    match read {
        Ok(groups) => Ok(Some(groups)),
        Err(diagnostics) => {
            show(&Report { source, diagnostics }, reporter);
            Ok(None)
        }
    }
}

/// The files of groups that the command line names.
fn groups_files(sources: &Sources) -> impl Iterator<Item = PathBuf> {
    sources.loggroups_jar.iter().chain(&sources.loggroups_source).cloned()
}

/// The file that the groups are read from.
fn groups_file(sources: &Sources) -> Result<PathBuf, Failure> {
    let named = sources.loggroups_jar.as_ref().or(sources.loggroups_source.as_ref());
    named.cloned().ok_or_else(|| {
        Failure::new("no `--loggroups-jar` and no `--loggroups-source`")
            .help("name the file with the class of the groups")
    })
}

/// The failure for a file that somebody else writes.
pub(super) fn changed_meanwhile(path: &Path) -> Failure {
    Failure::new(format!("`{}` changed while it was looked at", path.display()))
        .help("run the command again")
}

/// Shows the errors in a file, and its doubtful calls, in source order.
fn show_file(
    file: &mut Processed,
    reporter: &mut Reporter<'_>,
    system: &dyn System,
) -> Result<(), Failure> {
    let mut report = match file.report.take() {
        Some(report) => report,
        None if file.warnings.is_empty() => return Ok(()),
        None => {
            // Sources of files without errors are not kept.
            let bytes = system.read(&file.path).map_err(|error| cant_read(&file.path, &error))?;
            if file.content.is_some_and(|content| content != protolog_core::hash(&bytes)) {
                return Err(changed_meanwhile(&file.path));
            }
            Report { source: Source::new(&file.path, bytes), diagnostics: Vec::new() }
        }
    };
    report.diagnostics.append(&mut file.warnings);
    report.diagnostics.sort_by_key(|diagnostic| diagnostic.range.start);
    show(&report, reporter);
    Ok(())
}

fn show(report: &Report, reporter: &mut Reporter<'_>) {
    for diagnostic in &report.diagnostics {
        reporter.diagnostic(diagnostic, &report.source);
    }
}

/// A file that can't be parsed stays as it is, and the part that can't be is a warning; its calls
/// are listed and not judged.
fn pass_over(file: &mut Processed, is_written: bool) {
    let Some(report) = &mut file.report else { return };
    if report.diagnostics.iter().any(|diagnostic| diagnostic.code == Code::Syntax) {
        report.diagnostics.retain(|diagnostic| diagnostic.code == Code::Syntax);
        for diagnostic in &mut report.diagnostics {
            diagnostic.severity = Severity::Warning;
            let fate =
                if is_written { "is copied unchanged" } else { "counts as one without calls" };
            diagnostic.help = Some(format!("correct the syntax; the file {fate}"));
        }
        file.rewritten = None;
        file.messages.clear();
        file.groups.clear();
        file.warnings.clear();
        let listed = file.log_calls.found();
        file.log_calls = CallCounts { listed, ..CallCounts::default() };
        let message = "this call stays as it is: its file has errors of syntax";
        let notes = file
            .unparsed
            .iter()
            .map(|range| Diagnostic::note(Code::NotRewritten, range.clone(), message));
        report.diagnostics.extend(notes);
    }
}
