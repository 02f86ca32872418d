//! Archives, and outputs of runs that are stopped.

use crate::transcript::{fixtures, shell};
use protolog_testkit::{TempDir, run, temp_dir};
use std::fs::{self, File};
use std::io::Read;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};
use zip::{CompressionMethod, ZipArchive};

fn workspace() -> TempDir {
    let directory = temp_dir();
    fixtures(directory.path());
    directory
}

fn contents(archive: &Path) -> Vec<(String, CompressionMethod, String)> {
    let mut archive = ZipArchive::new(File::open(archive).unwrap()).unwrap();
    (0..archive.len())
        .map(|index| {
            let mut entry = archive.by_index(index).unwrap();
            let (name, method) = (entry.name().unwrap().into_owned(), entry.compression());
            let mut text = String::new();
            entry.read_to_string(&mut text).unwrap();
            (name, method, text)
        })
        .collect()
}

#[test]
fn outputs_do_not_depend_on_the_number_of_jobs() {
    let directory = workspace();
    for index in 0..60 {
        let text = fs::read_to_string(directory.path().join("src/demo/net/Net.java")).unwrap();
        let text =
            text.replace("Net", &format!("Net{index}")).replace("sent", &format!("sent {index}"));
        let text =
            text.repeat(if index % 7 == 0 { 1 } else { 2 }).replacen("class", "class ", index % 3);
        fs::write(directory.path().join(format!("src/demo/net/Net{index}.java")), text).unwrap();
    }
    let outputs = |jobs: usize| {
        let line = format!(
            "protologtool transform-protolog-calls $CLASSES src --jobs {jobs} --output-srcjar {jobs}.srcjar \
             --viewer-config {jobs}.pb --viewer-config {jobs}.json.gz --compress 6"
        );
        run(&mut shell(&line, directory.path()));
        ["srcjar", "pb", "json.gz"]
            .map(|suffix| fs::read(directory.path().join(format!("{jobs}.{suffix}"))).unwrap())
    };
    let one = outputs(1);
    assert!(one[1].len() > 60 * 20, "the dictionary holds all messages");
    assert!(one == outputs(8), "1 and 8 jobs give the same bytes");
    assert!(one == outputs(8), "and again");
}

#[test]
fn archives_are_stored_unless_asked_otherwise() {
    let directory = workspace();
    let archive = |flags: &str, name: &str| {
        let line = format!(
            "protologtool transform-protolog-calls $CLASSES src --output-srcjar {name} {flags}"
        );
        run(&mut shell(&line, directory.path()));
        contents(&directory.path().join(name))
    };
    let stored = archive("", "0.srcjar");
    let names: Vec<_> = stored.iter().map(|(name, ..)| name.as_str()).collect();
    assert_eq!(
        names,
        [
            "src/demo/AppLog.java",
            "src/demo/Kotlin.kt",
            "src/demo/Other.java",
            "src/demo/net/Net.java"
        ]
    );
    for level in ["1", "9"] {
        let compressed = archive(&format!("--compress {level}"), "c.srcjar");
        for ((name, method, text), other) in stored.iter().zip(&compressed) {
            assert_eq!(*method, CompressionMethod::Stored);
            assert_eq!(other, &(name.clone(), CompressionMethod::Deflated, text.clone()));
        }
    }
}

/// A run that is killed while it writes leaves nothing, and what was there before stays.
#[test]
fn a_killed_run_leaves_nothing() {
    let directory = workspace();
    // It takes its time to copy this one.
    let slow = "// a long comment that is copied as it is\n".repeat(1 << 20) + "class Slow {}\n";
    fs::write(directory.path().join("src/Slow.java"), slow).unwrap();
    fs::create_dir(directory.path().join("out")).unwrap();
    fs::write(directory.path().join("out/app.srcjar"), "old").unwrap();
    let line = "exec protologtool transform-protolog-calls $CLASSES src/demo/net/Net.java src/Slow.java \
                --output-srcjar out/app.srcjar --viewer-config out/app.pb";
    let mut child = shell(line, directory.path()).stderr(Stdio::null()).spawn().unwrap();
    wait_for_file_of(child.id(), &directory.path().join("out"));
    child.kill().unwrap();
    child.wait().unwrap();
    let mut left: Vec<_> = fs::read_dir(directory.path().join("out"))
        .unwrap()
        .map(|e| e.unwrap().file_name().into_string().unwrap())
        .collect();
    if !has_files_without_names(directory.path()) {
        // A file that is being written has a name there, which says whose it is.
        left.retain(|name| !name.starts_with(".protologtool-"));
    }
    assert_eq!(left, ["app.srcjar"]);
    assert_eq!(fs::read(directory.path().join("out/app.srcjar")).unwrap(), b"old");
}

/// Returns whether the file system makes files that are gone with their process.
fn has_files_without_names(directory: &Path) -> bool {
    use rustix::fs::{Mode, OFlags, open};
    open(directory, OFlags::TMPFILE | OFlags::WRONLY, Mode::RUSR | Mode::WUSR).is_ok()
}

/// Waits until the process has a file open in the directory.
fn wait_for_file_of(process: u32, directory: &Path) {
    let directory = directory.canonicalize().unwrap();
    let start = Instant::now();
    let is_open = || {
        let files = fs::read_dir(format!("/proc/{process}/fd")).into_iter().flatten().flatten();
        files
            .filter_map(|file| fs::read_link(file.path()).ok())
            .any(|file| file.starts_with(&directory))
    };
    while !is_open() {
        assert!(start.elapsed() < Duration::from_secs(60), "the run does not write");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// A run that is killed while it writes into a directory leaves its own scratch files, which the
/// next run removes.
#[test]
fn a_killed_run_into_a_directory_is_cleaned_up() {
    let directory = workspace();
    let scratch = directory.path().join("out/.protologtool/staged");
    fs::create_dir_all(&scratch).unwrap();
    fs::write(scratch.join(".protologtool-x1"), "half a fi").unwrap();
    let line =
        "protologtool transform-protolog-calls $CLASSES src --source-root src --output-dir out";
    run(&mut shell(line, directory.path()));
    assert!(!scratch.exists());
    assert!(directory.path().join("out/demo/net/Net.java").exists());
}

/// Two runs into one directory wait for each other.
#[test]
fn runs_into_one_directory_take_turns() {
    let directory = workspace();
    let line = "for i in 1 2 3 4; do protologtool transform-protolog-calls $CLASSES src --source-root src \
                --output-dir out & done; wait";
    let output = run(&mut shell(line, directory.path()));
    assert_eq!(output.stderr, "");
    let manifest = fs::read_to_string(directory.path().join("out/.protologtool/manifest")).unwrap();
    assert_eq!(manifest.lines().count(), 5, "{manifest}");
}
