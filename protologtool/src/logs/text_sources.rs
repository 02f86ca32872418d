//! The texts that a trace may lack: dictionaries, and directories of them.

use crate::args::Expansion;
use crate::exit::Failure;
use crate::logs::dictionary_directories::DictionaryDirectories;
use crate::logs::trace_file::Parts;
use crate::output::cant_read;
use crate::output::reason;
use crate::system::System;
use protolog_reader::{Limits, Log, PageOptions, Pages, ReadErrorKind, Trace, printable};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use viewer_config::{Collector, Dictionary, Format, Problem};

/// See the module.
pub(crate) struct TextSources<'a> {
    dictionaries: Vec<Dictionary>,
    directories: DictionaryDirectories<'a>,
    system: &'a dyn System,
    has_slices: bool,
    expansion: u64,
}

/// What a command reads that writes `output`: these inputs, and the dictionaries, of directories
/// the one that has the output's name.
pub(crate) fn with_dictionaries(
    inputs: &[PathBuf],
    dictionaries: &[PathBuf],
    output: &Path,
    system: &dyn System,
) -> Vec<PathBuf> {
    let is_dictionary = |name: &OsStr| {
        let name = name.to_string_lossy();
        [".pb", ".json", ".json.gz"].iter().any(|end| name.ends_with(end))
    };
    let name = output.file_name().filter(|name| is_dictionary(name));
    let files = dictionaries.iter().filter_map(|path| {
        if !system.is_directory(path) {
            return Some(path.clone());
        }
        let found = path.join(name?);
        system.is_file(&found).then_some(found)
    });
    inputs.iter().cloned().chain(files).collect()
}

impl<'a> TextSources<'a> {
    /// Reads dictionaries. Those in directories are read when they are asked for.
    pub(crate) fn load(paths: &'a [PathBuf], system: &'a dyn System) -> Result<Self, Failure> {
        let (directories, files): (Vec<_>, Vec<_>) =
            paths.iter().partition(|path| system.is_directory(path));
        let mut dictionaries = Vec::new();
        for path in files {
            dictionaries.push(read_dictionary(path, system)?);
        }
        report_contradictions(&dictionaries, system);
        Ok(Self {
            dictionaries,
            directories: DictionaryDirectories::new(directories),
            system,
            has_slices: false,
            expansion: Limits::EXPANSION,
        })
    }

    /// Reads spans, too.
    pub(crate) fn with_slices(mut self, has_slices: bool) -> Self {
        self.has_slices = has_slices;
        self
    }

    /// Reads traces that expand to so many times their size.
    pub(crate) fn with_expansion(mut self, expansion: Expansion) -> Self {
        self.expansion = expansion.max_expansion;
        self
    }

    /// The dictionaries that are no directories.
    pub(crate) fn dictionaries(&self) -> &[Dictionary] {
        &self.dictionaries
    }

    /// The dictionary with this hash, in one of the directories.
    pub(crate) fn find(&mut self, hash: u64) -> Option<Dictionary> {
        self.directories.find(hash, self.system)
    }

    /// The first error of a directory.
    pub(crate) fn finish(&mut self) -> Result<(), Failure> {
        self.directories.finish()
    }

    /// The log of a trace that was read from `path`.
    pub(crate) fn log(&mut self, trace: Vec<u8>, path: &Path) -> Result<Log, Failure> {
        let limits = Limits::of_expansion(trace.len() as u64, self.expansion);
        let mut trace = Trace::from_bytes(trace).with_limits(limits);
        for dictionary in &self.dictionaries {
            trace = trace.with_dictionary(dictionary.clone());
        }
        if self.has_slices {
            trace = trace.with_slices();
        }
        let log = trace.read_with(|hash| self.directories.find(hash, self.system));
        self.directories.finish()?;
        log.map_err(|error| {
            let reason = match error.kind() {
                ReadErrorKind::Io(error) => reason(error),
                _ => error.to_string(),
            };
            let message = format!("can't read `{}`: {reason}", path.display());
            Failure::new(message).help(error.help())
        })
    }

    /// The same page by page, which is one page if need be.
    pub(crate) fn pages(&mut self, trace: Vec<u8>, path: &Path) -> Result<Pages, Failure> {
        Ok(Pages::of(self.log(trace, path)?))
    }

    /// The log of a trace at `path` page by page, if it has pages.
    pub(crate) fn survey(
        &mut self,
        Parts { source, compressed }: Parts,
        path: &Path,
    ) -> Result<Option<Pages>, Failure> {
        let (has_slices, expansion) = (self.has_slices, self.expansion);
        let options = PageOptions { has_slices, expansion, compressed, ..PageOptions::default() };
        let find = |hash| self.directories.find(hash, self.system);
        let pages = Pages::survey_with(source, &self.dictionaries, find, &options);
        self.directories.finish()?;
        pages.map_err(|error| cant_read(path, &error))
    }
}

/// A dictionary. Its problems are warnings, since a reader of logs can't fix them.
fn read_dictionary(path: &Path, system: &dyn System) -> Result<Dictionary, Failure> {
    let bytes = system.read(path).map_err(|error| cant_read(path, &error))?;
    let mut collector = Collector::new();
    collector.read_as(Format::of_content(&bytes), &bytes).map_err(|error| {
        Failure::new(format!("can't read `{}`: {error}", path.display()))
            .help("give a file that `generate-viewer-config` wrote")
    })?;
    let collected = collector.finish_anyway();
    for problem in &collected.problems {
        let line = printable(&format!("`{}`: {problem}", path.display()));
        system.print_error(&format!("warning: {line}\n"));
    }
    Ok(collected.dictionary)
}

/// The most messages of two dictionaries that are named.
const MOST_CLASHES: usize = 10;

/// Warns of messages that two dictionaries know by the same id. Ids of groups are valid in their
/// own dictionary alone.
fn report_contradictions(dictionaries: &[Dictionary], system: &dyn System) {
    if dictionaries.len() < 2 {
        return;
    }
    let mut collector = Collector::new();
    for dictionary in dictionaries {
        collector.add(dictionary.clone());
    }
    let problems = collector.finish_anyway().problems;
    let mut clashes = problems.iter().filter(|it| matches!(it, Problem::MessageClash { .. }));
    for problem in clashes.by_ref().take(MOST_CLASHES) {
        let line = printable(&problem.to_string());
        system.print_error(&format!("warning: {line}, of which the first is taken\n"));
    }
    match clashes.count() {
        0 => {}
        more => system.print_error(&format!("warning: {more} more ids for two messages\n")),
    }
    if problems.iter().any(|it| matches!(it, Problem::MessageClash { .. })) {
        system.print_error("help: leave out the dictionary of another program\n");
    }
}
