//! The case files, and processing a case in a dialect.
//!
//! ```text
//! === name [kinds]         kinds: members (of a class, with `static void run()`), file; else a method's body; 17: only there
//! the source
//! --- android-17
//! what the tool makes of it
//! --- android-15
//! ```
//!
//! The class of a case is called by the case's name in camel case; `CASE` stands for that.

use crate::cases::{self, CaseFile, FromText};
use crate::unit::{self, Kind};
use protologtool::diagnostic::{Style, render};
use protologtool::groups::{GroupNumbers, Groups};
use protologtool::ids::MessageIds;
use protologtool::inject::{Generated, ImplTemplate, Values};
use protologtool::lang::java::Java;
use protologtool::lang::java::groups::from_java_source;
use protologtool::lang::jvm::dialect::{Android, Dialect};
use protologtool::pipeline::{Processed, Settings, process_source};
use protologtool::source::Source;
use std::path::PathBuf;

pub(crate) const CLASS: &str = "com.android.internal.protolog.ProtoLogImpl_1";

/// A release and its form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Release {
    Android17,
    Android16,
    Android15,
}

impl Release {
    pub(crate) const ALL: [Self; 3] = [Self::Android17, Self::Android16, Self::Android15];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Android17 => "android-17",
            Self::Android16 => "android-16",
            Self::Android15 => "android-15",
        }
    }

    pub(crate) fn form(self) -> Android {
        self.template().completed(&match self {
            Self::Android17 => Android::ANDROID_17,
            Self::Android16 => Android::ANDROID_16,
            Self::Android15 => Android::ANDROID_15,
        })
    }

    pub(crate) fn template(self) -> ImplTemplate {
        let path = fixtures().join(self.name()).join("ProtoLogImpl.java");
        let source = Source::new(&path, std::fs::read(&path).unwrap());
        ImplTemplate::read(&source).unwrap_or_else(|problems| panic!("{problems:?}"))
    }

    /// The class that rewritten code calls.
    pub(crate) fn implementation(self) -> Generated {
        let values = Values { viewer_config: Some("/etc/test.pb"), ..Values::default() };
        self.template().generate(1, &self.form(), &values, &groups()).unwrap()
    }

    fn settings(self) -> Settings {
        settings(self.form(), groups())
    }
}

pub(crate) fn settings(form: Android, groups: Groups) -> Settings {
    let java = Java::new("com.android.internal.protolog.ProtoLog", CLASS);
    let java = java.with_dialect(Dialect::Android(form));
    Settings { java, rust: None, groups, ids: MessageIds::Aosp }
}

pub(crate) fn groups() -> Groups {
    let path = fixtures().join("framework/demo/Groups.java");
    let source = Source::new(&path, std::fs::read(&path).unwrap());
    let groups = from_java_source(&source, "demo.Groups");
    groups
        .unwrap_or_else(|problems| panic!("{problems:?}"))
        .for_android(GroupNumbers::Declared)
        .unwrap()
}

pub(crate) fn fixtures() -> PathBuf {
    here().join("fixtures")
}

/// The directory of these tests.
pub(crate) fn here() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/aosp")
}

/// One case.
pub(crate) struct Case {
    pub(crate) title: String,
    pub(crate) class: String,
    kind: Kind,
    only_17: bool,
    pub(crate) body: String,
}

const PRELUDE: &str = "\
package demo;
import static demo.Effects.*;
import static demo.Groups.GROUP;
import static demo.Groups.OFF;
import static demo.Groups.QUIET;
import com.android.internal.protolog.ProtoLog;
import com.android.internal.protolog.common.LogLevel;
";

/// All case files, sorted.
pub(crate) fn case_files() -> Vec<CaseFile<Case>> {
    cases::case_files(&here().join("cases"))
}

pub(crate) fn all_cases() -> Vec<Case> {
    case_files().into_iter().flat_map(|file| file.cases).collect()
}

impl FromText for Case {
    fn from_text(title: &str, body: &str) -> Self {
        let ((kind, other), class) = (unit::kind(title), unit::class(title));
        let (title, body) = (title.to_owned(), body.to_owned());
        Self { title, class, kind, only_17: other == "17", body }
    }

    fn text(&self) -> (&str, &str) {
        (&self.title, &self.body)
    }
}

impl Case {
    pub(crate) fn is_for(&self, release: Release) -> bool {
        release == Release::Android17 || !self.only_17
    }

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
        Source::new(self.path(), self.unit().into_bytes())
    }

    pub(crate) fn process(&self, release: Release) -> Processed {
        process_source(&release.settings(), self.source())
    }

    /// The rewritten text, or the case's own if nothing was to be done.
    pub(crate) fn rewritten(&self, release: Release) -> String {
        let processed = self.process(release);
        assert_eq!(errors(&processed), 0, "{}: {}", self.title, shown(&processed));
        processed.rewritten.map_or_else(|| self.unit(), |bytes| String::from_utf8(bytes).unwrap())
    }
}

/// Number of errors; warnings change nothing in what is rewritten.
pub(crate) fn errors(processed: &Processed) -> usize {
    processed.report.as_ref().map_or(0, protologtool::diagnostic::Report::errors)
}

/// The diagnostics as people see them.
pub(crate) fn shown(processed: &Processed) -> String {
    let show = |report: &protologtool::diagnostic::Report| {
        let show = |diagnostic| render(diagnostic, &report.source, Style::default());
        report.diagnostics.iter().map(show).collect()
    };
    processed.report.as_ref().map(show).unwrap_or_default()
}
