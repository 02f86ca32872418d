//! All cases compiled by kotlinc and run, as they are and rewritten, with the guard on and off.

use crate::case::{Case, all_cases, process, rewritten, root};
use crate::compiler::{compile, compile_runtime, run};
use crate::trace::{Traces, line, parse, succeeded};
use protolog_testkit::temp_dir;

#[test]
fn rewritten_code_leaves_the_same_texts() {
    let cases = all_cases();
    let dictionary: String =
        cases.iter().flat_map(|case| process(case.source()).messages).map(|it| line(&it)).collect();
    let (before, after) = std::thread::scope(|scope| {
        let before = scope.spawn(|| traces(&cases, &dictionary, |case| case.unit().into_bytes()));
        let after = traces(&cases, &dictionary, |case| rewritten(case.source()).unwrap());
        (before.join().unwrap(), after)
    });
    let (Some(before), Some(after)) = (before, after) else { return };
    for (state, lines) in &before {
        let off = state.ends_with(" off");
        // Arguments that are not logged have no effects in rewritten code, which is the point of
        // it.
        let invisible =
            |line: &&String| line.starts_with("unseen ") || off && line.starts_with("arg ");
        let expected: Vec<&String> = lines.iter().filter(|line| !invisible(line)).collect();
        let actual: Vec<&String> = after[state].iter().collect();
        assert_eq!(expected, actual, "{state}");
        assert!(!(state.ends_with(" on") && actual.is_empty()), "{state} does nothing");
    }
}

/// Compiles the text that `text` makes of each case, and runs them.
fn traces(cases: &[Case], dictionary: &str, text: impl Fn(&Case) -> Vec<u8>) -> Option<Traces> {
    let (sources, classes) = (temp_dir(), temp_dir());
    compile_runtime(&root().join("tests/java/runtime"), classes.path())?;
    let write = |case: &Case| {
        let path = sources.path().join(case.path());
        assert!(!path.exists(), "two cases are called `{}`", case.title);
        std::fs::write(&path, text(case)).unwrap();
        path
    };
    let paths: Vec<_> = cases.iter().map(write).collect();
    succeeded("kotlinc", &compile(&paths, classes.path())?);
    let messages = classes.path().join("messages.tsv");
    std::fs::write(&messages, dictionary).unwrap();
    let names: Vec<String> = cases.iter().map(Case::class_name).collect();
    let args: Vec<&str> =
        [messages.to_str().unwrap()].into_iter().chain(names.iter().map(String::as_str)).collect();
    let output = run(classes.path(), &["-Dtrace.text=true"], "demo.RunAll", &args)?;
    Some(parse(&output, cases.len()))
}
