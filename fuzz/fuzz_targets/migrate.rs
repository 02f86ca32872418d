//! Any bytes as a source whose log calls move: no panic, and a file that is written is another one.
//!
//! The first byte chooses the library. Of Java a second run changes nothing. Under `cfg(fuzzing)`
//! the lexer of Rust gives no places (`rust_source`), so of Rust nothing is said of what comes out;
//! the property tests of `protologtool/tests/migrate` do.
#![no_main]

use libfuzzer_sys::fuzz_target;
use protologtool::cli::{Exit, run};
use protologtool::system::Memory;

fuzz_target!(|bytes: &[u8]| {
    let Some((choice, source)) = bytes.split_first() else { return };
    let (library, path) = match choice % 3 {
        0 => ("log", "src/lib.rs"),
        1 => ("tracing", "src/lib.rs"),
        _ => ("slf4j", "src/app/Main.java"),
    };
    let system = Memory::default();
    system.add_file("Cargo.toml", "[package]\nname = \"app\"\n");
    system.add_file(path, source);
    let migrate = || {
        let words = ["protologtool", "migrate", "--from", library, "--apply", "src"];
        let exit = run(words.map(Into::into), &system);
        assert!(exit != Exit::Failed || !system.errors().is_empty(), "a failure without a word");
        system.text(path)
    };
    let once = migrate();
    if library == "slf4j" {
        assert_eq!(migrate(), once, "a second run changes the file");
    }
});
