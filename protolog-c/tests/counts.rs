//! Instructions of calls, by callgrind: none parses its note again, and only what `snprintf` prints
//! parses its format. In a build without optimizations they are multiples of those of a release,
//! but in the same order.

mod common;

use common::{COMPILERS, command, program};
use protolog_testkit::{run, temp_dir, tool};
use std::path::Path;
use std::process::Command;

/// The instructions of a call of `count.c`.
fn count(program: &Path, case: &str, dir: &Path) -> u64 {
    const TURNS: u64 = 2_000;
    let trace = dir.join(format!("{case}.pftrace"));
    let call = command(program, &[case, trace.to_str().expect("UTF-8"), &TURNS.to_string()]);
    let mut callgrind = Command::new("valgrind");
    callgrind.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]);
    callgrind.arg(format!("--toggle-collect={case}")).arg(call.get_program()).args(call.get_args());
    for (name, value) in call.get_envs() {
        callgrind.env(name, value.unwrap_or_default());
    }
    let output = run(&mut callgrind).stderr;
    let counted: Option<u64> =
        output.lines().find_map(|line| line.split_once("Collected : ")?.1.parse().ok());
    counted.unwrap_or_else(|| panic!("no count of `{case}` in {output}")) / TURNS
}

#[test]
fn calls_with_many_arguments_cost_as_much_as_arguments_do() {
    let Some(_) = tool("valgrind") else { return };
    let dir = temp_dir();
    let program = program(COMPILERS[0], &["-O2"], "count.c", dir.path());
    let count = |case| count(&program, case, dir.path());
    let two = count("counted_ints");
    for (case, most) in [
        ("counted_four", 5),
        ("counted_five", 6),
        ("counted_twelve", 12),
        ("counted_narrow", 6),
        ("counted_printed", 12),
    ] {
        let counted = count(case);
        assert!(counted <= most * two, "{case}: {counted}, where two integers cost {two}");
    }
}
