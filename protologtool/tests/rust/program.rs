//! Programs that are built in two ways: with proc macros, and from rewritten sources without any.

use crate::case::{here, source_directories, transform};
use protolog_core::note::{Note, ParsedNote};
use protolog_testkit::{Output, copy_program, run, run_any, user_cargo, workspace_root};
use protologtool::cli::{self, Exit};
use protologtool::system::Memory;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use viewer_config::Dictionary;

/// A crate, built in both ways.
pub(crate) struct Built {
    directory: PathBuf,
    /// With proc macros.
    pub(crate) written: PathBuf,
    /// From rewritten sources.
    pub(crate) rewritten: PathBuf,
    /// The dictionary of the sources.
    pub(crate) dictionary: Dictionary,
}

impl Built {
    /// Builds the crate in `system`, in a directory of this name.
    pub(crate) fn new(name: &str, system: &Memory) -> Self {
        Self::with(name, system, "")
    }

    /// The same, with features of the crate.
    pub(crate) fn with(name: &str, system: &Memory, features: &str) -> Self {
        let (exit, errors) = transform(system);
        assert_eq!(exit, Exit::Done, "{errors}");
        let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        let files = system.files();
        for (kind, from) in [("written", ""), ("rewritten", "out")] {
            let root = directory.join(kind);
            for sources in source_directories(system) {
                let _ = fs::remove_dir_all(root.join(sources));
            }
            for (path, content) in &files {
                if path.ends_with("Cargo.toml") && !path.starts_with("out") {
                    let manifest = std::str::from_utf8(content).unwrap();
                    let runtime = workspace_root().join("protolog-rt").display().to_string();
                    write(&root.join(path), manifest.replace("PROTOLOG_RT", &runtime).as_bytes());
                } else if let Some(rewritten) = files.get(&Path::new("out").join(path)) {
                    let content = if from.is_empty() { content } else { rewritten };
                    write(&root.join(path), content);
                }
            }
            fs::copy(workspace_root().join("Cargo.lock"), root.join("Cargo.lock")).unwrap();
        }
        write(&directory.join("rewritten/app.pb"), &files[Path::new("app.pb")]);
        let dictionary = Dictionary::read(&files[Path::new("app.pb")]).unwrap().dictionary;
        let written = build(&directory.join("written"), &format!("written,{features}"));
        let rewritten = build(&directory.join("rewritten"), &format!("rewritten,{features}"));
        Self { directory, written, rewritten, dictionary }
    }

    /// The entries that a program logs, as `read-log` shows it, without times and ids of threads.
    pub(crate) fn log(&self, program: &Path, format: &str) -> Vec<String> {
        let trace = self.directory.join("trace.pftrace");
        run(Command::new(program).arg(&trace));
        let system = Memory::default();
        system.add_file("trace", fs::read(&trace).unwrap());
        let words = ["protologtool", "read-log", "trace", "--spans=around", "--format", format];
        let exit = cli::run(words.map(OsString::from), &system);
        assert_eq!(exit, Exit::Done, "{}", system.errors());
        system.out().lines().map(|line| without_times(line, format)).collect()
    }

    /// Asserts that the entries of the binary's notes are in the dictionary; gives the templates
    /// that are only there.
    #[track_caller]
    pub(crate) fn compare_dictionaries(&self) -> Vec<&str> {
        assert_eq!(notes(&self.rewritten), [], "rewritten calls leave no notes of their own");
        let notes = notes(&self.written);
        assert!(!notes.is_empty());
        for note in &notes {
            let Entry { id, level, group, group_id, tag, template, names, place, file, line } =
                note;
            let message = self.dictionary.message(*id);
            let message = message.unwrap_or_else(|| panic!("missing: {note:?}"));
            assert_eq!((message.level, &*message.group), (*level, &group[..]));
            assert_eq!((&message.template, &message.place), (template, place));
            assert_eq!(&message.names, names);
            let mut locations = message.locations.iter();
            let is_there = locations.any(|at| at.path == *file && at.lines.contains(line));
            assert!(is_there, "{note:?}\n{message:?}");
            let known = self.dictionary.group(group).unwrap();
            assert_eq!((known.id, &known.tag), (*group_id, tag));
        }
        let in_binary: BTreeSet<u64> = notes.iter().map(|note| note.id).collect();
        let ours = self.dictionary.messages().iter();
        let others = ours.filter(|message| !in_binary.contains(&message.id));
        others.map(|message| &message.template[..]).collect()
    }

    /// Runs a program with more arguments after the trace's path.
    pub(crate) fn run(&self, program: &Path, words: &[&str]) -> Output {
        let mut command = Command::new(program);
        command.arg(self.directory.join("trace.pftrace")).args(words);
        run_any(command.env("RUST_BACKTRACE", "1"))
    }
}

fn without_times(line: &str, format: &str) -> String {
    // Losses have the time of their first message, too.
    if format == "text" {
        let line = without_head(line);
        return line.split_once(", since ").map_or(line.clone(), |(line, _)| line.to_owned());
    }
    let mut value: serde_json::Value = serde_json::from_str(line).expect("JSON lines");
    let object = value.as_object_mut().expect("an object");
    for varying in ["time", "ts", "from_ts", "boot", "pid", "process", "tid", "sequence"] {
        object.remove(varying);
    }
    value.to_string()
}

/// The line after date, time, process and thread.
pub(crate) fn without_head(line: &str) -> String {
    let mut rest = line;
    for _ in 0..4 {
        rest = rest.split_once(' ').map_or("", |(_, rest)| rest.trim_start());
    }
    rest.to_owned()
}

fn build(directory: &Path, features: &str) -> PathBuf {
    let mut cargo = user_cargo(env!("CARGO_TARGET_TMPDIR"));
    cargo.args(["build", "--quiet", "--features", features, "--manifest-path"]);
    // Relative to where cargo runs, paths in the binary are those of the tool's run.
    run(cargo.arg("Cargo.toml").current_dir(directory));
    let manifest = fs::read_to_string(directory.join("Cargo.toml")).unwrap();
    let name = manifest.split_once("name = \"").unwrap().1.split_once('"').unwrap().0;
    // Threads are named after the program.
    let built = directory.join("program");
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("users/debug");
    copy_program(&target.join(name), &built);
    built
}

fn write(path: &Path, content: &[u8]) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    // An unchanged file is not built again.
    if fs::read(path).ok().as_deref() != Some(content) {
        fs::write(path, content).unwrap();
    }
}

/// A note of a binary, owned.
#[derive(Debug, PartialEq)]
pub(crate) struct Entry {
    pub(crate) id: u64,
    pub(crate) level: protolog_core::Level,
    pub(crate) group: String,
    pub(crate) group_id: u32,
    pub(crate) tag: String,
    pub(crate) template: String,
    pub(crate) names: String,
    pub(crate) place: String,
    pub(crate) file: String,
    pub(crate) line: u32,
}

/// The notes of the calls in a binary.
pub(crate) fn notes(program: &Path) -> Vec<Entry> {
    let bytes = fs::read(program).unwrap();
    let name = b"protolog\0";
    let starts = memchr::memmem::find_iter(&bytes, name).filter_map(|at| at.checked_sub(12));
    let parsed = starts.filter_map(|start| match Note::parse(&bytes[start..]) {
        Some((ParsedNote::Note(note), _)) => Some(Entry {
            id: note.id,
            level: note.level,
            group: note.group.to_owned(),
            group_id: note.group_id,
            tag: note.tag.to_owned(),
            template: note.template.to_owned(),
            names: note.names.to_owned(),
            place: note.place.to_owned(),
            file: note.file.to_owned(),
            line: note.line,
        }),
        _ => None,
    });
    parsed.collect()
}

/// The fixture's file of this name.
pub(crate) fn fixture(name: &str) -> String {
    fs::read_to_string(here().join("fixture").join(name)).unwrap()
}
