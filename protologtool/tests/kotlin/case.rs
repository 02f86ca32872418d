//! Cases, and making a file of each. A title is `name [kind]`; kind: none (a function's body),
//! `members` (of an object, with `@JvmStatic fun run()`), `file`.
//!
//! The object of a case is called by the case's name in camel case; `CASE` stands for that.

use crate::cases::{self, CaseFile, FromText};
use crate::unit::{self, Kind};
use protologtool::diagnostic::Report;
use protologtool::diagnostic::{Style, render};
use protologtool::groups::Groups;
use protologtool::ids::MessageIds;
use protologtool::lang::java::Java;
use protologtool::lang::java::groups::from_java_source;
use protologtool::lang::jvm::dialect::Dialect;
use protologtool::pipeline::{Processed, Settings, process_source};
use protologtool::source::Source;
use std::path::PathBuf;

/// One case.
pub(crate) struct Case {
    pub(crate) title: String,
    pub(crate) class: String,
    kind: Kind,
    /// The source as the case file has it.
    body: String,
}

const PRELUDE: &str = "\
package demo
import demo.AppLog.DISK
import demo.AppLog.NET
import demo.AppLog.OFF
import demo.Effects.*
import dev.protolog.LogLevel
import dev.protolog.ProtoLog
";

/// The case files of a directory under `tests/kotlin`, sorted.
pub(crate) fn case_files(directory: &str) -> Vec<CaseFile<Case>> {
    cases::case_files(&root().join("tests/kotlin").join(directory))
}

pub(crate) fn all_cases() -> Vec<Case> {
    case_files("cases").into_iter().flat_map(|file| file.cases).collect()
}

pub(crate) fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

impl FromText for Case {
    fn from_text(title: &str, body: &str) -> Self {
        let ((kind, other), class) = (unit::kind(title), unit::class(title));
        assert_eq!(other, "", "the kind of the case `{title}`");
        Self { title: title.to_owned(), class, kind, body: body.to_owned() }
    }

    fn text(&self) -> (&str, &str) {
        (&self.title, &self.body)
    }
}

impl Case {
    /// The file's text.
    pub(crate) fn unit(&self) -> String {
        let (before, after) = self.frame();
        format!("{before}{}{after}", self.body.replace("CASE", &self.class))
    }

    /// The text before and after the case's own text in its file.
    pub(crate) fn frame(&self) -> (String, String) {
        let class = &self.class;
        match self.kind {
            Kind::File => (String::new(), "\n".to_owned()),
            Kind::Members => (format!("{PRELUDE}object {class} {{\n"), "\n}\n".to_owned()),
            Kind::Body => (
                format!("{PRELUDE}object {class} {{ @JvmStatic fun run() {{\n"),
                "\n} }\n".to_owned(),
            ),
        }
    }

    /// The class's name for the virtual machine.
    pub(crate) fn class_name(&self) -> String {
        let package = self.body.lines().find_map(|line| line.strip_prefix("package "));
        let package = package.filter(|_| self.kind == Kind::File).unwrap_or("demo");
        format!("{package}.{}", self.class)
    }

    pub(crate) fn path(&self) -> String {
        format!("{}.kt", self.class)
    }

    pub(crate) fn source(&self) -> Source {
        Source::new(self.path(), self.unit().into_bytes())
    }
}

/// The tool's result for a source.
pub(crate) fn process(source: Source) -> Processed {
    process_source(&settings(), source)
}

/// The groups and names that all cases use.
pub(crate) fn settings() -> Settings {
    settings_of(Dialect::Protolog)
}

/// The same with rewritten code of this dialect.
pub(crate) fn settings_of(dialect: Dialect) -> Settings {
    let java = Java::new("dev.protolog.ProtoLog", "dev.protolog.ProtoLogImpl");
    let java = java.with_dialect(dialect);
    Settings { java, rust: None, groups: groups(), ids: MessageIds::Xxh3 }
}

fn groups() -> Groups {
    let path = root().join("tests/java/runtime/demo/AppLog.java");
    let source = Source::new(&path, std::fs::read(&path).unwrap());
    from_java_source(&source, "demo.AppLog").unwrap_or_else(|problems| panic!("{problems:?}"))
}

/// The rewritten text, or the file's own text if nothing was to be done; the errors if there are
/// any.
pub(crate) fn rewritten(source: Source) -> Result<Vec<u8>, String> {
    let original = source.bytes().to_vec();
    let processed = process(source);
    match &processed.report {
        None => Ok(processed.rewritten.unwrap_or(original)),
        Some(report) => Err(shown(report)),
    }
}

/// The diagnostics as people read them.
pub(crate) fn shown(report: &Report) -> String {
    let show = |diagnostic| render(diagnostic, &report.source, Style::default());
    report.diagnostics.iter().map(show).collect()
}
