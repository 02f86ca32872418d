//! `generate-viewer-config`: sources in, dictionary out.

use super::clashes;
use super::inputs::{Done, RunRequest, process};
use crate::args::{DictionaryType, Generate};
use crate::diagnostic::{Code, Notice, Reporter, Severity};
use crate::exit::{Exit, Failure};
use crate::output::{self, Outputs};
use crate::system::System;
use crate::target::AndroidFlags;
use std::path::{Path, PathBuf};
use viewer_config::{Collector, Dictionary, Format};

/// The first file whose format neither its name nor `--viewer-config-type` says.
pub(crate) fn without_format(args: &Generate) -> Option<&Path> {
    let says_none = |path: &&PathBuf| Format::of_path(path).is_none();
    let unknown = args.viewer_config.iter().find(says_none);
    unknown.filter(|_| args.viewer_config_type.is_none()).map(PathBuf::as_path)
}

pub(crate) fn run(args: &Generate, response_files: &[PathBuf], system: &dyn System) -> Exit {
    let mut reporter = Reporter::new(args.reporting, system);
    let result = generate(args, response_files, &mut reporter, system);
    if !reporter.calls().are_all_rewritten() {
        reporter.show_calls();
    }
    reporter.finish(&result)
}

fn generate(
    args: &Generate,
    response_files: &[PathBuf],
    reporter: &mut Reporter<'_>,
    system: &dyn System,
) -> Result<(), Failure> {
    let run = RunRequest { flags: flags(args), ..RunRequest::default() };
    let is_merge = args.sources.files.is_empty();
    let done = if is_merge {
        Some(Done::default())
    } else {
        process(&args.sources, run, reporter, system)?
    };
    let Some(mut done) = done else { return Ok(()) };
    if !args.merge.is_empty() {
        let Some(merged) = merge(args, &done, reporter, system)? else { return Ok(()) };
        if let Some(statements) = &mut done.statements {
            statements.add(&merged);
        }
        done.dictionary = merged;
        done.inputs.extend_from_slice(&args.merge);
    }
    let dictionaries = formats(args, reporter);
    if let Some(path) = &args.check
        && let Some(difference) =
            output::difference(path, &done.dictionary, done.statements.as_ref(), system)?
    {
        reporter.text(&difference);
        reporter
            .notice(&stale(path, if is_merge { "these dictionaries" } else { "these sources" }));
    }
    if reporter.errors() > 0 {
        return Ok(());
    }
    done.inputs.extend(args.check.clone());
    done.inputs.extend_from_slice(response_files);
    let outputs = Outputs {
        dictionaries,
        statements: done.statements.as_ref(),
        depfile: args.depfile.as_deref(),
        inputs: done.inputs,
        ..Outputs::default()
    };
    output::write(&outputs, &done.processed, &done.dictionary, system)
}

/// The flag by which rules of Android 15 differ from later ones: it is required there, and unknown
/// later. Only JSON does without, since later tools do not write it.
fn flags(args: &Generate) -> AndroidFlags {
    let is_15 = args.viewer_config_type.is_some();
    let is_json = |path: &PathBuf| Format::of_path(path).is_some_and(|it| it != Format::Pb);
    let has_json = args.viewer_config.iter().chain(&args.check).any(is_json);
    AndroidFlags { any: None, is_15, is_later: !is_15 && !has_json }
}

/// The dictionary of the sources and those that are to be put in; none if they contradict each
/// other, which was shown.
fn merge(
    args: &Generate,
    done: &Done,
    reporter: &mut Reporter<'_>,
    system: &dyn System,
) -> Result<Option<Dictionary>, Failure> {
    let mut collector = Collector::new();
    for path in &args.merge {
        collector.add(output::read_dictionary(path, system)?);
    }
    collector.add(done.dictionary.clone());
    match collector.finish() {
        Ok(collected) => Ok(Some(collected.dictionary)),
        Err(problems) => {
            clashes::report(&problems, &done.processed, reporter, system);
            Ok(None)
        }
    }
}

/// Files and their formats. `--viewer-config-type` wins over the name, as in Android 15; a name
/// that says another format is warned of.
fn formats<'a>(args: &'a Generate, reporter: &mut Reporter<'_>) -> Vec<(&'a Path, Format)> {
    let mut formats = Vec::with_capacity(args.viewer_config.len());
    for path in &args.viewer_config {
        let named = Format::of_path(path);
        let format = match (args.viewer_config_type, named) {
            (None, named) => named.unwrap_or(Format::Pb),
            (Some(DictionaryType::Proto), _) => Format::Pb,
            (Some(DictionaryType::Json), Some(Format::JsonGz)) => Format::JsonGz,
            (Some(DictionaryType::Json), _) => Format::Json,
        };
        if named.is_some_and(|named| named != format) {
            let (shown, suffix) = (path.display(), format.suffix());
            reporter.notice(&Notice {
                severity: Severity::Warning,
                code: Code::MisleadingName,
                message: format!("`{shown}` is written as `{suffix}`, by `--viewer-config-type`"),
                help: Some(format!("let the name end with `{suffix}`, or leave out the flag")),
            });
        }
        formats.push((path.as_path(), format));
    }
    formats
}

/// The dictionary in this file is not that of these inputs.
pub(super) fn stale(path: &Path, inputs: &str) -> Notice {
    Notice {
        severity: Severity::Error,
        code: Code::StaleDictionary,
        message: format!("`{}` is not the dictionary of {inputs}", path.display()),
        help: Some("write it again with `--viewer-config` instead of `--check`".to_owned()),
    }
}
