//! Compiles generated code, as a user's crate without `std`, and programs around it.

use protolog_testkit::{run, workspace_root};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

/// The directory with the library `protozero`, compiled once.
static RUNTIME: LazyLock<PathBuf> = LazyLock::new(|| {
    let dir = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("runtime");
    fs::create_dir_all(&dir).expect("make a directory");
    let mut rustc = rustc("rlib");
    rustc.args(["--crate-name=protozero", "--cfg=feature=\"alloc\"", "--out-dir"]).arg(&dir);
    run(rustc.arg(workspace_root().join("protozero/src/lib.rs")));
    dir
});

fn rustc(kind: &str) -> Command {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let mut command = Command::new(rustc);
    command.args([
        "--edition=2024",
        "-Copt-level=0",
        "-Cdebug-assertions=on",
        "--crate-type",
        kind,
    ]);
    command
}

fn with_runtime(kind: &str) -> Command {
    let mut command = rustc(kind);
    command
        .arg("--extern")
        .arg(format!("protozero={}", RUNTIME.join("libprotozero.rlib").display()));
    command
}

/// Compiles code in a crate that has no `std` and takes no warning, as far as types.
pub(crate) fn check(dir: &Path, code: &str) {
    fs::write(dir.join("code.rs"), code).expect("write the code");
    let library =
        "//! A library.\n#![no_std]\n#![deny(warnings, missing_docs)]\ninclude!(\"code.rs\");\n";
    fs::write(dir.join("lib.rs"), library).expect("write a library");
    let mut rustc = with_runtime("lib");
    run(rustc.arg("--emit=metadata").arg("--out-dir").arg(dir).arg(dir.join("lib.rs")));
}

/// Compiles a library with this code in `code.rs`, optimized, and returns its assembly.
pub(crate) fn assembly(dir: &Path, code: &str, library: &str, flags: &[&str]) -> String {
    fs::write(dir.join("code.rs"), code).expect("write the code");
    fs::write(dir.join("lib.rs"), library).expect("write a library");
    let fast =
        ["-Copt-level=3", "-Ccodegen-units=1", "-Cdebug-assertions=off", "-Coverflow-checks=off"];
    let mut runtime = rustc("rlib");
    runtime.args(["--crate-name=protozero", "--out-dir"]).arg(dir).args(fast);
    run(runtime.arg(workspace_root().join("protozero/src/lib.rs")));
    let mut user = rustc("lib");
    user.arg("--extern").arg(format!("protozero={}", dir.join("libprotozero.rlib").display()));
    user.args(fast).args(flags).args(["--crate-name=user", "--emit=asm", "--out-dir"]).arg(dir);
    run(user.arg(dir.join("lib.rs")));
    fs::read_to_string(dir.join("user.s")).expect("read the assembly")
}

/// Compiles a program that has code in its module `schema`, and returns its path.
pub(crate) fn program(dir: &Path, code: &str, program: &str) -> PathBuf {
    fs::write(dir.join("schema.rs"), code).expect("write the code");
    fs::write(dir.join("main.rs"), program).expect("write a program");
    let path = dir.join("program");
    run(with_runtime("bin").arg("-o").arg(&path).arg(dir.join("main.rs")));
    path
}
