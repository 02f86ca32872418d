//! All cases compiled by javac and run, as they are and rewritten, with the guard on and off.

use crate::case::{Case, case_files, here, process, rewritten};
use protolog_testkit::{Output, compile_java, java_sources, run_java, temp_dir};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

/// What each run of a case left, by case and state of the guard.
type Traces = BTreeMap<String, Vec<String>>;

#[test]
fn rewritten_code_does_the_same() {
    let cases: Vec<Case> = case_files("cases").into_iter().flat_map(|file| file.cases).collect();
    let (before, after) = (temp_dir(), temp_dir());
    let mut dictionary = String::new();
    for case in &cases {
        write(before.path(), case, case.unit().as_bytes());
        write(after.path(), case, &rewritten(case.source()).unwrap());
        for message in process(case.source()).messages {
            let template = message
                .template
                .replace('\\', "\\\\")
                .replace('\n', "\\n")
                .replace('\r', "\\r")
                .replace('\t', "\\t");
            let _ = writeln!(
                dictionary,
                "{}\t{}\t{}\t{template}",
                message.id as i64, message.level, message.group
            );
        }
    }
    let Some(expected) = trace(before.path(), &cases, &dictionary) else { return };
    let Some(actual) = trace(after.path(), &cases, &dictionary) else { return };
    for (state, lines) in &expected {
        let off = state.ends_with(" off");
        // What is not logged has no effects in rewritten code, which is the point of it.
        let invisible =
            |line: &&String| line.starts_with("unseen ") || off && line.starts_with("arg ");
        let expected: Vec<&String> = lines.iter().filter(|line| !invisible(line)).collect();
        let actual: Vec<&String> = actual[state].iter().collect();
        assert_eq!(expected, actual, "{state}");
        assert!(!(state.ends_with(" on") && actual.is_empty()), "{state} does nothing");
    }
}

fn write(root: &Path, case: &Case, text: &[u8]) {
    let path = root.join(case.path());
    assert!(!path.exists(), "two cases are called `{}`", case.title);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

/// Compiles the sources under `root` with the recording API, and runs them. None without a JDK.
fn trace(root: &Path, cases: &[Case], dictionary: &str) -> Option<Traces> {
    let classes = temp_dir();
    let mut sources = java_sources(&here().join("runtime"));
    sources.extend(java_sources(root));
    succeeded("javac", &compile_java(classes.path(), &sources, &[])?);
    let messages = classes.path().join("messages.tsv");
    std::fs::write(&messages, dictionary).unwrap();
    let names: Vec<String> = cases.iter().map(Case::class_name).collect();
    let mut args = vec![messages.to_str().unwrap()];
    args.extend(names.iter().map(String::as_str));
    let output = run_java(&[classes.path().to_path_buf()], "demo.RunAll", &args)?;
    succeeded("java", &output);
    let mut traces = Traces::new();
    let mut state = String::new();
    for line in output.stdout.lines() {
        match line.strip_prefix("case ") {
            Some(name) => {
                name.clone_into(&mut state);
                traces.insert(state.clone(), Vec::new());
            }
            None => traces.get_mut(&state).unwrap().push(line.to_owned()),
        }
    }
    assert_eq!(traces.len(), 2 * cases.len());
    Some(traces)
}

fn succeeded(what: &str, output: &Output) {
    assert_eq!(output.code, Some(0), "{what}:\n{}\n{}", output.stdout, output.stderr);
}
