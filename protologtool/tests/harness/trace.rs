//! Compiling cases by javac, running them with the guard on and off, and what each of these runs
//! leaves.

use protolog_testkit::{Output, compile_java, run_java};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use viewer_config::Message;

/// The calls that each run of a case made, by case and state of the guard.
pub(crate) type Traces = BTreeMap<String, Vec<String>>;

/// Writes a source of a case, which has no other's path.
#[allow(dead_code, reason = "Kotlin's files are in one directory")]
pub(crate) fn write(root: &Path, path: &str, text: &[u8]) {
    let path = root.join(path);
    assert!(!path.exists(), "two files are called `{}`", path.display());
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

/// A message as the recording classes read it.
pub(crate) fn line(message: &Message) -> String {
    let escapes = [('\\', "\\\\"), ('\n', "\\n"), ('\r', "\\r"), ('\t', "\\t")];
    let template = escapes
        .into_iter()
        .fold(message.template.clone(), |text, (char, escape)| text.replace(char, escape));
    format!("{}\t{}\t{}\t{template}\n", message.id as i64, message.level, message.group)
}

/// Compiles `sources` into the directory `classes` and runs the cases of these names, after these
/// arguments and a file with the dictionary. None without a JDK.
#[allow(dead_code, reason = "Kotlin has a compiler of its own")]
pub(crate) fn trace(
    sources: &[PathBuf],
    classes: &Path,
    dictionary: &str,
    arguments: &[&str],
    cases: &[String],
) -> Option<Traces> {
    succeeded("javac", &compile_java(classes, sources, &[])?);
    let messages = classes.join("messages.tsv");
    std::fs::write(&messages, dictionary).unwrap();
    let names = cases.iter().map(String::as_str);
    let all = [messages.to_str().unwrap()].into_iter().chain(arguments.iter().copied());
    let all: Vec<&str> = all.chain(names).collect();
    let output = run_java(&[classes.to_path_buf()], "demo.RunAll", &all)?;
    Some(parse(&output, cases.len()))
}

/// The traces that a run of so many cases printed.
pub(crate) fn parse(output: &Output, cases: usize) -> Traces {
    succeeded("java", output);
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
    assert_eq!(traces.len(), 2 * cases);
    traces
}

pub(crate) fn succeeded(what: &str, output: &Output) {
    assert_eq!(output.code, Some(0), "{what}:\n{}\n{}", output.stdout, output.stderr);
}
