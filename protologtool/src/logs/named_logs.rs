//! The logs that a command line names, as one log: page by page, or whole.
//!
//! All commands that read logs take them this way: files, directories with traces, pipes,
//! recordings.

use crate::args::Expansion;
use crate::exit::Failure;
use crate::logs::joined_traces::{self, Gone};
use crate::logs::merge_report;
use crate::logs::merged_traces::{MERGED, Opener, gather, gather_whole};
use crate::logs::text_sources::TextSources;
use crate::logs::trace_file::{self, Parts, read_trace};
use crate::logs::trace_paths::expand;
use crate::output::cant_read;
use crate::system::System;
use protolog_reader::{ByteSource, Log, Pages};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// See the module.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NamedLogs<'a> {
    /// Traces, directories with traces, or `-`.
    pub(crate) paths: &'a [PathBuf],
    /// Dictionaries for texts that the traces lack, and directories of dictionaries.
    pub(crate) dictionaries: &'a [PathBuf],
    /// Spans are read, too.
    pub(crate) has_spans: bool,
    pub(crate) expansion: Expansion,
}

/// A log that is read page by page.
pub(crate) struct PagedLog {
    pub(crate) pages: Pages,
    /// False if something of several traces was left out when they became one.
    pub(crate) is_whole: bool,
    pub(crate) gone: Gone,
}

/// A log that is in memory as a whole.
pub(crate) struct WholeLog {
    pub(crate) log: Log,
    /// Parts of several traces left out when they became one, a line each.
    pub(crate) missing: Vec<String>,
    /// False if something was left out.
    pub(crate) has_all: bool,
}

/// The times that a directory is listed at most, of which all files are gone each time.
const LISTINGS: u32 = 10;

impl<'a> NamedLogs<'a> {
    /// Opens the log of all traces.
    pub(crate) fn pages(&self, system: &dyn System) -> Result<PagedLog, Failure> {
        let mut listings = 1..LISTINGS;
        loop {
            let traces = expand(self.paths, system)?;
            let opened = open_traces(self, &traces, system);
            // A rotation may have removed all that was found.
            let has_directory = self.paths.iter().any(|path| system.is_directory(path));
            let is_gone = has_directory && !traces.iter().any(|trace| system.is_file(trace));
            if opened.is_ok() || !is_gone || listings.next().is_none() {
                return opened;
            }
        }
    }

    /// Reads the log of all traces, which is called `name` if they are several. `note` gets lines
    /// about them.
    pub(crate) fn whole(
        &self,
        name: &Path,
        system: &dyn System,
        note: &dyn Fn(&str),
    ) -> Result<WholeLog, Failure> {
        let traces = expand(self.paths, system)?;
        if let [one] = &traces[..] {
            let trace = read_trace(one, system, note)?;
            let log = self.texts(system)?.log(trace, one)?;
            return Ok(WholeLog { log, missing: Vec::new(), has_all: true });
        }
        let (trace, merged) = gather_whole((&traces, self.paths), self.expansion, system, note)?;
        let log = self.texts(system)?.log(trace, name)?;
        let missing = merge_report::problems(&merged, self.expansion);
        Ok(WholeLog { log, missing, has_all: merged.is_whole() })
    }

    /// The texts that the traces may lack.
    pub(crate) fn texts<'b>(&self, system: &'b dyn System) -> Result<TextSources<'b>, Failure>
    where
        'a: 'b,
    {
        let texts = TextSources::load(self.dictionaries, system)?.with_slices(self.has_spans);
        Ok(texts.with_expansion(self.expansion))
    }
}

impl WholeLog {
    /// Returns whether all of the traces could be read.
    pub(crate) fn is_whole(&self) -> bool {
        self.has_all && self.log.is_complete()
    }
}

impl PagedLog {
    /// Of traces that stay as long as they are read.
    fn new(pages: Pages, is_whole: bool) -> Self {
        Self { pages, is_whole, gone: Gone::default() }
    }
}

fn open_traces(
    logs: &NamedLogs<'_>,
    traces: &[PathBuf],
    system: &dyn System,
) -> Result<PagedLog, Failure> {
    let mut texts = logs.texts(system)?;
    let [path] = traces else { return open_several(logs, traces, &mut texts, system) };
    if path == Path::new("-") || system.is_pipe(path) {
        let source = trace_file::spooled(path, system)?;
        if let Some(parts) = Parts::of(Box::new(Arc::clone(&source)), logs.expansion)
            && let Some(pages) = texts.survey(parts, path)?
        {
            return Ok(PagedLog::new(pages, true));
        }
        let all = source.read_at(0, usize::MAX).map_err(|error| cant_read(path, &error))?;
        let pages = texts.pages(trace_file::made_of(path, all, system)?, path)?;
        return Ok(PagedLog::new(pages, true));
    }
    if let Some(parts) =
        trace_file::parts_of(path, logs.expansion, system, &|line| system.print_error(line))
        && let Some(pages) = texts.survey(parts, path)?
    {
        return Ok(PagedLog::new(pages, true));
    }
    let trace = read_trace(path, system, &|line| system.print_error(line))?;
    Ok(PagedLog::new(texts.pages(trace, path)?, true))
}

/// As [`open_traces`], of several: side by side, or else by a merge, which leaves out traces that
/// are gone meanwhile.
fn open_several(
    logs: &NamedLogs<'_>,
    traces: &[PathBuf],
    texts: &mut TextSources<'_>,
    system: &dyn System,
) -> Result<PagedLog, Failure> {
    let name = Path::new(MERGED);
    let note = |line: &str| system.print_error(line);
    let opener = Opener::new(traces.len(), system, &note);
    for join in [joined_traces::join_segments, joined_traces::join_sessions] {
        if let Some(joined) = join(traces, &opener)
            && let Ok(Some(pages)) = texts.survey(joined.parts, name)
        {
            joined.notes.iter().for_each(|line| note(line));
            joined.gone.end_survey();
            return Ok(PagedLog { pages, is_whole: !joined.has_gaps, gone: joined.gone });
        }
    }
    let (trace, merged) = gather((traces, logs.paths), logs.expansion, system, &note)?;
    let source: Arc<dyn ByteSource> =
        trace.into_source().map_err(|error| cant_read(name, &error))?.into();
    let parts = Parts { source: Box::new(Arc::clone(&source)), compressed: None };
    if let Some(pages) = texts.survey(parts, name)? {
        return Ok(PagedLog::new(pages, merged.is_whole()));
    }
    let all = source.read_at(0, usize::MAX).map_err(|error| cant_read(name, &error))?;
    Ok(PagedLog::new(texts.pages(all, name)?, merged.is_whole()))
}
