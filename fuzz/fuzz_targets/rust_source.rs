//! Any bytes as a Rust source: the tool takes them without a panic.
//!
//! The results themselves are covered by the property tests of `protologtool/tests/rust`: under
//! `cfg(fuzzing)`, which cargo-fuzz sets, the lexer gives no places, so that nothing can be said
//! here of what comes out.
#![no_main]

use libfuzzer_sys::fuzz_target;
use protologtool::groups::Groups;
use protologtool::ids::MessageIds;
use protologtool::lang::java::Java;
use protologtool::lang::rust::Rust;
use protologtool::pipeline::{Settings, process_source};
use protologtool::source::Source;
use std::path::Path;

fuzz_target!(|bytes: &[u8]| {
    let path = Path::new("src/main.rs");
    let source = Source::new(path, bytes.to_vec());
    let rust = Rust::single("app", path);
    let Ok(groups) = Groups::default().with_rust(rust.groups_of(&source)) else { return };
    let java = Java::new("dev.protolog.ProtoLog", "dev.protolog.ProtoLogImpl");
    process_source(&Settings { java, rust: Some(rust), groups, ids: MessageIds::Xxh3 }, source);
});
