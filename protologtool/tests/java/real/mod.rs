//! The sources of OpenJDK 17, with log calls inserted before reachable statements: some of the
//! files in every test run, all of them with `PROTOLOG_SOAK=1`, as `cargo xtask soak` sets it.
//!
//! For each file:
//!
//! - there are as many entries as inserted calls
//! - no line moved
//! - all bytes outside the inserted calls are unchanged
//! - a second run is a no-op
//! - the calls are those of a whole-file parse, in the same contexts
//!
//! javac parses every result. One module is compiled as it is with its calls, and rewritten.

mod insert;
mod modules;
mod parse;
mod whole;

use crate::case::here;
use insert::{Inserted, insert};
use protolog_testkit::{skip, temp_dir};
use protologtool::groups::Groups;
use protologtool::ids::MessageIds;
use protologtool::lang::Inputs;
use protologtool::lang::Language;
use protologtool::lang::java::Java;
use protologtool::lang::java::groups::from_java_source;
use protologtool::pipeline::{Processed, Settings, process_among, process_source};
use protologtool::source::{Source, line_ends};
use protologtool::system::Memory;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// One file in so many, when not all are wanted.
const SAMPLE: usize = 24;

/// A file of the JDK.
struct File {
    path: String,
    bytes: Vec<u8>,
}

/// Returns whether everything is to be done, however long it takes.
fn is_soak() -> bool {
    std::env::var_os("PROTOLOG_SOAK").is_some_and(|value| !value.is_empty())
}

/// The files of the JDK that `wanted` chooses by number and path; none without the package, which
/// is said aloud.
fn jdk(wanted: impl Fn(usize, &str) -> bool) -> Option<Vec<File>> {
    let places = ["/usr/lib/jvm/openjdk-17/lib/src.zip", "/usr/lib/jvm/openjdk-17/src.zip"];
    let Some(archive) = places.iter().map(PathBuf::from).find(|place| place.exists()) else {
        skip("log calls in the sources of a JDK", "the package openjdk-17-source is not installed");
        return None;
    };
    let mut archive = zip::ZipArchive::new(std::fs::File::open(archive).unwrap()).unwrap();
    let mut files = Vec::new();
    for index in 0..archive.len() {
        let mut entry = archive.by_index(index).unwrap();
        let path = entry.name().unwrap().into_owned();
        if Path::new(&path).extension().is_some_and(|end| end == "java") && wanted(index, &path) {
            let mut bytes = Vec::new();
            entry.read_to_end(&mut bytes).unwrap();
            files.push(File { path, bytes });
        }
    }
    assert!(!files.is_empty(), "no files in the archive");
    Some(files)
}

fn settings() -> Settings {
    let java = Java::new("dev.protolog.ProtoLog", "dev.protolog.ProtoLogImpl");
    Settings { java, rust: None, groups: groups(), ids: MessageIds::Xxh3 }
}

fn groups() -> Groups {
    let path = here().join("runtime/demo/AppLog.java");
    let source = Source::new(&path, std::fs::read(&path).unwrap());
    from_java_source(&source, "demo.AppLog").unwrap()
}

/// Some files with calls in them, not large ones.
pub(crate) fn real_sources() -> Option<&'static [Vec<u8>]> {
    static SOURCES: OnceLock<Option<Vec<Vec<u8>>>> = OnceLock::new();
    let sources = SOURCES.get_or_init(|| {
        let files = jdk(|index, _| index % (SAMPLE * 10) == 0)?;
        let small = files.iter().filter(|file| file.bytes.len() < 20_000);
        Some(
            small
                .filter_map(|file| Some(insert(file.path.as_bytes(), &file.bytes)?.text))
                .collect(),
        )
    });
    sources.as_deref()
}

#[test]
fn calls_in_the_sources_of_a_jdk() {
    let step = if is_soak() { 1 } else { SAMPLE };
    let Some(files) = jdk(|index, _| index % step == 0) else { return };
    let settings = settings();
    let directory = temp_dir();
    let (next, calls, parsed) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0));
    let work = || {
        while let Some(file) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
            let Some(inserted) = insert(file.path.as_bytes(), &file.bytes) else { continue };
            calls.fetch_add(inserted.calls.len(), Ordering::Relaxed);
            let number = parsed.fetch_add(1, Ordering::Relaxed);
            let after = check(&settings, file, &inserted);
            std::fs::write(directory.path().join(format!("{number}.java")), after).unwrap();
        }
    };
    std::thread::scope(|scope| {
        (0..std::thread::available_parallelism().map_or(1, usize::from))
            .for_each(|_| drop(scope.spawn(work)));
    });
    let (calls, parsed) = (calls.into_inner(), parsed.into_inner());
    println!("{calls} calls in {parsed} of {} files", files.len());
    assert!(parsed * 2 > files.len() && calls > parsed, "{calls} calls in {parsed} files");
    parse::with_javac(directory.path(), parsed);
}

/// Checks all that must hold of one file; what the tool makes of it.
fn check(settings: &Settings, file: &File, inserted: &Inserted) -> Vec<u8> {
    let path = &file.path;
    let source = || Source::new(path, inserted.text.clone());
    let processed = process_source(settings, source());
    if let Some(report) = &processed.report {
        panic!("{path}: {:?}", report.diagnostics);
    }
    let Processed { rewritten: Some(after), messages, .. } = processed else {
        panic!("{path}: nothing found");
    };
    assert_eq!(messages.len(), inserted.calls.len(), "{path}: entries");
    assert_eq!(line_ends(&after).count(), line_ends(&file.bytes).count(), "{path}: lines");
    assert_eq!(inserted.without_calls(&after), file.bytes, "{path}: other bytes");
    let again = process_source(settings, Source::new(path, after.clone()));
    assert!(again.rewritten.is_none() && again.report.is_none(), "{path}: the second run");

    let source = source();
    let found = settings.java.find(&source, &settings.groups, None);
    let found: Vec<_> =
        found.calls.into_iter().map(|call| (call.range, call.shape.context)).collect();
    assert_eq!(found, whole::calls(source.bytes()), "{path}: calls, and those of the whole tree");
    after
}

/// Superclasses and imports among the inputs change nothing where nothing hides a call.
#[test]
fn files_among_others_are_the_same() {
    let Some(files) =
        jdk(|_, path| path.starts_with("java.base/java/util/") && !path.contains("/concurrent/"))
    else {
        return;
    };
    let settings = settings();
    let inserted: Vec<_> = files
        .iter()
        .step_by(if is_soak() { 1 } else { 8 })
        .filter_map(|file| Some((file, insert(file.path.as_bytes(), &file.bytes)?)))
        .collect();
    let system = Memory::default();
    for file in &files {
        system.add_file(&file.path, file.bytes.clone());
    }
    let paths: Vec<PathBuf> = files.iter().map(|file| PathBuf::from(&file.path)).collect();
    let inputs = Inputs::new(&system, &paths);
    for (file, inserted) in inserted {
        let source = || Source::new(&file.path, inserted.text.clone());
        let alone = process_source(&settings, source());
        let among = process_among(&settings, source(), Some(&inputs));
        assert!(alone.rewritten.is_some());
        assert_eq!(alone.rewritten, among.rewritten, "{}", file.path);
    }
}
