//! What the commands that read sources have in common: their arguments, the groups, and showing what is wrong.

use crate::cli::Failure;
use crate::diagnostic::{Diagnostic, Style, render, summary};
use crate::groups::{self, Groups};
use crate::ids::MessageIds;
use crate::lang::java::Java;
use crate::pipeline::{self, Processed, Report, Settings};
use crate::source::Source;
use crate::system::System;
use std::path::{Path, PathBuf};
use viewer_config::Format;

/// Arguments that name sources, classes and groups.
#[derive(Debug, clap::Args)]
pub(super) struct Inputs {
    /// The class whose log calls are meant, for example `dev.protolog.ProtoLog`
    #[arg(long, value_name = "CLASS", value_parser = class_name)]
    pub(super) protolog_class: String,

    /// The enum that holds the log groups
    #[arg(long, value_name = "CLASS", value_parser = class_name)]
    loggroups_class: String,

    /// The source of that enum
    #[arg(long, value_name = "FILE", value_parser = java_source)]
    loggroups_source: PathBuf,

    /// Sources: Java, or Kotlin, which is copied as it is
    #[arg(required = true, value_name = "FILES", value_parser = input)]
    files: Vec<PathBuf>,
}

/// What came of the inputs: all of them, or that something is wrong, which was shown.
pub(super) enum Outcome {
    /// Without errors.
    Good(Groups, Vec<Processed>),
    /// With errors.
    Bad,
}

impl Inputs {
    /// Reads the groups and takes all files through the pipeline. Shows every problem.
    pub(super) fn process(
        &self,
        implementation: Option<&str>,
        system: &dyn System,
    ) -> Result<Outcome, Failure> {
        let default = format!("{}Impl", self.protolog_class);
        let java = Java::new(&self.protolog_class, implementation.unwrap_or(&default));
        let mut printer = Printer::new(system);
        let Some(groups) = self.groups(&mut printer, system)? else {
            printer.finish();
            return Ok(Outcome::Bad);
        };
        let settings = Settings { java, groups, ids: MessageIds::Xxh3 };
        let mut processed = Vec::with_capacity(self.files.len());
        let mut unreadable = None;
        for result in pipeline::process(system, &settings, &self.files) {
            match result {
                Ok(file) => {
                    if let Some(report) = &file.report {
                        printer.report(report);
                    }
                    processed.push(file);
                }
                Err(failed) => {
                    let failure = cant_read(&failed.path, &failed.error);
                    if let Some(earlier) = unreadable.replace(failure) {
                        system.print_error(&format!("{earlier}\n"));
                    }
                }
            }
        }
        let errors = printer.finish();
        match unreadable {
            Some(failure) => Err(failure),
            None if errors > 0 => Ok(Outcome::Bad),
            None => Ok(Outcome::Good(settings.groups, processed)),
        }
    }

    /// The groups; none if their source is wrong, which was shown.
    fn groups(
        &self,
        printer: &mut Printer<'_>,
        system: &dyn System,
    ) -> Result<Option<Groups>, Failure> {
        let path = &self.loggroups_source;
        let bytes = system.read(path).map_err(|error| cant_read(path, &error))?;
        let source = Source::new(path, bytes);
        match groups::from_java_source(&source, &self.loggroups_class) {
            Ok(groups) => Ok(Some(groups)),
            Err(diagnostics) => {
                printer.report(&Report { source, diagnostics });
                Ok(None)
            }
        }
    }
}

/// Shows diagnostics and counts errors.
struct Printer<'s> {
    system: &'s dyn System,
    style: Style,
    errors: usize,
    files: usize,
}

impl<'s> Printer<'s> {
    fn new(system: &'s dyn System) -> Self {
        let no_color = system.variable("NO_COLOR").is_some_and(|value| !value.is_empty());
        let style = Style { color: system.errors_to_terminal() && !no_color };
        Self { system, style, errors: 0, files: 0 }
    }

    fn report(&mut self, report: &Report) {
        let show = |diagnostic: &Diagnostic| render(diagnostic, &report.source, self.style);
        let text: String = report.diagnostics.iter().map(show).collect();
        self.system.print_error(&text);
        self.errors += report.errors();
        self.files += usize::from(report.errors() > 0);
    }

    /// Says how many errors there were, if any.
    fn finish(&self) -> usize {
        self.system.print_error(&summary(self.errors, self.files));
        self.errors
    }
}

pub(super) fn cant_read(path: &Path, error: &std::io::Error) -> Failure {
    Failure::new(format!("can't read `{}`: {}", path.display(), crate::output::reason(error)))
}

/// A class's full name, `$` or `.` before nested ones.
pub(super) fn class_name(text: &str) -> Result<String, String> {
    let is_name = |part: &str| {
        let first = part
            .chars()
            .next()
            .is_some_and(|char| char.is_alphabetic() || matches!(char, '_' | '$'));
        first && part.chars().all(|char| char.is_alphanumeric() || matches!(char, '_' | '$'))
    };
    if text.contains('.') && text.split('.').all(is_name) {
        Ok(text.to_owned())
    } else {
        Err("not a full class name such as `com.foo.AppLog`".to_owned())
    }
}

/// The path of a dictionary.
pub(super) fn dictionary(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    match Format::of_path(&path) {
        Some(_) => Ok(path),
        None => Err("a dictionary's name ends with `.pb`, `.json` or `.json.gz`".to_owned()),
    }
}

fn input(text: &str) -> Result<PathBuf, String> {
    with_extension(text, &["java", "kt"]).ok_or(
        "not a Java or Kotlin source: its name ends with neither `.java` nor `.kt`".to_owned(),
    )
}

fn java_source(text: &str) -> Result<PathBuf, String> {
    with_extension(text, &["java"])
        .ok_or("not a Java source: its name does not end with `.java`".to_owned())
}

/// The path, if its name ends with a dot and one of these.
pub(super) fn with_extension(text: &str, known: &[&str]) -> Option<PathBuf> {
    let path = PathBuf::from(text);
    let fits =
        path.extension().is_some_and(|extension| known.iter().any(|known| extension == *known));
    fits.then_some(path)
}
