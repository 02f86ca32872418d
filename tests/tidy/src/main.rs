//! The project's own rules, executed: the step `tidy` of `cargo xtask test`.
//!
//! Each rule is a function from a file, the modules or the package graph to findings; a finding
//! names file, line, and what to do.
//!
//! | rule | where |
//! |---|---|
//! | a file opens with a doc; 500 lines without tests; a function 70; a comment 100 columns | [`length`], [`opening`] |
//! | `unsafe` only in the files that may; an `allow` has its reason; no test is ignored | [`rust`] |
//! | no paths of one machine | [`words`] |
//! | dependencies point one way; the runtime stays small | [`packages`] |
//! | licences, versions and sources of crates from outside; unsafe code among them | [`supply`] |
//! | a module imports from its layer and those below; no circle of files or folders | [`layers`], [`cycles`] |
//! | a package of Java uses those below it | [`java_layers`] |
//! | no static lock that forks do not know | [`locks`] |
//! | one name, one type; none of the standard library's | [`names`] |
//! | a file that is no source and no data of tests is named by another | [`belonging`] |
//! | one class of Java opens files for writing, and one crate of Rust | [`java`], [`rust_files`] |
//! | Java formats numbers by a locale that it names | [`java`] |
//! | exceptions in the lint tables have reasons; each package inherits the table | [`manifests`] |

mod belonging;
mod cycles;
mod java;
mod java_layers;
mod layers;
mod length;
mod locks;
mod manifests;
mod model;
mod names;
mod opening;
mod packages;
mod parsed;
mod rust;
mod rust_files;
mod supply;
mod words;

use std::fmt;
use std::path::Path;
use std::process::ExitCode;
use std::thread;

use serde_json::Value;

use xtask::{Result, workspace};

use self::model::{ItemsOf, Sources, Target};
use self::parsed::Parsed;

/// One breach of a rule.
#[derive(Debug, PartialEq)]
struct Finding {
    /// Line from 1; 0 for the whole file.
    line: usize,
    /// The problem and its remedy, in lower case.
    what: String,
}

/// A text file of the project.
struct File<'a> {
    /// Relative to the workspace, `/` between parts.
    path: &'a str,
    text: &'a str,
    /// For Rust: its code.
    code: &'a Parsed,
}

/// A finding with its file.
#[derive(Debug, PartialEq)]
struct Place {
    file: String,
    finding: Finding,
}

/// The platform that is developed on.
const PLATFORM: &str = "x86_64-unknown-linux-gnu";

/// A rule on single files.
type FileRule = fn(&File) -> Vec<Finding>;
/// A rule on the modules of all crates.
type ModuleRule = fn(&[Target]) -> Vec<Place>;

const FILE_RULES: [FileRule; 8] = [
    opening::check,
    length::check,
    rust::check,
    words::check,
    manifests::check,
    java::check,
    java_layers::check,
    rust_files::check,
];

const MODULE_RULES: [ModuleRule; 4] = [layers::check, cycles::check, locks::check, names::check];

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("error: {problem}");
            ExitCode::FAILURE
        }
    }
}

/// Checks all files and the package graph; an error when anything was found.
fn run() -> Result<()> {
    let (sources, metadata) = (sources()?, workspace::metadata()?);
    let mut found = 0;
    let paths = workspace::files()?;
    let paths: Vec<&str> = paths.iter().filter_map(|path| path.to_str()).collect();
    let unnamed = belonging::check(&paths, &sources);
    for Place { file, finding } in broken(&sources, &metadata).into_iter().chain(unnamed) {
        println!("{file}{finding}");
        found += 1;
    }
    let on_crates = [
        packages::check(&metadata),
        supply::check(
            &metadata,
            &workspace::metadata_of(PLATFORM)?,
            &workspace::metadata_at("fleet/Cargo.toml", PLATFORM)?,
            &sources,
        )?,
    ];
    for finding in on_crates.concat() {
        println!("{finding}");
        found += 1;
    }
    if found > 0 {
        return Err(format!("places where the project's rules are broken: {found}"));
    }
    println!("{} files keep the rules", sources.len());
    Ok(())
}

/// The breaches of all rules but that on the package graph.
fn broken(sources: &Sources, metadata: &Value) -> Vec<Place> {
    let codes = parse_all(sources);
    let items = sources.keys().cloned().zip(codes.iter().map(|code| code.items.clone())).collect();
    let targets = targets(metadata, &items);
    let on_files = FILE_RULES.iter().flat_map(|rule| {
        sources.iter().zip(&codes).flat_map(move |((path, text), code)| {
            let place = |finding| Place { file: path.clone(), finding };
            rule(&File { path, text, code }).into_iter().map(place)
        })
    });
    on_files.chain(MODULE_RULES.iter().flat_map(|rule| rule(&targets))).collect()
}

/// Checks the findings of a rule on modules against lines as they are printed.
#[cfg(test)]
#[track_caller]
fn check_found(found: &[Place], expected: &[&str]) {
    let found: Vec<String> =
        found.iter().map(|place| format!("{}{}", place.file, place.finding)).collect();
    assert_eq!(found, expected);
}

/// The text files of the project. Bytes that are not UTF-8 are test data, and not for people.
fn sources() -> Result<Sources> {
    let mut sources = Sources::new();
    for path in workspace::files()? {
        let bytes = workspace::read_bytes(workspace::root().join(&path))?;
        if let Ok(text) = String::from_utf8(bytes) {
            sources.insert(path.to_string_lossy().into_owned(), text);
        }
    }
    Ok(sources)
}

/// The targets of all packages of the workspace.
fn targets(metadata: &Value, sources: &ItemsOf) -> Vec<Target> {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let (root, members) = (workspace::root(), list(&metadata["workspace_members"]));
    let mut targets = Vec::new();
    for package in list(&metadata["packages"]) {
        if !members.contains(&package["id"]) {
            continue;
        }
        for target in list(&package["targets"]) {
            let path = text(&target["src_path"]);
            let Ok(path) = Path::new(&path).strip_prefix(&root) else { continue };
            let kinds = list(&target["kind"]);
            let is_product =
                kinds.iter().any(|kind| kind == "lib" || kind == "bin" || kind == "proc-macro");
            targets.push(Target::read(
                &text(&package["name"]),
                &path.to_string_lossy(),
                is_product,
                sources,
            ));
        }
    }
    targets
}

/// The code of all files in their order, parsed by as many threads as there are processors.
fn parse_all(sources: &Sources) -> Vec<Parsed> {
    let all: Vec<_> = sources.iter().collect();
    let threads = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        let parts: Vec<_> = (0..threads)
            .map(|first| {
                let part = all.iter().skip(first).step_by(threads);
                scope.spawn(move || part.map(|(path, text)| parsed(path, text)).collect::<Vec<_>>())
            })
            .collect();
        let mut parts: Vec<_> =
            parts.into_iter().map(|part| part.join().expect("no panic").into_iter()).collect();
        (0..all.len()).filter_map(|at| parts[at % threads].next()).collect()
    })
}

/// The code of a Rust file; nothing for others.
fn parsed(path: &str, text: &str) -> Parsed {
    if extension(path) == "rs" { Parsed::of(text) } else { Parsed::default() }
}

/// True for a file that is input or expectation of a test, so not written in the project's style.
fn is_data(path: &str) -> bool {
    const FOLDERS: [&str; 5] = ["testdata", "fixtures", "sample", "cases", "expected"];
    Path::new(path).iter().any(|part| FOLDERS.iter().any(|folder| part == *folder))
}

fn extension(path: &str) -> &str {
    Path::new(path).extension().and_then(|extension| extension.to_str()).unwrap_or_default()
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.line > 0 {
            write!(f, ":{}: {}", self.line, self.what)
        } else {
            write!(f, ": {}", self.what)
        }
    }
}

/// For the tests of the rules: the findings of `rule` in `text`, as they are printed.
#[cfg(test)]
fn found(rule: fn(&File) -> Vec<Finding>, path: &str, text: &str) -> Vec<String> {
    let code = parsed(path, text);
    rule(&File { path, text, code: &code }).iter().map(ToString::to_string).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn harmless_lines_of_a_contributor_are_accepted() {
        // Put together here, since this file would have the mark otherwise.
        let mark = ["TO", "DO"].concat();
        let text = "\
//! A module.

/// Their number.
const COUNT: usize = 3; // MARK(#12): read it from a file.

// How it is found: MARK.
/// Files that were removed, such as one below \"/home/linuxbrew\".
fn gone_files() -> usize {
    COUNT
}
"
        .replace("MARK", &mark);
        assert_eq!(text.matches(&mark).count(), 2);
        for rule in FILE_RULES {
            assert_eq!(found(rule, "a/src/b.rs", &text), [""; 0]);
        }
    }
}
