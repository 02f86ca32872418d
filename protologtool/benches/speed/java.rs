//! Java: tree-sitter's own time on the declarations that hold calls is what can't be avoided.

use crate::measure::measure;
use protologtool::ids::MessageIds;
use protologtool::lang::Language;
use protologtool::lang::java::Java;
use protologtool::lang::java::groups::from_java_source;
use protologtool::pipeline::{Settings, process, process_source};
use protologtool::source::Source;
use protologtool::system::Real;
use std::path::{Path, PathBuf};

/// Prints the tables of these sources, with the enum of groups `class` in the source `groups`.
pub(super) fn run(paths: &[PathBuf], class: &str, groups: &Path) {
    let settings = settings(class, groups);
    let (with, without): (Vec<PathBuf>, Vec<PathBuf>) = paths
        .iter()
        .cloned()
        .partition(|path| settings.java.may_call(&std::fs::read(path).expect("it can be read")));
    without_calls(&settings, &without);
    with_calls(&settings, &with);
}

fn settings(class: &str, path: &Path) -> Settings {
    let source = Source::new(path, std::fs::read(path).expect("the groups can be read"));
    let groups = from_java_source(&source, class).expect("the groups are good");
    let java = Java::new("dev.protolog.ProtoLog", "dev.protolog.ProtoLogImpl");
    Settings { java, rust: None, groups, ids: MessageIds::Xxh3 }
}

/// Files without a call beside reading them.
fn without_calls(settings: &Settings, paths: &[PathBuf]) {
    let read = || {
        for path in paths {
            std::hint::black_box(std::fs::read(path).expect("it can be read"));
        }
    };
    let processed = || drop(std::hint::black_box(process(&Real, settings, paths, 1)));
    let [floor, ours] = measure([&read, &processed]);
    println!("| {} Java files without a call, CPU ms | at most | |", paths.len());
    println!("|---|--:|--:|");
    println!("| `std::fs::read` | {:.0} | |", floor * 1e3);
    println!("| the tool | {:.0} | {:.2} times, at most 1.2 |\n", ours * 1e3, ours / floor);
}

/// Files with calls, which are in memory, beside parsing their declarations with calls.
fn with_calls(settings: &Settings, paths: &[PathBuf]) {
    let source = |path: &PathBuf| Source::new(path, std::fs::read(path).expect("it can be read"));
    let sources: Vec<Source> = paths.iter().map(source).collect();
    let texts: Vec<Vec<u8>> =
        sources.iter().flat_map(|source| settings.java.parsed(source)).collect();
    let megabytes = |bytes: usize| bytes as f64 / 1e6;
    let all = megabytes(sources.iter().map(|source| source.bytes().len()).sum());
    let parsed = megabytes(texts.iter().map(Vec::len).sum());
    let mut parser = tree_sitter::Parser::new();
    parser.set_language(&tree_sitter_java::LANGUAGE.into()).expect("the grammar fits");
    let parser = std::cell::RefCell::new(parser);
    let parse = || {
        for text in &texts {
            std::hint::black_box(parser.borrow_mut().parse(text, None));
        }
    };
    let processed = || {
        for source in &sources {
            std::hint::black_box(process_source(settings, source.clone()));
        }
    };
    let [floor, ours] = measure([&parse, &processed]);
    let limit = floor * 1.3 + 5e-3 * all;
    println!(
        "| {} Java files with calls, {all:.1} MB, {parsed:.1} MB of it parsed, CPU ms | | |",
        sources.len()
    );
    println!("|---|--:|--:|");
    println!("| tree-sitter on the declarations | {:.0} | |", floor * 1e3);
    println!(
        "| the tool | {:.0} | {:.2} times, at most {:.0} ms |\n",
        ours * 1e3,
        ours / floor,
        limit * 1e3
    );
}
