//! The indexer built with proc macros, and built without them from sources that `protologtool`
//! rewrote: both log the same.
//!
//! The test compares the dictionaries, of the binary's notes and of the tool, and the traces, with
//! our reader and with the official descriptors. Traces may differ in times, in ids of processes
//! and threads, in the ends of chunks (because times have different lengths), and in dictionary
//! packets: one has the entries of logged messages, the other all entries.

use protolog_testkit::{
    Value, assert_eq_text, check_dictionary, check_trace, run, serde_json, temp_dir, user_cargo,
    workspace_root,
};
use protologtool::cli::{self, Exit};
use protologtool::system::Memory;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The directory of the example's sources in the workspace.
const SOURCES: &str = "examples/indexer/src";

/// The manifest of the program from rewritten sources, without proc macros.
const MANIFEST: &str = r#"
[package]
name = "indexer"
version = "0.0.0"
edition = "2024"

[dependencies]
protolog-rt = { path = "PROTOLOG_RT", default-features = false }
serde_json = "1.0.154"

[workspace]
"#;

/// Runs the command on files in memory.
fn tool(system: &Memory, words: &[&str]) {
    let words = ["protologtool"].iter().chain(words).map(Into::into);
    let exit = cli::run(words, system);
    assert_eq!((exit, system.errors().as_str()), (Exit::Done, ""));
}

/// Rewrites the example's sources with the tool, and returns its dictionary and that of the
/// binary's notes, in both formats.
fn rewritten() -> Memory {
    let system = Memory::default();
    for path in ["Cargo.toml", "examples/indexer/Cargo.toml"] {
        system.add_file(path, fs::read(workspace_root().join(path)).expect("read a manifest"));
    }
    for entry in fs::read_dir(workspace_root().join(SOURCES)).expect("list the sources") {
        let entry = entry.expect("an entry");
        let path = Path::new(SOURCES).join(entry.file_name());
        system.add_file(path, fs::read(entry.path()).expect("read a source"));
    }
    system.add_file("indexer", fs::read(env!("CARGO_BIN_EXE_indexer")).expect("read the program"));
    let transform = ["transform-protolog-calls", "--output-dir", "out", SOURCES];
    tool(&system, &[&transform[..], &["--viewer-config", "sources.pb"]].concat());
    tool(&system, &["generate-viewer-config", "--viewer-config", "sources.json", SOURCES]);
    for file in ["binary.pb", "binary.json"] {
        let words = ["generate-viewer-config", "--from-binary", "indexer", "--viewer-config", file];
        tool(&system, &words);
    }
    system
}

/// Builds the program from rewritten sources.
fn build(system: &Memory) -> PathBuf {
    let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join("indexer-rewritten");
    let write = |path: &Path, content: &[u8]| {
        fs::create_dir_all(path.parent().expect("a directory")).expect("make a directory");
        // Unchanged files are left alone, so that they are not built again.
        if fs::read(path).ok().as_deref() != Some(content) {
            fs::write(path, content).expect("write a file");
        }
    };
    let _ = fs::remove_dir_all(root.join("src"));
    let from = Path::new("out").join(SOURCES);
    let mut calls = 0;
    for (path, content) in system.files() {
        let Ok(below) = path.strip_prefix(&from) else { continue };
        let mut text = String::from_utf8(content).expect("sources are text");
        calls += text.matches("@0x").count();
        if below == Path::new("main.rs") {
            // Appended at the end, so that no line moves.
            text.push_str("protolog_rt::dictionary!(\"../indexer.pb\");\n");
        }
        write(&root.join("src").join(below), text.as_bytes());
    }
    assert!(calls >= 8, "{calls} calls were rewritten");
    let runtime = workspace_root().join("protolog-rt").display().to_string();
    write(&root.join("Cargo.toml"), MANIFEST.replace("PROTOLOG_RT", &runtime).as_bytes());
    write(&root.join("indexer.pb"), &system.files()[Path::new("sources.pb")]);
    let lock = fs::read(workspace_root().join("Cargo.lock")).expect("read the lock file");
    write(&root.join("Cargo.lock"), &lock);
    let mut cargo = user_cargo(env!("CARGO_TARGET_TMPDIR"));
    run(cargo.args(["build", "--quiet", "--manifest-path"]).arg(root.join("Cargo.toml")));
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("users/debug/indexer")
}

/// Objects by the value of one of their members.
fn by<'v>(objects: &'v Value, key: &str) -> BTreeMap<String, &'v Value> {
    let objects = objects.as_array().expect("a list").iter();
    objects.map(|object| (object[key].to_string(), object)).collect()
}

#[test]
fn the_binarys_dictionary_is_a_part_of_the_tools() {
    let system = rewritten();
    let json = |name: &str| -> Value {
        serde_json::from_str(&system.text(name).expect("the file")).expect("JSON")
    };
    let compare = |of_binary: &Value, of_sources: &Value| {
        for (list, key) in [("messages", "message_id"), ("groups", "id")] {
            let (part, whole) = (by(&of_binary[list], key), by(&of_sources[list], key));
            assert!(part.len() >= 2 && whole.len() >= part.len(), "{part:#?}");
            for (id, entry) in part {
                assert_eq!(whole.get(&id), Some(&entry), "{list} {id}");
            }
        }
    };
    let (binary, sources) = (json("binary.json"), json("sources.json"));
    let entries = |value: &Value| -> BTreeMap<String, Value> {
        let messages = value["messages"].as_object().expect("messages by id").iter();
        messages.map(|(id, entry)| (id.clone(), entry.clone())).collect()
    };
    let (part, whole) = (entries(&binary), entries(&sources));
    assert!(part.len() >= 8, "{part:#?}");
    for (id, entry) in part {
        assert_eq!(whole.get(&id), Some(&entry), "{id}");
    }

    let dir = temp_dir();
    let official = |name: &str| {
        let path = dir.path().join(name);
        fs::write(&path, &system.files()[Path::new(name)]).expect("write a dictionary");
        check_dictionary(&path)
    };
    if let (Some(binary), Some(sources)) = (official("binary.pb"), official("sources.pb")) {
        compare(&binary, &sources);
    }
}

#[test]
fn both_programs_leave_the_same_trace() {
    let program = build(&rewritten());
    let dir = temp_dir();
    let trace_of = |program: &Path, name: &str| {
        let trace = dir.path().join(name);
        let mut command = Command::new(program);
        // With one reading thread, each thread's work is the same in every run.
        command
            .args(["--threads", "1", "--trace"])
            .arg(&trace)
            .args(["protolog-core/src", "missing"]);
        run(command.current_dir(workspace_root()));
        trace
    };
    let written = trace_of(Path::new(env!("CARGO_BIN_EXE_indexer")), "written.pftrace");
    let rewritten = trace_of(&program, "rewritten.pftrace");
    let (ours, others) = (lines(&written), lines(&rewritten));
    assert!(ours.lines().count() > 15, "{ours}");
    assert_eq_text(&ours, &others);
    let Some((ours, others)) = sequences(&written).zip(sequences(&rewritten)) else { return };
    assert!(ours.lines().count() > 15, "{ours}");
    assert_eq_text(&ours, &others);
}

/// The messages by thread, from our reader, without the values that differ between runs.
fn lines(trace: &Path) -> String {
    let system = Memory::default();
    system.add_file("trace", fs::read(trace).expect("read the trace"));
    tool(&system, &["read-log", "trace", "--format", "json"]);
    let mut threads: BTreeMap<String, String> = BTreeMap::new();
    for line in system.out().lines() {
        let mut value: Value = serde_json::from_str(line).expect("a line of JSON");
        let object = value.as_object_mut().expect("an object");
        for varying in ["time", "ts", "boot", "pid", "process", "tid", "sequence"] {
            object.remove(varying);
        }
        let thread = threads.entry(object["thread"].to_string()).or_default();
        writeln!(thread, "{value}").expect("a string takes every write");
    }
    threads.into_values().collect()
}

/// The messages from the official descriptors, with their texts, in the order of each sequence,
/// then the fields of all other packets; none without Python.
fn sequences(trace: &Path) -> Option<String> {
    let mut sequences: BTreeMap<u64, (BTreeMap<u64, String>, String)> = BTreeMap::new();
    let mut others: BTreeMap<String, usize> = BTreeMap::new();
    for packet in check_trace(trace)? {
        let packet = &packet["packet"];
        if packet["protolog_viewer_config"].is_object() {
            continue;
        }
        let id = packet["trusted_packet_sequence_id"].as_u64().expect("each packet has a sequence");
        let (texts, messages) = sequences.entry(id).or_default();
        if packet["sequence_flags"].as_u64().is_some_and(|flags| flags & 1 != 0) {
            texts.clear();
        }
        let interned = packet["interned_data"]["protolog_string_args"].as_array();
        for text in interned.into_iter().flatten() {
            let of = text["iid"].as_u64().expect("an id");
            texts.insert(of, text["str"].as_str().expect("a text").to_owned());
        }
        if let Some(message) = packet["protolog_message"].as_object() {
            let mut message = message.clone();
            let ids = message.remove("str_param_iids").unwrap_or_default();
            let ids = ids.as_array().into_iter().flatten().filter_map(Value::as_u64);
            let strings: Vec<&String> = ids.map(|id| &texts[&id]).collect();
            writeln!(messages, "{} {strings:?}", Value::Object(message))
                .expect("a string takes every write");
        } else {
            let fields: Vec<&String> = packet.as_object().expect("a packet").keys().collect();
            // Chunks end elsewhere if times are longer.
            *others.entry(format!("{fields:?}")).or_default() = 1;
        }
    }
    // Sequences are numbered in the order in which threads start.
    let mut all: Vec<String> = sequences.into_values().map(|(_, messages)| messages).collect();
    all.sort();
    Some(format!("{}\n{:#?}", all.join("\n"), others.into_keys().collect::<Vec<_>>()))
}
