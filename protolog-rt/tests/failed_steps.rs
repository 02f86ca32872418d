//! Steps that fail half way, for want of a thread or a descriptor: nothing that was there before
//! goes, and the next attempt goes on.
//!
//! A separate binary, since limits are those of the whole process.
#![allow(unsafe_code)] // setrlimit.

#[path = "common/limit.rs"]
mod limit;

use limit::{Limit, ran_in_child};
use protolog_rt::text::{RotatingFile, flush, set_sink};
use protolog_rt::{Builder, Error, Level, ProtoLogGroup, Session, i};
use protolog_testkit::{TempDir, temp_dir};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, File};
use std::iter;
use std::path::{Path, PathBuf};
use std::sync::mpsc::sync_channel;
use std::sync::{Arc, Barrier, Mutex};
use std::thread;
use std::time::Duration;

#[derive(ProtoLogGroup)]
enum Log {
    Work,
    #[protolog(log_to_text = true)]
    Text,
}

/// Longer than text takes.
const LONG: Duration = Duration::from_secs(60);

/// Text files in a directory, the newest first.
struct TextFiles(TempDir);

impl TextFiles {
    fn new() -> Self {
        let files = Self(temp_dir());
        (1..=KEPT).for_each(|number| fs::write(files.older(number), kept(number)).unwrap());
        files
    }

    fn newest(&self) -> PathBuf {
        self.0.path().join("app.log")
    }

    fn older(&self, number: usize) -> PathBuf {
        self.0.path().join(format!("app.log.{number}"))
    }

    /// The names of all files.
    fn names(&self) -> Vec<String> {
        let names = fs::read_dir(self.0.path()).unwrap().map(|file| file.unwrap().file_name());
        let mut names: Vec<String> = names.map(|name| name.into_string().unwrap()).collect();
        names.sort();
        names
    }

    fn read(&self) -> String {
        fs::read_to_string(self.newest()).expect("the newest file")
    }
}

const KEPT: usize = 3;

/// The content of an older file that is there before.
fn kept(number: usize) -> String {
    format!("kept {number}\n")
}

fn show(number: u64) {
    i!(Log::Text, "line %d", number);
    assert!(flush(LONG));
}

#[test]
fn a_text_file_that_was_deleted_begins_again_and_takes_no_other_away() {
    let name = "a_text_file_that_was_deleted_begins_again_and_takes_no_other_away";
    if ran_in_child(name) {
        return;
    }
    let files = TextFiles::new();
    // Room for three lines.
    let sink = Arc::new(RotatingFile::open(files.newest(), 170, KEPT).expect("open the file"));
    set_sink(Arc::clone(&sink)).expect("no sink yet");
    (0..2).for_each(show);
    fs::remove_file(files.newest()).unwrap();
    (2..4).for_each(show);
    let text = files.read();
    assert!(text.lines().count() == 2 && text.contains("line 2\n"), "{text}");
    // Nor does one that another program moved away, however often it is too long.
    fs::rename(files.newest(), files.0.path().join("moved")).unwrap();
    (4..7).for_each(show);
    let text = files.read();
    assert!(text.ends_with("line 6\n"), "{text}");
    for number in 1..=KEPT {
        assert_eq!(fs::read_to_string(files.older(number)).unwrap(), kept(number));
    }
    // Where there is no place for it, that is a problem that the program can ask for.
    fs::remove_dir_all(files.0.path()).unwrap();
    show(7);
    let problem = sink.problem().expect("a problem").kind();
    assert_eq!(problem, std::io::ErrorKind::NotFound);
    fs::create_dir(files.0.path()).unwrap();
    show(8);
    assert!(files.read().ends_with("line 8\n"));
}

#[test]
fn a_text_file_is_rotated_whole_or_not_at_all() {
    if ran_in_child("a_text_file_is_rotated_whole_or_not_at_all") {
        return;
    }
    let files = TextFiles::new();
    let file = RotatingFile::open(files.newest(), 170, KEPT + 6).expect("open the file");
    set_sink(file).expect("no sink yet");
    show(0);
    let mut lines = 1;
    // The most descriptors that a rotation takes, and one less each time.
    for spare in (0..8).rev() {
        let limit = Limit::new(libc::RLIMIT_NOFILE, 64);
        let mut held: Vec<File> = iter::from_fn(|| File::open("/dev/null").ok()).collect();
        held.truncate(held.len() - spare);
        for _ in 0..9 {
            i!(Log::Text, "line %d", lines);
            assert!(flush(LONG));
            lines += 1;
        }
        drop((held, limit));
        assert!(files.newest().exists(), "{spare} descriptors");
    }
    show(lines);
    let (mut found, mut old) = (0, 0);
    for name in files.names() {
        assert!(name.starts_with("app.log") && !name.contains(".part"), "{name}");
        let text = fs::read_to_string(files.0.path().join(name)).unwrap();
        let is_line = |line: &&str| line.contains(": line ");
        found += text.lines().filter(is_line).count() as u64;
        old += text.lines().filter(|line| line.starts_with("kept ")).count();
    }
    assert!(files.read().ends_with(&format!("line {lines}\n")));
    // Files go in their order: those that were there before first.
    assert!(found == lines + 1 || old == 0, "{found} of {} lines, {old} older files", lines + 1);
}

/// The names and contents of all files in a directory.
fn contents(directory: &Path) -> BTreeMap<OsString, Vec<u8>> {
    let files = fs::read_dir(directory).unwrap().map(|file| file.unwrap());
    files.map(|file| (file.file_name(), fs::read(file.path()).unwrap())).collect()
}

#[test]
fn a_start_that_fails_leaves_the_files_of_earlier_runs() {
    if ran_in_child("a_start_that_fails_leaves_the_files_of_earlier_runs") {
        return;
    }
    let dir = temp_dir();
    let whole = || Session::builder().file(dir.path().join("whole.pftrace")).log_from(Level::Info);
    let parts = || whole().file(dir.path().join("parts.pftrace")).keep_segments(2);
    let run = |session: Builder| {
        let session = session.buffer_size(64 << 10).start().expect("start a session");
        i!(Log::Work, "of an earlier run");
        session.stop().expect("stop the session");
    };
    run(whole());
    (0..2).for_each(|_| run(parts()));
    let before = contents(dir.path());
    assert_eq!(before.len(), 3);
    // They take the stacks that are left of the threads above.
    let (end, is_ended) = sync_channel::<()>(0);
    let is_ended = Arc::new(Mutex::new(is_ended));
    // A thread takes memory of its own while it begins, which the limit would not leave it.
    let begun = Arc::new(Barrier::new(9));
    for _ in 0..8 {
        let (is_ended, begun) = (Arc::clone(&is_ended), Arc::clone(&begun));
        thread::spawn(move || {
            begun.wait();
            drop(is_ended.lock().map(|it| it.recv()));
        });
    }
    begun.wait();
    let pages = fs::read_to_string("/proc/self/statm").unwrap();
    let pages: u64 = pages.split(' ').next().unwrap().parse().unwrap();
    // Room for the buffer, and not for the stack of a thread.
    let limit = Limit::new(libc::RLIMIT_AS, pages * 4096 + (1 << 20));
    let failed = |session: Builder| {
        let error = session.buffer_size(64 << 10).without_recording().start();
        error.expect_err("there is no room for a thread")
    };
    let errors: Vec<Error> = (0..4).flat_map(|_| [failed(whole()), failed(parts())]).collect();
    drop((limit, end));
    assert!(errors.iter().all(|error| matches!(error, Error::Resources(_))), "{errors:?}");
    assert!(contents(dir.path()) == before);
    // Runs that die soon leave incomplete segments, which take no complete one away.
    for number in 7..11 {
        fs::write(dir.path().join(format!("parts.{number:04}.pftrace.part")), "").unwrap();
    }
    run(parts());
    let names: Vec<_> = contents(dir.path()).into_keys().collect();
    let expected = [
        "parts.0001.pftrace",
        "parts.0002.pftrace",
        "parts.0009.pftrace.part",
        "parts.0010.pftrace.part",
        "parts.0011.pftrace",
        "whole.pftrace",
    ];
    assert_eq!(names, expected);
}

#[test]
fn a_start_without_descriptors_ends_and_leaves_nothing() {
    if ran_in_child("a_start_without_descriptors_ends_and_leaves_nothing") {
        return;
    }
    let dir = temp_dir();
    let path = dir.path().join("kept.pftrace");
    let limit = Limit::new(libc::RLIMIT_NOFILE, 64);
    let mut held: Vec<File> = iter::from_fn(|| File::open("/dev/null").ok()).collect();
    let (start, starts) = sync_channel::<()>(0);
    let (send, outcomes) = sync_channel(0);
    thread::spawn(move || {
        while starts.recv().is_ok() {
            let session =
                Session::builder().file(&path).keep_newest().truncate().buffer_size(64 << 10);
            send.send(session.start().map(drop).is_ok()).expect("somebody waits");
        }
    });
    let mut outcome = |spare| {
        held.truncate(held.len() - usize::from(spare > 0));
        start.send(()).expect("it waits");
        outcomes.recv_timeout(LONG / 6).expect("it ends")
    };
    let good: Vec<bool> = (0..8).map(&mut outcome).collect();
    drop((held, limit));
    assert!(good.is_sorted() && !good[0] && good[7], "{good:?}");
    let names: Vec<_> = contents(dir.path()).into_keys().collect();
    assert_eq!(names, ["kept.pftrace"]);
}
