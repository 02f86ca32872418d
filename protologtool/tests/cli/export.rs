//! `export` runs the program that exports, which may not be installed.

use protolog_testkit::{run, temp_dir};
use std::path::Path;
use std::process::{Command, Output};

fn export(path: &Path, args: &[&str]) -> Output {
    // A copy, so that no program is beside it.
    let tool = path.join("protologtool");
    protolog_testkit::copy_program(Path::new(env!("CARGO_BIN_EXE_protologtool")), &tool);
    Command::new(tool).env("PATH", path).arg("export").args(args).output().unwrap()
}

#[test]
fn a_program_that_is_missing_is_named() {
    let dir = temp_dir();
    let output = export(dir.path(), &["parquet", "-o", "x", "y"]);
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(
        String::from_utf8(output.stderr).unwrap(),
        "error: can't export: `protologtool-fleet` is not installed\n\
         help: install it with `cargo install --path fleet` in the sources of protologtool\n"
    );
}

#[test]
fn arguments_output_and_exit_code_are_those_of_the_program() {
    let dir = temp_dir();
    let program = dir.path().join("protologtool-fleet");
    // A process that another thread starts would inherit a file that is open here, which the system
    // then does not run.
    let script = "printf '#!/bin/sh\\necho \"$@\"\\nexit 3\\n' > \"$0\" && chmod +x \"$0\"";
    run(Command::new("sh").args(["-c", script]).arg(&program));
    let output = export(dir.path(), &["parquet", "--help", "-o", "x y"]);
    assert_eq!(output.status.code(), Some(3), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "parquet --help -o x y\n");
}
