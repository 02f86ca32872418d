//! Cases, and the crate that is made of those of a file. A title is `name [kind]`; kind: none (a
//! function's body), `file` (a module with `pub fn run()`), `java` (a class with
//! `public static void run()`, named like the case).

use crate::cases::{self, CaseFile, FromText};
use protologtool::cli::{self, Exit};
use protologtool::system::{Memory, System};
use std::ffi::OsString;
use std::fmt::Write;
use std::path::PathBuf;

/// One case.
pub(crate) struct Case {
    pub(crate) title: String,
    /// The module's name.
    pub(crate) module: String,
    is_file: bool,
    is_java: bool,
    body: String,
}

pub(crate) fn here() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/migrate")
}

/// The case files, each of a library.
pub(crate) fn case_files() -> Vec<CaseFile<Case>> {
    cases::case_files(&here().join("cases"))
}

/// The library of a file of cases.
pub(crate) fn library(file: &CaseFile<Case>) -> String {
    file.path.file_stem().unwrap().to_str().unwrap().to_owned()
}

impl FromText for Case {
    fn from_text(title: &str, body: &str) -> Self {
        let name = title.split('[').next().unwrap().trim();
        let module = name.replace(|char: char| !char.is_ascii_alphanumeric(), "_").to_lowercase();
        let is_java = title.ends_with("[java]");
        let is_file = is_java || title.ends_with("[file]");
        Self { title: title.to_owned(), module, is_file, is_java, body: body.to_owned() }
    }

    fn text(&self) -> (&str, &str) {
        (&self.title, &self.body)
    }
}

impl Case {
    /// Where the module's file is.
    pub(crate) fn path(&self) -> String {
        if self.is_java {
            return format!("src/demo/{}.java", self.class());
        }
        format!("src/{}.rs", self.module)
    }

    fn class(&self) -> String {
        let words = self.module.split('_');
        words.map(|word| word.get(..1).unwrap_or("").to_uppercase() + &word[1..]).collect()
    }

    /// The text before and after the case's own text in its file.
    pub(crate) fn frame(&self) -> (&'static str, &'static str) {
        let prelude = "use crate::effects::*;\npub fn run() {\n";
        if self.is_file { ("", "\n") } else { (prelude, "\n}\n") }
    }

    fn source(&self) -> String {
        let (before, after) = self.frame();
        format!("{before}{}{after}", self.body)
    }
}

/// The crate that has the cases of a file as its modules.
pub(crate) fn crate_of(file: &CaseFile<Case>) -> Memory {
    let system = Memory::default();
    let fixture = |name: &str| {
        let path = here().join("fixture").join(name);
        std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    };
    let (mut modules, mut calls) = (String::new(), String::new());
    if library(file) == "slf4j" {
        for case in &file.cases {
            system.add_file(case.path(), case.source());
            let _ = write!(calls, "{}.run(); ", case.class());
        }
        let main = fixture("slf4j/Main.java").replace("/* calls */", &calls);
        system.add_file("src/demo/Main.java", main);
        return system;
    }
    for case in &file.cases {
        system.add_file(case.path(), case.source());
        let _ = write!(modules, "mod {}; ", case.module);
        let _ = write!(calls, "{}::run(); ", case.module);
    }
    let own = |name: &str| fixture(&format!("{}/{name}", library(file)));
    let root = own("main.rs").replace("/* modules */", &modules).replace("/* calls */", &calls);
    system.add_file("src/main.rs", root);
    system.add_file("src/effects.rs", fixture("effects.rs"));
    system.add_file("Cargo.toml", own("Cargo.toml"));
    system
}

/// Runs the command; what it printed to standard error.
pub(crate) fn migrate(system: &dyn System, words: &[&str]) -> Exit {
    cli::run(["protologtool", "migrate"].iter().chain(words).map(OsString::from), system)
}
