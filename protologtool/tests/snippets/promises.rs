//! The sentences of pages and help texts that promise an exit code, or something about losses, with
//! what holds them: `promises.txt`.
//!
//! Which sentences these are is a plain rule, so that a new one without an entry fails: each code
//! in a list of exit codes, and each `exit code`, `lost`, `dropped` and `counted`.

use crate::stage::Stage;
use protolog_testkit::{run, run_any, workspace_root};
use regex::Regex;
use std::collections::BTreeMap;
use std::fs;
use std::ops::Range;

const PROMISES: &str = include_str!("promises.txt");

/// Pages, and the help texts of commands.
struct Place {
    name: &'static str,
    promises: Vec<Promise>,
}

struct Promise {
    text: &'static str,
    commands: Vec<&'static str>,
    /// The file of a test, and its function.
    tests: Vec<&'static str>,
}

fn places() -> Vec<Place> {
    let mut places: Vec<Place> = Vec::new();
    for line in PROMISES.lines().skip_while(|line| !line.starts_with("# ")) {
        let last = places.last_mut();
        if let Some(name) = line.strip_prefix("# ") {
            places.push(Place { name, promises: Vec::new() });
        } else if let Some(below) = line.strip_prefix("    ") {
            let promise = last.and_then(|place| place.promises.last_mut()).expect("a promise");
            match below.split_once(' ').expect("a word and what is meant") {
                ("$", command) => promise.commands.push(command),
                ("test", test) => promise.tests.push(test),
                (other, _) => panic!("`{other}` is neither `$` nor `test`"),
            }
        } else if !line.is_empty() {
            let promise = Promise { text: line, commands: Vec::new(), tests: Vec::new() };
            last.expect("a place").promises.push(promise);
        }
    }
    places
}

/// All pages and help texts, by the names that they have in the list, as one line each.
fn texts() -> BTreeMap<String, String> {
    let mut texts = BTreeMap::new();
    for command in crate::help::commands() {
        let name = format!("protologtool {command} --help").replace("  ", " ");
        texts.insert(name, one_line(crate::help::help(&command).lines()));
    }
    for page in crate::pages() {
        let text = fs::read_to_string(workspace_root().join(&page)).expect("read the page");
        let mut is_fenced = false;
        let prose = text.lines().filter(|line| {
            let is_fence = line.starts_with("```");
            is_fenced ^= is_fence;
            !is_fenced && !is_fence && !line.starts_with("    ")
        });
        texts.insert(page, one_line(prose));
    }
    texts
}

fn one_line<'a>(lines: impl Iterator<Item = &'a str>) -> String {
    lines.flat_map(str::split_whitespace).collect::<Vec<_>>().join(" ")
}

/// The bytes of a text that promise something.
fn promising(text: &str) -> Vec<Range<usize>> {
    let words =
        Regex::new(r"\b(exit code (is )?\d|exits with|lost|dropped|counted)\b").expect("right");
    let code = Regex::new(r"\b\d [a-z]").expect("right");
    let list = text.find("Exit codes: ").map_or(text.len(), |at| at + "Exit codes: ".len());
    let end = text[list..].find(". ").map_or(text.len(), |end| list + end);
    let codes = code.find_iter(&text[list..end]).map(|it| list + it.start()..list + it.end());
    words.find_iter(text).map(|it| it.range()).chain(codes).collect()
}

#[test]
fn each_promise_stands_and_has_what_holds_it() {
    let (places, texts) = (places(), texts());
    let mut faults = Vec::new();
    for (name, text) in &texts {
        let listed = places.iter().find(|place| place.name == name);
        let promises = || listed.iter().flat_map(|place| &place.promises);
        for found in promising(text) {
            let is_listed = promises().any(|promise| {
                let mut places = text.match_indices(promise.text);
                places.any(|(at, it)| at <= found.start && found.end <= at + it.len())
            });
            if !is_listed {
                let around = text[..found.end].char_indices().rev().nth(60).map_or(0, |(at, _)| at);
                faults.push(format!("{name}: no entry for `{}`", &text[around..found.end]));
            }
        }
        let gone = promises().filter(|promise| !text.contains(promise.text));
        faults.extend(gone.map(|promise| format!("{name} does not say `{}`", promise.text)));
    }
    for place in &places {
        if !texts.contains_key(place.name) {
            faults.push(format!("there is no `{}`", place.name));
        }
        for promise in &place.promises {
            if promise.commands.is_empty() && promise.tests.is_empty() {
                faults.push(format!("nothing holds `{}`", promise.text));
            }
            faults.extend(promise.tests.iter().filter_map(|test| missing(test)));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// An error if there is no such test.
fn missing(test: &str) -> Option<String> {
    let (file, function) = test.split_once(' ').expect("a file and a function");
    let text = fs::read_to_string(workspace_root().join(file)).unwrap_or_default();
    let is_there = ["fn", "void"].iter().any(|it| text.contains(&format!("{it} {function}()")));
    (!is_there).then(|| format!("there is no test `{function}` in `{file}`"))
}

#[test]
fn commands_end_with_the_codes_that_are_promised() {
    let mut stage = Stage::new(false);
    let prepare = r"
        mkdir bad
        echo text > text.jar
        echo 'class Bad { void f(String s) { dev.protolog.ProtoLog.d(com.foo.AppLog.NET, s); } }' > bad/Bad.java
        head -c -40 app.pftrace > cut.pftrace
        ./indexer longer.pftrace";
    run(&mut stage.command(prepare));
    stage.start("server", "server-now.pftrace");
    // The process `4711`.
    stage.start("app", "record");
    stage.kill();
    let groups = "--loggroups-class com.foo.AppLog --loggroups-source src/com/foo/AppLog.java";
    let mut faults = Vec::new();
    for promise in places().iter().flat_map(|place| &place.promises) {
        let code = promise.text.chars().find_map(|it| it.to_digit(10)).map(u32::cast_signed);
        for command in &promise.commands {
            let line = command.replace("$GROUPS", groups);
            let output = run_any(&mut stage.command(&line));
            if output.code != code {
                faults.push(format!("`{command}` ended with {:?}\n{}", output.code, output.stderr));
            }
            // Another error would end with the same code.
            if output.stderr.contains("unknown flag") != command.contains("--no-such-flag") {
                faults.push(format!("`{command}` has an unknown flag\n{}", output.stderr));
            }
            let entries = fs::read_dir(stage.path()).expect("list the directory");
            let mut names = entries.map(|entry| entry.expect("an entry").file_name());
            if names.any(|name| name.to_string_lossy().starts_with("new")) {
                faults.push(format!("`{command}` wrote something"));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
