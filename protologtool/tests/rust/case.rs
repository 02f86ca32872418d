//! Cases, and the crate that is made of them. A title is `name [kind]`; kind: none (a function's
//! body), `file` (a module with `pub fn run()`).
//!
//! The cases of all files are the modules of one crate, so that all of them are compiled and run at
//! once.

use crate::cases::{self, CaseFile, FromText};
use protologtool::cli::{self, Exit};
use protologtool::system::{Memory, System};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fmt::Write;
use std::path::PathBuf;

/// One case.
pub(crate) struct Case {
    pub(crate) title: String,
    /// The module's name.
    pub(crate) module: String,
    is_file: bool,
    /// The source as the case file has it.
    pub(crate) body: String,
}

const PRELUDE: &str = "\
use crate::effects::*;
use crate::{AppLog, block_on};
use protolog_rt::{Level, d, e, i, protolog, span, v, w, wtf};
pub fn run() {
";

pub(crate) fn here() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/rust")
}

/// The case files of a directory under `tests/rust`, sorted.
pub(crate) fn case_files(directory: &str) -> Vec<CaseFile<Case>> {
    cases::case_files(&here().join(directory))
}

impl FromText for Case {
    fn from_text(title: &str, body: &str) -> Self {
        let name = title.split('[').next().unwrap().trim();
        let module = name.replace(|char: char| !char.is_ascii_alphanumeric(), "_").to_lowercase();
        let is_file = title.ends_with("[file]");
        Self { title: title.to_owned(), module, is_file, body: body.to_owned() }
    }

    fn text(&self) -> (&str, &str) {
        (&self.title, &self.body)
    }
}

impl Case {
    /// Where the module's file is.
    pub(crate) fn path(&self) -> String {
        format!("src/{}.rs", self.module)
    }

    /// The text before and after the case's own text in its file.
    pub(crate) fn frame(&self) -> (&'static str, &'static str) {
        if self.is_file { ("", "\n") } else { (PRELUDE, "\n}\n") }
    }

    pub(crate) fn source(&self) -> String {
        let (before, after) = self.frame();
        format!("{before}{}{after}", self.body)
    }
}

/// The crate that has these cases as its modules.
pub(crate) fn crate_of<'c>(cases: impl Iterator<Item = &'c Case> + Clone) -> Memory {
    let system = Memory::default();
    let fixture = |name: &str| std::fs::read_to_string(here().join("fixture").join(name)).unwrap();
    let (mut modules, mut calls) = (String::new(), String::new());
    for case in cases {
        system.add_file(case.path(), case.source());
        let _ = write!(modules, "mod {}; ", case.module);
        let _ = write!(calls, "{}::run(); ", case.module);
    }
    let root = fixture("main.rs").replace("/* modules */", &modules).replace("/* calls */", &calls);
    system.add_file("src/main.rs", root);
    system.add_file("src/effects.rs", fixture("effects.rs"));
    system.add_file("Cargo.toml", fixture("Cargo.toml"));
    system
}

/// Runs the command; what it printed to standard error.
pub(crate) fn tool(system: &Memory, arguments: &[&str]) -> (Exit, String) {
    let before = system.errors().len();
    let exit = tool_on(system, arguments);
    (exit, system.errors()[before..].to_owned())
}

/// Runs the command on real files.
pub(crate) fn tool_on(system: &dyn System, arguments: &[&str]) -> Exit {
    cli::run(["protologtool"].iter().chain(arguments).map(OsString::from), system)
}

/// Takes the sources through the tool, into `out`, with the dictionary; what it said.
pub(crate) fn transform(system: &Memory) -> (Exit, String) {
    let directories = source_directories(system);
    let inputs: Vec<&str> = directories.iter().map(String::as_str).collect();
    let flags = ["transform-protolog-calls", "--output-dir", "out", "--viewer-config", "app.pb"];
    tool(system, &[&flags[..], &inputs].concat())
}

/// The directories that hold the crate's sources, and those of crates beside it.
pub(crate) fn source_directories(system: &Memory) -> BTreeSet<String> {
    let files = system.files();
    let sources = files.keys().filter(|path| path.extension().is_some_and(|ending| ending == "rs"));
    let first = sources.filter_map(|path| path.iter().next()?.to_str());
    first.filter(|name| *name != "out").map(str::to_owned).collect()
}
