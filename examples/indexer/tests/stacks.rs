//! A logged stack trace, with the names that `read-log` finds for its addresses.

use protolog_rt::{ProtoLogGroup, Session, i};
use protolog_testkit::temp_dir;
use protologtool::cli::{self, Exit};
use protologtool::system::Memory;
use std::fs;
use std::path::Path;

#[derive(ProtoLogGroup)]
enum Log {
    Deep,
}

const LINE: u32 = line!() + 3;
#[inline(never)]
fn logs(number: u32) {
    i!(Log::Deep, "at depth %d", number);
    std::hint::black_box(number);
}

#[inline(never)]
fn calls(depth: u32) {
    if depth < 3 {
        calls(depth + 1);
    } else {
        logs(depth);
    }
    std::hint::black_box(depth);
}

fn read_log(trace: &Path, options: &[&str]) -> (String, String) {
    let system = Memory::default();
    system.add_file("trace", fs::read(trace).expect("read the trace"));
    let words = ["protologtool", "read-log", "trace"].iter().chain(options);
    let exit = cli::run(words.map(Into::into), &system);
    assert_eq!(exit, Exit::Done);
    (system.out(), system.errors())
}

#[test]
fn addresses_get_the_names_of_functions_and_lines() {
    let dir = temp_dir();
    let path = dir.path().join("stacks.pftrace");
    let session = Session::builder().file(&path).enable_all().collect_stacktrace("Deep");
    let session = session.start().expect("start a session");
    calls(0);
    session.stop().expect("stop it");

    let (raw, _) = read_log(&path, &["--time=boot"]);
    let own = std::env::current_exe().expect("the test's own path");
    assert!(raw.contains(&format!("  {} (BuildId: ", own.display())), "{raw}");

    // Root says where programs may be.
    let (named, problems) = read_log(&path, &["--symbolize", "--symbolize-root=/"]);
    let texts: Vec<&str> =
        named.lines().filter_map(|line| Some(line.split_once("Deep    : ")?.1)).collect();
    assert_eq!(texts[0], "at depth 3");
    let place = format!("examples/indexer/tests/stacks.rs:{LINE}");
    assert!(texts[1].starts_with("#00 stacks::logs at ") && texts[1].ends_with(&place), "{named}");
    for text in &texts[2..6] {
        assert!(text.contains(" stacks::calls at "), "{named}");
    }
    assert!(!problems.contains("built anew"), "{problems}");
}
