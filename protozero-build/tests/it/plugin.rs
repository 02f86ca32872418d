//! The plugin, as protoc runs it.

use crate::{build, code_of, data};
use protolog_testkit::{assert_eq_text, python, run, run_any, skip, temp_dir};
use std::fs;
use std::path::Path;
use std::process::Command;

/// The real protoc, of Python's `grpcio-tools`, with the plugin; none without it.
fn protoc(to: &Path, parameter: &str, file: &str) -> Option<Command> {
    let Some(python) = python() else {
        skip("the plugin of protoc", "no venv with protoc");
        return None;
    };
    let mut protoc = Command::new(python);
    protoc.args(["-m", "grpc_tools.protoc"]);
    let plugin = env!("CARGO_BIN_EXE_protoc-gen-protozero");
    protoc.arg(format!("--plugin=protoc-gen-protozero={plugin}"));
    protoc.arg(format!("--proto_path={}", data("").display()));
    protoc.arg(format!("--protozero_out={}", to.display()));
    protoc.arg(format!("--protozero_opt={parameter}")).arg(file);
    Some(protoc)
}

#[test]
fn protoc_gets_what_a_build_script_gets() {
    for name in ["car", "forms2", "forms3"] {
        let dir = temp_dir();
        let file = format!("{name}.proto");
        let Some(mut protoc) = protoc(dir.path(), "file=code.rs", &file) else { return };
        run(&mut protoc);
        let code = fs::read_to_string(dir.path().join("code.rs")).expect("read the code");
        assert_eq_text(&code_of(&file, |config| config).expect("code"), &code);
    }
}

/// Only protoc knows editions.
#[test]
fn editions() {
    let dir = temp_dir();
    let Some(mut protoc) = protoc(dir.path(), "", "forms2023.proto") else { return };
    run(&mut protoc);
    let code = fs::read_to_string(dir.path().join("protos.rs")).expect("read the code");
    build::check(dir.path(), &code);
    let packed = |field: &str| {
        let (_, after) = code.split_once(&format!("fn {field}_packed")).expect("a repeated field");
        // The documentation is before the method.
        let before = &code[..code.len() - after.len()];
        before.rsplit("All values in one piece, ").next().expect("a text").starts_with("as the")
    };
    assert!(packed("packed_numbers"));
    assert!(!packed("expanded_numbers") && !packed("expanded_here"));
}

/// The messages of protobuf's conformance tests in an edition, of which some are delimited as
/// groups are.
#[test]
fn conformance_messages_of_an_edition() {
    let dir = temp_dir();
    let file = "conformance/test_messages_edition2023.proto";
    let Some(mut protoc) = protoc(dir.path(), "file=code.rs,leave_out_groups", file) else {
        return;
    };
    run(&mut protoc);
    let code = fs::read_to_string(dir.path().join("code.rs")).expect("read the code");
    assert!(code.contains("pub struct TestAllTypesEdition2023<M>"), "{code}");
    build::check(dir.path(), &code);
}

#[test]
fn a_group_is_an_error_of_protoc() {
    let dir = temp_dir();
    let Some(mut refused) = protoc(dir.path(), "", "group.proto") else { return };
    let output = run_any(&mut refused);
    assert_eq!(output.code, Some(1));
    let wanted = "the field `forms.WithGroup.inner` is a group\nhelp: make it a message";
    assert!(output.stderr.contains(wanted), "{}", output.stderr);
    let left_out = protoc(dir.path(), "leave_out_groups", "group.proto");
    run(&mut left_out.expect("as before"));
}

#[test]
fn a_wrong_parameter_is_named() {
    let dir = temp_dir();
    let Some(mut protoc) = protoc(dir.path(), "files=code.rs", "car.proto") else { return };
    let output = run_any(&mut protoc);
    assert!(output.stderr.contains("unknown parameter `files=code.rs`"), "{}", output.stderr);
}

#[test]
fn what_is_no_request_is_an_error() {
    let mut plugin = Command::new("sh");
    let text = "printf '\\377\\377' | \"$0\"";
    let output = run_any(plugin.args(["-c", text, env!("CARGO_BIN_EXE_protoc-gen-protozero")]));
    assert_eq!(output.code, Some(2));
    assert!(output.stderr.contains("help: start it by `protoc"), "{}", output.stderr);
}
