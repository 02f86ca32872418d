//! Random messages go through generated code: it reads each, and writes it again field by field,
//! into memory in one piece and over pieces of many sizes. Before and after, prost and Python's
//! protobuf must see the same.

use crate::{build, random, schemas};
use prost_reflect::prost::Message as _;
use prost_reflect::{DescriptorPool, DynamicMessage};
use protolog_testkit::{Random, python, run, skip, temp_dir};
use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};

/// The messages of each schema.
const MESSAGES: u64 = 10_000;

/// The most messages within one another, below the first; and where each type has dozens of others,
/// itself among them.
const DEPTH: u32 = 3;
const DEPTH_OF_MANY: u32 = 1;

/// The messages of a schema whose types have so many others: `PROPTEST_CASES`, by default some,
/// which take longer than those of other schemas.
fn some_messages() -> u64 {
    let cases = std::env::var("PROPTEST_CASES").ok();
    cases.and_then(|cases| cases.parse().ok()).unwrap_or(2_000)
}

/// The program, with `ROOTS` to be filled in: for each frame of its input, one of its output. A
/// frame is the number of a type, the size in four bytes, and a message.
const PROGRAM: &str = r#"
mod schema { include!("schema.rs"); }

use protozero::delegate::{Delegate, Ended, Exhausted, Patch};
use protozero::{Heap, Writer};
use std::io::{Read, Write};

/// Memory in pieces of one size.
struct Pieces(Vec<Vec<u8>>, usize);

impl Pieces {
    fn range_mut(&mut self) -> &mut Vec<u8> {
        self.0.last_mut().expect("there is always one")
    }
}

impl Delegate for Pieces {
    fn range(&mut self) -> &mut [u8] {
        self.range_mut()
    }
    fn next_range(&mut self, ended: Ended) -> Result<(), Exhausted> {
        // A size that is filled in later is not split.
        self.range_mut().truncate(ended.used);
        self.0.push(vec![0; self.1]);
        Ok(())
    }
    fn patch(&mut self, patch: Patch) {
        let at = patch.offset as usize;
        self.0[patch.range as usize][at..at + 4].copy_from_slice(&patch.bytes);
    }
}

macro_rules! again {
    ($message:expr, $count:expr, $writer:path, $reader:path) => {{
        let mut writer = Writer::new(Heap::default());
        let mut to = <$writer>::root(&mut writer);
        for field in <$reader>::new($message) {
            field.expect("a field").write_to(&mut to).expect("a field to its end");
        }
        let whole = writer.into_vec().expect("it fits");
        // Every size from the least one on, and that of a page.
        let size = if $count % 8 == 0 { 4096 } else { 16 + $count / 8 % 512 };
        let mut writer = Writer::new(Pieces(vec![vec![0; size]], size));
        let mut to = <$writer>::root(&mut writer);
        for field in <$reader>::new($message) {
            field.expect("a field").write_to(&mut to).expect("a field to its end");
        }
        let finished = writer.finish().expect("it fits");
        let mut delegate = finished.delegate;
        delegate.range_mut().truncate(finished.ended.used);
        assert!(delegate.0.concat() == whole, "other bytes in pieces of {size} bytes");
        whole
    }};
}

fn main() {
    let mut input = Vec::new();
    std::io::stdin().read_to_end(&mut input).unwrap();
    let (mut output, mut at, mut count) = (Vec::new(), 0, 0);
    while at < input.len() {
        let root = input[at];
        let size = u32::from_le_bytes(input[at + 1..at + 5].try_into().unwrap()) as usize;
        let message = &input[at + 5..at + 5 + size];
        at += 5 + size;
        let written = match root {
            ROOTS
            _ => unreachable!(),
        };
        count += 1;
        output.push(root);
        output.extend_from_slice(&(written.len() as u32).to_le_bytes());
        output.extend_from_slice(&written);
    }
    std::io::stdout().write_all(&output).unwrap();
}
"#;

#[test]
fn all_forms_of_proto2() {
    let roots = ["forms.old.All", "forms.old.Result"];
    let paths = ["forms::old::All", "forms::old::Result"];
    check(&schemas::parsed("forms2.proto"), &roots, &paths);
}

#[test]
fn all_forms_of_proto3() {
    check(&schemas::parsed("forms3.proto"), &["forms.modern.All"], &["forms::modern::All"]);
}

/// The whole takes minutes to compile as a program.
#[test]
fn perfettos_events_and_settings() {
    let Some(set) = schemas::perfetto() else { return };
    let roots = ["perfetto.protos.TrackEvent", "perfetto.protos.TraceConfig"];
    let paths = ["perfetto::protos::TrackEvent", "perfetto::protos::TraceConfig"];
    check(&set, &roots, &paths);
}

#[test]
fn descriptors_of_googles_interfaces() {
    let Some(set) = schemas::google() else { return };
    let roots =
        ["google.api.Service", "google.rpc.context.AttributeContext", "google.api.HttpRule"];
    let paths =
        ["google::api::Service", "google::rpc::context::AttributeContext", "google::api::HttpRule"];
    check(&set, &roots, &paths);
}

#[test]
fn conformance_messages_of_proto2() {
    let roots = ["protobuf_test_messages.proto2.TestAllTypesProto2"];
    let paths = ["protobuf_test_messages::proto2::TestAllTypesProto2"];
    let set = schemas::conformance("test_messages_proto2.proto");
    check_nested(&set, &roots, &paths, DEPTH_OF_MANY, some_messages());
}

#[test]
fn conformance_messages_of_proto3() {
    let roots = ["protobuf_test_messages.proto3.TestAllTypesProto3"];
    let paths = ["protobuf_test_messages::proto3::TestAllTypesProto3"];
    let set = schemas::conformance("test_messages_proto3.proto");
    check_nested(&set, &roots, &paths, DEPTH_OF_MANY, some_messages());
}

fn check(set: &[u8], roots: &[&str], paths: &[&str]) {
    check_nested(set, roots, paths, DEPTH, MESSAGES);
}

fn check_nested(set: &[u8], roots: &[&str], paths: &[&str], depth: u32, count: u64) {
    let dir = temp_dir();
    let arms = paths.iter().enumerate().map(|(number, path)| {
        format!("{number} => again!(message, count, schema::{path}<_>, schema::{path}Reader),\n")
    });
    let program = PROGRAM.replace("ROOTS", &arms.collect::<String>());
    let program = build::program(dir.path(), &schemas::code(set, roots), &program);
    let pool = DescriptorPool::decode(set).expect("prost knows the schema");
    let types: Vec<_> =
        roots.iter().map(|root| pool.get_message_by_name(root).expect("a type")).collect();
    let (mut random, mut messages, mut input) =
        (Random::from_seed(roots[0].as_bytes()), Vec::new(), Vec::new());
    for number in 0..count {
        let root = (number % roots.len() as u64) as usize;
        let message = random::message(&types[root], &mut random, depth);
        let bytes = message.encode_to_vec();
        frame(&mut input, root, &bytes);
        // As prost reads it: in proto3 nobody sees whether a zero was set.
        messages.push(DynamicMessage::decode(types[root].clone(), &*bytes).expect("its own"));
    }
    let output = through(&program, dir.path(), "prost", &input);
    for (message, (root, bytes)) in messages.iter().zip(frames(&output)) {
        let read = DynamicMessage::decode(types[root].clone(), bytes).expect("prost reads it");
        assert!(&read == message, "{} is not {}", texts(&read), texts(message));
    }
    assert_eq!(frames(&output).len(), messages.len());
    let Some(python) = python() else {
        return skip("Python's protobuf reads the same", "no venv with protobuf");
    };
    // Python says that both are the same, and writes its own form of them.
    fs::write(dir.path().join("schema.pb"), set).expect("write the schema");
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/same_messages.py");
    let mut judge = Command::new(python);
    let files = ["schema.pb", "prost.in", "prost.out", "python.in"].map(|it| dir.path().join(it));
    let verdict = run(judge.arg(script).args(files).args(roots));
    assert_eq!(verdict.stdout, format!("{count} messages are the same\n"));
    let input = fs::read(dir.path().join("python.in")).expect("read Python's form");
    let output = through(&program, dir.path(), "python", &input);
    for (message, (root, bytes)) in messages.iter().zip(frames(&output)) {
        let read = DynamicMessage::decode(types[root].clone(), bytes).expect("prost reads it");
        assert!(&read == message, "{} is not {}", texts(&read), texts(message));
    }
    assert_eq!(frames(&output).len(), messages.len());
}

fn texts(message: &DynamicMessage) -> String {
    message.to_text_format()
}

/// Returns the program's output for an input; both stay in the directory.
fn through(program: &Path, dir: &Path, name: &str, input: &[u8]) -> Vec<u8> {
    let (from, to) = (dir.join(format!("{name}.in")), dir.join(format!("{name}.out")));
    fs::write(&from, input).expect("write the input");
    let mut command = Command::new(program);
    command.stdin(File::open(&from).expect("open the input"));
    command.stdout(File::create(&to).expect("create the output")).stderr(Stdio::inherit());
    assert!(command.status().expect("run the program").success(), "the program fails");
    fs::read(to).expect("read the output")
}

fn frame(to: &mut Vec<u8>, root: usize, message: &[u8]) {
    to.push(root as u8);
    to.extend_from_slice(&(message.len() as u32).to_le_bytes());
    to.extend_from_slice(message);
}

fn frames(mut bytes: &[u8]) -> Vec<(usize, &[u8])> {
    let mut frames = Vec::new();
    while let [root, a, b, c, d, rest @ ..] = bytes {
        let (message, rest) = rest.split_at(u32::from_le_bytes([*a, *b, *c, *d]) as usize);
        frames.push((usize::from(*root), message));
        bytes = rest;
    }
    frames
}
