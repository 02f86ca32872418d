//! The sources of Kotlin's standard library and of its reflection, with log calls before random
//! statements, with `PROTOLOG_SOAK=1`, as `cargo xtask soak kotlin` sets it.
//!
//! For each file: as many entries as calls inserted; no line moved; what is not an inserted call is
//! there byte for byte; a second run is a no-op. Libraries whose sources are whole are compiled
//! with their calls, as they are and rewritten, and a program that runs on both logs the same, with
//! the guard on and off.

mod compiled;
mod insert;

use crate::case::settings;
use crate::holds::check;
use crate::trace::line;
use compiled::LIBRARIES;
use insert::{Inserted, insert};
use protolog_testkit::{kotlin, skip, temp_dir};
use protologtool::lang::Kind;
use std::io::Read;
use std::path::Path;
use viewer_config::Message;

/// A file of an archive of sources: Kotlin, Java, or the names of what is loaded by name.
struct File {
    path: String,
    text: String,
}

/// The sources in the archive `name` of the compiler's package.
fn files(name: &str) -> Option<Vec<File>> {
    let archive = kotlin()?.join(format!("lib/{name}-sources.jar"));
    let Ok(archive) = std::fs::File::open(archive) else {
        skip(
            "log calls in Kotlin's own sources",
            "target/tools/kotlin was made without them: remove it, and run `cargo xtask test`",
        );
        return None;
    };
    let mut archive = zip::ZipArchive::new(archive).unwrap();
    let mut files = Vec::new();
    for index in 0..archive.len() {
        let mut entry = archive.by_index(index).unwrap();
        let path = entry.name().unwrap().into_owned();
        if Kind::of_path(path.as_ref()).is_some() || path.starts_with("META-INF/services/k") {
            let mut text = String::new();
            entry.read_to_string(&mut text).unwrap();
            files.push(File { path, text });
        }
    }
    Some(files)
}

impl File {
    fn is_kotlin(&self) -> bool {
        Kind::of_path(self.path.as_ref()) == Some(Kind::Kotlin)
    }
}

/// Checks all that must hold of one file. The rewritten text, and the messages of its calls.
fn check_rewritten(file: &File, inserted: &Inserted) -> (String, Vec<Message>) {
    let path = &file.path;
    let processed = check(&settings(), path, inserted.text.as_bytes());
    if let Some(report) = &processed.report {
        panic!("{path}: {:?}", report.diagnostics);
    }
    assert_eq!(processed.messages.len(), inserted.calls, "{path}: entries");
    let after = String::from_utf8(processed.rewritten.expect("it has calls")).unwrap();
    assert_eq!(inserted.without_calls(&after), file.text, "{path}: other bytes");
    (after, processed.messages)
}

#[test]
fn calls_in_the_sources_of_kotlin() {
    if std::env::var_os("PROTOLOG_SOAK").is_none_or(|value| value.is_empty()) {
        return;
    }
    let mut all = 0;
    for library in &LIBRARIES {
        let Some(files) = files(library.name) else { return };
        let (before, after) = (temp_dir(), temp_dir());
        let (mut calls, mut changed, mut dictionary) = (0, 0, String::new());
        for file in &files {
            let inserted = insert(&file.path, &file.text).filter(|_| file.is_kotlin());
            let Some(inserted) = inserted else {
                write(before.path(), file, &file.text);
                write(after.path(), file, &file.text);
                continue;
            };
            let (rewritten, messages) = check_rewritten(file, &inserted);
            write(before.path(), file, &inserted.text);
            write(after.path(), file, &rewritten);
            dictionary.extend(messages.iter().map(line));
            calls += inserted.calls;
            changed += 1;
        }
        println!("{}: {calls} calls in {changed} of {} files", library.name, files.len());
        all += calls;
        let Some(build) = &library.build else { continue };
        let traces = [before, after].map(|sources| build.trace(sources.path(), &dictionary));
        let [Some(before), Some(after)] = traces else { return };
        let lines: usize = before.values().map(Vec::len).sum();
        println!("{}: compiled before and after, {lines} lines logged", library.name);
        for (state, lines) in &before {
            assert_eq!(lines, &after[state], "{}: {state}", library.name);
        }
    }
    assert!(all > 1500, "{all} calls");
}

fn write(root: &Path, file: &File, text: &str) {
    let path = root.join(&file.path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}
