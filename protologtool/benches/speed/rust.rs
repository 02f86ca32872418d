//! Rust: syn's own time on the files that hold calls is what the tool is held against.
//!
//! Calls are put behind lines that can only be the head of a function, in one file of so many;
//! nobody compiles the result.

use crate::measure::measure;
use protologtool::diagnostic::Severity;
use protologtool::groups::Groups;
use protologtool::ids::MessageIds;
use protologtool::lang::Language;
use protologtool::lang::java::Java;
use protologtool::lang::rust::{CrateChoice, Rust, survey};
use protologtool::pipeline::{Processed, Settings, process};
use protologtool::system::{Memory, Real, System};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// One file in so many gets calls, at most [`CALLS`].
const EVERY: usize = 5;
const CALLS: usize = 8;

const CALL: &str = "::protolog_rt::d!(bench_log::BenchLog::Main, \"line %d of %s, %b\", line!(), module_path!(), cfg!(test));\n";
const GROUPS: (&str, &str) =
    ("bench-log/src/lib.rs", "#[derive(protolog_rt::ProtoLogGroup)] pub enum BenchLog { Main }\n");

/// Prints the tables of these packages.
pub(super) fn run(packages: &[PathBuf]) {
    let files: Vec<PathBuf> = packages.iter().flat_map(|package| files_below(package)).collect();
    let sources: Vec<&PathBuf> = files.iter().filter(|path| is_rust(path)).collect();
    let looker = Rust::single("any", Path::new("any.rs"));
    let without: Vec<PathBuf> = sources
        .iter()
        .filter(|path| !looker.may_call(&fs::read(path).expect("it can be read")))
        .map(|path| (*path).clone())
        .collect();
    without_calls(&without);
    with_calls(&files);
}

/// The whole of a run but for its outputs: the survey, then each file.
fn transform(system: &dyn System, paths: &[PathBuf]) -> Vec<Processed> {
    let (rust, found) = survey(system, paths, CrateChoice::default(), 1);
    let groups = Groups::default().with_rust(found.groups).expect("the groups are good");
    let java = Java::new("dev.protolog.ProtoLog", "dev.protolog.ProtoLogImpl");
    let settings = Settings { java, rust: Some(rust), groups, ids: MessageIds::Xxh3 };
    process(system, &settings, paths, 1).into_iter().flatten().collect()
}

/// Files without a call beside reading them.
fn without_calls(paths: &[PathBuf]) {
    let mut bytes = 0;
    for path in paths {
        bytes += fs::read(path).expect("it can be read").len();
    }
    let read = || {
        for path in paths {
            std::hint::black_box(fs::read(path).expect("it can be read"));
        }
    };
    let processed = || drop(std::hint::black_box(transform(&Real, paths)));
    let [floor, ours] = measure([&read, &processed]);
    let megabytes = bytes as f64 / 1e6;
    println!("| {} Rust files without a call, {megabytes:.0} MB, CPU ms | | |", paths.len());
    println!("|---|--:|--:|");
    println!("| `std::fs::read` | {:.0} | |", floor * 1e3);
    println!("| the tool | {:.0} | {:.2} times, at most 1.2 |\n", ours * 1e3, ours / floor);
}

/// Files with calls, which are in memory, beside parsing them by syn.
fn with_calls(files: &[PathBuf]) {
    let system = Memory::default();
    system.add_file("bench-log/Cargo.toml", "[package]\nname = \"bench-log\"\n");
    system.add_file(GROUPS.0, GROUPS.1);
    let (mut changed, mut places) = (Vec::new(), 0);
    for path in files {
        let bytes = fs::read(path).expect("it can be read");
        let text = std::str::from_utf8(&bytes).ok().and_then(with_calls_in);
        places += usize::from(text.is_some());
        match text.filter(|_| is_rust(path) && places % EVERY == 0) {
            Some(text) => {
                system.add_file(path, text);
                changed.push(path.clone());
            }
            None => system.add_file(path, bytes),
        }
    }
    // Files of which nobody knows which module they are have no calls: they would be refused.
    let refused: BTreeSet<PathBuf> = transform(&system, &inputs(&changed))
        .into_iter()
        .filter(|file| {
            let report = file.report.as_ref();
            report.is_some_and(|report| {
                report.diagnostics.iter().any(|problem| problem.severity == Severity::Error)
            })
        })
        .map(|file| file.path)
        .collect();
    changed.retain(|path| !refused.contains(path));
    let paths = inputs(&changed);
    let texts: Vec<String> =
        changed.iter().filter_map(|path| system.text(&path.display().to_string())).collect();
    let parse = || {
        for text in &texts {
            std::hint::black_box(syn::parse_file(text).is_ok());
        }
    };
    let calls: usize = transform(&system, &paths).iter().map(|file| file.messages.len()).sum();
    let processed = || drop(std::hint::black_box(transform(&system, &paths)));
    let [floor, ours] = measure([&parse, &processed]);
    let all = texts.iter().map(String::len).sum::<usize>() as f64 / 1e6;
    println!("| {} Rust files with {calls} calls, {all:.1} MB, CPU ms | | |", changed.len());
    println!("|---|--:|--:|");
    println!("| syn on the files | {:.0} | |", floor * 1e3);
    println!("| the tool | {:.0} | {:.2} times |\n", ours * 1e3, ours / floor);
}

/// The files and the groups that their calls name.
fn inputs(changed: &[PathBuf]) -> Vec<PathBuf> {
    changed.iter().cloned().chain([PathBuf::from(GROUPS.0)]).collect()
}

/// The text with calls behind the heads of functions; none where there is no place.
fn with_calls_in(text: &str) -> Option<String> {
    let (mut out, mut calls) = (String::with_capacity(text.len() + CALLS * CALL.len()), 0);
    for line in text.split_inclusive('\n') {
        out.push_str(line);
        if calls < CALLS && is_head_of_function(line) {
            out.push_str(CALL);
            calls += 1;
        }
    }
    (calls > 0).then_some(out)
}

fn is_head_of_function(line: &str) -> bool {
    let head = line.trim();
    let word = head.strip_prefix("pub ").or_else(|| head.strip_prefix("pub(crate) "));
    let is_open = |head: &str| head.matches('(').count() == head.matches(')').count();
    word.unwrap_or(head).starts_with("fn ") && head.ends_with('{') && is_open(head)
}

fn files_below(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).expect("the directory can be read");
    let mut files = Vec::new();
    for path in entries.map(|entry| entry.expect("an entry").path()) {
        if path.is_dir() {
            files.extend(files_below(&path));
        } else if is_rust(&path) || path.ends_with("Cargo.toml") {
            files.push(path);
        }
    }
    files.sort();
    files
}

fn is_rust(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "rs")
}
