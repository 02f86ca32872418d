//! The schemas: those of this package, Perfetto's whole trace, and Google's interfaces. The code
//! for ours compiles without `std`, for the others' parts with the programs of `round_trip`.

use crate::{build, code_of, data};
use protolog_testkit::{python, run, skip, temp_dir};
use protozero_build::{Config, Options, generate};
use std::fs;
use std::process::Command;

/// Has Python write the official descriptors of a module, and of all that it needs.
const DESCRIPTORS: &str = "
import importlib, pathlib, sys
from google.protobuf import descriptor_pb2
files, seen = descriptor_pb2.FileDescriptorSet(), set()
def add(file):
    if file.name not in seen:
        seen.add(file.name)
        for needed in file.dependencies:
            add(needed)
        files.file.add().ParseFromString(file.serialized_pb)
for module in sys.argv[2:]:
    add(importlib.import_module(module).DESCRIPTOR)
pathlib.Path(sys.argv[1]).write_bytes(files.SerializeToString())
";

/// The descriptors of a file of the test data.
pub(crate) fn parsed(name: &str) -> Vec<u8> {
    parsed_in("", name)
}

/// The messages of protobuf's conformance tests, as they come with version 33.2.
pub(crate) fn conformance(name: &str) -> Vec<u8> {
    parsed_in("conformance", name)
}

fn parsed_in(folder: &str, name: &str) -> Vec<u8> {
    let mut compiler = protox::Compiler::new([data(folder)]).expect("a directory");
    compiler.include_imports(true).open_file(data(folder).join(name)).expect("a file");
    compiler.encode_file_descriptor_set()
}

/// Perfetto's trace, whole; none without Python's `perfetto`.
pub(crate) fn perfetto() -> Option<Vec<u8>> {
    official(&["perfetto.protos.perfetto.trace.perfetto_trace_pb2"])
}

/// Descriptions of Google's interfaces; none without Python's `googleapis-common-protos`.
pub(crate) fn google() -> Option<Vec<u8>> {
    official(&[
        "google.api.service_pb2",
        "google.rpc.error_details_pb2",
        "google.rpc.context.attribute_context_pb2",
        "google.api.http_pb2",
    ])
}

fn official(modules: &[&str]) -> Option<Vec<u8>> {
    let Some(python) = python() else {
        skip("a schema of others", "no venv with its descriptors");
        return None;
    };
    let dir = temp_dir();
    let path = dir.path().join("schema.pb");
    run(Command::new(python).args(["-c", DESCRIPTORS]).arg(&path).args(modules));
    Some(fs::read(path).expect("read the descriptors"))
}

/// The code for some messages of a descriptor set, without groups.
pub(crate) fn code(set: &[u8], messages: &[&str]) -> String {
    let messages = messages.iter().map(ToString::to_string).collect();
    let options = Options { messages, leave_out_groups: true, ..Options::default() };
    generate(set, |_| true, &options).expect("code")
}

/// Types alone: some seconds for 160,000 lines.
#[test]
fn perfettos_whole_trace_compiles() {
    if let Some(set) = perfetto() {
        build::check(temp_dir().path(), &code(&set, &[]));
    }
}

/// All messages, recursive ones and well-known types among them. Those of proto2 have groups.
#[test]
fn conformance_messages_compile() {
    for name in ["test_messages_proto2.proto", "test_messages_proto3.proto"] {
        build::check(temp_dir().path(), &code(&conformance(name), &[]));
    }
    let error = generate(&conformance("test_messages_proto2.proto"), |_| true, &Options::default());
    let error = error.expect_err("a group").to_string();
    assert!(error.starts_with("the field `protobuf_test_messages.proto2."), "{error}");
    assert!(error.ends_with("` is a group"), "{error}");
}

#[test]
fn a_part_of_a_schema_is_what_a_message_needs() {
    let part = code(&parsed("forms2.proto"), &["forms.old.Result"]);
    assert!(part.contains("pub struct Result<M>") && part.contains("pub struct Colour("), "{part}");
    assert!(!part.contains("pub struct All<M>"), "{part}");
}

#[test]
fn all_forms_compile() {
    for name in ["car.proto", "forms2.proto", "forms3.proto", "odd.proto"] {
        build::check(temp_dir().path(), &code_of(name, |config| config).expect("code"));
    }
    let code = code_of("group.proto", Config::leave_out_groups).expect("code");
    build::check(temp_dir().path(), &code);
}
