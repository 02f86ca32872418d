//! Relative paths in a program that changes its working directory, as daemons do.
//!
//! A separate binary, since the working directory belongs to the whole process.

mod common;

use protolog_rt::text::{RotatingFile, set_sink};
use protolog_rt::{Init, Level, ProtoLogGroup, Session, i};
use protolog_testkit::temp_dir;
use std::path::Path;
use std::time::{Duration, Instant};
use std::{fs, thread};

#[derive(ProtoLogGroup)]
enum Log {
    #[protolog(log_to_text = true)]
    Work,
    Other,
}

fn names(directory: &Path) -> Vec<String> {
    let files = fs::read_dir(directory).expect("list the files");
    let mut names: Vec<String> =
        files.map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn relative_paths_keep_their_meaning_when_the_directory_changes() {
    let dir = temp_dir();
    let [from, to] = ["from", "to"].map(|name| dir.path().join(name));
    for directory in [&from, &to] {
        fs::create_dir(directory).expect("a directory");
    }
    std::env::set_current_dir(&from).expect("the directory is there");
    let new = |path: &str| Session::builder().file(path).log_from(Level::Info);
    set_sink(RotatingFile::open("text.log", 200, 1).unwrap()).expect("no sink yet");
    let init = Init::new().directory(dir.path().join("run")).config_file("settings").reload();
    init.start().expect("apply the settings file");
    let sessions = [
        new("stream.pftrace"),
        new("ring.pftrace").keep_newest(),
        new("many.pftrace").segment_bytes(1),
        Session::builder().log_from(Level::Info).record_at("recording"),
    ]
    .map(|session| session.start().expect("start a session"));
    assert_eq!(sessions[3].recording(), Some(&*from.join("recording")));
    std::env::set_current_dir(&to).expect("the directory is there");
    for number in 0..20 {
        i!(Log::Work, "%d", number);
        sessions[2].flush().expect("the next file");
    }
    fs::write(from.join("settings"), "Other=text").unwrap();
    let begun = Instant::now();
    while !Log::Other.is_enabled(Level::Verbose) {
        assert!(begun.elapsed() < Duration::from_secs(60), "the settings file is not read");
        thread::sleep(Duration::from_millis(5));
    }
    for session in sessions {
        session.stop().expect("the file is where it was created");
    }
    assert_eq!(names(&to), <[String; 0]>::default());
    let names = names(&from);
    assert!(names.len() > 6 && !names.contains(&"recording".into()), "{names:?}");
    assert_eq!(names[0], "many.0001.pftrace");
    let last = ["ring.pftrace", "settings", "stream.pftrace", "text.log", "text.log.1"];
    assert_eq!(names[names.len() - 5..], last);
}
