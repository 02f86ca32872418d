//! The sources of Kotlin's standard library and of its reflection, with log calls before random statements, with `PROTOLOG_SOAK=1`, as
//! `cargo xtask soak kotlin` sets it.
//!
//! For each file: as many entries as calls inserted; no line moved; what is not an inserted call is there byte for byte; a second run is
//! a no-op. They are not compiled.

mod insert;

use crate::case::settings;
use crate::holds::check;
use insert::{Inserted, insert};
use protolog_testkit::{kotlin, skip};
use protologtool::lang::Kind;
use std::io::Read;

/// A file of an archive of sources.
struct File {
    path: String,
    text: String,
}

/// The Kotlin files of the archive `name` of the compiler's package.
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
        if Kind::of_path(path.as_ref()) == Some(Kind::Kotlin) {
            let mut text = String::new();
            entry.read_to_string(&mut text).unwrap();
            files.push(File { path, text });
        }
    }
    Some(files)
}

/// Checks all that must hold of one file.
fn check_rewritten(file: &File, inserted: &Inserted) {
    let path = &file.path;
    let processed = check(&settings(), path, inserted.text.as_bytes());
    if let Some(report) = &processed.report {
        panic!("{path}: {:?}", report.diagnostics);
    }
    assert_eq!(processed.messages.len(), inserted.calls, "{path}: entries");
    let after = String::from_utf8(processed.rewritten.expect("it has calls")).unwrap();
    assert_eq!(inserted.without_calls(&after), file.text, "{path}: other bytes");
}

#[test]
fn calls_in_the_sources_of_kotlin() {
    if std::env::var_os("PROTOLOG_SOAK").is_none_or(|value| value.is_empty()) {
        return;
    }
    let mut all = 0;
    for name in ["kotlin-stdlib", "kotlin-reflect", "kotlin-metadata-jvm", "kotlin-test"] {
        let Some(files) = files(name) else { return };
        let (mut calls, mut changed) = (0, 0);
        for file in &files {
            let Some(inserted) = insert(&file.path, &file.text) else { continue };
            check_rewritten(file, &inserted);
            calls += inserted.calls;
            changed += 1;
        }
        println!("{name}: {calls} calls in {changed} of {} files", files.len());
        all += calls;
    }
    assert!(all > 1500, "{all} calls");
}
