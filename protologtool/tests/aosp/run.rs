//! All cases compiled by javac and run, as they are and rewritten, in both states of the guard.

use crate::case::{Case, Release, all_cases, fixtures};
use crate::trace::{Traces, line, trace, write};
use protolog_testkit::{java_sources, temp_dir};

#[test]
fn rewritten_code_does_the_same() {
    let Some(expected) = run(&all_cases(), None) else { return };
    for release in Release::ALL {
        let cases: Vec<Case> =
            all_cases().into_iter().filter(|case| case.is_for(release)).collect();
        let actual = run(&cases, Some(release)).expect("there is a JDK");
        for (state, lines) in &actual {
            // A guard that is off leaves no effects of arguments; Android 15 has no guard.
            let guarded = release != Release::Android15 && state.ends_with(" off");
            let visible = |line: &&String| !(guarded && line.starts_with("arg "));
            let expected: Vec<&String> = expected[state].iter().filter(visible).collect();
            let actual: Vec<&String> = lines.iter().collect();
            assert_eq!(expected, actual, "{state}, {}", release.name());
            assert!(!(state.ends_with(" on") && actual.is_empty()), "{state} does nothing");
        }
    }
}

/// Compiles the cases, rewritten for a release or as they are, and runs them. None without a JDK.
fn run(cases: &[Case], release: Option<Release>) -> Option<Traces> {
    let (root, classes) = (temp_dir(), temp_dir());
    let mut dictionary = String::new();
    let mut implementation = "-".to_owned();
    for case in cases {
        let text = release.map_or_else(|| case.unit(), |release| case.rewritten(release));
        write(root.path(), &case.path(), text.as_bytes());
        let messages = release.into_iter().flat_map(|release| case.process(release).messages);
        dictionary.extend(messages.map(|message| line(&message)));
    }
    if let Some(release) = release {
        let class = release.implementation();
        write(root.path(), class.path.strip_prefix("gen/").unwrap(), &class.bytes);
        implementation = class.class;
    }
    let framework = java_sources(&fixtures().join("framework"));
    let sources = [framework, java_sources(root.path())].concat();
    let names: Vec<String> = cases.iter().map(Case::class_name).collect();
    trace(&sources, classes.path(), &dictionary, &[&implementation], &names)
}
