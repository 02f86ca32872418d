//! Whatever the compiler and the linker do, each call that can be reached has its entry, once, in
//! the file and in a trace.
//!
//! Three ways of building stand for all here; with the environment variable `PROTOLOG_MATRIX` set,
//! all are tried.

use super::fixture::{Built, PLAIN, Way};
use super::{text, tool};
use protolog_testkit::{run, skip, temp_dir};
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;
use viewer_config::Dictionary;

/// Templates in the program itself.
const APP: [&str; 6] = [
    "app, printed: %04d and %s",
    "app: %d",
    "generic: %s",
    "plain, in a closure: %d %d",
    "plain, inlined twice: %d",
    "plain: %d",
];

/// Returns whether the system has a linker, or else a line that says that it is not tried.
fn has(linker: &str) -> bool {
    let found = Command::new(format!("ld.{linker}")).arg("--version").output();
    let found = found.is_ok_and(|output| output.status.success());
    if !found {
        skip(&format!("programs linked by {linker}"), &format!("`ld.{linker}` is missing"));
    }
    found
}

fn ways() -> Vec<Way> {
    if std::env::var_os("PROTOLOG_MATRIX").is_none() {
        let own = vec![PLAIN, Way { shared: true, ..PLAIN }];
        let bfd = Way { optimised: 3, lto: "fat", linker: Some("bfd"), shared: false };
        return own.into_iter().chain(has("bfd").then_some(bfd)).collect();
    }
    let system = ["bfd", "lld"].into_iter().filter(|linker| has(linker)).map(Some);
    let mut ways = Vec::new();
    for linker in [None].into_iter().chain(system) {
        // Shared libraries of the compiler's own can't be optimised when linking.
        let kinds = [("off", false), ("thin", false), ("fat", false), ("off", true)];
        for (lto, shared) in kinds {
            ways.extend([0, 3].map(|optimised| Way { optimised, lto, linker, shared }));
        }
    }
    ways
}

#[test]
fn every_call_has_its_entry_once() {
    let ways = ways();
    for way in &ways {
        let built = way.build();
        by_the_linker(&built, *way);
        in_the_files(&built, *way);
        in_a_trace(&built, *way);
    }
    println!("{} ways of building lose nothing and double nothing", ways.len());
}

/// A linker that was asked for is the one that linked: only lld leaves its name, after that of a
/// distribution perhaps.
fn by_the_linker(built: &Built, way: Way) {
    let Some(linker) = way.linker else { return };
    for file in [&built.app, &built.plugin] {
        let bytes = std::fs::read(file).expect("read the program");
        let named = bytes.windows(40).find_map(|at| at.strip_prefix(b"Linker: "));
        let lld = named.is_some_and(|name| name.windows(3).any(|at| at == b"LLD"));
        assert_eq!(lld, linker == "lld", "{way:?}");
    }
}

fn in_the_files(built: &Built, way: Way) {
    let mut expected = APP.to_vec();
    match &built.shared {
        // A program that links a library in gets its calls; it keeps none of the runtime's.
        Some(shared) => assert_eq!(of_file(shared), ["linked: %d"], "{way:?}"),
        None => expected.sort_unstable(),
    }
    assert_eq!(of_file(&built.app), expected, "{way:?}");
    assert_eq!(of_file(&built.plugin), ["plugin: %d"], "{way:?}");
}

/// The templates of a program, each with the number of notes that it has beyond the first.
fn of_file(program: &Path) -> Vec<String> {
    let bytes = std::fs::read(program).expect("read the program");
    let mut collector = viewer_config::Collector::new();
    let notes = protologtool::binary::read(&bytes, &mut collector).expect("a program with notes");
    let dictionary = collector.finish().expect("no contradictions").dictionary;
    let named = dictionary.messages().iter().filter(|message| !message.names.is_empty());
    let is_named =
        |message: &viewer_config::Message| message.template == "app, printed: %04d and %s";
    assert!(named.clone().all(|message| message.names == "number," && is_named(message)));
    assert_eq!(named.count(), dictionary.messages().iter().filter(|it| is_named(it)).count());
    let templates = templates(&dictionary);
    assert_eq!(templates.len(), notes, "no entry is doubled");
    templates
}

fn in_a_trace(built: &Built, way: Way) {
    let directory = temp_dir();
    let (trace, json) = (directory.path().join("t"), directory.path().join("all.json"));
    let output = run(&mut built.run(&built.app, &trace));
    let printed: Vec<_> = output.stderr.lines().filter_map(|line| line.split_once(": ")).collect();
    assert_eq!(
        printed.iter().map(|line| line.1).collect::<Vec<_>>(),
        ["app, printed: 0007 and text"]
    );

    let log = protolog_reader::Trace::open(&trace).map(|trace| trace.read().expect("a trace"));
    let log = log.expect("read the trace");
    assert_eq!(log.summary().to_string(), "", "{way:?}");
    let shared = usize::from(built.shared.is_some());
    // Those of the plugin, too, whose runtime joins that of the program.
    assert_eq!(log.entries().count(), 10 + shared, "{way:?}");
    assert_eq!(log.dictionary().len(), APP.len() + 1 + shared, "the plugin's too, {way:?}");

    let mut words =
        vec!["generate-viewer-config", "--from-binary", text(&built.app), text(&built.plugin)];
    words.extend(built.shared.iter().map(|path| text(path)));
    run(&mut tool(&[&words[..], &["--viewer-config", text(&json)]].concat()));
    let all = Dictionary::read(&std::fs::read(&json).unwrap()).unwrap().dictionary;
    let ids: BTreeSet<u64> = all.messages().iter().map(|message| message.id).collect();
    assert_eq!(ids.len(), log.dictionary().len(), "{way:?}");
    assert!(ids.iter().all(|id| log.dictionary().message(*id).is_some()), "{way:?}");
}

fn templates(dictionary: &Dictionary) -> Vec<String> {
    let mut templates: Vec<_> =
        dictionary.messages().iter().map(|message| message.template.clone()).collect();
    templates.sort();
    templates
}
