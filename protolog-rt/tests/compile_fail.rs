//! The compiler's errors for programs that misuse the macros. The expected output belongs to one
//! version of the compiler; others word their part differently.

use std::process::Command;

/// The compiler that wrote the expected output in `ui/`.
const PINNED: &str = "rustc 1.95.";

#[test]
fn errors_point_at_the_mistake() {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let version = protolog_testkit::run(Command::new(rustc).arg("--version")).stdout;
    if !version.starts_with(PINNED) {
        let why = format!("the expected output is that of {PINNED}x, this is {}", version.trim());
        protolog_testkit::skip("the compiler's errors for misused macros", &why);
        return;
    }
    // trybuild reads its own variable from the environment of its process.
    if protolog_testkit::updating() && std::env::var_os("TRYBUILD").is_none() {
        let this = std::env::current_exe().expect("the test itself");
        protolog_testkit::run(Command::new(this).env("TRYBUILD", "overwrite"));
        return;
    }
    trybuild::TestCases::new().compile_fail("tests/ui/*.rs");
}
