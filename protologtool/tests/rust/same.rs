//! The same program, with proc macros and from rewritten sources: it logs the same, and panics name
//! the same lines.

use crate::case::{case_files, crate_of};
use crate::program::{Built, fixture, notes, without_head};
use protolog_testkit::{assert_eq_text, run, run_any};
use protologtool::system::Memory;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;

/// The crate of all cases, without its feature and with it.
fn cases() -> &'static [Built] {
    static BUILT: OnceLock<[Built; 2]> = OnceLock::new();
    BUILT.get_or_init(|| {
        let files = case_files("cases");
        let system = crate_of(files.iter().flat_map(|file| &file.cases));
        [Built::new("rust-cases", &system), Built::with("rust-cases-extra", &system, "extra")]
    })
}

#[test]
fn both_log_the_same() {
    for (built, format) in cases().iter().flat_map(|built| [(built, "text"), (built, "json")]) {
        let written = built.log(&built.written, format);
        assert!(written.len() > 80, "{written:#?}");
        assert_eq_text(&written.join("\n"), &built.log(&built.rewritten, format).join("\n"));
    }
}

#[test]
fn both_print_the_same() {
    for built in cases() {
        let lines = |program: &Path| -> Vec<String> {
            let output = built.run(program, &["text"]);
            assert_eq!(output.code, Some(0), "{}", output.stderr);
            output.stderr.lines().map(without_head).collect()
        };
        let printed = lines(&built.written);
        assert!(printed.len() > 80);
        assert_eq_text(&printed.join("\n"), &lines(&built.rewritten).join("\n"));
    }
}

#[test]
fn names_of_arguments_are_kept_by_both() {
    for built in cases() {
        for program in [&built.written, &built.rewritten] {
            let lines = built.log(program, "json").join("\n");
            assert!(
                lines.contains(r#""host":"näme"}"#) && lines.contains(r#""größe":"#),
                "{lines}"
            );
        }
        assert!(notes(&built.written).iter().any(|note| note.names == "bytes,host"));
    }
}

#[test]
fn the_notes_are_part_of_the_dictionary() {
    let [plain, extra] = cases() else { panic!("two builds") };
    let never = |built: &'static Built| {
        assert!(notes(&built.written).len() > 80);
        built.compare_dictionaries()
    };
    let (plain, extra) = (never(plain), never(extra));
    assert!(plain.contains(&"first %d") && extra.contains(&"plain %d"), "{plain:?} {extra:?}");
    // Text that neither holds is compiled nowhere.
    let nowhere: Vec<_> = plain.into_iter().filter(|text| extra.contains(text)).collect();
    assert_eq!(nowhere, ["never compiled %d"]);
}

#[test]
fn no_proc_macro_is_needed() {
    let manifest = cases()[0].rewritten.with_file_name("Cargo.toml");
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["tree", "--offline", "--edges", "normal,build", "--prefix", "none"]);
    cargo.args(["--format", "{p}", "--features", "rewritten", "--manifest-path"]).arg(manifest);
    let tree = run(&mut cargo).stdout;
    assert!(tree.contains("protolog-rt") && !tree.contains("proc-macro"), "{tree}");
}

/// Files and what they hold: modules wherever the compiler finds them.
const MODULES: [(&str, &str); 12] = [
    ("src/a.rs", "LOG pub mod b; #[path = \"odd/c.rs\"] pub mod c; pub mod i { pub mod j; }"),
    ("src/a/b.rs", "LOG"),
    ("src/odd/c.rs", "LOG pub mod below;"),
    ("src/odd/below.rs", "LOG"),
    ("src/a/i/j.rs", "LOG"),
    ("src/d/e.rs", "LOG"),
    (
        "src/f/mod.rs",
        "LOG #[path = \"x.rs\"] pub mod g; pub mod h { #[path = \"y.rs\"] pub mod k; }",
    ),
    ("src/f/x.rs", "LOG"),
    ("src/f/h/y.rs", "LOG"),
    ("src/async.rs", "LOG"),
    ("src/in_function.rs", "LOG"),
    ("src/wrapped.rs", "LOG"),
];

#[test]
fn modules_are_those_of_the_compiler() {
    let system = Memory::default();
    let modules = "
        mod a; mod d { pub mod e; } mod f; mod r#async;
        macro_rules! wrap { ($($item:item)*) => { $($item)* } }
        wrap! { mod wrapped; mod inside { LOG } }";
    let calls = "
        #[path = \"in_function.rs\"] mod in_function;
        mod within { LOG pub mod r#fn { LOG } }
        a::run(); a::b::run(); a::c::run(); a::c::below::run(); a::i::j::run(); d::e::run();
        f::run(); f::g::run(); f::h::k::run(); r#async::run(); in_function::run();
        within::run(); within::r#fn::run(); wrapped::run(); inside::run();";
    let root = fixture("main.rs");
    let root = root.replace("/* modules */", modules).replace("/* calls */", calls);
    let log = "pub fn run() { protolog_rt::i!(crate::AppLog::Net, \"here\"); }";
    // Bytes that the lexer does not know stand before the first token of the root, and of some
    // modules.
    let root = format!("\u{feff}#!/usr/bin/env -S cargo run\n{root}");
    for (path, text) in [("src/main.rs", &root[..])].iter().chain(&MODULES) {
        system.add_file(*path, text.replace("LOG", log));
    }
    system.add_file("src/a/b.rs", format!("\u{feff}// gr\u{fc}n\r\n{log}\r\n"));
    system.add_file("src/f/x.rs", format!("#! /bin/sh\n\n{log}"));
    system.add_file("src/effects.rs", fixture("effects.rs"));
    system.add_file("Cargo.toml", fixture("Cargo.toml").replace("\"cases\"", "\"modules\""));
    let built = Built::new("rust-modules", &system);
    assert_eq!(built.compare_dictionaries(), [""; 0]);
    let places: Vec<String> = notes(&built.written).into_iter().map(|note| note.place).collect();
    let places: BTreeSet<&str> = places.iter().map(String::as_str).collect();
    assert_eq!(places.len(), 15, "{places:?}");
    for place in ["modules::r#async", "modules::within::r#fn", "modules::f::h::k"] {
        assert!(places.contains(place), "{places:?}");
    }
}

/// Panics at the lines of each of these, one per run.
const PANICS: &str = r#"//! Panics in and around log calls.
use protolog_rt::d;

pub fn run() {
    let Ok(which) = std::env::var("PANIC") else { return };
    match which.as_str() {
        "argument" => d!(crate::AppLog::Net, "an index %d %s \
            on several lines", [1, 2, 3][which.len()],
            which),
        "later" => d!(crate::AppLog::Disk,
            "%s",
            which.strip_prefix("x").unwrap()
        ),
        _ => {
            d!(crate::AppLog::Net, "before");
            panic!("after a call")
        }
    }
}
"#;

#[test]
fn panics_and_backtraces_name_the_original_lines() {
    let system = Memory::default();
    let root = fixture("main.rs");
    let root =
        root.replace("/* modules */", "mod panics;").replace("/* calls */", "panics::run();");
    system.add_file("src/main.rs", root);
    system.add_file("src/effects.rs", fixture("effects.rs"));
    system.add_file("src/panics.rs", PANICS);
    system.add_file("Cargo.toml", fixture("Cargo.toml").replace("\"cases\"", "\"panics\""));
    let built = Built::new("rust-panics", &system);
    for (which, line) in [("argument", 8), ("later", 12), ("after", 16)] {
        let lines = |program: &Path| {
            let mut command = Command::new(program);
            command.arg("unused").arg("text").env("PANIC", which).env("RUST_BACKTRACE", "1");
            let output = run_any(&mut command);
            assert_eq!(output.code, Some(101), "{}", output.stderr);
            own_lines(&output.stderr)
        };
        let written = lines(&built.written);
        assert_eq!(written, lines(&built.rewritten), "{which}");
        assert!(written.contains(&format!("src/panics.rs:{line}")), "{which}: {written:#?}");
    }
}

/// `src/file.rs:line`, of each place in the program's own files.
fn own_lines(text: &str) -> Vec<String> {
    let places = text.match_indices("src/").filter_map(|(at, _)| {
        let mut parts = text[at..].splitn(3, ':');
        let (file, line) = (parts.next()?, parts.next()?);
        let is_own = matches!(file, "src/main.rs" | "src/panics.rs");
        (is_own && line.parse::<u32>().is_ok()).then(|| format!("{file}:{line}"))
    });
    places.collect()
}
