//! What the compiler says where a program misuses the macros. The texts belong to one version of the compiler; others
//! word their part differently.

use std::process::Command;

/// The compiler whose texts stand in `ui/`.
const PINNED: &str = "rustc 1.95.";

#[test]
fn mistakes_are_told_where_they_stand() {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let version = protolog_testkit::run(Command::new(rustc).arg("--version")).stdout;
    if !version.starts_with(PINNED) {
        let why = format!("the expected texts are those of {PINNED}x, this is {}", version.trim());
        protolog_testkit::skip("what the compiler says about misused macros", &why);
        return;
    }
    // trybuild has a variable of its own for this, and looks for it in the environment of its process.
    if protolog_testkit::updating() && std::env::var_os("TRYBUILD").is_none() {
        let this = std::env::current_exe().expect("the test itself");
        protolog_testkit::run(Command::new(this).env("TRYBUILD", "overwrite"));
        return;
    }
    trybuild::TestCases::new().compile_fail("tests/ui/*.rs");
}
