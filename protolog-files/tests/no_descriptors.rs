//! A program that has no descriptor left, as a server under load: a claim on a file is still found
//! out. Alone in its process.

use rustix::process::{Resource, Rlimit, setrlimit};
use std::fs::File;

#[test]
fn a_path_is_looked_at_without_a_descriptor() {
    let directory = protolog_testkit::temp_dir();
    let path = directory.path().join("file");
    std::fs::write(&path, "text").unwrap();
    setrlimit(Resource::Nofile, Rlimit { current: Some(32), maximum: Some(32) }).unwrap();
    let mut open = Vec::new();
    while let Ok(file) = File::open("/dev/null") {
        open.push(file);
    }
    let found = protolog_files::look(&path);
    drop(open);
    assert_eq!(found.unwrap().len(), 4);
}
