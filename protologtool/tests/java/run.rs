//! All cases compiled by javac and run, as they are and rewritten, with the guard on and off.

use crate::case::{Case, case_files, here, process, rewritten};
use crate::trace::{Traces, line, trace, write};
use protolog_testkit::{java_sources, temp_dir};
use std::path::Path;

#[test]
fn rewritten_code_does_the_same() {
    let cases: Vec<Case> = case_files("cases").into_iter().flat_map(|file| file.cases).collect();
    let (before, after) = (temp_dir(), temp_dir());
    let mut dictionary = String::new();
    for case in &cases {
        write(before.path(), &case.path(), case.unit().as_bytes());
        write(after.path(), &case.path(), &rewritten(case.source()).unwrap());
        dictionary.extend(process(case.source()).messages.iter().map(line));
    }
    let Some(expected) = run(before.path(), &cases, &dictionary) else { return };
    let Some(actual) = run(after.path(), &cases, &dictionary) else { return };
    for (state, lines) in &expected {
        let off = state.ends_with(" off");
        // Arguments that are not logged have no effects in rewritten code, which is the point of
        // it.
        let invisible =
            |line: &&String| line.starts_with("unseen ") || off && line.starts_with("arg ");
        let expected: Vec<&String> = lines.iter().filter(|line| !invisible(line)).collect();
        let actual: Vec<&String> = actual[state].iter().collect();
        assert_eq!(expected, actual, "{state}");
        assert!(!(state.ends_with(" on") && actual.is_empty()), "{state} does nothing");
    }
}

/// Compiles the sources under `root` with the recording API, and runs them.
fn run(root: &Path, cases: &[Case], dictionary: &str) -> Option<Traces> {
    let classes = temp_dir();
    let sources = [java_sources(&here().join("runtime")), java_sources(root)].concat();
    let names: Vec<String> = cases.iter().map(Case::class_name).collect();
    trace(&sources, classes.path(), dictionary, &[], &names)
}
