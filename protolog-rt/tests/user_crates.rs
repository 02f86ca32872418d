//! Crates outside this workspace with strict lints, which must not warn of expansions of the
//! macros.

use protolog_testkit::{Output, run_any, skip, user_cargo, workspace_root};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::{env, fs};

/// A copy of the crates that can be compiled, made once for all tests. Earlier build results are
/// kept.
fn copied() -> &'static Path {
    static COPY: OnceLock<PathBuf> = OnceLock::new();
    COPY.get_or_init(copy)
}

fn copy() -> PathBuf {
    let runtime = Path::new(env!("CARGO_MANIFEST_DIR"));
    let copy = Path::new(env!("CARGO_TARGET_TMPDIR")).join("users");
    copy_to(&runtime.join("tests/fixtures/users"), &copy, &runtime.display().to_string());
    let lock = workspace_root().join("Cargo.lock");
    fs::copy(lock, copy.join("Cargo.lock")).expect("copy the lock file");
    copy
}

fn copy_to(from: &Path, to: &Path, runtime: &str) {
    fs::create_dir_all(to).expect("make a directory for the crates");
    for entry in fs::read_dir(from).expect("list the crates") {
        let path = entry.expect("an entry").path();
        let target = to.join(path.file_name().expect("a name"));
        if path.is_dir() {
            copy_to(&path, &target, runtime);
        } else {
            let text = fs::read_to_string(&path).expect("read a crate");
            fs::write(target, text.replace("PROTOLOG_RT", runtime)).expect("copy a crate");
        }
    }
}

fn cargo(copy: &Path, command: &str, package: &str, flags: &[&str]) -> Output {
    let mut cargo = user_cargo(env!("CARGO_TARGET_TMPDIR"));
    cargo.args([command, "--quiet", "--package", package]).args(flags);
    run_any(cargo.current_dir(copy).env("CARGO_TERM_COLOR", "never"))
}

#[test]
fn pedantic_lints_find_nothing() {
    let clippy = Command::new(env!("CARGO")).args(["clippy", "--version"]).output();
    if !clippy.is_ok_and(|output| output.status.success()) {
        skip("lints in crates of users", "clippy is missing");
        return;
    }
    let copy = copied();
    let strict =
        ["--", "-W", "clippy::pedantic", "-W", "clippy::cognitive_complexity", "-D", "warnings"];
    for package in ["facade", "old", "new"] {
        let output = cargo(copy, "clippy", package, &strict);
        assert_eq!((output.code, output.stderr.as_str()), (Some(0), ""), "{package}");
    }
    // The lints are enabled: they find a planted mistake.
    let source = copy.join("old/src/lib.rs");
    let text = fs::read_to_string(&source).expect("read a crate");
    let worse = text.replace("text.len() as u64", "return Ok(text.len() as u64)");
    assert_ne!(text, worse);
    fs::write(&source, worse).expect("write a crate");
    let output = cargo(copy, "clippy", "old", &strict);
    assert_ne!(output.code, Some(0), "a warning for an unreachable call");
}

#[test]
fn a_call_that_was_not_rewritten_is_a_compile_error() {
    let output = cargo(copied(), "check", "unrewritten", &[]);
    let lines: Vec<&str> = output.stderr.lines().take(2).collect();
    assert_eq!(
        lines,
        [
            "error: this log call was not rewritten, and `protolog-rt` is built without its feature `macros`",
            "       help: take the source through `protologtool transform-protolog-calls`, or switch the feature on",
        ]
    );
    assert_eq!(output.stderr.matches("\nerror").count(), 1, "{}", output.stderr);
}
