//! Showing the problems of a run, in the format that was asked for, and counting them.
//!
//! For people: as they come, on standard error. For tools: on standard output. A failure that stops
//! a run goes to standard error in every format, since it is no part of the result.

use super::render::counts;
use super::{
    Diagnostic, MessageFormat, Notice, Reporting, Severity, Style, json, render, sarif, summary,
};
use crate::call_counts::CallCounts;
use crate::exit::{Exit, Failure};
use crate::source::Source;
use crate::system::System;
use protolog_core::hash;
use protolog_reader::printable_json;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// The problems of a run, for callers that do not print them.
#[derive(Debug, Default)]
pub(crate) struct Gathered {
    /// Those in sources, each with its file.
    pub(crate) problems: Vec<(PathBuf, Diagnostic)>,
    /// XXH3-64 of the text of each such file, to which the places in problems belong.
    pub(crate) texts: BTreeMap<PathBuf, u64>,
    /// All others, in words.
    pub(crate) others: Vec<(Severity, String)>,
}

/// Shows and counts.
pub(crate) struct Reporter<'s> {
    system: &'s dyn System,
    style: Style,
    reporting: Reporting,
    errors: usize,
    warnings: usize,
    /// Files with errors or warnings, and the last one of them.
    files: usize,
    last: PathBuf,
    failed: bool,
    /// True if the run would have outputs if there were no errors.
    writes: bool,
    calls: CallCounts,
    log: sarif::Log,
    /// Where problems are gathered rather than shown.
    gathered: Option<Gathered>,
}

impl<'s> Reporter<'s> {
    pub(crate) fn new(reporting: Reporting, system: &'s dyn System) -> Self {
        let no_color = system.variable("NO_COLOR").is_some_and(|value| !value.is_empty());
        let style = Style { color: system.errors_to_terminal() && !no_color };
        let log = sarif::Log::default();
        Self {
            system,
            style,
            reporting,
            errors: 0,
            warnings: 0,
            files: 0,
            last: PathBuf::new(),
            failed: false,
            writes: true,
            calls: CallCounts::default(),
            log,
            gathered: None,
        }
    }

    /// One for a run that has no outputs.
    pub(crate) fn without_outputs(reporting: Reporting, system: &'s dyn System) -> Self {
        Self { writes: false, ..Self::new(reporting, system) }
    }

    /// One that shows nothing, and gathers.
    pub(crate) fn gathering(reporting: Reporting, system: &'s dyn System) -> Self {
        Self { gathered: Some(Gathered::default()), ..Self::new(reporting, system) }
    }

    /// The problems that were gathered.
    pub(crate) fn into_gathered(self) -> Gathered {
        self.gathered.unwrap_or_default()
    }

    /// Number of errors so far.
    pub(crate) fn errors(&self) -> usize {
        self.errors
    }

    /// Counts the log calls of a source.
    pub(crate) fn count_calls(&mut self, calls: CallCounts) {
        self.calls += calls;
    }

    /// The numbers of log calls so far.
    pub(crate) fn calls(&self) -> CallCounts {
        self.calls
    }

    /// Shows the numbers of log calls, which belong to no result.
    pub(crate) fn show_calls(&self) {
        if self.calls.found() > 0 {
            self.system.print_error(&format!("{}\n", self.calls));
        }
    }

    /// Shows a problem in a source.
    pub(crate) fn diagnostic(&mut self, diagnostic: &Diagnostic, source: &Source) {
        if let Some(gathered) = &mut self.gathered {
            let path = source.path().to_path_buf();
            gathered.texts.entry(path.clone()).or_insert_with(|| hash(source.bytes()));
            gathered.problems.push((path, diagnostic.clone()));
            self.count(diagnostic.severity);
            return;
        }
        let severity = self.count(diagnostic.severity);
        if severity > Severity::Note && self.last != source.path() {
            self.files += 1;
            self.last = source.path().to_path_buf();
        }
        let diagnostic = &Diagnostic { severity, ..diagnostic.clone() };
        match self.reporting.message_format {
            MessageFormat::Human => {
                self.system.print_error(&render(diagnostic, source, self.style));
            }
            MessageFormat::Json => self.system.print(&json::diagnostic(diagnostic, source)),
            MessageFormat::Sarif => self.log.diagnostic(diagnostic, source),
        }
    }

    /// Shows a problem that has no place in a source.
    pub(crate) fn notice(&mut self, notice: &Notice) {
        let severity = self.count(notice.severity);
        if let Some(gathered) = &mut self.gathered {
            gathered.others.push((severity, notice.to_string()));
            return;
        }
        let notice = &Notice { severity, ..notice.clone() };
        match self.reporting.message_format {
            MessageFormat::Human => self.system.print_error(&format!("{notice}\n")),
            MessageFormat::Json => self.system.print(&json::notice(notice)),
            MessageFormat::Sarif => self.log.notice(notice),
        }
    }

    /// Shows a text that belongs to a problem: on standard output, unless that is for a tool.
    pub(crate) fn text(&self, text: &str) {
        match self.reporting.message_format {
            MessageFormat::Human => self.system.print(text),
            _ => self.system.print_error(text),
        }
    }

    /// Shows a failure that stops the run, while there may be more.
    pub(crate) fn failure(&mut self, failure: &Failure) {
        self.failed = true;
        if let Some(gathered) = &mut self.gathered {
            gathered.others.push((Severity::Error, failure.to_string()));
            return;
        }
        self.system.print_error(&format!("{failure}\n"));
        self.log.failure(failure.message());
    }

    /// Ends the run.
    pub(crate) fn finish(mut self, result: &Result<(), Failure>) -> Exit {
        if let Err(failure) = result {
            self.failure(failure);
        }
        let exit = match self.errors {
            _ if self.failed => Exit::Failed,
            0 => Exit::Done,
            _ => Exit::Problems,
        };
        match self.reporting.message_format {
            MessageFormat::Human => {
                let (errors, warnings, files) = (self.errors, self.warnings, self.files);
                let text = if self.writes {
                    summary(errors, warnings, files)
                } else {
                    counts(errors, warnings, files)
                };
                self.system.print_error(&text);
            }
            MessageFormat::Json => {}
            MessageFormat::Sarif => {
                let log = self.log.finish(exit);
                self.system.print(&printable_json(&log));
            }
        }
        exit
    }

    /// Counts a problem; gives the severity that it has in this run.
    fn count(&mut self, severity: Severity) -> Severity {
        let severity = match severity {
            Severity::Warning if self.reporting.deny_warnings => Severity::Error,
            other => other,
        };
        match severity {
            Severity::Error => self.errors += 1,
            Severity::Warning => self.warnings += 1,
            Severity::Note => {}
        }
        severity
    }
}
