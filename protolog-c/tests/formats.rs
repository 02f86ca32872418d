//! A trace shows of a call the text that `printf` prints of the same format and arguments.

mod common;

use common::{command, compile, compilers, messages, package, program, source};
use protolog_testkit::{assert_eq_text, run, run_any, temp_dir};
use std::fs;

#[test]
fn formats_print_as_printf_does() {
    for compiler in compilers() {
        for optimised in ["-O0", "-O2"] {
            let dir = temp_dir();
            // Some formats are bad style, which is what is tried.
            let options = [optimised, "-Wno-format", "-Wno-psabi"];
            let trace = dir.path().join("app.pftrace");
            let program = program(compiler, &options, "formats.c", dir.path());
            let output = run(&mut command(&program, &[&trace]));
            let printed = format!("{}\n", messages(&trace).join("\n"));
            assert_eq_text(&output.stdout, &printed);
        }
    }
}

/// Each line is an error of the compiler, at the call.
#[test]
fn a_wrong_format_is_refused() {
    const WRONG: [(&str, &str); 6] = [
        ("\"%d\", \"text\"", "format"),
        ("\"%s\", 1", "format"),
        ("\"%d %d\", 1", "format"),
        ("\"%d\", 1, 2", "format"),
        ("\"%f\", 1", "format"),
        ("\"%ld\", 1", "format"),
    ];
    for compiler in compilers() {
        let dir = temp_dir();
        for (arguments, named) in WRONG {
            let from = dir.path().join("wrong.c");
            let call = format!("protolog_d(AppLog, Net, {arguments});");
            let text = format!(
                "#include <protolog.h>\nPROTOLOG_GROUPS(AppLog, Net)\nvoid f(void);\nvoid f(void) {{ {call} }}\n"
            );
            fs::write(&from, text).expect("write a source");
            let mut wrong =
                compile(compiler, &["-Werror=format", "-c"], &from, &dir.path().join("o"));
            let output = run_any(&mut wrong);
            assert_ne!(output.code, Some(0), "{compiler:?} takes {call}");
            assert!(output.stderr.contains(named), "{call}: {}", output.stderr);
            assert!(output.stderr.contains("wrong.c:4"), "{call}: {}", output.stderr);
        }
    }
}

/// An unknown group is an error, and so is an argument that printf does not take.
#[test]
fn what_is_no_group_and_no_argument_is_refused() {
    for compiler in compilers() {
        let dir = temp_dir();
        for call in ["protolog_d(AppLog, Disk, \"x\");", "protolog_d(AppLog, Net, \"%d\", s);"] {
            let from = dir.path().join("wrong.c");
            let text = format!(
                "#include <protolog.h>\nPROTOLOG_GROUPS(AppLog, Net)\nstruct s {{ int x; }} s;\nvoid f(void);\nvoid f(void) {{ {call} }}\n"
            );
            fs::write(&from, text).expect("write a source");
            let output = run_any(&mut compile(compiler, &["-c"], &from, &dir.path().join("o")));
            assert_ne!(output.code, Some(0), "{compiler:?} takes {call}");
        }
    }
}

/// Warnings that strict projects have on are not for what the header expands to.
#[test]
fn strict_warnings_have_nothing_to_say() {
    for compiler in compilers() {
        let dir = temp_dir();
        let strict = ["-c", "-O2", "-pedantic", "-Wshadow", "-Wconversion", "-Wsign-conversion"];
        let to = dir.path().join("calls.o");
        run(&mut compile(compiler, &strict, &source("calls.c"), &to));
    }
    assert!(package().join("include/protolog.h").exists());
}
