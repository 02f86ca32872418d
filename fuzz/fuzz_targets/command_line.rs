//! Any bytes as response files: the arguments come out or an error does, however the files name
//! each other, and the command line takes what comes out.
//!
//! The bytes are cut at each NUL into files `a`, `b`, `c` …, and the tool is called with `@a`. What
//! the arguments then ask for is done too, to files in memory: so this also covers commands on
//! nonsense. Good seeds are `-c "…" @b` and the like.
#![no_main]

use libfuzzer_sys::fuzz_target;
use protologtool::cli::{Exit, run};
use protologtool::system::Memory;

fuzz_target!(|bytes: &[u8]| {
    let system = Memory::default();
    for (name, content) in ('a'..='z').zip(bytes.split(|byte| *byte == 0)) {
        system.add_file(name.to_string(), content);
    }
    let exit = run(["protologtool", "@a"].map(Into::into), &system);
    assert!(exit != Exit::Failed || !system.errors().is_empty(), "a failure without a word");
});
