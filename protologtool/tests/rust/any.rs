//! Any bytes: no panic, and what was Rust is Rust afterwards.

use proptest::prelude::*;
use protologtool::groups::Groups;
use protologtool::ids::MessageIds;
use protologtool::lang::java::Java;
use protologtool::lang::rust::Rust;
use protologtool::pipeline::{Processed, Settings, process_source};
use protologtool::source::{Source, line_ends};
use std::path::Path;

/// The pieces that files are made of.
const PIECES: [&str; 46] = [
    "use protolog_rt::*;",
    "use protolog_rt::d as log;",
    "protolog_rt::",
    "crate::",
    "super::",
    "d!",
    "log!",
    "i!",
    "protolog!",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    "Log::A",
    "Log::B",
    "Level::Warn",
    ",",
    ", ",
    "\"text %d\"",
    "\"two %s\n lines %f\"",
    "r#\"raw %b\"#",
    "\"\\\n \"",
    "\"%\"",
    "1",
    "x",
    "#[derive(Clone, ProtoLogGroup)] enum Log { A, #[protolog(tag = \"b\")] B }",
    "#[derive(protolog_rt::ProtoLogGroup)] pub enum Log { A }",
    "mod a",
    "mod b;",
    "fn f()",
    "macro_rules! d { () => {} }",
    ";",
    "=",
    "'a",
    "'",
    "//",
    "\n",
    "\r\n",
    "/*",
    "*/",
    " ",
    "@0x1 [d]",
    "\u{feff}",
    "#!",
];

/// A whole call in a whole file, so that generated files hold calls that are rewritten.
const CALLS: [&str; 6] = [
    "fn f() { d!(Log::A, \"text %d\", 1); }\n",
    "fn g() { vec![1, { i!(Log::B, \"a \\\n  b\"); 2 }]; }\r\n",
    "mod m { use super::*; fn h() { protolog!(Level::Warn, Log::A, r\"c\", ); } }\n",
    "#[derive(Debug, ProtoLogGroup)] enum Log { A, #[protolog(tag = \"b\")] B }\n",
    "fn k() { e!(Log::A, \"%s\", { w!(Log::B, \"é\"); 1 }) }",
    "const S: &str = \"d!(Log::A)\"; // d!(Log::A, \"x\")\n",
];

fn process(bytes: &[u8]) -> Processed {
    let source = Source::new("src/main.rs", bytes.to_vec());
    let rust = Rust::single("app", Path::new("src/main.rs"));
    let groups = Groups::default().with_rust(rust.groups_of(&source)).unwrap_or_default();
    let java = Java::new("dev.protolog.ProtoLog", "dev.protolog.ProtoLogImpl");
    process_source(&Settings { java, rust: Some(rust), groups, ids: MessageIds::Xxh3 }, source)
}

/// Asserts what holds for every file.
fn check(bytes: &[u8]) {
    let Some(rewritten) = process(bytes).rewritten else { return };
    assert_eq!(line_ends(bytes).count(), line_ends(&rewritten).count());
    let text = std::str::from_utf8(bytes).expect("only text is rewritten");
    let after = std::str::from_utf8(&rewritten).expect("text stays text");
    if syn::parse_file(text).is_ok() {
        syn::parse_file(after).unwrap_or_else(|error| panic!("{error}\n{text}\n---\n{after}"));
    }
    let again = process(&rewritten);
    assert_eq!(again.rewritten, None, "{text}\n---\n{after}");
}

proptest! {
    #[test]
    fn any_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        check(&bytes);
    }

    #[test]
    fn pieces_in_any_order(pieces in proptest::collection::vec(proptest::sample::select(&PIECES[..]), 0..40)) {
        check(pieces.concat().as_bytes());
    }

    #[test]
    fn calls_with_pieces_between(
        parts in proptest::collection::vec((proptest::sample::select(&CALLS[..]), proptest::option::weighted(0.2, proptest::sample::select(&PIECES[..]))), 1..8),
    ) {
        let text: String = parts.iter().flat_map(|(call, piece)| [*call, piece.unwrap_or("")]).collect();
        check(format!("use protolog_rt::*;\n{text}").as_bytes());
    }
}

#[test]
fn whole_calls_are_rewritten() {
    let text = format!("use protolog_rt::*;\n{}", CALLS.concat());
    let processed = process(text.as_bytes());
    assert!(processed.report.is_none(), "{:?}", processed.report);
    assert_eq!(processed.messages.len(), 5);
    check(text.as_bytes());
}

#[test]
fn deep_nesting_ends() {
    for (open, close) in [
        ("(", ")"),
        ("[", "]"),
        ("{", "}"),
        ("-", ""),
        ("!", ""),
        ("&", ""),
        ("if 1 ", ""),
        ("|x| ", ""),
    ] {
        for depth in [50, 90, 190, 5_000] {
            let inner = format!("{}1{}", open.repeat(depth), close.repeat(depth));
            let text = format!(
                "#[derive(protolog_rt::ProtoLogGroup)] enum Log {{ A }} fn f() {{ protolog_rt::d!(Log::A, \"%d\", {inner}); }}"
            );
            process(text.as_bytes());
            process(format!("use protolog_rt::d; {inner}").as_bytes());
        }
    }
}
