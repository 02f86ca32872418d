//! The groups and files that documents are looked at with, and the look at one document.
//!
//! Invariant: settings that are wrong, such as a half-typed class of groups, leave the last right
//! ones in use.

use super::LspArgs;
use crate::command::inputs;
use crate::diagnostic::{Diagnostic, Gathered, Reporter};
use crate::diagnostic::{MessageFormat, Reporting};
use crate::lang::Inputs;
use crate::lang::java::lexer::{self, TokenKind};
use crate::lang::jvm::wrapper::Wrappers;
use crate::pipeline::{self, Processed, Settings, ShownCall};
use crate::source::Source;
use crate::system::System;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// The settings, and the arguments that they were read from.
#[derive(Debug, Default)]
pub(super) struct EditorFolders {
    args: Option<LspArgs>,
    read: Option<ReadSettings>,
    /// The problems of the settings themselves, each with its file.
    pub(super) problems: Vec<(PathBuf, Diagnostic)>,
}

#[derive(Debug)]
struct ReadSettings {
    files: Vec<PathBuf>,
    settings: Settings,
    wrappers: Wrappers,
}

/// The problems and calls of a document.
#[derive(Debug, Default)]
pub(super) struct Findings {
    pub(super) diagnostics: Vec<Diagnostic>,
    pub(super) calls: Vec<ShownCall>,
}

impl EditorFolders {
    /// For these arguments, whose paths are relative to the first of the editor's folders.
    pub(super) fn new(mut args: LspArgs, folders: &[PathBuf]) -> Self {
        let root = folders.first().cloned().unwrap_or_default();
        let sources = &mut args.sources;
        let paths = [&mut sources.loggroups_jar, &mut sources.loggroups_source];
        let more = [&mut sources.rust.crate_root, &mut args.viewer_config];
        let others = sources.rust.extern_crate.iter_mut().map(|(_, path)| path);
        let all = paths.into_iter().chain(more).flatten().chain(others).chain(&mut sources.files);
        all.for_each(|path| *path = root.join(&*path));
        if sources.files.is_empty() {
            sources.files = folders.to_vec();
        }
        Self { args: Some(args), ..Self::default() }
    }

    /// Reads groups and files anew; gives the failures that have no place in a source.
    pub(super) fn read(&mut self, system: &dyn System) -> Vec<String> {
        let Some(args) = &self.args else { return Vec::new() };
        let reporting = Reporting { message_format: MessageFormat::Human, deny_warnings: false };
        let mut reporter = Reporter::gathering(reporting, system);
        match inputs::settings(&args.sources, &mut reporter, system) {
            Ok(Some((files, settings))) => {
                let wrappers = pipeline::wrappers(system, &settings, &files, system.threads());
                self.read = Some(ReadSettings { files, settings, wrappers });
            }
            Ok(None) => {}
            Err(failure) => reporter.failure(&failure),
        }
        let Gathered { problems, others, .. } = reporter.into_gathered();
        self.problems = problems;
        others.into_iter().map(|(_, text)| text).collect()
    }

    /// Returns whether the groups may be other ones when this text changes.
    pub(super) fn rests_on(&self, path: &Path, text: &[u8]) -> bool {
        let of_java = self.args.as_ref().and_then(|args| args.sources.loggroups_source.as_deref());
        let is_rust = path.extension().is_some_and(|extension| extension == "rs");
        of_java == Some(path) || is_rust && memchr::memmem::find(text, b"ProtoLogGroup").is_some()
    }

    /// Looks at a document.
    pub(super) fn look(&self, source: &Source, system: &dyn System) -> Findings {
        let mut look = Findings::default();
        if let Some(ReadSettings { files, settings, wrappers }) = &self.read {
            let inputs = Inputs::new(system, files)
                .relying_on(&settings.java, &settings.groups)
                .with_wrappers(wrappers);
            let (processed, calls) = pipeline::process_shown(settings, source.clone(), &inputs);
            let Processed { report, warnings, .. } = processed;
            look.diagnostics = report.map_or_else(Vec::new, |report| report.diagnostics);
            look.diagnostics.extend(warnings);
            look.calls = calls;
        }
        let own = self.problems.iter().filter(|(path, _)| path == source.path());
        for (_, problem) in own {
            if !look.diagnostics.contains(problem) {
                look.diagnostics.push(problem.clone());
            }
        }
        look.diagnostics.sort_by_key(|diagnostic| diagnostic.range.start);
        look
    }

    /// The settings that are in use.
    pub(super) fn settings(&self) -> Option<&Settings> {
        self.read.as_ref().map(|read| &read.settings)
    }

    /// The place of a message in the dictionary that is kept beside the sources.
    pub(super) fn entry(&self, id: u64, system: &dyn System) -> Option<(Source, Range<usize>)> {
        let path = self.args.as_ref()?.viewer_config.as_deref()?;
        let source = Source::new(path, system.read(path).ok()?);
        let key = format!("\"{}\"", id as i64);
        let start = memchr::memmem::find(source.bytes(), key.as_bytes())?;
        Some((source, start..start + key.len()))
    }

    /// The place where a group is declared, if that is in a source.
    pub(super) fn group(
        &self,
        position: usize,
        system: &dyn System,
    ) -> Option<(Source, Range<usize>)> {
        let settings = self.settings()?;
        let group = settings.groups.list().get(position)?;
        let rust = settings.rust.as_ref().and_then(|rust| rust.group_place(&group.full_name));
        let of_java = || self.args.as_ref()?.sources.loggroups_source.clone();
        let (path, from) = match rust {
            Some((path, range)) => (path.clone(), range.start),
            None => (of_java()?, 0),
        };
        let source = Source::new(&path, system.read(&path).ok()?);
        let class = settings.groups.class().rsplit('.').next().unwrap_or_default();
        let is = |range: &Range<usize>, name: &str| source.slice(range.clone()) == name.as_bytes();
        let mut words = lexer::tokens(source.slice(from..usize::MAX))
            .filter(|token| token.kind == TokenKind::Word)
            .map(|token| from + token.range().start..from + token.range().end);
        if rust.is_none() {
            words.find(|word| is(word, class))?;
        }
        let place = words.find(|word| is(word, &group.name))?;
        Some((source, place))
    }
}
