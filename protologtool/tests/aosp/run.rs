//! All cases compiled by javac and run, as they are and rewritten, in both states of the guard.

use crate::case::{Case, Release, all_cases, fixtures};
use protolog_testkit::{Output, compile_java, java_sources, run_java, temp_dir};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

/// What each run of a case left, by case and state of the guard.
type Traces = BTreeMap<String, Vec<String>>;

#[test]
fn rewritten_code_does_the_same() {
    let Some(expected) = trace(&all_cases(), None) else { return };
    for release in Release::ALL {
        let cases: Vec<Case> =
            all_cases().into_iter().filter(|case| case.is_for(release)).collect();
        let actual = trace(&cases, Some(release)).expect("there is a JDK");
        for (state, lines) in &actual {
            // A guard that is off leaves no effects of arguments; Android 15 has no guard.
            let guarded = release == Release::Android16 && state.ends_with(" off");
            let visible = |line: &&String| !(guarded && line.starts_with("arg "));
            let expected: Vec<&String> = expected[state].iter().filter(visible).collect();
            let actual: Vec<&String> = lines.iter().collect();
            assert_eq!(expected, actual, "{state}, {}", release.name());
            assert!(!(state.ends_with(" on") && actual.is_empty()), "{state} does nothing");
        }
    }
}

fn write(root: &Path, path: &str, text: &[u8]) {
    let path = root.join(path);
    assert!(!path.exists(), "two files are called `{}`", path.display());
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

/// Compiles the cases, rewritten for a release or as they are, and runs them. None without a JDK.
fn trace(cases: &[Case], release: Option<Release>) -> Option<Traces> {
    let (root, classes) = (temp_dir(), temp_dir());
    let mut dictionary = String::new();
    let mut implementation = "-".to_owned();
    for case in cases {
        let text = release.map_or_else(|| case.unit(), |release| case.rewritten(release));
        write(root.path(), &case.path(), text.as_bytes());
        for message in release.into_iter().flat_map(|release| case.process(release).messages) {
            let template = message
                .template
                .replace('\\', "\\\\")
                .replace('\n', "\\n")
                .replace('\r', "\\r")
                .replace('\t', "\\t");
            let (id, level, group) = (message.id as i64, message.level, &message.group);
            let _ = writeln!(dictionary, "{id}\t{level}\t{group}\t{template}");
        }
    }
    if let Some(release) = release {
        let class = release.implementation();
        write(root.path(), class.path.strip_prefix("gen/").unwrap(), &class.bytes);
        implementation = class.class;
    }
    let mut sources = java_sources(&fixtures().join("framework"));
    sources.extend(java_sources(root.path()));
    succeeded("javac", &compile_java(classes.path(), &sources, &[])?);
    let messages = classes.path().join("messages.tsv");
    std::fs::write(&messages, dictionary).unwrap();
    let names: Vec<String> = cases.iter().map(Case::class_name).collect();
    let mut args = vec![messages.to_str().unwrap(), &implementation];
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
