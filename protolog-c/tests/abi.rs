//! The binary interface: what `abi.txt` lists is what the header declares and the library exports.

mod common;

use common::{compilers, libraries, package};
use protolog_testkit::{run, temp_dir, tool};
use std::fmt::Write as _;
use std::fs;
use std::process::Command;

fn listed(kind: &str) -> Vec<String> {
    let list = fs::read_to_string(package().join("abi.txt")).expect("read the list");
    let lines = list.lines().filter_map(|line| line.strip_prefix(kind)?.strip_prefix(' '));
    let lines: Vec<String> = lines.map(str::to_owned).collect();
    assert!(!lines.is_empty(), "{kind}");
    lines
}

#[test]
fn the_library_exports_what_is_listed() {
    let Some(nm) = tool("nm") else { return };
    let library = libraries().join("libprotolog.so");
    let output = run(Command::new(nm).args(["-D", "--defined-only"]).arg(&library)).stdout;
    let mut exported: Vec<&str> =
        output.lines().filter_map(|line| line.split(' ').next_back()).collect();
    exported.sort_unstable();
    assert_eq!(exported, listed("symbol"));

    let Some(readelf) = tool("readelf") else { return };
    let output = run(Command::new(readelf).arg("-d").arg(&library)).stdout;
    assert!(output.contains(&format!("soname: [{}]", listed("soname")[0])), "{output}");
}

#[test]
fn the_header_declares_what_is_listed() {
    let mut source = String::from("#include <protolog.h>\n#include <stddef.h>\n");
    let assert = |condition: String| {
        format!(
            "#ifdef __cplusplus\nstatic_assert({condition}, \"\");\n#else\n_Static_assert({condition}, \"\");\n#endif\n"
        )
    };
    for kind in ["number", "struct", "field"] {
        for line in listed(kind) {
            let words: Vec<&str> = line.split(' ').collect();
            source += &assert(match (kind, &words[..]) {
                ("number", [name, value]) => format!("{name} == {value}"),
                ("struct", [name, value]) => format!("sizeof(struct {name}) == {value}"),
                (_, [name, field, value]) => format!("offsetof(struct {name}, {field}) == {value}"),
                _ => panic!("`{line}` is no line of the list"),
            });
        }
    }
    for name in listed("symbol").iter().filter(|name| !name.contains("__")) {
        writeln!(
            source,
            "void *use_{name}(void);\nvoid *use_{name}(void) {{ return (void *){name}; }}"
        )
        .expect("write");
    }
    let dir = temp_dir();
    let from = dir.path().join("abi.c");
    fs::write(&from, source).expect("write a source");
    for compiler in compilers() {
        let mut command = Command::new(compiler[0]);
        command.args(&compiler[1..]).args(["-Wall", "-Wextra", "-Werror", "-c", "-o"]);
        command.arg(dir.path().join("abi.o")).arg(&from).arg("-I");
        run(command.arg(package().join("include")));
    }
}
