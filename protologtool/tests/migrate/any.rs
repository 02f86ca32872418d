//! Any bytes: no panic, no byte outside of calls and imports changes, what was Rust is Rust
//! afterwards, and a second run changes nothing.

use crate::case::migrate;
use proptest::prelude::*;
use protologtool::cli::Exit;
use protologtool::system::Memory;
use std::fs;
use std::path::{Path, PathBuf};

/// The pieces that files are made of.
const PIECES: [&str; 60] = [
    "use log::*;",
    "use log::{info, Level};",
    "use log;",
    "use log::{self, warn as w};",
    "pub use log::error;",
    "#[macro_use] extern crate log;\n",
    "use super::*;",
    "use tracing::{info, event};",
    "use log::{info, log",
    "info!",
    "w!",
    "log!",
    "log::debug!",
    "::log::",
    "event!",
    "tracing::info!",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    "\"x\"",
    "\"{} {x:?} {0}\"",
    "\"{{a}} %d {:>8}\"",
    "r#\"raw {}\"#",
    "\"{:1$}\"",
    "\"{\"",
    "\"\\\n {}\"",
    "\"two\n {:#?}\"",
    "target: \"net\",",
    "target: t,",
    "parent: p,",
    "a = 1;",
    "a:?, b:% = x;",
    "?x,",
    "%x.y,",
    "a.b = ?f(),",
    "\"a b\" = 1,",
    "message = 1,",
    "Level::Warn,",
    ",",
    ", ",
    ";",
    "x",
    "f()",
    "x as u8",
    "&x as &dyn E",
    "1",
    "n = f()",
    "mod a",
    "fn f()",
    "macro_rules! m { ($x:expr) => { info!(\"{}\", $x) } }",
    "#[instrument]",
    "//",
    "/* c */",
    "\n",
    "\r\n",
    "\u{feff}",
    "enum LogGroup { A }",
];

fn sources() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(&PIECES[..]), 0..40)
        .prop_map(|pieces| pieces.concat())
}

/// Calls that are likely to be whole.
fn calls() -> impl Strategy<Value = String> {
    let inner = prop::collection::vec(prop::sample::select(&PIECES[22..50]), 1..8);
    let call = (prop::sample::select(&["info", "warn", "log::error", "tracing::info"][..]), inner);
    let call = call.prop_map(|(name, pieces)| format!("    {name}!({});\n", pieces.join(" ")));
    let uses = prop::sample::select(&PIECES[..8]);
    (uses, prop::collection::vec(call, 1..6))
        .prop_map(|(uses, calls)| format!("{uses}\nfn f() {{\n{}}}\n", calls.concat()))
}

/// Migrates a crate of one file, twice. The file afterwards.
fn twice(library: &str, text: &str) -> String {
    let system = Memory::with_files([("src/lib.rs", text)]);
    system.add_file("Cargo.toml", "[package]\nname = \"app\"\n");
    let words = ["--from", library, "--apply", "src"];
    let exit = migrate(&system, &words);
    assert!(matches!(exit, Exit::Done | Exit::Problems), "{}", system.errors());
    let once = system.text("src/lib.rs").unwrap();
    let exit = migrate(&system, &words);
    assert!(matches!(exit, Exit::Done | Exit::Problems), "{}", system.errors());
    assert_eq!(system.text("src/lib.rs").unwrap(), once, "a second run changes the file");
    if syn::parse_file(text).is_ok() {
        assert!(syn::parse_file(&once).is_ok(), "{text}\n---\n{once}");
    }
    once
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn any_pieces(text in sources(), library in prop::sample::select(&["log", "tracing"][..])) {
        twice(library, &text);
    }

    #[test]
    fn any_calls(text in calls(), library in prop::sample::select(&["log", "tracing"][..])) {
        let after = twice(library, &text);
        if !after.contains("protolog_rt") {
            prop_assert_eq!(after, text);
        }
    }

    #[test]
    fn any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
        let text = [b"use log::info; fn f() { info!(\"".to_vec(), bytes, b"\"); }".to_vec()].concat();
        let system = Memory::default();
        system.add_file("src/lib.rs", text);
        migrate(&system, &["--from", "log", "--apply", "src"]);
    }
}

/// Real sources, in which nothing but calls and imports of the library may change: those of `h2`,
/// which has many calls; with `PROTOLOG_REAL_RUST=all`, all that the registry has here.
#[test]
fn the_crates_of_the_registry() {
    let registry = Path::new(
        &std::env::var("CARGO_HOME")
            .unwrap_or_else(|_| format!("{}/.cargo", std::env::var("HOME").unwrap())),
    )
    .join("registry/src");
    let mut files = Vec::new();
    collect(&registry, &mut files, 0);
    files.sort();
    let is_all = std::env::var("PROTOLOG_REAL_RUST").is_ok_and(|value| value == "all");
    let files = files.into_iter().filter(|file| {
        let has_many =
            file.components().any(|part| part.as_os_str().to_string_lossy().starts_with("h2-"));
        is_all || has_many
    });
    let mut moved = 0;
    for file in files {
        let Ok(text) = fs::read_to_string(&file) else { continue };
        let name = file.file_name().unwrap().to_string_lossy();
        for library in ["log", "tracing"] {
            let has_calls = ["info!(", "debug!(", "warn!(", "error!(", "trace!("];
            if !has_calls.iter().any(|call| text.contains(call)) {
                continue;
            }
            let after = twice(library, &text);
            moved += usize::from(after != text);
            let kept = |text: &str| -> Vec<String> {
                let words = [
                    "!(",
                    "use ",
                    "macro_use",
                    "extern crate",
                    "protolog_rt",
                    "LogGroup",
                    "::",
                    "{}",
                    "%",
                ];
                let lines =
                    text.lines().filter(|line| !words.iter().any(|word| line.contains(word)));
                lines.filter(|line| !line.trim().is_empty()).map(str::to_owned).collect()
            };
            let (before, after) = (kept(&text), kept(&after));
            let gone = before.iter().filter(|line| !after.contains(line));
            for line in gone {
                assert!(in_call(&text, line), "{name}: `{line}` is gone");
            }
        }
    }
    assert!(moved > 5 || !registry.exists(), "{moved} files");
}

/// Returns whether a line stands in a call of several lines, which may be written anew.
fn in_call(text: &str, line: &str) -> bool {
    text.match_indices(line).any(|(at, _)| {
        let start = (at.saturating_sub(600)..=at).find(|start| text.is_char_boundary(*start));
        let before = &text[start.unwrap_or(at)..at];
        before.contains("!(")
    })
}

fn collect(directory: &Path, files: &mut Vec<PathBuf>, depth: usize) {
    let Ok(entries) = fs::read_dir(directory) else { return };
    for entry in entries.flatten() {
        let path = entry.path();
        if path.is_dir() && depth < 8 {
            collect(&path, files, depth + 1);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            files.push(path);
        }
    }
}
