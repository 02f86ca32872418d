//! Cases, and making a compilation unit of each. A title is `name [kind]`; kind: none (a method's
//! body), `members` (of a class, with `static void run()`), `file`.
//!
//! The class of a case is called by the case's name in camel case; `CASE` stands for that.

use crate::cases::{self, CaseFile, FromText};
use crate::unit::{self, Kind};
use protologtool::diagnostic::{Style, render};
use protologtool::groups::Groups;
use protologtool::ids::MessageIds;
use protologtool::lang::java::Java;
use protologtool::lang::java::groups::from_java_source;
use protologtool::pipeline::{Processed, Settings, process_source};
use protologtool::source::Source;
use std::path::PathBuf;

/// One case.
pub(crate) struct Case {
    pub(crate) title: String,
    pub(crate) class: String,
    pub(crate) kind: Kind,
    /// The source as the case file has it.
    pub(crate) body: String,
}

const PRELUDE: &str = "\
package demo;
import static demo.AppLog.DISK;
import static demo.AppLog.NET;
import static demo.AppLog.OFF;
import static demo.Effects.*;
import dev.protolog.LogLevel;
import dev.protolog.ProtoLog;
";

/// The case files of a directory under `tests/java`, sorted.
pub(crate) fn case_files(directory: &str) -> Vec<CaseFile<Case>> {
    cases::case_files(&here().join(directory))
}

pub(crate) fn here() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/java")
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
    /// The compilation unit.
    pub(crate) fn unit(&self) -> String {
        let (before, after) = self.frame();
        format!("{before}{}{after}", self.body.replace("CASE", &self.class))
    }

    /// The text before and after the case's own text in its compilation unit.
    pub(crate) fn frame(&self) -> (String, String) {
        self.kind.frame(PRELUDE, &self.class)
    }

    /// The class's name for the virtual machine.
    pub(crate) fn class_name(&self) -> String {
        self.kind.class_name(&self.body, &self.class)
    }

    /// Where its file lies, relative to a source root.
    pub(crate) fn path(&self) -> String {
        format!("{}.java", self.class_name().replace('.', "/"))
    }

    pub(crate) fn source(&self) -> Source {
        Source::new(format!("{}.java", self.class), self.unit().into_bytes())
    }
}

/// The tool's result for a source.
pub(crate) fn process(source: Source) -> Processed {
    process_source(&settings(), source)
}

/// The groups and names that all cases use.
pub(crate) fn settings() -> Settings {
    let java = Java::new("dev.protolog.ProtoLog", "dev.protolog.ProtoLogImpl");
    Settings { java, rust: None, groups: groups(), ids: MessageIds::Xxh3 }
}

fn groups() -> Groups {
    let path = here().join("runtime/demo/AppLog.java");
    let source = Source::new(&path, std::fs::read(&path).unwrap());
    from_java_source(&source, "demo.AppLog").unwrap_or_else(|problems| panic!("{problems:?}"))
}

/// The rewritten text, or the file's own text if nothing was to be done; the diagnostics if there
/// are any.
pub(crate) fn rewritten(source: Source) -> Result<Vec<u8>, String> {
    let original = source.bytes().to_vec();
    let processed = process(source);
    match processed.report {
        None => Ok(processed.rewritten.unwrap_or(original)),
        Some(report) => {
            let show = |diagnostic| render(diagnostic, &report.source, Style::default());
            Err(report.diagnostics.iter().map(show).collect())
        }
    }
}
