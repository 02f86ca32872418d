//! Cases: files with a description and the expected results, in sections that begin with
//! `--- name`.
//!
//! `text` has the lines of the log, `summary` its summary, `error` the error if nothing can be
//! read. A section `trace_processor: reason` has the rows of Perfetto's reader if they differ from
//! ours, and the reason; `trace_processor shows garbage: reason` means that its rows differ from
//! run to run.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use protolog_reader::{Level, Log, Rendering, TextWriter, Times};
use protolog_testkit::Table;

/// A file of `tests/cases`.
pub(crate) struct Case {
    path: PathBuf,
    /// Comments and packets.
    pub(crate) description: String,
    /// The heading of the section on trace_processor, if there is one.
    pub(crate) difference: Option<String>,
    rows: String,
}

/// All cases, sorted by name.
pub(crate) fn cases() -> Vec<Case> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let mut paths: Vec<_> = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    assert!(!paths.is_empty());
    paths.into_iter().map(Case::read).collect()
}

impl Case {
    fn read(path: PathBuf) -> Self {
        let text = fs::read_to_string(&path).unwrap();
        let (description, sections) = text.split_once("\n--- ").unwrap_or((&text, ""));
        let description = format!("{}\n", description.trim_end());
        let section = sections.split("\n--- ").find(|text| text.starts_with("trace_processor"));
        let (heading, rows) =
            section.map_or(("", ""), |text| text.split_once('\n').unwrap_or((text, "")));
        let difference = (!heading.is_empty()).then(|| heading.to_owned());
        Self { difference, rows: rows.trim_end().to_owned(), description, path }
    }

    pub(crate) fn name(&self) -> String {
        self.path.file_stem().unwrap().to_string_lossy().into_owned()
    }

    fn shows_garbage(&self) -> bool {
        let difference = self.difference.as_deref();
        difference.is_some_and(|text| text.starts_with("trace_processor shows garbage: "))
    }

    pub(crate) fn trace(&self) -> Vec<u8> {
        super::trace(&self.description)
    }

    /// Compares the file with the actual results.
    #[track_caller]
    pub(crate) fn expect(&self, sections: &[(&str, String)]) {
        let mut text = self.description.clone();
        for (name, section) in sections.iter().filter(|section| !section.1.is_empty()) {
            writeln!(text, "--- {name}\n{}", section.trim_end()).unwrap();
        }
        if let Some(difference) = &self.difference {
            writeln!(text, "--- {difference}\n{}", self.rows).unwrap();
        }
        protolog_testkit::expect_file(&self.path, format!("{}\n", text.trim_end()).as_str());
    }

    /// Compares the rows of trace_processor with ours, or with the file's if they differ.
    #[track_caller]
    pub(crate) fn expect_rows(&mut self, ours: &str, theirs: &Table) {
        let theirs = theirs.to_string();
        if self.shows_garbage() {
            return;
        }
        if self.difference.is_none() {
            protolog_testkit::assert_eq_text(ours, &theirs);
            return;
        }
        assert_ne!(ours, theirs, "{}: there is no difference", self.name());
        if !protolog_testkit::updating() {
            return protolog_testkit::assert_eq_text(&self.rows, theirs.trim_end());
        }
        let text = fs::read_to_string(&self.path).unwrap();
        let (rest, _) = text.split_once("\n--- trace_processor: ").unwrap();
        let difference = self.difference.as_deref().unwrap();
        let text = format!("{rest}\n--- {difference}\n{}\n", theirs.trim_end());
        protolog_testkit::expect_file(&self.path, &format!("{}\n", text.trim_end()));
    }
}

/// Our rows, in the form of trace_processor's table.
pub(crate) fn rows(log: &Log) -> String {
    let mut rows = String::new();
    for entry in log.entries() {
        let values = entry.values();
        let text = values.text(Rendering::Bare);
        let (message, group) = (values.message(), values.group(log));
        let null =
            |text: Option<&str>| text.filter(|text| !text.is_empty()).unwrap_or("null").to_owned();
        let cells = [
            entry.time().to_string(),
            null(values.level().map(Level::name)),
            null(group.map(|group| group.tag.as_str())),
            text,
            null(message.map(|message| message.location.as_str())),
            null(entry.stack_trace()),
        ];
        writeln!(rows, "{}", cells.join(" | ")).unwrap();
    }
    rows
}

/// The whole log as text, in UTC.
pub(crate) fn text(log: &Log) -> String {
    let mut writer = TextWriter::new(log, Times::utc());
    let mut text = Vec::new();
    for item in log.items() {
        writer.write(&item, &mut text);
    }
    String::from_utf8(text).unwrap()
}
